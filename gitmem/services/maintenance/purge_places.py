"""The places in which a purge looks, and what it found in each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# HELD: in one of our places still; YOURS: in what is the user's, which a purge never touches.
CLEAN, REMOVED, HELD, YOURS = "clean", "removed", "held", "yours"


@dataclass(frozen=True, slots=True)
class PurgePlace:
    """One place: nothing was in it, something was removed, or something is still there and why."""

    name: str
    state: str = CLEAN
    count: int = 0
    detail: str = ""

    def as_json(self) -> dict[str, str | int]:
        """Return it as a JSON object."""
        return {"name": self.name, "state": self.state, "count": self.count, "detail": self.detail}


def left_over(places: Iterable[PurgePlace]) -> Iterator[str]:
    """Yield what is said of the places of this machine that hold something, or may do so."""
    for place in places:
        count = f"{place.count} " if place.count else ""
        mark = " " if place.detail.startswith("still ") else ": "
        if place.state in {HELD, YOURS}:
            yield f"{place.name}{mark}{count}{place.detail}"


def was_removed(places: Iterable[PurgePlace]) -> bool:
    """Say whether anything had to be removed."""
    return any(place.state == REMOVED for place in places)
