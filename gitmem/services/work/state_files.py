"""Read state files of other tools into the state of an epic.

These are `.session-state.yaml` and the `*-state.yaml` files of a workflow. This module is pure and
changes no file.

What comes out depends on the bytes alone: read again, they change nothing; of a file that went on
since, what is new comes in. Numbers and times are read as texts, since a story called 1.10 is not
1.1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gitmem.base import documents
from gitmem.errors import UserError
from gitmem.records import epic as work
from gitmem.records.epic_operations import NAME, STORIES
from gitmem.records.field_types import is_stamp
from gitmem.records.texts import clean_title
from gitmem.text import safe_yaml

LARGEST = 1 << 20  # bytes
SESSION_FILE = "docs/stories/.session-state.yaml"
WORKFLOW = frozenset(
    {
        "currentPhase",
        "current_phase",
        "currentStory",
        "current_story",
        "story_id",
        "storyId",
        "workflow_id",
        "workflowId",
        "steps",
    }
)
FOLDERS = (
    ".aiox/workflow-state",
    ".aios/workflow-state",
    ".aiox-core/workflow-state",
    ".aios-core/workflow-state",
)
SUFFIX = "-state.yaml"
NESTED = 40  # levels of a file
PARTS, DEEPEST = 2000, 5  # of what the phases came to, and of an override
NEWEST = (1, 2)  # of the versions that are known
LONG_AGO = "1970-01-01T00:00:00Z"  # where a file tells no time: anything else is newer
BY = "import"  # who wrote it, as clones are named


@dataclass(frozen=True, slots=True)
class StateFile:
    """What a file holds: what the epic may be called, its title, its state."""

    name: str
    title: str
    state: work.State


def read(data: bytes, called: str) -> StateFile:
    """Return what a file holds; `called` is its name.

    Raises UserError that says what is wrong with it.
    """
    tree = _yaml(data, called)
    if "session_state" in tree:
        return _session(tree["session_state"], called)
    if tree.keys() & WORKFLOW:
        return _workflow(tree, called)
    raise _wrong(called, ["the key 'session_state' is missing"])


def _wrong(called: str, errors: Sequence[str]) -> UserError:
    more = f"; and {len(errors) - 4} more" if len(errors) > 4 else ""
    return UserError(
        f"{called} is not a state of work: {'; '.join(errors[:4])}{more}.",
        f"Nothing was imported. What is read: {documents.page('work.md')}",
    )


def _yaml(data: bytes, called: str) -> Mapping[str, Any]:
    import yaml

    if len(data) > LARGEST:
        raise _wrong(called, [f"it has {len(data):,} bytes, more than {LARGEST:,}"])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong(called, [f"it is not UTF-8 (byte {error.start})"]) from error
    if not text.strip():
        raise _wrong(called, ["it is empty"])
    loader = _loader()
    try:
        safe_yaml.check(text, loader, NESTED, simple=False)
        loaded = yaml.load(text, Loader=loader)  # noqa: S506 - a SafeLoader with fewer types
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, OverflowError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        why = f"it is not valid YAML{f' (line {line + 1})' if line is not None else ''}"
        raise _wrong(called, [str(error) if type(error) is ValueError else why]) from error
    if not isinstance(loaded, Mapping):
        raise _wrong(called, ["it holds no keys and values"])
    return {str(key): value for key, value in loaded.items()}


def _loader() -> Any:
    """Return a safe loader that reads numbers and times as text and refuses duplicate keys."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Texts(base):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value if isinstance(key.value, str)]
            twice = (
                next((key for key in keys if keys.count(key) > 1), None)
                if len(keys) <= STORIES
                else None
            )
            if twice is not None:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {twice} is given twice", node.start_mark
                )
            return super().construct_mapping(node, deep)

        def flatten_mapping(self, node: Any) -> None:
            """Merge nothing: merges of merges make of few bytes what fills the memory."""

    tags = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}
    Texts.yaml_implicit_resolvers = {
        first: [row for row in rows if row[0] in tags]
        for first, rows in base.yaml_implicit_resolvers.items()
    }
    return Texts


# -- values


def _map(given: Any) -> Mapping[str, Any]:
    return {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else {}


def _text(given: Any) -> str:
    return clean_title(given) if isinstance(given, str) else ""


def _number(given: Any) -> int | None:
    return (
        int(given)
        if isinstance(given, str) and re.fullmatch(r"\+?\d{1,9}", given.strip())
        else None
    )


def _time(given: Any) -> str:
    """Return a time in our form, whatever zone it is told in; '' for what is none."""
    if not isinstance(given, str):
        return ""
    try:
        time_given = datetime.fromisoformat(given.strip().replace(" ", "T", 1))
        time_given = (
            time_given if time_given.tzinfo else time_given.replace(tzinfo=UTC)
        ).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    text = time_given.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    return text if is_stamp(text) else ""


def _names(given: Any, what: str, errors: list[str]) -> list[str]:
    """Return the ids of stories, each once; ids may be told as texts, or as maps with an id."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        errors.append(f"{what} is not a list")
        return []
    out = []
    for value in given:
        name = _text(value.get("id") if isinstance(value, Mapping) else value)
        if name and len(name) <= NAME:
            out.append(name)
        else:
            errors.append(f"{what} holds something that is not a story's id")
    return list(dict.fromkeys(out))


def _first(given: Mapping[str, Any], *keys: str) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)


class _Draft:
    """A state that is being put together."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.state: work.State = {"version": work.VERSION}

    def register(self, value: Any, at: str = "") -> dict[str, Any]:
        return work.register(value, at or self.at, BY)

    def stories(self, done: Sequence[str], pending: Sequence[str], current: str) -> None:
        """Put in the stories: done first, as they were completed.

        What is done is not pending, and no story is there twice.
        """
        rest = [sid for sid in ([current, *pending] if current else pending) if sid not in done]
        every = {sid: {"order": n} for n, sid in enumerate(dict.fromkeys([*done, *rest]), 1)}
        for sid in done:
            every[sid]["done"] = self.register(True)  # type: ignore[assignment]
        if every:
            self.state["stories"] = every
        if current and current not in done:
            self.state["current"] = self.register(current)

    def run(
        self, story: str, phase: str, attempts: int, results: Mapping[str, Any], since: str
    ) -> None:
        if (
            not story
            or story not in self.state.get("stories", {})
            or work.is_done(self.state, story)
        ):
            return
        run: dict[str, Any] = {"since": since} if since else {}
        if phase:
            run["phase"] = self.register(phase)
        if attempts:
            run["attempts"] = {BY: attempts}
        if results:
            run["results"] = {name: self.register(value) for name, value in results.items()}
        if run:
            self.state["stories"][story]["run"] = run

    def context(self, given: Mapping[str, Any]) -> None:
        files = _first(given, "files_modified", "filesModified")
        if isinstance(files, Sequence) and not isinstance(files, str):
            self.state["files"] = {
                name: self.at
                for file in files
                if (name := _text(file.get("path") if isinstance(file, Mapping) else file))
            }
        elif _number(files):
            self.state["changed"] = _number(files)
        counts = {
            _text(name): _number(n)
            for name, n in _map(
                _first(given, "executor_distribution", "executorDistribution")
            ).items()
        }
        self.state["executors"] = {name: {BY: n} for name, n in counts.items() if name and n}
        for key, value in (
            ("executor", _first(given, "last_executor", "lastExecutor")),
            ("branch", given.get("branch")),
        ):
            if _text(value):
                self.state[key] = self.register(_text(value))

    def last(self, action: str, story: str, phase: str, at: str = "") -> None:
        facts = {"action": action, "story": story, "phase": phase}
        self.state["last"] = self.register(
            {key: value for key, value in facts.items() if value}, at
        )


def _plain(value: Any) -> Any:
    """Return the result of a phase as JSON that is neither deep nor large.

    A small YAML file can describe very large data. Numbers in it are texts.
    """
    return _PlainCopy().of(value, 0)


class _PlainCopy:
    """A copy of a value, of at most PARTS parts and DEEPEST levels."""

    def __init__(self) -> None:
        self._left = PARTS

    def of(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if isinstance(value, Mapping):
            entries = self._within(value.items(), depth)
            return {str(key): self.of(inner, depth + 1) for key, inner in entries}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.of(inner, depth + 1) for inner in self._within(value, depth)]
        return value if isinstance(value, str | bool) or value is None else str(value)

    def _within(self, entries: Iterable[Any], depth: int) -> Iterator[Any]:
        """Yield entries while there is room for them."""
        if depth < DEEPEST:
            for entry in entries:
                if self._left > 0:
                    yield entry


# -- the state of a session, versions up to 1.2


def _session(given: Any, called: str) -> StateFile:
    if not isinstance(given, Mapping):
        raise _wrong(called, ["'session_state' holds no keys and values"])
    parts = _SessionParts(_map(given))
    if parts.errors:
        raise _wrong(called, parts.errors)
    state = _sized(parts.draft().state, called)
    return StateFile(parts.name or parts.title, parts.title or parts.name, state)


class _SessionParts:
    """The parts of a session's state, and what is wrong with them.

    A state of the newest version has to be whole.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.errors: list[str] = []
        self._root = root
        self._whole = _version(root.get("version"), self.errors) >= NEWEST
        self._epic, self._progress, self._flow, self._last, self._context = (
            _map(root.get(key))
            for key in ("epic", "progress", "workflow", "last_action", "context_snapshot")
        )
        self.name, self.title = _text(self._epic.get("id")), _text(self._epic.get("title"))
        self._total = _number(self._epic.get("total_stories"))
        self._check_epic()
        self._done = self._stories("stories_done")
        self._pending = self._stories("stories_pending")
        if self._whole and "files_modified" not in self._context:
            self.errors.append("context_snapshot.files_modified is missing")
        self._action, self._at = _text(self._last.get("type")), _time(self._last.get("timestamp"))
        self._check_action()
        self._phase = _phase(self._flow.get("current_phase"), self.errors)

    def _check_epic(self) -> None:
        if not (self.name or self.title):
            self.errors.append("epic.id and epic.title are missing")
        elif self._whole and not self.name:
            self.errors.append("epic.id is missing")
        elif self._whole and not self.title:
            self.errors.append("epic.title is missing")
        if self._total is None:
            if self._epic.get("total_stories") is not None:
                self.errors.append("epic.total_stories is not a number")
            elif self._whole:
                self.errors.append("epic.total_stories is missing")

    def _stories(self, key: str) -> list[str]:
        ids = self._progress.get(key)
        if ids is None:
            if self._whole or "progress" not in self._root:
                self.errors.append(f"progress.{key} is missing")
            return []
        return _names(ids, f"progress.{key}", self.errors)

    def _check_action(self) -> None:
        if self._whole or self._last:
            if not self._action:
                self.errors.append("last_action.type is missing")
            if not self._at:
                self.errors.append("last_action.timestamp is not a time")
        if self._action and self._action not in work.ACTIONS:
            self.errors.append(
                f"last_action.type is '{self._action[:40]}', which is none of "
                f"{', '.join(work.ACTIONS[:-1])}"
            )

    def draft(self) -> _Draft:
        """Return the state of an epic that they make."""
        started, updated = (
            _time(self._flow.get("started_at")),
            _time(self._root.get("last_updated")),
        )
        at = self._at or updated or started or LONG_AGO
        draft = _Draft(max(at, updated))
        draft.stories(self._done, self._pending, _text(self._progress.get("current_story")))
        draft.run(
            work.current(draft.state),
            self._phase,
            _number(self._flow.get("attempt_count")) or 0,
            _map(_plain(_map(self._flow.get("phase_results")))),
            started,
        )
        draft.context(self._context)
        draft.last(
            self._action or work.EPIC_STARTED,
            _text(self._last.get("story")) or work.current(draft.state),
            _text(self._last.get("phase")) or self._phase,
            at,
        )
        if self._total:
            draft.state["total"] = self._total
        if self.name:
            draft.state["ref"] = self.name
        draft.state["overrides"] = {
            key: draft.register(_plain(value))
            for key, value in _map(self._root.get("overrides")).items()
            if value is not None
        }
        return draft


def _version(given: Any, errors: list[str]) -> tuple[int, ...]:
    text = _text(given)
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4})*", text):
        errors.append("version is missing" if not text else f"version '{text[:20]}' is none")
        return (0,)
    version = tuple(map(int, text.split(".")))
    if version[0] > NEWEST[0]:
        errors.append(
            f"its version {text} is newer than {'.'.join(map(str, NEWEST))}, the last that is known"
        )
    return version


def _phase(given: Any, errors: list[str]) -> str:
    phase = _text(given)
    if phase and phase not in work.PHASES:
        errors.append(
            f"workflow.current_phase is '{phase[:40]}', which is none of {', '.join(work.PHASES)}"
        )
    return phase


def _sized(state: work.State, called: str) -> work.State:
    if len(state.get("stories", {})) > STORIES:
        raise _wrong(called, [f"it has more than {STORIES} stories"])
    return work.normal(state)


# -- the state of a workflow


_INSTANCE = (
    "instance_id",
    "instanceId",
    "story_id",
    "storyId",
    "currentStory",
    "current_story",
    "workflow_id",
    "workflowId",
)
_UPDATED = ("updated_at", "updatedAt", "last_updated", "lastUpdated", "started_at", "startedAt")
_ACTIONS = {
    "paused": work.PAUSE,
    "aborted": work.ABORT,
    "failed": work.ERROR_OCCURRED,
    "completed": work.EPIC_COMPLETED,
}


def _workflow(tree: Mapping[str, Any], called: str) -> StateFile:
    """Return a workflow as an epic: its steps are stories, or the one story that it is about."""
    stem = called.rsplit("/", 1)[-1].removesuffix(SUFFIX)
    name = _text(_first(tree, *_INSTANCE)) or _text(stem)
    title = _text(_first(tree, "workflow_name", "workflowName", "title", "workflow")) or name
    if not name:
        raise _wrong(called, ["it names neither a workflow nor a story"])
    times = map(_time, map(tree.get, _UPDATED))
    draft = _Draft(next(filter(None, times), LONG_AGO))
    _draft_stories(draft, tree, name)
    phase = _text(_first(tree, "current_phase", "currentPhase"))
    if phase not in work.PHASES:
        phase = ""
    draft.run(
        work.current(draft.state),
        phase,
        _number(_first(tree, "attempt_count", "attemptCount")) or 0,
        _map(_plain(_map(_first(tree, "phase_results", "phaseResults")))),
        _time(_first(tree, "started_at", "startedAt")),
    )
    draft.context(
        {
            **_map(_first(tree, "accumulated_context", "accumulatedContext", "context")),
            "last_executor": _first(tree, "currentExecutor", "current_executor", "executor"),
        }
    )
    action = _ACTIONS.get(_text(tree.get("status")), work.PHASE_CHANGE)
    draft.last(action, work.current(draft.state), phase)
    draft.state["ref"] = name
    return StateFile(name, title, _sized(draft.state, called))


def _draft_stories(draft: _Draft, tree: Mapping[str, Any], name: str) -> None:
    steps = list(_steps(tree.get("steps")))
    if not steps:
        story = _text(_first(tree, "currentStory", "current_story", "story_id", "storyId"))
        draft.stories([], [story or name], story or name)
        return
    done = [sid for sid, status in steps if status in {"completed", "done", "skipped"}]
    at_work = next((sid for sid, status in steps if status in {"in_progress", "active"}), "")
    draft.stories(done, [sid for sid, _ in steps if sid not in done], at_work)
    for n, (sid, _) in enumerate(steps, 1):  # in the order of the workflow
        draft.state["stories"][sid]["order"] = n


def _steps(given: Any) -> Iterator[tuple[str, str]]:
    """Yield (id, status) of the steps of a workflow, each under its own name."""
    seen: set[str] = set()
    for n, step in enumerate(
        given if isinstance(given, Sequence) and not isinstance(given, str) else [], 1
    ):
        fields = _map(step)
        what = _text(_first(fields, "id", "name", "action", "phase", "agent")) or (
            _text(step) if isinstance(step, str) else ""
        )
        name = f"{n:02d} {what}".strip()[:NAME]
        if name not in seen:
            seen.add(name)
            yield name, _text(fields.get("status"))
