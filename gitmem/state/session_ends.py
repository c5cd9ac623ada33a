"""How sessions end, said by their agent or not. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state import requests, sessions
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


@healing
def end(state: State, id: str, at: float, why: str) -> bool:
    """Note that a session has ended, and that it wants a record; False when it had ended already.

    Of processes that do so at once, one is told True.
    """
    return _end(state, id, at, why, "")


def _end(
    state: State,
    id: str,
    at: float,
    why: str,
    test: str,
    *values: object,
    asked: float | None = None,
) -> bool:
    db = state.db
    with transaction(db):
        ended = (
            db.execute(
                f"UPDATE sessions SET ended = ?, why = ? WHERE id = ? AND ended IS NULL{test}",
                (at, why, id, *values),
            ).rowcount
            > 0
        )
        if ended:
            db.execute(
                "DELETE FROM requests WHERE kind = ? AND session = ? AND claimed IS NULL",
                (requests.RECORD, id),
            )
            requests.add(state, requests.RECORD, id, at if asked is None else asked)
    return ended


@healing
def interrupted_sessions(
    state: State, now: float, is_gone: "Callable[[str], bool | None]", but: str = ""
) -> "list[sessions.Session]":
    """Return the sessions that ended without reporting it.

    Their process is gone, or, if that is not known, they have been silent for long.

    `is_gone` answers for a process, None when it cannot tell; `but` is one that is surely there.
    """
    interrupted = []
    for session in sessions.some(state, ended=False):
        gone = is_gone(session.process) if session.process else None
        # clocks of two hosts, or of two processes at once, are never quite the same: a sign from
        # the near future is one
        if session.id != but and (
            gone if gone is not None else abs(now - session.last) >= sessions.SILENCE
        ):
            interrupted.append(session)
    return interrupted


@healing
def mark_interrupted(state: State, session: sessions.Session, now: float | None = None) -> bool:
    """End a session that is lost, at its last sign of life.

    False when it gave another one meanwhile. Its record is asked for `now`.
    """
    return _end(
        state, session.id, session.last, sessions.GONE, " AND last = ?", session.last, asked=now
    )


@healing
def end_with_record(state: State, id: str, at: float, why: str) -> None:
    """Note that a session has ended whose record is there already."""
    state.db.execute(
        "UPDATE sessions SET ended = ?, why = ? WHERE id = ? AND ended IS NULL AND last = ?",
        (at, why, id, at),
    )
