"""What a person answers when a session says that a fact is done, no longer true, or replaced."""

from collections.abc import Mapping, Sequence

from gitmem.errors import UserError
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.records.trust import words_digest
from gitmem.services.records import write
from gitmem.services.records.decisions import require_undecided
from gitmem.services.records.write import Change, Writer
from gitmem.store.store import Store, Written

Statements = Sequence[Mapping[str, str]]  # of the index, the last one said comes last


def finish(
    store: Store,
    who: Writer,
    before: Record,
    commit: str = "",
    session: str = "",
    statements: Statements = (),
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
    require_undecided(store, who.program, before, "done")
    by = who.author[0] if who.is_person else who.program
    facts = {"at": who.clock.stamp(), "by": by, "session": session, "commit": commit}
    done = {key: value for key, value in facts.items() if value}
    settled = _settled(who, before, statements, "done")
    after = before.change(done=done, status="archived", settled=settled)
    return write.update(store, who, before, after, "done", vouches=True)


def end(store: Store, who: Writer, before: Record, statements: Statements) -> Written:
    """Say that a fact is not true any more: it is forgotten, and is not proposed again."""
    reason = f"no longer true, as said in session {statements[-1]['session']}"
    return write.forget(store, who, [before], reason)


def put_aside(store: Store, who: Writer, before: Record, statements: Statements) -> Change:
    """Say that something else has taken the place of a fact, which is archived."""
    settled = _settled(who, before, statements, "replaced")
    after = before.change(status="archived", settled=settled)
    return write.update(store, who, before, after, "archive")


def keep(
    store: Store,
    who: Writer,
    before: Record,
    statements: Statements,
    successor: tuple[Store, Record] | None = None,
) -> Change:
    """Say that a fact holds all the same; the sessions that said otherwise are not asked about.

    A `successor` that was proposed stays, and takes its place no more.
    """
    settled = _settled(who, before, statements, "open")
    change = write.update(store, who, before, before.change(settled=settled), "settle")
    if successor is not None:
        where, proposal = successor
        others = [id for id in proposal.get("supersedes") or () if id != before.id]
        after = proposal.change(supersedes=others or None)
        write.update(where, who, proposal, after, "settle")
    return change


def _settled(
    who: Writer, before: Record, statements: Statements, choice: str
) -> list[dict[str, str]] | None:
    answer = {"choice": choice, "by": who.author[0], "at": who.clock.stamp()}
    words = words_digest(before)
    records = dict.fromkeys(said["record"] for said in statements)
    return [*before.get("settled"), *({"id": id, "words": words, **answer} for id in records)] or (
        None
    )
