"""Which lines a tool's use wrote, told by what the agent gave it: marks of the lines (`text.line_marks`), never their text.

Standard library only; the hot path imports this.
"""

from gitmem.agents.events import text
from gitmem.text.line_marks import WHOLE, marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LONG = 1 << 20  # characters of one text that are looked at
LINES = 4000  # lines of one use of a tool
EDITS = 200  # parts of one use of a tool
_ALL = ("content", "contents", "file_text")  # what a file is to hold
_NEW = ("new_string", "newString", "new_str", "new_source", "text")
_OLD = ("old_string", "oldString", "old_str")


def written(given: object, paths: "Sequence[str]", patch: str) -> "dict[str, list[int]]":
    """Return {file as it was given: marks of the lines that were added}, in their order, of a tool's input; `patch` is one in that, or nothing.

    The marks of a file that was written as a whole begin with `WHOLE`: which of its lines are new is not told.
    """
    if "*** " in patch:
        return _of_patch(patch[:LONG])
    if not isinstance(given, dict) or not paths:
        return {}
    if whole := _first(given, _ALL):
        return {paths[0]: [WHOLE, *marks(whole.splitlines())[:LINES]]}
    edits = given.get("edits")
    out: list[int] = []
    for one in edits[:EDITS] if isinstance(edits, list) else (given,):
        if isinstance(one, dict):
            out += _added(_first(one, _NEW), _first(one, _OLD))
    return {paths[0]: out[:LINES]} if out else {}


def _first(given: "Mapping[str, Any]", names: "Sequence[str]") -> str:
    return next((value[:LONG] for name in names if isinstance(value := given.get(name), str)), "")


def _added(new: str, old: str) -> "list[int]":
    """Return the marks of the lines that a text has and the one before had not, or had less often."""
    before: dict[int, int] = {}
    for one in marks(old.splitlines()):
        before[one] = before.get(one, 0) + 1
    out = []
    for one in marks(new.splitlines()):
        if before.get(one):
            before[one] -= 1
        else:
            out.append(one)
    return out


def _of_patch(patch: str) -> "dict[str, list[int]]":
    """Return what a patch of the form `*** Update File: path` adds to each of its files."""
    out: dict[str, list[int]] = {}
    path = ""
    for line in patch.split("\n"):
        for head in ("*** Update File: ", "*** Add File: ", "*** Move to: "):
            if line.startswith(head):
                moved = out.pop(path, []) if head.startswith("*** Move") else []
                path = text(line[len(head) :].strip(), 4096)
                out[path] = out.get(path, []) + moved
        if line.startswith("+") and path and len(out[path]) < LINES:
            out[path] += marks((line[1:],))
    return {path: found for path, found in out.items() if found}
