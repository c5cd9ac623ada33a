"""What `git mem forget --purge --quarantine-…` shows and does."""

from collections.abc import Sequence

from gitmem.app import App
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import UnknownId
from gitmem.services.maintenance import purge_quarantine
from gitmem.services.maintenance.purge_request import is_named
from gitmem.store import quarantine
from gitmem.store.quarantine import Kept
from gitmem.text.plural import counted


def list_quarantine(term: Terminal, app: App, as_json: bool) -> None:
    """List what is kept."""
    rows = list(purge_quarantine.titled(app.home))
    if as_json:
        term.json([_quarantined_json(row, title) for row, title in rows])
        return
    if not rows:
        term.say("the quarantine is empty.")
        return
    for row, title in rows:
        term.say(f"{short(row.id)} {plain(title)}  (purged by {plain(row.purger)}, {row.at[:10]})")
    term.note(
        "Bring one back: git mem forget --purge --quarantine-restore ID. Remove all: git mem "
        "forget --purge --quarantine-drop"
    )


def _quarantined_json(row: Kept, title: str) -> dict[str, str]:
    return {
        "id": row.id,
        "title": title,
        "purged_by": row.purger,
        "at": row.at,
        "remote": row.remote,
    }


def restore_quarantined(term: Terminal, app: App, ids: Sequence[str], as_json: bool) -> None:
    """Bring records back into the shared store."""
    rows = list(quarantine.kept(app.home))
    restored = []
    for given in ids:
        matches = dict.fromkeys(row.id for row in rows if is_named(given, row.id))
        if len(matches) != 1:
            count = len(matches) or "no"
            raise UnknownId(
                f"{count} records in the quarantine match '{given}'.",
                "List them: git mem forget --purge --quarantine-list",
            )
        kept = next(row for row in rows if row.id in matches)
        title = purge_quarantine.bring_back(app.store(), app.writer(), app.home, kept)
        restored.append(_quarantined_json(kept, title))
        if not as_json:
            term.say(f"restored {short(kept.id)} {plain(title)}")
    app.index()
    if as_json:
        term.json(restored)


def drop_quarantine(term: Terminal, app: App, as_json: bool) -> None:
    """Remove all that is kept."""
    count = quarantine.drop(app.home)
    if as_json:
        term.json({"count": count})
    else:
        term.say(f"removed {counted(count, 'record')} from the quarantine.")
