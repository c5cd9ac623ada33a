"""Transcripts of past sessions that were read, as they were then: read again they add nothing."""

from typing import NamedTuple

from gitmem.base.sqlite import healing
from gitmem.state.database import State


class TranscriptReading(NamedTuple):
    """A transcript when it was read: its bytes, and when it was written last, in nanoseconds.

    `has_record` is whether the session left a record: if that is gone, it may be read again.
    """

    size: int
    changed: int
    has_record: bool


@healing
def readings(state: State) -> dict[tuple[str, str], TranscriptReading]:
    """Return {(agent, session): how it was read}."""
    sql = "SELECT agent, session, size, changed, has_record FROM past_transcripts"
    return {
        (agent, session): TranscriptReading(size, changed, bool(has_record))
        for agent, session, size, changed, has_record in state.db.execute(sql)
    }


@healing
def note(state: State, agent: str, session: str, reading: TranscriptReading) -> None:
    """Note that the transcript of an agent's session was read."""
    sql = "INSERT OR REPLACE INTO past_transcripts VALUES (?, ?, ?, ?, ?)"
    state.db.execute(sql, (agent, session, *reading))
