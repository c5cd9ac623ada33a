"""GitHub Copilot CLI: its hook events, payloads and answers.

https://docs.github.com/en/copilot/reference/hooks-reference; seen with version 1.0.102. Its events
are named as Claude Code names them: then a payload has its event's name, and all but the answers
are read as Claude Code's. A command that failed is an ordinary PostToolUse whose text ends with the
exit code; PostToolUseFailure is for tools that could not be used. A subagent has a session of its
own, and its events name the one that it works for. Of what hooks tell, a session that is gone on
with later has only what stood beside a prompt.
"""

from gitmem.agents import events
from gitmem.agents.adapter import (
    LONG,
    Adapter,
    HookSettings,
    context,
    failed,
    first,
    read_back,
)
from gitmem.agents.events import HookEvent
from gitmem.base.fast import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_END = Lazy(r"\n?<(?:shellId: \S+ )?(?:completed|exited) with exit code (-?\d+)>\s*\Z")


def _refine(event: HookEvent, payload: "Mapping[str, Any]") -> HookEvent | None:
    event.names_parent = bool(event.subagent and payload.get("parent_agent_id"))
    if event.subagent and event.raw == "Stop":
        return None  # its SubagentStop says how it ended
    if event.subagent and event.raw == "UserPromptSubmit":
        event.name, event.prompt = events.SUBAGENT_START, ""  # another model's words
    if event.action == events.COMMAND and event.name == events.TOOL_FAILED:
        event.interrupted = True  # it was not run
    elif event.action == events.COMMAND and event.name == events.AFTER_TOOL:
        said = read_back(first(payload, ("tool_result.text_result_for_llm",), LONG))
        end = _END.search(said[-4000:])
        if end is None:
            event.background = True  # it was only started: how it ends is not known
        elif int(end[1]):
            failed(event, int(end[1]), _END.sub("", said))
    return event


ADAPTER = Adapter(
    "copilot",
    events={
        "SessionStart": events.SESSION_START,
        "UserPromptSubmit": events.PROMPT,
        "PreToolUse": events.BEFORE_TOOL,
        "PostToolUse": events.AFTER_TOOL,
        "PostToolUseFailure": events.TOOL_FAILED,
        "PreCompact": events.BEFORE_COMPACT,
        "Stop": events.TURN_END,
        "SubagentStop": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={
        "Bash": events.COMMAND,
        "Read": events.READ,
        "Edit": events.WRITE,
        "Write": events.WRITE,
    },
    places={
        "session": ("parent_agent_id", "session_id"),
        "path": ("tool_input.path",),
        "patch": ("tool_input", "tool_input.input"),
    },
    read=frozenset(
        {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}
    ),
    keeps=("UserPromptSubmit",),
    answer=context,
    refine=_refine,
    notices=("<system_notification>",),
    session=("COPILOT_AGENT_SESSION_ID",),
    resume="copilot --resume",
    alone=("-p", "--prompt"),
    loads=("AGENTS.md",),
    settings=HookSettings(
        "copilot",
        user=".copilot/hooks/git-mem.json",
        project=".github/hooks/git-mem.json",
        override="COPILOT_HOME",
        # what is told before a tool is read with its result: for a file the hook after it will do
        matchers={"PreToolUse": "^Bash$", "PostToolUse": "^(Bash|Read|Edit|Write)$"},
        note="Copilot CLI runs a project's hooks in folders that you trust alone; in a run without "
        "a person that is --trust-folder.",
    ),
)
