"""A number with the noun that it counts. Pure."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return such as `1 fact` or `1,200 facts`.

    The plural is the noun with an `s` unless it is given, as where a verb follows.
    """
    return f"{number:,} {noun_of(number, noun, plural)}"


def noun_of(number: int, noun: str, plural: str = "") -> str:
    """Return the noun as it stands behind a number."""
    return noun if number == 1 else plural or f"{noun}s"
