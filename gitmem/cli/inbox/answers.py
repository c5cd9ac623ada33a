"""What a person answers to the inbox: facts accepted, rejected, merged; statements true or not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.exports import remove_copies
from gitmem.cli.inbox.checks import offer_check
from gitmem.cli.records.change_report import report_change
from gitmem.cli.records.status import every
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import UnknownId, UserError
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.records.said import DONE, ENDED, REPLACED
from gitmem.repo.refs import head
from gitmem.services.facts import answers, review, stores
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import history, write
from gitmem.services.records.committers import is_accepted
from gitmem.services.views.inbox import OpenStatement
from gitmem.store.reader import Stored

# what an accepted statement did to a fact
SETTLED = {DONE: "done", ENDED: "forgotten", REPLACED: "replaced"}
Facts = Sequence[tuple[str, Stored]]  # (store, record)
Asked = Mapping[str, OpenStatement]  # by the ids of the facts


@dataclass(frozen=True, slots=True)
class Answers:
    """The ids that options name, as they were typed."""

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    into: str = ""
    reason: str = ""
    shares_preferences: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """What answers come to: statements that are `true` or `untrue`, facts, and those answered."""

    true: list[OpenStatement]
    untrue: list[OpenStatement]
    accepted: Facts
    rejected: Facts
    merged: Facts
    confirmed: list[Record]
    tombstones: dict[str, dict[str, Any]]


def answer(
    term: Terminal, app: App, given: Answers, asked: Asked, *, quiet: bool
) -> dict[str, list[str]]:
    """Write answers, and say so unless `quiet`; return the ids by what became of them.

    All of them are looked at before the first is written. Raises UserError.
    """
    plan = _planned(app, given, asked)
    already = [("accepted", {"id": fact.id, **fact.get("confirmed")}) for fact in plan.confirmed]
    already += [("rejected", mark) for mark in plan.tombstones.values()]
    for what, mark in () if quiet else already:
        _say_already(term, what, mark)
    for statement in plan.true:
        _hold_true(term, app, statement, quiet=quiet)
    for statement in plan.untrue:
        _hold_untrue(term, app, statement, quiet=quiet)
    for _, stored in plan.accepted:
        accept(
            term, app, stored.record.id, quiet=quiet, shares_preferences=given.shares_preferences
        )
    if len(plan.accepted) == 1 and not quiet:
        offer_check(term, app, plan.accepted[0][1].record.id)
    _reject_all(term, app, plan.rejected, given.reason, quiet=quiet)
    if plan.merged:
        merge(term, app, given.merged, given.into, quiet=quiet)
    return {
        "accepted": _ids(plan.accepted),
        "rejected": _ids(plan.rejected),
        "merged": _ids(plan.merged),
        "unchanged": [mark["id"] for _, mark in already],
        "statement": [statement.id for statement in (*plan.true, *plan.untrue)],
    }


def _planned(app: App, given: Answers, asked: Asked) -> _Plan:
    """Look at all that is named. Raises UserError for what cannot be answered so."""
    true, accepted = _split(app, given.accepted, asked)
    untrue, rejected = _split(app, given.rejected, asked)
    tombstones = _tombstones(app, rejected)
    to_accept = every(app, accepted)
    to_reject = every(app, [id for id in rejected if id not in tombstones])
    to_merge = every(app, given.merged)
    _require_single_answer(to_accept, to_reject, to_merge)
    _require_mergeable(app, given, to_reject)
    waits = app.rows(ids=_ids(to_reject), unconfirmed=True, fields=("id",))
    open_ids = {row["id"] for row in waits}
    for _, stored in to_reject:
        review.require_waiting(stored.record, open_ids)
    shares = given.shares_preferences
    confirmed = [
        stored.record for scope, stored in to_accept if _is_settled(app, scope, stored, shares)
    ]
    waiting = [(scope, stored) for scope, stored in to_accept if stored.record not in confirmed]
    _require_person(app, asked=[*true, *untrue], confirm=waiting, reject=to_reject, merge=to_merge)
    return _Plan(true, untrue, waiting, to_reject, to_merge, confirmed, tombstones)


def accept(
    term: Terminal, app: App, id: str, *, quiet: bool = False, shares_preferences: bool = False
) -> None:
    """Confirm a fact; a proposal moves to the shared store, a preference only if it is shared."""
    scope, stored = app.get(id)
    moves = stores.becomes_shared(scope, stored.record, asked=shares_preferences)
    target = app.store("shared" if moves else scope)
    replaced = write.replaced_by(target, stored.record)
    commit = head(app.location) or ""
    change = review.accept(
        app.store(scope), app.writer(), stored.record, commit, target if moves else None
    )
    if not quiet:
        report_change(term, change, "accepted", "shared" if moves else scope)
        for old in replaced:
            term.note(f"replaced {short(old.id)} {plain(old.title)}")
        if replaced:
            term.note("to take this back: git mem undo")
        if not moves and stores.becomes_shared(scope, stored.record, asked=True):
            term.note(f"preferences are private. To share it: git mem inbox --accept {id} --shared")


def reject(term: Terminal, app: App, id: str, reason: str = "", *, quiet: bool = False) -> None:
    """Forget a fact; it is not proposed again."""
    scope, stored = app.get(id)
    written = write.forget(app.store(scope), app.writer(), [stored.record], reason)
    if not quiet:
        term.say(
            f"rejected {term.style(short(stored.record.id), fg='yellow')} "
            f"{plain(stored.record.title)}{options.journaled(written)}"
        )
    remove_copies(term, app, [stored.record])


def _reject_all(term: Terminal, app: App, facts: Facts, reason: str, *, quiet: bool) -> None:
    for _, stored in facts:
        reject(term, app, stored.record.id, reason, quiet=quiet)
    if facts and not quiet:
        term.note("to take this back: git mem undo")


def merge(term: Terminal, app: App, ids: Sequence[str], into: str, *, quiet: bool = False) -> None:
    """Put gotchas into another; if one of them is shared, private proposals are shared first."""
    scope, _, _ = _mergeable(app, ids, into)
    for where, stored in every(app, (into, *ids)):
        if where != scope:
            commit = head(app.location) or ""
            review.accept(app.store(where), app.writer(), stored.record, commit, app.store(scope))
    scope, target, others = _mergeable(app, ids, into)
    change = lifecycle.merge(app.store(scope), app.writer(), target, others, app.replica())
    if not quiet:
        names = ", ".join(short(record.id) for record in others)
        report_change(term, change, f"{names} merged into", scope)


def _split(app: App, ids: Iterable[str], asked: Asked) -> tuple[list[OpenStatement], list[str]]:
    """Return the statements about facts that ids name, and the other ids."""
    named: list[OpenStatement] = []
    others: list[str] = []
    for id in ids:
        try:
            statement = asked.get(app.find(id))
        except UnknownId:
            statement = None
        if statement is None:
            others.append(id)
        else:
            named.append(statement)
    return named, others


def _hold_true(term: Terminal, app: App, statement: OpenStatement, *, quiet: bool) -> None:
    """Write that what a session says of a fact is so."""
    scope, stored = app.get(statement.id)
    store, who, what = app.store(scope), app.writer(), statement.last["what"]
    if what == DONE:
        commit = head(app.location) or ""
        answers.finish(
            store, who, stored.record, commit, statement.last["session"], statement.statements
        )
    elif what == ENDED:
        answers.end(store, who, stored.record, statement.statements)
    else:
        successor = statement.last["successor"]
        if successor and app.get(successor)[1].record.unconfirmed:
            accept(term, app, successor, quiet=quiet)
            stored = app.store(scope).get(statement.id)
        if stored.record.status in LIVE:  # it may be in another store than its successor
            answers.put_aside(store, who, stored.record, statement.statements)
    if not quiet:
        term.say(f"{SETTLED[what]}: {plain(statement.title)}")


def _hold_untrue(term: Terminal, app: App, statement: OpenStatement, *, quiet: bool) -> None:
    """Write that a fact holds whatever sessions say of it."""
    scope, stored = app.get(statement.id)
    successor = None
    if statement.last["successor"]:
        where, proposal = app.get(statement.last["successor"])
        successor = (app.store(where), proposal.record)
    answers.keep(app.store(scope), app.writer(), stored.record, statement.statements, successor)
    if not quiet:
        says = "still open" if statement.last["what"] == DONE else "still holds"
        term.say(f"{says}: {plain(statement.title)}")


def _require_single_answer(*given: Facts) -> None:
    """Raise UserError when a fact is given two answers."""
    times = Counter(stored.record.id for facts in given for _, stored in facts)
    twice = sorted(id for id, number in times.items() if number > 1)
    if twice:
        raise UserError(
            f"{', '.join(twice)} cannot be accepted, rejected and merged at once.",
            "Name each in one of the options.",
        )


def _require_mergeable(app: App, given: Answers, to_reject: Facts) -> None:
    """Raise UserError when what is to be merged cannot be."""
    if not given.merged:
        return
    if app.get(given.into)[1].record.id in _ids(to_reject):
        raise UserError(
            f"{given.into} cannot be rejected when others are merged into it.",
            "Name another gotcha with --into.",
        )
    _mergeable(app, given.merged, given.into)


def _require_person(app: App, *, asked: Sequence[OpenStatement], **given: Facts) -> None:
    """Raise UserError for a program that gives an answer: the verb, and what it is given to."""
    for verb, facts in {"answer for": asked, **given}.items():
        if facts:
            write.require_person(app.writer(), verb)


def _ids(facts: Facts) -> list[str]:
    return [stored.record.id for _, stored in facts]


def _is_settled(app: App, scope: str, stored: Stored, shares: bool) -> bool:
    """Return whether this user has no reason to accept a record any more.

    A confirmation by anyone else does not count, because that may have been anybody.
    """
    record = stored.record
    if (
        record.fields.get("conflict")
        or record.unconfirmed
        or stores.becomes_shared(scope, record, asked=shares)
    ):
        return False
    rows = app.rows(ids=(record.id,), fields=("committer", "vouchers", "unconfirmed"))
    return any(is_accepted(row, app.own_addresses) and not row["unconfirmed"] for row in rows)


def _say_already(term: Terminal, what: str, mark: Mapping[str, Any]) -> None:
    by = f" by {plain(str(mark['by']))}" if mark.get("by") else ""
    day = f", {str(mark['at'])[:10]}" if mark.get("at") else ""
    term.say(f"{short(mark['id'])} was already {what}{by}{day}; nothing changed.")


def _tombstones(app: App, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the marks of those of the ids whose fact was rejected or forgotten before."""
    out = {}
    for id in ids:
        try:
            app.get(id)
        except UnknownId:
            marks = [history.tombstone(app.store(scope), id) for scope in ("shared", "private")]
            if any(marks):
                out[id] = next(mark for mark in marks if mark)
    return out


def _mergeable(app: App, ids: Sequence[str], into: str) -> tuple[str, Record, list[Record]]:
    """Return (the store in which they meet, the gotcha that stays, the others).

    Raises UserError when they cannot be put together.
    """
    (first, target), others = app.get(into), every(app, ids)
    lifecycle.require_mergeable(target.record, [stored.record for _, stored in others])
    scope = "shared" if any(where == "shared" for where, _ in others) else first
    for where, stored in ((first, target), *others):
        if where != scope and not stores.becomes_shared(where, stored.record):
            raise UserError(
                f"{stored.record.id} is in the {where} store, and others are in the {scope} one.",
                "Only gotchas of one store can be merged.",
            )
    return scope, target.record, [stored.record for _, stored in others]
