"""What one session leaves: what its turns taught, read, and written as a record with proposals.

It makes no difference whether hooks told of the session or its transcript was found later.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from gitmem.clock import stamp
from gitmem.errors import UnknownId
from gitmem.git.worktree import WorkTree
from gitmem.index.reader import Index
from gitmem.records.items import DONE, Extract
from gitmem.records.merge import restamp
from gitmem.records.record import Record
from gitmem.redaction.mask import scrub
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.refs import PRIVATE
from gitmem.services.facts.stores import shareable
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.sessions import proposals, statements, witness
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
from gitmem.state.sessions import Session
from gitmem.store import operations
from gitmem.store.rejected import Rejected, rejected_in
from gitmem.store.store import Message, Store
from gitmem.transcripts.turn import Turn


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
    single_commit: Callable[[], AbstractContextManager[None]] = nullcontext
    tell_hits: Callable[[], object] = lambda: None  # writes the hits of errors that wait


@dataclass(frozen=True, slots=True)
class ReadTurns:
    """What the turns of a session taught, and what they cost."""

    extract: Extract
    counted: CountedTurns
    rejected: Rejected


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """What a session adds to what is known. `facts` are what its record says of facts.

    `commits` are those of its time, `where` names in words what was read, `missing` what was not.
    """

    turns: ReadTurns
    new: FactReading
    facts: Sequence[Mapping[str, Any]]
    commits: Sequence[tuple[str, str]]
    where: str
    missing: str = ""


def read_turns(
    desk: SessionServices,
    root: str,
    turns: Iterable[Turn],
    beat: Callable[[], None],
    watched: Callable[[Iterator[Turn]], Iterator[Turn]] = lambda turns: turns,
) -> ReadTurns:
    """Read turns once; `root` is the work tree that they are about.

    `watched` passes on the turns, as they may be stored.
    """
    counted = CountedTurns(watched(desk.shown(turns, root)), beat)
    rejected = rejected_in(desk.snapshots.objects)
    extract = _allowed(desk.extract(counted, beat), desk.tree(root), rejected)
    return ReadTurns(extract, counted, rejected)


def outcome_of(
    desk: SessionServices, session: Session, turns: ReadTurns, where: str, missing: str = ""
) -> SessionOutcome:
    """Return what a session adds to what is known. Nothing is written."""
    who = _writer(desk, session)
    commits = desk.tree(session.root).commits(session.started, ended_at(session))
    indexes = desk.indexes()
    read = _read_facts(desk, who, turns.extract, where, indexes)
    finished = _finished_tasks(desk, session, turns, commits, indexes, who)
    facts = [*read.facts(desk.injected(session.id)), *finished]
    return SessionOutcome(turns, read, facts, commits, where, missing)


def write_outcome(
    desk: SessionServices,
    session: Session,
    account: SessionAccount,
    outcome: SessionOutcome,
    **fields: Any,
) -> list[str]:
    """Write a session's record, and what it taught as proposals; return what was done, in words.

    `fields` are further fields of the record.
    """
    who, extract = _writer(desk, session), outcome.turns.extract
    account.leave_out(outcome.turns.rejected.is_quoted)
    tokens = max(outcome.turns.counted.tokens, extract.tokens)
    report = SessionReport(extract, outcome.commits, outcome.facts, tokens, outcome.missing)
    now, made = who.clock.stamp(), desk.commits(session)
    common: dict[str, Any] = {"author": who.person, "agent": who.agent, "commits": made, **fields}
    new = session_record(session, account, report, now).change(**common)
    learned = outcome.new.learned
    done = _write(desk, who, new, learned)
    injected = desk.injected(session.id)
    witness.note_seen(desk.elsewhere, who, learned.seen, injected, outcome.where)
    if desk.published is not None and not is_forgotten(desk.snapshots, session.id):
        public = published_record(session, account, outcome.commits, now).change(**common)
        _write_record(desk.published, who, public)
    return done


def _writer(desk: SessionServices, session: Session) -> Writer:
    return desk.who._replace(session=session.id, program=BACKGROUND)


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
    turns: ReadTurns,
    commits: Sequence[tuple[str, str]],
    indexes: Sequence[Index],
    who: Writer,
) -> list[dict[str, Any]]:
    """Return which open tasks were done, by what was said and by commits since the last session."""
    tree, earlier = desk.tree(session.root), desk.before(session)
    between = tree.commits(earlier, session.started) if earlier < session.started else []
    done = [
        *(item for item in turns.extract.items if item.kind == DONE),
        *turns.counted.done,
        *by_commits(commits, stamp(ended_at(session))),
        *by_commits(
            [commit for commit in between if commit not in commits], stamp(session.started)
        ),
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
    is_new = desk.records is not None and _write_record(desk.records, who, new)
    return _done(new, learned) if is_new or learned.made else []


def _write_record(store: Store, who: Writer, new: Record) -> bool:
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
    fresh = {**new.fields, "created": old.created, "rev": old.rev}
    if facts := _joined_facts(old, new):
        fresh["facts"] = facts
    after = old.change(title=new.title, body=new.body, **fresh)
    same = {**after.fields, "updated": ""} == {**old.fields, "updated": ""}
    if same and (after.title, after.body) == (old.title, old.body):
        return []
    return [operations.put(restamp(old, after.touched(who.clock.stamp())), old)]


def _joined_facts(old: Record, new: Record) -> list[Any]:
    """Return what two readings of a session say of facts.

    What an earlier reading made is still of this session; that a later one sees it there again
    says nothing.
    """
    rows = [*old.get("facts"), *new.get("facts")]
    made = {row.get("id") for row in rows if row.get("what") == "made"}
    named = {
        (str(row.get("id")), str(row.get("what"))): row
        for row in rows
        if row.get("what") != "seen" or row.get("id") not in made
    }
    return list(named.values())


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
