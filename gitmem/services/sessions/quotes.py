"""What was asked and answered in a session is for its owner: no agent is given it.

An agent knows what was said in its own session.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitmem.records.record import Record

LEFT_OUT = "what was asked and answered in sessions is left out: it is for the user's eyes"
QUOTED = frozenset({"Asked", "Last answer"})  # sections of a record
SAID = frozenset({"asked", "answered"})  # kinds of hits in a history
ROLES = frozenset({"user", "assistant"})  # of rows of a history


def without_quotes(record: "Record") -> "Record":
    """Return a session's record without what was asked and answered; another as it is."""
    if record.kind != "session":
        return record
    first, *parts = f"\n{record.body}".split("\n## ")
    kept = [part for part in parts if part.partition("\n")[0] not in QUOTED]
    facts = [
        {key: value for key, value in entry.items() if key != "quote"}
        for entry in record.fields.get("facts") or ()
        if isinstance(entry, Mapping)
    ]
    return record.change(body="\n## ".join([first, *kept]).lstrip("\n"), facts=facts or None)


def hit_without_quotes(hit: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a search found, without what a session's record or history quotes.

    None for a hit that is nothing but a quote.
    """
    if hit["kind"] == "session" and hit["snippet"]:
        return {**hit, "snippet": ""}
    return None if hit["kind"] in SAID else hit


def rows_without_quotes(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Any]:
    """Yield the numbered rows of a history that quote nobody."""
    return ((number, row) for number, row in rows if row.get("role") not in ROLES)
