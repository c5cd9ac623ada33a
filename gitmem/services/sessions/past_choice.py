"""Which past sessions are still to be read: those that nobody recorded, forgot, or runs now."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from gitmem.records.kinds import session_record_id
from gitmem.records.record import Record
from gitmem.services.sessions.past_transcripts import PastTranscript
from gitmem.state.past_transcripts import TranscriptReading
from gitmem.state.sessions import shared_id

OPEN, RECORDED, FORGOTTEN, RUNNING, READ = "open", "recorded", "forgotten", "running", "read"
IMPORTED = "imported"  # the field of a session's record that says that its transcript was read
RESTS = 300.0  # seconds after which a transcript that nobody wrote to is not of a running session


@dataclass(frozen=True, slots=True)
class KnownSessions:
    """What is known of sessions: by hooks, by records, by earlier readings of transcripts.

    `records` and `forgotten` are ids of records, `hooked` and `running` of sessions. `is_past`
    says whether the record with an id was made of a past transcript. `now` is in epoch seconds.
    """

    hooked: Collection[str]
    records: Collection[str]
    forgotten: Collection[str]
    running: Collection[str]
    readings: Mapping[tuple[str, str], TranscriptReading]
    is_past: Callable[[str], bool]
    now: float

    def standing(self, transcript: PastTranscript) -> str:
        """Return whether a transcript is open, or why it is not read."""
        record = session_record_id(transcript.session)
        if record in self.forgotten:
            return FORGOTTEN
        ids = {transcript.session, shared_id(transcript.session, transcript.agent)}
        if not ids.isdisjoint(self.hooked):
            return RECORDED
        is_fresh = abs(self.now - transcript.changed / 1e9) < RESTS
        if is_fresh or transcript.session in self.running:
            return RUNNING
        return self._reading_of(transcript, record)

    def _reading_of(self, transcript: PastTranscript, record: str) -> str:
        reading = self.readings.get((transcript.agent, transcript.session))
        is_there = record in self.records
        if reading is None:
            return RECORDED if is_there and not self.is_past(record) else OPEN
        is_same = (reading.size, reading.changed) == (transcript.size, transcript.changed)
        return READ if is_same and (is_there or not reading.has_record) else OPEN


def is_past(record: Record) -> bool:
    """Return whether the record of a session was made of its transcript, and not by hooks."""
    return bool(record.fields.get(IMPORTED))


@dataclass(frozen=True, slots=True)
class PastChoice:
    """The transcripts to be read, oldest first, and how many others there are, by their standing.

    `later` are open ones beyond the limit.
    """

    chosen: list[PastTranscript]
    later: list[PastTranscript]
    others: Counter[str] = field(default_factory=Counter)


def choose(
    transcripts: Iterable[PastTranscript], recorded: KnownSessions, limit: int
) -> PastChoice:
    """Choose the first `limit` open ones of the transcripts, which are in the order of choice.

    They are read oldest first, so that what a later session says of an earlier one counts.
    """
    still_open: list[PastTranscript] = []
    others: Counter[str] = Counter()
    for transcript in transcripts:
        standing = recorded.standing(transcript)
        if standing == OPEN:
            still_open.append(transcript)
        else:
            others[standing] += 1
    chosen = sorted(still_open[:limit], key=lambda transcript: (transcript.began, transcript.path))
    return PastChoice(chosen, still_open[limit:], others)
