"""Claude Code: its hook events, payloads and answers.

https://code.claude.com/docs/en/hooks; seen with version 2.1.
"""

from gitmem.agents import events
from gitmem.agents.events import Event, name, table, text
from gitmem.agents.render import without_fences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = {
    "SessionStart": events.SESSION_START, "UserPromptSubmit": events.PROMPT, "PreToolUse": events.BEFORE_TOOL, "PostToolUse": events.AFTER_TOOL,
    "PostToolUseFailure": events.TOOL_FAILED, "PreCompact": events.BEFORE_COMPACT, "Stop": events.TURN_END, "SubagentStop": events.TURN_END,
    "SessionEnd": events.SESSION_END,
}  # fmt: skip
ACTIONS = {
    "Bash": events.COMMAND, "Read": events.READ, "NotebookRead": events.READ, "Edit": events.WRITE, "MultiEdit": events.WRITE, "Write": events.WRITE,
    "NotebookEdit": events.WRITE,
}  # fmt: skip
# The others would show the text to the user, or take it for a reason to go on.
ANSWERED = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"})


def read(payload: "Mapping[str, Any]", given: str) -> Event | None:
    """Return the event of a payload; `given` names it when the payload does not."""
    raw = text(payload, "hook_event_name", 64) or given
    if raw not in EVENTS:
        return None
    event = Event(EVENTS[raw], raw, "claude", name(text(payload, "session_id")) or "unnamed", text(payload, "cwd", 4096))
    event.source = text(payload, "source", 64) or text(payload, "reason", 64) or text(payload, "trigger", 64)
    event.subagent = name(text(payload, "agent_id"))
    event.prompt = without_fences(text(payload, "prompt", 1 << 20))
    event.message = text(payload, "last_assistant_message")
    event.tool = text(payload, "tool_name", 128)
    event.action = ACTIONS.get(event.tool, "")
    given_to_tool = table(payload, "tool_input")
    event.command = text(given_to_tool, "command") if event.action == events.COMMAND else ""
    event.background = bool(given_to_tool.get("run_in_background"))
    if event.action in {events.READ, events.WRITE}:
        event.path = text(given_to_tool, "file_path", 4096) or text(given_to_tool, "notebook_path", 4096)
    event.error = without_fences(text(payload, "error", 1 << 20))
    event.interrupted = bool(payload.get("is_interrupt") or table(payload, "tool_response").get("interrupted"))
    return event


def answer(event: Event, words: str) -> "dict[str, Any] | None":
    """Return what to print so that the model reads a text beside this event."""
    if event.raw not in ANSWERED:
        return None
    return {"hookSpecificOutput": {"hookEventName": event.raw, "additionalContext": words}}
