"""What fails in a session, what is done about it, and that it passes.

This is kept in `state.db` until a conclusion is drawn.

Standard library only; the hot path writes it. A command is known again by a key that its caller
makes.
"""

from gitmem.base.fast import dumps, loads
from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

STEPS = 200  # of one failure that are told
LEASE = 60.0  # seconds that a process has for a conclusion

EDIT, COMMAND = "edit", "command"


class FailedCommand:
    """A command that fails.

    `key` identifies it, `given` is how it was typed, `root` is its work tree, `head` is the commit
    checked out, and `at` is the last time.

    `ended` is when the same command failed with another error: this one was gone by then.
    """

    __slots__ = ("at", "ended", "given", "head", "key", "pattern", "root")

    def __init__(
        self,
        key: str,
        pattern: str,
        at: float,
        given: str,
        head: str,
        root: str,
        ended: float | None = None,
    ) -> None:
        self.key = key
        self.pattern = pattern
        self.at = at
        self.given = given
        self.head = head
        self.root = root
        self.ended = ended


_COLUMNS = "command, pattern, at, given, head, root, ended"


@healing
def note_failure(state: State, session: str, failure: FailedCommand) -> None:
    """Remember that a command fails; what it failed with before has come to an end."""
    sql = (
        "UPDATE failing SET ended = ? WHERE session = ? AND command = ? AND pattern <> ? AND ended "
        "IS NULL"
    )
    state.db.execute(sql, (failure.at, session, failure.key, failure.pattern))
    row = (
        session,
        failure.key,
        failure.pattern,
        failure.at,
        failure.given,
        failure.head,
        failure.root,
    )
    state.db.execute("INSERT OR REPLACE INTO failing VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", row)


@healing
def failures(state: State, session: str) -> "list[FailedCommand]":
    """Return what fails in a session."""
    return [
        FailedCommand(*row)
        for row in state.db.execute(f"SELECT {_COLUMNS} FROM failing WHERE session = ?", (session,))
    ]


@healing
def note_step(state: State, session: str, at: float, action: str, what: str) -> None:
    """Remember what was done while something fails: an EDIT of a path, a COMMAND that passed."""
    state.db.execute("INSERT INTO steps VALUES (?, ?, ?, ?)", (session, at, action, what))


@healing
def conclude(
    state: State,
    session: str,
    passed: "Sequence[FailedCommand]",
    command: str,
    at: float,
    sure: "Callable[[FailedCommand], bool]",
) -> int:
    """Make outcomes of failures that a command which passes now puts an end to; return how many.

    `sure` says which are worth one.

    Of processes that see it pass at once, one gets each. An outcome is a JSON object: `pattern,
    command` (as it passed), `failed` (as it was typed when it failed), `root, head, since, until,
    at, session` and `steps`, [action, what] in their order while it failed.
    """
    db = state.db
    count = 0
    with transaction(db):
        for attempt in passed:
            where = (session, attempt.key, attempt.pattern)
            sql = (
                f"SELECT {_COLUMNS} FROM failing WHERE session = ? AND command = ? AND pattern = ?"
            )
            row = db.execute(sql, where).fetchone()
            if row is None:
                continue
            db.execute(
                "DELETE FROM failing WHERE session = ? AND command = ? AND pattern = ?", where
            )
            failure = FailedCommand(*row)
            if not sure(failure):
                continue
            until = failure.ended or at
            sql = (
                "SELECT action, what FROM steps WHERE session = ? AND at > ? AND at <= ? ORDER BY "
                "at DESC, rowid DESC LIMIT ?"
            )
            steps = list(dict.fromkeys(db.execute(sql, (session, failure.at, until, STEPS))))[::-1]
            facts = {
                "session": session,
                "pattern": failure.pattern,
                "command": command,
                "failed": failure.given,
                "root": failure.root,
                "head": failure.head,
                "since": failure.at,
                "until": until,
                "at": at,
                "steps": steps,
            }
            db.execute("INSERT INTO outcomes (facts) VALUES (?)", (dumps(facts),))
            count += 1
        _forget_steps(state, session)
    return count


@healing
def forget(state: State, session: str) -> None:
    """Forget what failed in a session that ends: what passes later has another reason."""
    state.db.execute("DELETE FROM failing WHERE session = ?", (session,))
    _forget_steps(state, session)


def _forget_steps(state: State, session: str) -> None:
    sql = (
        "DELETE FROM steps WHERE session = ? AND NOT EXISTS (SELECT 1 FROM failing WHERE "
        "failing.session = steps.session)"
    )
    state.db.execute(sql, (session,))


@healing
def take_outcomes(state: State) -> "Sequence[tuple[int, dict[str, Any]]]":
    """Return (number, outcome) of what waits for a conclusion.

    Call `claim` for one; `done` then removes it.
    """
    out = []
    for number, facts in state.db.execute("SELECT n, facts FROM outcomes ORDER BY n").fetchall():
        try:
            out.append((int(number), dict(loads(facts))))
        except (ValueError, TypeError):  # nothing that we wrote
            state.db.execute("DELETE FROM outcomes WHERE n = ?", (int(number),))
    return out


@healing
def claim(state: State, number: int, now: float) -> bool:
    """Take an outcome on for a while; of processes that do so at once, one is told True.

    One that dies gives it back by its silence.

    `now` is the mark of the lease: its holder names it to `put_back` and `done`. No two leases of
    an outcome have the same.
    """
    sql = (
        "UPDATE outcomes SET claimed = ? WHERE n = ? AND (claimed IS NULL OR claimed < ? OR "
        "claimed > ?)"
    )
    return state.db.execute(sql, (now, number, now - LEASE, now + LEASE)).rowcount > 0


@healing
def put_back(state: State, number: int, lease: float) -> None:
    """Let somebody else take an outcome on.

    Nothing happens when somebody has, because the lease was over.
    """
    state.db.execute(
        "UPDATE outcomes SET claimed = NULL WHERE n = ? AND claimed = ?", (number, lease)
    )


@healing
def done(state: State, number: int, lease: float) -> None:
    """Take an outcome away: it is concluded.

    It stays with whoever took it on since, because the lease was over.
    """
    state.db.execute("DELETE FROM outcomes WHERE n = ? AND claimed = ?", (number, lease))
