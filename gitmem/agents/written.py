"""What a tool's use wrote to files, by what the agent gave it and got back.

Standard library only; the hot path imports this.
"""

from gitmem.agents.events import AgentEdit, text
from gitmem.text.line_marks import EditMarks, marks, squeezed, unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LONG = 1 << 20  # characters of one text that are looked at
LINES = 4000  # lines of one file that are noted
PARTS = 200  # parts of one use of a tool
BESIDE = 200  # lines beside an edit that are noted of a file longer than `LINES`
_WHOLE = ("content", "contents", "file_text")
_NEW = ("new_string", "newString", "new_str")
_OLD = ("old_string", "oldString", "old_str")
_CREATED = "Created file"


def changes(given: object, answer: object, paths: "Sequence[str]", patch: str) -> "list[AgentEdit]":
    """Return what one use of a tool did to files.

    `given` is the tool's input, `answer` what it returned, `patch` a patch in the input, or
    nothing.
    """
    if "*** " in patch:
        return _of_patch(patch[:LONG])
    if not isinstance(given, dict) or not paths:
        return []
    parts = _parts(given)
    whole = _first(given, _WHOLE)
    before, after = _texts(answer if isinstance(answer, dict) else {}, whole, parts)
    if before is None and isinstance(answer, str) and whole and answer.startswith(_CREATED):
        before = ""
    if before is None and whole is not None:
        return []  # which of its lines stood there before is not known
    if not parts and whole is None and after is None:
        return []
    return [AgentEdit(paths[0], before, after, parts, whole)]


def _parts(given: "dict[str, Any]") -> "list[tuple[str, str]]":
    """Return the (new, old) texts of an edit."""
    edits = given.get("edits")
    rows = edits[:PARTS] if isinstance(edits, list) else [given]
    out = []
    for row in rows:
        if isinstance(row, dict) and (new := _first(row, _NEW)) is not None:
            out.append((new, _first(row, _OLD) or ""))
    return out


def _texts(
    answer: "dict[str, Any]", whole: str | None, parts: "Sequence[tuple[str, str]]"
) -> "tuple[str | None, str | None]":
    """Return the texts of a file before and after an edit, as far as its answer tells them."""
    shown = answer.get("returnDisplay")
    if isinstance(shown, dict):
        return _text(shown, "originalContent"), _text(shown, "newContent")
    if isinstance(answer.get("updated_file"), str):
        return _text(answer, "original_file"), _text(answer, "updated_file")
    before = _text(answer, "originalFile")
    if before is None:
        created = answer.get("type") == "create" or str(
            answer.get("text_result_for_llm")
        ).startswith(_CREATED)
        return ("" if created else _text(answer, "before")), whole
    if whole is not None:
        return before, whole
    return before, _patched(before, answer) or _replaced(
        before, parts, all=bool(answer.get("replaceAll"))
    )


def _patched(before: str, answer: "dict[str, Any]") -> str | None:
    """Return a text with the hunks of a structured patch put in; None where they do not fit."""
    hunks = answer.get("structuredPatch")
    if not isinstance(hunks, list) or not hunks:
        return None
    lines = before.split("\n")
    out: list[str] = []
    at = 0
    for hunk in hunks[:PARTS]:
        read = _hunk(hunk)
        if read is None:
            return None
        start, rows = read
        out += lines[at : max(at, start - 1)]
        at = max(at, start - 1)
        old = [row[1:].rstrip("\r") for row in rows if row[:1] in {" ", "-"}]
        if [line.rstrip("\r") for line in lines[at : at + len(old)]] != old:
            return None
        at += len(old)
        out += [row[1:] for row in rows if row[:1] in {" ", "+"}]
    return "\n".join(out + lines[at:])


def _hunk(hunk: object) -> "tuple[int, list[str]] | None":
    """Return the first line that a hunk changes, and its rows; None for what is no hunk."""
    if not isinstance(hunk, dict):
        return None
    start, rows = hunk.get("oldStart"), hunk.get("lines")
    if type(start) is not int or not isinstance(rows, list):
        return None
    return (start, rows) if all(isinstance(row, str) for row in rows) else None


def _replaced(before: str, parts: "Sequence[tuple[str, str]]", *, all: bool) -> str | None:
    """Return a text with parts of it replaced; None where one of them is not in it."""
    for new, old in parts:
        if not old or old not in before:
            return None
        before = before.replace(old, new) if all else before.replace(old, new, 1)
    return before


def _restored(after: str, parts: "Sequence[tuple[str, str]]") -> str | None:
    """Return the text that a file had before parts were put in.

    None where it is not sure where they are.
    """
    for new, old in reversed(parts):
        if not new or after.count(new) != 1:
            return None
        after = after.replace(new, old, 1)
    return after


def _first(given: "dict[str, Any]", names: "Sequence[str]") -> str | None:
    for name in names:
        if (value := _text(given, name)) is not None:
            return value
    return None


def _text(given: "Mapping[str, Any]", name: str) -> str | None:
    value = given.get(name)
    return value if isinstance(value, str) and len(value) <= LONG else None


def _of_patch(patch: str) -> "list[AgentEdit]":
    """Return what a patch of the form `*** Update File: path` does to each of its files."""
    out: list[AgentEdit] = []
    rows: list[str] = []
    for line in [*patch.split("\n"), "@@"]:
        if line.startswith(("*** ", "@@")):
            _end_part(out, rows)
            rows.clear()
            if line.startswith("*** "):
                _begin_file(out, line)
        elif out:
            rows.append(line)
    return [change for change in out if change.path and change.parts]


def _end_part(out: "list[AgentEdit]", rows: "list[str]") -> None:
    """Give the last file what the rows of a patch replace in it."""
    new = [row[1:] for row in rows if row[:1] in {"+", " "}]
    old = [row[1:] for row in rows if row[:1] in {"-", " "}]
    if new != old:
        out[-1].parts.append(("\n".join(new), "\n".join(old)))


def _begin_file(out: "list[AgentEdit]", line: str) -> None:
    """Note the file that a line of a patch begins, or the new name of the one before."""
    kind, _, name = line[4:].partition(": ")
    path = text(name.strip(), 4096)
    if kind == "Move to" and out:
        out[-1].path = path
    elif kind == "Add File":
        out.append(AgentEdit(path, before=""))
    elif kind in {"Update File", "Delete File"}:
        out.append(AgentEdit(path))


def note(change: AgentEdit, content: bytes | None) -> EditMarks | None:
    """Return what is noted of a change; `content` is the file as it is now.

    None where it is not sure which lines the tool wrote.
    """
    after = _encoded(change.after) if change.after is not None else content
    if after is None or b"\0" in after:
        return None
    before = change.before
    if before is None:
        before = _restored(_decoded(after), change.parts)
    if before is None:
        return None
    was = marks(squeezed(_encoded(before)))
    lines = squeezed(after)
    put = _put_in(_decoded(after), change.parts)
    if put:
        difference = compared(was, lines, around=(min(put), max(put) + 1))
        return _limited(difference, put) if difference else None
    allowed = None
    if change.given is not None:
        allowed = set(marks(squeezed(_encoded(change.given))))
    return compared(was, lines, allowed)


def _put_in(after: str, parts: "Sequence[tuple[str, str]]") -> "set[int]":
    """Return the lines (from 0) of a text that parts of it are in.

    None where it is not sure where these are.
    """
    out: set[int] = set()
    for new, _ in parts:
        bare = new.removesuffix("\n")
        if not bare or after.count(new) != 1:
            return set()
        first = after.count("\n", 0, after.find(new))
        out.update(range(first, first + bare.count("\n") + 1))
    return out


def _limited(marks: EditMarks, put: "set[int]") -> EditMarks:
    """Return a note in which the lines outside of some were not given by the tool."""
    first = marks.first + marks.start
    marks.given = [first + number in put for number in range(len(marks.units))]
    return marks


def _encoded(text: str) -> bytes:
    """Return the bytes of a text; half of an emoji, as JavaScript cuts them, becomes `?`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _decoded(data: bytes) -> str:
    """Return a text as agents name parts of it, with the line ends that they use."""
    return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def compared(
    was: "list[int]",
    lines: "list[bytes]",
    allowed: "set[int] | None" = None,
    around: "tuple[int, int] | None" = None,
) -> EditMarks | None:
    """Return what is noted of a file: of its lines before (their marks) and after.

    None for no change.

    What is between two lines of `around`, and a line on both sides of it, counts as changed.
    """
    now = marks(lines)
    start, end = 0, 0
    most = min(len(was), len(now))
    while start < most and was[start] == now[start]:
        start += 1
    while end < most - start and was[-1 - end] == now[-1 - end]:
        end += 1
    if start == len(now) - end:
        return None  # nothing was added
    if around is not None:
        start = max(0, min(start, around[0] - 1))
        end = max(0, min(end, len(now) - around[1] - 1))
    last = len(now) - end
    gone = was[start : len(was) - end]
    first = 0
    if len(now) > LINES:
        first = max(0, start - BESIDE)
        last = min(last, first + LINES)
        now = now[first : min(last + BESIDE, first + LINES + BESIDE)]
    units = [unit(line) for line in lines[start:last]]
    given = [allowed is None or mark in allowed for mark in now[start - first : last - first]]
    edit_marks = EditMarks(now, start - first, units, gone[:LINES], given)
    edit_marks.first = first
    return edit_marks
