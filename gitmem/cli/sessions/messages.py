"""A conversation that is given to a command as a file.

The file holds a JSON list of messages, an object that holds such a list, or one message per line.
"""

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import UserError

SIZE = 64 << 20  # bytes that are looked at
# where an object holds its messages
LISTS = ("messages", "history", "interactions", "conversation")
FORM = 'Give a JSON list of messages, or a message a line: {"role": "user", "content": "*develop"}'


def messages(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the messages of a file, `-` is standard input; raises UserError.

    It may block: a pipe, a slow disk.
    """
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            text = file.read(SIZE).decode("utf-8", "replace").removeprefix("\ufeff").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "that is not a file's name"
        raise UserError(
            f"the conversation '{name}' cannot be read: {why}.",
            "Check the path given with --history; '-' is standard input.",
        ) from error
    parsed = _parsed(text, name)
    if isinstance(parsed, dict):
        parsed = next((parsed[key] for key in LISTS if isinstance(parsed.get(key), list)), [parsed])
    # an agent's own transcript has the message inside of a line
    some = (
        [message for message in parsed if isinstance(message, dict)]
        if isinstance(parsed, list)
        else []
    )
    return [
        message["message"] if isinstance(message.get("message"), dict) else message
        for message in some
    ]


def _parsed(text: str, name: str) -> Any:
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text or "[]")
    out = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            out.append(json.loads(line))
    if not out:
        raise UserError(f"the conversation '{name}' is not JSON: it holds no messages.", FORM)
    return out
