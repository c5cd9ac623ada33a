"""What becomes of a fact that nobody confirmed: a person accepts it, or it may be rejected."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import UserError
from gitmem.records.kinds import UNSURE
from gitmem.records.record import Record
from gitmem.records.trust import confirmed_by
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer, archivals, replaced_by, require_person
from gitmem.store import operations
from gitmem.store.store import Message, Store

PROPOSED = "proposed"  # the tag of what a session taught
UNREAD = "inbox"  # the namespace of what others said: no agent reads it before somebody accepts it
PUBLIC = frozenset({"session", "role", "at", "commit"})  # of a source, what others may see


def shareable(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return where a fact was seen, without what is this machine's alone."""
    return [{key: value for key, value in source.items() if key in PUBLIC} for source in sources]


def becomes_shared(scope: str, record: Record) -> bool:
    """Return whether a record of a store is a proposal that is shared once somebody accepts it."""
    return scope == "private" and record.get("origin") in UNSURE


def require_waiting(record: Record) -> None:
    """Raise UserError for a record that does not wait in the inbox.

    A typing error must not remove what somebody wrote.
    """
    if not record.unconfirmed:
        raise UserError(
            f"{record.id} is not in the inbox: somebody wrote or confirmed it.",
            f"To remove it: git mem forget {record.id}",
        )


def accept(
    store: Store, who: Writer, record: Record, commit: str = "", shared: Store | None = None
) -> Change:
    """Confirm a fact, and put aside what it replaces; one commit.

    `commit` is what is checked out. With `shared`, the fact moves there from its private store.
    Raises UserError for a program.
    """
    if shared is None:
        return write.confirm(store, who, record, record, commit)
    require_person(who, "confirm")
    tags = [tag for tag in record.tags if tag != PROPOSED]
    agent = None if record.fields.get("agent") == UNREAD else record.fields.get("agent")
    sources = shareable(record.get("sources")) or None
    after = record.change(tags=tags or None, item=None, agent=agent, sources=sources)
    after = confirmed_by(after, who.clock.stamp(), who.author[0], commit).touched(who.clock.stamp())
    todo = [operations.put(after, revive=True), *archivals(who, replaced_by(shared, record))]
    written = shared.write(todo, who.message(after, "confirm"))
    subject = f"{record.kind}: moved {record.id} to the shared store"
    moved = Message(subject, "move", (record.id,), session=who.session)
    store.write([operations.collect(record.id)], moved)
    return Change(record, after, written)
