"""Count an error by hand or from a script, as hooks do: one that repeats becomes a gotcha."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import UnknownId
from gitmem.index.state import State
from gitmem.model.fingerprint import Fingerprint, bounded
from gitmem.model.kinds import gotcha_id
from gitmem.services.memories import Writer
from gitmem.store import ops
from gitmem.store.records import Message, Store, Written


@dataclass(frozen=True, slots=True)
class Counted:
    """What came of counting an error: hits in the window, and the gotcha that it is or became.

    None: not yet, or never again, because its gotcha was forgotten or put aside.
    """

    hits: int
    gotcha: str | None = None
    written: Written | None = None


def record(
    store: Store, state: State, who: Writer, mark: Fingerprint, known: Sequence[dict[str, Any]], anchors: Sequence[dict[str, Any]], output: str, command: str, root: str,
    *, window: float, threshold: int, sessions: bool = False, capture: bool = True,
) -> Counted:  # fmt: skip
    """Count a hit, and capture the error when it has repeated.

    `known` are the live gotchas of its pattern, `window` is in seconds; raises what a write raises.
    """
    now = who.clock.now()
    state.add_error(mark.pattern, now, who.session or "by-hand", window)
    hits = state.hits(mark.pattern, now, window, sessions=sessions)
    id = gotcha_id(mark.pattern)
    mine = [row["id"] for row in known if row["kind"] == "gotcha" and row["store"] == "shared"]
    if not capture or (hits < threshold and not mine):
        return Counted(hits, mine[0] if mine else None)
    target = id if id in mine or not mine else mine[0]
    times, first = state.claim_hits(mark.pattern, now, window)
    if not times:
        return Counted(hits, target)
    from gitmem.clock import stamp

    facts = {
        "pattern": mark.pattern, "output": bounded(output), "command": command, "root": root, "times": times, "at": stamp(now), "first": stamp(first),
        "session": who.session, "agent": "", "anchors": list(anchors),
    }  # fmt: skip
    message = Message(f"gotcha: capture {target}", "capture", (target,), who.agent if who.agent != "global" else "", who.session)
    try:
        written = store.write([{**ops.capture(facts), "id": target}], message)
    except BaseException:
        state.return_hits(mark.pattern, now)
        raise
    if not mine and not written.journaled and not _lives(store, target):
        return Counted(hits, None, written)
    return Counted(hits, target, written)


def _lives(store: Store, id: str) -> bool:
    try:
        return store.get(id).record.status in {"active", "pinned"}
    except UnknownId:
        return False
