"""When two texts are the same text. Standard library only: the hot path imports this."""

from gitmem.lazy import Lazy

_WORD = Lazy(r"\w+")


def plain(text: str) -> str:
    """Return a text as it is compared: case folded, letters and digits alone, single spaces."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text)
    return " ".join(_WORD.findall(text.casefold()))
