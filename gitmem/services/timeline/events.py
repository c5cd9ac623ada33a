"""One timeline of everything that happened.

It has commits of the code, changes of memory, gotchas, snapshots, sessions, work, and what people
noted. It is derived when it is read.

Every source yields its events newest first, so that the first page is there before the last commit
was read.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.clock import LAST, seconds, stamp
from gitmem.errors import GitmemError
from gitmem.git.code_history import CodeHistory, within
from gitmem.git.commit_log import FORMAT, CodeCommit, parse
from gitmem.index.reader import Index
from gitmem.records.kinds import KIND
from gitmem.repo.location import storable
from gitmem.services.records.committers import TRUST_FIELDS, marked_title, trust_marks
from gitmem.state import edits, links, sessions
from gitmem.state.database import State
from gitmem.store.trailers import BOOKKEEPING, trailers

if TYPE_CHECKING:
    from gitmem.records.record import Record

SOURCES = ("commit", "memory", "gotcha", "snapshot", "session", "work", "event")
_OF_KIND = {"gotcha": "gotcha", "work": "work", "snapshot": "snapshot", "event": "event"}
_OWN = frozenset({"snapshot", "event"})  # kinds that the index tells, not the history of the store
TALE = 200  # characters of a title
NAMED = 200  # records that git looks for in the messages of commits
LATE = 200  # events that are held back to put them in order
GONE = "(removed)"  # the title of a record that is there no more: no view shows its words


class TimelineEvent(NamedTuple):
    """Something that happened.

    `at` is in epoch seconds, `source` is one of `SOURCES`, `what` is a word for it, and `id` is
    that of the commit, record or session.
    """

    at: float
    source: str
    what: str
    title: str
    id: str = ""
    author: str = ""
    agent: str = ""
    session: str = ""
    story: str = ""
    files: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()  # the marks of the record

    @property
    def author_name(self) -> str:
        """The author without the mail address."""
        return self.author.partition(" <")[0]


class Wanted(NamedTuple):
    """What is asked for; what is empty asks for all.

    Times are epoch seconds, `file` a path from the root of the work tree.
    """

    since: float = 0.0
    until: float = float(LAST)
    sources: Sequence[str] = ()
    file: str = ""
    agent: str = ""
    session: str = ""
    story: str = ""
    limit: int | None = None

    def has(self, source: str) -> bool:
        """Say whether a source is asked for."""
        return not self.sources or source in self.sources

    @property
    def narrow(self) -> bool:
        """Say whether events are left out that git cannot leave out by itself."""
        return bool(self.agent or self.session or self.story)

    def fits(self, event: TimelineEvent) -> bool:
        """Say whether an event passes."""
        return (
            self.since <= event.at <= self.until
            and (not self.agent or event.agent == self.agent)
            and (not self.session or event.session.startswith(self.session))
            and (not self.story or event.story == self.story)
        )


class TimelineSources:
    """Where events come from; `record` reads one by its id."""

    def __init__(
        self,
        history: CodeHistory,
        state: State,
        indexes: Sequence[tuple[str, Index]],
        record: Callable[[str], "Record"],
    ) -> None:
        self.history = history
        self.state = state
        self.indexes = indexes
        self.record = record
        self._sessions: dict[str, sessions.Session] = {}

    def session(self, id: str) -> sessions.Session | None:
        """Return what is known of a session."""
        if not self._sessions:
            self._sessions = {session.id: session for session in sessions.some(self.state)}
        return self._sessions.get(id)


def timeline(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    """Yield events, the newest first."""
    streams: list[Iterable[TimelineEvent]] = []
    if wanted.has("commit"):
        streams.append(_in_order(_commits(sources, wanted)))
    if any(map(wanted.has, ("memory", "gotcha", "work"))):
        streams.append(_in_order(_memory(sources, wanted)))
    for source, read in (("snapshot", _snapshots), ("session", _sessions), ("event", _noted)):
        if wanted.has(source):
            streams.append(sorted(read(sources, wanted), key=lambda event: -event.at))
    number = 0
    for event in heapq.merge(*streams, key=lambda event: -event.at):
        if wanted.fits(event) and wanted.has(event.source):
            yield event
            number += 1
            if number == wanted.limit:
                return


def _span(wanted: Wanted, *, whole: bool = False) -> list[str]:
    """Return the options of `git log` that leave out what is not asked for.

    `whole` says that nothing else is left out afterwards.
    """
    out = [f"--format={FORMAT}", "-z", "--no-show-signature", "--no-color"]
    out += [f"--until=@{int(wanted.until)}"] if wanted.until < LAST else []
    is_whole = whole and not wanted.since  # what is too old is left out here, not by git
    most = wanted.limit + LATE if wanted.limit and is_whole else 0
    return out + ([f"--max-count={most}"] if most else [])


def _log(sources: TimelineSources, wanted: Wanted, *args: str) -> Iterator[CodeCommit]:
    rows = (
        commit
        for row in sources.history.lines("log", *args, sep=b"\0")
        if (commit := parse(row)) is not None
    )
    return within(rows, lambda row: float(row.at), wanted.since)


def _in_order(events: Iterable[TimelineEvent]) -> Iterator[TimelineEvent]:
    """Yield events by time, the newest first: git has a child before its parent, whatever they say.

    `LATE` of them are held back for it; what is later by more comes where it is found.
    """
    held: list[tuple[float, int, TimelineEvent]] = []
    for number, event in enumerate(events):
        heapq.heappush(held, (-event.at, number, event))
        if len(held) > LATE:
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]


def _commits(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    """Return the commits of the branches; git is at work from now on."""
    path = ["--", f":(top,literal){wanted.file}"] if wanted.file else []
    return _of_commits(
        sources,
        _log(sources, wanted, *_span(wanted, whole=not wanted.narrow), "HEAD", "--branches", *path),
    )


def _of_commits(sources: TimelineSources, commits: Iterable[CodeCommit]) -> Iterator[TimelineEvent]:
    has_links = links.has_links(sources.state)
    for commit in commits:
        some = links.of(sources.state, [commit.oid]).get(commit.oid, []) if has_links else []
        link = next((link for link in some if link.kind != links.HUMAN), None)
        about = sources.session(link.session) if link else None
        yield TimelineEvent(
            float(commit.at),
            "commit",
            "merge" if len(commit.parents) > 1 else "commit",
            commit.subject,
            commit.oid,
            f"{commit.author} <{commit.mail}>",
            link.agent if link else "",
            link.session if link else "",
            about.story if about else "",
        )


def _memory(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    """Return what was done to records: the history of the refs tells it.

    Git is at work from now on.
    """
    tips = [
        tip
        for name, tip in sources.indexes[0][1].tips().items()
        if name in {"shared", "private"} and tip
    ]
    if not tips:
        return iter(())
    about = (
        {
            row["id"]
            for _, index in sources.indexes
            for row in index.rows(paths=(wanted.file,), fields=("id",))
        }
        if wanted.file
        else set()
    )
    if wanted.file and not about:
        return iter(())
    named: list[str] = []
    if len(about) <= NAMED:  # git looks for them in less time than it takes to print all commits
        named = ["--fixed-strings", *(f"--grep=Gitmem-Id: {id}" for id in sorted(about))]
    log = _log(sources, wanted, *_span(wanted), *(named if about else ()), *tips, "--")
    return _of_memory(sources, wanted, log, about)


def _of_memory(
    sources: TimelineSources, wanted: Wanted, log: Iterable[CodeCommit], about: "set[str]"
) -> Iterator[TimelineEvent]:
    for operation in log:
        named = trailers(f"\n\n{operation.body.rpartition(chr(10) * 2)[2]}")
        op, ids = _first(named, "op"), named.get("id", [])
        kinds = {KIND.get(id[:3], "") for id in ids}
        if op in BOOKKEEPING or kinds <= _OWN or (wanted.file and not about.intersection(ids)):
            continue
        session = _first(named, "session")
        session_row = sources.session(session)
        agent = session_row.agent if session_row else _first(named, "agent")
        rows = [row for _, index in sources.indexes for row in index.get(ids[0])]
        title = _title(operation.subject, is_there=bool(rows))
        yield TimelineEvent(
            float(operation.authored),
            _source(kinds),
            op or "change",
            title[:TALE],
            ids[0],
            f"{operation.author} <{operation.mail}>",
            agent,
            session,
            session_row.story if session_row else "",
            trust=_trust(_unconfirmed(rows)),
        )


def _first(named: Mapping[str, Sequence[str]], key: str) -> str:
    """Return the first trailer of a name; empty where there is none."""
    return next(iter(named.get(key, ())), "")


def _source(kinds: "set[str]") -> str:
    """Return what an event is listed as whose records are of these kinds."""
    return next((_OF_KIND[kind] for kind in sorted(kinds) if kind in _OF_KIND), "memory")


def _unconfirmed(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the row of a record, of those of all stores, that nobody vouches for."""
    return next((row for row in reversed(rows) if row["unconfirmed"]), None)


def _trust(row: Mapping[str, Any] | None) -> tuple[str, ...]:
    return tuple(trust_marks(row)) if row else ()


def _title(subject: str, *, is_there: bool) -> str:
    """Return what the subject of a store's commit says of a record."""
    title = subject.partition('"')[2].rpartition('"')[0]
    if title and not is_there:
        return GONE
    return title or subject


def _dirty_paths(record: "Record | None") -> tuple[str, ...]:
    return tuple(str(entry.get("path")) for entry in record.get("dirty")) if record else ()


def _snapshots(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    for _, index in sources.indexes:
        for row in index.rows(
            what="snapshot",
            since=_stamp(wanted.since),
            fields=("id", "created", "agent", "session", *TRUST_FIELDS),
        ):
            record = _read(sources, row["id"]) if wanted.file or wanted.story else None
            files = _dirty_paths(record)
            if not wanted.file or wanted.file in files:
                yield _snapshot(sources, row, record, files)


def _snapshot(
    sources: TimelineSources,
    row: Mapping[str, Any],
    record: "Record | None",
    files: tuple[str, ...],
) -> TimelineEvent:
    session = sources.session(row["session"])
    story = session.story if session else ""
    if record:
        story = str(record.get("story") or "")
    return TimelineEvent(
        _seconds(row["created"]),
        "snapshot",
        "save",
        row["title"],
        row["id"],
        row["author"],
        session.agent if session else "",
        row["session"],
        story,
        files[:20],
        _trust(row),
    )


def _ends(session: sessions.Session, title: str) -> Iterator[TimelineEvent]:
    """Yield the beginning of a session, and its end if it has one."""
    about = (session.id, "", session.agent, session.id, session.story)
    yield TimelineEvent(session.started, "session", "start", title, *about)
    if session.ended is not None:
        why = f" ({session.why})" if session.why else ""
        at = max(session.ended, session.started)
        yield TimelineEvent(at, "session", "end", f"{title}{why}", *about)


def _touched(sources: TimelineSources, file: str) -> set[str]:
    """Return the sessions that edited a file."""
    stored = storable(file)
    touched = edits.touched(sources.state, 0.0, float(LAST))
    return {session for path, session in touched if path == stored}


def _sessions(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    """Yield beginnings and ends: of sessions of this machine, and of those whose record is here."""
    touched = _touched(sources, wanted.file) if wanted.file else set()
    seen = set()
    titles = {
        row["session"]: row
        for _, index in sources.indexes
        for row in index.rows(
            what="session",
            by_sessions=True,
            fields=("session", "created", *TRUST_FIELDS),
        )
        if row["session"]
    }
    for session in sessions.some(sources.state):
        seen.add(session.id)
        if wanted.file and session.id not in touched:
            continue
        title = session.title or (marked_title(titles[session.id]) if session.id in titles else "")
        yield from _ends(session, title or f"{session.agent} session")
    for id, row in titles.items():
        if id not in seen and not wanted.file:
            yield TimelineEvent(
                _seconds(row["created"]),
                "session",
                "start",
                row["title"],
                id,
                row["author"],
                "",
                id,
                trust=_trust(row),
            )


def _noted(sources: TimelineSources, wanted: Wanted) -> Iterator[TimelineEvent]:
    for _, index in sources.indexes:
        for row in index.rows(
            what="event",
            fields=("id", "created", "agent", "session", "anchors", *TRUST_FIELDS),
        ):
            files = tuple(str(anchor["path"]) for anchor in row["anchors"] if anchor.get("path"))
            if wanted.file and wanted.file not in files:
                continue
            record = _read(sources, row["id"])
            at = str(record.fields.get("at") or row["created"]) if record else row["created"]
            what = str(record.fields.get("what") or "event") if record else "event"
            session = sources.session(row["session"])
            yield TimelineEvent(
                _seconds(at),
                "event",
                what,
                row["title"],
                row["id"],
                row["author"],
                session.agent if session else "",
                row["session"],
                session.story if session else "",
                files,
                _trust(row),
            )


def _read(sources: TimelineSources, id: str) -> "Record | None":
    try:
        return sources.record(id)
    except GitmemError:
        return None


def _seconds(text: str) -> float:
    try:
        return seconds(text)
    except ValueError:
        return 0.0


def _stamp(at: float) -> str:
    return stamp(at) if at else ""


def csv_row(event: TimelineEvent) -> Mapping[str, str]:
    """Return an event as a row of a table; its author is a name alone."""
    facts = {
        "at": stamp(event.at),
        "action": event.what,
        "author": event.author_name,
        "paths": " ".join(event.files),
    }
    return {key: facts.get(key) or str(getattr(event, key, "")) for key in COLUMNS}


COLUMNS = ("at", "source", "action", "id", "title", "author", "agent", "session", "story", "paths")
