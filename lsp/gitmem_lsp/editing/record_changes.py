"""What an editor's user does to a record.

Each function is one commit that says it came from an editor; on the repository's thread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.records.record import Record
from gitmem.repo.location import Location
from gitmem.repo.refs import head
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.store.store import Message, Store
from gitmem_lsp.workspace.repository_view import applies

DAY = 86400.0


class EditorWriter(write.Writer):
    """A writer whose commits say that they were made from an editor."""

    def message(self, record: Record, op: str, subject: str = "") -> Message:
        """Return the commit message of a change of one record."""
        made = super().message(record, op, subject)
        return made._replace(extra=(*made.extra, ("Gitmem-Origin", "editor")))


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a change.

    It has the record as it is now, whether it waits in the journal, and whether nothing had to
    change.
    """

    record: Record
    journaled: bool = False
    already: bool = False

    def answer(self, **more: Any) -> dict[str, Any]:
        """Return it as the answer of a command."""
        return {"id": self.record.id, "already": self.already, "journaled": self.journaled, **more}


def writer(app: App) -> EditorWriter:
    """Return who writes; what follows is a command of its own."""
    app.begin_command()
    return EditorWriter(*app.writer())


def _change(app: App, id: str, work: Callable[[Store, EditorWriter, Record], write.Change]) -> Done:
    scope, stored = app.get(id)
    change = work(app.store(scope), writer(app), stored.record)
    return Done(
        change.after,
        change.written.journaled,
        change.after is change.before or change.after == change.before,
    )


def resolve(app: App, id: str, where: Location) -> Done:
    """Mark a gotcha as resolved at the commit that is checked out, in the store that it is in.

    Raises GitmemError.
    """
    return _change(
        app,
        id,
        lambda store, who, before: lifecycle.resolve(store, who, before, commit=head(where) or ""),
    )


def reopen(app: App, id: str) -> Done:
    """Say that a gotcha is not dealt with after all."""
    return _change(app, id, lifecycle.reopen)


def verify(app: App, id: str, where: Location) -> Done:
    """Say that a record still holds."""
    return _change(
        app,
        id,
        lambda store, who, before: lifecycle.confirm(store, who, before, commit=head(where) or ""),
    )


def set_pin(app: App, id: str, *, pinned: bool) -> Done:
    """Keep a record from fading, or let it fade again."""
    status, op = ("pinned", "pin") if pinned else ("active", "unpin")
    return _change(
        app, id, lambda store, who, before: write.set_status(store, who, before, status, op)
    )


def snooze(app: App, id: str, days: float) -> dict[str, Any]:
    """Hide a gotcha from this user for some days; nothing is committed."""
    _, stored = app.get(id)
    lifecycle.require_gotcha(stored.record, "snoozed")
    until = app.clock.now() + days * DAY
    app.state.snooze(stored.record.id, until)
    return {"id": stored.record.id, "until": until}


def unsnooze(app: App, id: str) -> dict[str, Any]:
    """Show a gotcha again."""
    full = app.find(id)
    return {"id": full, "unsnoozed": app.state.unsnooze(full)}


def make_anchor(
    app: App, where: Location, path: str, lines: Sequence[str], span: tuple[int, int] | None
) -> dict[str, Any]:
    """Return an anchor at lines of a text of a work tree, counted from 1; None for the whole file.

    It has the code around the lines, the definition that they are in, and the commit that is
    checked out.
    """
    from gitmem.services.records.anchoring import in_text  # compares whole texts

    # a client may have sent half of a letter
    data = "".join(lines).replace("\r\n", "\n").encode("utf-8", "replace")
    place = {"path": path, "lines": list(span)} if span else {"path": path}
    return in_text(place, data, hash_of(app), head(where))


def hash_of(app: App) -> str:
    """Return how a repository names its objects: sha1 or sha256."""
    return "sha256" if app.settings.git("extensions.objectformat") == "sha256" else "sha1"


def reanchor(
    app: App,
    id: str,
    anchor: Mapping[str, Any],
    paths: Sequence[str],
    was: Mapping[str, Any] | None = None,
) -> Done:
    """Move the place of a record in a file elsewhere in that file.

    The place is the anchor `was`, else the first anchor in that file.

    A pattern stays: it speaks of other files too.
    """

    def work(store: Store, who: EditorWriter, before: Record) -> write.Change:
        if before.kind not in {"gotcha", "memory", "event"}:
            raise UserError(f"{before.id} is a {before.kind}, which has no place in the code.")
        anchors = [dict(a) for a in before.anchors]
        here = [n for n, a in enumerate(anchors) if "glob" not in a and applies(a, paths)]
        at = (
            anchors.index(dict(was))
            if was and "glob" not in was and dict(was) in anchors
            else here[0]
            if here
            else len(anchors)
        )
        anchors[at : at + 1] = [dict(anchor)]
        return lifecycle.reanchor(store, who, before, anchors)

    return _change(app, id, work)


def record(
    app: App, title: str, anchors: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> Done:
    """Record a gotcha."""
    fields = {
        key: str(given[key]) for key in ("severity", "category", "workaround") if given.get(key)
    }
    who = writer(app)
    made = write.draft(
        who,
        "gotcha",
        title,
        str(given.get("body") or ""),
        anchors=[dict(a) for a in anchors] or None,
        **fields,
    )
    change = write.add(app.store(), who, made)
    return Done(change.after, change.written.journaled)
