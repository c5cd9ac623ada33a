"""Paths as git prints them."""

import os
import re

_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
    b'"': b'"',
    b"\\": b"\\",
}


def unquoted(name: bytes) -> str:
    """Return a path as git prints it, with or without quotes."""
    if name.startswith(b'"') and name.endswith(b'"') and len(name) > 1:
        name = _ESCAPE.sub(lambda m: _ESCAPES.get(m[1]) or bytes([int(m[1], 8) & 255]), name[1:-1])
    return os.fsdecode(name)
