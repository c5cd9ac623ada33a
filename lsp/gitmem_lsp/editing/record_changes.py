"""What an editor's user does to a record.

Each function is one commit that says it came from an editor; on the repository's thread.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.git.object_codec import object_id
from gitmem.git.process import Git
from gitmem.records.record import Record
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

    def told(self, **more: Any) -> dict[str, Any]:
        """Return it as the answer of a command."""
        return {"id": self.record.id, "already": self.already, "journaled": self.journaled, **more}


def writer(app: App) -> EditorWriter:
    """Return who writes; what follows is a command of its own."""
    app.begin_command()
    return EditorWriter(*app.writer())


def head(app: App, gitdir: str) -> str:
    """Return the commit that is checked out in a work tree, empty when there is none."""
    return (
        Git(gitdir, app.env)
        .run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1))
        .decode()
        .strip()
    )


def _change(app: App, id: str, work: Callable[[Store, EditorWriter, Record], write.Change]) -> Done:
    scope, stored = app.get(id)
    change = work(app.store(scope), writer(app), stored.record)
    return Done(
        change.after,
        change.written.journaled,
        change.after is change.before or change.after == change.before,
    )


def resolve(app: App, id: str, gitdir: str) -> Done:
    """Mark a gotcha as resolved at the commit that is checked out, in the store that it is in.

    Raises GitmemError.
    """
    return _change(
        app,
        id,
        lambda store, who, before: lifecycle.resolve(store, who, before, commit=head(app, gitdir)),
    )


def reopen(app: App, id: str) -> Done:
    """Say that a gotcha is not dealt with after all."""
    return _change(app, id, lifecycle.reopen)


def verify(app: App, id: str, gitdir: str) -> Done:
    """Say that a record still holds."""
    return _change(
        app,
        id,
        lambda store, who, before: lifecycle.confirm(store, who, before, commit=head(app, gitdir)),
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


def make_anchor(app: App, path: str, lines: Sequence[str], first: int, last: int) -> dict[str, Any]:
    """Return an anchor at lines of a text, counted from 1.

    It has the code around the lines, and the definition that they are in.
    """
    from gitmem.codemap.anchors.resolve import attach

    # a client may have sent half of a letter
    text = "".join(lines).encode("utf-8", "replace").decode()
    kind = "sha256" if app.settings.git("extensions.objectformat") == "sha256" else "sha1"
    text = text.replace("\r\n", "\n")
    return attach(
        {"path": path, "lines": [first, last]},
        text,
        object_id("blob", text.encode("utf-8", "replace"), kind),
    )


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
