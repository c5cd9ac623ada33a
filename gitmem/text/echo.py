"""Text from elsewhere with what nobody sees made visible. Pure."""

LONGEST = 80  # characters


def echo(text: str) -> str:
    """Return the beginning of a text in quotes, with visible control and bidi characters."""
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"'{visible(cut)}'"


def visible(text: str) -> str:
    """Return a text with visible control, bidi and invisible characters, line ends included."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
