"""Trends of a project over time.

These are hot files, active agents, hours of work, how often tools fail, and what was learned week
by week.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from gitmem.clock import seconds, stamp
from gitmem.git.code_history import CodeHistory
from gitmem.index.reader import Index
from gitmem.repo.location import storable
from gitmem.state import edits, hook_costs, sessions
from gitmem.state.database import State

TOP = 10
LEARNED = ("memory", "gotcha")
COMMITS = 20_000  # commits that are looked at
_TOOLS = ("AfterTool", "ToolFailed")


def trends(
    history: CodeHistory,
    state: State,
    indexes: Sequence[tuple[str, Index]],
    since: float,
    until: float,
    local: Callable[[float], tuple[int, int, str]],
    shown: Callable[[str], bool],
) -> dict[str, Any]:
    """Return what happened between two times (epoch seconds).

    `local` gives (hour, weekday from Monday 0, first day of the week) of a time where the user is.

    `hours` has 24 numbers, `weekdays` 7: how many commits and sessions began then.
    """
    changed: Counter[str] = Counter()
    hours, days = [0] * 24, [0] * 7
    commits = 0
    for at, paths in history.touched(since, until, COMMITS):
        commits += 1
        hour, day, _ = local(at)
        hours[hour] += 1
        days[day] += 1
        changed.update(storable(path) for path in paths if shown(path))
    edited: Counter[str] = Counter()
    edited.update(path for path, _ in edits.touched(state, since, until))
    hot = sorted({*changed, *edited}, key=lambda path: (-(changed[path] + edited[path]), path))[
        :TOP
    ]
    mine = [one for one in sessions.some(state) if since <= one.last and one.started <= until]
    by_agent: dict[str, dict[str, int]] = {}
    used: dict[str, Counter[str]] = {}
    for cost in hook_costs.costs(state, [one.id for one in mine][:500]):
        used.setdefault(cost.session, Counter())[cost.event] += cost.calls
    for session in mine:
        row = by_agent.setdefault(
            session.agent or "unknown",
            {"session_count": 0, "tool_call_count": 0, "failed_count": 0},
        )
        row["session_count"] += 1
        row["tool_call_count"] += sum(used.get(session.id, Counter())[name] for name in _TOOLS)
        row["failed_count"] += used.get(session.id, Counter())["ToolFailed"]
        hour, day, _ = local(session.started)
        hours[hour] += 1
        days[day] += 1
    tools = sum(row["tool_call_count"] for row in by_agent.values())
    failed = sum(row["failed_count"] for row in by_agent.values())
    weeks: dict[str, Counter[str]] = {}
    for _, index in indexes:
        for record in index.rows(kinds=LEARNED, since=stamp(since), fields=("kind", "created")):
            try:
                at = seconds(record["created"])
            except ValueError:
                continue
            if since <= at <= until:
                weeks.setdefault(local(at)[2], Counter())[record["kind"]] += 1
    return {
        "hot_files": [
            {"path": path, "commit_count": changed[path], "edit_count": edited[path]}
            for path in hot
        ],
        "agents": [
            {"agent": agent, **row}
            for agent, row in sorted(
                by_agent.items(), key=lambda one: (-one[1]["session_count"], one[0])
            )
        ],
        "hours": hours,
        "weekdays": days,
        "tool_calls": {
            "count": tools,
            "failed_count": failed,
            "failure_rate": round(failed / tools, 3) if tools else None,
        },
        "learned_weeks": [
            {"week": week, **{f"{kind}_count": weeks[week][kind] for kind in LEARNED}}
            for week in sorted(weeks)
        ],
        "commit_count": commits,
        "session_count": len(mine),
    }
