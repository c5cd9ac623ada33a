"""What the hooks of a session cost. Part of the hot path."""

from gitmem.base.sqlite import healing
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class HookCost:
    """What one kind of event cost a session.

    The cost is hooks run, answers given, tokens in them, seconds in all, and seconds of the
    slowest.
    """

    __slots__ = ("answers", "calls", "event", "most", "session", "spent", "tokens")

    def __init__(
        self,
        session: str,
        event: str,
        calls: int,
        answers: int,
        tokens: int,
        spent: float,
        most: float,
    ) -> None:
        self.session = session
        self.event = event
        self.calls = calls
        self.answers = answers
        self.tokens = tokens
        self.spent = spent
        self.most = most


@healing
def add(state: State, session: str, event: str, tokens: int, seconds: float) -> None:
    """Add one hook call to what a session's hooks cost."""
    sql = (
        "INSERT INTO costs VALUES (?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + "
        "1, answers = answers + excluded.answers, "
        "tokens = tokens + excluded.tokens, spent = spent + excluded.spent, most = MAX(most, "
        "excluded.most)"
    )
    state.db.execute(sql, (session, event, int(tokens > 0), tokens, seconds, seconds))


@healing
def costs(state: State, ids: "Sequence[str]") -> "list[HookCost]":
    """Return what the hooks of sessions cost, event by event."""
    sql = (
        f"SELECT session, event, calls, answers, tokens, spent, most FROM costs WHERE session IN "
        f"({','.join('?' * len(ids))}) ORDER BY session, event"
    )
    return [HookCost(*row) for row in state.db.execute(sql, list(ids))]
