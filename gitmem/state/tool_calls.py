"""Single uses of tools: who is at one, and the files that one is about to change.

Part of the hot path.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SET = "INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?)"


@healing
def claim(state: State, session: str, call: str, now: float, patience: float) -> bool:
    """Say whether this process is the first that is at one use of a tool; `now` is when it began.

    An agent whose settings name us twice runs both hooks at once. A call that comes again later, as
    one that is played back does, is another one.
    """
    with transaction(state.db):
        row = state.db.execute(
            "SELECT until FROM tool_calls WHERE session = ? AND call = ?", (session, call)
        ).fetchone()
        until = row[0] if row else 0.0
        first = now >= until or until > now + 2 * patience  # a clock that was set back
        if first:
            # it is at work, so long at most
            state.db.execute(_SET, (session, call, now + patience))
    return first


@healing
def release(state: State, session: str, call: str, now: float) -> None:
    """Note that the work on one use of a tool is done."""
    state.db.execute(_SET, (session, call, now))


@healing
def note_files_before(
    state: State, session: str, call: str, now: float, files: "Mapping[str, bytes]"
) -> None:
    """Keep the marks of lines that files have before a command changes them.

    Those of a command before it that nobody took are forgotten.
    """
    with transaction(state.db):
        state.db.execute("DELETE FROM files_before WHERE session = ? AND call = ?", (session, call))
        state.db.executemany(
            "INSERT OR REPLACE INTO files_before VALUES (?, ?, ?, ?, ?)",
            [(session, call, path, now, lines) for path, lines in files.items()],
        )


@healing
def take_files_before(state: State, session: str, call: str) -> "dict[str, bytes]":
    """Return {path: marks of its lines} as they were before a command, and forget them."""
    db = state.db
    sql = "FROM files_before WHERE session = ? AND call = ?"
    files = dict(db.execute(f"SELECT path, lines {sql}", (session, call)))
    if files:
        db.execute(f"DELETE {sql}", (session, call))
    return files
