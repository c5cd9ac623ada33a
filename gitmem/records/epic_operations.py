"""What people and agents do to an epic: pure functions of (state, arguments, time, clone) -> state.

Each may be applied again: to a state that holds its result already it changes nothing, and returns
it as it is. That is how a command that is run twice, and one that is played back after a lost race,
count once. Arguments are JSON, so that an operation can wait in the journal.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gitmem.errors import UserError
from gitmem.records import epic
from gitmem.records.epic import State, register

STORIES = 500  # of an epic
NAME, TEXT = 100, 500  # characters of a story's id, and of a note
ATTEMPTING = ("development", "self_healing")  # phases that are another attempt at the story

Args = Mapping[str, Any]


class _Edit:
    """A state that is being changed by one clone at one time."""

    def __init__(self, state: State, args: Args, at: str, by: str) -> None:
        self.state = state
        self.args = args
        self.at = at
        self.by = by

    def text(self, key: str) -> str:
        argument = self.args.get(key)
        return argument if isinstance(argument, str) else ""

    def set(self, where: dict[str, Any], key: str, value: Any) -> bool:
        """Put a value into a register; one that it holds already is not a change."""
        old = where.get(key)
        if (old or {}).get("v") == value and (old is not None or value is None):
            return False
        where[key] = register(value, self.at, self.by, old)
        return True

    def count(self, where: dict[str, Any], times: int = 1) -> None:
        where[self.by] = min(where.get(self.by, 0) + times, epic.MOST)

    def story(self, sid: str) -> dict[str, Any]:
        """Return a story, added behind the others when it is new."""
        every = self.state.setdefault("stories", {})
        if sid not in every:
            if len(every) >= STORIES:
                raise UserError(
                    f"an epic has at most {STORIES} stories.",
                    "Split it: git mem work start NAME begins another one.",
                )
            every[sid] = {"order": 1 + max((s.get("order", 0) for s in every.values()), default=0)}
        story: dict[str, Any] = every[sid]
        return story

    def run(self, sid: str) -> dict[str, Any]:
        run: dict[str, Any] = self.story(sid).setdefault("run", {})
        return run

    def chosen(self) -> str:
        """Return the story that an operation is about.

        It is the one that the operation names, which must exist, else the current one.
        """
        return (
            self.require_story(self.text("story"))
            if self.text("story")
            else epic.current(self.state)
        )

    def require_story(self, sid: str) -> str:
        """Return the id of a story.

        Raises UserError when the epic does not have it: a slip of the finger must not add one.
        """
        if sid not in self.state.get("stories", {}):
            raise UserError(
                f"the epic has no story '{sid}'.",
                f"See its stories: git mem work story. Add it: git mem work story --add {sid}",
            )
        return sid

    def did(self, action: str, story: str, **more: str) -> None:
        """Note the last action."""
        now = (
            epic.value(self.state.get("stories", {}).get(story, {}).get("run", {}), "phase")
            if story
            else None
        )
        facts = {
            "action": action,
            "story": story,
            "phase": now or "",
            "note": self.text("note"),
            **more,
        }
        self.set(self.state, "last", {key: value for key, value in facts.items() if value})

    def hold(self) -> None:
        """Note who is at it, where, and with which files."""
        holder = self.args.get("holder")
        old = self.state.get("holder")
        if (
            isinstance(holder, dict)
            and holder
            and (not old or (old["v"], old["by"]) != (holder, self.by))
        ):
            self.state["holder"] = register(holder, self.at, self.by, old)
        # none is one too: HEAD is detached
        if "branch" in self.args and (self.text("branch") or "branch" in self.state):
            self.set(self.state, "branch", self.text("branch"))
        files = self.state.get("files", {})
        new = [path for path in self.args.get("files") or () if path not in files]
        if new:
            self.state["files"] = {**files, **dict.fromkeys(new, self.at)}

    def release(self) -> None:
        if "holder" in self.state:
            self.set(self.state, "holder", None)

    def executor(self, story: str, *, counts: bool) -> None:
        """Note who does it, and a story that is not done.

        `counts` when this is a turn of theirs.
        """
        name = self.text("executor")
        changed = bool(name) and self.set(self.state, "executor", name)
        if name and story and not epic.is_done(self.state, story):
            self.set(self.run(story), "executor", name)
        if name and (counts or changed):
            self.count(self.state.setdefault("executors", {}).setdefault(name, {}))


def _start(edit: _Edit) -> None:
    """Begin an epic, or add to it what it does not have.

    A new story takes up one again that was closed.
    """
    state = edit.state
    fresh = "last" not in state
    before, closed = (
        len(state.get("stories", {})),
        epic.rest(state) in {epic.COMPLETED, epic.ABORTED},
    )
    if edit.text("ref") and "ref" not in state:
        state["ref"] = edit.text("ref")
    total = edit.args.get("total")
    if type(total) is int and total > state.get("total", 0):
        state["total"] = total
    for sid in edit.args.get("stories") or ():
        edit.story(sid)
    for sid, title in (edit.args.get("titles") or {}).items():
        edit.set(edit.story(sid), "title", title)
    if fresh:
        edit.did(epic.EPIC_STARTED, epic.current(state))
        edit.executor(epic.current(state), counts=True)
        edit.hold()
    elif closed and len(state.get("stories", {})) > before:
        edit.did(epic.GO, epic.current(state))


def _add(edit: _Edit) -> None:
    """Add stories behind the others, not begun.

    One that is new takes up an epic again that was closed.
    """
    before, closed = (
        len(edit.state.get("stories", {})),
        epic.rest(edit.state) in {epic.COMPLETED, epic.ABORTED},
    )
    for sid in edit.args.get("stories") or ():
        edit.story(sid)
    for sid, title in (edit.args.get("titles") or {}).items():
        edit.set(edit.story(sid), "title", title)
    if closed and len(edit.state.get("stories", {})) > before:
        edit.did(epic.GO, epic.current(edit.state))


def _story(edit: _Edit) -> None:
    """Begin a story."""
    sid = edit.text("story")
    if epic.is_done(edit.state, sid):
        raise UserError(
            f"story {sid} is done.", f"Take it up again with: git mem work story {sid} --reopen"
        )
    begun = bool(epic.run_of(edit.state, sid).get("since")) and epic.current(edit.state) == sid
    if edit.text("title"):
        edit.set(edit.story(sid), "title", edit.text("title"))
    edit.story(sid)
    edit.set(edit.state, "current", sid)
    edit.run(sid).setdefault("since", edit.at)
    if not begun or epic.rest(edit.state) != epic.ACTIVE:
        edit.did(epic.STORY_STARTED, sid)
    edit.executor(sid, counts=not begun)
    edit.hold()


def _done(edit: _Edit) -> None:
    """Complete a story; the next one is current."""
    # never the current one unnamed: said twice, that would complete two
    sid = edit.require_story(edit.text("story"))
    if not epic.is_done(edit.state, sid):
        run = epic.run_of(edit.state, sid)
        outcome = {
            "attempts": epic.counted(run.get("attempts", {})),
            "executor": edit.text("executor") or str(epic.value(run, "executor") or ""),
            # the run goes, what it came to stays
            "results": {name: result["v"] for name, result in run.get("results", {}).items()},
        }
        story = edit.story(sid)
        edit.set(story, "done", {key: value for key, value in outcome.items() if value} or True)
        edit.executor("", counts=False)
        following = edit.text("next")
        if following:
            edit.require_story(following)
            if following == sid or epic.is_done(edit.state, following):
                raise UserError(
                    f"story {following} is done; it cannot be the next one.",
                    "Name another one with --next, or leave it out.",
                )
        edit.did(epic.STORY_COMPLETED, sid)
        story["run"] = {"round": run.get("round", 0) + 1}
        edit.set(edit.state, "current", following or epic.current(edit.state) or None)
        edit.hold()
        if epic.rest(edit.state) == epic.COMPLETED:
            edit.release()


def _reopen(edit: _Edit) -> None:
    """Take up a story that was done."""
    sid = edit.require_story(edit.text("story"))
    if epic.is_done(edit.state, sid):
        done = epic.value(edit.story(sid), "done")
        edit.set(edit.story(sid), "done", None)
        edit.set(edit.state, "current", sid)
        run = edit.run(sid)
        run.setdefault("since", edit.at)
        for name, result in done.get("results", {}).items() if isinstance(done, dict) else ():
            edit.set(run.setdefault("results", {}), name, result)
        if isinstance(done, dict) and type(done.get("attempts")) is int and not run.get("attempts"):
            edit.count(run.setdefault("attempts", {}), done["attempts"])
        if isinstance(done, dict) and done.get("executor"):
            edit.set(run, "executor", done["executor"])
        edit.did(epic.STORY_STARTED, sid)
        edit.hold()


def _phase(edit: _Edit) -> None:
    """Enter a phase of a story, or record its result."""
    sid = edit.chosen()
    if not sid:
        raise UserError(
            "there is no story to be in a phase.", "Add one: git mem work story --add ID"
        )
    if epic.is_done(edit.state, sid):
        raise UserError(
            f"story {sid} is done.", f"Take it up again with: git mem work story {sid} --reopen"
        )
    name, run = (
        edit.text("phase") or str(epic.value(epic.run_of(edit.state, sid), "phase") or ""),
        edit.run(sid),
    )
    if not name:
        raise UserError(
            f"story {sid} is in no phase yet.", f"Name one of {', '.join(epic.PHASES)}."
        )
    again = (
        epic.last(edit.state).get("action") == epic.ERROR_OCCURRED
        and epic.last(edit.state).get("story") == sid
    )
    moved = (run.get("phase") or {}).get("v") != name
    edit.set(edit.state, "current", sid)
    run.setdefault("since", edit.at)
    edit.set(run, "phase", name)
    attempts = run.get("attempts", {})
    if name in ATTEMPTING and (moved or (again and not edit.text("result"))):
        edit.count(attempts)
    wanted = edit.args.get("attempt")
    if type(wanted) is int and wanted > epic.counted(attempts):
        edit.count(attempts, wanted - epic.counted(attempts))
    if attempts:
        run["attempts"] = attempts
    if edit.text("result"):
        edit.set(run.setdefault("results", {}), name, edit.text("result"))
    edit.did(epic.PHASE_CHANGE, sid, executor=edit.text("executor"))
    edit.executor(sid, counts=moved or again)
    edit.hold()


def _pause(edit: _Edit) -> None:
    _rest(edit, epic.PAUSE)


def _abort(edit: _Edit) -> None:
    _rest(edit, epic.ABORT)


def _complete(edit: _Edit) -> None:
    """Close an epic; stories that are not done stay so."""
    _rest(edit, epic.EPIC_COMPLETED)


def _rest(edit: _Edit, action: str) -> None:
    """Put an epic down.

    Again with no other note is not a change, and so is one whose stories are all done.
    """
    if action != epic.EPIC_COMPLETED and epic.is_whole(edit.state):
        return
    last = epic.last(edit.state)
    if last.get("action") != action or (
        edit.text("note") and edit.text("note") != last.get("note")
    ):
        edit.did(action, epic.current(edit.state))
    edit.release()


def _go(edit: _Edit) -> None:
    """Go on where it stopped; where all is done there is nothing to go on with."""
    if epic.is_whole(edit.state):
        return
    if epic.last(edit.state).get("action") != epic.GO:
        edit.did(epic.GO, epic.current(edit.state))
    edit.executor(epic.current(edit.state), counts=False)
    edit.hold()


def _restart(edit: _Edit) -> None:
    """Begin the current story anew.

    Its phase, attempts and results are put aside; what is done stays done.
    """
    sid = edit.chosen()
    if not sid:
        raise UserError("there is no story to begin anew.", "Name one: git mem work story ID")
    run = epic.run_of(edit.state, sid)
    if set(run) - {"round", "since"} or epic.last(edit.state) != {
        "action": epic.STORY_STARTED,
        "story": sid,
    }:
        edit.story(sid)["run"] = {"round": run.get("round", 0) + 1, "since": edit.at}
        edit.set(edit.state, "current", sid)
        edit.set(edit.state, "last", {"action": epic.STORY_STARTED, "story": sid})
    edit.hold()


def _checkpoint(edit: _Edit) -> None:
    """Reach a checkpoint."""
    sid = edit.chosen()
    facts = {
        "note": edit.text("note"),
        "story": sid,
        "phase": str(epic.value(epic.run_of(edit.state, sid), "phase") or ""),
    }
    before = epic.last(edit.state)
    if before.get("action") != epic.CHECKPOINT_REACHED or any(
        before.get(key, "") != facts[key] for key in facts
    ):
        edit.did(epic.CHECKPOINT_REACHED, sid)
        mark = {
            "at": edit.at,
            "by": edit.by,
            **{key: fact for key, fact in facts.items() if fact},
        }
        edit.state["checkpoints"] = [*edit.state.get("checkpoints", []), mark]
    edit.executor(sid, counts=False)
    edit.hold()


def _review(edit: _Edit) -> None:
    """Say at a checkpoint that somebody looks at what was done."""
    edit.did(epic.REVIEW, edit.chosen())
    edit.hold()


def _error(edit: _Edit) -> None:
    """Say that something went wrong."""
    edit.did(epic.ERROR_OCCURRED, edit.chosen(), executor=edit.text("executor"))
    edit.executor(edit.chosen(), counts=False)
    edit.hold()


def _override(edit: _Edit) -> None:
    """Set overrides; None clears one. No action: who sets one need not be at work."""
    every = edit.state.get("overrides", {})
    for key, value in (edit.args.get("set") or {}).items():
        if value is not None or key in every:
            edit.set(every, key, value)
    if every:
        edit.state["overrides"] = every


def _import(edit: _Edit) -> None:
    """Join a state that was read from a file."""
    edit.state = epic.join(edit.state, edit.args.get("state"))


ACTS: Mapping[str, Callable[[_Edit], None]] = {
    "start": _start,
    "add": _add,
    "story": _story,
    "done": _done,
    "reopen": _reopen,
    "phase": _phase,
    "pause": _pause,
    "abort": _abort,
    "complete": _complete,
    "go": _go,
    "restart": _restart,
    "checkpoint": _checkpoint,
    "review": _review,
    "error": _error,
    "override": _override,
    "import": _import,
}


def operate(given: Any, act: str, args: Args, at: str, by: str) -> State:
    """Return the state after an operation; what it does not change is as it was.

    Raises UserError for one that makes no sense.
    """
    if act not in ACTS:
        raise UserError(
            f"'{act}' is nothing that can be done to an epic.",
            "It was written by a newer git mem: upgrade, then run the command again.",
        )
    before = epic.normal(given)
    edit = _Edit(epic.normal(_copy(given)), args, at, by)
    ACTS[act](edit)
    after = epic.normal(edit.state)
    rest = (
        {key: value for key, value in given.items() if key not in epic.STATE_FIELDS}
        if isinstance(given, Mapping)
        else {}
    )
    return rest | (before if after == before else after)


def _copy(value: Any) -> Any:
    """Return JSON that can be changed without changing the other one."""
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list | tuple) else value
