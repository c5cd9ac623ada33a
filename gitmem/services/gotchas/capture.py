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


class Rule:
    """When to capture: after `threshold` hits in a `window` of seconds.

    With `sessions`, each session counts once. Without `on`, nothing is captured.
    """

    __slots__ = ("on", "sessions", "threshold", "window")

    def __init__(
        self, window: float, threshold: int, *, sessions: bool = False, on: bool = True
    ) -> None:
        self.window = window
        self.threshold = max(1, threshold)
        self.sessions = sessions
        self.on = on


def rule_of(settings: "Settings") -> Rule:
    """Return the rule that the settings make."""
    return Rule(
        float(settings.get("captureWindow")) * 3600,
        int(settings.get("captureThreshold")),
        sessions=bool(settings.get("captureSessions")),
        on=bool(settings.get("capture")),
    )


class Due:
    """What is to be told to the store: the gotcha's id and the facts of `store.operations.capture`.

    No facts when there is nothing to tell.
    """

    __slots__ = ("facts", "hits", "id")

    def __init__(self, hits: int, id: str | None, facts: "dict[str, Any] | None") -> None:
        self.hits = hits
        self.id = id
        self.facts = facts


def claim(
    state: "State",
    rule: Rule,
    mark: "Fingerprint",
    known: "Sequence[dict[str, Any]]",
    now: float,
    session: str,
    output: str,
    command: str,
    root: str,
) -> Due:
    """Take the hits of an error that the store has to be told of.

    Who cannot tell them gives them back with `State.return_hits`.

    The hit itself has been counted. `known` are the live records of its pattern. The anchors are
    the caller's to add.
    """
    hits = state.hits(mark.pattern, now, rule.window, sessions=rule.sessions)
    # one that stands for this error too, when errors were put together
    mine = [row["id"] for row in known if row["kind"] == "gotcha" and row["store"] == "shared"]
    id = gotcha_id(mark.pattern)
    target = id if id in mine or not mine else mine[0]
    if not rule.on or (hits < rule.threshold and not mine):
        return Due(hits, mine[0] if mine else None, None)
    times, first = state.claim_hits(mark.pattern, now, rule.window)
    if not times:
        return Due(hits, target, None)
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
    return Due(hits, target, facts)
