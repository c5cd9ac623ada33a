"""How much of a model's context a text takes. Pure; the hot path imports this."""


def tokens(text: str) -> int:
    """Return about how many tokens a model reads in a text.

    Four ASCII characters make one token, any other character is one.
    """
    plain = sum(c < "\x80" for c in text)
    return (plain + 3) // 4 + len(text) - plain
