"""What the state of an epic is, and how two states of one epic become one.

Values and rules, no I/O.

A state is made of parts that can be joined without a common base, in any order and as often as one
likes:

- a *register* `{"v", "at", "by", "n", "after"}` holds one value; the later one stays. `at` is the
  writer's clock, `by` its clone. `after` is there when the clock was behind what the writer had
  seen, `n` counts changes at one moment: so what was done knowing of the other is the later one,
  and of two that did not know of one another it is the one with the later time.
- a *count* `{clone: n}` only grows, each clone under its own name; it is worth the sum.
- of sets, times and numbers: all, the latest, the greatest.

What can be told from these is never stored: what is pending, progress, whether the epic is
finished.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.records.field_types import is_stamp, sort_key

State = dict[str, Any]

GO, PAUSE, REVIEW, ABORT, PHASE_CHANGE = "GO", "PAUSE", "REVIEW", "ABORT", "PHASE_CHANGE"
EPIC_STARTED, STORY_STARTED, STORY_COMPLETED = "EPIC_STARTED", "STORY_STARTED", "STORY_COMPLETED"
CHECKPOINT_REACHED, ERROR_OCCURRED, EPIC_COMPLETED = (
    "CHECKPOINT_REACHED",
    "ERROR_OCCURRED",
    "EPIC_COMPLETED",
)
ACTIONS = (
    GO,
    PAUSE,
    REVIEW,
    ABORT,
    PHASE_CHANGE,
    EPIC_STARTED,
    STORY_STARTED,
    STORY_COMPLETED,
    CHECKPOINT_REACHED,
    ERROR_OCCURRED,
    EPIC_COMPLETED,
)
PHASES = ("validation", "development", "self_healing", "quality_gate", "push", "checkpoint")
ACTIVE, PAUSED, ABORTED, COMPLETED = "active", "paused", "aborted", "completed"
_RESTING = {PAUSE: PAUSED, ABORT: ABORTED, EPIC_COMPLETED: COMPLETED}

VERSION = 1
FILES, CHECKPOINTS = 200, 50  # of these that are kept, the latest
REGISTERS = ("current", "last", "holder", "branch", "executor")
STATE_FIELDS = frozenset(
    {
        "version",
        "ref",
        "total",
        "stories",
        "executors",
        "overrides",
        "files",
        "changed",
        "checkpoints",
        *REGISTERS,
    }
)
MOST = 2**53 - 1


# -- registers and counts


def register(value: Any, at: str, by: str, old: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a register with a value that was written with knowledge of `old`.

    It is later than `old`, whatever the clock says.
    """
    out: dict[str, Any] = {"v": value, "at": at, "by": by}
    seen = _when(old) if old else ""
    if seen > at:
        out["after"] = seen
    if old and seen >= at:
        out["n"] = min(int(old.get("n", 0)) + 1, MOST)
    return out


def _when(register: Mapping[str, Any]) -> str:
    return max(str(register["at"]), str(register.get("after", "")))


def _order(register: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        _when(register),
        register.get("n", 0),
        register["by"],
        register["at"],
        sort_key(register["v"]),
    )


def _later(*ones: Mapping[str, Any] | None) -> dict[str, Any]:
    latest: Mapping[str, Any] = max((register for register in ones if register), key=_order)
    return dict(latest)


def _register(given: Any) -> dict[str, Any] | None:
    """Return a register in its one form; None for what is none."""
    if not isinstance(given, Mapping) or "v" not in given or not _time(given.get("at")):
        return None
    out = {
        "v": given["v"],
        "at": given["at"],
        "by": given["by"] if isinstance(given.get("by"), str) else "",
    }
    if _time(given.get("after")) > out["at"]:
        out["after"] = given["after"]
    if _whole(given.get("n")):
        out["n"] = given["n"]
    return out


def _time(given: Any) -> str:
    return given if isinstance(given, str) and is_stamp(given) else ""


def _whole(given: Any) -> int:
    """Return a whole number above 0 that every reader of JSON keeps, else 0."""
    return given if type(given) is int and 0 < given <= MOST else 0


def _dict(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _registers(given: Any) -> dict[str, Any]:
    return {key: register for key, value in _dict(given).items() if (register := _register(value))}


def _count(given: Any) -> dict[str, int]:
    return {name: n for name, value in _dict(given).items() if (n := _whole(value))}


def _greater(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: max(a.get(name, 0), b.get(name, 0)) for name in {*a, *b}}


def counted(count: Mapping[str, int]) -> int:
    """Return what a count is worth."""
    return sum(count.values())


# -- the one form of a state, and the join of two


def normal(given: Any) -> State:
    """Return a state in its one form, without what is none; any JSON is answered."""
    state = _dict(given)
    out: State = {"version": max(VERSION, _whole(state.get("version")))}
    if isinstance(state.get("ref"), str) and state["ref"]:
        out["ref"] = state["ref"]
    for key in ("total", "changed"):
        if _whole(state.get(key)):
            out[key] = state[key]
    for key in REGISTERS:
        if register := _register(state.get(key)):
            out[key] = register
    parts = {
        "stories": {sid: _story(value) for sid, value in _dict(state.get("stories")).items()},
        "executors": {
            name: count
            for name, value in _dict(state.get("executors")).items()
            if (count := _count(value))
        },
        "overrides": _registers(state.get("overrides")),
        "files": _latest(
            {path: at for path, value in _dict(state.get("files")).items() if (at := _time(value))}
        ),
        "checkpoints": _checkpoints(
            state.get("checkpoints") if isinstance(state.get("checkpoints"), Sequence) else ()
        ),
    }
    return out | {key: value for key, value in parts.items() if value}


def _latest(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files changed last: what more there are may go, whatever is joined first."""
    ranked = sorted(sorted(files), key=lambda path: files[path], reverse=True)[:FILES]
    return {path: files[path] for path in ranked}


def _checkpoints(given: Any) -> list[dict[str, Any]]:
    every = (
        {
            sort_key(checkpoint): dict(checkpoint)
            for checkpoint in given
            if isinstance(checkpoint, Mapping) and _time(checkpoint.get("at"))
        }
        if not isinstance(given, str)
        else {}
    )
    return [
        every[key] for key in sorted(every, key=lambda key: (every[key]["at"], key))[-CHECKPOINTS:]
    ]


def _story(given: Any) -> dict[str, Any]:
    story = _dict(given)
    out: dict[str, Any] = {}
    if _whole(story.get("order")):
        out["order"] = story["order"]
    for key in ("title", "done"):
        if register := _register(story.get(key)):
            out[key] = register
    if run := _run(story.get("run")):
        out["run"] = run
    return out


def _run(given: Any) -> dict[str, Any]:
    """Return one run of a story.

    It has its number (`round`), its phase, its executor, since when it runs, how often it was
    attempted, and the results of its phases.
    """
    run = _dict(given)
    out: dict[str, Any] = {}
    if _whole(run.get("round")):
        out["round"] = run["round"]
    for key in ("phase", "executor"):
        if register := _register(run.get(key)):
            out[key] = register
    if since := _time(run.get("since")):
        out["since"] = since
    parts = {"attempts": _count(run.get("attempts")), "results": _registers(run.get("results"))}
    return out | {key: value for key, value in parts.items() if value}


def join(ours: Any, theirs: Any) -> State:
    """Return what two states make together: commutative, associative, idempotent.

    A story that is done on one side is done.

    Keys that this version does not know are not looked at.
    """
    a, b = normal(ours), normal(theirs)
    out: State = {"version": max(a["version"], b["version"])}
    refs = [s["ref"] for s in (a, b) if "ref" in s]
    if refs:
        out["ref"] = min(refs)
    for key in ("total", "changed"):
        if most := max(a.get(key, 0), b.get(key, 0)):
            out[key] = most
    for key in REGISTERS:
        if key in a or key in b:
            out[key] = _later(a.get(key), b.get(key))
    both = (a.get("stories", {}), b.get("stories", {}))
    parts: dict[str, Any] = {
        "stories": {
            sid: _join_stories(*(side.get(sid, {}) for side in both))
            for sid in {*both[0], *both[1]}
        },
        "executors": _by_key(a, b, "executors", lambda x, y: _greater(x or {}, y or {})),
        "overrides": _by_key(a, b, "overrides", _later),
        "files": _latest(_by_key(a, b, "files", lambda x, y: max(x or "", y or ""))),
        "checkpoints": _checkpoints([*a.get("checkpoints", []), *b.get("checkpoints", [])]),
    }
    return out | {key: value for key, value in parts.items() if value}


def _by_key(a: Mapping[str, Any], b: Mapping[str, Any], name: str, both: Any) -> dict[str, Any]:
    ours, theirs = a.get(name, {}), b.get(name, {})
    return {key: both(ours.get(key), theirs.get(key)) for key in {*ours, *theirs}}


def _join_stories(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    orders = [s["order"] for s in (a, b) if "order" in s]
    if orders:
        out["order"] = min(orders)
    for key in ("title", "done"):
        if key in a or key in b:
            out[key] = _later(a.get(key), b.get(key))
    if run := _join_runs(a.get("run", {}), b.get("run", {})):
        out["run"] = run
    return out


def _join_runs(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Return the later go; of one go, what both have of it."""
    if a.get("round", 0) != b.get("round", 0):
        return dict(a if a.get("round", 0) > b.get("round", 0) else b)
    out: dict[str, Any] = {"round": a["round"]} if a.get("round") else {}
    for key in ("phase", "executor"):
        if key in a or key in b:
            out[key] = _later(a.get(key), b.get(key))
    since = [run["since"] for run in (a, b) if "since" in run]
    if since:
        out["since"] = min(since)
    attempts = _greater(a.get("attempts", {}), b.get("attempts", {}))
    results = _by_key(a, b, "results", _later)
    return out | {
        key: value for key, value in (("attempts", attempts), ("results", results)) if value
    }


# -- what a state tells


def value(state: Mapping[str, Any], key: str) -> Any:
    """Return what a register of a state holds, None without one."""
    return _dict(state.get(key)).get("v")


def stories(state: Mapping[str, Any]) -> list[str]:
    """Return the ids of all stories, in their order."""
    every = _dict(state.get("stories"))
    return sorted(every, key=lambda sid: (every[sid].get("order", MOST), sid))


def is_done(state: Mapping[str, Any], story: str) -> bool:
    """Say whether a story is done."""
    return bool(_dict(_dict(_dict(state.get("stories")).get(story)).get("done")).get("v"))


def current(state: Mapping[str, Any]) -> str:
    """Return the story that is being worked on, or '' when there is none.

    It is the one that was begun, else the first that is not done.
    """
    chosen = value(state, "current")
    if (
        isinstance(chosen, str)
        and chosen in _dict(state.get("stories"))
        and not is_done(state, chosen)
    ):
        return chosen
    return next((sid for sid in stories(state) if not is_done(state, sid)), "")


def run_of(state: Mapping[str, Any], story: str) -> Mapping[str, Any]:
    """Return the go at a story that counts."""
    return _dict(_dict(_dict(state.get("stories")).get(story)).get("run"))


def phase(state: Mapping[str, Any]) -> str:
    """Return the phase of the current story; '' before its first."""
    name = value(run_of(state, current(state)), "phase")
    return name if isinstance(name, str) else ""


def last(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the last action: `action`, and any known `story`, `phase`, `executor`, `note`."""
    return _dict(value(state, "last"))


def is_whole(state: Mapping[str, Any]) -> bool:
    """Say whether an epic has stories, all that it is to have, and each is done."""
    every = _dict(state.get("stories"))
    return (
        bool(every)
        and len(every) >= state.get("total", 0)
        and all(is_done(state, sid) for sid in every)
    )


def percent(done: int, total: int) -> int:
    """Return progress, rounded; 0 of nothing."""
    return int(100 * done / total + 0.5) if total else 0


def rest(state: Mapping[str, Any]) -> str:
    """Return how an epic stands by what was done last: active, paused, aborted or completed."""
    if is_whole(state):
        return COMPLETED
    return _RESTING.get(str(last(state).get("action", "")), ACTIVE)


def facts(given: Any) -> dict[str, Any]:
    """Return what a state tells, as plain values.

    They are for people, for the index and for the start of a session.
    """
    state = normal(given)
    every = stories(state)
    done = [sid for sid in every if is_done(state, sid)]
    total = max(len(every), state.get("total", 0))
    story = current(state)
    run, action, holder = run_of(state, story), state.get("last", {}), state.get("holder", {})
    return {
        "ref": state.get("ref", ""),
        "rest": rest(state),
        "total": total,
        "done": len(done),
        "percent": percent(len(done), total),
        "story": story,
        "story_title": str(value(state.get("stories", {}).get(story, {}), "title") or ""),
        "phase": phase(state),
        "attempts": counted(run.get("attempts", {})),
        "since": run.get("since", ""),
        "executor": str(value(state, "executor") or ""),
        "doer": str(value(run, "executor") or ""),
        "branch": str(value(state, "branch") or ""),
        "last": _texts(last(state)),
        "at": str(action.get("at", "")),
        "holder": _texts(holder.get("v")),
        "held_at": str(holder.get("at", "")),
        "held_by": str(holder.get("by", "")),
    }


def _texts(given: Any) -> dict[str, str]:
    """Return a map of texts: what somebody else's program put there may be anything."""
    return {
        str(key): value if isinstance(value, str) else sort_key(value)
        for key, value in _dict(given).items()
    }


def progress(given: Any) -> dict[str, Any]:
    """Return the stories: how many, done, pending, the current one.

    What is current is not pending.
    """
    state = normal(given)
    epic_facts = facts(state)
    every = stories(state)
    done = [sid for sid in every if is_done(state, sid)]
    return {
        "total": epic_facts["total"],
        "completed": len(done),
        "percentage": epic_facts["percent"],
        "current": epic_facts["story"] or None,
        "stories_done": done,
        "stories_pending": [sid for sid in every if sid not in done and sid != epic_facts["story"]],
    }


def overrides(given: Any) -> dict[str, Any]:
    """Return the overrides that are set."""
    every = normal(given).get("overrides", {})
    return {key: every[key]["v"] for key in sorted(every) if every[key]["v"] is not None}
