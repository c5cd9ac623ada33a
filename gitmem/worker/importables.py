"""What is here already for a new store to begin with: other tools' stores, commits, sessions."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.app import App
from gitmem.errors import GitmemError
from gitmem.git.commit_messages import CommitMessages
from gitmem.records.kinds import FACTS
from gitmem.services.interchange.formats import BY_NAME, detected, items_of
from gitmem.services.interchange.item import ForeignSource
from gitmem.services.interchange.readers import commit_messages, rule_files
from gitmem.services.sessions.past_transcripts import AGENTS
from gitmem.worker import past_sessions
from gitmem.worker.surroundings import surroundings

SMALL = 1 << 20  # bytes of a file whose entries are counted
FEW = 200  # files of a folder whose entries are counted
ALL = 1 << 31


class Importable(NamedTuple):
    """One kind of thing that can be imported: how many, None where nobody counted; the command.

    `agent` is whose sessions they are, "" for anything else.
    """

    title: str
    number: int | None
    command: str
    agent: str = ""


def importables(app: App) -> list[Importable]:
    """Return what can be imported here. Only what is cheap to count is counted."""
    stores = [
        Importable(BY_NAME[source.format].title, _count(app, source), "git mem import")
        for source in detected(surroundings(app))
    ]
    return [*stores, *_sessions(app)]


def has_facts(app: App) -> bool:
    """Return whether anybody remembered anything here."""
    return bool(app.index().rows(kinds=tuple(FACTS), fields=("id",), limit=1))


def _sessions(app: App) -> Iterator[Importable]:
    chosen = past_sessions.choose_sessions(app, ALL).chosen
    for agent, name in AGENTS.items():
        number = sum(transcript.agent == agent for transcript in chosen)
        if number:
            title = f"past sessions of {name}"
            yield Importable(title, number, "git mem import sessions", agent)


def _count(app: App, source: ForeignSource) -> int | None:
    if source.format == rule_files.NAME:
        return len(rule_files.rule_files(source.path))
    if source.format == commit_messages.NAME:
        commits = CommitMessages(app.location, app.env).latest(commit_messages.MOST)
        return commit_messages.statements(commits)
    try:
        return sum(1 for _ in items_of(source)) if _is_small(source.path) else None
    except (GitmemError, OSError, ValueError, LookupError):
        return None  # the import says what is wrong with it


def _is_small(path: str) -> bool:
    """Return whether a store is small enough to be read only to count its entries."""
    if os.path.isfile(path):
        return os.path.getsize(path) <= SMALL
    files = size = 0
    for folder, _, names in os.walk(path):
        for name in names:
            files += 1
            size += os.lstat(os.path.join(folder, name)).st_size
            if files > FEW or size > SMALL:
                return False
    return True
