"""Records as they were at a revision of their store."""

from typing import Any

from gitmem.app import App
from gitmem.cli.rows import as_row
from gitmem.errors import UnknownId
from gitmem.services.records import history
from gitmem.store.reader import Damaged, Stored


def record_at(app: App, name: str, revision: str) -> tuple[str, Stored]:
    """Return a record at a revision, from the first store that had it then."""
    from gitmem.records.record import kind_of

    last: Exception | None = None
    for scope in ("private", "shared"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        try:
            commit = history.resolve(store, app.git, revision)
            low = name.lower()
            id = low if kind_of(low) else _past_id(app, store, low, commit)
            return scope, store.get(id, commit)
        except UnknownId as error:
            last = error
    raise last or UnknownId(f"no record matches '{name}'.", "List what there is with: git mem list")


def _past_id(app: App, store: Any, text: str, commit: str) -> str:
    try:
        return app.find(text)
    except UnknownId:
        from gitmem.store.layout import id_of_path

        ids = [
            i
            for p, _ in store.entries(commit)
            if (i := id_of_path(p))
            and (i.startswith(text) or i[4:].startswith(text) or i.endswith(text))
        ]
        if len(ids) != 1:
            raise
        return ids[0]


def listed_at(
    app: App,
    at: str,
    kinds: tuple[str, ...],
    types: tuple[str, ...],
    statuses: tuple[str, ...],
    tags: tuple[str, ...],
    scopes: tuple[str, ...],
) -> list[dict[str, Any]]:
    """Return the rows of `list` for a state of the past, read from git."""
    rows = []
    for scope in scopes or ("shared", "private"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        commit = history.resolve(store, app.git, at)
        for stored in store.records(commit):
            if isinstance(stored, Damaged):
                continue
            row = as_row(scope, stored)
            if (
                (not kinds or row["kind"] in kinds)
                and (not statuses or stored.record.status in statuses)
                and (not types or row.get("type") in types)
                and set(tags) <= set(stored.record.tags)
            ):
                rows.append(row)
    return sorted(rows, key=lambda r: (r["created"], r["id"]), reverse=True)
