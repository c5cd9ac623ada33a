"""What `state.db` knows about the work in progress in each work tree.

It knows the agents that started, the commands given, and the tasks done, for as long as the work
goes on.

After an hour without a sign of it the next sign begins it anew: what was done before does not come
back. Standard library only; the hot path writes it.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State
from gitmem.state.workflow import ASSISTANT, COMMAND, SKEW, TTL, Act, normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT = 200  # acts of a work tree that are kept
LONG = 200  # characters of one


class Current:
    """The work in hand of a work tree.

    `began` tells it from the one before; `asked` counts prompts.
    """

    __slots__ = ("asked", "began", "last", "root", "session", "story")

    def __init__(
        self, root: str, began: float, last: float, session: str, asked: int, story: str
    ) -> None:
        self.root = root
        self.began = began
        self.last = last
        self.session = session
        self.asked = asked
        self.story = story


# the same work goes on: its last sign is young enough, and no further ahead than clocks are; or the
# same conversation does
_GOES_ON = (
    f"((ROUND(excluded.last - last, 3) <= {TTL} AND ROUND(last - excluded.last, 3) <= {SKEW}) OR "
    f"(excluded.session <> '' AND excluded.session = session))"
)
_SIGN = (
    "INSERT INTO contexts (root, began, last, session, asked, story) VALUES (?, ?, ?, ?, ?, ?) ON "
    "CONFLICT DO UPDATE SET "
    f"began = CASE WHEN {_GOES_ON} THEN began ELSE excluded.last END, "
    f"asked = excluded.asked + CASE WHEN {_GOES_ON} THEN asked ELSE 0 END, "
    f"story = CASE WHEN excluded.story <> '' OR NOT {_GOES_ON} THEN excluded.story ELSE story END, "
    f"session = CASE WHEN excluded.session <> '' OR NOT {_GOES_ON} THEN excluded.session ELSE "
    f"session END, "
    f"last = CASE WHEN last - excluded.last BETWEEN 0 AND {SKEW} THEN last ELSE excluded.last END "
    f"RETURNING began"
)
_COLUMNS = "kind, what, at, agent, session, role, ok, story"


@healing
def note(
    state: State,
    root: str,
    at: float,
    acts: "Sequence[Act]" = (),
    *,
    conversation: str = "",
    asked: int = 0,
    story: str = "",
    once: bool = False,
) -> bool:
    """Give a sign of the work in hand in a work tree, and add what was done.

    Say whether anything was added. One transaction.

    `conversation` is the agent's session whose own context carries the work on, however long it was
    silent. With `once`, an act that says no more than the last one of its kind is not added: an
    agent that is there already, a task that has been done.
    """
    db = state.db
    added = False
    with transaction(db):
        began = db.execute(_SIGN, (root, at, at, conversation, asked, story)).fetchone()[0]
        for act in acts:
            row = (act.kind, act.what[:LONG], act.agent[:LONG], act.story[:LONG])
            if once and act.ok and _is_there(state, root, began, row):
                continue
            added = True
            db.execute(
                f"INSERT INTO acts (root, began, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    root,
                    began,
                    row[0],
                    row[1],
                    at,
                    row[2],
                    act.session,
                    act.role,
                    int(act.ok),
                    row[3],
                ),
            )
        if added:
            db.execute(
                f"DELETE FROM acts WHERE root = ?1 AND n <= (SELECT n FROM acts WHERE root = ?1 "
                f"ORDER BY n DESC LIMIT 1 OFFSET {KEPT})",
                (root,),
            )
    return added


def _is_there(state: State, root: str, began: float, row: "tuple[str, str, str, str]") -> bool:
    """Return whether the last act of a kind is this one, ignoring case.

    The result is false if its command was given again since.
    """
    kind, what, agent, story = row
    sql = (
        "SELECT n, what, agent, story, ok FROM acts WHERE root = ? AND began = ? AND kind = ? "
        "ORDER BY n DESC LIMIT 1"
    )
    last = state.db.execute(sql, (root, began, kind)).fetchone()
    if last is None or _bare(last[1]) != _bare(what) or last[2:] != (agent, story, 1):
        return False
    since = "SELECT what FROM acts WHERE root = ? AND n > ? AND kind = ? AND role <> ?"
    return all(
        normal(given) != normal(what)
        for (given,) in state.db.execute(since, (root, last[0], COMMAND, ASSISTANT))
    )


def _bare(what: str) -> str:
    return what.lower().removeprefix("*")


@healing
def current(state: State, root: str) -> Current | None:
    """Return the work in hand as it was left, however long ago; None where nothing is known."""
    row = state.db.execute(
        "SELECT root, began, last, session, asked, story FROM contexts WHERE root = ?", (root,)
    ).fetchone()
    return Current(*row) if row else None


@healing
def of(state: State, root: str, began: float) -> "list[Act]":
    """Return what was done in the work in hand, in its order."""
    sql = f"SELECT {_COLUMNS} FROM acts WHERE root = ? AND began = ? ORDER BY n"
    return [
        Act(kind, what, at=at, agent=agent, session=session, role=role, ok=bool(ok), story=story)
        for kind, what, at, agent, session, role, ok, story in state.db.execute(sql, (root, began))
    ]
