"""What is injected about the work in hand at the start of a session.

It is one line, and what was handed over to this agent. This module is part of the hot path.
"""

from gitmem.agents.prompt_text import clean, record_line
from gitmem.hooks.injection import inject
from gitmem.repo.refs import branch
from gitmem.services.records.committers import is_accepted
from gitmem.services.work import context, workflow_table
from gitmem.state.workflow import NEW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.hooks.context import Hook

    Row = dict[str, Any]

LONG = 400  # characters of the line
BODY = 700  # of what was handed over
# starts of a session whose conversation is there already
TALKED = frozenset({"resume", "compact", "fork"})
_KEPT = "context of a start"


def context_before(hook: "Hook") -> context.WorkContext:
    """Return the context as it was before the event; asked once a call."""
    kept: context.WorkContext | None = hook.__dict__.get(_KEPT)
    if kept is None:
        table, is_current = workflow_table.quick(hook.repo.home, hook.repo.stored_root)
        if not is_current:
            hook.start_drain("workflows")
        talks = hook.event.source in TALKED
        kept = context.of(
            hook.repo.state,
            table,
            hook.repo.stored_root,
            hook.now,
            hook.agent_name,
            session=hook.event.session if talks else "",
            on=branch(hook.repo.location),
            talked=talks,
        )
        hook.__dict__[_KEPT] = kept
    return kept


def context_lines(hook: "Hook") -> "list[str]":
    """Return the lines to inject about the work in hand.

    There are none for a new session to which nothing was handed over.

    Call it when a session starts. The lines are clean; what is handed over is told once a context,
    as any record is.
    """
    on = context_before(hook)
    lines = []
    # commits alone are not workflow that anybody has chosen
    if on.kind != NEW and (
        on.story or (on.workflow and not on.observed) or (on.previous and on.previous["command"])
    ):
        parts = [on.message]
        if on.next and not on.observed:
            parts.append(
                f"Usual next: {', '.join(context.spoken(command) for command in on.next[:3])}."
            )
        lines.append(f"- work in hand: {clean(' '.join(parts), LONG)}")
    rows = [row for row in _handed(hook) if is_accepted(row, hook.repo.own_addresses)]
    bodies = (
        {
            row["id"]: index.body(row["n"])
            for index in hook.repo.stored_indexes
            for row in index.rows(ids=[task["id"] for task in rows])
        }
        if rows
        else {}
    )
    budget = int(hook.repo.settings.get("injectBudget")) // 3
    return lines + inject(
        hook,
        rows,
        budget,
        lambda row: record_line(
            {**row, "title": _title(row["title"], bodies.get(row["id"], ""))},
            most=BODY,
            body=clean(_flat(bodies.get(row["id"], "")), BODY),
            lead="handed over to you: ",
        ),
        lines,
    )


def offered(hook: "Hook") -> "list[Row]":
    """Return the hand-overs by others that this user has not accepted: records like any other."""
    return [row for row in _handed(hook) if not is_accepted(row, hook.repo.own_addresses)]


def _handed(hook: "Hook") -> "list[Row]":
    who = tuple(
        dict.fromkeys(name for name in (hook.agent_name, hook.event.agent) if name != "global")
    )
    return context.handed(hook.repo.stored_indexes, who)


def _title(title: str, body: str) -> str:
    """Return a hand-over's title, without the beginning of what its text says in full."""
    who, _, about = title.partition(": ")
    return who if about and " ".join(body.split()).startswith(about.removesuffix("…")) else title


def _flat(body: str) -> str:
    """Return a hand-over's text as one line: what was said, then each part with its items."""
    head, *parts = body.split("\n## ")
    out = [head.strip()]
    for part in parts:
        called, _, rest = part.partition("\n")
        items = [line[2:].strip() for line in rest.splitlines() if line.startswith("- ")]
        out += [f"{called}: {'; '.join(items)}."] if items else []
    return " ".join(filter(None, out))
