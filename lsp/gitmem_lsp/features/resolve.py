"""Find repositories and texts of files from what a client names.

The client names a document, a range or an id. The files may be open or not.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as t
from pygls.uris import to_fs_path

from gitmem.errors import GitmemError, UserError
from gitmem_lsp.diagnostics.file_notes import FileNotes
from gitmem_lsp.features.host import Host
from gitmem_lsp.protocol.positions import git_lines, split_lines
from gitmem_lsp.workspace.file_text import read_regular
from gitmem_lsp.workspace.place_notes import MAX_CHARS
from gitmem_lsp.workspace.repositories import DocumentPlace, ServedRepository

PATIENCE = 3.0  # seconds that a request waits for the workspace's repositories to be found


class ForeignDocument(UserError):
    """A document that is no file of a git repository's work tree: questions about it are empty."""


async def place_of(ls: Host, uri: str) -> DocumentPlace:
    """Return where a document's file is; raises ForeignDocument outside of any work tree."""
    state = ls.publisher.get(uri)
    if state is not None and state.place is not None:
        return state.place
    path = path_of(uri)
    place = await ls.publisher.locate(path) if path else None
    if place is None:
        raise ForeignDocument(
            "this document is not a file of a git repository.", "Save it in one first."
        )
    return place


def path_of(uri: str) -> str:
    """Return the path of a document on this machine's disk; '' for any other document."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return path if path and "\0" not in path else ""


async def home(ls: Host, uri: str = "") -> DocumentPlace | None:
    """Return the repository around a file, a commit message too.

    That of the workspace for what is not a file.
    """
    if path := path_of(uri):
        repository = await ls.publisher.disk(ls.repositories.enclose, path)
        return ls.repositories.place(repository) if repository else None
    await _homes(ls)
    return next(iter(ls.repositories.homes.values()), None)


async def _homes(ls: Host) -> None:
    """Wait for the folders of the workspace to be examined.

    A client that asks at once may be ahead of this.
    """
    try:
        await asyncio.wait_for(ls.repositories.found.wait(), PATIENCE)
    except TimeoutError:
        pass  # a slow disk: what is known by now has to do


async def holder(ls: Host, id: str, uri: str = "") -> DocumentPlace:
    """Return where a record is.

    This is the repository of the given document, of a document that shows the record, or of the
    workspace. Raises UserError.
    """
    if uri:
        return await place_of(ls, uri)
    repositories: dict[ServedRepository, DocumentPlace] = {}
    for state in ls.publisher.all():
        if state.place is not None:
            if id in state.file_notes.ids:
                return state.place
            repositories.setdefault(state.place.repository, state.place)
    await _homes(ls)
    for place in ls.repositories.homes.values():
        repositories.setdefault(place.repository, place)
    for repository, place in repositories.items():
        try:
            if await repository.run(repository.view.named, [id]):
                return place
        except GitmemError as error:
            ls.background.warn(error)
    raise UserError(
        f"{id} is in no repository that is open here.",
        "Open a file of the repository that it is in, and try again.",
    )


async def lines_of(ls: Host, uri: str, place: DocumentPlace) -> tuple[str, ...]:
    """Return the lines of a document as the editor has it, else as the disk has it.

    Raises ForeignDocument where neither has it.
    """
    document = ls.workspace_lines.opened(uri)
    if document is not None:
        return document.snapshot()
    return await place.repository.read_code(_read, path_of(uri))


def _read(path: str) -> tuple[str, ...]:
    try:
        data = read_regular(path, 4 * MAX_CHARS)
    except (OSError, ValueError) as error:
        raise ForeignDocument(
            f"the file cannot be read: {getattr(error, 'strerror', None) or error}.",
            "Open it in the editor first.",
        ) from error
    return tuple(split_lines(data.decode("utf-8", "replace")))


async def first_look(ls: Host, uri: str) -> None:
    """Wait for a document's first look, if it is in progress.

    A client that asks at once does not always ask again when it is told to.
    """
    state = ls.publisher.get(uri)
    while (
        state is not None
        and state.shown is None
        and state.task is not None
        and not state.task.done()
    ):
        await asyncio.wait({state.task}, timeout=PATIENCE)
        if not state.task.done():
            return


async def notes_of(
    ls: Host, uri: str, *, asides: bool = False, patience: float | None = None
) -> tuple[DocumentPlace, FileNotes]:
    """Return what is recorded about a document, open or not; `asides` are looked for on demand.

    What has moved in one that is not open is waited for `patience` seconds, None as long as it
    takes. Raises GitmemError.
    """
    place = await place_of(ls, uri)
    state, notes = ls.publisher.get(uri), ls.publisher.notes
    lines = await lines_of(ls, uri, place)
    if state is not None:
        while state.shown is None and state.task is not None and not state.task.done():
            await asyncio.wait({state.task})  # its first look is under way
        file_notes = state.file_notes
    else:
        await place.repository.run(place.repository.view.refresh)
        file_notes = await notes.find(place, lines)
        try:
            moves = await asyncio.wait_for(
                ls.publisher.tracking.find(place, file_notes.notes), patience
            )
        except TimeoutError:
            pass
        else:
            notes.set_moves(place, moves)
            file_notes = await notes.find(place, lines)
    return place, await notes.with_asides(place, file_notes, lines) if asides else file_notes


def lines_from(range: Any, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines, from 1 and as git counts them, of a range that a client sent.

    None for no range. Raises UserError.
    """
    if range is None:
        return None
    try:
        first, last, end = (
            int(x)
            for x in (range["start"]["line"], range["end"]["line"], range["end"]["character"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError("the range is not one of the protocol.") from error
    if last > first and end == 0:
        last -= 1  # whole lines were selected
    _, starts = git_lines(lines)
    first, last = (min(max(0, n), len(lines) - 1) for n in (first, max(first, last)))
    return max(1, bisect_right(starts, first)), max(1, bisect_right(starts, last))


def as_plain(value: Any) -> Any:
    """Return an argument of a command as plain JSON: pygls makes objects of some."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, t.Range):
        return {"start": as_plain(value.start), "end": as_plain(value.end)}
    if isinstance(value, t.Position):
        return {"line": value.line, "character": value.character}
    if isinstance(value, Mapping):
        return {str(key): as_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(inner) for inner in value]
    return value
