"""What each event of an agent's session does: what it leaves behind, and what it is answered.

Part of the hot path: nothing here writes git. What has to be committed waits in the journal, or as
a request, and a detached `git mem drain` does it. Imports are the standard library's cheap modules
and ours that keep to them, and each event imports its own module alone.
"""

from gitmem.agents import events
from gitmem.base.tolerated import BUSY
from gitmem.state import late_answers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.hooks.context import Hook

# event -> (module of this package, its function, which returns the lines to tell)
HANDLERS = {
    events.SESSION_START: ("session_start", "start"),
    events.PROMPT: ("prompt", "prompt"),
    events.BEFORE_TOOL: ("tool_use", "before"),
    events.AFTER_TOOL: ("tool_use", "after"),
    events.TOOL_FAILED: ("tool_failure", "failed"),
    events.BEFORE_COMPACT: ("turn_end", "compact"),
    events.AFTER_COMPACT: ("turn_end", "compacted"),
    events.TURN_END: ("turn_end", "turn"),
    events.SESSION_END: ("turn_end", "end"),
}
# these say who is at work and what is asked for; so does a command that may be one of git's
ACTING = frozenset({events.SESSION_START, events.PROMPT, events.TURN_END})
# with the first of these a session is told what could not be told before, and, where its agent says
# nothing of a compaction, what it has forgotten
LATE = frozenset({events.PROMPT, events.BEFORE_TOOL, events.AFTER_TOOL, events.TOOL_FAILED})


def _remember(hook: "Hook") -> None:
    """Note what an event says of the work that is done."""
    event = hook.event
    if event.name in ACTING or (event.name == events.AFTER_TOOL and "git " in event.command):
        from gitmem.hooks.activity import remember

        try:
            remember(hook)
        except BUSY:  # busy: who is at work is not worth an answer
            hook.repo.hurry()


def react(hook: "Hook") -> "list[str]":
    """Do what an event calls for; return the lines to tell the model."""
    event = hook.event
    _remember(hook)
    module, name = HANDLERS[event.name]
    lines: list[str] = getattr(__import__(f"gitmem.hooks.{module}", fromlist=[name]), name)(hook)
    if hook.hears and event.name in LATE and hook.repo.settings.get("inject"):
        try:
            if late_answers.is_owed(hook.repo.state, event.context):
                from gitmem.hooks.late import late_lines

                lines = [*late_lines(hook), *lines]
        except BUSY:  # busy: it is still owed
            hook.repo.hurry()
    if hook.hears and not hook.hears_after_compact and event.name in LATE:
        from gitmem.state import context_flags

        if not event.subagent and context_flags.take_owed_history(hook.repo.state, event.session):
            from gitmem.hooks.compaction import after_compaction

            lines = [*after_compaction(hook, late=True), *lines]
    return lines
