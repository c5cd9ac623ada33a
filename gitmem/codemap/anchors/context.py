"""What an anchor remembers of the code that it is about.

That is its lines, the lines around them, and how well these fit elsewhere.
"""

from typing import Any

from gitmem.codemap.linemap.indexed_text import CODE, WIDTH

AROUND = 3  # lines of context kept on either side
FAR = 9  # lines beyond those, of which a code is kept


def context_of(anchor: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the remembered lines, those before and those after.

    An anchor may come from anybody, in any shape.
    """
    value = anchor.get("context")
    rows = [
        value.get(key) if isinstance(value, dict) else None for key in ("lines", "before", "after")
    ]
    lines, before, after = (
        [short(str(x)) for x in row[:100]] if isinstance(row, list) else [] for row in rows
    )
    return lines, before[-AROUND:], after[:AROUND]


def wide_context(
    anchor: dict[str, Any], codes: dict[str, str]
) -> tuple[list[str], list[str], list[str]]:
    """Return what `context_of` does, and of the lines beyond those the ones that a text has too."""
    wanted, before, after = context_of(anchor)
    value = anchor.get("context")
    far = value.get("far") if isinstance(value, dict) else None
    if not isinstance(far, list) or len(far) != 2 or not all(isinstance(x, str) for x in far):
        return wanted, before, after
    above, below = (
        [side[n : n + CODE] for n in range(0, min(len(side), FAR * CODE), CODE)] for side in far
    )
    return (
        wanted,
        [codes.get(x, "\x02" + x) for x in above] + before,
        after + [codes.get(x, "\x02" + x) for x in below],
    )


def likeness_at_home(anchor: dict[str, Any]) -> list[float]:
    """Return how well the remembered lines fitted other places of their own file.

    The values are those of `remembered.likes`.
    """
    context = anchor.get("context")
    value = context.get("like") if isinstance(context, dict) else None
    if (
        not isinstance(value, list)
        or len(value) != 4
        or not all(type(x) in {int, float} for x in value)
    ):
        return [0.0, 0.0, 0.0, 0]
    return value


def short(line: str) -> str:
    """Return a line as an anchor keeps it."""
    return line.rstrip("\r\n ")[:WIDTH]
