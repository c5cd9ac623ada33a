"""A turn or a session ends, or its context is compacted: what is to be done later is asked for.

Part of the hot path.
"""

from gitmem.hooks.context import Hook
from gitmem.state import (
    context_flags,
    injections,
    memory_file_requests,
    requests,
    session_ends,
)

JUST = 30.0  # seconds for which a start after a compaction counts as the same one
SNAPSHOT_GAP = 600.0  # seconds between two snapshots of a session


def compact(hook: Hook) -> "list[str]":
    """Ask for a snapshot of the work, before the context goes."""
    session = hook.event.session
    asked = requests.ask_snapshot(hook.repo.state, session, hook.now, SNAPSHOT_GAP)
    if not hook.hears_after_compact:
        injections.forget(
            hook.repo.state, hook.event.context
        )  # the only word that this agent has of it
        context_flags.note_restarted(hook.repo.state, hook.event.context, hook.now)
        if asked:
            context_flags.owe_history(hook.repo.state, session)
    if asked or hook.hears_after_compact:
        # what it is told of itself when it goes on
        context_flags.ask_condensing(hook.repo.state, session, hook.now)
        hook.start_drain(f"compact {session}", sure=True)
    return []


def compacted(hook: Hook) -> "list[str]":
    """Let everything be injected into the session again, unless it just was.

    Some agents start again first, and say afterwards that the compaction is over.
    """
    begun = context_flags.restarted(hook.repo.state, hook.event.context)
    if begun is None or not 0 <= hook.now - begun < JUST:
        injections.forget(hook.repo.state, hook.event.context)
    return []


def turn(hook: Hook) -> "list[str]":
    """Note that a turn is over; nothing is told to the agent."""
    hook.catch_up()
    return []


def end(hook: Hook) -> "list[str]":
    """Close the session, and have its record written."""
    from gitmem.state import attempts

    event = hook.event
    session_ends.end(hook.repo.state, event.session, hook.now, event.source or "end")
    attempts.forget(hook.repo.state, event.session)
    keeps_in_step(hook)
    hook.start_drain(f"end {event.session}", sure=True)
    return []


def keeps_in_step(hook: Hook) -> bool:
    """Have agents' own memory files read and written by the next drain; return whether it does.

    This is done where the setting asks for it.
    """
    root = hook.repo.location.worktree
    if not root or hook.repo.settings.get("native") == "off":
        return False
    memory_file_requests.ask(hook.repo.state, root, hook.now)
    return True
