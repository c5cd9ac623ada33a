"""What an event leaves behind and what it is answered: the part of a hook that needs a repository.

Part of the hot path; loaded once a payload is known to be an event of ours.
"""

from gitmem.agents import events
from gitmem.agents.adapter import Adapter
from gitmem.agents.prompt_text import fence
from gitmem.base.fast import dumps, sqlite
from gitmem.errors import NotARepository
from gitmem.hooks.context import Hook
from gitmem.hooks.dispatch import react
from gitmem.hooks.session_log import note, own_id
from gitmem.repo.hook_switch import is_off
from gitmem.state import hook_calls
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitmem.state.database import State

_TOOLS = frozenset({events.BEFORE_TOOL, events.AFTER_TOOL, events.TOOL_FAILED})


def answer(
    speaks: Adapter,
    event: events.HookEvent,
    data: bytes,
    env: "Mapping[str, str]",
    now: float,
    ready: "Callable[[Hook | None], None]",
    begun: float,
    before: float,
    *,
    heard: bool,
) -> bytes:
    """Return what to print for an event, which came as `data`: nothing, or one JSON object.

    `ready` learns the repository before work begins. The hook began at `begun` on the monotonic
    clock, when it had taken `before` seconds of the processor.
    """
    try:
        compacts = events.AFTER_COMPACT in speaks.events.values()
        hook = Hook(
            event,
            env,
            now,
            hears=heard and event.raw in speaks.read,
            hears_after_compact=compacts,
            is_kept=event.raw in speaks.keeps,
            loads=speaks.loads,
        )
    except NotARepository:
        return b""
    if not hook.repo.is_trusted() or is_off(hook.repo.home, env, now, event.session):
        return b""
    ready(hook)
    hook.look()
    id = event.session
    event.session = own_id(hook)
    if event.names_parent:
        event.session = _session_of_subagent(hook)
    if event.session != id and is_off(hook.repo.home, env, now, event.session):
        return b""
    if event.name == events.SUBAGENT_START:
        return b""
    hook.repo.cost_of = event.session
    lines = _react_once(hook, _call_name(event, data, heard=heard))
    if lines is None:
        return b""
    words = fence(lines) if lines and event.raw in speaks.read else ""
    hook.note_cost(tokens(words), begun, before)
    if not words:
        return b""
    return dumps(speaks.answer(event, words)).encode()


def _react_once(hook: Hook, call: str) -> "list[str] | None":
    """Keep the event and return the lines to tell; None if another hook was called for it."""
    command = _command()
    number = _claim(hook, call, command)
    if number == 0:
        return None
    try:
        note(hook)
    except BaseException as error:
        if number:
            _tell_calls(hook, hook_calls.withdraw, call, command, number)
        if isinstance(error, sqlite.DatabaseError):
            hook.mend(error)
        raise
    if number:
        _tell_calls(hook, hook_calls.confirm, call, command, number)
    try:
        return react(hook)
    except sqlite.DatabaseError as error:
        hook.mend(error)
        raise


def _session_of_subagent(hook: Hook) -> str:
    from gitmem.state import context_flags

    event = hook.event
    try:
        return context_flags.note_subagent(hook.repo.state, event.session, event.subagent)
    except Exception:  # noqa: BLE001 - the event is kept, whatever the database does
        hook.repo.hurry()
        return event.session


def _call_name(event: "events.HookEvent", data: bytes, *, heard: bool) -> str:
    """Return what calls of hooks for the same event have in common."""
    from binascii import crc32

    return f"{event.raw} {event.call or f'{crc32(data):08x}'}{'' if heard else ' unheard'}"


def _command() -> str:
    """Return what tells the command that called this hook from another one."""
    from binascii import crc32

    from gitmem.base import processes

    line = processes.starting_command()
    return f"{crc32(line):08x}" if line else ""


def _claim(hook: Hook, call: str, command: str) -> "int | None":
    """Return the number of the call, 0 if another hook of ours was called for the same event.

    None where a database that is busy or broken does not tell: better twice than not at all.
    """
    from gitmem.base import processes

    try:
        return hook_calls.claim(
            hook.repo.state,
            hook.event.context,
            call,
            hook.now,
            command,
            processes.own(),
            processes.is_gone,
            may_be_parallel=hook.event.name in _TOOLS and not hook.event.call,
        )
    except Exception:  # noqa: BLE001 - the event is kept, whatever the database does
        hook.repo.hurry()
        return None


def _tell_calls(
    hook: Hook,
    tell: "Callable[[State, str, str, str, int], None]",
    call: str,
    command: str,
    number: int,
) -> None:
    try:
        tell(hook.repo.state, hook.event.context, call, command, number)
    except Exception:  # noqa: BLE001 - the process that holds it ends in a moment
        hook.repo.hurry()
