"""What fails in a session, what is done about it, and that it passes: in `state.db`, until somebody draws the conclusion.

Standard library only; the hot path writes it. A command is known again by a key that its caller makes.
"""

import json

from gitmem.index.state import State, healing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

STEPS = 200  # kept of one session

EDIT, COMMAND = "edit", "command"


class Failure:
    """A command that fails: `key` as it is known again, `given` as it was typed, `head` the commit checked out, `at` the last time."""

    __slots__ = ("at", "given", "head", "key", "pattern")

    def __init__(self, key: str, pattern: str, at: float, given: str, head: str) -> None:
        self.key = key
        self.pattern = pattern
        self.at = at
        self.given = given
        self.head = head


@healing
def note_failure(state: State, session: str, failure: Failure) -> None:
    """Remember that a command fails."""
    row = (session, failure.key, failure.pattern, failure.at, failure.given, failure.head)
    state.db.execute("INSERT OR REPLACE INTO failing VALUES (?, ?, ?, ?, ?, ?)", row)


@healing
def failures(state: State, session: str) -> "list[Failure]":
    """Return what fails in a session."""
    sql = "SELECT command, pattern, at, given, head FROM failing WHERE session = ?"
    return [Failure(*row) for row in state.db.execute(sql, (session,))]


@healing
def note_step(state: State, session: str, at: float, action: str, what: str) -> None:
    """Remember what was done while something fails: an EDIT of a path, a COMMAND that passed."""
    state.db.execute("INSERT INTO steps VALUES (?, ?, ?, ?)", (session, at, action, what))


@healing
def conclude(state: State, session: str, key: str, passed: str, at: float) -> int:
    """Make an outcome of each failure of a command that passes now; return how many.

    Of processes that see it pass at once, one gets each. An outcome is a JSON object: `pattern, command` (as it passed), `failed`
    (as it was typed when it failed), `head, since, at, session` and `steps`, [action, what] in their order since the last failure.
    """
    db = state.db
    db.execute("BEGIN IMMEDIATE")
    try:
        sql = "SELECT command, pattern, at, given, head FROM failing WHERE session = ? AND command = ?"
        found = [Failure(*row) for row in db.execute(sql, (session, key))]
        for failure in found:
            sql = "SELECT action, what FROM steps WHERE session = ? AND at > ? ORDER BY at DESC, rowid DESC LIMIT ?"
            steps = list(dict.fromkeys(db.execute(sql, (session, failure.at, STEPS))))[::-1]
            facts = {
                "session": session, "pattern": failure.pattern, "command": passed, "failed": failure.given, "head": failure.head, "since": failure.at, "at": at,
                "steps": steps,
            }  # fmt: skip
            db.execute("INSERT INTO outcomes (facts) VALUES (?)", (json.dumps(facts),))
        db.execute("DELETE FROM failing WHERE session = ? AND command = ?", (session, key))
        _forget_steps(state, session)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return len(found)


@healing
def forget(state: State, session: str) -> None:
    """Forget what failed in a session that ends: what passes later has another reason."""
    state.db.execute("DELETE FROM failing WHERE session = ?", (session,))
    _forget_steps(state, session)


def _forget_steps(state: State, session: str) -> None:
    sql = "DELETE FROM steps WHERE session = ? AND NOT EXISTS (SELECT 1 FROM failing WHERE failing.session = steps.session)"
    state.db.execute(sql, (session,))


@healing
def take_outcomes(state: State) -> "Sequence[tuple[int, dict[str, Any]]]":
    """Return (number, outcome) of what waits for a conclusion; `done` takes one away."""
    out = []
    for number, facts in state.db.execute("SELECT n, facts FROM outcomes ORDER BY n").fetchall():
        try:
            out.append((int(number), dict(json.loads(facts))))
        except (ValueError, TypeError):  # nothing that we wrote
            done(state, int(number))
    return out


@healing
def done(state: State, number: int) -> bool:
    """Take an outcome away; of processes that do so at once, one is told True."""
    return state.db.execute("DELETE FROM outcomes WHERE n = ?", (number,)).rowcount > 0


@healing
def put_back(state: State, facts: "dict[str, Any]") -> None:
    """Have an outcome wait again."""
    state.db.execute("INSERT INTO outcomes (facts) VALUES (?)", (json.dumps(facts),))
