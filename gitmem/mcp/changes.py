"""The tools that write: remember, done. Who writes is an agent, so nothing here confirms."""

from typing import Any

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.fingerprint.category import category
from gitmem.mcp.answers import Arguments
from gitmem.mcp.code_answers import anchor_of
from gitmem.mcp.tools import GOTCHA
from gitmem.records.kinds import short_id
from gitmem.records.texts import titled
from gitmem.repo.location import inside
from gitmem.repo.refs import head
from gitmem.services.facts import answers
from gitmem.services.facts.repeated import live_fact_with_title
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.services.records.anchoring import with_code
from gitmem.services.records.write import Change

INBOX = "A person accepts or rejects it with: git mem inbox"


def remember(app: App, arguments: Arguments) -> str:
    """Keep a fact that an agent states; returns its id. What is there already is not written again.

    Raises UserError for what the user rejected, and for a place that is not there.
    """
    who = app.writer()
    heading, text = titled(arguments["title"], arguments["text"])
    indexes = [index for _, index in app.indexes()]
    before = live_fact_with_title(indexes, heading, app.namespaces)
    if before:
        return (
            f"It is remembered already as {before['id']}; nothing was written. Read it with get; "
            "if it says something else, give another title."
        )
    kind = GOTCHA if arguments["type"] == GOTCHA else "memory"
    draft = write.draft(who, kind, heading, text, **_fields(app, arguments, heading, text))
    near = lifecycle.alike(indexes, draft) if kind == GOTCHA else None
    change = write.add(app.store(app.store_of_facts(who)), who, draft)
    also = f" It is like {short_id(near[0]['id'])}: read that with get." if near else ""
    return f"Remembered as {change.after.id}, unconfirmed.{_said(change)}{also} {INBOX}"


def _fields(app: App, arguments: Arguments, title: str, text: str) -> dict[str, Any]:
    """Return the fields of a new fact."""
    places = [_attached(app, place) for place in arguments["places"]]
    fields: dict[str, Any] = {"anchors": places} if places else {}
    if arguments["type"] == GOTCHA:
        now = app.clock.stamp()
        fields |= {"category": category(title, text, ""), "first_seen": now, "last_seen": now}
        return fields | ({"workaround": arguments["workaround"]} if arguments["workaround"] else {})
    if arguments["workaround"]:
        raise UserError("only a gotcha has a workaround.", "Give the type gotcha, or leave it out.")
    return fields | ({"type": arguments["type"]} if arguments["type"] else {})


def _attached(app: App, place: str) -> dict[str, Any]:
    def read(path: str) -> bytes | None:
        if not app.root:
            return app.code_history.text(path, "HEAD")
        return app.code_history.text(path) if inside(path, app.root, app.root) else None

    commit = head(app.location)
    hash_name = app.objects.traits.hash
    return with_code(anchor_of(app, place), read, app.location.worktree, hash_name, commit)


def done(app: App, arguments: Arguments) -> str:
    """Close a task, or resolve a gotcha."""
    scope, stored = app.get(arguments["id"])
    store, who, commit = app.store(scope), app.writer(), head(app.location) or ""
    if stored.record.kind == "gotcha":
        change = lifecycle.resolve(store, who, stored.record, commit, arguments["note"])
        verb = "resolved"
    else:
        change = answers.finish(store, who, stored.record, commit)
        verb = "done"
    name = change.after.id  # a title would stand outside of the fence
    if change.written.commit is None and not change.written.journaled:
        return f"It is {verb} already: {name}."
    unused = arguments["note"] and verb == "done"
    note = " The note was not kept: only a gotcha has one." if unused else ""
    return f"{verb.capitalize()}: {name}.{_said(change)}{note}"


def _said(change: Change) -> str:
    """Return what the writer has to know of a change: masked secrets, a write that waits."""
    kinds = ", ".join(dict.fromkeys(finding.kind for finding in change.findings))
    masked = f" Masked in it: {kinds}." if kinds else ""
    waits = " It is in the journal, and committed with the next write."
    return masked + (waits if change.written.journaled else "")
