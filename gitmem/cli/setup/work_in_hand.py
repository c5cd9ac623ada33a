"""The part of `git mem status` about the work in hand.

It shows session, epic, pending tasks and inbox, and the command that continues each.
"""

from collections.abc import Iterator
from typing import Any

from gitmem.app import App
from gitmem.base import processes
from gitmem.cli.json_shapes import epic_json
from gitmem.cli.sessions.find import RUNNING, state_of
from gitmem.cli.terminal import Terminal, age, plain
from gitmem.clock import stamp
from gitmem.index import epics
from gitmem.services.briefing import collect
from gitmem.services.records.committers import author_if_foreign
from gitmem.state import sessions

NAMED = 3  # pending tasks that are named


def work(app: App, session: str) -> dict[str, Any]:
    """Return the work in hand: `current_session`, `epics`, `pending_tasks`.

    `session` is the id of the one that the command runs in.
    """
    mine = (
        sessions.get(app.state, session)
        if session
        else next(iter(sessions.some(app.state, ended=False, limit=1)), None)
    )
    indexes = [index for _, index in app.indexes()]
    agents = app.namespaces
    tasks = collect.gather(
        indexes,
        agents,
        subjects=(collect.TASKS,),
        unsure=False,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=app.fact_order(agents),
    )[collect.TASKS]
    return {
        "current_session": {
            "id": mine.id,
            "agent": mine.agent,
            "state": state_of(mine),
            "last_seen": stamp(mine.last),
        }
        if mine
        else None,
        "epics": [
            epic_json(epic, author_if_foreign(epic, app.own_addresses))
            for index in indexes
            for epic in epics.unfinished(index, app.state, app.clock.now(), processes.is_gone)
        ],
        "pending_tasks": [{"id": task.id or None, "text": task.attributed} for task in tasks],
    }


def lines(term: Terminal, row: dict[str, Any]) -> Iterator[str]:
    """Yield the work in hand for people, each line with the next command.

    Nothing where there is none.
    """
    session, tasks = row["current_session"], row["pending_tasks"]
    if session:
        how = "runs" if session["state"] == RUNNING else session["state"]
        yield (
            f"session  {plain(session['id'][:8])} ({plain(session['agent'])}) {how}, last seen "
            f"{age(session['last_seen'], term.clock.now())}: git mem session show"
        )
    for epic in row["epics"]:
        name = plain(str(epic["id"]).removeprefix("wrk-"))
        by = f", by {plain(epic['committed_by'])}" if epic["committed_by"] else ""
        yield f"epic     {name} is {epic['condition']}{by}: git mem work show {name}"
    if tasks:
        named = "; ".join(plain(task["text"])[:60].rstrip(". ") for task in tasks[:NAMED])
        more = f"; and {len(tasks) - NAMED} more" if len(tasks) > NAMED else ""
        yield f"to do    {named}{more}: git mem page summary"
