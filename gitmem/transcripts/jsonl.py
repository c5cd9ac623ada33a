"""Lines of a file of any size, in memory that is bounded.

And JSON values of them, also of a line that is too long to be held.
"""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from gitmem.base.fast import loads

MOST = 4 << 20  # bytes of a line that is read whole
HEAD = 256 << 10  # bytes that are kept of a longer one
_STEP = 1 << 20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?P<ended>")?|[{}\[\]]', re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of a file.

    It has its number, counted from 1, its text, whether all of it is there, and whether its end was
    seen.
    """

    number: int
    text: str
    whole: bool = True
    ended: bool = True


def lines(stream: IO[bytes], most: int = MOST) -> Iterator[JsonLine]:
    """Yield the lines of a stream.

    Of a line of more than `most` bytes comes its beginning; bytes that are not UTF-8 are replaced.
    """
    number = 0
    while data := stream.readline(most + 1):
        number += 1
        ended = data.endswith(b"\n")
        whole = ended or len(data) <= most
        if not whole:
            data = data[:HEAD]
            while rest := stream.readline(_STEP):
                if rest.endswith(b"\n"):
                    ended = True
                    break
        text = data.decode("utf-8", "replace")
        yield JsonLine(
            number,
            (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n"),
            whole,
            ended,
        )


def value(line: JsonLine) -> Any:
    """Return the JSON value of a line; None when it has none.

    Of a line that was cut off: what its beginning says.
    """
    text = line.text.strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        return loads(text if line.whole else healed(text))
    except (ValueError, RecursionError):
        return None


def objects(stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, value) of each JSON object of a stream of JSON lines.

    Other lines, and a half one that is still being written, are passed over.
    """
    for line in lines(stream):
        row = value(line)
        if isinstance(row, dict):
            yield line.number, row


def healed(text: str) -> str:
    """Return the beginning of a JSON text with its open string, lists and objects closed."""
    open_: list[str] = []
    end = ""
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in "{[":
            open_.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if open_:
                open_.pop()
        elif not token["ended"]:
            end = '"'
    return _HALF_ESCAPE.sub("", text) + end + "".join(reversed(open_))


def replayed(head: bytes, stream: IO[bytes]) -> IO[bytes]:
    """Return a stream that begins with what was already read of another."""
    return io.BufferedReader(_Replay(head, stream), 1 << 17)


class _Replay(io.RawIOBase):
    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            data, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            data = self._rest.read(len(buffer)) or b""
        buffer[: len(data)] = data
        return len(data)


class Utf8(io.RawIOBase):
    """A stream that passes on another one's bytes and knows if all were UTF-8 so far."""

    def __init__(self, rest: IO[bytes]) -> None:
        self.broken = False
        self._rest = rest
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what comes next."""
        data = self._rest.read(len(buffer)) or b""
        if not self.broken:
            try:
                self._decoder.decode(data, final=not data)
            except UnicodeDecodeError:
                self.broken = True
        buffer[: len(data)] = data
        return len(data)
