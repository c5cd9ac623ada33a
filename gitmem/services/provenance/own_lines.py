"""The lines that an edit wrote in a file, as the edit left it.

These lines were neither there before nor moved from elsewhere in the file. This module is pure.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.services.provenance.alignment import unmatched
from gitmem.state.edits import Edit
from gitmem.text.line_marks import BLANK


@dataclass
class OwnLines:
    """Edits, with the lines that are their own.

    These lines were neither there before nor moved from elsewhere in the file.

    `held` are {edit: its lines that an ancestor of the commit has}: who writes such a line again is
    somebody else.
    """

    held: Mapping[int, Collection[int]] = field(default_factory=dict)
    _own: dict[int, list[int]] = field(default_factory=dict)

    def own(self, edit: Edit) -> list[int]:
        """Return the lines of a file, as an edit left it, that the edit wrote.

        Blank ones left out.
        """
        if edit.n not in self._own:
            self._own[edit.n] = _own_lines(edit)
        held = self.held.get(edit.n, ())
        return [place for place in self._own[edit.n] if place not in held]


def _own_lines(edit: Edit) -> list[int]:
    changed = edit.after[edit.start : edit.start + len(edit.units)]
    new = unmatched(edit.gone, changed)
    left = Counter(mark for mark in edit.gone if mark != BLANK)
    fresh = set(new)
    for at, mark in enumerate(changed):
        if at not in fresh and left[mark]:
            left[mark] -= 1
    out = []
    for at in new:
        if left[changed[at]]:
            left[changed[at]] -= 1  # a line that was only moved
        elif edit.given[at]:
            out.append(edit.start + at)
    return _in_single_place(edit, out)


def _in_single_place(edit: Edit, own: Sequence[int]) -> list[int]:
    """Return lines without those that may equally be equal lines beside them.

    The file had the equal lines before.
    """
    places = [place for place, mark in enumerate(edit.after) if mark != BLANK]
    number = {place: at for at, place in enumerate(places)}
    marks_ = [edit.after[place] for place in places]
    out: list[int] = []
    run: list[int] = []
    for place in [*own, None]:
        if run and (place is None or number[place] != number[run[-1]] + 1):
            out += _fixed(edit, run, places, marks_, number)
            run = []
        if place is not None:
            run.append(place)
    return out


def _fixed(
    edit: Edit,
    run: Sequence[int],
    places: Sequence[int],
    marks_: Sequence[int],
    number: Mapping[int, int],
) -> list[int]:
    """Return the lines of a run that stand where they are, however the run is moved along.

    Of several places the one counts that begins a paragraph, where only one does.
    """
    first, last = number[run[0]], number[run[-1]]
    up = down = 0
    while up < len(run) and first - 1 - up >= 0 and marks_[first - 1 - up] == marks_[last - up]:
        if _is_not_given(edit, places[first - 1 - up]):
            break
        up += 1
    while (
        down < len(run)
        and last + 1 + down < len(marks_)
        and marks_[last + 1 + down] == marks_[first + down]
    ):
        if _is_not_given(edit, places[last + 1 + down]):
            break
        down += 1
    starts = [
        at for at in range(first - up, first + down + 1) if _begins_paragraph(edit, places[at])
    ]
    if len(starts) == 1 and len(run) > 1:
        return list(places[starts[0] : starts[0] + len(run)])
    return list(run[down : len(run) - up])


def _begins_paragraph(edit: Edit, place: int) -> bool:
    """Say whether a line comes after a blank one that the edit put there too."""
    return place > edit.start and edit.after[place - 1] == BLANK


def _is_not_given(edit: Edit, place: int) -> bool:
    """Say whether it is known that the tool was not given a line."""
    at = place - edit.start
    return 0 <= at < len(edit.given) and not edit.given[at]
