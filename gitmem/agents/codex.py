"""Codex CLI: its hook events, payloads and answers.

https://developers.openai.com/codex/hooks; seen with version 0.169. A command's exit code is not in
the payload: it is in the transcript, and already there when the hook runs. For a command that goes
on in the background no hook is called at its end.
"""

import json

from gitmem.agents import events
from gitmem.agents.adapter import (
    LONG,
    Adapter,
    HookSettings,
    at,
    failed,
    first,
    read_back,
    tail,
)
from gitmem.agents.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# bytes at the end of a transcript in which the last calls are; one output takes up to 64 KiB
TAIL = 1 << 20


def _refine(event: HookEvent, payload: "Mapping[str, Any]") -> HookEvent | None:
    if event.name == events.AFTER_TOOL and event.action == events.COMMAND:
        code = exit_code(event.transcript, event.call)
        if code is None:
            event.background = True  # how it ends is not known
        elif code:
            failed(
                event,
                code,
                read_back(first(payload, ("tool_response", "tool_response.output"), LONG)),
            )
    return event


def exit_code(transcript: str, call: str) -> int | None:
    """Return the exit code that the end of a transcript tells of a call.

    None when it tells none.
    """
    if not call:
        return None
    wanted = json.dumps(call).encode()
    for line in reversed(tail(transcript, TAIL).split(b"\n")):
        if (
            wanted in line
            and b'"exit_code"' in line
            and (code := _exit_code(line, call)) is not None
        ):
            return code
    return None


def _exit_code(line: bytes, call: str) -> int | None:
    """Return the exit code from a line that tells how a command ended.

    The code is read from its own key, because the output may hold anything.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    for place, id in (("payload.item", "id"), ("payload", "call_id")):
        item = at(row, place) if isinstance(row, dict) else None
        if isinstance(item, dict) and item.get(id) == call and type(item.get("exit_code")) is int:
            return int(item["exit_code"])
    return None


ADAPTER = Adapter(
    "codex",
    events={
        "SessionStart": events.SESSION_START,
        "UserPromptSubmit": events.PROMPT,
        "PreToolUse": events.BEFORE_TOOL,
        "PostToolUse": events.AFTER_TOOL,
        "PreCompact": events.BEFORE_COMPACT,
        "PostCompact": events.AFTER_COMPACT,
        "Stop": events.TURN_END,
        "SubagentStop": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={"Bash": events.COMMAND, "apply_patch": events.WRITE},
    places={"patch": ("tool_input.command",)},
    read=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"}),
    refine=_refine,
    limits={"SessionEnd": 2.0},
    session=("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
    resume="codex resume",
    alone=("exec",),
    loads=("AGENTS.md", "AGENTS.override.md", "~/.codex/AGENTS.md", "~/.codex/AGENTS.override.md"),
    settings=HookSettings(
        "claude",
        user=".codex/hooks.json",
        project=".codex/hooks.json",
        override="CODEX_HOME",
        # what is told before a tool is read with its result: for a patch the hook after it will do
        matchers={"PreToolUse": "^Bash$", "PostToolUse": "^(Bash|apply_patch)$"},
        most={"SessionEnd": 3},  # it says so at each start to those who ask for more
        note="Codex runs hooks once you trust them: type /hooks in it, again when they have "
        "changed.",
    ),
)
