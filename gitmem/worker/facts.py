"""What the background finds out about facts: which were used, and which contradict each other."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gitmem.app import REFS, App
from gitmem.records.kinds import FACTS, LIVE
from gitmem.services.lifecycle import comparison
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.judge import judged
from gitmem.state import contradictions, facts_used, injections
from gitmem.state.facts_used import UsedFact


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
    return [f"{number} told fact(s) used"] if number else []


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
    return [f"{number} pair(s) of facts that contradict each other"] if number else []


def compare_all(app: App, progress: Callable[[int, int], None] | None = None) -> None:
    """Compare all facts that changed with others; `progress` is told how many are done."""
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
        lambda name: app.get(name)[1].record,
        app.clock.stamp(),
        ids=ids,
        judge=partial(_judge, app),
    )


def _judge(app: App, findings: list[Finding]) -> list[Finding]:
    """Have the model that the settings ask for look at what is not sure."""
    if all(finding.sure for finding in findings):
        return findings

    def text_of(id: str) -> str:
        record = app.get(id)[1].record
        return f"{record.title}. {record.body}"

    return judged(app.model(), findings, text_of, app.settings.get("allowSecret"))
