"""What stands above and behind lines without being a diagnostic: code lenses and inlay hints.

Pure.
"""

from collections.abc import Sequence
from typing import Any

from lsprotocol import types as t

from gitmem_lsp.command_names import REPORT
from gitmem_lsp.diagnostics.diagnostics import Mark, suffix
from gitmem_lsp.protocol.positions import CODE_LIMIT, content, to_units
from gitmem_lsp.protocol.safe_text import inline, plain, shorten
from gitmem_lsp.workspace.place_notes import EditorNote

HINT_LIMIT = 60


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


def symbol_lenses(
    notes: Sequence[EditorNote], symbols: Sequence[Any], uri: str
) -> list[t.CodeLens]:
    """Return a lens above each definition that gotchas are in, counted at the innermost."""
    by_line: dict[int, list[EditorNote]] = {}
    for note in notes:
        around = [s for s in symbols if s.first - 1 <= note.line <= s.last - 1]
        if around and not note.whole_file:
            by_line.setdefault(max(around, key=lambda s: s.first).first - 1, []).append(note)
    out = []
    for line, marked in sorted(by_line.items()):
        at = t.Position(line, 0)
        out.append(t.CodeLens(t.Range(at, at), t.Command(counted(marked), REPORT, arguments=[uri])))
    return out


def hints(
    marks: Sequence[Mark], lines: Sequence[str], encoding: str, range: t.Range
) -> list[t.InlayHint]:
    """Return a hint behind each marked line of a range: the worst title."""
    out = []
    for mark in marks:
        if (
            not mark.notes
            or not range.start.line <= mark.line <= range.end.line
            or mark.line >= len(lines)
        ):
            continue
        note, more = mark.notes[0], len(mark.notes) - 1
        label = (
            shorten(plain(str(note.row["title"])), HINT_LIMIT)
            + suffix(note)
            + (f" +{more}" if more else "")
        )
        line = content(lines[mark.line])[:CODE_LIMIT]
        spot = t.Position(mark.line, to_units(line, len(line), encoding))
        tooltip = t.MarkupContent(
            t.MarkupKind.Markdown, inline(str(note.row.get("workaround") or note.row["title"]))
        )
        out.append(t.InlayHint(spot, f"⚑ {label}", padding_left=True, tooltip=tooltip))
    return out
