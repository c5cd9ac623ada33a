"""The names that the macros of C and C++ put in their places, which no parser reads. Pure."""

import re
from collections.abc import Iterator
from typing import Any

# what is of no interest, then a name, with `::` between its parts
_TOKEN = re.compile(
    rb"""
    "(?:[^"\\\n]|\\.)*+"? | '(?:[^'\\\n]|\\.)*+'? | //[^\n]*+
    | (?:\.|->)\s*+\w++  # a member
    | \d[\w.']*+
    | \#\s*+\w++  # in quotes, or joined to what is before it
    | ([^\W\d]\w*+(?:::[^\W\d]\w*+)*+)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = frozenset(
    b"auto break case char const continue default do double else enum extern float for goto if"
    b" inline int long register return short signed sizeof static struct switch typedef union"
    b" unsigned void volatile while".split()
)


def names(body: Any) -> Iterator[tuple[bytes, int, int]]:
    """Yield (key, begin, end) of the names in a macro's body, but for its parameters.

    What is called like the macro itself cannot be the macro: it is a member of something unknown.
    """
    parameters = body.parent.child_by_field_name("parameters")
    own = {node.text for node in parameters.named_children} if parameters is not None else set()
    itself = body.parent.child_by_field_name("name")
    text = body.text
    for match in _TOKEN.finditer(text):
        name = match[1]
        if name is None or name in own or name in _WORDS or _is_pasted(text, match.end()):
            continue
        key = name.replace(b"::", b".")
        if itself is not None and name == itself.text:
            key = b"." + name
        yield key, body.start_byte + match.start(1), body.start_byte + match.end(1)


def _is_pasted(text: bytes, end: int) -> bool:
    """Say whether a name is joined to what comes behind it: `name##_t`."""
    return text[end : end + 16].lstrip().startswith(b"##")
