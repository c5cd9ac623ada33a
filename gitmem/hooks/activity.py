"""What an event says of the work in hand: who is at it, which commands were given.

One write to `state.db`. Part of the hot path.
"""

import os

from gitmem.agents import events
from gitmem.hooks.context import Hook, masked
from gitmem.state import activity
from gitmem.state.workflow import AGENT, ASSISTANT, COMMAND, TOOL, USER, Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# starts of a session whose conversation is there already
GOES_ON = frozenset({"resume", "compact", "fork"})
# where agents of a repository are defined
AGENTS = (".gitmem/agents", ".claude/agents", ".gemini/agents")


def remember(hook: Hook) -> None:
    """Note what the event says of the work in hand."""
    event = hook.event
    if event.name == events.SESSION_START:
        _start(hook)
    elif event.name == events.PROMPT:
        _prompt(hook)
    elif event.name == events.TURN_END:
        who = event.role if event.subagent else ""
        done = [_act(hook, AGENT, who)] if who else []
        done += _given(hook, event.message, ASSISTANT, who)
        activity.note(
            hook.repo.state,
            hook.repo.stored_root,
            hook.now,
            done,
            conversation=event.session,
            once=True,
        )
    elif event.command:
        from gitmem.services.work.slash_commands import git_commands

        if commands := git_commands(event.command):
            who = _who(hook)
            done = [_act(hook, COMMAND, command, TOOL, who) for command in commands]
            activity.note(
                hook.repo.state,
                hook.repo.stored_root,
                hook.now,
                done,
                conversation=event.session,
            )


def _start(hook: Hook) -> None:
    from gitmem.hooks.work_context import context_before
    from gitmem.state import sessions

    event = hook.event
    # as it is before this session is a part of it
    on = context_before(hook)
    sessions.describe(hook.repo.state, event.session, kind=on.kind, branch=on.branch)
    talks = event.session if event.source in GOES_ON else ""
    activity.note(
        hook.repo.state,
        hook.repo.stored_root,
        hook.now,
        [_act(hook, AGENT, hook.agent_name)],
        conversation=talks,
        once=True,
    )


def _prompt(hook: Hook) -> None:
    event = hook.event
    done: list[Act] = []
    text = event.prompt.lstrip()
    story = ""
    if text[:1] == "@":
        from gitmem.services.work.slash_commands import called

        who = called(text)
        if who and any(
            os.path.isfile(os.path.join(hook.repo.root, folder, f"{who}.md"))
            for folder in AGENTS
            if hook.repo.root
        ):
            done.append(_act(hook, AGENT, who))
    given = _given(hook, event.prompt, USER, done[0].agent if done else "")
    if given:
        from gitmem.services.work.slash_commands import story_in

        story = next(filter(None, (story_in(act.what) for act in reversed(given))), "")
    activity.note(
        hook.repo.state,
        hook.repo.stored_root,
        hook.now,
        [*done, *given],
        conversation=event.session,
        asked=1,
        story=story,
    )


def _given(hook: Hook, text: str, role: str, who: str = "") -> "Sequence[Act]":
    """Return the commands in what was said."""
    if "*" not in text and text.lstrip()[:1] != "/":
        return ()
    from gitmem.services.work import workflow_table
    from gitmem.services.work.slash_commands import commands

    table, is_current = workflow_table.quick(hook.repo.home, hook.repo.stored_root)
    if not is_current:
        hook.start_drain("workflows")
    spoken = commands(text, table.known, spoken_by_user=role == USER)
    who = who or (_who(hook) if spoken else "")
    return [_act(hook, COMMAND, masked(command), role, who) for command in spoken]


def _who(hook: Hook) -> str:
    """Return the agent that this session works as: the one that came last in it."""
    row = hook.repo.state.db.execute(
        "SELECT agent FROM acts WHERE root = ? AND session = ? AND kind = ? ORDER BY n DESC "
        "LIMIT 1",
        (hook.repo.stored_root, hook.event.session, AGENT),
    ).fetchone()
    return str(row[0]) if row else hook.agent_name


def _act(hook: Hook, kind: str, what: str, role: str = USER, who: str = "") -> Act:
    return Act(
        kind,
        what,
        agent=who or (what if kind == AGENT else hook.agent_name),
        session=hook.event.session,
        role=role,
    )
