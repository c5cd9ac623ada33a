"""What sessions ask of a process that has time: a record, a snapshot. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state import context_flags
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LEASE = 300.0  # seconds that a process has for what a session asked
RECORD, SNAPSHOT = "record", "snapshot"


class Request:
    """What a session asked.

    `claimed` is the mark of who is at it, `tries` how often it was taken before and not done.
    """

    __slots__ = ("at", "claimed", "kind", "n", "session", "tries")

    def __init__(
        self, n: int, kind: str, session: str, at: float, claimed: float, tries: int = 0
    ) -> None:
        self.n = n
        self.kind = kind
        self.session = session
        self.at = at
        self.claimed = claimed
        self.tries = tries


def add(state: State, kind: str, session: str, at: float) -> None:
    """Ask for something to be done for a session. Call it in a transaction."""
    state.db.execute(
        "INSERT INTO requests (kind, session, at) VALUES (?, ?, ?)", (kind, session, at)
    )


@healing
def ask_record(state: State, session: str, at: float) -> None:
    """Ask for the record of a session."""
    add(state, RECORD, session, at)


@healing
def ask_snapshot(state: State, session: str, at: float, gap: float) -> bool:
    """Ask for a snapshot, unless the session asked for one less than `gap` seconds ago.

    Say whether it was asked for.
    """
    with transaction(state.db):
        due = context_flags.claim_snapshot(state, session, at, gap)
        if due:
            add(state, SNAPSHOT, session, at)
    return due


@healing
def waiting(state: State) -> int:
    """Return how many things are asked for."""
    return int(state.db.execute("SELECT COUNT(*) FROM requests").fetchone()[0])


@healing
def requested(state: State) -> "list[Request]":
    """Return what is asked for, the first first; `claimed` is 0 where nobody is at it."""
    sql = "SELECT n, kind, session, at, COALESCE(claimed, 0), tries FROM requests ORDER BY n"
    return [Request(*row) for row in state.db.execute(sql)]


@healing
def take(
    state: State,
    now: float,
    taker: str = "",
    is_gone: "Callable[[str], bool | None]" = lambda _: None,
) -> Request | None:
    """Take what was asked for first, of what was tried least.

    None when there is nothing that is free.

    One whose taker died is free at once where `is_gone` knows of the process, and else after a
    while. Who waited for the database may be told a time from before the other's claim: that does
    not end it. What was taken often and never done waits behind the rest.
    """
    with transaction(state.db):
        rows = state.db.execute(
            "SELECT n, kind, session, at, tries, claimed, taker FROM requests ORDER BY tries, n"
        ).fetchall()
        for n, kind, session, at, tries, claimed, other in rows:
            is_claimed = claimed is not None and now - LEASE <= claimed <= now + LEASE
            if is_claimed and not (other and is_gone(other)):
                continue
            state.db.execute(
                "UPDATE requests SET claimed = ?, taker = ?, tries = ? WHERE n = ?",
                (now, taker, tries + 1, n),
            )
            return Request(n, kind, session, at, now, tries)
    return None


@healing
def leave(state: State, request: Request) -> None:
    """Record that a request failed.

    It comes back when its lease is over, and not when this process ends.
    """
    state.db.execute(
        "UPDATE requests SET taker = NULL WHERE n = ? AND claimed = ?", (request.n, request.claimed)
    )


@healing
def renew(state: State, request: Request, now: float) -> bool:
    """Go on with a request that takes long; False when somebody else has taken it over."""
    sql = "UPDATE requests SET claimed = ? WHERE n = ? AND claimed = ?"
    mine = state.db.execute(sql, (now, request.n, request.claimed)).rowcount > 0
    if mine:
        request.claimed = now
    return mine


@healing
def done(state: State, request: Request) -> None:
    """Take a request away; it stays with whoever took it since."""
    state.db.execute(
        "DELETE FROM requests WHERE n = ? AND claimed = ?", (request.n, request.claimed)
    )
