"""Our own histories of sessions, one event a line (docs/sessions.md), and exported.

And other JSON lines with a role and a content.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import IO, Any

from gitmem.transcripts.cleanup import mapping, number, printed, said, sequence, string, texts
from gitmem.transcripts.json_stream import members
from gitmem.transcripts.jsonl import objects
from gitmem.transcripts.turn import ASSISTANT, NOTE, SYSTEM, TOOL, USER, Turn

MARKED = {"Mark", "Note"}
_ROLES = {
    "user": USER,
    "human": USER,
    "assistant": ASSISTANT,
    "model": ASSISTANT,
    "ai": ASSISTANT,
    "system": SYSTEM,
    "tool": TOOL,
}
CALLS = 256


def history(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a history."""
    yield from _turns(objects(stream))


def exported(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of sessions that `git mem session export` wrote.

    The input is one JSON document, or a list of them.
    """
    yield from _turns(members(stream, "interactions", every=True))


def _turns(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Turn]:
    tools = _ToolRows()
    for line, row in rows:
        role = _ROLES.get(string(row.get("role")).lower())
        if role is None:
            continue
        facts = mapping(row.get("metadata"))
        marked = facts.get("event") in MARKED or facts.get("marked") is True
        if role == TOOL and not marked:
            turn = tools.turn(line, row, facts)
        else:
            turn = _spoken(role, line, row, facts, marked=marked)
        if turn:
            yield turn


def _spoken(
    role: str, line: int, row: dict[str, Any], facts: dict[str, Any], *, marked: bool
) -> Turn | None:
    """Return what somebody said, None if a row has no words, or those of the system."""
    text = said(texts(row.get("content")))
    if not text or (role == SYSTEM and not marked):
        return None
    return Turn(
        role,
        text,
        string(row.get("timestamp")),
        line,
        NOTE if facts.get("event") == "Note" else "",
        files=_files(facts),
        marked=marked,
        side=bool(facts.get("agent_id")),
        tokens=number(facts.get("tokens")),
    )


def _files(facts: dict[str, Any]) -> tuple[str, ...]:
    return tuple(path for path in sequence(facts.get("files"))[:20] if isinstance(path, str))


class _ToolRows:
    """The rows of tools: what comes after a use has its command and its output in one text."""

    def __init__(self) -> None:
        self._commands: OrderedDict[str, str] = OrderedDict()  # of the uses that have not ended

    def turn(self, line: int, row: dict[str, Any], facts: dict[str, Any]) -> Turn | None:
        """Return the use of a tool that ends with a row, None if none does."""
        content = texts(row.get("content"))
        event, call = string(facts.get("event")), string(facts.get("call"))
        is_command = facts.get("action") == "command"
        if event == "BeforeTool":
            if is_command and call and content:
                self._begin(call, content)
            return None
        begun = self._commands.pop(call, "")
        command = output = ""
        if is_command:
            command, output = _parted(content, begun)
        elif event == "ToolFailed":
            output = content
        return Turn(
            TOOL,
            printed(output),
            string(row.get("timestamp")),
            line,
            string(facts.get("tool")),
            command,
            _files(facts),
            {"AfterTool": False, "ToolFailed": True}.get(event),
            side=bool(facts.get("agent_id")),
        )

    def _begin(self, call: str, command: str) -> None:
        self._commands[call] = command
        if len(self._commands) > CALLS:
            self._commands.popitem(last=False)


def _parted(content: str, command: str) -> tuple[str, str]:
    """Return a command and what it printed.

    Where nobody told the command before, it is the first line.
    """
    if command and content.startswith(command):
        return command, content[len(command) :].strip()
    first, _, rest = content.partition("\n")
    while first.endswith("\\") and rest:
        more, _, rest = rest.partition("\n")
        first = f"{first}\n{more}"
    return first, rest
