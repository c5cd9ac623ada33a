"""The first message of an agent that is activated.

It says who the agent is, where the project stands, what was done before, what may come next and
what the agent can be asked for. This module is pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.records.kinds import short_id
from gitmem.services.briefing import agent_definitions
from gitmem.services.briefing.activation import ERROR, FALLBACK, TIMEOUT, Activation
from gitmem.services.briefing.agent_definitions import FULL, KEY, QUICK
from gitmem.services.records.committers import marked_title
from gitmem.services.work.context import WorkContext, spoken
from gitmem.state.workflow import EXISTING, NEW, WORKFLOW, ago

COMMANDS = 12
FILES, TASKS, NEXT = 3, 4, 4
LEVEL: Mapping[str, tuple[str, str]] = {
    NEW: (FULL, "Commands"),
    EXISTING: (QUICK, "Quick commands"),
    WORKFLOW: (KEY, "Key commands"),
}

ICON = "🤖"
LINE, SUBJECT = 160, 60


def kind(active: Activation) -> str:
    """Return the kind of the session: new, where that is not known."""
    definition = active.value("session")
    return definition.kind if isinstance(definition, WorkContext) else NEW


def greet(active: Activation, now: float) -> str:
    """Return the greeting: the parts that have content, separated by empty lines."""
    what = kind(active)
    definition = active.value("session")
    context = definition if isinstance(definition, WorkContext) else None
    parts = [_head(active, context, what)]
    if what == NEW and active.agent.role:
        parts.append([f"Role: {active.agent.role}"])
    parts += [
        _status(active, what, now),
        _before(active, context, what),
        _next(context, what),
        _fact_lines(active),
    ]
    parts += [_commands(active, what), _foot(active)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(active: Activation, context: WorkContext | None, what: str) -> list[str]:
    agent = active.agent
    icon = agent.icon or ICON
    if active.quality == FALLBACK:
        where = f" ({agent.path})" if agent.path else ""
        return [
            (
                f"{icon} {agent.name} is ready, without its definition{where}: "
                f"{agent.problem or 'it was not there in time'}."
            )
        ]
    name = f"{agent.name}, {agent.title}" if agent.title else agent.name
    if what == WORKFLOW and context:
        return [f"{icon} {name}: {context.workflow} is under way."]
    if what == EXISTING and context:
        if context.story:
            return [f"{icon} {name}: going on with {context.story}."]
        if agent.name in {agent["agent"] for agent in context.agents}:
            return [f"{icon} {name}: welcome back."]
    return [f"{icon} {name}: ready."]


def _status(active: Activation, what: str, now: float) -> list[str]:
    """Return where the project stands: git, the epic."""
    out = []
    git = active.value("git")
    if git:
        last = f", {_last_commit(git['commit'], now)}" if what != WORKFLOW else ""
        out.append(f"Project: {_checked_out(git)}{last}.")
    epic = active.value("work")
    if epic:
        story = f", story {epic['story']}" if epic.get("story") else ""
        phase = f", phase {epic['phase']}" if epic.get("phase") else ""
        out.append(
            f"Epic: {_cut(str(epic['title']))}{story}{phase}, {epic['done']} of {epic['total']} "
            f"stories done, {epic['standing']}{_by(epic)}."
        )
    if what == NEW and active.value("dna"):
        out.append(f"About: {_cut(active.value('dna'))}")
    return out


def _checked_out(git: Mapping[str, Any]) -> str:
    """Return the branch and what is changed there."""
    on = f"on {git['branch']}" if git["branch"] else "on no branch"
    if not git["changed"]:
        return f"{on}, nothing changed"
    names = ", ".join(git["files"][:FILES]) + (" …" if git["changed"] > FILES else "")
    return f"{on}, {git['changed']} changed file{'' if git['changed'] == 1 else 's'} ({names})"


def _last_commit(commit: Mapping[str, Any] | None, now: float) -> str:
    if not commit:
        return "no commit yet"
    by = f" by {_cut(commit['by'], SUBJECT)}" if commit["by"] else ""
    age = ago(max(0.0, now - commit["at"]))
    return f"last commit {age}{by}: {_cut(commit['subject'], SUBJECT)}"


def _by(epic: Mapping[str, Any]) -> str:
    return f", by {_cut(epic['by'], SUBJECT)}" if epic["by"] else ""


def _before(active: Activation, context: WorkContext | None, what: str) -> list[str]:
    """Return what was before, and what was handed over."""
    out = [f"Context: {context.message}"] if context and context.message and what != NEW else []
    for row in active.value("handovers") or ():
        body = " ".join(str(row.get("body", "")).split())
        out.append(
            f"Handed over: {_cut(marked_title(row))}{f'. {_cut(body)}' if body else ''} "
            f"({short_id(row['id'])})"
        )
    return out


def _next(context: WorkContext | None, what: str) -> list[str]:
    if context is None or what == NEW or not context.next:
        return []
    return [f"Next: {', '.join(map(spoken, context.next[:NEXT]))}"]


def _fact_lines(active: Activation) -> list[str]:
    """Return what to look out for, what is left to do, what this agent remembers."""
    out = [
        f"Watch out: {_cut(marked_title(row))} ({short_id(row['id'])})"
        for row in active.value("gotchas") or ()
    ]
    tasks: Sequence[str] = active.value("tasks") or ()
    out += [f"To do: {_cut(text)}" for text in tasks[:TASKS]]
    out += (
        [f"… {len(tasks) - TASKS} more to do: git mem session briefing"]
        if len(tasks) > TASKS
        else []
    )
    return out + [
        f"Remembered: {_cut(marked_title(row))} ({short_id(row['id'])})"
        for row in active.value("memories") or ()
    ]


def _commands(active: Activation, what: str) -> list[str]:
    level, name = LEVEL[what]
    some = agent_definitions.listed(active.agent.commands, level, COMMANDS)
    wide = max((len(command.name) for command in some), default=0)
    return (
        [
            f"{name}:",
            *(f"  {command.name:<{wide}}  {command.description}".rstrip() for command in some),
        ]
        if some
        else []
    )


def _foot(active: Activation) -> list[str]:
    late = [
        result.name
        for result in active.results
        if result.status == TIMEOUT and result.name != "definition"
    ]
    wrong = [
        f"{result.name} ({_cut(result.error, LINE)})"
        for result in active.results
        if result.status == ERROR and result.name != "definition"
    ]
    out = (
        [
            (
                f"Not there in time: {', '.join(late)}. Again in a moment, or with more time: "
                f"--timeout 2000"
            )
        ]
        if late
        else []
    )
    return [*out, f"Not loaded: {', '.join(wrong)}."] if wrong else out


def _cut(text: str, most: int = LINE) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
