"""How a file or a symbol came to be: its changes through renames, whose each was, what was learned with it.

What git says of a file is kept in a file of its own, with the heads it was asked at: later only the commits since are asked for.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gitmem.base.files import write_atomic
from gitmem.git.code_history import CodeCommit, CodeHistory, FileChange
from gitmem.index.reader import Index
from gitmem.records.kinds import LIVE
from gitmem.repo.location import Home
from gitmem.services.provenance.why import Sources, known_links
from gitmem.state import sessions
from gitmem.state.links import Link

FOLDER = "evolution"  # in our folder
VERSION = 1
RECORDS = 4  # of each session that a change names
FIELDS = ("store", "id", "kind", "type", "severity", "title")


@dataclass(slots=True)
class Step:
    """A change: `what` is git's letter (A, M, D, R, C, T), `links` the sessions that had a part in it, `records` what they learned."""

    change: FileChange
    links: list[Link] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)


def changes(history: CodeHistory, home: Home, path: str) -> list[FileChange]:
    """Return the changes of a file that the branches hold, the newest first, through renames."""
    heads = history.heads()
    if not heads:
        return []
    kept = _kept(home, path)
    if kept and kept["heads"] == heads:
        return list(kept["changes"])
    if kept and (new := history.file_changes(path, heads, kept["heads"])) is not None:
        found = _grown(history, home, path, new, kept)
        if found is None:
            found = history.file_changes(path, heads) or []
    else:
        found = history.file_changes(path, heads) or []
    _keep(home, path, heads, found)
    return found


def _grown(history: CodeHistory, home: Home, path: str, new: Sequence[FileChange], kept: Mapping[str, Any]) -> list[FileChange] | None:
    """Return the changes since, with those from before; None where these are not known: a head was rewritten, or the file had another name."""
    heads = history.heads()
    if history.not_below_any(kept["heads"], heads):
        return None
    if new and new[-1].was and new[-1].was != path:
        before = _kept(home, new[-1].was)
        return [*new, *before["changes"]] if before and before["heads"] == kept["heads"] else None
    return [*new, *kept["changes"]]


def _place(home: Home, path: str) -> str:
    return home.join(os.path.join(FOLDER, sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".json"))


def _kept(home: Home, path: str) -> dict[str, Any] | None:
    try:
        with open(_place(home, path), encoding="utf-8", errors="surrogateescape") as file:
            found = json.load(file)
        if found["version"] != VERSION or found["path"] != path:
            return None
        rows = []
        for row in found["changes"]:
            oid, author, mail, authored, at, subject = row["commit"]
            rows.append(FileChange(CodeCommit(oid, author, mail, authored, at, subject, tuple(row["parents"])), *row["change"]))
        return {"heads": found["heads"], "changes": rows}
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there yet, or of another version


def _keep(home: Home, path: str, heads: Sequence[str], found: Sequence[FileChange]) -> None:
    rows = []
    for one in found:
        commit = one.commit
        facts = [commit.oid, commit.author, commit.mail, commit.authored, commit.at, commit.subject]
        rows.append({"commit": facts, "parents": commit.parents, "change": [one.what, one.path, one.was]})
    try:
        data = json.dumps({"version": VERSION, "path": path, "heads": list(heads), "changes": rows}, ensure_ascii=True)
        home.make(FOLDER)
        write_atomic(_place(home, path), data.encode(), shared=home.shared, durable=False, private=True)
    except OSError:
        return  # a read-only disk: it is asked again


def evolution(
    sources: Sources, indexes: Sequence[tuple[str, Index]], found: Sequence[FileChange], fits: Callable[[Step], bool], limit: int | None
) -> list[Step]:
    """Return changes with whose they were and what was learned then, those that fit."""
    out: list[Step] = []
    size = 200
    for start in range(0, len(found), size):
        part = found[start : start + size]
        known = known_links(sources, [one.commit.oid for one in part])
        for one in part:
            step = Step(
                one,
                [link for link in known.get(one.commit.oid, []) if not link.files or one.path in link.files]
                or known.get(one.commit.oid, []),
            )
            ids = [link.session for link in step.links]
            step.stories = list(dict.fromkeys(about.story for id in ids if (about := sessions.get(sources.state, id)) and about.story))
            if not fits(step):
                continue
            if ids:
                step.records = [
                    row
                    for _, index in indexes
                    for row in index.rows(sessions=ids, kinds=("memory", "gotcha"), statuses=LIVE, limit=RECORDS, fields=FIELDS)
                ]
            out.append(step)
            if len(out) == limit:
                return out
    return out
