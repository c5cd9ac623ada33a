"""Records about a place in the code: at its lines, around them, or at the whole file."""

from collections.abc import Sequence

from gitmem.services.gotchas.placement import Guide, Placed

MOST = 8
_AROUND = {"file", "glob", "adrift"}


def records(
    guide: Guide, path: str, first: int, last: int, lines: Sequence[str], blob: str
) -> list[Placed]:
    """Return what is anchored at lines of a file, those at the lines first.

    What is elsewhere in it is left out.
    """
    gotchas = guide.about(path, first, lines, blob)
    at = [
        gotcha
        for gotcha in gotchas
        if gotcha.where.state not in _AROUND
        and gotcha.where.first <= last
        and gotcha.where.last >= first
    ]
    file = [gotcha for gotcha in gotchas if gotcha.where.state in _AROUND]
    return (at + file)[:MOST]
