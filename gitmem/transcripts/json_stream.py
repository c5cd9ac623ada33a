"""The objects of one list in a JSON document of any size, one by one in bounded memory."""

import re
from collections.abc import Iterator
from typing import IO, Any

from gitmem.base.fast import loads
from gitmem.transcripts.jsonl import HEAD, MOST, healed

_STEP = 1 << 16
_STRING = rb'(?P<text>(?:[^"\\]++|\\.)*+)(?P<quote>"?)'  # after its first quote, as far as it goes
_TOKEN = re.compile(rb'(?P<open>[{\[])|(?P<close>[}\]])|"' + _STRING, re.DOTALL)
_REST = re.compile(_STRING, re.DOTALL)


def members(
    stream: IO[bytes], name: str, *, every: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, value) of each object in the list `name` of a document.

    The document may also be the list itself.

    With `every` the document may be a list of such documents, and the lists of all are read. Of an
    object of more than 4 MiB comes what its beginning says. A document that ends in the middle has
    the objects before.
    """
    document = _Document(name.encode(), every)
    while not document.ended and (step := stream.read(_STEP)):
        yield from document.read(step)


class _Document:
    """A document that is read in steps: where its list is, and the object that is read."""

    def __init__(self, name: bytes, every: bool) -> None:
        self.ended = False  # the list is over
        self._name = name
        self._every = every
        self._depth = 0  # of brackets around the place that is read
        self._level = 0  # the depth at which objects are members; 0 outside of the list
        self._string = b""  # the string that was read last: it names what comes next
        self._in_string = False
        self._escaped = False  # a backslash was the last byte of a step
        self._kept: bytearray | None = None  # the object that is read, as far as it goes
        self._long = False
        self._taken = 0  # up to here the step is in `_kept`
        self._counted = 0  # up to here the lines of the step are in `_line`
        self._line = self._start = 1

    def read(self, step: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects that end in the next bytes."""
        self._taken = self._counted = 0
        for token in _TOKEN.finditer(step, self._end_of_string(step)):
            kind = token.lastgroup
            if kind == "open":
                self._open(step, token.start())
            elif kind == "close":
                value = self._close(step, token.end())
                if value is not None:
                    yield self._start, value
                if self.ended:
                    return
            else:
                self._string = token["text"]
                self._end_or_carry(step, token)
        self._line += step.count(b"\n", self._counted)
        self._carry_object(step)

    def _end_of_string(self, step: bytes) -> int:
        """Return where the string that began in a step before is over."""
        if not self._in_string:
            return 0
        rest = _REST.match(step, int(self._escaped))
        assert rest is not None  # it may be empty
        if len(self._string) <= len(self._name):
            self._string += rest["text"]
        self._end_or_carry(step, rest)
        return rest.end()

    def _end_or_carry(self, step: bytes, string: re.Match[bytes]) -> None:
        self._in_string = not string["quote"]
        self._escaped = self._in_string and string.end() < len(step)

    def _open(self, step: bytes, at: int) -> None:
        self._depth += 1
        is_object = step[at] == b"{"[0]
        if not self._level:
            if not is_object and self._is_list():
                self._level = self._depth
        elif is_object and self._depth == self._level + 1:
            self._line += step.count(b"\n", self._counted, at)
            self._start, self._counted = self._line, at
            self._kept, self._long, self._taken = bytearray(), False, at

    def _is_list(self) -> bool:
        """Return whether the list that begins here is the one whose objects are wanted."""
        named = self._string == self._name
        if self._every:
            return named and self._depth in (2, 3)
        return self._depth == 1 or (named and self._depth == 2)

    def _close(self, step: bytes, end: int) -> dict[str, Any] | None:
        """Return the object that ends here, None if none does."""
        self._depth -= 1
        if self._level and self._depth < self._level:
            self._level, self.ended = 0, not self._every
        if self._kept is None or self._depth != self._level:
            return None
        data, self._kept = bytes(self._kept + step[self._taken : end]), None
        return _value(data, self._long)

    def _carry_object(self, step: bytes) -> None:
        """Keep what the step has of an object that goes on, of a long one its beginning."""
        if self._kept is not None and not self._long:
            self._kept += step[self._taken :]
            if len(self._kept) > MOST:
                self._long = True
                del self._kept[HEAD:]


def _value(data: bytes, long: bool) -> dict[str, Any] | None:
    text = data.decode("utf-8", "replace")
    try:
        value = loads(healed(text[: HEAD // 2]) if long else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
