"""A hand-over from one agent to another, as a record.

It says where the work stands, what was decided, what is open, and what shows it.

It is a memory of type `context` in the namespace of the agent that takes over, tagged `handover`:
shared by sync, told when that agent starts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.records.record import Record
from gitmem.services.records import write as memories
from gitmem.services.records.write import Change, Writer
from gitmem.services.work.context import HANDOVER, WorkContext, spoken
from gitmem.store.store import Message, Store

SENDER = "from-"  # a tag that says whose it is
DIRTY = 40  # changed files that are named
TITLE = 100  # characters of what was said that become the title


@dataclass(frozen=True, slots=True)
class Handover:
    """What is handed over.

    `decisions` and `tasks` are (id, title) of records, or ('', what was said); the same for
    `evidence`.
    """

    sender: str
    to: str
    message: str = ""
    decisions: Sequence[tuple[str, str]] = ()
    tasks: Sequence[tuple[str, str]] = ()
    evidence: Sequence[tuple[str, str]] = ()
    commit: str = ""
    dirty: Sequence[tuple[str, str]] = ()  # (path, status)

    def facts(self, on: WorkContext) -> dict[str, object]:
        """Return all of it as JSON has it, the context as it was."""

        def rows(some: Sequence[tuple[str, str]]) -> list[dict[str, str | None]]:
            return [{"id": id or None, "text": text} for id, text in some]

        return {
            "from_agent": self.sender or None,
            "to_agent": self.to,
            "message": self.message or None,
            "context": {
                "branch": on.branch or None,
                "commit": self.commit or None,
                "changed_files": [{"path": path, "status": status} for path, status in self.dirty],
                "workflow": on.workflow or None,
                "state": on.state or None,
                "next_steps": on.next,
                "story": on.story or None,
                "last_commands": on.commands,
            },
            "decisions": rows(self.decisions),
            "tasks": rows(self.tasks),
            "evidence": rows(self.evidence),
        }


def title_of(given: Handover, on: WorkContext) -> str:
    """Return one line for a list: from whom to whom, and what about."""
    return f"{f'@{given.sender} to ' if given.sender else 'To '}@{given.to}: {_about(given, on)}"


def _about(given: Handover, on: WorkContext) -> str:
    about = (
        " ".join(given.message.split())
        or (f"{on.workflow}, {on.state}" if on.workflow else on.story)
        or (on.commands[-1:] or ["the work in hand"])[0]
    )
    return about if len(about) <= TITLE else about[: TITLE - 1].rstrip() + "…"


def body_of(given: Handover, on: WorkContext) -> str:
    """Return the text of a hand-over.

    First comes what the title had no room for, then where the work stands, then a list each of what
    is decided, open and shown.
    """
    stands = [
        f"Workflow: {on.workflow}, {on.state}{'' if on.sure else ' (begun)'}"
        if on.workflow
        else "",
        f"Usual next: {', '.join(map(spoken, on.next))}" if on.next else "",
        f"Story: {on.story}" if on.story else "",
        f"Branch: {on.branch}{f' at {given.commit[:12]}' if given.commit else ''}"
        if on.branch
        else "",
        f"Last commands: {', '.join(map(spoken, on.commands[-5:]))}" if on.commands else "",
        *(f"Failed: {task['task']}" for task in on.tasks[-5:] if not task["success"]),
        f"Not committed: {', '.join(path for path, _ in given.dirty[:DIRTY])}"
        + (" and more" if len(given.dirty) > DIRTY else "")
        if given.dirty
        else "",
    ]
    parts = [
        ("Where it stands", [line for line in stands if line]),
        ("Decided", [_item(item) for item in given.decisions]),
        ("Open", [_item(item) for item in given.tasks]),
        ("Evidence", [_item(item) for item in given.evidence]),
    ]
    said = given.message.strip()
    text = f"{said}\n" if said and said != _about(given, on) else ""  # the title has it
    return text + "".join(
        f"\n## {name}\n\n" + "".join(f"- {' '.join(item.split())}\n" for item in items)
        for name, items in parts
        if items
    )


def _item(item: tuple[str, str]) -> str:
    id, text = item
    return f"{text} ({id})" if id else text


def write(
    store: Store, who: Writer, given: Handover, on: WorkContext, open_ones: Sequence[Record]
) -> Change:
    """Write a hand-over; `open_ones` are those that are open to either agent.

    One from the same agent to the same agent takes the place of the one before. What was handed to
    the agent that hands on is done with.
    """
    links = sorted({id for id, _ in (*given.decisions, *given.tasks, *given.evidence) if id})
    new = memories.draft(
        who._replace(agent=given.to),
        "memory",
        title_of(given, on),
        body_of(given, on),
        type="context",
        importance=7.0,
        tags=[HANDOVER, *([f"{SENDER}{given.sender}"] if given.sender else [])],
        links=links or None,
    )
    mine = [
        handover
        for handover in open_ones
        if handover.get("agent") == given.to and _sender(handover) == given.sender
    ]
    taken = [
        handover for handover in open_ones if given.sender and handover.get("agent") == given.sender
    ]
    change = (
        memories.supersede(store, who, mine[0], new)
        if mine
        else memories.add(store, who, new, HANDOVER)
    )
    # no decision about a fact: it was meant for a reader, who has dealt with it
    if ended := memories.archivals(who, [*mine[1:], *taken]):
        ids = tuple(handover.id for handover in (*mine[1:], *taken))
        store.write(ended, Message("memory: hand-overs that are dealt with", "archive", ids))
    return change


def _sender(record: Record) -> str:
    return next((tag[len(SENDER) :] for tag in record.tags if tag.startswith(SENDER)), "")
