"""Count an error by hand or from a script, as hooks do: one that repeats becomes a gotcha."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import UnknownId
from gitmem.fingerprint.fingerprint import Fingerprint
from gitmem.records.kinds import LIVE
from gitmem.services.gotchas.capture import Rule, claim
from gitmem.services.records.write import Writer
from gitmem.state.database import State
from gitmem.store import operations
from gitmem.store.store import Message, Notice, Store, Written


@dataclass(frozen=True, slots=True)
class CountResult:
    """What came of counting an error: hits in the window, and the gotcha that it is or became.

    None: not yet, or never again, because its gotcha was forgotten or put aside.
    """

    hits: int
    gotcha: str | None = None
    written: Written | None = None


def record(
    stores: Callable[[str], Store],
    state: State,
    who: Writer,
    rule: Rule,
    mark: Fingerprint,
    gotchas: Sequence[dict[str, Any]],
    anchors: Sequence[dict[str, Any]],
    output: str,
    command: str,
    root: str,
) -> CountResult:
    """Count a hit, and capture the error when it has repeated.

    `gotchas` are the live gotchas of its pattern; raises what a write raises. `stores` gives a
    store by its scope; its listener is told (`track`).
    """
    out = _record(stores, state, who, rule, mark, gotchas, anchors, output, command, root)
    stores("shared").say(
        Notice(
            "track",
            (out.gotcha,) if out.gotcha else (),
            facts={"pattern": mark.pattern, "hits": out.hits},
        )
    )
    return out


def _record(
    stores: Callable[[str], Store],
    state: State,
    who: Writer,
    rule: Rule,
    mark: Fingerprint,
    gotchas: Sequence[dict[str, Any]],
    anchors: Sequence[dict[str, Any]],
    output: str,
    command: str,
    root: str,
) -> CountResult:
    now = who.clock.now()
    state.add_error(mark.pattern, now, who.session or "by-hand", rule.window)
    due = claim(state, rule, mark, gotchas, now, who.session, output, command, root)
    if due.id is None or due.facts is None:
        return CountResult(due.hits, due.id)
    target, facts = due.id, {**due.facts, "anchors": list(anchors)}
    message = Message(
        f"gotcha: capture {target}",
        "capture",
        (target,),
        who.agent if who.agent != "global" else "",
        who.session,
    )
    try:
        written = stores(due.scope).write([{**operations.capture(facts), "id": target}], message)
    except BaseException:
        state.return_hits(mark.pattern, now)
        raise
    if (
        not any(row["id"] == target for row in gotchas)
        and not written.journaled
        and not _lives(stores(due.scope), target)
    ):
        return CountResult(due.hits, None, written)
    return CountResult(due.hits, target, written)


def _lives(store: Store, id: str) -> bool:
    try:
        return store.get(id).record.status in LIVE
    except UnknownId:
        return False
