"""Sessions of which only the history is left.

Their events came while `state.db` was busy, or it was lost since.

A history is durable, what is known of its session is not. One that no session is known for, and
that has been silent for long, is taken for a session that was interrupted, and its record is
written; one that has its record is only made known again.
"""

import os
import stat
from collections.abc import Callable

from gitmem.clock import seconds
from gitmem.repo.location import Home
from gitmem.services.session_log import reader
from gitmem.state import session_ends, sessions
from gitmem.state.database import State
from gitmem.state.sessions import GONE, SILENCE, Session

MOST = 50  # sessions at one time; the next drain goes on
LOOKED = 200  # rows at the beginning of a history in which its agent is told


def adopt(home: Home, state: State, has: Callable[[str], bool], root: str, now: float) -> int:
    """Make known what histories tell of sessions that are not; return how many want a record.

    `has` says whether a record is there.
    """
    if state.in_memory:
        return 0
    adopted = 0
    unknown = _unknown(home, state, now)[:MOST]
    if not unknown:
        return 0
    # heavier than all the rest, and every drain asks
    from gitmem.records.kinds import session_record_id

    for id, stem, last in unknown:
        agent, started = _begun(home, id, last)
        name = os.path.basename(stem) + reader.LIVE
        sessions.sign(
            state,
            Session(id, agent, min(started, last), last, name, None, None, root, "", ""),
            opens=False,
        )
        session = sessions.get(state, id)
        if session is None or session.last != last:
            continue  # it gave a sign of life this moment
        if has(session_record_id(id)):
            session_ends.end_with_record(state, id, last, GONE)
        else:
            adopted += session_ends.mark_interrupted(state, session, now)
    return adopted


def _unknown(home: Home, state: State, now: float) -> list[tuple[str, str, float]]:
    """Return (id, stem, last sign of life) of the long silent histories without a session."""
    try:
        names = os.listdir(home.join(reader.FOLDER))
    except OSError:
        return []
    ids = {session.id for session in sessions.some(state)} if names else set()
    out: dict[str, tuple[str, float]] = {}
    for name in sorted(names):
        stem = reader.stem_of(name)
        id = stem[reader.HEAD :]
        if not id or id in ids or not name.endswith(reader.LIVE):
            continue
        path = home.join(reader.FOLDER, name)
        try:
            about = os.lstat(path)
        except OSError:
            continue
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            continue  # in a repository of a group others have theirs
        last = about.st_mtime
        out[id] = (stem, max(last, out.get(id, ("", last))[1]))
    return [(id, stem, last) for id, (stem, last) in out.items() if abs(now - last) >= SILENCE]


def _begun(home: Home, id: str, last: float) -> tuple[str, float]:
    """Return a session's agent, and when it began, as far as its history tells."""
    agent, started = "", last
    for number, row in reader.numbered(home, id):
        if number == 1 or started == last:
            try:
                started = seconds(str(row.get("timestamp", "")))
            except ValueError:
                pass
        hook_state = row.get("state")
        agent = str(hook_state.get("agent") or "") if isinstance(hook_state, dict) else ""
        if agent or number >= LOOKED:
            break
    return agent or "unknown", started


__all__ = ["adopt"]
