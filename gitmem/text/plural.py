"""A number with the noun that it counts. Pure."""


def counted(number: int, noun: str) -> str:
    """Return such as `1 fact` or `1,200 facts`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
