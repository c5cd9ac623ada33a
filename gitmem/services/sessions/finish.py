"""What a session leaves when it is over, or before a compaction.

It leaves a record, what it taught as proposals, and a snapshot of its work.

The history is our own file (`hooks.session_log`); what was said in between is in the agent's
transcript, where there is one that can be read.
"""

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from gitmem.base.processes import is_gone, own
from gitmem.clock import Clock, stamp
from gitmem.errors import UnknownId
from gitmem.git.worktree import WorkTree
from gitmem.index.reader import Index
from gitmem.records.items import DONE, Extract
from gitmem.records.kinds import derived_id
from gitmem.records.merge import restamp
from gitmem.records.record import Record
from gitmem.redaction.mask import scrub
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.refs import PRIVATE
from gitmem.services.facts.stores import shareable
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.session_log.reader import parsed
from gitmem.services.sessions import proposals, statements, transcript_file, witness
from gitmem.services.sessions.forgetting import is_forgotten
from gitmem.services.sessions.reading import (
    CountedTurns,
    FactReading,
    by_commits,
    namespaces,
    read_facts,
)
from gitmem.services.sessions.session_record import (
    SessionAccount,
    SessionReport,
    ended_at,
    published_record,
    session_record,
)
from gitmem.services.snapshots.save import SaveContext
from gitmem.state import requests, sessions
from gitmem.state.database import State
from gitmem.state.sessions import Session
from gitmem.store import operations
from gitmem.store.rejected import Rejected, rejected_in
from gitmem.store.store import Message, Store
from gitmem.transcripts import reader
from gitmem.transcripts.turn import Turn

TRIED = 86400.0  # seconds that a request which fails is tried again
BEAT = 20.0  # seconds between two of them that are written down
AT_THE_END = "At the end"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionServices:
    """What the end of a session needs.

    It says where each part goes (None for what nobody wants), and how its sources are read.
    """

    who: Writer
    snapshots: Store
    keep: Callable[
        [str, str, SaveContext, Writer], bool
    ]  # saves a work tree, by its root, under an id; says whether there was anything to save
    records: Store | None
    published: Store | None  # gets what others may see of a session's record
    proposals: Store | None
    elsewhere: Sequence[Store]  # stores where a proposal may be, or was rejected
    lines: Callable[[Session], Iterable[bytes]]  # of a session's history
    tree: Callable[[str], WorkTree]
    # turns without what is never stored of a work tree
    shown: Callable[[Iterable[Turn], str], Iterator[Turn]]
    # what it is given as well is called now and then, while it is at work
    extract: Callable[[Iterable[Turn], Callable[[], None]], Extract]
    indexes: Callable[[], Sequence[Index]]
    injected: Callable[[str], Collection[str]]  # ids of the facts that a session was given
    # when the session before it ended: commits were made since
    before: Callable[[Session], float] = lambda session: session.started
    commits: Callable[[Session], list[dict[str, Any]] | None] = lambda _: (
        None
    )  # those that a session had a part in, as its record names them
    # what is written to the private store meanwhile is one commit
    one_commit: Callable[[], AbstractContextManager[None]] = nullcontext
    tell_hits: Callable[[], object] = lambda: None  # writes the hits of errors that wait


class _Joined(io.RawIOBase):
    """Lines as a file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            line = next(self._lines, None)
            if line is None:
                return 0
            self._rest = line
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def of_history(lines: Iterable[bytes]) -> Iterator[Turn]:
    """Return the turns of a history's lines."""
    return reader.read(io.BufferedReader(_Joined(lines)), form="history")


def turns(
    session: Session,
    lines: Callable[[Session], Iterable[bytes]],
    most: int = transcript_file.LIMITS[0],
) -> tuple[Iterator[Turn], str, str]:
    """Return a session's turns, the name of their source, and what is missing of it.

    The source is the agent's own transcript, else our history.

    Of a transcript at most the last `most` bytes are read. What people marked or noted by hand is
    in our history alone, and comes with both.
    """
    found = transcript_file.open_transcript(session.transcript, most)
    if found is not None:
        return (
            _both(found.turns, lines(session)),
            f"the transcript of session {session.id}",
            found.missing,
        )
    left = (
        "Its transcript took too long, and was not read."
        if not most and transcript_file.is_readable(session.transcript)
        else ""
    )
    return of_history(lines(session)), f"the history of session {session.id}", left


def _both(said: Iterator[Turn], lines: Iterable[bytes]) -> Iterator[Turn]:
    yield from said
    yield from (turn for turn in of_history(lines) if turn.marked)


def account_of(rows: Iterable[Row]) -> SessionAccount:
    """Return what a history tells."""
    out = SessionAccount()
    for row in rows:
        out.add(row)
    return out


def write_record(
    desk: SessionServices, session: Session, beat: Callable[[], None] = lambda: None, tries: int = 0
) -> list[str]:
    """Write a session's record, and what it taught as proposals; anew when it went on after that.

    One commit. Return what was done, in words: nothing for a session in which nothing happened, or
    somebody only said hello. After `tries` in vain less of a long transcript is read.
    """
    account = account_of(parsed(desk.lines(session)))
    if account.empty or is_forgotten(desk.snapshots, session.id):
        return []
    said, where, missing = turns(session, desk.lines, transcript_file.limit(tries))
    counted = CountedTurns(desk.shown(said, session.root), beat)
    tree = desk.tree(session.root)
    rejected = rejected_in(desk.snapshots.objects)
    extract = _allowed(desk.extract(counted, beat), tree, rejected)
    # what an answer to a greeting repeats of what is known is not news
    if account.trivial and not counted.matters:
        return []
    who = desk.who._replace(session=session.id, program=BACKGROUND)
    commits = tree.commits(session.started, ended_at(session))
    indexes = desk.indexes()
    read = _read_facts(desk, who, extract, where, indexes)
    finished = _finished_tasks(desk, session, extract, counted, commits, indexes, who)
    facts = [*read.facts(desk.injected(session.id)), *finished]
    tokens = max(counted.tokens, extract.tokens)
    account.leave_out(rejected.is_quoted)
    report = SessionReport(extract, commits, facts, tokens, missing)
    now, made = who.clock.stamp(), desk.commits(session)
    common: dict[str, Any] = {"author": who.person, "agent": who.agent, "commits": made}
    new = session_record(session, account, report, now).change(**common)
    done = _write(desk, who, new, read.learned)
    witness.note_seen(desk.elsewhere, who, read.learned.seen, desk.injected(session.id), where)
    if desk.published is not None and not is_forgotten(desk.snapshots, session.id):
        public = published_record(session, account, commits, now).change(**common)
        _write_one(desk.published, who, public)
    return done


def _read_facts(
    desk: SessionServices, who: Writer, extract: Extract, where: str, indexes: Sequence[Index]
) -> FactReading:
    if desk.proposals is None:
        changed = statements.changed_facts(
            indexes, extract.changes, namespaces(who), who.clock.stamp()
        )
        return FactReading(proposals.Learned(), changed)
    read = read_facts(desk.elsewhere, who, extract, where, indexes)
    if desk.proposals.ref != PRIVATE:
        read.learned.made = [
            (record.change(sources=shareable(record.get("sources"))), item)
            for record, item in read.learned.made
        ]
    return read


def _finished_tasks(
    desk: SessionServices,
    session: Session,
    extract: Extract,
    counted: CountedTurns,
    commits: Sequence[tuple[str, str]],
    indexes: Sequence[Index],
    who: Writer,
) -> list[dict[str, Any]]:
    """Return which open tasks were done, by what was said and by commits since the last session."""
    tree, earlier = desk.tree(session.root), desk.before(session)
    between = tree.commits(earlier, session.started) if earlier < session.started else []
    done = [
        *(item for item in extract.items if item.kind == DONE),
        *counted.done,
        *by_commits(commits, stamp(ended_at(session))),
        *by_commits([one for one in between if one not in commits], stamp(session.started)),
    ]
    changed = [
        path for path in tree.changed_files(earlier, ended_at(session)) if not tree.hides(path)
    ]
    now = who.clock.stamp()
    return statements.finished_tasks(
        indexes, done, changed, stamp(session.started), now, namespaces(who)
    )


def _write(
    desk: SessionServices, who: Writer, new: Record, learned: proposals.Learned
) -> list[str]:
    """Write a session's record and its new facts, in one commit where they go to one store."""
    if desk.records and desk.proposals and desk.records.ref == desk.proposals.ref:
        todo = [*learned.operations, *_put(desk.records, who, new)]
        ids = (new.id, *(record.id for record, _ in learned.made))
        subject = f"session: {new.title}"
        if todo:
            message = who.message(new, "session", subject)._replace(ids=ids)
            desk.records.write(todo, message)
        return _done(new, learned) if todo else []
    if desk.proposals is not None and learned.made:
        ids = tuple(record.id for record, _ in learned.made)
        message = Message(f"inbox: proposals of {new.title}", "propose", ids, session=who.session)
        desk.proposals.write(learned.operations, message)
    is_new = desk.records is not None and _write_one(desk.records, who, new)
    return _done(new, learned) if is_new or learned.made else []


def _write_one(store: Store, who: Writer, new: Record) -> bool:
    """Write a session's record; return whether anything changed."""
    todo = _put(store, who, new)
    if todo:
        store.write(todo, who.message(new, "session"))
    return bool(todo)


def _done(new: Record, learned: proposals.Learned) -> list[str]:
    session, number = str(new.get("session"))[:8], len(learned.made)
    many = "" if number == 1 else "s"
    made = [f"{number} proposal{many} of session {session} in git mem inbox"] if number else []
    return [f"record of session {session} written", *made]


def _put(store: Store, who: Writer, new: Record) -> list[operations.Op]:
    """Return the operation that writes a session's record; none where nothing changed."""
    new, _ = write.clean(new, who.allow)
    try:
        old = store.get(new.id).record
    except UnknownId:
        return [operations.put(new)]
    # what an earlier reading made is still of this session
    named = {(str(one.get("id")), str(one.get("what"))): one for one in old.get("facts")}
    named |= {(str(one.get("id")), str(one.get("what"))): one for one in new.get("facts")}
    fresh = {**new.fields, "created": old.created, "rev": old.rev, "facts": list(named.values())}
    after = old.change(title=new.title, body=new.body, **fresh)
    same = {**after.fields, "updated": ""} == {**old.fields, "updated": ""}
    if same and (after.title, after.body) == (old.title, old.body):
        return []
    return [operations.put(restamp(old, after.touched(who.clock.stamp())), old)]


def _allowed(extract: Extract, tree: WorkTree, rejected: Rejected) -> Extract:
    """Return an extract without file names that must not be stored, and without some topics.

    Those that are secret go, and those that say what somebody rejected.
    """
    topics = tuple(
        topic
        for topic in extract.topics
        if not (scrub(topic).findings or rejected.has_phrase(topic))
    )
    items = tuple(
        replace(item, files=tuple(path for path in item.files if not tree.hides(path)))
        for item in extract.items
    )
    return replace(extract, items=items, topics=topics)


def write_snapshot(desk: SessionServices, session: Session, at: float, why: str) -> bool:
    """Save a session's work as it stands, with what was asked last.

    Say whether that was done: not twice for one moment, nor without anything to save at an end.
    """
    seen = account_of(parsed(desk.lines(session)))
    id = derived_id("snp", f"snapshot {session.id} {at}")
    if is_forgotten(desk.snapshots, session.id):
        return False
    try:
        desk.snapshots.get(id)
    except UnknownId:
        pass
    else:
        return False
    seen.leave_out(rejected_in(desk.snapshots.objects).is_quoted)
    last = seen.asked[-1] if seen.asked else ""
    title = f"{why}: {last}" if last else f"{why} of a {session.agent} session"
    who = desk.who._replace(session=session.id)
    return desk.keep(
        session.root,
        id,
        SaveContext(
            f"Last asked: {last}" if last else "",
            story=session.story,
            cwd=seen.folder or "",
            reason=title,
        ),
        who,
    )


class Overtaken(Exception):
    """Another process has taken over: this one was silent for longer than its lease."""


class _Beat:
    """Keeps a request ours while its work goes on."""

    def __init__(self, state: State, request: requests.Request, clock: Clock) -> None:
        self._state = state
        self._request = request
        self._clock = clock

    def __call__(self) -> None:
        """Give a sign of life, now and then.

        Raises Overtaken when the request is another one's by now.
        """
        now = self._clock.now()
        if abs(now - self._request.claimed) >= BEAT and not requests.renew(
            self._state, self._request, now
        ):
            raise Overtaken


def _serve(
    desk: SessionServices, session: Session, request: requests.Request, beat: _Beat
) -> list[str]:
    """Do what a session asked for once; return what was done, in words."""
    done = []
    saved = f"{requests.SNAPSHOT} of session {session.id[:8]} written"
    if request.kind == requests.SNAPSHOT:
        if write_snapshot(desk, session, request.at, "Before compaction"):
            done.append(saved)
        if session.ended is not None:
            return done
    # before a compaction too: what was said so far is about to be forgotten
    written = write_record(desk, session, beat, request.tries)
    done += written
    desk.tell_hits()
    if (
        session.ended is not None
        and written
        and write_snapshot(desk, session, session.ended, AT_THE_END)
    ):
        done.append(saved)
    return done


def work_off(
    state: State, desk: SessionServices, begins: Callable[[], object] = lambda: None
) -> list[str]:
    """Do what sessions have asked for; return what was done, in words.

    `begins` is called before each.

    A request that fails stays with its lease, and is tried again when that is over, for a day; it
    does not keep others from being done. Raises the first failure, at the end.
    """
    done: list[str] = []
    failure: Exception | None = None
    clock = desk.who.clock
    while (request := requests.take(state, clock.now(), own(), is_gone)) is not None:
        begins()
        session = sessions.get(state, request.session)
        try:
            if session is not None:
                with desk.one_commit():
                    done += _serve(desk, session, request, _Beat(state, request, clock))
        except Overtaken:
            continue
        except Exception as error:  # noqa: BLE001 - raised below: one session must not cost the others theirs
            failure = failure or error
            if clock.now() - request.at < TRIED:
                requests.leave(state, request)
                continue
        requests.done(state, request)
    if failure:
        raise failure
    return done
