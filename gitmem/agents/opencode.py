"""opencode: the payloads of our plugin, `agent-hooks/opencode/git-mem.js`, and its answers.

https://opencode.ai/docs/plugins; seen with version 1.18. It has no hooks that run a command: the
plugin calls one, in the form that Claude Code began, and puts the answer where the model reads it:
beside the prompt, or below a tool's output.
"""

from gitmem.agents import events
from gitmem.agents.adapter import LONG, Adapter, HookSettings, at, context, failed, first, read_back
from gitmem.agents.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _refine(event: HookEvent, payload: "Mapping[str, Any]") -> HookEvent | None:
    # `opencode run "words"` hands its words on in quotes
    if event.prompt[:1] == event.prompt[-1:] == '"' and event.prompt.count('"') == 2:
        event.prompt = event.prompt[1:-1]
    if event.name == events.AFTER_TOOL and event.action == events.COMMAND:
        code = at(payload, "tool_response.exit")
        if type(code) is not int:
            event.interrupted = True  # its time was over, or the user stopped it
        elif code:
            failed(
                event,
                code,
                read_back(first(payload, ("tool_response.output",), LONG)).removeprefix(
                    "(no output)"
                ),
            )
    return event


ADAPTER = Adapter(
    "opencode",
    events={
        "SessionStart": events.SESSION_START,
        "UserPromptSubmit": events.PROMPT,
        "PostToolUse": events.AFTER_TOOL,
        "PostToolUseFailure": events.TOOL_FAILED,
        "PreCompact": events.BEFORE_COMPACT,
        "PostCompact": events.AFTER_COMPACT,
        "Stop": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={
        "bash": events.COMMAND,
        "read": events.READ,
        "edit": events.WRITE,
        "write": events.WRITE,
        "patch": events.WRITE,
        "apply_patch": events.WRITE,
    },
    places={"path": ("tool_input.filePath",), "patch": ("tool_input.patchText",)},
    read=frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"}),
    answer=context,
    refine=_refine,
    session=("OPENCODE_SESSION_ID",),  # the plugin tells it
    resume="opencode --session",
    alone=("run",),
    loads=("AGENTS.md", "~/.config/opencode/AGENTS.md"),
    settings=HookSettings(
        "opencode",
        user=".config/opencode/plugin/git-mem.js",
        project=".opencode/plugin/git-mem.js",
        override="XDG_CONFIG_HOME",
    ),
)
