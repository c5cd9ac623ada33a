"""What `state.db` knows about agents' sessions: their signs of life and what they are about.

Standard library only; the hot path writes it.
"""

from gitmem.base.sqlite import healing
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# seconds without a sign of life after which a session whose process is not known counts as gone
SILENCE = 1800.0
# bytes from which on the older turns of a history are condensed by topic, in the background
HISTORY_LIMIT = 400_000
GONE = "interrupted"  # why a session ended that did not say so itself


class Session:
    """One run of an agent.

    Times are epoch seconds; `ended` is None while it runs; `process` as `gitmem.base.processes` has
    it, '' when not known.
    """

    __slots__ = (
        "agent",
        "branch",
        "ended",
        "history",
        "id",
        "kind",
        "last",
        "process",
        "root",
        "started",
        "story",
        "title",
        "transcript",
        "why",
    )

    def __init__(
        self,
        id: str,
        agent: str,
        started: float,
        last: float,
        history: str,
        ended: float | None,
        why: str | None,
        root: str | None,
        transcript: str | None,
        process: str | None,
        kind: str | None = None,
        branch: str | None = None,
        story: str | None = None,
        title: str | None = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.started = started
        self.last = last
        self.history = history
        self.ended = ended
        self.why = why or ""
        self.root = root or ""
        self.transcript = transcript or ""
        self.process = process or ""
        self.kind = kind or ""  # new, existing or workflow, as it was when it started
        self.branch = branch or ""
        self.story = story or ""
        self.title = title or ""


_COLUMNS = "id, agent, started, last, history, ended, why, root, transcript, process"
_ALL = f"{_COLUMNS}, kind, branch, story, title"


@healing
def sign(state: State, session: Session, *, opens: bool, others: "Sequence[str]" = ()) -> str:
    """Note a sign of life.

    Return the name of the session's history file (the first one given stays).

    An event that opens (a start, a prompt) makes a session that had ended go on; another one that
    comes late does not, unless it was only taken for dead. Where the id is a session's of one of
    the agents `others`, nothing is noted, and the name is empty.
    """
    again = (
        ", ended = NULL, why = NULL"
        if opens
        else f", ended = CASE why WHEN '{GONE}' THEN NULL ELSE ended END, why = NULLIF(why, "
        f"'{GONE}')"
    )
    sql = (
        f"INSERT INTO sessions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?) ON "
        f"CONFLICT DO UPDATE SET last = MAX(last, excluded.last){again}, "
        "root = COALESCE(NULLIF(excluded.root, ''), root), transcript = "
        "COALESCE(NULLIF(excluded.transcript, ''), transcript), "
        "process = COALESCE(NULLIF(excluded.process, ''), process) "
        f"WHERE COALESCE(agent, '') NOT IN ({','.join('?' * len(others))}) RETURNING history"
    )
    values = (
        session.id,
        session.agent,
        session.started,
        session.last,
        session.history,
        session.root,
        session.transcript,
        session.process,
    )
    signed = state.db.execute(sql, (*values, *others)).fetchall()
    return str(signed[0][0]) if signed else ""


@healing
def describe(
    state: State, id: str, *, kind: str = "", branch: str = "", story: str = "", title: str = ""
) -> None:
    """Note what a session is about.

    What is empty stays as it was, and so does the kind that it began with.
    """
    sql = (
        "UPDATE sessions SET kind = COALESCE(NULLIF(kind, ''), NULLIF(?, '')), branch = "
        "COALESCE(NULLIF(?, ''), branch), "
        "story = COALESCE(NULLIF(?, ''), story), title = COALESCE(NULLIF(?, ''), title) WHERE id = "
        "?"
    )
    state.db.execute(sql, (kind, branch, story, title, id))


@healing
def some(state: State, *, ended: bool | None = None, limit: int = -1) -> "list[Session]":
    """Return sessions, the latest first; `ended` asks for those that have, or have not."""
    where = "" if ended is None else f" WHERE ended IS {'NOT ' if ended else ''}NULL"
    sql = f"SELECT {_ALL} FROM sessions{where} ORDER BY last DESC, id LIMIT ?"
    return [Session(*row) for row in state.db.execute(sql, (limit,))]


@healing
def get(state: State, id: str) -> Session | None:
    """Return a session by its id, None when it is not known."""
    row = state.db.execute(f"SELECT {_ALL} FROM sessions WHERE id = ?", (id,)).fetchone()
    return Session(*row) if row else None


def shared_id(id: str, agent: str) -> str:
    """Return our name for a session whose id another agent's session has too.

    The two sessions have nothing in common.
    """
    return f"{id}.{agent}"


def given_id(session: Session) -> str:
    """Return the id by which a session's agent knows it."""
    return session.id.removesuffix(f".{session.agent}")
