"""Gemini CLI: its hook events, payloads and answers.

https://geminicli.com/docs/hooks/reference; seen with version 0.61. A command that failed is an
ordinary AfterTool whose text ends with its exit code. Before a tool it drops what it is told; a
file's gotchas come after the read. Angle brackets do not survive. Of what hooks tell, a session
that is gone on with later has only what stood below a tool's result.
"""

from gitmem.agents import events
from gitmem.agents.adapter import (
    LONG,
    Adapter,
    HookSettings,
    at,
    first,
    hook_output,
    read_back,
    tail,
)
from gitmem.agents.events import HookEvent
from gitmem.agents.prompt_text import bracketed
from gitmem.base.fast import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FULL = (1 << 20) // 2  # tokens: half of what its models take
TAIL = 1 << 16  # bytes at the end of a transcript in which the last request's tokens are
_TOKENS = b'"tokens":{"input":'
_DIGITS = 12  # of a number of tokens
_CONTEXT = Lazy(r"(?<!\s)\s*+<hook_context>\s*+</hook_context>\s*+")
# what follows a command's output, a line each, the last first
_KINDS = ("Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: ")
_CANCELLED = ("Command was cancelled", "Command was automatically cancelled")
_STARTED = ("Command moved to background", "Command is running in background")


def _refine(event: HookEvent, payload: "Mapping[str, Any]") -> HookEvent | None:
    if event.prompt:
        event.prompt = _CONTEXT.sub("\n", event.prompt).strip()
    if (
        event.name == events.BEFORE_COMPACT
        and event.source == "auto"
        and not _full(event.transcript)
    ):
        return None  # it comes before every request to the model, compression or not
    if event.name == events.AFTER_TOOL:
        said = first(payload, ("tool_response.llmContent", "tool_response.returnDisplay"), LONG)
        wrong = at(payload, "tool_response.error")
        if event.action == events.COMMAND:
            _ended(
                event,
                said.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>"),
                payload,
                wrong=bool(wrong),
            )
        elif wrong:
            event.name = events.TOOL_FAILED
            event.error = read_back(said)
    return event


def _full(transcript: str) -> bool:
    """Return whether the last request was so long that the CLI compresses before the next one.

    The CLI's usual threshold is used.
    """
    # no expression: the module for them takes longer to load than all the rest
    _, mark, after = tail(transcript, TAIL).rpartition(_TOKENS)
    if not mark:
        return False
    number = after[:_DIGITS].partition(b",")[0].partition(b"}")[0]
    return number.isdigit() and int(number) >= FULL


def _ended(event: HookEvent, said: str, payload: "Mapping[str, Any]", *, wrong: bool) -> None:
    """Read how a command ended from the text that the model is given."""
    if said.startswith(_CANCELLED):
        event.interrupted = True
        return
    if said.startswith(_STARTED):
        event.background = True
        return
    shown = first(payload, ("tool_response.returnDisplay",), LONG)
    whole = shown and said.startswith(f"Output: {shown}")  # then what follows is not the command's
    start = len(f"Output: {shown}") if whole else max(0, len(said) - 4000)
    lines, sections = said[start:].split("\n"), dict[str, str]()
    for kind in _KINDS:
        if lines and lines[-1].startswith(kind):
            sections[kind] = lines.pop()[len(kind) :]
    event.background = event.background or "Background PIDs: " in sections
    code, signal, error = (
        sections.get(kind, "").replace("(none)", "")
        for kind in ("Exit Code: ", "Signal: ", "Error: ")
    )
    if not (wrong or error or code.strip("0") or signal.strip("0")):
        return
    output = (
        read_back((said[:start] + "\n".join(lines)).removeprefix("Output:"))
        .strip()
        .removeprefix("(empty)")
    )
    event.name = events.TOOL_FAILED
    event.error = (
        f"{f'Exit code {code}' if code else f'Signal {signal}' if signal else error}\n{output}"
    ).strip()


def _answer(event: HookEvent, words: str) -> "dict[str, Any]":
    return hook_output(event, bracketed(words))


ADAPTER = Adapter(
    "gemini",
    events={
        "SessionStart": events.SESSION_START,
        "BeforeAgent": events.PROMPT,
        "BeforeTool": events.BEFORE_TOOL,
        "AfterTool": events.AFTER_TOOL,
        "PreCompress": events.BEFORE_COMPACT,
        "AfterAgent": events.TURN_END,
        "SessionEnd": events.SESSION_END,
    },
    tools={
        "run_shell_command": events.COMMAND,
        "read_file": events.READ,
        "read_many_files": events.READ,
        "replace": events.WRITE,
        "write_file": events.WRITE,
    },
    places={
        "message": ("prompt_response",),
        "path": ("tool_input.file_path", "tool_input.absolute_path", "tool_input.path"),
        "background": ("tool_input.is_background",),
    },
    read=frozenset({"SessionStart", "BeforeAgent", "AfterTool"}),
    keeps=("AfterTool",),
    answer=_answer,
    refine=_refine,
    session=("GEMINI_SESSION_ID",),  # hooks have it, commands do not
    mark="GEMINI_CLI",
    resume="gemini --resume",
    alone=("-p", "--prompt"),
    loads=("GEMINI.md", "~/.gemini/GEMINI.md"),
    settings=HookSettings(
        "gemini",
        user=".gemini/settings.json",
        project=".gemini/settings.json",
        unit=1000,
        note="Gemini CLI runs a project's hooks in folders that you trust alone (/permissions), "
        "and "
        "lists them when it starts.",
        matchers={
            # before a tool nothing is told: only files that a command may change are looked at
            "BeforeTool": "run_shell_command",
            "AfterTool": "run_shell_command|read_file|read_many_files|replace|write_file",
        },
    ),
)
