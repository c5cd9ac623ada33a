"""Which epics exist, and who works on them.

The index knows their state, and `state.db` knows who holds them.

Standard library only; the start of a session asks this. A holder is a session, or the process of
somebody without one; it is alive as long as its process is. Signs of life are those that hooks
leave for their session anyway, and what somebody does to the epic: none is written for its own
sake.
"""

from gitmem.base.fast import dumps, loads
from gitmem.base.sqlite import healing, transaction
from gitmem.clock import seconds
from gitmem.index.reader import Index
from gitmem.state import sessions
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# seconds without a sign of life after which, where nothing is known of a process, work counts as
# crashed
CRASH_AFTER = 1800.0
COMPLETES = frozenset({"STORY_COMPLETED"})  # last actions after which nothing was under way
HOLDERS = 8  # of one epic that are remembered
# how an epic stands that was not put down; it may also be paused, aborted or completed
ACTIVE, LEFT, CRASHED = "active", "left", "crashed"


@healing
def epics(index: Index, *, archived: bool = False) -> "list[dict[str, Any]]":
    """Return the epics of the shared store, last changed first.

    Each has `id`, `title`, `status`, `updated`, and what its state tells.
    """
    sql = (
        "SELECT r.id, r.title, r.status, r.updated, w.facts FROM works w JOIN records r ON r.n = "
        "w.n WHERE r.store = 'shared' ORDER BY r.updated DESC, r.id"
    )
    out = []
    for id, title, status, updated, facts in index.db.execute(sql):
        if archived or status != "archived":
            out.append(
                {**loads(facts), "id": id, "title": title, "status": status, "updated": updated}
            )
    return out


# -- which one a work tree is at


def choose(state: State, root: str, id: str) -> None:
    """Note the epic that a work tree is at."""
    state.mark(f"working {root}", id)


def chosen(state: State, root: str) -> str:
    """Return the id of the epic that a work tree is at; '' when none was noted."""
    return state.marked(f"working {root}") or ""


# -- who is at it


def holders(state: State, id: str) -> "tuple[str, list[dict[str, Any]]]":
    """Return the name of this clone, and who worked on an epic here, latest last.

    Each has `session`, `process` and `at` (epoch seconds).
    """
    try:
        found = loads(state.marked(f"held {id}") or "{}")
        rows = [one for one in found.get("by", []) if isinstance(one.get("at"), float | int)]
        return str(found.get("clone", "")), rows
    except (ValueError, AttributeError, TypeError):
        return "", []


@healing
def hold(
    state: State,
    id: str,
    clone: str,
    session: str,
    process: str,
    now: float,
    is_gone: "Callable[[str], bool | None]",
) -> None:
    """Note that a session, or a process without one, is at an epic.

    Those that are gone are forgotten.

    With neither, there is nobody to ask after: silence decides.
    """
    with transaction(state.db):
        _, others = holders(state, id)
        mine = session or process
        kept = [
            one
            for one in others
            if (one.get("session") or one.get("process")) != mine
            and not is_gone(str(one.get("process") or ""))
        ]
        new = {"session": session, "process": process, "at": now}
        state.mark(f"held {id}", dumps({"clone": clone, "by": [*kept[1 - HOLDERS :], new]}))


def release(state: State, id: str) -> None:
    """Note that nobody is at an epic any more."""
    if state.marked(f"held {id}"):
        state.mark(f"held {id}", "{}")


# -- how it stands


def condition(
    state: State, epic: "dict[str, Any]", now: float, is_gone: "Callable[[str], bool | None]"
) -> "dict[str, Any]":
    """Return the condition of an epic.

    It has `standing`, `silent` (seconds since the last sign of life), `alive` (a live process is
    known), its `session` and `process`, and `why`.

    `epic` is what `gitmem.records.epic.facts` tells, and its `id`.
    """
    signs, states = [_seconds(epic["at"]), _seconds(epic["held_at"])], []
    latest, process = str(epic["holder"].get("session") or ""), ""
    for one in _known(state, epic):
        how, last, named = _look(state, one, is_gone)
        states.append(how)
        signs.append(last)
        if how == "alive":
            latest, process = str(one.get("session") or ""), named
    silent = max(0.0, now - _last(state, str(epic["id"]), max(signs), now))
    out = {
        "standing": epic["rest"],
        "silent": silent,
        "alive": "alive" in states,
        "session": latest,
        "process": process,
        "why": "",
    }
    if epic["rest"] != ACTIVE:
        return out
    if out["alive"]:
        return {**out, "why": "its session is running" if latest else "its process is running"}
    gone = bool(states) and "unknown" not in states
    why = (
        ("its session ended without a pause" if states[-1] == "ended" else "its process is gone")
        if gone
        else ""
    )
    if str((epic.get("last") or {}).get("action") or "") in COMPLETES:
        quiet = why or (
            "nothing was heard of it for more than 30 minutes" if silent > CRASH_AFTER else ""
        )
        return (
            {**out, "standing": LEFT, "why": f"its last story was completed; {quiet}"}
            if quiet
            else out
        )
    if silent > CRASH_AFTER:
        return {
            **out,
            "standing": CRASHED,
            "why": why or "nothing was heard of it for more than 30 minutes",
        }
    return {**out, "standing": LEFT, "why": why} if gone else out


def _known(state: State, epic: "dict[str, Any]") -> "list[dict[str, Any]]":
    """Return the holders of an epic that this clone can check.

    These are those who worked on it here, if it was worked on here last.
    """
    clone, rows = holders(state, str(epic["id"]))
    if rows and clone == epic["held_by"]:
        # a terminal stays open when an agent has gone on from there: it says nothing of the agent's
        # life
        after = max((n for n, one in enumerate(rows) if one.get("session")), default=-1)
        return [one for n, one in enumerate(rows) if one.get("session") or n > after]
    session = str(epic["holder"].get("session") or "")
    return (
        [{"session": session, "process": "", "at": 0.0}]
        if session and sessions.get(state, session)
        else []
    )


def _look(
    state: State, one: "dict[str, Any]", is_gone: "Callable[[str], bool | None]"
) -> "tuple[str, float, str]":
    """Return the state of a holder, its last sign of life and its process.

    The state is alive, ended, gone or unknown.
    """
    known = sessions.get(state, str(one["session"])) if one.get("session") else None
    last = max(float(one["at"]), known.last if known else 0.0)
    if known and known.ended is not None:
        return ("gone" if known.why == sessions.GONE else "ended"), last, ""
    process = (known.process if known else "") or str(one.get("process") or "")
    gone = is_gone(process) if process else None
    return {True: "gone", False: "alive", None: "unknown"}[gone], last, process


def _last(state: State, id: str, last: float, now: float) -> float:
    """Return a last sign of life in the time of this clock.

    One from the future counts from when it was first seen here, so it does not count for ever.
    """
    if last <= now:
        return last
    if state.in_memory:  # nothing can be remembered: near enough is fresh
        return now if last - now <= CRASH_AFTER else 0.0
    text, _, first = (state.marked(f"ahead {id}") or "").partition(" ")
    if text == str(last) and first and float(first) <= now:
        return float(first)
    state.mark(f"ahead {id}", f"{last} {now}")
    return now


def _seconds(text: object) -> float:
    try:
        return seconds(str(text))
    except ValueError:
        return 0.0
