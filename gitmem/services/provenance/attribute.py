"""Whose lines a commit's are: each version of a file laid beside the file as each edit left it.

Pure.

A line is a session's only when an edit of it wrote that line: it stands where the edit put it,
among the lines that stood around it then. Everything else has no session. Of edits that wrote the
same line the last counts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gitmem.services.provenance.alignment import agreed
from gitmem.services.provenance.line_texts import UNMISTAKABLE, is_telling
from gitmem.services.provenance.own_lines import OwnLines
from gitmem.services.provenance.reformatted import reformatted
from gitmem.state.edits import Edit
from gitmem.text.line_marks import BLANK, marks, squeezed

NEAR = 12  # lines between two equal ones of which either may be an edit's
FAR = 30  # letters and digits of a line that is known in another file without its neighbours
EDITS = 400  # edits of one file that are looked at, the last ones


@dataclass
class Version:
    """A file of a commit: its text, and the numbers (from 0) of the lines that the commit added.

    `old` is its name before.
    """

    path: str
    old: str
    data: bytes
    added: Collection[int]

    @cached_property
    def texts(self) -> list[str]:
        """The lines."""
        return self.data.decode("utf-8", "replace").split("\n")

    @cached_property
    def squeezed(self) -> list[bytes]:
        """The lines without what formatters change."""
        return squeezed(self.data)

    @cached_property
    def marks(self) -> list[int]:
        """The marks of the lines."""
        return marks(self.squeezed)

    @cached_property
    def counts(self) -> "Counter[int]":
        """How often each mark stands in it."""
        return Counter(self.marks)


@dataclass(frozen=True, slots=True)
class AttributedLines:
    """Lines of a file that one edit wrote, from and to (from 1), as the commit has them.

    `places` are they in the edit.
    """

    path: str
    first: int
    last: int
    session: str
    at: float
    edit: int
    places: tuple[int, ...]


@dataclass(slots=True)
class LineClaim:
    """A line (from 0) that an edit wrote at one of its places."""

    edit: Edit
    place: int


def attribute(
    versions: Sequence[Version],
    edits: Sequence[Edit],
    written: OwnLines,
    other: Callable[[str], Collection[int]],
) -> list[AttributedLines]:
    """Return the lines of files that sessions are known to have written, in their order.

    `other` gives the marks of a file that is not among the versions, as the commit has it.
    """
    claims: dict[str, dict[int, LineClaim]] = {}
    left: dict[int, list[int]] = {}
    for version in versions:
        mine = claims[version.path] = {}
        names = {version.path, version.old}
        for edit in [edit for edit in edits if edit.path in names][-EDITS:]:
            own = written.own(edit)
            if own:
                left[edit.n] = _claim(version, edit, own, mine)
    free = _free_lines(versions, claims)
    for edit in edits if free else ():
        if edit.n not in left and not free.keys().isdisjoint(edit.written):
            left[edit.n] = written.own(edit)
    _claim_moved(versions, edits, left, claims, free, other)
    out: list[AttributedLines] = []
    for version in versions:
        attributed = _with_blanks(version, claims[version.path])
        out += _parts(version.path, attributed)
    return out


def _claim(
    version: Version, edit: Edit, own: Sequence[int], claims: dict[int, LineClaim]
) -> list[int]:
    """Note the lines of a version that an edit wrote.

    Return those of its own that are not in it at their place.
    """
    mine = set(own)
    pairs = agreed(edit.after, version.marks, mine)
    twice = _doubtful(edit, own, pairs, version)
    counts = Counter(edit.after)
    taken = set()
    for run in _runs(edit.after, version.marks, pairs):
        fixed = _between_anchors(edit, counts, run, version)
        for place in _sure(run, mine, pairs, version):
            if (
                place in twice
                and place not in fixed
                and not _is_beside_own(place, run, mine - twice, pairs, version)
            ):
                continue
            taken.add(place)
            if pairs[place] in version.added:
                claims[pairs[place]] = LineClaim(edit, place)
    rest = [place for place in own if place not in pairs]
    for place, line in reformatted(edit, rest, pairs, version.squeezed):
        taken.add(place)
        if line in version.added:
            claims[line] = LineClaim(edit, place)
    return [place for place in own if place not in taken and place not in pairs]


def _doubtful(
    edit: Edit, own: Sequence[int], pairs: Mapping[int, int], version: Version
) -> set[int]:
    """Return the lines of an edit that occur again nearby, where the file had no such line.

    Either occurrence may be the edit's.
    """
    there = set(pairs.values())
    wanted = {edit.after[place] for place in own}
    others: dict[int, list[int]] = {}
    for line, mark in enumerate(version.marks):
        if mark in wanted and line not in there:
            others.setdefault(mark, []).append(line)
    return {
        place
        for place in own
        if place in pairs
        and any(abs(line - pairs[place]) <= NEAR for line in others.get(edit.after[place], ()))
    }


def _is_beside_own(
    place: int,
    run: Sequence[int],
    sure: Collection[int],
    pairs: Mapping[int, int],
    version: Version,
) -> bool:
    """Say whether a line that says nothing stands beside one of the edit that does."""
    line = pairs[place]
    around = [
        version.marks[other] for other in (line - 1, line + 1) if 0 <= other < len(version.marks)
    ]
    if is_telling(version.texts[line]) or version.marks[line] in around:
        return False
    at = run.index(place)
    beside = [other for other in run[max(0, at - 1) : at + 2] if other in sure and other in pairs]
    return any(is_telling(version.texts[pairs[other]]) for other in beside)


def _between_anchors(
    edit: Edit, counts: Mapping[int, int], run: Sequence[int], version: Version
) -> set[int]:
    """Return the places of a run between two lines that occur once in both files.

    Nothing was inserted between these two lines.
    """
    last = len(edit.after)
    anchors = [
        number
        for number, place in enumerate(run)
        if place in {-1, last}
        or counts[edit.after[place]] == version.counts[edit.after[place]] == 1
    ]
    return set(run[anchors[0] : anchors[-1] + 1]) if anchors else set()


def _runs(old: Sequence[int], new: Sequence[int], pairs: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield the places of `old` that stand together in both.

    A file's beginning and end are -1 and its length.
    """
    places = [-1, *(place for place, mark in enumerate(old) if mark != BLANK), len(old)]
    following = _following(new)
    ends = {**pairs, -1: -1, len(old): len(new)}
    run: list[int] = []
    for place in places:
        if run and (place not in ends or ends[place] != following.get(ends[run[-1]])):
            yield run
            run = []
        if place in ends:
            run.append(place)
    if run:
        yield run


def _following(new: Sequence[int]) -> dict[int, int]:
    """Return {line: the next one that is not blank}."""
    lines = [-1, *(line for line, mark in enumerate(new) if mark != BLANK), len(new)]
    return dict(pairwise(lines))


def _sure(
    run: Sequence[int], own: set[int], pairs: Mapping[int, int], version: Version
) -> Iterator[int]:
    """Yield the places of a run that are sure to be the edit's.

    A line that anybody could have written is when a telling line of the edit stands beside it, or
    when the lines on both sides of it are as the edit left them.
    """
    length = len(run)
    at = 0
    while at < length:
        if run[at] not in own:
            at += 1
            continue
        end = at
        while end < length and run[end] in own:
            end += 1
        block = run[at:end]
        texts = [version.texts[pairs[place]] for place in block]
        has_telling_line = any(is_telling(text) for text in texts)
        whole = at > 0 and end < length
        if has_telling_line and len(block) == 1 and length == 1:
            has_telling_line = (
                is_telling(texts[0], UNMISTAKABLE)
                and version.counts[version.marks[pairs[block[0]]]] == 1
            )
        if has_telling_line or whole:
            yield from block
        at = end


def _free_lines(
    versions: Sequence[Version], claims: Mapping[str, Mapping[int, LineClaim]]
) -> dict[int, list[tuple[int, int]]]:
    """Return {mark: its (number of the version, line)} of lines not known to be an edit's."""
    free: dict[int, list[tuple[int, int]]] = {}
    for number, version in enumerate(versions):
        for line in version.added:
            if (
                line < len(version.marks)
                and line not in claims[version.path]
                and version.marks[line] != BLANK
            ):
                free.setdefault(version.marks[line], []).append((number, line))
    return free


def _claim_moved(
    versions: Sequence[Version],
    edits: Sequence[Edit],
    left: Mapping[int, Sequence[int]],
    claims: Mapping[str, dict[int, LineClaim]],
    free: Mapping[int, Sequence[tuple[int, int]]],
    other: Callable[[str], Collection[int]],
) -> None:
    """Note lines that edits wrote and that stand elsewhere now: in their file, or in another one.

    They have to be gone from where they were, and to stand in one place alone.
    """
    stay = {version.path: Counter(version.marks) for version in versions}
    for edit in reversed(edits):
        places = [place for place in left.get(edit.n, ()) if edit.after[place] in free]
        if not places:
            continue
        if edit.path not in stay:
            stay[edit.path] = Counter(other(edit.path))
        for block in _moved_blocks(edit, places, free, versions):
            if any(
                not _is_gone(edit, place, versions[number].path, stay) for place, number, _ in block
            ):
                continue
            for place, number, line in block:
                claims[versions[number].path].setdefault(line, LineClaim(edit, place))


def _is_gone(edit: Edit, place: int, path: str, stay: Mapping[str, Mapping[int, int]]) -> bool:
    """Return whether a line is no longer in the file where the edit wrote it.

    The line that it may be now does not count.
    """
    return stay[edit.path].get(edit.after[place], 0) <= (1 if path == edit.path else 0)


def _moved_blocks(
    edit: Edit,
    places: Sequence[int],
    free: Mapping[int, Sequence[tuple[int, int]]],
    versions: Sequence[Version],
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield (line of the edit, version, line there) of lines that stand together in both.

    Lines that say too little are left out.
    """
    block: list[tuple[int, int, int]] = []
    counts = Counter(edit.after[place] for place in places)
    for place in [*places, None]:
        spot = None
        if place is not None and counts[edit.after[place]] == 1:
            spots = free.get(edit.after[place], ())
            spot = spots[0] if len(spots) == 1 else None
        if block and (spot is None or not _is_next(block[-1], place, spot, edit, versions)):
            if _is_enough(
                block,
                versions,
                least=UNMISTAKABLE if versions[block[0][1]].path == edit.path else FAR,
            ):
                yield block
            block = []
        if place is not None and spot is not None:
            block.append((place, *spot))


def _is_next(
    before: tuple[int, int, int],
    place: int | None,
    spot: tuple[int, int],
    edit: Edit,
    versions: Sequence[Version],
) -> bool:
    """Say whether a line follows another one, in the edit and in the version."""
    if place is None or spot[0] != before[1] or spot[1] <= before[2]:
        return False
    between = versions[spot[0]].marks[before[2] + 1 : spot[1]]
    return not any(between) and not any(edit.after[before[0] + 1 : place])


def _is_enough(
    block: Sequence[tuple[int, int, int]], versions: Sequence[Version], least: int
) -> bool:
    texts = [versions[number].texts[line] for _, number, line in block]
    telling = [text for text in texts if is_telling(text)]
    return len(telling) > 1 or any(is_telling(text, least) for text in telling)


def _with_blanks(version: Version, claims: Mapping[int, LineClaim]) -> dict[int, LineClaim]:
    """Return claims with the blank lines between two lines that one edit wrote.

    A blank line is included only if the edit had it too.
    """
    out = dict(claims)
    lines = sorted(claims)
    for first, last in pairwise(lines):
        upper, other = claims[first], claims[last]
        between = range(first + 1, last)
        if not between or upper.edit is not other.edit or other.place - upper.place != last - first:
            continue
        if all(version.marks[line] == BLANK and line in version.added for line in between):
            for line in between:
                out[line] = LineClaim(upper.edit, upper.place + line - first)
    return out


def _parts(path: str, claims: Mapping[int, LineClaim]) -> list[AttributedLines]:
    """Return claims as parts, lines of one edit that stand together joined."""
    out: list[AttributedLines] = []
    for line in sorted(claims):
        claim = claims[line]
        edit = claim.edit
        before = out[-1] if out else None
        if before and before.edit == edit.n and before.last == line:
            places = (*before.places, claim.place)
            out[-1] = AttributedLines(
                path, before.first, line + 1, edit.session, edit.at, edit.n, places
            )
        else:
            out.append(
                AttributedLines(
                    path, line + 1, line + 1, edit.session, edit.at, edit.n, (claim.place,)
                )
            )
    return out


def by_session(parts: Sequence[AttributedLines]) -> dict[str, dict[str, list[list[float | int]]]]:
    """Return {session: {path: [[first, last, when], ...]}}, as `state.links` has it."""
    out: dict[str, dict[str, list[list[float | int]]]] = {}
    for part in parts:
        spans = out.setdefault(part.session, {}).setdefault(part.path, [])
        spans.append([part.first, part.last, round(part.at, 3)])
    return out


def owner(files: Mapping[str, Sequence[Sequence[float]]], path: str, line: int) -> float | None:
    """Return when a line was written, None when these files do not have it."""
    return next((float(row[2]) for row in files.get(path, ()) if row[0] <= line <= row[1]), None)
