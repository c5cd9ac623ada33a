"""A present-day text, read once for all the anchors that are placed in it.

It has the lines in three readings, and where each of them is.
"""

from binascii import b2a_base64, crc32
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.codemap.linemap.conflicts import conflict_sides
from gitmem.codemap.linemap.normal_forms import bare, loose, squash

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

WIDTH = 200  # characters of a line that are read
CODE = 4  # characters of a code
TEXTS = 8  # texts that are kept
LINES = 100_000  # ... as long as they have no more lines than these


class Reading:
    """The lines of a text in one reading, and an index of them.

    A cut one has the index of the whole text.
    """

    def __init__(
        self, keys: list[str], whole: "Reading | None" = None, first: int = 0, last: int = 0
    ) -> None:
        self.keys = keys
        self._whole = whole
        self._first = first
        self._last = last
        self._cut: dict[str, list[int]] = {}

    def __getitem__(self, line: int) -> str:
        """Return what a line says."""
        return self.keys[line]

    @cached_property
    def _at(self) -> dict[str, list[int]]:
        out: dict[str, list[int]] = {}
        for n, key in enumerate(self.keys):
            out.setdefault(key, []).append(n)
        return out

    def spots(self, key: str) -> Sequence[int]:
        """Return the lines that say this, in order."""
        if self._whole is None:
            return self._at.get(key, ())
        if key not in self._cut:
            first, last = self._first, self._last
            self._cut[key] = [
                n if n < first else n - (last - first)
                for n in self._whole.spots(key)
                if not first <= n < last
            ]
        return self._cut[key]

    def count(self, key: str) -> int:
        """Return how many lines say this."""
        return len(self.spots(key))

    def lone(self, key: str, low: int, high: int, back: Sequence[int]) -> int:
        """Return the only free line from `low` to before `high` that has a key, or -1.

        A free line is one that is not taken (`back`). The result is -1 when there are none or
        several.
        """
        spots = self.spots(key)
        lone = -1
        for at in range(bisect_left(spots, low), len(spots)):
            if spots[at] >= high:
                break
            if back[spots[at]] < 0:
                if lone >= 0:
                    return -1
                lone = spots[at]
        return lone

    def without(self, first: int, last: int) -> "Reading":
        """Return the reading of the text less the lines from `first` to before `last`."""
        return Reading(self.keys[:first] + self.keys[last:], self, first, last)


class Text:
    """The lines of a text, cut at WIDTH; what is asked of it is worked out once."""

    def __init__(
        self, lines: list[str], whole: "Text | None" = None, first: int = 0, last: int = 0
    ) -> None:
        self.lines = lines
        self._whole = whole
        self._first = first
        self._last = last
        self._symbols: dict[str, tuple[Symbol, ...]] = {}

    def _read(self, name: str, loosen: Callable[[str], str]) -> Reading:
        if self._whole is not None:
            reading: Reading = getattr(self._whole, name)
            return reading.without(self._first, self._last)
        source = self.short if name == "plain" else self.plain.keys
        by = {line: loosen(line) for line in set(source)}  # most texts say the same in many lines
        return Reading([by[line] for line in source])

    @cached_property
    def short(self) -> list[str]:
        """The lines, cut."""
        if self._whole is not None:
            return self._whole.short[: self._first] + self._whole.short[self._last :]
        return [line[:WIDTH] for line in self.lines]

    @cached_property
    def plain(self) -> Reading:
        """The lines squashed."""
        return self._read("plain", squash)

    @cached_property
    def loose(self) -> Reading:
        """The lines without what formatters change."""
        return self._read("loose", loose)

    @cached_property
    def bare(self) -> Reading:
        """The lines without what makes comments of them."""
        return self._read("bare", bare)

    @cached_property
    def codes(self) -> dict[str, str]:
        """The squashed lines by their codes."""
        return {code(key): key for key in dict.fromkeys(self.plain.keys)}

    @cached_property
    def sides(self) -> list[list[str]]:
        """Our and their side where git marked conflicts; nothing without a conflict."""
        return conflict_sides(self.lines)

    def symbols(self, path: str) -> "tuple[Symbol, ...]":
        """Return the definitions of the text."""
        if path not in self._symbols:
            from gitmem.codemap.symbols import definitions

            self._symbols[path] = definitions.symbols("\n".join(self.lines), path)
        return self._symbols[path]

    def without(self, first: int, last: int) -> "Text":
        """Return the text less the lines from `first` to before `last`."""
        return Text(self.lines[:first] + self.lines[last:], self, first, last)


_texts: list[Text] = []  # replaced, never changed: threads share it


def read(lines: Sequence[str]) -> Text:
    """Return the text of these lines, the last few from memory.

    Compared by content, so a changed list is seen.
    """
    global _texts
    mine = lines if isinstance(lines, list) else list(lines)
    texts = _texts
    for text in texts:
        if len(text.lines) == len(mine) and text.lines == mine:
            return text
    text = Text(list(mine))
    kept = [text]
    for other in texts[: TEXTS - 1]:
        if sum(len(x.lines) for x in kept) + len(other.lines) <= LINES:
            kept.append(other)
    _texts = kept
    return text


def code(key: str) -> str:
    """Return the few characters that a line is known again by."""
    return (
        b2a_base64(
            crc32(key.encode("utf-8", "replace")).to_bytes(4, "big")[1:], newline=False
        ).decode()
        if key
        else "." * CODE
    )
