"""The place of an anchor in a text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an anchor is in a text: lines from 1, inclusive, of a file.

    `state`: `same` (as it was, shifted at most), `moved` (elsewhere in the file, or in another
    one), `changed` (there, but edited), `approximate` (only the definition that it was in is
    there), `adrift` (not to be found: the file's first line), `file` (the anchor names no line),
    `glob`. `stale`: the code is not any more what the record spoke of.
    """

    path: str
    first: int
    last: int
    state: str
    confidence: float = 1.0
    symbol: str = ""
    stale: bool = False

    @property
    def is_certain(self) -> bool:
        """Say whether the place is known: neither adrift nor only its definition."""
        return self.state not in {"adrift", "approximate"}
