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
    begun = _Begun(local)
    changed: Counter[str] = Counter()
    commits = 0
    for at, paths in history.touched(since, until, COMMITS):
        commits += 1
        begun.add(at)
        changed.update(storable(path) for path in paths if shown(path))
    edited = Counter(path for path, _ in edits.touched(state, since, until))
    hot = sorted({*changed, *edited}, key=lambda path: (-(changed[path] + edited[path]), path))[
        :TOP
    ]
    mine = [
        session
        for session in sessions.some(state)
        if since <= session.last and session.started <= until
    ]
    for session in mine:
        begun.add(session.started)
    by_agent = _by_agent(state, mine)
    tools = sum(row["tool_call_count"] for row in by_agent.values())
    failed = sum(row["failed_count"] for row in by_agent.values())
    weeks = _learned_weeks(indexes, since, until, local)
    return {
        "hot_files": [
            {"path": path, "commit_count": changed[path], "edit_count": edited[path]}
            for path in hot
        ],
        "agents": [
            {"agent": agent, **row}
            for agent, row in sorted(
                by_agent.items(), key=lambda counts: (-counts[1]["session_count"], counts[0])
            )
        ],
        "hours": begun.hours,
        "weekdays": begun.weekdays,
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


class _Begun:
    """How many commits and sessions began at each hour, and on each day of the week."""

    def __init__(self, local: Callable[[float], tuple[int, int, str]]) -> None:
        self._local = local
        self.hours, self.weekdays = [0] * 24, [0] * 7

    def add(self, at: float) -> None:
        """Count what began at a time."""
        hour, weekday, _ = self._local(at)
        self.hours[hour] += 1
        self.weekdays[weekday] += 1


def _by_agent(state: State, some: Sequence[sessions.Session]) -> dict[str, dict[str, int]]:
    """Return {agent: how many sessions it had, how many tools these called, how many failed}."""
    used: dict[str, Counter[str]] = {}
    for cost in hook_costs.costs(state, [session.id for session in some][:500]):
        used.setdefault(cost.session, Counter())[cost.event] += cost.calls
    out: dict[str, dict[str, int]] = {}
    for session in some:
        row = out.setdefault(
            session.agent or "unknown",
            {"session_count": 0, "tool_call_count": 0, "failed_count": 0},
        )
        calls = used.get(session.id, Counter())
        row["session_count"] += 1
        row["tool_call_count"] += sum(calls[name] for name in _TOOLS)
        row["failed_count"] += calls["ToolFailed"]
    return out


def _learned_weeks(
    indexes: Sequence[tuple[str, Index]],
    since: float,
    until: float,
    local: Callable[[float], tuple[int, int, str]],
) -> dict[str, Counter[str]]:
    """Return {first day of a week: how many records of each kind were made in it}."""
    weeks: dict[str, Counter[str]] = {}
    for _, index in indexes:
        for record in index.rows(kinds=LEARNED, since=stamp(since), fields=("kind", "created")):
            try:
                at = seconds(record["created"])
            except ValueError:
                continue
            if since <= at <= until:
                weeks.setdefault(local(at)[2], Counter())[record["kind"]] += 1
    return weeks
