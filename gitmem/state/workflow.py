"""Workflows as a table, and where work stands in them: pure rules, no I/O.

Standard library's cheap modules only: hooks load this.

A workflow is a row of transitions: a command or a task that, done, brings a state, and what usually
comes next. The table that ships is `gitmem/services/work/workflows.json`; a repository's own
extends it (`docs/work.md`).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

TTL = 3600.0  # seconds that what was done last stands for the work in hand
SKEW = 300.0  # seconds that a clock may be ahead of ours
COMMANDS, AGENTS, TASKS = 10, 20, 20  # of each that a context tells
NEW, EXISTING, WORKFLOW = "new", "existing", "workflow"  # kinds of session
AGENT, COMMAND, TASK = "agent", "command", "task"  # kinds of act
USER, ASSISTANT, TOOL = "user", "assistant", "tool"  # who gave a command
GIT = ("add", "commit", "push")


class Act:
    """One act: an agent started, a command was given, or a task was done or failed (`ok`)."""

    __slots__ = ("agent", "at", "kind", "ok", "role", "session", "story", "what")

    def __init__(
        self,
        kind: str,
        what: str,
        *,
        at: float = 0.0,
        agent: str = "",
        session: str = "",
        role: str = USER,
        ok: bool = True,
        story: str = "",
    ) -> None:
        self.kind = kind
        self.what = what
        self.at = at
        self.agent = agent
        self.session = session
        self.role = role
        self.ok = ok
        self.story = story


class Transition:
    """One row of a workflow: `trigger` brings `state`, after which `next` is usual."""

    __slots__ = ("next", "state", "trigger")

    def __init__(self, state: str, trigger: str, next: "Sequence[str]") -> None:
        self.state = state
        self.trigger = trigger
        self.next = tuple(next)


class Workflow:
    """A workflow: its transitions in their order, and its threshold.

    The threshold is how many of its commands, in a row of ten, make it the active workflow.
    """

    __slots__ = ("name", "threshold", "transitions")

    def __init__(self, name: str, threshold: int, transitions: "Sequence[Transition]") -> None:
        self.name = name
        self.threshold = threshold
        self.transitions = tuple(transitions)


class WorkflowTable:
    """All workflows, and the tasks that bring a state though they are not trigger of it.

    Order counts: the first row that fits is taken.
    """

    def __init__(self, data: "Mapping[str, Any]") -> None:
        self.workflows: dict[str, Workflow] = {}
        self._rows: dict[str, list[tuple[str, str]]] = {}
        self._tasks = [(row["task"], row["workflow"], row["state"]) for row in data["tasks"]]
        for row in data["tasks"]:
            self._rows.setdefault(normal(row["task"]), []).append((row["workflow"], row["state"]))
        for name, flow in data["workflows"].items():
            steps = [
                Transition(transition["state"], transition["trigger"], transition["next"])
                for transition in flow["transitions"]
            ]
            self.workflows[name] = Workflow(name, int(flow["threshold"]), steps)
            for step in steps:
                self._rows.setdefault(normal(step.trigger), []).append((name, step.state))
        self.known = frozenset(
            {
                *self._rows,
                *(
                    normal(command)
                    for flow in self.workflows.values()
                    for step in flow.transitions
                    for command in step.next
                ),
            }
        )

    def resolve(self, name: str, active: str = "") -> "tuple[str, str] | None":
        """Return (workflow, state) that a command or task brings, None for one that is in no row.

        Of several the active workflow's, else the first.
        """
        rows = self._rows.get(normal(name), ())
        return next((row for row in rows if row[0] == active), rows[0] if rows else None)

    def tasks_of(self, workflow: str) -> "list[tuple[str, str]]":
        """Return (task, state) of the rows that name a workflow beside its own transitions."""
        return [(task, state) for task, name, state in self._tasks if name == workflow]

    def after(self, workflow: str, state: str, done: str = "") -> "tuple[str, ...]":
        """Return what is usual after a state; not what brought it by a row of its own."""
        flow = self.workflows.get(workflow)
        for step in flow.transitions if flow else ():
            if step.state == state:
                return tuple(
                    command
                    for command in step.next
                    if normal(command) != normal(done) or normal(done) == normal(step.trigger)
                )
        return ()

    def pattern(self, commands: "Iterable[str]", active: str = "") -> str:
        """Return the workflow of which these commands hold enough different triggers.

        Of several the active one, else the first; '' for none.
        """
        given = {normal(command) for command in commands}
        fits = [
            name
            for name, flow in self.workflows.items()
            if len({normal(step.trigger) for step in flow.transitions} & given) >= flow.threshold
        ]
        return active if active in fits else fits[0] if fits else ""


class WorkflowState:
    """Where work stands.

    It has the workflow and its state, what led to it, and whether that was reported as done; else
    it was only begun.
    """

    __slots__ = ("at", "by", "role", "state", "sure", "workflow")

    def __init__(
        self,
        workflow: str = "",
        state: str = "",
        by: str = "",
        *,
        sure: bool = False,
        role: str = USER,
        at: float = 0.0,
    ) -> None:
        self.workflow = workflow
        self.state = state
        self.by = by
        self.sure = sure
        self.role = role
        self.at = at


def normal(name: str) -> str:
    """Return the name that a command or task has in the table.

    It is in lower case, without a mark before it and without its arguments.
    """
    words = name.strip().lower().split()
    if not words:
        return ""
    head = words[0][1:] if words[0][0] in "*/" else words[0]
    if head == "git" and len(words) > 1:
        return f"git {words[1]}"
    return f"git {head[4:]}" if head[:4] == "git-" and head[4:] in GIT else head


def infer(table: WorkflowTable, acts: "Iterable[Act]") -> WorkflowState:
    """Return where work stands after what was done, in its order.

    A task that failed takes back what its command had begun, and advances nothing; one that is in
    no row changes nothing. What an agent only names does not advance anything either. A git command
    that a tool ran takes over where nothing else is at work, or where it is due.
    """
    past: list[WorkflowState] = []
    for act in acts:
        if act.kind == AGENT or (act.kind == COMMAND and act.role == ASSISTANT):
            continue
        name = normal(act.what)
        now = past[-1] if past else WorkflowState()
        if act.kind == TASK and not act.ok:
            if now.by == name and not now.sure:
                past.pop()
            continue
        resolved = table.resolve(name, now.workflow)
        if resolved is None or (
            act.role == TOOL
            and now.workflow not in {"", resolved[0]}
            and not _due(table, now, resolved[0])
        ):
            continue
        sure = act.kind == TASK or act.role == TOOL
        if now.by == name and (now.workflow, now.state) == resolved:
            past.pop()
            sure = sure or now.sure
        past.append(WorkflowState(*resolved, name, sure=sure, role=act.role, at=act.at))
    return past[-1] if past else WorkflowState()


def _due(table: WorkflowTable, now: WorkflowState, workflow: str) -> bool:
    """Say whether another workflow is what comes next."""
    return any(
        (resolved := table.resolve(command)) is not None and resolved[0] == workflow
        for command in table.after(now.workflow, now.state)
    )


def is_fresh(last: float, now: float) -> bool:
    """Return whether an earlier act still counts for the work in progress.

    It counts for an hour, the end of that hour included. A clock that is a little ahead is
    accepted.
    """
    # to the millisecond: differences of times this large are not exact
    age = round(now - last, 3)
    return -SKEW <= age <= TTL


def kind_of(
    table: WorkflowTable, commands: "Sequence[str]", position: WorkflowState, *, talked: bool
) -> str:
    """Return the kind of a session.

    It depends on the last commands, on where work stands, and on whether anything else was said in
    the session.
    """
    if position.workflow and position.sure and position.role != TOOL:
        return WORKFLOW
    if table.pattern(commands[-COMMANDS:], position.workflow):
        return WORKFLOW
    return EXISTING if commands or position.workflow or talked else NEW


def fill(template: str, values: "Mapping[str, str]") -> str:
    """Return a next step with what stands for `${story_path}`, `${branch}`, `${epic}`.

    What is not known is left out.
    """
    out, rest = "", template
    while (start := rest.find("${")) >= 0 and (end := rest.find("}", start)) >= 0:
        out += rest[:start] + values.get(rest[start + 2 : end], "")
        rest = rest[end + 1 :]
    return " ".join((out + rest).split())


def ago(seconds: float) -> str:
    """Return how long ago something was, as people say it."""
    minutes = int(max(0.0, seconds) // 60)
    if minutes < 1:
        return "just now"
    count, unit = (
        (minutes, "minute")
        if minutes < 60
        else (minutes // 60, "hour")
        if minutes < 1440
        else (minutes // 1440, "day")
    )
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
