"""What a session leaves when it is over, or before a compaction.

It leaves a digest, what the session taught, and a snapshot of its work.

The history is our own file (`hooks.session_log`); what was said in between is in the agent's
transcript, where there is one that can be read.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.base.processes import is_gone, own
from gitmem.clock import Clock, stamp
from gitmem.errors import UnknownId
from gitmem.git.worktree import WorkTree
from gitmem.index.reader import Index
from gitmem.records.items import CONTEXT, DONE, Extract, Item
from gitmem.records.kinds import derived_id
from gitmem.records.record import Record
from gitmem.records.summary_entries import Entry, entry_of
from gitmem.redaction.mask import scrub
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.refs import PRIVATE
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer
from gitmem.services.session_log.reader import parsed
from gitmem.services.sessions import outdated, project_summary, proposals, replaced, transcript_file
from gitmem.services.sessions.digest import SessionAccount, digest, ended_at
from gitmem.services.sessions.summary_parts import unshared
from gitmem.services.snapshots.save import SaveContext
from gitmem.state import requests, sessions
from gitmem.state.database import State
from gitmem.state.sessions import Session
from gitmem.store.store import Store
from gitmem.text.completion import completed
from gitmem.text.greetings import trivial
from gitmem.transcripts import reader
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

TRIED = 86400.0  # seconds that a request which fails is tried again
MANY = 20  # turns after which a sign of life is given
BEAT = 20.0  # seconds between two of them that are written down
CLOSING = 400  # statements of completion of one session that are compared with open tasks
AT_THE_END = "At the end"
_PREFIX = re.compile(r"^[a-z]+(?:\([^)]*\))?!?:\s+")  # of a conventional commit
_FINISHES_NOTHING = re.compile(
    r"(?i)(?:revert|remove|drop|delete|wip|start|begin|draft|plan|sketch|prepare|todo|remov|elimin"
    r"|quit|apag)\w*\b"
)
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
    digests: Store | None
    summary: Store | None  # takes what was extracted
    team_summary: Store | None  # what was accepted, where that is another store
    proposals: Store | None
    elsewhere: Sequence[Store]  # stores where a proposal may have gone
    lines: Callable[[Session], Iterable[bytes]]  # of a session's history
    tree: Callable[[str], WorkTree]
    captured: Callable[[str], Sequence[str]]
    # turns without what is never stored of a work tree
    shown: Callable[[Iterable[Turn], str], Iterator[Turn]]
    # what it is given as well is called now and then, while it is at work
    extract: Callable[[Iterable[Turn], Callable[[], None]], Extract]
    indexes: Callable[[], Sequence[Index]]
    limit: int  # characters of the project summary
    # when the session before it ended: commits were made since
    before: Callable[[Session], float] = lambda session: session.started
    commits: Callable[[Session], list[dict[str, Any]] | None] = lambda _: (
        None
    )  # those that a session had a part in, as its digest names them
    ask: project_summary.Ask | None = None
    # keeps which tasks may be done, and why
    perhaps: Callable[[Mapping[str, Mapping[str, str]]], object] | None = None


class CountedTurns:
    """A stream of turns that counts what they cost.

    It also notes whether any of them is more than a greeting and its answer.
    """

    def __init__(self, turns: Iterable[Turn], beat: Callable[[], None]) -> None:
        self._turns = turns
        self._beat = beat
        self.tokens = 0
        self.matters = False
        self.done: list[Item] = []  # what was said to be done

    def __iter__(self) -> Iterator[Turn]:
        for number, turn in enumerate(self._turns):
            self.tokens += turn.tokens
            self.matters = (
                self.matters or turn.role == TOOL or (turn.role == USER and not trivial(turn.text))
            )
            if turn.role in (USER, ASSISTANT) and not turn.side and len(self.done) < CLOSING:
                self.done += [
                    Item(DONE, what, at=turn.at, lines=(turn.line, turn.line))
                    for what in completed(turn.text)
                ]
            if number % MANY == 0:
                self._beat()
            yield turn


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


def told(rows: Iterable[Row]) -> SessionAccount:
    """Return what a history tells."""
    out = SessionAccount()
    for row in rows:
        out.add(row)
    return out


def write_digest(
    desk: SessionServices, session: Session, beat: Callable[[], None] = lambda: None, tries: int = 0
) -> list[str]:
    """Write a session's digest, or write it anew when the session went on after it.

    Then what it taught goes into the summary and the inbox.

    Returns what was done, in words: nothing for a session in which nothing happened, or somebody
    only said hello. After `tries` in vain less of a long transcript is read.
    """
    seen = told(parsed(desk.lines(session)))
    if seen.empty:
        return []
    found, where, missing = turns(session, desk.lines, transcript_file.limit(tries))
    counted = CountedTurns(desk.shown(found, session.root), beat)
    tree = desk.tree(session.root)
    extract = _allowed(desk.extract(counted, beat), tree)
    # what an answer to a greeting repeats of what is known is not news
    if seen.trivial and not counted.matters:
        return []
    commits = tree.commits(session.started, ended_at(session))
    earlier = desk.before(session)
    between = tree.commits(earlier, session.started) if earlier < session.started else []
    closing = [
        *(item for item in extract.items if item.kind == DONE),
        *counted.done,
        *_by_commits(commits, stamp(ended_at(session))),
        *_by_commits([one for one in between if one not in commits], stamp(session.started)),
    ]
    done = []
    who = replace(desk.who, session=session.id, program=BACKGROUND)
    new = digest(
        session,
        seen,
        extract,
        commits,
        desk.captured(session.id),
        who.clock.stamp(),
        max(counted.tokens, extract.tokens),
        missing,
    ).change(
        author=f"{who.author[0]} <{who.author[1]}>", agent=who.agent, commits=desk.commits(session)
    )
    if desk.digests is not None and _put_digest(desk.digests, who, new):
        done.append(f"digest of session {session.id[:8]} written")
    if desk.summary is not None:
        finished = [
            entry_of(item, session.id, extract.by, stamp(ended_at(session))) for item in closing
        ]
        fresh, source = _lasting(new.get("sections")), f"session {session.id[:8]}"
        shared = project_summary.load(desk.team_summary) if desk.team_summary is not None else None
        grown = [
            (
                desk.summary,
                project_summary.grow(
                    desk.summary,
                    who,
                    unshared(fresh, shared),
                    desk.limit,
                    source,
                    desk.ask,
                    finished,
                ),
            )
        ]
        # tasks that are done leave it; nothing comes in
        if desk.team_summary is not None and shared is not None:
            grown.append(
                (
                    desk.team_summary,
                    project_summary.grow(
                        desk.team_summary, who, {}, desk.limit, source, finished=finished
                    ),
                )
            )
        changes = [(store, change) for store, change in grown if change is not None]
        done += [f"project summary grown by session {session.id[:8]}"] if changes else []
        said = [
            line
            for store, change in changes
            for line in replaced.lines(change, "private" if store.ref == PRIVATE else "shared")
        ]
        if said and desk.digests is not None:
            _put_digest(desk.digests, who, new.change(body=replaced.with_lines(new.body, said)))
    if desk.perhaps is not None:
        changed = [
            path for path in tree.changed_files(earlier, ended_at(session)) if not tree.hides(path)
        ]
        desk.perhaps(
            outdated.perhaps(
                desk.indexes(),
                closing,
                changed,
                session.id,
                stamp(session.started),
                who.clock.stamp(),
            )
        )
    if desk.proposals is not None:
        stores = (
            {"private": desk.proposals, "shared": desk.elsewhere[0]}
            if desk.elsewhere
            else {"private": desk.proposals}
        )
        made_now = [item for item in extract.items if item.kind != DONE]
        aside = outdated.settle(
            stores, who, [*made_now, *closing], f"session {session.id[:8]}", desk.indexes
        )
        done += (
            [
                (
                    f"{len(aside)} record{'' if len(aside) == 1 else 's'} put aside by session "
                    f"{session.id[:8]}"
                )
            ]
            if aside
            else []
        )
        made = proposals.propose(
            desk.proposals, who, extract.items, session.id, where, desk.indexes, desk.elsewhere
        )
        done += (
            [
                (
                    f"{len(made)} proposal{'' if len(made) == 1 else 's'} of session "
                    f"{session.id[:8]} in git mem inbox"
                )
            ]
            if made
            else []
        )
    return done


def _by_commits(commits: Iterable[tuple[str, str]], at: str) -> list[Item]:
    """Return what commits did by their subjects.

    Those that take something back, or only begin it, finish nothing.
    """
    subjects = (_PREFIX.sub("", subject) for _, subject in commits)
    return [
        Item(DONE, subject, at=at) for subject in subjects if not _FINISHES_NOTHING.match(subject)
    ]


def _lasting(sections: Mapping[str, Sequence[Entry]]) -> dict[str, list[Entry]]:
    """Return the entries that are for others too.

    A note that somebody made for this session stays in its digest.
    """
    return {
        name: [e for e in part if not (e.get("critical") and e.get("kind") == CONTEXT)]
        for name, part in sections.items()
    }


def _allowed(extract: Extract, tree: WorkTree) -> Extract:
    """Return an extract without file names that must not be stored, and without secret topics."""
    topics = tuple(topic for topic in extract.topics if not scrub(topic).findings)
    items = tuple(
        replace(item, files=tuple(path for path in item.files if not tree.hides(path)))
        for item in extract.items
    )
    return replace(extract, items=items, topics=topics)


def _put_digest(store: Store, who: Writer, new: Record) -> Change | None:
    try:
        old = store.get(new.id).record
    except UnknownId:
        return write.add(store, who, new, "digest")
    fresh = {key: new.fields.get(key) for key in ("sections", "tags", "by", "tokens", "commits")}
    body = replaced.with_lines(new.body, replaced.of(old.body))  # what it says of the summary stays
    change = write.update(
        store,
        who,
        old,
        old.change(title=new.title, body=body, **fresh),
        "digest",
        f"summary: digest {new.id}",
    )
    return change if change.written.changed else None


def write_snapshot(desk: SessionServices, session: Session, at: float, why: str) -> bool:
    """Save a session's work as it stands, with what was asked last.

    Say whether that was done: not twice for one moment, nor without anything to save at an end.
    """
    seen = told(parsed(desk.lines(session)))
    id = derived_id("snp", f"snapshot {session.id} {at}")
    try:
        desk.snapshots.get(id)
    except UnknownId:
        pass
    else:
        return False
    last = seen.asked[-1] if seen.asked else ""
    title = f"{why}: {last}" if last else f"{why} of a {session.agent} session"
    who = replace(desk.who, session=session.id)
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
            if session is not None and request.kind == requests.SNAPSHOT:
                done += (
                    [f"{request.kind} of session {session.id[:8]} written"]
                    if write_snapshot(desk, session, request.at, "Before compaction")
                    else []
                )
            if session is not None and (request.kind != requests.SNAPSHOT or session.ended is None):
                # before a compaction too: what was said so far is about to be forgotten
                done += write_digest(desk, session, _Beat(state, request, clock), request.tries)
                if (
                    session.ended is not None
                    and done
                    and write_snapshot(desk, session, session.ended, AT_THE_END)
                ):
                    done.append(f"{requests.SNAPSHOT} of session {session.id[:8]} written")
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
