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
KNOWN = 20_000  # ids of messages that are told already


def gemini(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a session that is kept as JSON lines."""
    yield from _turns(objects(stream))


def gemini_document(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a session that is kept as one JSON document, or as a list of contents."""
    yield from _turns(members(stream, "messages"))


def _turns(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Turn]:
    waiting: OrderedDict[str, list[Turn]] = OrderedDict()
    told: OrderedDict[str, None] = OrderedDict()
    for line, row in rows:
        back = string(row.get("$rewindTo"))
        if back and back in waiting:  # the user went back: what came after was unsaid
            keys = list(waiting)
            for key in keys[keys.index(back) :]:
                del waiting[key]
            continue
        for message in (row, *sequence(mapping(row.get("$set")).get("messages"))):
            one = mapping(message)
            id = string(one.get("id")) or f"line {line}"
            if id in told:
                continue
            turns = list(_message(line, one))
            if turns or id in waiting:
                waiting[id] = turns
        while len(waiting) > WINDOW:
            key, turns = waiting.popitem(last=False)
            told[key] = None
            if len(told) > KNOWN:
                told.popitem(last=False)
            yield from turns
    for turns in waiting.values():
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
        _SHELL.sub("", "\n".join(one for one in output if one))
        if call.get("name") == "run_shell_command"
        else "\n".join(one for one in output if one)
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
