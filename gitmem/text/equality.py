"""When two texts are the same text. Standard library only: the hot path imports this."""

from gitmem.base.fast import Lazy

# signs that are part of a name: `C++17`, `clang++`, `C#`; not those of `a+b`, `1++`, `Page#top`,
# `## Title ##`
SIGNS = r"(?<=[a-z])\+\+(?!\+|\d*[a-z_])|(?<=[a-z])(?<![a-z0-9_]{2})#(?!#|\d*[a-z_])"
_WORD = Lazy(r"\w+")
_NAME = Lazy(rf"\w+(?:{SIGNS})?")


def plain(text: str) -> str:
    """Return a text as it is compared: case folded, letters and digits alone, single spaces.

    A name keeps its signs, as `c++` and `c#` do.
    """
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text.replace("♯", "#"))
    return " ".join((_NAME if "++" in text or "#" in text else _WORD).findall(text.casefold()))
