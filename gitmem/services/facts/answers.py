"""What a person answers when a session says that a task is done: it is, or it is still open."""

from collections.abc import Mapping, Sequence

from gitmem.errors import UserError
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.records.trust import words_digest
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer
from gitmem.store.store import Store, Written


def finish(
    store: Store,
    who: Writer,
    before: Record,
    commit: str = "",
    session: str = "",
    statements: Sequence[Mapping[str, str]] = (),
) -> Change:
    """Say that a task is done: it leaves every list of open ones.

    `session` and `statements` are what said so: they are answered. Raises UserError for no task.
    """
    if before.kind != "memory" or before.get("type") != "task":
        kind = before.get("type") if before.kind == "memory" else before.kind
        raise UserError(
            f"{before.id} is a {kind}; only tasks are done.",
            f"A gotcha is resolved: git mem gotcha resolve ID. Others are put aside: git mem "
            f"archive {before.id}",
        )
    if before.fields.get("done") and before.status not in LIVE:
        return Change(before, before, Written(None))
    by = who.author[0] if who.is_person else who.program
    facts = {"at": who.clock.stamp(), "by": by, "session": session, "commit": commit}
    done = {key: value for key, value in facts.items() if value}
    settled = _settled(who, before, statements, "done")
    after = before.change(done=done, status="archived", settled=settled)
    return write.update(store, who, before, after, "done", vouches=True)


def keep_open(
    store: Store, who: Writer, before: Record, statements: Sequence[Mapping[str, str]]
) -> Change:
    """Say that a fact holds all the same; the sessions that said otherwise are not asked about."""
    settled = _settled(who, before, statements, "open")
    return write.update(store, who, before, before.change(settled=settled), "settle")


def _settled(
    who: Writer, before: Record, statements: Sequence[Mapping[str, str]], choice: str
) -> list[dict[str, str]] | None:
    answer = {"choice": choice, "by": who.author[0], "at": who.clock.stamp()}
    words = words_digest(before)
    added = [{"id": one["record"], "words": words, **answer} for one in statements]
    return [*before.get("settled"), *added] or None
