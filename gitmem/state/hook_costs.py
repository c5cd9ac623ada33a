"""What the hooks of a session cost, and what they left to the background. Part of the hot path."""

import os
import time

from gitmem.base.sqlite import healing
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BACKGROUND = "Background"  # stands for an event: work that hooks left to a process of its own
SESSION = "GITMEM_COST_OF"  # names the session for whose hooks a process works in the background


class HookCost:
    """What one kind of event cost a session.

    The cost is hooks run, answers given, tokens in them, seconds in all, seconds of the slowest,
    and seconds of the processor.
    """

    __slots__ = ("answers", "calls", "event", "most", "processor", "session", "spent", "tokens")

    def __init__(
        self,
        session: str,
        event: str,
        calls: int,
        answers: int,
        tokens: int,
        spent: float,
        most: float,
        processor: float,
    ) -> None:
        self.session = session
        self.event = event
        self.calls = calls
        self.answers = answers
        self.tokens = tokens
        self.spent = spent
        self.most = most
        self.processor = processor


@healing
def add(
    state: State, session: str, event: str, tokens: int, seconds: float, processor: float
) -> None:
    """Add one hook call to what a session's hooks cost; both times are in seconds."""
    sql = (
        "INSERT INTO costs VALUES (?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "calls = calls + 1, answers = answers + excluded.answers, "
        "tokens = tokens + excluded.tokens, spent = spent + excluded.spent, "
        "most = MAX(most, excluded.most), processor = processor + excluded.processor"
    )
    row = (session, event, int(tokens > 0), tokens, seconds, seconds, processor)
    state.db.execute(sql, row)


def add_background(state: State, env: "Mapping[str, str]", seconds: float) -> None:
    """Add this process to what the session cost that `env` names, if it names one.

    Not if the session was forgotten meanwhile.
    """
    session = env.get(SESSION)
    if session and _is_kept(state, session):
        add(state, session, BACKGROUND, 0, seconds, processor_time())


@healing
def _is_kept(state: State, session: str) -> bool:
    sql = "SELECT 1 FROM sessions WHERE id = ? UNION SELECT 1 FROM costs WHERE session = ?"
    return state.db.execute(sql, (session, session)).fetchone() is not None


def processor_time() -> float:
    """Return the seconds of the processor that this process and its children have taken."""
    own = os.times()
    return time.process_time() + own.children_user + own.children_system


@healing
def costs(state: State, ids: "Sequence[str]") -> "list[HookCost]":
    """Return what the hooks of sessions cost, event by event."""
    return [cost for cost in _rows(state, ids) if cost.event != BACKGROUND]


@healing
def background(state: State, ids: "Sequence[str]") -> "list[HookCost]":
    """Return what the hooks of sessions left to the background; a call is a process."""
    return [cost for cost in _rows(state, ids) if cost.event == BACKGROUND]


def _rows(state: State, ids: "Sequence[str]") -> "list[HookCost]":
    sql = (
        "SELECT session, event, calls, answers, tokens, spent, most, processor FROM costs WHERE "
        f"session IN ({','.join('?' * len(ids))}) ORDER BY session, event"
    )
    return [HookCost(*row) for row in state.db.execute(sql, list(ids))]
