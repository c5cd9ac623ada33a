"""What `state.db` knows about agents' sessions.

It knows their signs of life, what they ask to be done, and what their hooks cost.

Standard library only; the hot path writes it.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# seconds without a sign of life after which a session whose process is not known counts as gone
SILENCE = 1800.0
LEASE = 300.0  # seconds that a process has for what a session asked
# what a session asks of a process that has time
DIGEST, SNAPSHOT = "digest", "snapshot"
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


class Cost:
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
    found = state.db.execute(sql, (*values, *others)).fetchall()
    return str(found[0][0]) if found else ""


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
def end(state: State, id: str, at: float, why: str) -> bool:
    """Note that a session has ended, and that it wants a digest; False when it had ended already.

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
                (DIGEST, id),
            )
            db.execute(
                "INSERT INTO requests (kind, session, at) VALUES (?, ?, ?)",
                (DIGEST, id, at if asked is None else asked),
            )
    return ended


@healing
def lost(
    state: State, now: float, is_gone: "Callable[[str], bool | None]", but: str = ""
) -> "list[Session]":
    """Return the sessions that ended without reporting it.

    Their process is gone, or, if that is not known, they have been silent for long.

    `is_gone` answers for a process, None when it cannot tell; `but` is one that is surely there.
    """
    found = []
    for one in some(state, ended=False):
        gone = is_gone(one.process) if one.process else None
        # clocks of two hosts, or of two processes at once, are never quite the same: a sign from
        # the near future is one
        if one.id != but and (gone if gone is not None else abs(now - one.last) >= SILENCE):
            found.append(one)
    return found


@healing
def bury(state: State, session: Session, now: float | None = None) -> bool:
    """End a session that is lost, at its last sign of life.

    False when it gave another one meanwhile. Its digest is asked for `now`.
    """
    return _end(state, session.id, session.last, GONE, " AND last = ?", session.last, asked=now)


@healing
def forgo(state: State, id: str, at: float, why: str) -> None:
    """Note that a session has ended whose digest is there already."""
    state.db.execute(
        "UPDATE sessions SET ended = ?, why = ? WHERE id = ? AND ended IS NULL AND last = ?",
        (at, why, id, at),
    )


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


# -- what is asked


@healing
def ask(state: State, kind: str, session: str, at: float, gap: float = 0.0) -> bool:
    """Ask for something to be done for a session, unless it was asked less than `gap` seconds ago.

    Say whether it was.
    """
    db = state.db
    key = f"asked {kind} {session}"
    with transaction(db):
        before = state.marked(key)
        due = before is None or not 0 <= at - float(before) < gap
        if due:
            if gap:
                state.mark(key, str(at))
            db.execute(
                "INSERT INTO requests (kind, session, at) VALUES (?, ?, ?)", (kind, session, at)
            )
    return due


@healing
def waiting(state: State) -> int:
    """Return how many things are asked for."""
    return int(state.db.execute("SELECT COUNT(*) FROM requests").fetchone()[0])


@healing
def requested(state: State) -> "list[Request]":
    """Return what is asked for, the first first; `claimed` is 0 where nobody is at it."""
    sql = (
        "SELECT n, kind, session, at, COALESCE(claimed, 0), COALESCE(tries, 0) FROM requests ORDER "
        "BY n"
    )
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
    db = state.db
    with transaction(db):
        for n, kind, session, at, claimed, other, tries in db.execute(
            "SELECT n, kind, session, at, claimed, taker, COALESCE(tries, 0) FROM requests ORDER "
            "BY COALESCE(tries, 0), n"
        ).fetchall():
            if (
                claimed is None
                or not now - LEASE <= claimed <= now + LEASE
                or (other and is_gone(other))
            ):
                db.execute(
                    "UPDATE requests SET claimed = ?, taker = ?, tries = ? WHERE n = ?",
                    (now, taker, tries + 1, n),
                )
                found: Request | None = Request(
                    int(n), str(kind), str(session), float(at), now, int(tries)
                )
                break
        else:
            found = None
    return found


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


@healing
def condense(state: State, session: str, at: float) -> None:
    """Ask for what a session should know of itself once its context is gone."""
    state.mark(f"condense {session}", str(at))


@healing
def to_condense(state: State) -> "dict[str, str]":
    """Return the sessions that asked for it: {id: the mark of its asking}."""
    rows = state.db.execute(
        "SELECT key, value FROM marks WHERE key >= 'condense ' AND key < 'condense!'"
    )
    return {key[9:]: value for key, value in rows}


@healing
def condensed(state: State, session: str, mark: str) -> None:
    """Note that it is there; one who asked again since goes on waiting."""
    state.db.execute("DELETE FROM marks WHERE key = ? AND value = ?", (f"condense {session}", mark))


def owe(state: State, session: str) -> None:
    """Record that a session must be told about itself as soon as it receives anything.

    Its agent does not report when a compaction is over.
    """
    state.mark(f"owed {session}", "1")


def owed(state: State, session: str) -> bool:
    """Say whether it is, once."""
    if not state.marked(f"owed {session}"):
        return False
    state.mark(f"owed {session}", "")
    return True


# -- a hook that runs twice


@healing
def claim_call(state: State, session: str, call: str, now: float, patience: float) -> bool:
    """Say whether this process is the first that is at one use of a tool; `now` is when it began.

    An agent whose settings name us twice runs both hooks at once. A call that comes again later, as
    one that is played back does, is another one.
    """
    db = state.db
    key = f"call {session} {call}"
    with transaction(db):
        until = float(state.marked(key) or 0.0)
        first = now >= until or until > now + 2 * patience  # a clock that was set back
        if first:
            state.mark(key, str(now + patience))  # it is at work, so long at most
    return first


@healing
def release_call(state: State, session: str, call: str, now: float) -> None:
    """Note that the work on one use of a tool is done."""
    state.mark(f"call {session} {call}", str(now))


# -- what hooks cost


@healing
def spend(state: State, session: str, event: str, tokens: int, seconds: float) -> None:
    """Add one hook call to what a session's hooks cost."""
    sql = (
        "INSERT INTO costs VALUES (?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + "
        "1, answers = answers + excluded.answers, "
        "tokens = tokens + excluded.tokens, spent = spent + excluded.spent, most = MAX(most, "
        "excluded.most)"
    )
    state.db.execute(sql, (session, event, int(tokens > 0), tokens, seconds, seconds))


@healing
def costs(state: State, ids: "Sequence[str]") -> "list[Cost]":
    """Return what the hooks of sessions cost, event by event."""
    sql = (
        f"SELECT session, event, calls, answers, tokens, spent, most FROM costs WHERE session IN "
        f"({','.join('?' * len(ids))}) ORDER BY session, event"
    )
    return [Cost(*row) for row in state.db.execute(sql, list(ids))]


# -- where code is today that was somewhere else


@healing
def set_spots(
    state: State, root: str, key: str, rows: "Sequence[tuple[str, str, int, int, str]]"
) -> None:
    """Record the places of a work tree's gotchas whose file no longer has the recorded name.

    A place is (path, id, first line, last line, path before).
    """
    db = state.db
    with transaction(db):
        db.execute("DELETE FROM spots WHERE root = ?", (root,))
        db.executemany(
            "INSERT OR REPLACE INTO spots VALUES (?, ?, ?, ?, ?, ?)", [(root, *row) for row in rows]
        )
        state.mark(f"spots {root}", key)


@healing
def spots(state: State, root: str, path: str = "") -> "dict[str, tuple[str, int, int, str]]":
    """Return {id: (path, first, last, path before)} of moved gotchas, in one file or all."""
    sql = "SELECT id, path, first, last, was FROM spots WHERE root = ?" + (
        " AND path = ?" if path else ""
    )
    return {
        id: (str(at), int(first), int(last), str(was))
        for id, at, first, last, was in state.db.execute(sql, (root, path) if path else (root,))
    }
