"""Code actions and what they do. The list is made from what is on the screen, in no time: editors ask at each move of the cursor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsprotocol import types as t

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.git.process import Git
from gitmem.model.record import Record
from gitmem.services import memories
from gitmem.store.records import Message
from gitmem_lsp.diagnostics import Mark, Note
from gitmem_lsp.text import plain, shorten

RESOLVE = "gitmem.resolve"
TITLE_LIMIT = 60
OFFERED = 5  # gotchas of one range that are offered


class EditorWriter(memories.Writer):
    """A writer whose commits say that they were made from an editor."""

    def message(self, record: Record, op: str, subject: str = "") -> Message:
        """Return the commit message of a change of one record."""
        made = super().message(record, op, subject)
        return replace(made, extra=(*made.extra, ("Gitmem-Origin", "editor")))


@dataclass(frozen=True, slots=True)
class Resolved:
    """What came of resolving a record."""

    record: Record
    journaled: bool = False
    already: bool = False


def wanted(only: Sequence[str | t.CodeActionKind] | None) -> bool:
    """Say whether a request for some kinds of actions includes quick fixes."""
    return only is None or any(str(getattr(kind, "value", kind)) in {"", "quickfix"} for kind in only)


def code_actions(marks: Sequence[Mark], range: t.Range, uri: str, literals: bool) -> list[t.CodeAction | t.Command]:
    """Return what can be done about the gotchas of the lines of a range; bare commands for a client that knows no more."""
    pairs = [(mark, note) for mark in marks if range.start.line <= mark.line <= range.end.line for note in mark.notes]
    actions = [_resolve(mark, note, uri) for mark, note in pairs[:OFFERED]]
    return [action if literals or action.command is None else action.command for action in actions]


def _resolve(mark: Mark, note: Note, uri: str) -> t.CodeAction:
    title = f"Resolve gotcha: {shorten(plain(str(note.row['title'])), TITLE_LIMIT)}"
    command = t.Command(title, RESOLVE, arguments=[note.id, uri])
    return t.CodeAction(title, kind=t.CodeActionKind.QuickFix, diagnostics=[mark.diagnostic], command=command)


def resolve(app: App, id: str, gitdir: str) -> Resolved:
    """Mark a gotcha as resolved at the commit that is checked out, in the store that it is in; raises GitmemError."""
    scope, stored = app.get(id)
    before = stored.record
    if before.kind != "gotcha":
        raise UserError(f"{id} is a {before.kind}; only a gotcha can be resolved.")
    if before.resolved:
        return Resolved(before, already=True)
    who = app.writer()
    writer = EditorWriter(who.clock, who.author, who.agent, who.session, who.allow)
    commit = Git(gitdir, app.env).run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1)).decode().strip()
    done = {"at": who.clock.stamp(), "by": who.author[0], **({"commit": commit} if commit else {})}
    change = memories.update(app.store(scope), writer, before, before.change(resolved=done), "resolve")
    return Resolved(change.after, journaled=change.written.journaled)
