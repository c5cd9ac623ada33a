"""Codex CLI: its hook events, payloads and answers.

https://developers.openai.com/codex/hooks; seen with version 0.169. A command's exit code is not in the payload: it is in the
transcript, and already there when the hook runs.
"""

import os

from gitmem.agents import events
from gitmem.agents.adapter import LONG, Adapter, Settings, first, go_on
from gitmem.agents.events import Event
from gitmem.agents.render import without_fences
from gitmem.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TAIL = 1 << 18  # bytes at the end of a transcript in which the last calls are
_CODE = Lazy(rb'Process exited with code (-?\d+)|\\?"exit_code\\?":\s*(-?\d+)')


def _refine(event: Event, payload: "Mapping[str, Any]") -> Event | None:
    if event.name == events.AFTER_TOOL and event.action == events.COMMAND:
        code = exit_code(event.transcript, event.call)
        if code is None:
            event.background = True  # how it ends is not known
        elif code:
            event.name = events.TOOL_FAILED
            event.error = f"Exit code {code}\n{without_fences(first(payload, ('tool_response', 'tool_response.output'), LONG))}".strip()
    return event


def exit_code(transcript: str, call: str) -> int | None:
    """Return the exit code that the end of a transcript tells of a call; None when it tells none."""
    if not (os.path.isabs(transcript) and call and "\0" not in transcript):
        return None
    try:
        handle = os.open(transcript, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not block
        with os.fdopen(handle, "rb") as file:
            file.seek(max(0, os.fstat(handle).st_size - TAIL))
            lines = file.read(TAIL).split(b"\n")
    except OSError:
        return None
    wanted = call.encode()
    for line in reversed(lines):
        if wanted in line and (found := _CODE.search(line)):
            return int(found[1] or found[2])
    return None


ADAPTER = Adapter(
    "codex",
    events={
        "SessionStart": events.SESSION_START, "UserPromptSubmit": events.PROMPT, "PreToolUse": events.BEFORE_TOOL, "PostToolUse": events.AFTER_TOOL,
        "PreCompact": events.BEFORE_COMPACT, "PostCompact": events.AFTER_COMPACT, "Stop": events.TURN_END, "SubagentStop": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={"Bash": events.COMMAND, "apply_patch": events.WRITE},
    told=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    ask=go_on,
    refine=_refine,
    session=("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
    settings=Settings("claude", user=".codex/hooks.json", project=".codex/hooks.json", override="CODEX_HOME"),
)  # fmt: skip
