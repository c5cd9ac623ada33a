"""When a counted error becomes a gotcha, or counts as a hit of an existing one.

This is the only such rule, for hooks and for `git mem error record`.

Standard library only: the hot path imports this.
"""

from gitmem.clock import stamp
from gitmem.fingerprint.fingerprint import bounded
from gitmem.records.kinds import gotcha_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.config import Settings
    from gitmem.fingerprint.fingerprint import Fingerprint
    from gitmem.state.database import State

COMMAND = 8000  # characters of a command that are kept
WINDOW = 24 * 3600.0  # seconds in which an error has to happen again to become a gotcha


class Rule:
    """When to capture: after `threshold` hits in a `window` of seconds.

    Without `on`, nothing is captured. With `shared`, a new gotcha is shared before anybody
    confirmed it.
    """

    __slots__ = ("on", "shared", "threshold", "window")

    def __init__(
        self,
        window: float,
        threshold: int,
        *,
        on: bool = True,
        shared: bool = False,
    ) -> None:
        self.window = window
        self.threshold = max(1, threshold)
        self.on = on
        self.shared = shared


def rule_of(settings: "Settings") -> Rule:
    """Return the rule that the settings make."""
    return Rule(
        WINDOW,
        int(settings.get("captureThreshold")),
        on=bool(settings.get("capture")),
        shared=settings.get("share") == "all",
    )


class Due:
    """What is to be told to a store: the gotcha's id and the facts of `store.operations.capture`.

    No facts when there is nothing to tell. `scope` is the store: that of the gotcha which is there,
    else the private one, until somebody confirms what was captured.
    """

    __slots__ = ("facts", "hits", "id", "scope")

    def __init__(
        self,
        hits: int,
        id: str | None,
        facts: "dict[str, Any] | None" = None,
        scope: str = "private",
    ) -> None:
        self.hits = hits
        self.id = id
        self.facts = facts
        self.scope = scope


def claim(
    state: "State",
    rule: Rule,
    mark: "Fingerprint",
    gotchas: "Sequence[dict[str, Any]]",
    now: float,
    session: str,
    output: str,
    command: str,
    root: str,
    *,
    waits: bool = False,
) -> Due:
    """Take the hits of an error that the store has to be told of.

    Who cannot tell them gives them back with `State.return_hits`. Where it `waits`, hits of a
    gotcha that is there and open stay, to be told together (`services.gotchas.hits`).

    The hit itself has been counted. `gotchas` are the live records of its pattern. The anchors are
    the caller's to add.
    """
    hits = state.hits(mark.pattern, now, rule.window)
    # one that stands for this error too, when errors were put together
    scopes = {
        row["id"]: row["store"]
        for row in sorted(gotchas, key=lambda row: row["store"] == "shared")
        if row["kind"] == "gotcha" and row["store"] in {"shared", "private"}
    }
    id = gotcha_id(mark.pattern)
    # a shared one first, then the one that the pattern names
    target = min(
        scopes, key=lambda store_id: (scopes[store_id] != "shared", store_id != id), default=id
    )
    if not rule.on or (hits < rule.threshold and not scopes):
        return Due(hits, target if scopes else None)
    if waits and any(row["id"] == target and not row["resolved"] for row in gotchas):
        return Due(hits, target)
    times, first = state.claim_hits(mark.pattern, now, rule.window)
    if not times:
        return Due(hits, target)
    facts = {
        "pattern": mark.pattern,
        "output": bounded(output),
        "command": command[:COMMAND],
        "root": root,
        "times": times,
        "at": stamp(now),
        "first": stamp(first),
        "session": session,
        "agent": "",
        "anchors": [],
    }
    return Due(hits, target, facts, scopes.get(target, "shared" if rule.shared else "private"))
