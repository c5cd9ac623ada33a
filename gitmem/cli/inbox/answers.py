"""What a person answers to the inbox: accepted, rejected, merged; tasks that are done or not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.records.change_report import report_change
from gitmem.cli.records.status import every
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import UnknownId, UserError
from gitmem.records.record import Record
from gitmem.repo.refs import head
from gitmem.services.facts import answers, review
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import history, write
from gitmem.services.records.committers import is_accepted
from gitmem.services.views.inbox import FinishedTask
from gitmem.store.reader import Stored

Found = Sequence[tuple[str, Stored]]  # (store, record)
Tasks = Mapping[str, FinishedTask]


@dataclass(frozen=True, slots=True)
class Answers:
    """The ids that options name, as they were typed."""

    accepted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    into: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What answers come to: `closed` and `kept` tasks, facts, and what was answered before."""

    closed: list[FinishedTask]
    kept: list[FinishedTask]
    accepted: Found
    rejected: Found
    merged: Found
    confirmed: list[Record]
    tombstones: dict[str, dict[str, Any]]


def answer(
    term: Terminal, app: App, given: Answers, tasks: Tasks, *, quiet: bool
) -> dict[str, list[str]]:
    """Write answers, and say so unless `quiet`; return the ids by what became of them.

    All of them are looked at before the first is written. Raises UserError.
    """
    plan = _planned(app, given, tasks)
    already = [("accepted", {"id": fact.id, **fact.get("confirmed")}) for fact in plan.confirmed]
    already += [("rejected", mark) for mark in plan.tombstones.values()]
    for what, mark in () if quiet else already:
        _say_already(term, what, mark)
    for task in (*plan.closed, *plan.kept):
        _close_or_keep(term, app, task, is_done=task in plan.closed, quiet=quiet)
    for _, stored in plan.accepted:
        accept(term, app, stored.record.id, quiet=quiet)
    _reject_all(term, app, plan.rejected, given.reason, quiet=quiet)
    if plan.merged:
        merge(term, app, given.merged, given.into, quiet=quiet)
    return {
        "accepted": _ids(plan.accepted),
        "rejected": _ids(plan.rejected),
        "merged": _ids(plan.merged),
        "unchanged": [mark["id"] for _, mark in already],
        "task": [task.id for task in (*plan.closed, *plan.kept)],
    }


def _planned(app: App, given: Answers, tasks: Tasks) -> _Plan:
    """Look at all that is named. Raises UserError for what cannot be answered so."""
    closed, accepted = _split(app, given.accepted, tasks)
    kept, rejected = _split(app, given.rejected, tasks)
    _require_present(app, (*accepted, *given.merged))
    tombstones = _tombstones(app, rejected)
    to_accept = every(app, accepted)
    to_reject = every(app, [id for id in rejected if id not in tombstones])
    to_merge = every(app, given.merged)
    _require_one_answer(to_accept, to_reject, to_merge)
    _require_mergeable(app, given, to_reject)
    for _, stored in to_reject:
        review.require_waiting(stored.record)
    confirmed = [stored.record for scope, stored in to_accept if _is_settled(app, scope, stored)]
    waiting = [(scope, stored) for scope, stored in to_accept if stored.record not in confirmed]
    _require_person(app, tasks=[*closed, *kept], confirm=waiting, reject=to_reject, merge=to_merge)
    return _Plan(closed, kept, waiting, to_reject, to_merge, confirmed, tombstones)


def accept(term: Terminal, app: App, id: str, *, quiet: bool = False) -> None:
    """Confirm a fact; a proposal moves to the shared store."""
    scope, stored = app.get(id)
    moves = review.becomes_shared(scope, stored.record)
    target = app.store("shared" if moves else scope)
    replaced = write.replaced_by(target, stored.record)
    commit = head(app.location) or ""
    change = review.accept(
        app.store(scope), app.writer(), stored.record, commit, target if moves else None
    )
    if not quiet:
        report_change(term, change, "accepted", "shared" if moves else scope)
        for old in replaced:
            term.note(f"replaced {short(old.id)} {plain(old.title)}. To take it back: git mem undo")


def reject(term: Terminal, app: App, id: str, reason: str = "", *, quiet: bool = False) -> None:
    """Forget a fact; it is not proposed again."""
    scope, stored = app.get(id)
    written = write.forget(app.store(scope), app.writer(), [stored.record], reason)
    if not quiet:
        term.say(
            f"rejected {term.style(short(stored.record.id), fg='yellow')} "
            f"{plain(stored.record.title)}{options.journaled(written)}"
        )


def _reject_all(term: Terminal, app: App, found: Found, reason: str, *, quiet: bool) -> None:
    for _, stored in found:
        reject(term, app, stored.record.id, reason, quiet=quiet)
    if found and not quiet:
        flag = " --private" if any(scope == "private" for scope, _ in found) else ""
        term.note(f"to take a rejection back: git mem undo{flag}")


def merge(term: Terminal, app: App, ids: Sequence[str], into: str, *, quiet: bool = False) -> None:
    """Put gotchas into another; proposals move to its store first."""
    scope, _, _ = _mergeable(app, ids, into)
    for where, stored in every(app, ids):
        if where != scope:
            commit = head(app.location) or ""
            review.accept(app.store(where), app.writer(), stored.record, commit, app.store(scope))
    scope, target, others = _mergeable(app, ids, into)
    change = lifecycle.merge(app.store(scope), app.writer(), target, others, app.replica())
    if not quiet:
        names = ", ".join(short(record.id) for record in others)
        report_change(term, change, f"{names} merged into", scope)


def _split(app: App, ids: Iterable[str], tasks: Tasks) -> tuple[list[FinishedTask], list[str]]:
    """Return the tasks said to be done that ids name, and the other ids."""
    named: list[FinishedTask] = []
    others: list[str] = []
    for id in ids:
        try:
            task = tasks.get(app.find(id))
        except UnknownId:
            task = None
        if task is None:
            others.append(id)
        else:
            named.append(task)
    return named, others


def _close_or_keep(
    term: Terminal, app: App, task: FinishedTask, *, is_done: bool, quiet: bool
) -> None:
    """Write that a task is done, or still open."""
    scope, stored = app.get(task.id)
    store, who = app.store(scope), app.writer()
    if is_done:
        commit = head(app.location) or ""
        answers.finish(store, who, stored.record, commit, task.session, task.statements)
    else:
        answers.keep_open(store, who, stored.record, task.statements)
    if not quiet:
        term.say(f"{'done' if is_done else 'still open'}: {plain(task.title)}")


def _require_present(app: App, ids: Iterable[str]) -> None:
    """Raise UserError when a fact was rejected or forgotten before."""
    for id, mark in _tombstones(app, ids).items():
        where = " --private" if history.tombstone(app.store("private"), id) else ""
        raise UserError(
            f"{short(mark['id'])} was rejected or forgotten on {str(mark.get('at', ''))[:10]}; "
            f"nothing changed.",
            f"To take that back, if it was the last change there: git mem undo{where}. Else find "
            f"its commit with git mem log{where}, then: git mem undo COMMIT{where}",
        )


def _require_one_answer(*given: Found) -> None:
    """Raise UserError when a fact is given two answers."""
    times = Counter(stored.record.id for found in given for _, stored in found)
    twice = sorted(id for id, number in times.items() if number > 1)
    if twice:
        raise UserError(
            f"{', '.join(twice)} cannot be accepted, rejected and merged at once.",
            "Name each in one of the options.",
        )


def _require_mergeable(app: App, given: Answers, to_reject: Found) -> None:
    """Raise UserError when what is to be merged cannot be."""
    if not given.merged:
        return
    if app.get(given.into)[1].record.id in _ids(to_reject):
        raise UserError(
            f"{given.into} cannot be rejected when others are merged into it.",
            "Name another gotcha with --into.",
        )
    _mergeable(app, given.merged, given.into)


def _require_person(app: App, *, tasks: Sequence[FinishedTask], **given: Found) -> None:
    """Raise UserError for a program that gives an answer: the verb, and what it is given to."""
    for verb, facts in {"answer for": tasks, **given}.items():
        if facts:
            write.require_person(app.writer(), verb)


def _ids(found: Found) -> list[str]:
    return [stored.record.id for _, stored in found]


def _is_settled(app: App, scope: str, stored: Stored) -> bool:
    """Return whether this user has no reason to accept a record any more.

    A confirmation by anyone else does not count, because that may have been anybody.
    """
    record = stored.record
    if record.unconfirmed or review.becomes_shared(scope, record):
        return False
    rows = app.rows(ids=(record.id,), fields=("committer", "vouchers"))
    return any(is_accepted(row, app.own_addresses) for row in rows)


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
    """Return (store, the gotcha that stays, the others).

    Raises UserError when they cannot be put together.
    """
    scope, target = app.get(into)
    others = every(app, ids)
    lifecycle.require_mergeable(target.record, [stored.record for _, stored in others])
    for where, stored in others:
        if where != scope and not (
            scope == "shared" and review.becomes_shared(where, stored.record)
        ):
            raise UserError(
                f"{stored.record.id} is in the {where} store, {target.record.id} in the {scope} "
                f"one.",
                "Only gotchas of one store can be merged.",
            )
    return scope, target.record, [stored.record for _, stored in others]
