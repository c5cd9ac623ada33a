"""Find the notes of files before they are opened.

Those of the files that gotchas are about, as these files are on the disk. They are found in small
pieces while nothing else is to be done, and kept within bounds where the notes of opened files are.
"""

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from gitmem_lsp.diagnostics.file_notes import FileNotes, NoteFinder, text_key
from gitmem_lsp.protocol.positions import split_lines
from gitmem_lsp.settings import Options
from gitmem_lsp.workspace.code_moves import NONE, Moves
from gitmem_lsp.workspace.file_text import read_regular
from gitmem_lsp.workspace.place_notes import blob_ids, bounded, choose, notes_of_same
from gitmem_lsp.workspace.repositories import DocumentPlace
from gitmem_lsp.workspace.repository_view import Rows

LARGEST = 1_000_000  # bytes of a file that is read
ROOM = 4_000  # files and notes that are kept of one work tree
PIECE = 0.004  # seconds of work at a time, and of rest before it
REST = 0.005
LATER = 0.2  # seconds before it begins: documents that are open come first


async def prefetch(notes: NoteFinder, home: DocumentPlace, encoding: str, options: Options) -> None:
    """Find the notes of a work tree's files, as long as the stores stay as they are."""
    repository, view = home.repository, home.repository.view
    version = view.version
    await asyncio.sleep(LATER)
    files, room = await repository.run(view.all_gotchas), ROOM
    while room > 0:
        await asyncio.sleep(REST)
        piece = await repository.run(_read, files, home, notes)
        if piece is None:
            break
        if view.version != version:
            return
        for place, notes_of_file, lines in piece:
            notes_of_file.marks(place, lines, encoding, options)
            notes.keep(place, notes_of_file)
            room -= 1 + len(notes_of_file.notes)
    # what the search of moved code depends on is read before a document asks
    _, bases = await repository.run(view.bases)
    await repository.read_history(repository.scout.apart, home.worktree, bases, view.heads)


def _read(
    files: Iterator[tuple[str, Callable[[], Rows]]], home: DocumentPlace, notes: NoteFinder
) -> list[tuple[DocumentPlace, FileNotes, list[str]]] | None:
    """Return what is found for the next files; None at the end. On the repository's thread."""
    until, out = time.monotonic() + PIECE, []
    for path, unpack in files:
        place = replace(home, paths=(path,))
        moves = notes.of_file(place).moves
        try:
            made = _notes_of_file(place, unpack, moves) if moves.same(NONE) else None
        except (OSError, ValueError):  # not there, or no text
            made = None
        if made is not None:
            out.append((place, *made))
        if time.monotonic() > until:
            return out
    return out or None


def _notes_of_file(
    place: DocumentPlace, unpack: Callable[[], Rows], moves: Moves
) -> tuple[FileNotes, list[str]] | None:
    """Return the notes of a file, and its lines; None where they have to be searched for.

    Raises OSError and ValueError where there is no text.
    """
    full = os.path.join(place.worktree or "", place.paths[0])
    about = os.lstat(full)
    if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
        raise ValueError(full)
    text = read_regular(full, LARGEST).decode("utf-8")
    lines = split_lines(text)
    if "\r" in text or not bounded(text, lines):
        return None
    rows = unpack()
    chosen = choose(rows.open, place.paths)
    lengths = {len(str(a.get("blob") or "")) for _, numbered in chosen for _, a in numbered}
    same = notes_of_same(chosen, blob_ids(text, lengths), len(lines))
    if same is None:
        return None
    key = text_key(text)
    return FileNotes(rows, moves, key, tuple(same), searched=not rows.triggered), lines
