"""The two sides of a text in which git marked conflicts.

The format is that of gitattributes(5), conflict-marker-size: lines that begin with seven signs, in
the order < | = >; the part after | is there with the styles diff3 and zdiff3.
"""

from collections.abc import Sequence

OURS, BASE, THEIRS, NO_CONFLICT = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_NEXT = {
    OURS: (BASE, THEIRS),
    BASE: (THEIRS,),
    THEIRS: (NO_CONFLICT,),
}


def conflict_sides(lines: Sequence[str]) -> list[list[str]]:
    """Return our side and their side of a text, each line where it is; nothing without a conflict.

    What is not of a side is blank.
    """
    parts = _parts(lines)
    if not parts:
        return []
    return [
        [line if part in {"", side} else "" for line, part in zip(lines, parts, strict=True)]
        for side in (OURS, THEIRS)
    ]


def _parts(lines: Sequence[str]) -> list[str]:
    """Return of which part each line is: "" outside, a sign, NO_CONFLICT for a marker itself.

    Marks that do not end, or that another conflict begins in, count as lines like others.
    """
    out = [""] * len(lines)
    part, begin = "", 0
    for n, line in enumerate(lines):
        sign = _sign(line)
        if sign == OURS:
            if part:
                out[begin:n] = [""] * (n - begin)
            begin = n
        if sign == OURS or sign in _NEXT.get(part, ()):
            part = "" if sign == NO_CONFLICT else sign
            out[n] = NO_CONFLICT
        else:
            out[n] = part
    if part:
        out[begin:] = [""] * (len(lines) - begin)
    return out if any(out) else []


def _sign(line: str) -> str:
    """Return the seven signs that a line begins with as a marker; "" for any other line."""
    return line[:7] if line[7:8] in {"", " ", "\r"} else ""
