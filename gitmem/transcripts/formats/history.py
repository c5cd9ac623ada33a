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
    # of uses of tools: what came after one tells its command and its output in one text
    commands: OrderedDict[str, str] = OrderedDict()
    for line, row in rows:
        role = _ROLES.get(string(row.get("role")).lower())
        facts = mapping(row.get("metadata"))
        event = string(facts.get("event"))
        content = texts(row.get("content"))
        if role is None:
            continue
        at = string(row.get("timestamp"))
        side = bool(facts.get("agent_id"))
        files = tuple(path for path in sequence(facts.get("files"))[:20] if isinstance(path, str))
        marked = event in MARKED or facts.get("marked") is True
        if role == TOOL and not marked:
            call, tool = string(facts.get("call")), string(facts.get("tool"))
            command = output = ""
            if event == "BeforeTool":
                if call and facts.get("action") == "command" and content:
                    commands[call] = content
                    if len(commands) > CALLS:
                        commands.popitem(last=False)
                continue
            if facts.get("action") == "command":
                command, output = _parted(content, commands.get(call, ""))
            elif event == "ToolFailed":
                output = content
            commands.pop(call, None)
            failed = {"AfterTool": False, "ToolFailed": True}.get(event)
            yield Turn(TOOL, printed(output), at, line, tool, command, files, failed, side=side)
            continue
        text = said(content)
        if text and (role != SYSTEM or marked):
            yield Turn(
                role,
                text,
                at,
                line,
                NOTE if event == "Note" else "",
                files=files,
                marked=marked,
                side=side,
                tokens=number(facts.get("tokens")),
            )


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
