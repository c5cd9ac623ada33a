"""What the background finds out about facts: which were used, and which contradict each other."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gitmem.app import REFS, App
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record
from gitmem.services.lifecycle import comparison, fact_check
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.judge import judged
from gitmem.state import contradictions, facts_used, injections
from gitmem.state.facts_used import UsedFact
from gitmem.text.plural import counted


def count_uses(app: App) -> list[str]:
    """Count a read of each fact whose file an agent edited after it was told the fact.

    It counts once a session.
    """
    newest, edits = facts_used.new_edits(app.state)
    if not edits:
        return []
    given: dict[str, dict[str, float]] = {}
    used: dict[tuple[str, str], UsedFact] = {}
    for session, path, at in edits:
        if session not in given:
            given[session] = injections.of_session(app.state, session)
        earlier = [id for id, when in given[session].items() if when <= at]
        for row in _about(app, path, earlier):
            fact = UsedFact(session, row["store"], row["id"], at)
            used[session, fact.id] = fact

    def count_user(fact: UsedFact) -> None:
        app.count_reads("user", [fact.id], fact.at)

    number = facts_used.count(app.state, newest, list(used.values()), count_user)
    return [f"{counted(number, 'told fact')} used"] if number else []


def _about(app: App, path: str, ids: list[str]) -> list[dict[str, Any]]:
    """Return those of some facts that are about a file."""
    if not ids:
        return []
    kinds = tuple(FACTS)
    return app.rows(ids=ids, paths=(path,), kinds=kinds, statuses=LIVE, fields=("id", "store"))


def compare(app: App) -> list[str]:
    """Compare some of the facts that changed with others."""
    _note_changed(app)
    number = compare_some(app)
    return [f"{counted(number, 'pair')} of facts that contradict each other"] if number else []


def open_contradictions(
    app: App,
    ids: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Finding]:
    """Return the contradictions of all facts, or of some, that nobody decided.

    What waits is compared first; `progress` is told how many are done.
    """
    if ids is None:
        _compare_all(app, progress)
    else:
        compare_some(app, ids)
    return _noted(app, ids)


def likely_contradictions(app: App) -> list[Finding]:
    """Return what `open_contradictions` would find if no model were asked; note nothing."""
    _note_changed(app)
    ids = contradictions.uncompared(app.state)
    findings = fact_check.contradictions(
        app.indexes(), partial(_record, app), app.clock.stamp(), ids
    )
    by_ids = {finding.ids: finding for finding in [*findings, *_noted(app)]}
    return list(by_ids.values())


def _noted(app: App, ids: Sequence[str] | None = None) -> list[Finding]:
    pairs = app.contradicting().pairs
    if ids is not None:
        pairs = [pair for pair in pairs if not set(ids).isdisjoint(pair.ids)]
    return fact_check.described(app.indexes(), partial(_record, app), app.clock.stamp(), pairs)


def _record(app: App, id: str) -> Record:
    return app.get(id)[1].record


def _compare_all(app: App, progress: Callable[[int, int], None] | None) -> None:
    """Compare all facts that changed with others."""
    _note_changed(app)
    total = waiting = contradictions.number_uncompared(app.state)
    while waiting:
        if progress:
            progress(total - waiting, total)
        compare_some(app)
        waiting = contradictions.number_uncompared(app.state)


def _note_changed(app: App) -> None:
    stores = {scope: app.store(scope) for scope, _ in REFS}
    if app.has_user() and not app.is_user_store():
        stores["user"] = app.store("user")
    comparison.note_changed(app.state, stores)


def compare_some(app: App, ids: Sequence[str] | None = None) -> int:
    """Compare these facts, or some that wait, with others; return how many pairs were found."""
    return comparison.compare(
        app.state,
        app.indexes(),
        partial(_record, app),
        app.clock.stamp(),
        ids=ids,
        judge=partial(_judge, app),
    )


def _judge(app: App, findings: list[Finding]) -> list[Finding]:
    """Have the model that the settings ask for look at what is not sure."""
    if all(finding.sure for finding in findings):
        return findings

    def text_of(id: str) -> str:
        record = _record(app, id)
        return f"{record.title}. {record.body}"

    return judged(app.model(), findings, text_of, app.settings.get("allowSecret"))
