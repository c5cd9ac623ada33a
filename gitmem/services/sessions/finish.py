"""What a session leaves when it is over, or before a compaction.

It leaves a record, what it taught as proposals, and a snapshot of its work.

The history is our own file (`hooks.session_log`); what was said in between is in the agent's
transcript, where there is one that can be read.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gitmem.base.processes import is_gone, own
from gitmem.clock import Clock
from gitmem.errors import UnknownId
from gitmem.records.kinds import derived_id
from gitmem.services.session_log.reader import parsed
from gitmem.services.sessions import transcript_file
from gitmem.services.sessions.forgetting import is_forgotten
from gitmem.services.sessions.outcome import (
    SessionServices,
    outcome_of,
    read_turns,
    write_outcome,
)
from gitmem.services.sessions.session_record import SessionAccount
from gitmem.services.snapshots.save import SaveContext
from gitmem.state import requests, sessions
from gitmem.state.database import State
from gitmem.state.sessions import Session
from gitmem.store.rejected import rejected_in
from gitmem.transcripts import reader
from gitmem.transcripts.turn import Turn

TRIED = 86400.0  # seconds that a request which fails is tried again
BEAT = 20.0  # seconds between two of them that are written down
AT_THE_END = "At the end"
Row = Mapping[str, Any]


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
    transcript = transcript_file.open_transcript(session.transcript, most)
    if transcript is not None:
        return (
            _both(transcript.turns, lines(session)),
            f"the transcript of session {session.id}",
            transcript.missing,
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


def account_of(rows: Iterable[Row], root: str) -> SessionAccount:
    """Return what the history of a session in the work tree `root` tells."""
    out = SessionAccount(root)
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
    account = account_of(parsed(desk.lines(session)), session.root)
    if account.empty or is_forgotten(desk.snapshots, session.id):
        return []
    said, where, missing = turns(session, desk.lines, transcript_file.limit(tries))
    read = read_turns(desk, session.root, said, beat)
    account.answer = account.answer or read.counted.answer  # some hooks do not tell it
    # what an answer to a greeting repeats of what is known is not news
    if account.trivial and not read.counted.matters:
        return []
    return write_outcome(desk, session, account, outcome_of(desk, session, read, where, missing))


def write_snapshot(desk: SessionServices, session: Session, at: float, why: str) -> bool:
    """Save a session's work as it stands, with what was asked last.

    Say whether that was done: not twice for one moment, nor without anything to save at an end.
    """
    seen = account_of(parsed(desk.lines(session)), session.root)
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
                with desk.single_commit():
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
