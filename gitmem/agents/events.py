"""The events of a session, as every agent's adapter tells them.

An adapter is one module of this package, named in `ADAPTERS`: `read(payload, given)` turns what its
agent sent into an `Event` (None: nothing of ours), `answer(event, text)` makes the object that the agent
expects back (None: this event takes no text). Adapters translate; what to do is decided elsewhere.
Standard library only: the hot path imports this.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ADAPTERS = ("claude",)

SESSION_START = "SessionStart"
PROMPT = "PromptSubmit"
BEFORE_TOOL = "BeforeTool"
AFTER_TOOL = "AfterTool"
TOOL_FAILED = "ToolFailed"
BEFORE_COMPACT = "BeforeCompact"
TURN_END = "TurnEnd"
SESSION_END = "SessionEnd"

# What a tool does, whatever an agent calls it.
COMMAND, READ, WRITE = "command", "read", "write"


class Event:
    """One event. `name` is ours, `raw` the agent's; a field that an event does not have is empty."""

    __slots__ = (
        "action",
        "agent",
        "background",
        "command",
        "cwd",
        "error",
        "interrupted",
        "message",
        "name",
        "path",
        "prompt",
        "raw",
        "session",
        "source",
        "subagent",
        "tool",
    )

    def __init__(self, name: str, raw: str, agent: str, session: str, cwd: str) -> None:
        self.name = name
        self.raw = raw
        self.agent = agent
        self.session = session
        self.cwd = cwd
        self.source = ""  # why a session started or ended
        self.subagent = ""  # a subagent shares its session's id, not its context
        self.prompt = ""  # without what was injected into it
        self.message = ""  # the assistant's last words of a turn
        self.tool = ""
        self.action = ""  # COMMAND, READ, WRITE, or nothing that is known
        self.command = ""
        self.path = ""
        self.error = ""
        self.interrupted = False
        self.background = False  # a command that was only started: how it ends is not known

    @property
    def context(self) -> str:
        """Whose context a text reaches: the session, or one of its subagents."""
        return f"{self.session}/{self.subagent}" if self.subagent else self.session


def text(payload: "Mapping[str, Any]", key: str, most: int = 65536) -> str:
    """Return a text field of a payload; empty when it is missing or no text. Half of an emoji, as JavaScript cuts them, becomes `?`."""
    value = payload.get(key)
    return value[:most].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def table(payload: "Mapping[str, Any]", key: str) -> "dict[str, Any]":
    """Return an object field of a payload; empty when it is missing or no object."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def name(value: str, most: int = 100) -> str:
    """Return an id from elsewhere with nothing but letters, digits and `._-`, so that it can be a key and a file's name."""
    return "".join(c for c in value[:most] if c.isascii() and (c.isalnum() or c in "._-"))
