"""Claude Code: its hook events, payloads and answers.

https://code.claude.com/docs/en/hooks; seen with version 2.1.
"""

from gitmem.agents import events
from gitmem.agents.adapter import Adapter, HookSettings

LOOKS, EDITS = "Read|NotebookRead", "Edit|MultiEdit|Write|NotebookEdit"

ADAPTER = Adapter(
    "claude",
    events={
        "SessionStart": events.SESSION_START,
        "UserPromptSubmit": events.PROMPT,
        "PreToolUse": events.BEFORE_TOOL,
        "PostToolUse": events.AFTER_TOOL,
        "PostToolUseFailure": events.TOOL_FAILED,
        "PreCompact": events.BEFORE_COMPACT,
        "PostCompact": events.AFTER_COMPACT,
        "Stop": events.TURN_END,
        "SubagentStop": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={
        "Bash": events.COMMAND,
        "Read": events.READ,
        "NotebookRead": events.READ,
        "Edit": events.WRITE,
        "MultiEdit": events.WRITE,
        "Write": events.WRITE,
        "NotebookEdit": events.WRITE,
    },
    # the others would show the text to the user, or take it for a reason to go on
    read=frozenset(
        {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}
    ),
    limits={"SessionEnd": 1.0},  # it kills a plugin's hook after 1.5
    session=("CLAUDE_CODE_SESSION_ID",),
    notices=("<task-notification>",),  # a command in the background ended
    # Copilot CLI and Cursor run what is in .claude/settings.json too, and read other answers
    foreign=("timestamp", "cursor_version"),
    resume="claude --resume",
    alone=("-p", "--print"),
    loads=("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "~/.claude/CLAUDE.md"),
    settings=HookSettings(
        "claude",
        user=".claude/settings.json",
        project=".claude/settings.json",
        local=".claude/settings.local.json",
        override="CLAUDE_CONFIG_DIR",
        # what is told before a tool is read with its result: the hook after it will do
        unasked=("PreToolUse",),
        matchers={
            "PostToolUse": f"{LOOKS}|{EDITS}",
            "PostToolUseFailure": f"Bash|{LOOKS}|{EDITS}",
        },
        # a command that passed is learned from, and answered with nothing
        behind={"PostToolUse": "Bash"},
    ),
)
