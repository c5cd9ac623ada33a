"""What an agent's CLI calls things, as data, and how a payload becomes an event by it.

`docs/agents/adding-an-agent.md` says how to write one. Standard library only: the hot path imports
this.
"""

import os

from gitmem.agents import events
from gitmem.agents.events import HookEvent, name, text
from gitmem.agents.prompt_text import without_fences
from gitmem.base.regular_files import open_regular
from gitmem.redaction.formats import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Payload = Mapping[str, Any]
    Places = Mapping[str, Sequence[str]]

LONG = 1 << 20  # characters of a prompt or an output that are looked at
FILES = 100  # files of one patch
LONGEST = 86_400_000  # milliseconds that a tool may take
# Where a payload has what an event wants to know; of several places the first that holds something
# counts.
PLACES: "dict[str, tuple[str, ...]]" = {
    "event": ("hook_event_name",),
    "session": ("session_id",),
    "cwd": ("cwd",),
    "source": ("source", "reason", "trigger"),
    "subagent": ("agent_id",),
    "role": ("agent_type",),
    "transcript": ("transcript_path",),
    "model": ("model",),
    "prompt": ("prompt",),
    "message": ("last_assistant_message",),
    "tool": ("tool_name",),
    "call": ("tool_use_id",),
    "command": ("tool_input.command",),
    "path": ("tool_input.file_path", "tool_input.notebook_path"),
    "error": ("error",),
    "patch": (),
    "interrupted": ("is_interrupt", "tool_response.interrupted"),
    "background": ("tool_input.run_in_background",),
    "milliseconds": ("duration_ms", "duration"),
}


class HookSettings:
    """Where an agent reads its hooks, and in which form: what `git mem install` writes.

    `user`, `project` and `local` are paths ('' when there is no such file), `user` from the home
    folder, the others from the work tree's root; `behind` {event: pattern of tools} is where
    nothing is ever answered, so that the CLI need not wait; `most` {event: seconds} is what the CLI
    allows where that is less than we ask for; `override` is a variable that names the folder that
    stands for the first part of `user`. `unasked` are events that need no hook, as another tells
    the same. `shape` names the form of the file, `unit` the number of
    timeout units in a second, `matchers` {event of the agent: pattern of tools}. `programs` are
    what its CLI may be called, where that is not the agent's name; `note` is what its user has to
    know once the hooks are installed.
    """

    __slots__ = (
        "behind",
        "local",
        "matchers",
        "most",
        "note",
        "override",
        "programs",
        "project",
        "shape",
        "unasked",
        "unit",
        "user",
    )

    def __init__(
        self,
        shape: str,
        *,
        user: str = "",
        project: str = "",
        local: str = "",
        override: str = "",
        unit: int = 1,
        matchers: "Mapping[str, str] | None" = None,
        behind: "Mapping[str, str] | None" = None,
        unasked: "Sequence[str]" = (),
        most: "Mapping[str, int] | None" = None,
        programs: "Sequence[str]" = (),
        note: str = "",
    ) -> None:
        self.shape = shape
        self.user = user
        self.project = project
        self.local = local
        self.override = override
        self.unit = unit
        self.matchers = matchers or {}
        self.behind = behind or {}
        self.unasked = unasked
        self.most = most or {}
        self.programs = programs
        self.note = note


class Adapter:
    """One agent's CLI.

    `events` are {its name: ours}, `tools` {its name: COMMAND, READ or WRITE}, `places` what differs
    from `PLACES`. `read` names those of its events beside which the model reads a text, `answer`
    makes the object that carries it. `refine` corrects an event that needs more than names; it may
    return None for one that is none of ours. `limits` are the seconds that our hook has for an
    event, where its CLI gives less than usual. `session` names variables in which its CLI tells
    commands the session's id, `mark` one that its commands have where none tells it.
    `foreign` are keys that only other CLIs' payloads have: some run the hooks that they find
    in this one's settings. `notices` begin what comes as a prompt though nobody wrote it. `resume`
    is what its user types before a session's id to go on with it. `loads` are files whose text its
    model has read at every start, as records call them: from the work tree's root, or from `~`.
    `alone` are words after its program with which its CLI runs a task that nobody answers questions
    of. `keeps` names those of `read` whose text is still in a session that is gone on with later.
    """

    __slots__ = (
        "alone",
        "answer",
        "events",
        "foreign",
        "keeps",
        "limits",
        "loads",
        "mark",
        "name",
        "notices",
        "places",
        "read",
        "refine",
        "resume",
        "session",
        "settings",
        "tools",
    )

    def __init__(
        self,
        name: str,
        *,
        events: "Mapping[str, str]",
        tools: "Mapping[str, str]",
        read: "frozenset[str]",
        settings: HookSettings,
        places: "Places | None" = None,
        answer: "Callable[[HookEvent, str], dict[str, Any]] | None" = None,
        refine: "Callable[[HookEvent, Payload], HookEvent | None] | None" = None,
        limits: "Mapping[str, float] | None" = None,
        session: "Sequence[str]" = (),
        mark: str = "",
        foreign: "Sequence[str]" = (),
        notices: "tuple[str, ...]" = (),
        resume: str = "",
        loads: "Sequence[str]" = (),
        keeps: "Sequence[str] | None" = None,
        alone: "Sequence[str]" = (),
    ) -> None:
        self.name = name
        self.events = events
        self.tools = tools
        self.read = read
        self.settings = settings
        self.places: Places = {**PLACES, **places} if places else PLACES
        self.answer = answer or hook_output
        self.refine = refine
        self.limits = limits or {}
        self.session = session
        self.mark = mark
        self.foreign = foreign
        self.notices = notices
        self.resume = resume
        self.loads = frozenset(loads)
        self.alone = alone
        self.keeps = read if keeps is None else frozenset(keeps)


def runs_alone(adapter: Adapter, arguments: "Sequence[str]") -> bool:
    """Return whether a command line of an agent's CLI is of a run that nobody watches."""
    programs = adapter.settings.programs or (adapter.name,)
    for number, word in enumerate(arguments):
        if os.path.basename(word) in programs:
            given = {argument.partition("=")[0] for argument in arguments[number + 1 :]}
            return any(word in given for word in adapter.alone)
    return False


def find(agent: str) -> Adapter:
    """Return an agent's adapter; raises KeyError for a name that is not in `events.ADAPTERS`."""
    if agent not in events.ADAPTERS:
        raise KeyError(agent)
    adapter: Adapter = __import__(f"gitmem.agents.{agent}", fromlist=["ADAPTER"]).ADAPTER
    return adapter


def read(adapter: Adapter, payload: "Payload", given: str) -> HookEvent | None:
    """Return the event of a payload, None when it is none of ours.

    `given` names it when the payload does not.
    """
    places = adapter.places
    raw = first(payload, places["event"], 64) or given
    if raw not in adapter.events or any(key in payload for key in adapter.foreign):
        return None
    event = HookEvent(
        adapter.events[raw],
        raw,
        adapter.name,
        name(first(payload, places["session"], 256)) or "unnamed",
        first(payload, places["cwd"], 4096),
    )
    event.source = first(payload, places["source"], 64)
    event.subagent = name(first(payload, places["subagent"], 256))
    event.role = name(first(payload, places["role"], 64))
    event.transcript = first(payload, places["transcript"], 4096)
    event.model = first(payload, places["model"], 128)
    event.prompt = read_back(first(payload, places["prompt"], LONG))
    if event.name == events.PROMPT and (
        not event.prompt.strip() or event.prompt.startswith(adapter.notices)
    ):
        return None  # of ours alone, as some hand our remark back, or of nobody
    event.message = read_back(first(payload, places["message"], LONG))
    event.tool = first(payload, places["tool"], 128)
    event.call = first(payload, places["call"], 256)
    event.action = adapter.tools.get(event.tool, "")
    _read_paths(event, adapter, payload)
    event.seconds = _seconds(payload, places["milliseconds"])
    event.error = read_back(first(payload, places["error"], LONG))
    event.interrupted = any(at(payload, place) is True for place in places["interrupted"])
    event.background = any(at(payload, place) is True for place in places["background"])
    return adapter.refine(event, payload) if adapter.refine else event


def _read_paths(event: HookEvent, adapter: Adapter, payload: "Payload") -> None:
    """Read which files the use of a tool is about, and what it did to them."""
    places = adapter.places
    if event.action == events.COMMAND:
        event.command = first(payload, places["command"], 65536)
        event.paths = _patched_by_shell(event.command)
    elif event.action:
        path = first(payload, places["path"], 4096)
        named = (path,) if path else patched(first(payload, places["patch"], LONG))
        event.paths = tuple(path for path in named if "\0" not in path)
    event.path = next(iter(event.paths), "")
    if event.name == events.AFTER_TOOL and event.action == events.WRITE:
        from gitmem.agents.written import changes  # reads are more frequent

        patch = first(payload, places["patch"], LONG)
        answer = payload.get("tool_response") or payload.get("tool_result")
        event.changes = changes(payload.get("tool_input"), answer, event.paths, patch)


def _patched_by_shell(command: str) -> "tuple[str, ...]":
    """Return the files that a command patches: a patch may come by the shell."""
    if "*** Begin Patch" not in command:
        return ()
    from gitmem.agents.shell_writes import patches

    return patched(patches(command))


def _seconds(payload: "Payload", places: "Sequence[str]") -> float:
    """Return how long a tool took; 0 where no number tells it."""
    for place in places:
        value = at(payload, place)
        if type(value) in {int, float} and 0 <= value < LONGEST:
            return float(value) / 1000
    return 0.0


def read_back(text: str) -> str:
    """Return an agent's text without injected text and parts that its user marked as private."""
    return public(without_fences(text))


def at(payload: "Payload", place: str) -> "Any":
    """Return what a payload has at a place such as `tool_input.command` or `roots.0`.

    None when there is nothing.
    """
    value: Any = payload
    for key in place.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def first(payload: "Payload", places: "Sequence[str]", most: int) -> str:
    """Return the first text that a payload has at one of these places, as far as `most`.

    Empty when there is none.
    """
    for place in places:
        value = at(payload, place)
        if isinstance(value, str) and value:
            return text(value, most)
    return ""


def tail(transcript: str, most: int) -> bytes:
    """Return the end of an agent's own file of a session; empty when there is none."""
    if not os.path.isabs(transcript) or "\0" in transcript:
        return b""
    try:
        with open_regular(transcript) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            return file.read(most)
    except OSError:
        return b""


def patched(patch: str) -> "tuple[str, ...]":
    """Return the files that a patch of the form `*** Update File: path` changes, each once."""
    marks = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
    named = (
        text(line[len(mark) :].strip(), 4096)
        for line in patch.split("\n")
        for mark in marks
        if line.startswith(mark)
    )
    return tuple(dict.fromkeys(filter(None, named)))[:FILES]


def failed(event: HookEvent, code: int, output: str) -> None:
    """Make of a command's end what Claude Code would call a failure."""
    event.name = events.TOOL_FAILED
    event.error = f"Exit code {code}\n{output}".strip()


def hook_output(event: HookEvent, words: str) -> "dict[str, Any]":
    """Return the hook answer that adds text which the model reads beside the event.

    Claude Code introduced this form, and other agents adopted it.
    """
    return {"hookSpecificOutput": {"hookEventName": event.raw, "additionalContext": words}}


def context(_: HookEvent, words: str) -> "dict[str, Any]":
    """Return the plainest answer: words that the model reads beside the event, and nothing else."""
    return {"additionalContext": words}
