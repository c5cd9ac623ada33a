"""Which epics exist, and who works on them.

The index knows their state, and `state.db` knows who holds them.

Standard library only; the start of a session asks this. A holder is a session, or the process of
somebody without one; it is alive as long as its process is. Signs of life are those that hooks
leave for their session anyway, and what somebody does to the epic: none is written for its own
sake.
"""

from gitmem.base.fast import loads
from gitmem.base.sqlite import healing
from gitmem.clock import seconds
from gitmem.index.reader import Index
from gitmem.state import sessions
from gitmem.state.database import State
from gitmem.state.epic_holders import EpicHolder, first_seen, holders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# `committer` is who changed its title, text or state last
COLUMNS = ("id", "title", "status", "updated", "store", "committer")
# seconds without a sign of life after which, where nothing is known of a process, work counts as
# crashed
CRASH_AFTER = 1800.0
COMPLETES = frozenset({"STORY_COMPLETED"})  # last actions after which nothing was under way
# how an epic stands that was not put down; it may also be paused, aborted or completed
ACTIVE, LEFT, CRASHED = "active", "left", "crashed"


@healing
def epics(index: Index, *, archived: bool = False) -> "list[dict[str, Any]]":
    """Return the epics of the shared store, last changed first.

    Each has the `COLUMNS` of the index, and what its state tells.
    """
    sql = (
        f"SELECT w.facts, {', '.join(f'r.{name}' for name in COLUMNS)} FROM works w JOIN records r "
        "ON r.n = w.n WHERE r.store = 'shared' ORDER BY r.updated DESC, r.id"
    )
    rows = [
        {**loads(facts), **dict(zip(COLUMNS, values, strict=True))}
        for facts, *values in index.db.execute(sql)
    ]
    return [row for row in rows if archived or row["status"] != "archived"]


def unfinished(
    index: Index, state: State, now: float, is_gone: "Callable[[str], bool | None]"
) -> "list[dict[str, Any]]":
    """Return the epics that are active or paused, each with its condition."""
    return [
        {**epic, **condition(state, epic, now, is_gone)}
        for epic in epics(index)
        if epic["rest"] in {ACTIVE, "paused"}
    ]


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
    for holder in _local_holders(state, epic):
        how, last, named = _look(state, holder, is_gone)
        states.append(how)
        signs.append(last)
        if how == "alive":
            latest, process = holder.session, named
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
            "it had no activity for more than 30 minutes" if silent > CRASH_AFTER else ""
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
            "why": why or "it had no activity for more than 30 minutes",
        }
    return {**out, "standing": LEFT, "why": why} if gone else out


def _local_holders(state: State, epic: "dict[str, Any]") -> "list[EpicHolder]":
    """Return the holders of an epic that this clone can check.

    These are those who worked on it here, if it was worked on here last.
    """
    clone, local = holders(state, str(epic["id"]))
    if local and clone == epic["held_by"]:
        # a terminal stays open when an agent has gone on from there: it says nothing of the agent's
        # life
        after = max((n for n, holder in enumerate(local) if holder.session), default=-1)
        return [holder for n, holder in enumerate(local) if holder.session or n > after]
    session = str(epic["holder"].get("session") or "")
    if session and sessions.get(state, session):
        return [EpicHolder(session, "", 0.0)]
    return []


def _look(
    state: State, holder: EpicHolder, is_gone: "Callable[[str], bool | None]"
) -> "tuple[str, float, str]":
    """Return the state of a holder, its last sign of life and its process.

    The state is alive, ended, gone or unknown.
    """
    session = sessions.get(state, holder.session) if holder.session else None
    last = max(holder.at, session.last if session else 0.0)
    if session and session.ended is not None:
        return ("gone" if session.why == sessions.GONE else "ended"), last, ""
    process = (session.process if session else "") or holder.process
    gone = is_gone(process) if process else None
    return {True: "gone", False: "alive", None: "unknown"}[gone], last, process


def _last(state: State, id: str, last: float, now: float) -> float:
    """Return a last sign of life in the time of this clock."""
    if last <= now:
        return last
    if state.in_memory:  # nothing can be remembered: near enough is fresh
        return now if last - now <= CRASH_AFTER else 0.0
    return first_seen(state, id, last, now)


def _seconds(text: object) -> float:
    try:
        return seconds(str(text))
    except ValueError:
        return 0.0
