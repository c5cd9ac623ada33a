"""What becomes of a fact that nobody confirmed: a person accepts it, or it may be rejected."""

from collections.abc import Collection

from gitmem.errors import UserError
from gitmem.records.codec import encode
from gitmem.records.merge import settled
from gitmem.records.record import Record
from gitmem.records.trust import confirmed_by
from gitmem.services.facts.stores import PROPOSED, leave, public
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer, archivals, replaced_by, require_person
from gitmem.store import operations
from gitmem.store.store import Store


def require_waiting(record: Record, waiting: Collection[str]) -> None:
    """Raise UserError for a record that is not among the ids that wait in the inbox.

    A typing error must not remove what somebody wrote.
    """
    if record.id not in waiting:
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
    tags = [tag for tag in record.tags if tag != PROPOSED]
    if shared is None:
        return write.confirm(store, who, record, record.change(tags=tags or None), commit)
    require_person(who, "confirm")
    after = confirmed_by(public(record), who.clock.stamp(), who.author[0], commit)
    after = settled(after.touched(who.clock.stamp()))
    todo = [operations.put(after, revive=True), *archivals(who, replaced_by(shared, record))]
    written = shared.write(todo, who.message(after, "confirm"))
    leave(store, who, {record.id: encode(record)})
    return Change(record, after, written)
