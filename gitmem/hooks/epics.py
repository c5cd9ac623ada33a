"""What the start of a session tells of epics that are not finished. Part of the hot path."""

from gitmem.agents.prompt_text import clean
from gitmem.base.processes import is_gone
from gitmem.hooks.context import Hook
from gitmem.index import epics
from gitmem.services.records.committers import author_if_foreign
from gitmem.state import epic_holders, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 2  # epics that are told
LOOKED = 40  # that are looked at
RANK = (epics.CRASHED, epics.LEFT, epics.ACTIVE, "paused")
WAYS = "--continue, --review, --restart (its story from the start) or --discard"


def resume_lines(hook: Hook) -> "list[str]":
    """Return at most three lines about unfinished epics.

    The epic of this work tree comes first. The lines also tell the four ways to go on.
    """
    if hook.repo.stored_index is None:
        return []
    here = epic_holders.chosen(hook.repo.state, hook.repo.root)
    standings = []
    for epic in epics.epics(hook.repo.stored_index)[:LOOKED]:
        if epic["rest"] in {"active", "paused"}:
            standings.append((epic, epics.condition(hook.repo.state, epic, hook.now, is_gone)))
    mine = [(epic, how) for epic, how in standings if how["standing"] in RANK]
    mine.sort(key=lambda pair: (pair[0]["id"] != here, RANK.index(pair[1]["standing"])))
    if not mine:
        return []
    session = sessions.get(hook.repo.state, hook.event.session)
    lines = [
        _line(hook, epic, how, session.process if session else "") for epic, how in mine[:MOST]
    ]
    free = [epic for epic, how in mine if not how["alive"]]
    if free:
        slug = clean(free[0]["id"][4:], 64)
        others = f" ({len(mine) - MOST} more: git mem work list)" if len(mine) > MOST else ""
        lines.append(
            f"- To go on with it, ask the user which way: git mem work resume {slug} {WAYS}{others}"
        )
    return lines


def _line(hook: Hook, epic: "dict[str, Any]", how: "dict[str, Any]", process: str) -> str:
    """Return an epic as one line: how it stands, where it is, how far, and who else wrote it."""
    state = how["standing"]
    if how["alive"]:
        mine = how["session"] == hook.event.session or (process and how["process"] == process)
        state = (
            "in progress here"
            if mine
            else "another session works on it"
            if how["session"]
            else "somebody works on it"
        )
    elif state == epics.ACTIVE:
        state = "in progress elsewhere"
    where = [f"story {clean(epic['story'], 60)}"] if epic["story"] else []
    if epic["phase"]:
        where.append(f"phase {clean(epic['phase'], 30)}")
    if epic["attempts"] > 1:
        where.append(f"attempt {epic['attempts']}")
    where.append(f"{epic['done']} of {epic['total']} stories done ({epic['percent']}%)")
    by = author_if_foreign(epic, hook.repo.own_addresses)
    where += [f"by {clean(by, 120)}"] if by else []
    why = f"; {how['why']}" if state in {epics.CRASHED, epics.LEFT} and how["why"] else ""
    return (
        f"- [epic {clean(epic['id'][4:], 64)}, {state}] {clean(epic['title'], 120)}: "
        f"{', '.join(where)}{why}"
    )
