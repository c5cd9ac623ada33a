"""Patterns that are compiled when they are first used: each costs up to half a millisecond, and the hot path needs few of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Lazy:
    """A regular expression with the methods of a compiled one."""

    def __init__(self, text: "str | bytes") -> None:
        self._text = text

    def __getattr__(self, name: str) -> "Any":
        """Return a method of the compiled pattern, and keep them all."""
        import re

        found = re.compile(self._text)
        self.__dict__.update({m: getattr(found, m) for m in ("search", "match", "fullmatch", "sub", "finditer", "findall")})
        return self.__dict__[name]
