"""Past sessions of one repository: which there are, and which of them are still to be read."""

import os
from collections.abc import Iterable

from gitmem.app import App
from gitmem.errors import UnknownId
from gitmem.repo.refs import PRIVATE
from gitmem.services.sessions.own_folders import OwnFolders
from gitmem.services.sessions.past_choice import KnownSessions, PastChoice, choose, is_past
from gitmem.services.sessions.past_transcripts import (
    AGENTS,
    past_transcripts,
    places,
)
from gitmem.state import past_transcripts as noted
from gitmem.state import sessions
from gitmem.store.rejected import marks

# how each agent names the session in which a command runs
RUNNING = (
    *("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID"),
    "GITMEM_SESSION",
)


def folders_looked_at(app: App, agents: Iterable[str] = AGENTS) -> list[str]:
    """Return the folders in which transcripts of agents are looked for."""
    where = places(app.env, _home(app))
    return [where[agent] for agent in agents]


def choose_sessions(app: App, limit: int, agents: Iterable[str] = AGENTS) -> PastChoice:
    """Choose the past sessions that are to be read, at most `limit`, those written last first."""
    transcripts = past_transcripts(OwnFolders(app.location), app.env, _home(app), agents)
    if not transcripts:
        return PastChoice([], [])
    return choose(transcripts, _recorded_sessions(app), limit)


def _home(app: App) -> str:
    return app.env.get("HOME") or os.path.expanduser("~")


def _recorded_sessions(app: App) -> KnownSessions:
    rows = app.index().rows(kinds=("session",), fields=("id",))
    private = app.store("private")

    def was_read(id: str) -> bool:
        try:
            return is_past(private.get(id).record)
        except UnknownId:
            return False  # others publish records of their sessions

    return KnownSessions(
        hooked={session.id for session in sessions.some(app.state)},
        records={str(row["id"]) for row in rows},
        forgotten={str(mark["id"]) for mark in marks(app.objects, PRIVATE)},
        running={app.env[name] for name in RUNNING if app.env.get(name)},
        readings=noted.readings(app.state),
        is_past=was_read,
        now=app.clock.now(),
    )
