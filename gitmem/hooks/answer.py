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
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def answer(
    speaks: Adapter,
    event: events.HookEvent,
    env: "Mapping[str, str]",
    now: float,
    ready: "Callable[[Hook | None], None]",
    begun: float,
    before: float,
    *,
    heard: bool,
) -> bytes:
    """Return what to print for an event: nothing, or one JSON object.

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
    note(hook)
    try:
        lines = react(hook)
    except sqlite.DatabaseError as error:
        hook.mend(error)
        raise
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
