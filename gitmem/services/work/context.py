"""What the next agent has to know about the work in progress.

It has to know the kind of session, who worked on it, what was done last, where the workflow stands,
and what is handed over.

`load` asks for a command or an activation, `of` for whoever has the parts; hooks load this too:
cheap imports only.
"""

import os

from gitmem.clock import stamp
from gitmem.errors import InvalidRecord
from gitmem.records.kinds import LIVE
from gitmem.repo.location import storable
from gitmem.repo.refs import branch
from gitmem.state import activity, epic_holders, workflow
from gitmem.state.workflow import (
    AGENT,
    ASSISTANT,
    COMMAND,
    TASK,
    Act,
    WorkflowState,
    WorkflowTable,
    ago,
    fill,
    infer,
    is_fresh,
    kind_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.state.database import State

HANDOVER = "handover"  # the tag of a record that hands work over
HANDED = 3  # of these that are told
SHOWN = 5  # commands in a message


class WorkContext:
    """The work in hand, as the next agent finds it.

    Times are epoch seconds; where the kind is `new`, there is nothing of before.
    """

    __slots__ = (
        "agent",
        "agents",
        "began",
        "branch",
        "commands",
        "handovers",
        "id",
        "kind",
        "last",
        "message",
        "next",
        "now",
        "observed",
        "previous",
        "state",
        "story",
        "sure",
        "tasks",
        "workflow",
    )

    def __init__(self, kind: str, agent: str, now: float) -> None:
        self.kind = kind
        self.agent = agent
        self.now = now
        self.id = ""
        self.began = self.last = 0.0
        # agent, at, command: the last one that is another
        self.previous: dict[str, Any] | None = None
        self.commands: list[str] = []  # the last ten, the latest at the end
        self.agents: list[dict[str, Any]] = []  # agent, at
        self.tasks: list[dict[str, Any]] = []  # task, at, success, agent, story
        self.workflow = self.state = self.story = self.branch = self.message = ""
        self.sure = False  # the state was reported as done; else its command was only given
        self.observed = False  # it is known from commands that tools ran alone
        self.next: list[str] = []
        self.handovers: list[dict[str, Any]] = []  # rows of records, the latest first

    def facts(self) -> "dict[str, Any]":
        """Return all of it as JSON has it."""
        previous = self.previous
        return {
            "kind": self.kind,
            "id": self.id or None,
            "agent": self.agent or None,
            "started": _time(self.began),
            "last_seen": _time(self.last),
            "previous_agent": {
                "agent": previous["agent"],
                "at": _time(previous["at"]),
                "command": previous.get("command") or None,
                "failed": bool(previous.get("failed")),
            }
            if previous
            else None,
            "last_commands": self.commands,
            "agents": [{**agent, "at": _time(agent["at"])} for agent in self.agents],
            "tasks": [{**task, "at": _time(task["at"])} for task in self.tasks],
            "workflow": self.workflow or None,
            "state": self.state or None,
            "state_is_done": self.sure if self.workflow else None,
            "next_steps": self.next,
            "story": self.story or None,
            "branch": self.branch or None,
            "message": self.message or None,
            "handovers": [
                {k: row.get(k) for k in ("id", "title", "author", "created", "agent")}
                for row in self.handovers
            ],
        }


def _time(at: float) -> str | None:
    return stamp(at) if at else None


def root_of(worktree: str | None) -> str:
    """Return how a work tree is called in `state.db`; '' for a bare repository."""
    return storable(os.path.realpath(worktree)) if worktree else ""


def load(
    app: "Any",
    agent: str = "",
    *,
    session: str = "",
    history: "Sequence[Mapping[str, Any]] | None" = None,
    strict: bool = False,
) -> WorkContext:
    """Return the context of an app's work tree for an agent ('' is nobody in particular).

    `session` is the agent's session that this runs in; `history` are messages of a conversation,
    which go before what is known here. A repository's table of workflows that is wrong raises
    InvalidRecord where that is `strict`; else the preset holds.
    """
    from gitmem.services.work import workflow_file, workflow_table

    root = root_of(app.location.worktree)
    try:
        table, _ = workflow_file.load(app.home, root)
    except InvalidRecord:
        if strict:
            raise
        table = WorkflowTable(workflow_table.preset(root))
    context = of(
        app.state,
        table,
        root,
        app.clock.now(),
        agent,
        session=session,
        on=branch(app.location),
        said=from_history(table, history, agent) if history else None,
    )
    if agent:
        context.handovers = handed([app.index()], (agent,))
    return context


def of(
    state: "State",
    table: WorkflowTable,
    root: str,
    now: float,
    agent: str = "",
    *,
    session: str = "",
    on: str = "",
    talked: bool = False,
    said: "Sequence[Act] | None" = None,
) -> WorkContext:
    """Return the context of a work tree.

    `talked` is a conversation that goes on, `said` one that was handed in, which counts alone.
    """
    mine = activity.current(state, root) if said is None else None
    if (
        mine is not None
        and not is_fresh(mine.last, now)
        and not (session and mine.session == session)
    ):
        mine = None
    done = list(said) if said is not None else activity.of(state, root, mine.began) if mine else []
    commands = _commands(done)
    position = infer(table, done)
    talks = talked or bool(said is not None) or bool(mine and mine.asked)
    context = WorkContext(kind_of(table, commands, position, talked=talks), agent, now)
    context.branch = on
    if context.kind == workflow.NEW:
        return context
    if mine:
        # 2026-01-02T03:04:05Z is 20260102-030405 in an id
        moment = stamp(mine.began).translate({45: None, 58: None, 84: "-", 90: None})
        context.id = f"ctx-{moment}-{int(mine.began * 1000) % 1000:03d}"
        context.began, context.last, context.story = mine.began, mine.last, mine.story
    epic = epic_holders.chosen(state, root)[4:]
    _tell(context, table, done, position, epic)
    return context


def _tell(
    context: WorkContext,
    table: WorkflowTable,
    done: "Sequence[Act]",
    position: WorkflowState,
    epic: str,
) -> None:
    """Fill in what was done, where it stands, and what to say of it.

    `epic` is the one that this work tree is at.
    """
    context.commands = _commands(done)[-workflow.COMMANDS :]
    context.agents = _agents(done)[-workflow.AGENTS :]
    context.tasks = [
        {"task": act.what, "at": act.at, "success": act.ok, "agent": act.agent, "story": act.story}
        for act in done
        if act.kind == TASK
    ][-workflow.TASKS :]
    context.workflow, context.state, context.sure = position.workflow, position.state, position.sure
    context.observed = position.role == workflow.TOOL
    values = {"story_path": context.story, "branch": context.branch, "epic": epic}
    context.next = [
        fill(command, values)
        for command in table.after(position.workflow, position.state, position.by)
    ]
    others = [agent for agent in context.agents if agent["agent"] != context.agent]
    if others:
        last = others[-1]
        # what an agent has only named is not what it did
        given = [
            act
            for act in done
            if act.kind != AGENT and act.agent == last["agent"] and act.role != ASSISTANT
        ]
        context.previous = {
            **last,
            "at": max([last["at"], *(act.at for act in given)]),
            "command": given[-1].what if given else None,
            "failed": bool(given) and not given[-1].ok,
        }
    context.message = _message(context)


def _commands(done: "Sequence[Act]") -> "list[str]":
    """Return commands given and tasks done in their order.

    A task right after its command is the same one.
    """
    out: list[str] = []
    for act in done:
        if act.kind == AGENT:
            continue
        if out and act.kind == TASK and workflow.normal(out[-1]) == workflow.normal(act.what):
            continue
        out.append(act.what)
    return out


def _agents(done: "Sequence[Act]") -> "list[dict[str, Any]]":
    """Return the agents in the order in which they came, each time that another one took over."""
    out: list[dict[str, Any]] = []
    for act in done:
        if act.agent and (not out or out[-1]["agent"] != act.agent):
            out.append({"agent": act.agent, "at": act.at})
    return out


def spoken(command: str) -> str:
    """Return a command as people write it: `*develop docs/a.md`; git's own as they are."""
    return command if command.startswith("git ") else f"*{command}"


def _message(context: WorkContext) -> str:
    """Return one sentence or two for the next agent, '' when there is nothing to say."""
    parts = []
    if context.previous:
        failed = " (failed)" if context.previous["failed"] else ""
        last = (
            f"; last: {spoken(context.previous['command'])}{failed}"
            if context.previous["command"]
            else ""
        )
        parts.append(
            f"Continuing from @{context.previous['agent']}, "
            f"{ago(context.now - context.previous['at'])}{last}."
        )
    if context.commands and not (
        context.previous and len(context.commands) == 1 and context.previous["command"]
    ):
        parts.append(f"Recent commands: {', '.join(map(spoken, context.commands[-SHOWN:]))}.")
    if context.workflow:
        parts.append(
            f"Workflow: {context.workflow}, {context.state}{'' if context.sure else ' (begun)'}."
        )
    if context.story:
        parts.append(f"Story: {context.story}.")
    return " ".join(parts)


def from_history(
    table: WorkflowTable, messages: "Sequence[Mapping[str, Any]]", agent: str = ""
) -> "list[Act]":
    """Return the commands of a conversation as acts; what is not a message is passed over.

    `content` may be a text or parts with texts.
    """
    from gitmem.services.work.slash_commands import commands

    out: list[Act] = []
    for message in messages:
        if not isinstance(message, dict):
            continue
        role = (
            workflow.ASSISTANT
            if message.get("role") in {"assistant", "model", "ai"}
            else workflow.USER
        )
        text = _text(message.get("content") or message.get("text") or message.get("parts"))
        out += [
            Act(COMMAND, name, agent=agent, role=role)
            for name in commands(text, table.known, spoken_by_user=role == workflow.USER)
        ]
    return out


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            _text(part.get("text") if isinstance(part, dict) else part) for part in content
        )
    return ""


def handed(indexes: "Sequence[Index]", agents: "Sequence[str]") -> "list[dict[str, Any]]":
    """Return the open hand-overs to these agents, the latest first."""
    rows: list[dict[str, Any]] = []
    for index in indexes:
        rows += index.rows(
            what="context",
            statuses=LIVE,
            agents=agents,
            tags=(HANDOVER,),
            limit=HANDED,
            order="created",
        )
    return rows[:HANDED]


# -- what is noted of the work in hand


def activated(app: "Any", agent: str, *, session: str = "") -> None:
    """Note that an agent has come. One that is there already comes no second time."""
    root = root_of(app.location.worktree)
    activity.note(
        app.state,
        root,
        app.clock.now(),
        [Act(AGENT, agent, agent=agent, session=session)],
        conversation=session,
        once=True,
    )
