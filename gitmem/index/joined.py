"""What a reader sees: the indexes of several stores as one.

`prefix` is the scope of an index's records, empty where each row names its own.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.errors import UnknownId
from gitmem.index.filters import is_automatic, is_only_beside
from gitmem.index.reader import SORTED_BY, Index, sort_rows
from gitmem.records.kinds import is_long_enough

Indexes = Sequence[tuple[str, Index]]
SHOWN = 4  # ids that an error names


def _chosen(indexes: Indexes, scopes: Sequence[str]) -> Iterator[tuple[str, Index, list[str]]]:
    """Yield (prefix, index, stores of it to read), without the indexes that `scopes` leaves out."""
    for prefix, index in indexes:
        stores = [scope for scope in scopes if scope != "user"] if scopes and not prefix else []
        if not scopes or prefix or stores:
            yield prefix, index, stores


def _named(rows: list[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    for row in rows:
        row["store"] = prefix or row["store"]
    return rows


def rows(
    indexes: Indexes, scopes: Sequence[str] = (), limit: int = -1, **filters: Any
) -> list[dict[str, Any]]:
    """Return list rows of all stores; `scopes` names which, `limit` -1 is all."""
    order = filters.get("order", "created")
    if "fields" in filters:  # what joins the rows is needed whatever is asked for
        filters["fields"] = ("store", *SORTED_BY[order], *filters["fields"])
    out: list[dict[str, Any]] = []
    for prefix, index, stores in _chosen(indexes, scopes):
        out += _named(index.rows(stores=stores, limit=limit, **filters), prefix)
    if len({row["store"] for row in out}) > 1:
        sort_rows(out, order)
    return out[:limit] if limit >= 0 else out


def number(indexes: Indexes, scopes: Sequence[str] = (), **filters: Any) -> int:
    """Return how many rows `rows` would return without a limit."""
    chosen = _chosen(indexes, scopes)
    return sum(index.number(stores=stores, **filters) for _, index, stores in chosen)


def search(
    indexes: Indexes, text: str, limit: int, scopes: Sequence[str] = (), **filters: Any
) -> list[dict[str, Any]]:
    """Return the best matches of all stores, best first."""
    out: list[dict[str, Any]] = []
    for prefix, index, stores in _chosen(indexes, scopes):
        out += _named(index.search(text, limit=limit, stores=stores, **filters), prefix)
    return sorted(out, key=_order)[:limit]


def _order(hit: dict[str, Any]) -> tuple[bool, bool, float, str]:
    return is_only_beside(hit), is_automatic(hit), -hit["score"], hit["id"]


def find_id(indexes: Indexes, text: str) -> str:
    """Return the full id that a unique part names.

    The part is a beginning of the id or of what lists show of it, or an end, of four characters or
    more besides the kind's. Raises UnknownId.
    """
    low = text.strip().lower()
    if not low:
        raise UnknownId("an id is empty.", "List what there is with: git mem list")
    ids: list[str] = []
    for _, index in indexes:
        ids += [id for id in index.match_ids(low) if id not in ids]
    if len(ids) == 1 and (ids[0] == low or is_long_enough(low)):
        return ids[0]
    if not ids:
        raise UnknownId(
            f"no record matches '{text}'.",
            "Search for it: git mem search WORDS, or list all: git mem list",
        )
    shown = " | ".join(ids[:SHOWN]) + (" …" if len(ids) > SHOWN else "")
    raise UnknownId(
        f"{len(ids)} records match '{text}'."
        if len(ids) > 1
        else f"'{text}' is too short for an id.",
        f"Give more characters: {shown}",
    )
