"""Whose lines a commit's are: what it added, laid beside what sessions wrote. Pure.

A line belongs to the session whose edit wrote it in the longest run of lines that stand together in both; of equal ones to the first, for
whoever writes a file anew writes also what stood in it. Edits that an earlier commit holds count only where nothing else does.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gitmem.git.added_lines import Added
from gitmem.state.edits import Edit
from gitmem.text.line_marks import WHOLE, mark

SHORT = 4  # characters of a line that says nothing by itself, as `}` or `end`
TELLING = 12  # characters of a line that is enough to know it by in another file
REPEATED = 40  # places of one line in one edit that are compared
LINES = 20_000  # lines of one commit that are looked at


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a file that one edit wrote, from and to, as the commit has them; `edit` is None where only the session is known."""

    path: str
    first: int
    last: int
    session: str
    at: float
    edit: int | None


def attribute(added: Sequence[Added], edits: Sequence[Edit], used: Collection[int], session: str = "", at: float = 0.0) -> list[Part]:
    """Return the parts of what was added that are known to be a session's, in order.

    `used` are edits that earlier commits hold. `session` is the one that made the commit itself, '' if none is known: what nobody's edit
    wrote is its. Without one it goes to whose edit was the last of those that wrote other lines of the same file.
    """
    by_path: dict[str, list[Edit]] = {}
    for one in edits:
        by_path.setdefault(one.path, []).append(one)
    for some in by_path.values():
        _news(some)
    out: list[Part] = []
    left = LINES
    for file in added:
        near = [one for path in dict.fromkeys((file.path, file.old)) for one in by_path.get(path, ())]
        ids = {one.n for one in near}
        far = [one for one in edits if one.n not in ids]
        found: list[tuple[int, list[Edit | None]]] = []
        for first, texts in file.runs:
            texts = texts[: max(0, left)]
            left -= len(texts)
            owners = _spread(_owners(texts, near, used), texts)
            if not session and far and None in owners:
                owners = _spread([a or b for a, b in zip(owners, _owners(texts, far, used, telling=True), strict=True)], texts)
            found.append((first, owners))
        known = [owner for _, owners in found for owner in owners if owner is not None and owner.n in ids]
        last = max(known, key=lambda one: one.at, default=None)
        for first, owners in found:
            for line, owner in enumerate(owners, first):
                if owner is not None:
                    _extend(out, Part(file.path, line, line, owner.session, owner.at, owner.n))
                elif session:
                    _extend(out, Part(file.path, line, line, session, at, None))
                elif last is not None:
                    _extend(out, Part(file.path, line, line, last.session, last.at, None))
    return out


def _extend(parts: list[Part], part: Part) -> None:
    """Add a line's part, joined to the one before where they are alike."""
    before = parts[-1] if parts else None
    if (
        before
        and before.last == part.first - 1
        and (before.path, before.session, before.at, before.edit) == (part.path, part.session, part.at, part.edit)
    ):
        parts[-1] = Part(before.path, before.first, part.last, before.session, before.at, before.edit)
    else:
        parts.append(part)


def _news(edits: Sequence[Edit]) -> None:
    """Take out of edits of one file, the oldest first, what earlier ones have written, where one wrote the whole file again."""
    seen: dict[int, int] = {}
    for one in edits:
        if one.marks[:1] == [WHOLE]:
            known = dict(seen)
            fresh = []
            for value in one.marks[1:]:
                if known.get(value):
                    known[value] -= 1
                else:
                    fresh.append(value)
            one.marks = fresh
        for value in one.marks:
            seen[value] = seen.get(value, 0) + 1


def _owners(texts: Sequence[str], edits: Sequence[Edit], used: Collection[int], *, telling: bool = False) -> list[Edit | None]:
    """Return the edit that wrote each line, None where none is known; `telling` asks for more than a short line alone."""
    marks = [(number, found) for number, text in enumerate(texts) if (found := mark(text))]
    best: list[tuple[tuple[bool, int, float], Edit] | None] = [None] * len(texts)
    for edit in edits:
        for start, length in _blocks([found for _, found in marks], edit.marks):
            numbers = [number for number, _ in marks[start : start + length]]
            letters = max(len(texts[number].strip()) for number in numbers)
            if letters < SHORT or (telling and length < 2 and letters < TELLING):
                continue
            rank = (edit.n not in used, length, -edit.at)
            for number in numbers:
                known = best[number]
                if known is None or known[0] < rank:
                    best[number] = (rank, edit)
    return [one[1] if one else None for one in best]


def _blocks(one: Sequence[int], two: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start in `one`, length) of the longest runs of `one` that stand in `two` as well, each line in its longest."""
    places: dict[int, list[int]] = {}
    for at, value in enumerate(two):
        places.setdefault(value, []).append(at)
    ends: dict[int, int] = {}  # place in two -> length of the run that ends there
    longest: list[int] = []
    for value in one:
        now = {at: ends.get(at - 1, 0) + 1 for at in places.get(value, ())[:REPEATED]}
        longest.append(max(now.values(), default=0))
        ends = now
    out = []
    at = len(one) - 1
    while at >= 0:
        length = longest[at]
        if length:
            out.append((at - length + 1, length))
        at -= max(1, length)
    return out


def _spread(found: Sequence[Edit | None], texts: Sequence[str]) -> list[Edit | None]:
    """Return owners with those of lines that say nothing, blank ones too, taken from the line before, else the one behind."""
    out = list(found)
    for steps in (range(1, len(out)), range(len(out) - 2, -1, -1)):
        side = -1 if steps.step > 0 else 1
        for number in steps:
            if out[number] is None and len(texts[number].strip()) < SHORT:
                out[number] = out[number + side]
    return out


def by_session(parts: Sequence[Part]) -> dict[str, dict[str, list[list[float | int]]]]:
    """Return {session: {path: [[first, last, when], ...]}}, as `state.links` has it."""
    out: dict[str, dict[str, list[list[float | int]]]] = {}
    for one in parts:
        out.setdefault(one.session, {}).setdefault(one.path, []).append([one.first, one.last, round(one.at, 3)])
    return out


def owner(files: Mapping[str, Sequence[Sequence[float]]], path: str, line: int) -> float | None:
    """Return when a line was written, None when these files do not have it."""
    return next((float(row[2]) for row in files.get(path, ()) if row[0] <= line <= row[1]), None)
