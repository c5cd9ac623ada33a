"""Gemini CLI: its hook events, payloads and answers.

https://geminicli.com/docs/hooks/reference; seen with version 0.61. A command that failed is an ordinary AfterTool whose text ends with its
exit code. Before a tool it drops what it is told; a file's gotchas come after the read.
"""

from gitmem.agents import events
from gitmem.agents.adapter import LONG, Adapter, Settings, at, first, go_on
from gitmem.agents.events import Event
from gitmem.agents.render import without_fences
from gitmem.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_CODE = Lazy(r"(?m)^(?:Exit Code: (-?\d+)|Signal: (\w+)|Error: (?!\(none\))(.+))$")
_OUTPUT = Lazy(r"(?:^|\n)Output: ?")
_CONTEXT = Lazy(r"\s*<hook_context>\s*</hook_context>\s*")
_TAIL = Lazy(r"\n(?:Error: .*|Exit Code: .*|Signal: .*|Background PIDs: .*|Process Group PGID: .*)(?=\n|$)")


def _refine(event: Event, payload: "Mapping[str, Any]") -> Event | None:
    if event.prompt:
        event.prompt = _CONTEXT.sub("\n", event.prompt).strip()
    if event.name == events.BEFORE_COMPACT and event.source == "auto":
        return None  # before every request to the model, compression or not
    if event.name != events.AFTER_TOOL:
        return event
    said = without_fences(first(payload, ("tool_response.llmContent", "tool_response.returnDisplay"), LONG))
    wrong = at(payload, "tool_response.error")
    if event.action == events.COMMAND:
        found = {
            kind: value
            for match in _CODE.finditer(said[-4000:])
            for kind, value in zip(("code", "signal", "error"), match.groups(), strict=True)
            if value
        }
        event.background = event.background or "Background PIDs: " in said[-4000:]
        code = found.get("code", "0")
        if code != "0" or "signal" in found or "error" in found or wrong:
            event.name = events.TOOL_FAILED
            start = _OUTPUT.search(said)
            output = _TAIL.sub("", said[start.end() if start else 0 :].replace("\n</untrusted_context>", "")).strip()
            why = f"Exit code {code}" if code != "0" else f"Signal {found['signal']}" if "signal" in found else found.get("error", "")
            event.error = f"{why}\n{'' if output == '(empty)' else output}".strip()
            event.interrupted = "cancelled by user" in said[:2000].lower()
    elif wrong:
        event.name = events.TOOL_FAILED
        event.error = said
    return event


ADAPTER = Adapter(
    "gemini",
    events={
        "SessionStart": events.SESSION_START, "BeforeAgent": events.PROMPT, "BeforeTool": events.BEFORE_TOOL, "AfterTool": events.AFTER_TOOL,
        "PreCompress": events.BEFORE_COMPACT, "AfterAgent": events.TURN_END, "SessionEnd": events.SESSION_END,
    },
    tools={
        "run_shell_command": events.COMMAND, "read_file": events.READ, "read_many_files": events.READ, "replace": events.WRITE, "write_file": events.WRITE,
    },
    places={"message": ("prompt_response",), "path": ("tool_input.file_path", "tool_input.absolute_path", "tool_input.path")},
    told=frozenset({"SessionStart", "BeforeAgent", "AfterTool"}),
    ask=go_on,
    refine=_refine,
    session=("GEMINI_SESSION_ID",),
    settings=Settings(
        "gemini", user=".gemini/settings.json", project=".gemini/settings.json", unit=1000,
        matchers={"AfterTool": "run_shell_command|read_file|read_many_files|replace|write_file"},
    ),
)  # fmt: skip
