"""Transcripts of GitHub Copilot CLI: `events.jsonl`, one event a line, with its fields in `data`.

What is no message and no use of a tool is not said by anybody: the prompt of the CLI itself
(`system.message`), what hooks were called with, and the state of the session. An event of a
subagent names it as `agentId`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import IO, Any

from gitmem.transcripts.cleanup import mapping, number, said, string
from gitmem.transcripts.jsonl import objects
from gitmem.transcripts.tool_calls import used
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

OPEN_CALLS = 256  # uses of tools that have not ended yet
KINDS = ("session.", "user.", "assistant.", "system.", "tool.", "hook.", "subagent.")
_NOTICE = "<system_notification>"  # begins what comes as a prompt though nobody wrote it

Call = tuple[int, str, dict[str, Any], str, bool]


def is_event(row: dict[str, Any]) -> bool:
    """Return whether a JSON object is a line of such a file."""
    kind = string(row.get("type"))
    return kind.startswith(KINDS) and isinstance(row.get("data"), dict) and "parentId" in row


def copilot(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a session."""
    reading = _CopilotReading()
    for line, row in objects(stream):
        yield from reading.row(line, row)
    for call in reading.calls.values():
        yield reading.ended(call, "", None)


class _CopilotReading:
    """The uses of tools that have not ended, and where the session works."""

    def __init__(self) -> None:
        self.calls: OrderedDict[str, Call] = OrderedDict()
        self.root = ""

    def row(self, line: int, row: dict[str, Any]) -> Iterator[Turn]:
        kind, data = string(row.get("type")), mapping(row.get("data"))
        at, side = string(row.get("timestamp")), bool(string(row.get("agentId")))
        if kind in ("session.start", "session.resume"):
            where = mapping(data.get("context"))
            root = string(where.get("gitRoot")) or string(where.get("cwd"))
            self.root = self.root or root.replace("\\", "/")
        elif kind in ("user.message", "assistant.message", "session.usage_record"):
            role = USER if kind == "user.message" else ASSISTANT
            turn = Turn(role, _words(data), at, line, side=side, tokens=_spent(data))
            if turn.text or turn.tokens:
                yield turn
        elif kind == "tool.execution_start":
            tool, given = string(data.get("toolName")), mapping(data.get("arguments"))
            self.calls[string(data.get("toolCallId"))] = (line, tool, given, at, side)
            if len(self.calls) > OPEN_CALLS:
                yield self.ended(self.calls.popitem(last=False)[1], "", None)
        elif kind == "tool.execution_complete":
            missing: Call = (line, "", {}, at, side)
            call = self.calls.pop(string(data.get("toolCallId")), missing)
            yield self.ended(call, _output(data), _failed(data), line)

    def ended(self, call: Call, output: str, failed: bool | None, line: int = 0) -> Turn:
        """Return a use of a tool as a turn; `line` is where its end stands."""
        began, tool, given, at, side = call
        return used(tool, given, output, failed, self.root, at=at, line=line or began, side=side)


def _words(data: dict[str, Any]) -> str:
    """Return what somebody said in a message."""
    text = said(string(data.get("content")))
    return "" if text.startswith(_NOTICE) else text


def _spent(data: dict[str, Any]) -> int:
    """Return the tokens of a request to the model, in and out."""
    usage = mapping(data.get("usage"))
    return number(usage.get("inputTokens")) + number(usage.get("outputTokens"))


def _output(data: dict[str, Any]) -> str:
    """Return what a tool printed, without the line by which the CLI tells the model its end."""
    error = string(mapping(data.get("error")).get("message"))
    text = string(mapping(data.get("result")).get("content")) or error
    body, _, end = text.rpartition("\n<")
    return body if end.startswith("shellId: ") else text


def _failed(data: dict[str, Any]) -> bool | None:
    """Return whether a tool failed; a command failed by its exit code, though it was run."""
    code = mapping(data.get("shellExecution")).get("exitCode")
    if isinstance(code, int):
        return code != 0
    success = data.get("success")
    return not success if isinstance(success, bool) else None
