"""Sessions of Gemini CLI: JSON lines, or one JSON document with `messages`.

A line replaces an earlier one with its id.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import IO, Any

from gitmem.transcripts.cleanup import mapping, number, said, sequence, string, texts
from gitmem.transcripts.json_stream import members
from gitmem.transcripts.jsonl import objects
from gitmem.transcripts.tool_calls import used
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

_SHELL = re.compile(
    r"(?m)^(?:Output: (?!\(empty\))|Process Group PGID: .*$|Background PIDs: .*$|Error: \(none\)$"
    r"|Signal: .*$)"
)
# what the CLI itself tells its model in the user's place
OWN = ("System: Potential loop detected.", "System: Please continue.")
WINDOW = 64  # messages that a later line may still replace
PASSED = 20_000  # ids of messages that no line replaces any more


def gemini(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a session that is kept as JSON lines."""
    yield from _turns(objects(stream))


def gemini_document(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a session that is kept as one JSON document, or as a list of contents."""
    yield from _turns(members(stream, "messages"))


def _turns(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Turn]:
    window = _NewestMessages()
    for line, row in rows:
        back = string(row.get("$rewindTo"))
        if back and window.rewind(back):
            continue
        for value in (row, *sequence(mapping(row.get("$set")).get("messages"))):
            message = mapping(value)
            window.put(string(message.get("id")) or f"line {line}", line, message)
        yield from window.past(WINDOW)
    yield from window.past(0)


class _NewestMessages:
    """The newest messages, which later lines may still replace or take back."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, list[Turn]] = OrderedDict()
        self._passed: OrderedDict[str, None] = OrderedDict()  # ids of messages that went out

    def rewind(self, id: str) -> bool:
        """Take back a message and what came after it; return whether it was here."""
        if id not in self._waiting:
            return False
        ids = list(self._waiting)
        for later in ids[ids.index(id) :]:
            del self._waiting[later]
        return True

    def put(self, id: str, line: int, message: dict[str, Any]) -> None:
        """Put in the turns of a message, in the place of an earlier one with its id."""
        if id in self._passed:
            return
        turns = list(_message(line, message))
        if turns or id in self._waiting:
            self._waiting[id] = turns

    def past(self, most: int) -> Iterator[Turn]:
        """Yield the turns of the oldest messages until at most so many wait."""
        while len(self._waiting) > most:
            id, turns = self._waiting.popitem(last=False)
            self._passed[id] = None
            if len(self._passed) > PASSED:
                self._passed.popitem(last=False)
            yield from turns


def _message(line: int, row: dict[str, Any]) -> Iterator[Turn]:
    kind = string(row.get("type")) or string(row.get("role"))
    at = string(row.get("timestamp"))
    content = row.get("content") if "content" in row else row.get("parts")
    text = said(texts(content))
    if kind == "user":
        if text and not text.startswith(OWN):
            yield Turn(USER, text, at, line)
    elif kind in ("gemini", "model", "assistant"):
        spent = mapping(row.get("tokens"))
        total = number(spent.get("total")) or number(spent.get("input")) + number(
            spent.get("output")
        )
        if text or total:
            yield Turn(ASSISTANT, text, at, line, tokens=total)
        for call in sequence(row.get("toolCalls")):
            yield _call(line, mapping(call))


def _call(line: int, call: dict[str, Any]) -> Turn:
    """Return one use of a tool.

    A command that fails is a success to Gemini CLI; its output tells.
    """
    output = []
    failed: bool | None = {"success": None, "error": True, "cancelled": True}.get(
        string(call.get("status"))
    )
    result = call.get("result")
    for part in result if isinstance(result, list) else [result]:
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        if string(response.get("error")):
            failed = True
        output.append(texts(response.get("output")) or texts(response.get("error")) or texts(part))
    text = (
        _SHELL.sub("", "\n".join(part for part in output if part))
        if call.get("name") == "run_shell_command"
        else "\n".join(part for part in output if part)
    )
    turn = used(
        string(call.get("name")),
        mapping(call.get("args")),
        text,
        failed,
        at=string(call.get("timestamp")),
        line=line,
    )
    if turn.failed is None and call.get("status") == "success":
        from dataclasses import replace

        return replace(turn, failed=False)
    return turn
