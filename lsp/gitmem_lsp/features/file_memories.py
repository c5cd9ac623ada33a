"""What is recorded about a file and has no diagnostic in it: memories, and snoozed gotchas."""

from collections.abc import Callable, Sequence

from gitmem_lsp.features.host import Host
from gitmem_lsp.features.resolve import lines_of, place_of
from gitmem_lsp.workspace.place_notes import EditorNote, bounded, find_notes
from gitmem_lsp.workspace.repositories import DocumentPlace
from gitmem_lsp.workspace.repository_view import Row


async def memory_notes(ls: Host, uri: str) -> list[EditorNote]:
    """Return the decisions, patterns and other memories that are anchored in a document.

    Raises UserError outside of any work tree.
    """
    place = await place_of(ls, uri)
    return await _placed(ls, uri, place, place.repository.view.memories)


async def snoozed_notes(ls: Host, uri: str) -> list[EditorNote]:
    """Return the gotchas of a document that its user does not want to see for a while.

    Raises UserError outside of any work tree.
    """
    place = await place_of(ls, uri)
    return await _placed(ls, uri, place, place.repository.view.snoozed_gotchas)


def covering(notes: Sequence[EditorNote], line: int) -> list[EditorNote]:
    """Return the notes whose code has a line, from 0; those of the whole file on its first line."""
    return [note for note in notes if note.line <= line <= max(note.line, note.last)]


async def _placed(
    ls: Host, uri: str, place: DocumentPlace, read: Callable[[tuple[str, ...]], Sequence[Row]]
) -> list[EditorNote]:
    state = ls.publisher.get(uri)
    paths = (state.paths if state is not None else ()) or place.paths
    rows = await place.repository.run(read, paths)
    if not rows:
        return []
    lines = await lines_of(ls, uri, place)
    if not bounded("".join(lines), lines):
        return []
    follower = place.repository.view.follower
    return await place.repository.read_code(
        lambda: find_notes(rows, paths, lines, follower(place.worktree))
    )
