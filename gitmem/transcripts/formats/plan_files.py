"""How far a plan is: plan.md, PROGRESS.md and state.json, as turns and as one small value."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from gitmem.base.fast import loads
from gitmem.transcripts.cleanup import mapping, said, sequence, string
from gitmem.transcripts.formats.text import text
from gitmem.transcripts.turn import USER, Turn

MOST = 8 << 20  # bytes of a state.json
TASKS = 500
KEY = 120  # characters by which a text of a document is known
LINE = 500  # characters of a line that tells how far a plan is
_BOX = re.compile(r"^\s*+(?:[-*+•] |\d++[.)] )?\s*+\[([ xX✓✔~/-])\]\s*+(.+)", re.DOTALL)
_POINT = re.compile(r"^\s*(?:[-*+•] |\d+[.)、] ?)\s*(.+)", re.DOTALL)
_STRUCK_OUT = re.compile(r"~~.+~~[^\w(~]*+(?:\([^~]*\))?", re.DOTALL)
_COUNTS = re.compile(r"(?i)\btasks?\s*[:：]\s*(\d{1,9})\s*/\s*(\d{1,9})\b")
_HEADING = re.compile(r"^#{1,6}\s+(\S.*)$")
_PENDING = re.compile(
    r"(?i)\b(?:pending|to-?dos?|to do|next(?: steps?| up)?|remaining|left|open (?:tasks|items"
    r"|questions)|backlog|upcoming|not (?:started|done)|in progress|doing|wip|blocked|"
    r"pendentes?|pendências|a fazer|próximos passos|por fazer|restantes?|em (?:andamento|curso)"
    r"|pendientes?|por hacer|próximos pasos|siguientes? pasos?|en (?:curso|progreso)|faltan?)\b"
    r"|待办|待完成|未完成|下一步|进行中|剩余|后续"
)
_DONE = re.compile(
    r"(?i)\b(?:done|completed?|finished|shipped|closed|implemented|what was done|accomplished"
    r"|concluíd[oa]s?|feit[oa]s?|finalizad[oa]s?|terminad[oa]s?|prontos?|hech[oa]s?|completad[oa]s?"
    r"|listos?)\b|已完成|完成情况|已做|完成的"
)
_PHASE = re.compile(
    r"(?i)^[ \t>*_#-]*+(?:current |fase |当前)?(?:phase|stage|status|fase(?: (?:atual|actual))?"
    r"|etapa(?: (?:atual|actual))?|estado|阶段|状态)[*_]*+\s*+[:：][*_]*+\s*+([^\n]*[^\s*_])[\s*_]*$",
    re.MULTILINE,
)
_LISTS = {
    "pending": (
        "pending",
        "todo",
        "tasks_pending",
        "pending_tasks",
        "pendingTasks",
        "in_progress",
        "inProgress",
        "doing",
        "wip",
        "current_tasks",
        "currentTasks",
        "remaining",
        "next",
        "next_steps",
        "nextSteps",
        "stories_pending",
        "backlog",
    ),
    "completed": (
        "completed",
        "done",
        "tasks_done",
        "completed_tasks",
        "completedTasks",
        "finished",
        "stories_done",
    ),
}
_DROPPED = {
    "rejected",
    "declined",
    "wontfix",
    "cancelled",
    "canceled",
    "dropped",
    "abandoned",
    "superseded",
    "deprecated",
    "obsolete",
    "invalid",
    "duplicate",
    "skipped",
    "replaced",
    "rejeitado",
    "substituído",
    "substituida",
    "rechazado",
    "sustituido",
    "sustituida",
    "reemplazado",
    "cancelado",
    "descartado",
    "已取消",
    "已拒绝",
}
# lists of what is begun, or one of them
_DOING = ("in_progress", "inProgress", "doing", "wip", "current_tasks", "currentTasks")
_REPLACED = ("superseded_by", "supersededBy", "replaced_by", "replacedBy")
_NO_NAME = {
    "",
    "-",
    "–",
    "—",
    "none",
    "null",
    "nil",
    "n/a",
    "na",
    "no",
    "false",
    "nenhum",
    "nenhuma",
    "ninguno",
    "ninguna",
    "无",
}
# what says in so many words that something else holds now
_REPLACED_BY = re.compile(
    r"(?i)\W*(?:(?:superseded|replaced|overruled)\W+(?:by|with|in favou?r)\b|(?:substituíd"
    r"|substituid|sustituid|reemplazad)[oa]\W+(?:por|pel[oa])\b|(?:rejected|declined|cancelled"
    r"|canceled|deprecated|superseded|replaced|rejeitad[oa]|rechazad[oa]|cancelad[oa]|descartad[oa]"
    r"|substituíd[oa]|sustituid[oa]|reemplazad[oa])\W*(?:$|[(:,;–—])|已?(?:被.{1,20})?(?:取代|废弃|拒绝|取消"
    r"|替代))"
)
_OPEN = {
    "open",
    "todo",
    "new",
    "pending",
    "inprogress",
    "doing",
    "active",
    "blocked",
    "aberto",
    "abierto",
    "pendente",
    "pendiente",
    "待办",
    "进行中",
}
# what a list is of, and the marker that names it
_NAMED = {
    "Decision": ("decisions", "adrs"),
    "Note": ("notes",),
    "Blocked": ("blockers",),
    "Pattern": ("patterns", "conventions", "rules"),
    "Preference": ("preferences",),
    "Error": ("issues", "bugs", "problems", "errors"),
    "Known": ("gotchas", "pitfalls", "known_issues", "knownIssues"),
}
_WORK = ("tasks", "stories", "items", "steps", "phases", "milestones", "features", "todos")
_NEXT = ("next_action", "nextAction", "next_step", "nextStep", "next_task", "nextTask", "next")
_PHASES = ("phase", "currentPhase", "current_phase", "stage", "status")
# what may hold a document of the same kind
_NESTED = ("progress", "session_state", "state", "plan", "workflow", "tasks", "stories", "todos")
_NAMES = (
    "title",
    "name",
    "what",
    "content",
    "description",
    "task",
    "text",
    "decision",
    "summary",
    "id",
)
# what names a row of a kind before all else
_FIRST = {
    "Error": ("error", "problem", "symptom", "message", "issue", "bug"),
    "Known": ("gotcha", "pitfall", "error", "problem"),
    "Pattern": ("pattern", "rule", "convention"),
    "Preference": ("preference",),
    "Note": ("note",),
    "Blocked": ("blocker", "problem"),
}
_CUT = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")  # half an escape
_VALUE = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"|\Z)', re.DOTALL)
_SECRET = re.compile(r"(?i)pass|secret|token|key|pwd|credential|auth|senha|contraseñ|密码|密钥")
# what describes where it runs
_ABOUT = ("environment", "stack", "tech_stack", "techStack", "runtime")
_WHY = ("why", "reason", "rationale", "because", "cause", "root_cause", "rootCause")
_FIX = ("fix", "solution", "resolution", "workaround", "fixed_by")
_ENDED = {
    "done",
    "completed",
    "complete",
    "finished",
    "closed",
    "passed",
    "merged",
    "resolved",
    "fixed",
    "solved",
    "resolvido",
    "resuelto",
    "corrigido",
    "concluído",
    "concluido",
    "feito",
    "hecho",
    "completado",
    "完成",
    "已完成",
    "已修复",
    "已解决",
}


@dataclass(frozen=True, slots=True)
class PlanProgress:
    """How far a plan is: its phase, how many of its tasks are done, and which."""

    phase: str = ""
    done: int = 0
    total: int = 0
    pending: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()


class _Tasks:
    """The phase, the counts and the tasks of a plan, as its turns are read."""

    def __init__(self) -> None:
        self.phase = ""
        self.counts: tuple[int, int] | None = None  # done and total, as the plan says
        self.tasks: dict[str, bool] = {}  # whether each is done
        self._heading = ""

    def read(self, turn: Turn) -> None:
        """Take in the next turn."""
        lines = [line[:LINE] for line in turn.text.split("\n")[:TASKS]]
        for line in lines:
            self._read_line(line)
        phase = None if self.phase else _PHASE.search("\n".join(lines))
        if phase:
            self.phase = phase[1][:200]
        box = _BOX.match(turn.text)
        if not box:
            self._read_point(_POINT.match(turn.text))
        elif not _STRUCK_OUT.fullmatch(box[2].strip()):
            self.tasks[" ".join(box[2].split())] = box[1] in "xX✓✔"

    def _read_line(self, line: str) -> None:
        heading = _HEADING.match(line)
        if heading:
            self._heading = heading[1].rstrip("# ")
        counts = _COUNTS.search(line)
        if counts:
            self.counts = (int(counts[1]), int(counts[2]))

    def _read_point(self, point: re.Match[str] | None) -> None:
        """Take in a point without a box: the heading above says whether it is done."""
        if not (point and self._heading and len(self.tasks) < TASKS):
            return
        pending = _PENDING.search(self._heading)
        if pending or _DONE.search(self._heading):
            self.tasks.setdefault(" ".join(point[1].split()), not pending)


def progress(turns: Iterable[Turn]) -> PlanProgress:
    """Return how far a plan is, from its turns."""
    plan = _Tasks()
    for turn in turns:
        plan.read(turn)
    completed = tuple(name for name, done in plan.tasks.items() if done)
    pending = tuple(name for name, done in plan.tasks.items() if not done)
    done, total = len(completed), len(plan.tasks)
    if plan.counts and plan.counts[1] >= total:
        done, total = plan.counts
    elif not plan.counts and total < 2:  # a next step alone is no plan of one task
        done = total = 0
    return PlanProgress(plan.phase, done, total, pending, completed)


def plan(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a plan.md or a PROGRESS.md."""
    return text(stream)


def state(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a state.json: its phase, its counts, and its tasks as lines with boxes.

    A file that is not JSON has none.
    """
    data = stream.read(MOST).decode("utf-8", "replace")
    try:
        document = loads(data)
    except (ValueError, RecursionError):
        return
    where = _Where(data)
    for statement, name in _stated(mapping(document), 0):
        yield Turn(USER, statement, line=where.line(name))


_DONE_COUNT = (
    "tasks_done",
    "tasksDone",
    "tasks_completed",
    "tasksCompleted",
    "completed_tasks",
    "completedTasks",
    "completed_count",
    "completedCount",
    "done_count",
    "doneCount",
    "completed",
    "done",
    "finished",
)
_TOTAL_COUNT = (
    "tasks_total",
    "tasksTotal",
    "total_tasks",
    "totalTasks",
    "task_count",
    "taskCount",
    "tasks_count",
    "tasksCount",
    "total",
)
_LEFT_COUNT = (
    "tasks_remaining",
    "tasksRemaining",
    "remaining_tasks",
    "remainingTasks",
    "tasks_left",
    "remaining",
    "left",
    "pending",
)


def _counts(value: dict[str, Any]) -> tuple[int, int] | None:
    """Return how many tasks are done, of how many.

    None unless both numbers are told, and can be.
    """
    done, total, left = (
        next((count for key in keys if (count := _count(value.get(key))) is not None), None)
        for keys in (_DONE_COUNT, _TOTAL_COUNT, _LEFT_COUNT)
    )
    if done is None and total is not None and left is not None:
        done = total - left
    if total is None and done is not None and left is not None:
        total = done + left
    said = re.fullmatch(
        r"\s*(\d{1,9})\s*(?:/|of|de)\s*(\d{1,9})(?:\s.*)?", string(value.get("progress"))
    )
    if said and done is None:
        done, total = int(said[1]), int(said[2])
    return (done, total) if done is not None and total and 0 <= done <= total else None


def _count(value: Any) -> int | None:
    """Return a count that is given as a number, as digits, or as the list of what is counted."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class _Where:
    """In which lines of a JSON document its texts and numbers are."""

    def __init__(self, data: str) -> None:
        self._data = data
        self._lines: dict[str, int] = {}

    def line(self, name: str) -> int:
        """Return the line of a text, of a name too if that is what there is.

        The first where it is not known.
        """
        if not self._lines:
            self._read()
        return self._lines.get(_key(name), 1)

    def _read(self) -> None:
        line, at = 1, 0
        for match in _VALUE.finditer(self._data):
            line, at = line + self._data.count("\n", at, match.start()), match.start()
            text = _CUT.sub("", match[1][: 12 * KEY])  # a letter may take twelve characters there
            if "\\" in text:
                with contextlib.suppress(ValueError):
                    text = str(loads(f'"{text}"'))
            self._lines.setdefault(_key(text), line)


def _key(text: str) -> str:
    return " ".join(text.split())[:KEY]


def _stated(value: dict[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    """Yield what a document says, as a person would write it down.

    Each statement comes with a text that the document has for it.
    """
    phase = next((value[key] for key in _PHASES if string(value.get(key))), "")
    if phase:
        yield said(f"Phase: {phase}", 300), string(phase)
    counts = _counts(value)
    if counts:
        yield f"Tasks: {counts[0]}/{counts[1]}", ""
    yield from _listed_tasks(value)
    yield from _work(value)
    yield from _next_steps(value)
    yield from _marked_rows(value)
    for key in _ABOUT:
        for fact, name in _facts(value.get(key)):
            yield said(f"Context: {fact}"), name
    for key in _NESTED if depth < 3 else ():
        if isinstance(value.get(key), dict):
            yield from _stated(value[key], depth + 1)


def _listed_tasks(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tasks of lists whose names say how far they are."""
    ids = {
        string(mapping(task).get("id"))
        for key in _WORK
        for task in sequence(value.get(key))[:TASKS]
    }
    for column, keys in _LISTS.items():
        for key in keys:
            hidden = ids if key in _DOING else set()
            for name, row in _counted_rows(_of_list(value.get(key), key)):
                if name not in hidden:
                    yield f"- [{_mark(column, key, row)}] {name}", name


def _work(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tasks of lists whose rows say themselves how far they are."""
    for key in _WORK:
        for name, row in _counted_rows(sequence(value.get(key))[:TASKS]):
            yield f"- [{'x' if _ended(row) else ' '}] {name}", name


def _next_steps(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _NEXT:
        name = said(" ".join(string(value.get(key)).split()), 500)
        if name:
            yield f"- [ ] {name}", name


def _marked_rows(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the decisions, errors and the like, with the marker of their kind."""
    for kind, keys in _NAMED.items():
        for key in keys:
            for name, row in _counted_rows(_rows(value.get(key)), _FIRST.get(kind, ())):
                statement = _named(kind, name, row)
                if statement:
                    yield said(statement), name


def _counted_rows(
    rows: Iterable[Any], first: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, row) of the rows that have a name and count."""
    for value in rows:
        name, row = _name(value, first), mapping(value)
        if name and not _dropped(row):
            yield name, row


def _of_list(value: Any, key: str) -> list[Any]:
    """Return the rows of a list of tasks; what is being done may be one alone."""
    return (
        [value]
        if key in _DOING and value and isinstance(value, str | dict)
        else sequence(value)[:TASKS]
    )


def _named(kind: str, name: str, row: dict[str, Any]) -> str:
    """Return a row of a list with what explains it, as a person marks it.

    Of issues that nobody explained, those that are open, as things to do.
    """
    if kind == "Note":
        return name
    why, fix = _first_text(row, _WHY), _first_text(row, _FIX)
    if kind not in {"Error", "Known", "Blocked"}:
        return _with_lines(f"{kind}: {name}", Reason=why)
    if why or fix:
        return _with_lines(f"{'Error' if kind == 'Known' else kind}: {name}", Cause=why, Fix=fix)
    if kind == "Error":
        is_open = _states(row) & _OPEN or row.get("resolved") is False
        return f"- [ ] {name}" if is_open else ""
    return name if kind == "Known" else f"{kind}: {name}"


def _first_text(row: dict[str, Any], keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := _joined(row.get(key)))), "")


def _with_lines(first: str, **lines: str) -> str:
    """Return a line with the lines that have a text, each after its marker."""
    return "\n".join([first, *(f"{marker}: {text}" for marker, text in lines.items() if text)])


def _rows(value: Any) -> list[Any]:
    """Return the rows of a list, or of an object the texts in it."""
    return (
        [entry for entry in value.values() if isinstance(entry, str)][:TASKS]
        if isinstance(value, dict)
        else sequence(value)[:TASKS]
    )


def _facts(value: Any) -> list[tuple[str, str]]:
    """Return what an object, a list or a text says about where something runs.

    Each fact comes with a text from the value. Anything that may be a secret and the variables of
    an environment are left out.
    """
    if isinstance(value, dict):
        facts = [
            (key, _fact(fact))
            for key, fact in list(value.items())[:TASKS]
            if not (key.isupper() or _SECRET.search(key))
        ]
        return [(f"{key}: {fact}", key) for key, fact in facts if fact]
    rows = [value] if isinstance(value, str) else sequence(value)[:TASKS]
    texts = [row for row in rows if isinstance(row, str) and row.strip()]
    return [(" ".join(text.split()), text) for text in texts]


def _fact(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _joined(value)


def _joined(value: Any) -> str:
    """Return a text, or a list of texts, as one line."""
    return " ".join(
        " ".join(entry.split())
        for entry in ([value] if isinstance(value, str) else sequence(value))
        if isinstance(entry, str)
    )


def _states(row: dict[str, Any]) -> set[str]:
    return {re.sub(r"[\s_'’-]", "", string(row.get(key)).lower()) for key in ("status", "state")}


def _mark(what: str, key: str, row: dict[str, Any]) -> str:
    """Return what stands in the box of a task."""
    return "x" if what == "completed" or (key in _DOING and _ended(row)) else " "


def _ended(row: dict[str, Any]) -> bool:
    return bool(_states(row) & _ENDED) or row.get("done") is True or row.get("completed") is True


def _dropped(row: dict[str, Any]) -> bool:
    """Return whether a row does not count.

    Its state says so (`rejected`, `superseded by D4`), or it names what replaced it.
    """
    if _states(row) & _DROPPED or row.get("superseded") is True:
        return True
    if any(_REPLACED_BY.match(string(row.get(key))) for key in ("status", "state")):
        return True
    return any(string(row.get(key)).strip().lower() not in _NO_NAME for key in _REPLACED)


def _name(value: Any, first: Sequence[str] = ()) -> str:
    """Return the name of a task.

    A task is a string or an object with a title, or with what names it `first`.
    """
    if isinstance(value, str):
        return said(" ".join(value.split()), 500)
    row = mapping(value)
    name = next((row[key] for key in (*first, *_NAMES) if string(row.get(key)).strip()), "")
    return said(" ".join(name.split()), 500)
