"""Cursor: its hook events, payloads and answers.

https://cursor.com/docs/hooks, as read for version 2; it was not seen running. A text reaches the
model at the start of a session and after a tool, nowhere else. What `stop` answers would be a
prompt in the user's name, so it is never asked to go on.
"""

import json

from gitmem.agents import events
from gitmem.agents.adapter import LONG, Adapter, HookSettings, failed, first, read_back
from gitmem.agents.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _refine(event: HookEvent, payload: "Mapping[str, Any]") -> HookEvent | None:
    if event.name == events.TOOL_FAILED:
        event.interrupted = event.interrupted or payload.get("failure_type") in (
            "timeout",
            "permission_denied",
        )
    elif event.name == events.AFTER_TOOL and event.action == events.COMMAND:
        said = first(payload, ("tool_output",), LONG)
        try:
            result = json.loads(said)
        except (ValueError, RecursionError):
            result = None
        code = result.get("exitCode", result.get("exit_code")) if isinstance(result, dict) else None
        if type(code) is not int:
            event.background = True  # how it ended is not known
        elif code:
            output = "\n".join(
                filter(
                    None, (first(result, (key,), LONG) for key in ("stdout", "stderr", "output"))
                )
            )
            failed(event, code, read_back(output))
    return event


def _context(_: HookEvent, words: str) -> "dict[str, Any]":
    return {"additional_context": words}


ADAPTER = Adapter(
    "cursor",
    events={
        "sessionStart": events.SESSION_START,
        "beforeSubmitPrompt": events.PROMPT,
        "postToolUse": events.AFTER_TOOL,
        "postToolUseFailure": events.TOOL_FAILED,
        "preCompact": events.BEFORE_COMPACT,
        "afterAgentResponse": events.TURN_END,
        "stop": events.TURN_END,
        "sessionEnd": events.SESSION_END,
    },
    tools={
        "Shell": events.COMMAND,
        "Read": events.READ,
        "Write": events.WRITE,
        "StrReplace": events.WRITE,
        "Edit": events.WRITE,
    },
    places={
        "session": ("conversation_id", "session_id"),
        "cwd": ("cwd", "workspace_roots.0"),
        "message": ("text",),
        "error": ("error_message",),
        "path": ("tool_input.file_path", "tool_input.path"),
        "source": ("source", "reason", "trigger", "status"),
    },
    read=frozenset({"sessionStart", "postToolUse"}),
    answer=_context,
    refine=_refine,
    resume="cursor-agent --resume",
    loads=("AGENTS.md",),
    settings=HookSettings(
        "cursor",
        user=".cursor/hooks.json",
        project=".cursor/hooks.json",
        programs=("cursor", "cursor-agent"),
        matchers={
            "postToolUse": "Shell|Read|Write|StrReplace|Edit",
            "postToolUseFailure": "Shell|Read|Write|StrReplace|Edit",
        },
    ),
)
