"""The events of a session, as every agent's adapter tells them.

An adapter is one module of this package, named in `ADAPTERS`, whose `ADAPTER` says what its agent
calls things (`agents.adapter`). Adapters translate; what to do is decided elsewhere. Standard
library only: the hot path imports this.
"""

# name -> how people call it; each is a module of this package
ADAPTERS = {
    "claude": "Claude Code",
    "gemini": "Gemini CLI",
    "codex": "Codex CLI",
    "opencode": "opencode",
    "copilot": "GitHub Copilot CLI",
    "cursor": "Cursor",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SESSION_START = "SessionStart"
PROMPT = "PromptSubmit"
BEFORE_TOOL = "BeforeTool"
AFTER_TOOL = "AfterTool"
TOOL_FAILED = "ToolFailed"
BEFORE_COMPACT = "BeforeCompact"
AFTER_COMPACT = "AfterCompact"
TURN_END = "TurnEnd"
SESSION_END = "SessionEnd"
SUBAGENT_START = "SubagentStart"  # whom it works for is noted, and nothing else

# What a tool does, whatever an agent calls it.
COMMAND, READ, WRITE = "command", "read", "write"


class AgentEdit:
    """What one use of a tool did to a file.

    `before` and `after` are its texts then, None where the agent does not tell them. `parts` are
    (new, old) texts that were put in and taken out, in their order. Where `given` is a text, only
    lines of it can be the tool's.
    """

    __slots__ = ("after", "before", "given", "parts", "path")

    def __init__(
        self,
        path: str,
        before: str | None = None,
        after: str | None = None,
        parts: "Sequence[tuple[str, str]]" = (),
        given: str | None = None,
    ) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.parts = list(parts)
        self.given = given


class HookEvent:
    """One event.

    `name` is ours, `raw` the agent's; a field that an event does not have is empty.
    """

    __slots__ = (
        "action",
        "agent",
        "background",
        "call",
        "changes",
        "command",
        "cwd",
        "error",
        "interrupted",
        "message",
        "model",
        "name",
        "names_parent",
        "path",
        "paths",
        "prompt",
        "raw",
        "role",
        "seconds",
        "session",
        "source",
        "subagent",
        "tool",
        "transcript",
    )

    def __init__(self, name: str, raw: str, agent: str, session: str, cwd: str) -> None:
        self.name = name
        self.raw = raw
        self.agent = agent
        self.session = session
        self.cwd = cwd
        self.source = ""  # why a session started or ended, or a context was compacted
        self.names_parent = False  # its session is the agent that a subagent works for: one, too
        self.subagent = ""  # a subagent shares its session's id, not its context
        self.role = ""  # what an agent or a subagent was started as: a name from its definitions
        self.transcript = ""  # the agent's own file of this session
        self.model = ""
        self.prompt = ""  # without what was injected into it
        # the assistant's last words of a turn; beside a tool, its words before, where told
        self.message = ""
        self.tool = ""
        self.call = ""  # the id of one use of a tool
        self.action = ""  # COMMAND, READ, WRITE, or nothing that is known
        self.command = ""
        self.path = ""
        self.paths: tuple[str, ...] = ()  # all that one use of a tool changes, `path` first
        self.changes: list[AgentEdit] = []  # what a tool did to files
        self.error = ""  # what a tool that failed said
        self.seconds = 0.0  # that a tool took; 0 where that is not told
        self.interrupted = False
        self.background = False  # a command that was only started: how it ends is not known

    @property
    def context(self) -> str:
        """Whose context a text reaches: the session, or one of its subagents."""
        return f"{self.session}/{self.subagent}" if self.subagent else self.session


def text(value: str, most: int) -> str:
    """Return a text from elsewhere, as far as `most`.

    Half of an emoji, as JavaScript cuts them, becomes `?`.
    """
    return value[:most].encode("utf-8", "replace").decode()


def name(value: str, most: int = 100) -> str:
    """Return an external id reduced to letters, digits and `._-`.

    The result can be used as a key and as a file name.
    """
    return "".join(c for c in value[:most] if c.isascii() and (c.isalnum() or c in "._-"))
