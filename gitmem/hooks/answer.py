"""What an event leaves behind and what it is answered: the part of a hook that needs a repository.

Part of the hot path; loaded once a payload is known to be an event of ours.
"""

import time

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
            hears=heard and event.raw in speaks.told,
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
    if event.session != id and is_off(hook.repo.home, env, now, event.session):
        return b""
    hook.repo.cost_of = event.session
    lines = _react_once(hook, _call_name(event, data, heard=heard))
    if lines is None:
        return b""
    told = bool(lines) and (
        event.raw in speaks.told or (event.name == events.TURN_END and speaks.ask is not None)
    )
    words = fence(lines) if told else ""
    hook.note_cost(tokens(words), begun, before)
    if not words:
        return b""
    said = (
        speaks.ask(event, words)
        if event.name == events.TURN_END and speaks.ask
        else speaks.answer(event, words)
    )
    return dumps(said).encode()


def _react_once(hook: Hook, call: str) -> "list[str] | None":
    """Keep the event and return the lines to tell; None if another hook was called for it."""
    is_claimed = _claim(hook, call)
    if is_claimed is False:
        return None
    try:
        note(hook)
        return react(hook)
    except sqlite.DatabaseError as error:
        hook.mend(error)
        raise
    finally:
        if is_claimed:
            _release(hook, call)


def _call_name(event: "events.HookEvent", data: bytes, *, heard: bool) -> str:
    """Return what calls of hooks for the same event have in common."""
    from binascii import crc32

    return f"{event.raw} {event.call or f'{crc32(data):08x}'}{'' if heard else ' unheard'}"


def _claim(hook: Hook, call: str) -> "bool | None":
    """Return whether no other hook of ours was called for the same event.

    None where a database that is busy or broken does not tell: better twice than not at all.
    """
    from binascii import crc32

    from gitmem.base import processes

    command = f"{crc32(processes.starting_command()):08x}"
    try:
        return hook_calls.claim(hook.repo.state, hook.event.context, call, hook.now, command)
    except Exception:  # noqa: BLE001 - the event is kept, whatever the database does
        hook.repo.hurry()
        return None


def _release(hook: Hook, call: str) -> None:
    try:
        hook_calls.release(hook.repo.state, hook.event.context, call, time.time())
    except Exception:  # noqa: BLE001 - it counts as at work for some seconds
        hook.repo.hurry()
