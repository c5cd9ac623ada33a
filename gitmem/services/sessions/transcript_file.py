"""An agent's transcript, opened so that it can neither hang nor flood whoever reads it.

What its path names is the agent's word: it may be gone, a folder, a pipe, somebody else's, be
written this moment, or have any size.
"""

import io
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.transcripts import reader
from gitmem.transcripts.turn import Turn

# bytes of a transcript that are read at the first try, the second, ...; then none
LIMITS = (256 << 20, 32 << 20, 4 << 20, 4 << 20)
COUNTED = 4 << 30  # bytes before those that are read, of which the lines are counted
STEP = 1 << 20
WHOLE = frozenset({"gemini-document", "state"})  # forms of which an end alone cannot be read


@dataclass(frozen=True, slots=True)
class OpenTranscript:
    """An open transcript: its turns, to be read once, and what of it is left out, in words."""

    turns: Iterator[Turn]
    missing: str = ""


class _TranscriptPart(io.RawIOBase):
    """The next bytes of a file, up to a limit.

    The limit gives an end even to a file that is being written.
    """

    def __init__(self, file: io.FileIO, size: int) -> None:
        self._file = file
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left)) or b""
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)


def limit(tries: int) -> int:
    """Return how many bytes of a transcript are read after a number of failed tries.

    What takes too long must end at some point.
    """
    return LIMITS[tries] if tries < len(LIMITS) else 0


def is_readable(path: str) -> bool:
    """Return whether a transcript may be read.

    It must be this user's own file, be named like a transcript, and not be empty.
    """
    file = _opened(path)
    if file is not None:
        file.close()
    return file is not None


def _opened(path: str) -> io.FileIO | None:
    if not path.endswith((".jsonl", ".json")):
        return None
    try:
        # a pipe must not make it wait
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):  # a name with a zero byte
        return None
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or not facts.st_size:
        os.close(handle)
        return None
    return io.FileIO(handle, "rb")


def open_transcript(path: str, most: int = LIMITS[0], form: str = "auto") -> OpenTranscript | None:
    """Open a transcript as far as it is now: the last `most` bytes of it, the first of a document.

    `form` is one of `reader.READERS` where it is known. None where there is none to be read: what
    an agent writes in a form that is not known is no talk, whatever its lines say.
    """
    file = _opened(path) if most > 0 else None
    if file is None:
        return None
    if form == "auto" and reader.detect(file.read(reader.PEEK), path) == "text":
        file.close()
        return None
    file.seek(0)
    size = os.fstat(file.fileno()).st_size
    if size <= most:
        return OpenTranscript(_turns(file, path, size, form=form))
    whole = reader.detect(file.read(reader.PEEK), path) in WHOLE
    missing = (
        f"Of its transcript of {size >> 20:,} MiB only the {'first' if whole else 'last'} "
        f"{most >> 20} were read."
    )
    return OpenTranscript(_turns(file, path, most, 0 if whole else size - most, form), missing)


def _turns(
    file: io.FileIO, path: str, size: int, skipped: int = 0, form: str = "auto"
) -> Iterator[Turn]:
    with file:
        before = _lines(file, skipped) if skipped else 0
        file.seek(skipped)
        stream = io.BufferedReader(_TranscriptPart(file, size), 1 << 17)
        if skipped:
            while (part := stream.readline(STEP)) and not part.endswith(b"\n"):
                pass  # the rest of a line
        for turn in reader.read(stream, path, form):
            yield replace(turn, line=turn.line + before if before >= 0 else 0) if skipped else turn


def _lines(file: io.FileIO, size: int) -> int:
    """Return how many lines begin in the first bytes of a file.

    The result is -1 if counting is not worth the time.
    """
    if size > COUNTED:
        return -1
    file.seek(0)
    count = 0
    while size > 0 and (data := file.read(min(STEP, size))):
        count += data.count(b"\n")
        size -= len(data)
    return count + 1  # with the one that goes on


__all__: Sequence[str] = ("LIMITS", "OpenTranscript", "is_readable", "limit", "open_transcript")
