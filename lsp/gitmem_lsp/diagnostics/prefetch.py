"""Diagnostics that are made before their file is opened.

They are those of the files that gotchas are about, as these files are on the disk.

They are made in small pieces while nothing else is to be done, kept as JSON within bounds, and hold
for one state of the stores and one very text: for anything else they are not found, and the
document is looked at as if there were none.
"""

import asyncio
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gitmem_lsp.diagnostics.diagnostics import as_json, make_marks
from gitmem_lsp.protocol.positions import split_lines
from gitmem_lsp.settings import Options
from gitmem_lsp.workspace.place_notes import blob_ids, bounded, notes_of_tree, quick_notes
from gitmem_lsp.workspace.repositories import DocumentPlace, ServedRepository
from gitmem_lsp.workspace.repository_view import RepositoryView
from gitmem_lsp.workspace.tree_marks import reason_of

LARGEST = 1_000_000  # bytes of a file that is read
ROOM = 8_000_000  # bytes of JSON that are kept of one work tree
PIECE = 0.004  # seconds of work at a time, and of rest before it
REST = 0.005


@dataclass(frozen=True, slots=True)
class Ready:
    """The diagnostics of a file, as JSON.

    It also has the oid of the text that they are true of, and what they were made of.
    """

    made_of: int = 0
    blob: str = ""
    diagnostics: str = ""


@dataclass(slots=True)
class ReadyAnswers:
    """What is ready of one work tree, for one state of the stores and one encoding and settings."""

    version: int
    encoding: str
    options: Options
    files: dict[str, Ready] = field(default_factory=dict)


class Ahead:
    """What is ready. For the loop; the work itself is done on the repositories' threads."""

    def __init__(self) -> None:
        self._tables: dict[tuple[ServedRepository, str | None], ReadyAnswers] = {}

    def find(
        self, place: DocumentPlace, encoding: str, options: Options, text: str
    ) -> list[dict[str, Any]] | None:
        """Return the diagnostics of a file that has this text; None when they were not made."""
        table = self._tables.get((place.repository, place.worktree))
        if table is None or len(place.paths) != 1 or table.version != place.repository.view.version:
            return None
        ready = table.files.get(place.paths[0])
        if (
            ready is None
            or not ready.blob
            or (table.encoding, table.options) != (encoding, options)
            or "\r" in text
        ):
            return None
        if ready.blob not in blob_ids(text, (len(ready.blob),)):
            return None
        found: list[dict[str, Any]] = json.loads(ready.diagnostics)
        return found

    async def prepare(self, place: DocumentPlace, encoding: str, options: Options) -> None:
        """Make what can be made ahead; what was made of the same before is taken over."""
        view, key = place.repository.view, (place.repository, place.worktree)
        old = self._tables.get(key)
        before = old.files if old and (old.encoding, old.options) == (encoding, options) else {}
        table = self._tables[key] = ReadyAnswers(view.version, encoding, options)
        paths, room = iter(view.ahead()), ROOM
        while room > 0:
            await asyncio.sleep(REST)
            made = await place.repository.run(_piece, view, place.worktree, paths, before, table)
            if not made or view.version != table.version:
                return
            table.files |= made
            room -= sum(len(path) + len(ready.diagnostics) for path, ready in made.items())


def _piece(
    view: RepositoryView,
    worktree: str | None,
    paths: Iterator[str],
    before: dict[str, Ready],
    table: ReadyAnswers,
) -> dict[str, Ready]:
    """Return what is ready of the next files; empty at the end. On the repository's thread."""
    until = time.monotonic() + PIECE
    out = {}
    for path in paths:
        try:
            out[path] = _ready(view, worktree or "", path, before.get(path), table)
        except (OSError, ValueError):  # not there, or no text
            out[path] = Ready()
        if time.monotonic() > until:
            break
    return out


def _ready(
    view: RepositoryView, worktree: str, path: str, before: Ready | None, table: ReadyAnswers
) -> Ready:
    """Return what is ready of a file; raises OSError and ValueError where there is no text."""
    full = os.path.join(worktree, path)
    found = os.lstat(full)
    rows = view.recall((path,))
    if rows is None or not rows.open:
        return Ready()
    refuted = view.marks.of(worktree)
    made_of = hash(
        (
            found.st_ino,
            found.st_mtime_ns,
            found.st_size,
            tuple(
                (row["store"], row["id"], row["oid"], reason_of(row, refuted)) for row in rows.open
            ),
        )
    )
    if before is not None and before.made_of == made_of:
        return before
    text = _text(full)
    lines = split_lines(text)
    notes = quick_notes(rows.open, (path,), text, len(lines)) if bounded(text, lines) else None
    every = notes or ()
    notes = notes_of_tree(every, refuted)
    if not notes:
        return Ready(made_of)
    total = len(rows.open) + len(notes) - len(every)
    marks = make_marks(notes, lines, table.encoding, total, table.options)
    blob = str(notes[0].row["anchors"][notes[0].anchor]["blob"])
    return Ready(
        made_of,
        blob,
        json.dumps([as_json(mark.diagnostic) for mark in marks], separators=(",", ":")),
    )


def _text(path: str) -> str:
    # a pipe must not block
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise ValueError(path)
        return file.read(LARGEST).decode("utf-8")
