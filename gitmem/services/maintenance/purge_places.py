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


def warnings(places: Iterable[PurgePlace]) -> Iterator[tuple[str, str]]:
    """Yield ("error" or "warning", text) of the places that still hold something."""
    levels = {HELD: "error", YOURS: "warning"}
    for place in places:
        count = f"{place.count} " if place.count else ""
        mark = " " if place.detail.startswith("still ") else ": "
        if place.state in levels:
            yield levels[place.state], f"{place.name}{mark}{count}{place.detail}"


def is_held(places: Iterable[PurgePlace]) -> bool:
    """Say whether something that had to go is still in one of our places."""
    return any(place.state == HELD for place in places)


def was_removed(places: Iterable[PurgePlace]) -> bool:
    """Say whether anything had to be removed."""
    return any(place.state == REMOVED for place in places)
