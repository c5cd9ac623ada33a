"""How a line is read: what it says, how much, and its reduced forms.

A reduced form leaves out the format, the names or the signs of a comment.
"""

import re

PLAIN = 8  # letters and digits of a line that is known again between its neighbours
TELLING = 20  # ... and without them
WIDE = 400  # characters of a line that are compared

_LOOSE = str.maketrans(
    {"'": '"', "`": '"', ",": None, ";": None, "\\": None, " ": None, "\t": None}
)
_SAYS_SOME = re.compile(r"(?:[\W_]*+[^\W_]){3}")
_SAYS_PLAIN = re.compile(rf"(?:[\W_]*+[^\W_]){{{PLAIN}}}")
_COMMENT = re.compile(r"\s*(?:#+|/{2,}|--+|;+|%+|>|/\*+|<!--|\*|REM\b)\s?")
WORD = re.compile(r"[^\W\d]\w*")


def squash(line: str) -> str:
    """Return a line with single spaces and none at its ends."""
    return " ".join(line.split())


def weight(key: str) -> int:
    """Return how much a line says: its letters and digits."""
    return sum(map(str.isalnum, key[:WIDE]))


def says(key: str, least: int) -> bool:
    """Return whether a line's weight is at least 3, or at least PLAIN.

    This takes a fifth of the time of weighing all of it.
    """
    if least == PLAIN:
        return _SAYS_PLAIN.match(key, 0, WIDE) is not None
    return _SAYS_SOME.match(key, 0, WIDE) is not None


def indent(line: str) -> int:
    """Return how many white characters a line begins with."""
    return len(line) - len(line.lstrip())


def shape(line: str) -> str:
    """Return how a line is built, whatever the names in it are."""
    return WORD.sub("x", line[: 2 * WIDE])


def loose(line: str) -> str:
    """Return a line without what formatters change: quotes, spaces, commas and semicolons."""
    return line.translate(_LOOSE)


def bare(line: str) -> str:
    """Return a line in its loose form, and without what makes a comment of it."""
    while match := _COMMENT.match(line):
        line = line[match.end() :]
    return loose(line.removesuffix("*/").removesuffix("-->"))
