"""Keeps what other branches and work trees change of the code, for the hooks that tell it."""

import hashlib
import os
import time

from gitmem.app import App
from gitmem.errors import GitmemError
from gitmem.git.merges import Merges
from gitmem.repo.location import storable
from gitmem.repo.refs import branches_stamp
from gitmem.services.drift import compare
from gitmem.services.drift.drift import HIGH, LEVELS, LOW, Pair, Side, drift, name_authors, sides
from gitmem.state import code_progress, elsewhere, sessions
from gitmem.state.elsewhere import Elsewhere
from gitmem.text.plural import counted

# in which a branch was committed to: that is compared at all; that is told of where it does not
# clash
DAYS, ACTIVE = 30, 7
AGAIN = 600.0  # seconds after which work trees are looked at again, when no branch moved
REST = 10.0  # times as long as it took last is waited before it is done again
FILES = 1000  # of one side that are told of


def keep(app: App) -> list[str]:
    """Find out anew what is changed elsewhere, when branches moved or some time has gone.

    Only where agents are at work.
    """
    now = app.clock.now()
    if app.location.worktree is None or not sessions.some(app.state, ended=False, limit=1):
        return []
    key = hashlib.sha256(branches_stamp(app.location).encode()).hexdigest()
    if not _is_due(app, key, now):
        return []
    code_progress.note_drift(app.state, key, now, 1.0)  # also where it fails: not at once again
    begun = time.monotonic()
    with Merges(app.location, app.env, timeout=30.0) as merges:
        rows = _clashes(app, merges, now)
        if rows is None:
            return []
        elsewhere.replace(app.state, rows)
        code_progress.note_drift(app.state, key, now, time.monotonic() - begun)
    clashes = sum(row.level in {"critical", "high"} for row in rows)
    return (
        [f"{counted(clashes // 2, 'file')} found that clash with another branch"] if clashes else []
    )


def _clashes(app: App, merges: Merges, now: float) -> list[Elsewhere] | None:
    """Return what is changed elsewhere too, where there is more than one branch or work tree.

    None when git cannot say.
    """
    branches = merges.refs("refs/heads/", "refs/remotes/")
    if len(branches) < 2 and len(merges.worktrees()) < 2:
        return []
    try:
        recent, _ = sides(merges, (), app.code_history.resolve, int(now - DAYS * 86400))
    except GitmemError:
        return None
    if len(recent) < 2:
        return []
    rows: list[Elsewhere] = []
    for pair in drift(merges, recent, hides=app.untold(str(app.location.worktree))):
        if LEVELS.index(pair.level) >= LEVELS.index(HIGH):
            name_authors(merges, pair, lambda root: working(app, root))
        rows += _rows(pair, now)
    return rows


def _is_due(app: App, refs: str, now: float) -> bool:
    """Say whether branches moved since the last search, or some time has gone."""
    last = code_progress.last_drift(app.state)
    if last is None:
        return True
    last_refs, at, took = last
    gap = AGAIN if last_refs == refs else REST * took
    return not 0 <= now - at < gap


def working(app: App, root: str) -> list[str]:
    """Return who is at work in a work tree: the sessions that run there."""
    some = [
        session
        for session in sessions.some(app.state, ended=False)
        if session.root == storable(os.path.realpath(root))
    ]
    return [f"{session.agent} session {session.id[:8]}" for session in some[:3]]


def _rows(pair: Pair, now: float) -> list[Elsewhere]:
    out: list[Elsewhere] = []
    files = {file.path: file for file in pair.files}
    for at, (mine, other) in enumerate(((pair.left, pair.right), (pair.right, pair.left))):
        is_active = other.kind == "worktree" or other.at >= now - ACTIVE * 86400
        for path in pair.changed[1 - at][:FILES]:
            where = _key(mine), storable(path), storable(other.name)
            file = files.get(path)
            if file is None:
                row = Elsewhere(*where, LOW, "", other.author)
            else:
                names = ", ".join(filter(None, (file.authors[1 - at] or [other.author])[:2]))
                row = Elsewhere(*where, file.level, compare.joined(file.shared), names)
            if is_active or row.level in {"critical", "high"}:
                out.append(row)
    return out


def _key(side: Side) -> str:
    return storable(os.path.realpath(side.root)) if side.root else elsewhere.branch_key(side.name)
