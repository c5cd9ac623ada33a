"""Read the transcript of a past session as the end of a session would have.

What it taught has the time when it was said. Its record says that it was read later.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from gitmem.clock import seconds, stamp
from gitmem.errors import GitmemError
from gitmem.records.record import Record
from gitmem.redaction.mask import scrub
from gitmem.services.sessions.outcome import (
    ReadTurns,
    SessionOutcome,
    SessionServices,
    outcome_of,
    read_turns,
    write_outcome,
)
from gitmem.services.sessions.past_choice import IMPORTED
from gitmem.services.sessions.past_transcripts import PastTranscript
from gitmem.services.sessions.session_record import SessionAccount
from gitmem.services.sessions.transcript_file import open_transcript
from gitmem.state.sessions import Session
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

EDITS = frozenset(
    {"Edit", "MultiEdit", "Write", "NotebookEdit", "replace", "write_file", "apply_patch"}
)
QUOTED = 2000  # characters of a text that a record may quote a part of


@dataclass(slots=True)
class PastSession:
    """What a past session was about, and what it adds to what is known."""

    session: Session
    account: SessionAccount
    outcome: SessionOutcome

    @property
    def title(self) -> str:
        """The first words that its user said."""
        return self.account.asked[0] if self.account.asked else ""

    @property
    def made(self) -> list[Record]:
        """The facts that are new."""
        return [record for record, _ in self.outcome.new.learned.made]


def read_past(
    desk: SessionServices, transcript: PastTranscript, beat: Callable[[], None] = lambda: None
) -> PastSession | None:
    """Return what a past session taught; None where nothing happened in it. Nothing is written.

    Raises ValueError for what cannot be read.
    """
    opened = open_transcript(transcript.path, form=transcript.agent)
    if opened is None:
        raise ValueError("it cannot be opened")
    times = _Times(transcript.began, desk.who.clock.now())
    account = SessionAccount(transcript.root)
    watch = _Watch(account, transcript.root, desk.who.allow)
    turns = times.dated(opened.turns)
    try:
        read = read_turns(desk, transcript.root, turns, beat, watched=watch.watched)
    except GitmemError:
        raise
    except Exception as error:
        # one of an odd kind must not cost the others theirs
        raise ValueError(f"reading it failed: {type(error).__name__}") from error
    if account.empty or (account.trivial and not read.counted.matters):
        return None
    return _session_of(desk, transcript, account, times, read, opened.missing)


def _session_of(
    desk: SessionServices,
    transcript: PastTranscript,
    account: SessionAccount,
    times: "_Times",
    read: ReadTurns,
    missing: str,
) -> PastSession:
    session = Session(
        transcript.session,
        transcript.agent,
        times.first,
        times.last,
        "",
        times.last,
        None,
        transcript.root,
        transcript.path,
        None,
    )
    account.answer = scrub(account.answer[:QUOTED], desk.who.allow).text
    where = f"the transcript of session {transcript.session}"
    return PastSession(session, account, outcome_of(desk, session, read, where, missing))


def write_past(desk: SessionServices, past: PastSession) -> bool:
    """Write what a past session left, as one commit; return whether it has a record."""
    imported: dict[str, Any] = {IMPORTED: {"format": past.session.agent}}
    with desk.single_commit():
        write_outcome(desk, past.session, past.account, past.outcome, **imported)
    return desk.records is not None


class _Times:
    """The times of a transcript's turns: the first and the last, in epoch seconds."""

    def __init__(self, began: float, now: float) -> None:
        self.first = self.last = min(began, now)
        self._now = now
        self._is_empty = True

    def dated(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield turns with a time each: without one of its own that of the turn before.

        What claims to be said later than now is of now.
        """
        for turn in turns:
            try:
                at = min(seconds(turn.at), self._now)
            except ValueError:
                at = self.last
            self.first = at if self._is_empty else min(self.first, at)
            self.last = at if self._is_empty else max(self.last, at)
            self._is_empty = False
            yield replace(turn, at=stamp(at))


class _Watch:
    """Tells an account of a session what its turns are, as a history would."""

    def __init__(self, account: SessionAccount, root: str, allow: Iterable[str]) -> None:
        self._account = account
        self._root = root
        self._allow = tuple(allow)

    def watched(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        """Pass on turns."""
        for turn in turns:
            if not turn.side:
                self._tell(turn)
            yield turn

    def _tell(self, turn: Turn) -> None:
        if turn.role == USER and turn.text:
            self._add("PromptSubmit", self._masked(turn.text[:QUOTED]))
        elif turn.role == ASSISTANT and turn.text:
            self._add("TurnEnd", turn.text)
        elif turn.role == TOOL and turn.failed:
            said = f"{turn.command}\n{turn.text[-QUOTED:]}" if turn.command else turn.tool
            self._add("ToolFailed", self._masked(said))
        elif turn.role == TOOL:
            action = "edit" if turn.tool in EDITS else "read"
            files = [path for path in turn.files if self._is_inside(path)]
            self._add("AfterTool", self._masked(turn.command), action=action, files=files)

    def _masked(self, text: str) -> str:
        return scrub(text, self._allow).text if text else ""

    def _is_inside(self, path: str) -> bool:
        """Return whether a path is one of the work tree, from its root."""
        return not os.path.isabs(path) and not path.startswith("..")

    def _add(self, event: str, content: str, **metadata: Any) -> None:
        self._account.add({"content": content, "metadata": {"event": event, **metadata}})
