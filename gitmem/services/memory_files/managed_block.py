"""The block of ours in a file that somebody else writes too: found, read back, written.

Never a character outside of it changes. Pure.

A line of the block ends in the record's short id and a check of its text, `(7k2m9qxa-3f2a)`: so an
edit by hand is seen, and where it belongs, in any clone, without anything that remembers. Texts are
decoded with `surrogateescape`, so that bytes that are not UTF-8 survive.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from gitmem.records.kinds import TYPES

HEAD = "## Memory of this repository"
LEAD = (
    "People and agents recorded these facts. `git mem show ID` shows a whole record. An edit of a "
    "line here changes its record."
)
END = "<!-- git-mem: end memory -->"
OWN = frozenset({HEAD, LEAD})

_BEGIN = re.compile(r"\s*<!-- git-mem: begin memory(?: (\d{1,6}) ([0-9a-f]{4}))?[^>]*-->\s*$")
_END = re.compile(r"\s*<!-- git-mem: end memory[^>]*-->\s*$")
# the section that tells an agent of `git mem`
_OTHER_BEGIN = re.compile(r"\s*<!-- git-mem: begin -->\s*$")
_OTHER_END = re.compile(r"\s*<!-- git-mem: end -->\s*$")
_LINE = re.compile(r"[-*+] (.*) \((?:([^()]*); )?([0-9a-hjkmnp-tv-z]{8})-([0-9a-f]{4})\)\s*$")
_ITEM = re.compile(r"[-*+] (.*\S)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LABEL = re.compile(rf"(?:pinned )?((?:critical |warning |info )?gotcha|{'|'.join(TYPES)}): ")
WORKAROUND = " — workaround: "


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A record for a line: its id, its text, and where it applies."""

    id: str
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block as it was found.

    `number` counts from 1; `edited` when its text is not what was written.
    """

    short: str
    text: str
    number: int
    check: str

    @property
    def edited(self) -> bool:
        """Whether somebody changed it by hand."""
        return check(self.text) != self.check


@dataclass(frozen=True, slots=True)
class ManagedBlock:
    """A block in a file: its (first, last) lines, counted from 0.

    `whole` when it has its beginning and its end.
    """

    first: int
    last: int
    whole: bool
    lines: tuple[BlockLine, ...] = ()
    added: tuple[tuple[int, str], ...] = ()  # (line from 1, text) of what somebody wrote into it
    said: int = 0  # lines that were written
    loose: tuple[str, ...] = ()  # what else stands in it: somebody's text, which goes below it


@dataclass(frozen=True, slots=True)
class BlockResult:
    """A file with its block, and what is to be told of it.

    `kept` are the ids of the entries that had room.
    """

    text: str
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check(text: str) -> str:
    """Return four hex characters that tell whether a text was changed."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:4]


def short(id: str) -> str:
    """Return the part of an id that lines carry."""
    return id[-8:]


def line_of(entry: BlockEntry) -> str:
    """Return the line of a record."""
    place = f"{entry.place}; " if entry.place and not re.search(r"[();]", entry.place) else ""
    return f"- {entry.text} ({place}{short(entry.id)}-{check(entry.text)})"


def unlabelled(text: str) -> tuple[str, str, str]:
    """Return the label, the title and the workaround of a line's text."""
    match = _LABEL.match(text)
    rest = text[match.end() :] if match else text
    title, mark, workaround = rest.partition(WORKAROUND)
    return match[1] if match else "", title.strip(), workaround.strip() if mark else ""


def find(lines: Sequence[str]) -> list[ManagedBlock]:
    """Return the blocks of ours that hold memory, whole or half, in their order."""
    hidden = _fenced(lines)
    marks = [
        (n, bool(_BEGIN.match(line)))
        for n, line in enumerate(lines)
        if n not in hidden and (_BEGIN.match(line) or _END.match(line))
    ]
    out: list[ManagedBlock] = []
    free = 0  # the first line that no block has
    ends = [*marks[1:], (len(lines), True)]  # the mark after each
    closed = False  # the mark before and this one are a whole block
    for (n, begins), (limit, begins_anew) in zip(marks, ends, strict=False):
        if closed:
            closed = False
            continue
        first = last = n
        closed = begins and not begins_anew
        if closed:
            last = limit
        elif begins:
            last = _reach(lines, n, limit, 1)
        else:
            first = _reach(lines, n, free - 1, -1)
        out.append(_block(lines, first, last, closed))
        free = last + 1
    return out


def _reach(lines: Sequence[str], n: int, limit: int, step: int) -> int:
    """Return the last of the lines of ours beside one, before a limit, in the direction of step."""
    while n + step != limit and _is_ours(lines[n + step]):
        n += step
    return n


def _block(lines: Sequence[str], first: int, last: int, whole: bool) -> ManagedBlock:
    block_lines: list[BlockLine] = []
    added: list[tuple[int, str]] = []
    loose: list[str] = []
    gap = follows = False  # after an empty line of what is loose; after a line that was added
    for n in range(first, last + 1):
        text = lines[n].rstrip()
        if (row := _LINE.match(text)) and not _BEGIN.match(text):
            block_lines.append(BlockLine(row[3], row[1], n + 1, row[4]))
        elif _BEGIN.match(text) or _END.match(text) or text.strip() in OWN:
            pass
        elif not text:
            gap = bool(loose)
        elif (item := _ITEM.match(text)) and not loose:
            added.append((n + 1, item[1]))
            follows = True
            continue
        elif follows and text[0] in " \t":
            added[-1] = (added[-1][0], f"{added[-1][1]} {text.strip()}")
            continue
        else:
            loose += [*([lines[n][len(text) :]] if gap else []), lines[n]]
            gap = False
        follows = False
    begin = _BEGIN.match(lines[first])
    return ManagedBlock(
        first,
        last,
        whole,
        tuple(block_lines),
        tuple(added),
        int(begin[1]) if begin and begin[1] else len(block_lines),
        tuple(loose),
    )


def _is_ours(line: str) -> bool:
    return line.strip() in OWN or bool(_LINE.match(line.rstrip()))


def _fenced(lines: Sequence[str]) -> set[int]:
    """Return the lines that are in closed code fences.

    A block that is shown in a fence is only an example.
    """
    out: set[int] = set()
    opened, mark = -1, ""
    for n, line in enumerate(lines):
        match = _FENCE.match(line)
        if not match:
            continue
        if opened < 0:
            opened, mark = n, match[1]
        elif match[1].startswith(mark) and not line.strip().strip(mark[0]):
            out.update(range(opened, n + 1))
            opened = -1
    return out


def regions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) lines of everything that git mem writes.

    Git mem writes memory, and the section that tells an agent about `git mem`.
    """
    for block in find(lines):
        yield block.first, block.last
    hidden = _fenced(lines)
    opened = -1
    for n, line in enumerate(lines):
        if n in hidden:
            continue
        if _OTHER_BEGIN.match(line):
            opened = n
        elif _OTHER_END.match(line) and opened >= 0:
            yield opened, n
            opened = -1


def outside(text: str) -> str:
    """Return a text without the blocks of ours that hold memory.

    What somebody wrote into them stays, but for lines that become records.
    """
    lines = text.split("\n")
    blocks = find(lines)
    out, at = "", 0
    for block, (start, stop) in zip(blocks, _spans(text, lines, blocks), strict=True):
        out, at = out + text[at:start] + _instead(text[start:stop], block.loose), stop
    return out + text[at:]


def size(text: str) -> tuple[int, int]:
    """Return (lines, bytes) as an agent that loads only the beginning of a file counts them."""
    return text.count("\n") + bool(text and not text.endswith("\n")), len(
        text.encode("utf-8", "surrogateescape")
    )


def place(
    text: str, entries: Sequence[BlockEntry], most_lines: int = 0, most_bytes: int = 0
) -> BlockResult:
    """Return a text with one block that holds as many of the entries as fit.

    The first entries are taken first. Without entries, the text gets no block.

    0 stands for no limit. What is outside the block stays as it is, to the byte; half blocks and
    second ones go.
    """
    kept: list[BlockEntry] = list(entries)
    if most_lines or most_bytes:
        base_lines, base_bytes = (
            size(_written(text, [BlockEntry("0" * 8, "")])) if entries else (0, 0)
        )
        room_lines = most_lines - base_lines + 1 if most_lines else len(kept)
        room_bytes = most_bytes - base_bytes if most_bytes else 1 << 62
        kept = list(_fitting(kept, room_lines, room_bytes, 2 if "\r\n" in text else 1))
    notes = []
    blocks = find(text.split("\n"))
    if sum(block.whole for block in blocks) > 1:
        notes.append("the block was in it more than once; now it is there once")
    if any(not block.whole for block in blocks):
        notes.append(
            "the beginning or the end of the block was missing; the block is complete again"
        )
    return BlockResult(_written(text, kept), tuple(entry.id for entry in kept), tuple(notes))


def _fitting(
    entries: Sequence[BlockEntry], lines: int, room: int, end: int
) -> Iterator[BlockEntry]:
    """Yield the entries that fit; a long one that does not makes room for the next."""
    spare = 6  # digits of the count
    room -= spare
    for entry in entries:
        cost = len(line_of(entry).encode("utf-8", "surrogateescape")) + end
        if lines < 1:
            return
        if cost <= room:
            room -= cost
            lines -= 1
            yield entry


def _body(entries: Sequence[BlockEntry]) -> list[str]:
    rows = [line_of(entry) for entry in entries]
    whole = check("\n".join(rows))
    return [f"<!-- git-mem: begin memory {len(rows)} {whole} -->", HEAD, LEAD, *rows, END]


def _written(text: str, entries: Sequence[BlockEntry]) -> str:
    lines = text.split("\n")
    blocks = find(lines)
    first = lines[blocks[0].first] if blocks else lines[0] if len(lines) > 1 else ""
    end = "\r" if first.endswith("\r") else ""  # as the block has it, else the file's first line
    new = _body(entries) if entries else []
    if not blocks:
        if not new:
            return text
        closes = not text or text.endswith("\n")  # a file without a line end at its end keeps it so
        eol = end + "\n"
        # always the same, so that it can be taken out again
        gap = "" if not text else eol if closes else eol * 2
        return text + gap + eol.join(new) + (eol if closes else "")
    out: list[str] = []
    at = 0
    for n, (start, stop) in enumerate(_spans(text, lines, blocks)):
        out.append(text[at:start])
        out.append(
            _instead(text[start:stop], [*(row + end for row in new if n == 0), *blocks[n].loose])
        )
        at = stop
    left = "".join([*out, text[at:]])
    # the gap that came with the block goes with it
    if not new and at == len(text) and left and blocks[-1].whole and not blocks[-1].loose:
        return _without_gap(left, end + "\n", closes=text.endswith("\n"))
    return left


def _without_gap(text: str, eol: str, *, closes: bool) -> str:
    """Return what stood before a block without the empty line that came with the block.

    Where there is no such line, the line end belongs to the line before it.
    """
    if not closes:
        return text.removesuffix(eol * 2)
    before = text.removesuffix(eol)
    return before if before.endswith("\n") else text


def _instead(old: str, rows: Sequence[str]) -> str:
    """Return lines in the place of a block, with a line end at their end if it had one."""
    if not rows:
        return ""
    return "\n".join(rows) + "\n" if old.endswith("\n") else "\n".join(rows).removesuffix("\r")


def _spans(
    text: str, lines: Sequence[str], blocks: Sequence[ManagedBlock]
) -> list[tuple[int, int]]:
    """Return the characters of blocks, the line end at their end included."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return [(starts[block.first], min(starts[block.last + 1], len(text))) for block in blocks]
