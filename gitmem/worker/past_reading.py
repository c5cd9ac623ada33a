"""Past sessions are read, and what they taught is written: gives the services what they need."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from gitmem.app import App
from gitmem.base.files import Lock
from gitmem.errors import Busy
from gitmem.services.session_log import changes
from gitmem.services.sessions.outcome import SessionServices
from gitmem.services.sessions.past_choice import PastChoice
from gitmem.services.sessions.past_reading import read_past, write_past
from gitmem.services.sessions.past_transcripts import PastTranscript
from gitmem.state import past_transcripts as noted
from gitmem.state.past_transcripts import TranscriptReading
from gitmem.worker import session_jobs

Progress = Callable[[int, int], None] | None
LOCK = "past-sessions.lock"
PATIENCE = 2.0  # seconds that a second import waits for the first one


def past_desk(app: App, *, dry: bool = False) -> SessionServices:
    """Return what reads past sessions: as the end of a session does, and all of it is private.

    A `dry` one asks no model.
    """
    desk = session_jobs.desk(app)
    desk = replace(
        desk,
        published=None,
        proposals=app.store("private"),
        lines=lambda _: (),
        before=lambda session: session.started,
        commits=lambda _: None,
        injected=lambda _: frozenset(),
    )
    return replace(desk, extract=lambda turns, _: changes.extract(turns)) if dry else desk


@contextmanager
def alone(app: App) -> Iterator[None]:
    """Keep other imports of sessions from reading the same ones meanwhile. Raises Busy."""
    lock = Lock(app.home.touch(LOCK), PATIENCE)
    try:
        lock.__enter__()
    except Busy as error:
        raise Busy(
            "another 'git mem import sessions' runs here.",
            "Run this again when it has ended.",
        ) from error
    try:
        yield
    finally:
        lock.__exit__()


class SessionRow(NamedTuple):
    """A past session that was read: its first words, and the ids of its proposals.

    `failure` says why it could not be read.
    """

    transcript: PastTranscript
    started: float
    title: str = ""
    proposals: tuple[str, ...] = ()
    failure: str = ""


def read_sessions(
    app: App, choice: PastChoice, *, dry: bool = False, progress: Progress = None
) -> list[SessionRow]:
    """Read past sessions, oldest first, and unless `dry` write what each taught, as one commit.

    Whoever is stopped has lost nothing: the next import goes on. Raises Busy while another import
    is at work.
    """
    desk, rows, total = past_desk(app, dry=dry), list[SessionRow](), len(choice.chosen)
    seen = set[str]()
    with nullcontext() if dry else alone(app):
        for number, transcript in enumerate(choice.chosen):
            if progress:
                progress(number, total)
            row = _read(app, desk, transcript, dry=dry)
            rows.append(row._replace(proposals=tuple(id for id in row.proposals if id not in seen)))
            seen.update(row.proposals)
        if progress:
            progress(total, total)
    return rows


def _read(app: App, desk: SessionServices, transcript: PastTranscript, *, dry: bool) -> SessionRow:
    try:
        past = read_past(desk, transcript)
    except ValueError as error:
        return SessionRow(transcript, transcript.began, failure=str(error))
    if not dry:
        has_record = past is not None and write_past(desk, past)
        reading = TranscriptReading(transcript.size, transcript.changed, has_record)
        noted.note(app.state, transcript.agent, transcript.session, reading)
    if past is None:
        return SessionRow(transcript, transcript.began)
    ids = tuple(record.id for record in past.made)
    return SessionRow(transcript, past.session.started, past.title, ids)
