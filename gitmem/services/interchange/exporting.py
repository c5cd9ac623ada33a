"""What is exported: the facts that a filter lets through, and the files that a format makes.

Writers are pure: the same facts give the same bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gitmem.errors import UserError
from gitmem.records.kinds import CATEGORIES, FACTS, SEVERITIES, STATUSES, TYPES
from gitmem.records.record import Record

FILTERS: Mapping[str, Sequence[str]] = {
    "kind": tuple(sorted(FACTS)),
    "type": TYPES,
    "status": STATUSES,
    "category": CATEGORIES,
    "severity": SEVERITIES,
    "tag": (),
    "agent": (),
    "origin": (),
}


@dataclass(frozen=True, slots=True)
class ExportedFact:
    """A fact to export, its store, and whether a person vouches for its words."""

    record: Record
    scope: str
    is_vouched: bool


class ForeignWriter(NamedTuple):
    """How a format is written.

    `files` makes {path below the target: text} of the facts that it `takes`; a format of one file
    names it "".
    """

    name: str
    is_folder: bool
    files: Callable[[Sequence[ExportedFact]], Mapping[str, str]]
    takes: Callable[[Record], bool] = lambda _: True


def parsed_filters(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return filters by name, of `NAME=VALUE[,VALUE...]` each. Raises UserError."""
    out: dict[str, list[str]] = {}
    for text in texts:
        name, separator, values = text.partition("=")
        name = name.strip()
        wanted = [value.strip() for value in values.split(",") if value.strip()]
        if not separator or name not in FILTERS or not wanted:
            raise UserError(
                f"'{text}' is no filter.", f"Write NAME=VALUE; names: {', '.join(FILTERS)}."
            )
        allowed = FILTERS[name]
        if unknown := [value for value in wanted if allowed and value not in allowed]:
            raise UserError(f"{name} cannot be '{unknown[0]}'.", f"Allowed: {', '.join(allowed)}.")
        out.setdefault(name, []).extend(wanted)
    return out


def group_of(record: Record) -> str:
    """Return the type of a memory, or `gotcha`."""
    return "gotcha" if record.kind == "gotcha" else str(record.get("type"))


def is_wanted(record: Record, filters: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a record passes every filter; of one filter's values any counts."""
    for name, wanted in filters.items():
        own = record.tags if name == "tag" else [_value(record, name)]
        if not set(own) & set(wanted):
            return False
    return True


def _value(record: Record, name: str) -> str:
    return record.kind if name == "kind" else str(record.get(name) or "")
