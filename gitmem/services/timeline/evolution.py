"""How a file or a symbol came to be.

The history has its changes through renames, whose each change was, and what was learned with it.

What git says of a file is kept in a file of its own, with the heads it was asked at: later only the
commits since are asked for.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from gitmem.base.fast import new_hash
from gitmem.base.files import write_atomic
from gitmem.errors import GitmemError
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import FileChange, parsed_changes
from gitmem.index.reader import Index
from gitmem.records.kinds import LIVE
from gitmem.repo.location import Home
from gitmem.services.provenance.known import ProvenanceSources, recorded_links, writers
from gitmem.services.records.committers import TRUST_FIELDS
from gitmem.state import sessions
from gitmem.state.database import State
from gitmem.state.links import HUMAN, Link

FOLDER = "evolution"  # in our folder
VERSION = 1
FEW = 50  # changes whose patch ids are worth asking for
BATCH = 200  # changes that are looked up at once
RECORDS = 4  # of each session that a change names
Kept = tuple[list[str], bytes]
FIELDS = (*TRUST_FIELDS, "id", "type", "severity")


@dataclass(slots=True)
class EvolutionStep:
    """A change, with the sessions that wrote lines of it.

    `others` are sessions that had a part in its commit alone. It also has what all of these
    sessions learned.
    """

    change: FileChange
    links: list[Link] = field(default_factory=list)
    others: list[Link] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)


def changes(history: CodeHistory, home: Home, path: str) -> Iterator[FileChange]:
    """Yield the changes of a file that the branches hold, the newest first, through renames."""
    heads = history.heads()
    if not heads:
        return iter(())
    kept = _kept(home, path)
    if kept and kept[0] == heads:
        return parsed_changes(kept[1])
    history_text = _grown(history, path, heads, kept) if kept else None
    if history_text is None:
        history_text = history.file_changes(path, heads) or b""
    _keep(home, path, heads, history_text)
    return parsed_changes(history_text)


def _grown(history: CodeHistory, path: str, heads: Sequence[str], kept: Kept) -> bytes | None:
    """Return the changes since, with those from before.

    None where only git can tell: a head was rewritten, the file renamed, a branch came in.
    """
    if history.not_below_any(kept[0], heads):
        return None
    before = list(parsed_changes(kept[1]))
    names = list(
        dict.fromkeys(
            [
                path,
                *(change.path for change in before),
                *(change.was for change in before if change.was),
            ]
        )
    )
    new = history.changes_of(names, heads, kept[0])
    if new is None:
        return None
    grown = list(parsed_changes(new))
    newest = before[0].commit.at if before else 0
    if any(
        change.what != "M" or change.path != path or change.commit.at < newest for change in grown
    ):
        return None
    return new + kept[1]


def _place(home: Home, path: str) -> str:
    name = new_hash("sha256", path.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return home.join(os.path.join(FOLDER, name))


def _kept(home: Home, path: str) -> Kept | None:
    """Return (heads, what git said) of a file: a line of JSON, then git's own words."""
    try:
        with open(_place(home, path), "rb") as file:
            about = json.loads(file.readline())
            if about["version"] != VERSION or about["path"] != path:
                return None
            return list(about["heads"]), file.read()
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there yet, or of another version


def _keep(home: Home, path: str, heads: Sequence[str], text: bytes) -> None:
    head = json.dumps({"version": VERSION, "path": path, "heads": list(heads)})
    try:
        home.make(FOLDER)
        write_atomic(
            _place(home, path), head.encode() + b"\n" + text, shared=home.shared, durable=False
        )
    except (OSError, GitmemError):
        return  # a read-only disk: it is asked again


def evolution(
    sources: ProvenanceSources,
    indexes: Sequence[tuple[str, Index]],
    file_changes: Iterable[FileChange],
    fits: Callable[[EvolutionStep], bool],
    limit: int | None,
) -> Iterator[EvolutionStep]:
    """Yield changes with whose they were and what was learned then, those that fit."""
    number = 0
    rest = iter(file_changes)
    while part := list(islice(rest, min(BATCH, limit or BATCH))):
        by_commit = recorded_links(
            sources, [change.commit.oid for change in part], patches=bool(limit and limit <= FEW)
        )
        for change in part:
            step = _step(sources.state, change, by_commit.get(change.commit.oid, []))
            if not fits(step):
                continue
            step.records = _learned(indexes, step)
            yield step
            number += 1
            if number == limit:
                return


def _step(state: State, change: FileChange, commit_links: Sequence[Link]) -> EvolutionStep:
    """Return a change with its sessions and their stories."""
    by_agents = [link for link in commit_links if link.kind != HUMAN]
    step = EvolutionStep(change, writers(by_agents, change.path, change.lines))
    step.others = [link for link in by_agents if link not in step.links]
    linked_sessions = (sessions.get(state, link.session) for link in (*step.links, *step.others))
    stories = (session.story for session in linked_sessions if session and session.story)
    step.stories = list(dict.fromkeys(stories))
    return step


def _learned(indexes: Sequence[tuple[str, Index]], step: EvolutionStep) -> list[dict[str, Any]]:
    """Return what the sessions of a change learned."""
    ids = [link.session for link in (*step.links, *step.others)]
    if not ids:
        return []
    return [
        row
        for _, index in indexes
        for row in index.rows(
            sessions=ids,
            kinds=("memory", "gotcha"),
            statuses=LIVE,
            limit=RECORDS,
            fields=FIELDS,
        )
    ]
