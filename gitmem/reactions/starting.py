"""A session starts: it is told what it should know. Part of the hot path."""

import os

from gitmem.agents.render import clean, record_line
from gitmem.index import sessions
from gitmem.invocation import Hook
from gitmem.model.kinds import LIVE
from gitmem.reactions.telling import Spots, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

PATIENCE = 0.8  # seconds that the start of a session waits for a refresh that it needs, or for the end of one that died
STATUS = 0.25  # seconds that it waits for git to say which files have changed
DEAD = 100  # sessions that a start ends, the latest; the next one goes on
DIRTY = 200  # of these that are looked at
LEFT = ("Changed", "Failed to the end", "Commits")  # parts of a digest that the next session is told
FORGETFUL = frozenset({"compact", "clear"})  # what was told before is not in the context any more


def start(hook: Hook) -> "list[str]":
    """Return the lines of a briefing: the last session, gotchas of the files at work, then of all; what is pinned; tasks; decisions."""
    event = hook.event
    if event.source in FORGETFUL:
        hook.state.forget_told(event.context)
    dirty = _Dirty(hook) if hook.settings.get("inject") else None
    dead = _bury(hook)
    hook.catch_up(PATIENCE, insists=True, sure=dead or sessions.waiting(hook.state) > 0)
    if dirty is None:
        return []
    both: dict[str, Any] = {"agents": hook.agents, "limit": 60}
    gotchas: list[Row] = []
    pinned: list[Row] = []
    tasks: list[Row] = []
    decisions: list[Row] = []
    for index in hook.indexes:
        gotchas += index.rows(kinds=("gotcha",), statuses=LIVE, resolved=False, order="severity", **both)
        pinned += index.rows(kinds=("memory",), statuses=("pinned",), order="importance", **both)
        tasks += index.rows(what="task", statuses=("active",), **both)
        decisions += [row for what in ("decision", "rule") for row in index.rows(what=what, statuses=("active",), **both)]
    near = _near(hook, dirty.paths())
    gotchas.sort(key=lambda row: str(row["last_seen"]), reverse=True)
    gotchas.sort(key=lambda row: row["severity"] != "critical")
    decisions.sort(key=lambda row: (str(row["created"]), row["id"]), reverse=True)
    near, gotchas = shown(hook, near), shown(hook, gotchas)
    budget, spots = int(hook.settings.get("startBudget")), Spots(hook)
    lines = hook.tell(_last(hook), budget // 4, lambda row: record_line(row, most=160, body=row["body"], lead="the session before: "))

    def line(row: "Row") -> str:
        return spots.line(row, most=160)

    # half for gotchas, three quarters with what is pinned; what a part leaves over goes to the next
    for rows, share in ((near, 0.4), (gotchas, 0.6), (pinned, 0.75), (tasks, 0.85), (decisions, 1.0), (gotchas, 1.0)):
        lines += hook.tell(rows, int(budget * share), line, lines)
    return lines


def _bury(hook: Hook) -> bool:
    """End the sessions that died, so that the next process with time finishes them; say whether there were any."""
    from gitmem.processes import is_gone

    ended = [sessions.bury(hook.state, one) for one in sessions.lost(hook.state, hook.now, is_gone, hook.event.session)[:DEAD]]
    return any(ended)


def _last(hook: Hook) -> "list[Row]":
    """Return the digest of the last session, if this one is new."""
    if hook.event.source in {"compact", "resume", "fork"} or not hook.index:
        return []
    rows = hook.index.rows(what="summary", statuses=LIVE, agents=hook.agents, limit=1, order="created")
    return [{**row, "body": _short(hook.index.body(row["n"]))} for row in rows if row["session"] != hook.event.session]


def _short(body: str) -> str:
    """Return a digest as one line: how it went, and what it left; its title says what was asked."""
    head, *parts = body.split("\n## ")
    out = [head.strip().partition("\n")[0]]  # the index has the words of the sections behind the text
    for part in parts:
        name, _, rest = part.partition("\n")
        items = [line[2:] for line in rest.splitlines() if line.startswith("- ")]
        if items and name in LEFT:
            out.append(f"{name}: {', '.join(items[:5])}.")
    return clean(" ".join(out), 500)


def _near(hook: Hook, paths: "list[str]") -> "list[Row]":
    rows: list[Row] = []
    for index in hook.indexes if paths else ():
        rows += index.rows(kinds=("gotcha",), statuses=LIVE, resolved=False, order="severity", agents=hook.agents, limit=20, paths=paths)
    return rows


class _Dirty:
    """Files that differ from the last commit, asked of git while other work goes on."""

    def __init__(self, hook: Hook) -> None:
        self._root = hook.root
        self._pipe = self._child = 0
        if hook.root and hook.index:
            args = ("-C", hook.root, "--no-optional-locks", "status", "--porcelain", "-z", "-uno", "--no-renames", "--ignore-submodules")
            self._child, self._pipe = hook.spawn_git(*args)

    def paths(self) -> "list[str]":
        """Return them, as far as git is quick."""
        if not self._child:
            return []
        import select
        import time

        data, until = b"", time.monotonic() + STATUS
        while (left := until - time.monotonic()) > 0 and select.select([self._pipe], [], [], left)[0]:
            part = os.read(self._pipe, 1 << 16)
            if not part:
                break
            data += part
        os.close(self._pipe)  # a git that is slow ends with its pipe; nobody waits for it
        return [row[3:].decode("utf-8", "replace") for row in data.split(b"\0")[:-1] if len(row) > 3][:DIRTY]
