"""The two sides of a text in which git marked conflicts.

The format is that of gitattributes(5), conflict-marker-size: lines that begin with seven signs, in
the order < | = >; the part after | is there with the styles diff3 and zdiff3.
"""

from collections.abc import Sequence

OURS, BASE, THEIRS, NO_CONFLICT = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_NEXT = {
    "": (OURS,),
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
    """Return of which part each line is: "" outside, a sign, NO_CONFLICT for a marker itself."""
    out, part, begun = [], "", False
    for line in lines:
        sign = line[:7]
        if line[7:8] in {"", " ", "\r"} and sign in _NEXT[part]:
            begun = True
            part = "" if sign == NO_CONFLICT else sign
            out.append(NO_CONFLICT)
        else:
            out.append(part)
    return out if begun and not part else []
