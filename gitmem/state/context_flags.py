"""What hooks have done once in a context: a session, or a subagent in it. Part of the hot path."""

from gitmem.base.sqlite import healing
from gitmem.state.database import State

_SET = (
    "INSERT INTO context_flags (context, {0}) VALUES (?1, ?2) "
    "ON CONFLICT DO UPDATE SET {0} = excluded.{0}"
)
_RESTARTED = _SET.format("restarted")
_SNAPSHOT_ASKED = _SET.format("snapshot_asked")
_CONDENSE_ASKED = _SET.format("condense_asked")
_OWES_HISTORY = _SET.format("owes_history")


@healing
def note_subagent(state: State, agent: str, subagent: str) -> str:
    """Note that a subagent works for an agent. Return the session: that agent may be a subagent."""
    context = state.db.execute(
        "SELECT context FROM context_flags WHERE substr(context, -?1) = ?2",
        (len(agent) + 1, f"/{agent}"),
    ).fetchone()
    session = str(context[0]).partition("/")[0] if context else agent
    mine = (f"{session}/{subagent}",)
    if not state.db.execute("SELECT 1 FROM context_flags WHERE context = ?", mine).fetchone():
        state.db.execute("INSERT OR IGNORE INTO context_flags (context) VALUES (?)", mine)
    return session


@healing
def note_restarted(state: State, context: str, now: float) -> None:
    """Note that a context starts again after it was compacted or cleared."""
    state.db.execute(_RESTARTED, (context, now))


@healing
def restarted(state: State, context: str) -> float | None:
    """Return when a context started again, None if it did not."""
    row = state.db.execute(
        "SELECT restarted FROM context_flags WHERE context = ?", (context,)
    ).fetchone()
    return row[0] if row else None


def claim_snapshot(state: State, session: str, at: float, gap: float) -> bool:
    """Say whether a session may ask for a snapshot: it did not for `gap` seconds.

    Call it in a transaction.
    """
    row = state.db.execute(
        "SELECT snapshot_asked FROM context_flags WHERE context = ?", (session,)
    ).fetchone()
    before = row[0] if row else None
    due = before is None or not 0 <= at - before < gap
    if due:
        state.db.execute(_SNAPSHOT_ASKED, (session, at))
    return due


@healing
def ask_condensing(state: State, session: str, at: float) -> None:
    """Ask for what a session should know of itself once its context is gone."""
    state.db.execute(_CONDENSE_ASKED, (session, at))


@healing
def asked_condensing(state: State) -> "dict[str, float]":
    """Return {session: when it asked} of the sessions that asked for it."""
    return dict(
        state.db.execute(
            "SELECT context, condense_asked FROM context_flags WHERE condense_asked IS NOT NULL"
        )
    )


@healing
def note_condensed(state: State, session: str, asked: float) -> None:
    """Note that it is there; a session that asked again since goes on waiting."""
    state.db.execute(
        "UPDATE context_flags SET condense_asked = NULL WHERE context = ? AND condense_asked = ?",
        (session, asked),
    )


@healing
def owe_history(state: State, session: str) -> None:
    """Record that a session must be told about itself as soon as it receives anything.

    Its agent does not report when a compaction is over.
    """
    state.db.execute(_OWES_HISTORY, (session, 1))


@healing
def take_owed_history(state: State, session: str) -> bool:
    """Say whether a session is owed its history, once."""
    owes = state.db.execute(
        "SELECT 1 FROM context_flags WHERE context = ? AND owes_history = 1", (session,)
    ).fetchone()
    if owes is None:
        return False
    taken = state.db.execute(
        "UPDATE context_flags SET owes_history = 0 WHERE context = ? AND owes_history = 1",
        (session,),
    )
    return taken.rowcount > 0
