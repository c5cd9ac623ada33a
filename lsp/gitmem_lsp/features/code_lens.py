"""What stands above a file without being a diagnostic: its code lens.

Pure.
"""

from collections.abc import Sequence

from lsprotocol import types as t

from gitmem_lsp.command_names import REPORT
from gitmem_lsp.workspace.place_notes import EditorNote


def counted(notes: Sequence[EditorNote]) -> str:
    """Return how many gotchas there are, and what has to be known of them."""
    ids = {note.id: note for note in notes}
    parts = [f"{len(ids)} gotcha{'s' if len(ids) != 1 else ''}"]
    for word, count in (
        ("critical", sum(note.rank == 0 for note in ids.values())),
        ("unconfirmed", sum(note.unconfirmed for note in ids.values())),
        ("whose code is gone", sum(note.state == "adrift" for note in ids.values())),
    ):
        if count:
            parts.append(f"{count} {word}")
    return " · ".join(parts)


def file_lens(notes: Sequence[EditorNote], uri: str) -> list[t.CodeLens]:
    """Return the one lens of a file; none when there is nothing to say."""
    if not notes:
        return []
    top = t.Range(t.Position(0, 0), t.Position(0, 0))
    return [t.CodeLens(top, t.Command(counted(notes), REPORT, arguments=[uri]))]
