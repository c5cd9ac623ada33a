"""The records of a definition, for the places where the definition is used."""

from collections.abc import Sequence
from pathlib import Path

from gitmem.codemap.symbols import definitions
from gitmem.errors import GitmemError
from gitmem_lsp.features import code
from gitmem_lsp.features.host import Host
from gitmem_lsp.features.resolve import lines_of, notes_of
from gitmem_lsp.workspace.place_notes import EditorNote, covering
from gitmem_lsp.workspace.repositories import DocumentPlace

PATIENCE = 0.3  # seconds that a hover waits for what has moved in another file


async def notes_of_used(
    ls: Host, place: DocumentPlace, lines: Sequence[str], line: int, column: int
) -> tuple[str, list[EditorNote]]:
    """Return (where a definition is, its notes) for the definition that is used at a place.

    The place is in a text of `place`, from 0, the column in characters. The notes are gotchas and
    memories about the definition's first line, or all of it. ('', []) where it is not sure what is
    used, or the code was not read yet.
    """
    path = place.paths[0]
    used = await code.used_at(place, path, "".join(lines), line, column)
    if used is None:
        return "", []
    target, qualified = used
    uri = Path(place.worktree or "", target).as_uri()
    try:
        other, file_notes = await notes_of(ls, uri, asides=True, patience=PATIENCE)
        text = "".join(await lines_of(ls, uri, other))
    except GitmemError:  # the line itself is still told
        return "", []
    symbols = await place.repository.read_line(definitions.symbols, text, target)
    heads = {symbol.at for symbol in symbols if symbol.qualified == qualified}
    memories = [note for note in file_notes.asides or () if note.row["kind"] == "memory"]
    notes = [
        note
        for head in sorted(heads)
        for note in covering((*file_notes.shown, *memories), head - 1)
        if not note.whole_file and note.state != "trigger"
    ]
    return f"{qualified} in {target}:{min(heads, default=1)}", notes
