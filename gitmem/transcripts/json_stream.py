"""The objects of one list in a JSON document of any size, one by one in bounded memory."""

import re
from collections.abc import Iterator
from typing import IO, Any

from gitmem.base.fast import loads
from gitmem.transcripts.jsonl import HEAD, MOST, healed

_STEP = 1 << 16
_MARK = re.compile(rb'["{}\[\]]')
_QUOTE = re.compile(rb'["\\]')


def members(  # noqa: C901
    stream: IO[bytes], name: str, *, every: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, value) of each object in the list `name` of a document.

    The document may also be the list itself.

    With `every` the document may be a list of such documents, and the lists of all are read. Of an
    object of more than 4 MiB comes what its beginning says. A document that ends in the middle has
    the objects before.
    """
    key = f'"{name}"'.encode()
    deep = 0  # of brackets around the place that is read
    level = 0  # the depth at which objects are members; 0 before the list
    text = False  # in a string
    kept: bytearray | None = None  # the object that is read, as far as it goes
    long = False
    line = start = 1
    last = b""  # the string that was read last: it names what comes next
    string = bytearray()
    skip = False  # a backslash was the last byte of a step
    while step := stream.read(_STEP):
        at = 0
        if skip:
            at, skip = 1, False
        taken = 0  # up to here the step is in `kept`
        counted = 0
        while at < len(step):
            found = (_QUOTE if text else _MARK).search(step, at)
            if found is None:
                if text and len(string) < 64:
                    string += step[at:][:64]
                break
            here, mark = found.start(), found.group()
            if text:
                if len(string) < 64:
                    string += step[at:here][:64]
                if mark == b"\\":
                    at = here + 2
                    skip = at > len(step)
                    continue
                text = False
                last = b'"' + bytes(string) + b'"'
            elif mark == b'"':
                text = True
                string.clear()
            elif mark in b"{[":
                deep += 1
                if (
                    not level
                    and mark == b"["
                    and (
                        last == key and deep in (2, 3)
                        if every
                        else deep == 1 or (deep == 2 and last == key)
                    )
                ):
                    level = deep
                elif level and deep == level + 1 and mark == b"{":
                    line += step.count(b"\n", counted, here)
                    counted = here
                    start, kept, long, taken = line, bytearray(), False, here
            else:
                deep -= 1
                if level and deep < level:
                    if not every:
                        return
                    level = 0
                if kept is not None and deep == level:
                    kept += step[taken : here + 1]
                    value = _value(bytes(kept), long)
                    if value is not None:
                        yield start, value
                    kept = None
            at = here + 1
        line += step.count(b"\n", counted)
        if kept is not None and not long:
            kept += step[taken:]
            if len(kept) > MOST:
                long = True
                del kept[HEAD:]


def _value(data: bytes, long: bool) -> dict[str, Any] | None:
    text = data.decode("utf-8", "replace")
    try:
        found = loads(healed(text[: HEAD // 2]) if long else text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
