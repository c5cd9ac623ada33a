"""Which lines a tool's use wrote, told by what the agent gave it and got back: marks of the lines (`text.line_marks`), never their text.

Standard library only; the hot path imports this.
"""

from gitmem.agents.events import text
from gitmem.text.line_marks import WHOLE, marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Fragment = tuple[str, str]  # what was put in, what it took the place of: parts of lines, as agents name them

LONG = 1 << 20  # characters of one text that are looked at
LINES = 4000  # lines of one use of a tool
EDITS = 200  # parts of one use of a tool
_ALL = ("content", "contents", "file_text")  # what a file is to hold
_NEW = ("new_string", "newString", "new_str")
_OLD = ("old_string", "oldString", "old_str")


def written(given: object, answer: object, paths: "Sequence[str]", patch: str) -> "tuple[dict[str, list[int]], list[Fragment]]":
    """Return ({file as it was given: marks of the lines that were added}, parts of the first file that only its text makes lines of).

    `given` is a tool's input, `answer` what it returned, `patch` one in the input, or nothing. The marks of a file that was written as a
    whole begin with `WHOLE` where the answer does not tell which of its lines are new.
    """
    if "*** " in patch:
        return _of_patch(patch[:LONG]), []
    if not isinstance(given, dict) or not paths:
        return {}, []
    told = _of_answer(answer if isinstance(answer, dict) else {})
    if told is not None:
        return ({paths[0]: told[:LINES]} if told else {}), []
    if whole := _first(given, _ALL):
        return {paths[0]: [WHOLE, *marks(whole.splitlines())[:LINES]]}, []
    edits = given.get("edits")
    parts = [one for one in edits[:EDITS] if isinstance(one, dict)] if isinstance(edits, list) else [given]
    return {}, [(new, _first(one, _OLD)) for one in parts if (new := _first(one, _NEW))]


def expanded(content: str, fragments: "Sequence[Fragment]") -> "list[int]":
    """Return the marks of the lines that fragments made, told by the file as it is now; a fragment that is not in it is read as lines."""
    out: list[int] = []
    for new, old in fragments:
        at = content.find(new)
        if at < 0:
            out += _added(new, old)
            continue
        start, end = content.rfind("\n", 0, at) + 1, content.find("\n", at + len(new))
        before, after = content[start:at], content[at + len(new) : end if end >= 0 else len(content)]
        out += _added(before + new + after, before + old + after)
    return out[:LINES]


def _of_answer(answer: "dict[str, Any]") -> "list[int] | None":
    """Return the lines that a tool itself says it added; None where it does not tell."""
    hunks = answer.get("structuredPatch")
    if isinstance(hunks, list) and hunks:
        rows = [line for hunk in hunks[:EDITS] if isinstance(hunk, dict) for line in hunk.get("lines") or () if isinstance(line, str)]
        return marks(line[1:] for line in rows if line.startswith("+"))
    shown = answer.get("returnDisplay")
    diff = shown.get("fileDiff") if isinstance(shown, dict) else None
    if isinstance(diff, str) and "\n@@" in diff:
        body = diff[:LONG].partition("\n@@")[2].split("\n")
        return marks(line[1:] for line in body if line.startswith("+"))
    now, before = answer.get("updated_file"), answer.get("original_file")
    if isinstance(now, str) and isinstance(before, str):
        return _added(now[:LONG], before[:LONG])
    return None


def _first(given: "dict[str, Any]", names: "Sequence[str]") -> str:
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
