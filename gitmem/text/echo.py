"""What somebody typed, as a message repeats it. Pure."""

LONGEST = 80  # characters


def echo(text: str) -> str:
    """Return the beginning of a text in quotes, with visible control and bidi characters."""
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    shown = (char if char.isprintable() else _escaped(char) for char in cut)
    return f"'{''.join(shown)}'"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
