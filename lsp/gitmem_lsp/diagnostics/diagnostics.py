"""From gotchas at their places to diagnostics. Pure: notes and lines in, protocol values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as t

from gitmem.services.records.committers import trust_marks
from gitmem_lsp.protocol.positions import code_range
from gitmem_lsp.protocol.safe_text import plain, shorten
from gitmem_lsp.settings import DEFAULTS, Options
from gitmem_lsp.workspace.place_notes import ADRIFT, EditorNote

SOURCE = "gitmem"
LINE_CAP = 3  # titles on a line
FILE_CAP = 20  # lines of a file with a diagnostic
MESSAGE_LIMIT = 200  # characters of a message: editors show it on one line
WORKAROUND_LIMIT = 80

# severity of a gotcha -> how loud it is shown
LEVEL = {
    "critical": t.DiagnosticSeverity.Warning,
    "warning": t.DiagnosticSeverity.Information,
    "info": t.DiagnosticSeverity.Hint,
}
SUFFIX = {
    "moved": " (moved)",
    "changed": " (code changed since)",
    "approximate": " (code changed since; this is its definition)",
    "adrift": " (code not found: moved or deleted)",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One diagnostic, and the gotchas that it speaks of.

    `said` has for each of them what the message says in full: `title`, `place` and `workaround`.
    """

    line: int
    notes: tuple[EditorNote, ...]
    diagnostic: t.Diagnostic
    said: tuple[frozenset[str], ...] = ()


def short_id(id: str) -> str:
    """Return the end of an id.

    It is enough to name a record and, unlike the start of the id, is not shared by its neighbours.
    """
    return id[-8:]


def loudness(note: EditorNote) -> t.DiagnosticSeverity:
    """Return how loud a gotcha is shown: one step quieter where its code is gone."""
    if note.row.get("kind") == "memory":  # that the code refutes: others are not shown
        return t.DiagnosticSeverity.Information
    level = LEVEL.get(str(note.row.get("severity")), LEVEL["warning"])
    if note.state not in ADRIFT:
        return level
    return t.DiagnosticSeverity(min(level.value + 1, t.DiagnosticSeverity.Hint.value))


def make_marks(
    notes: Sequence[EditorNote],
    lines: Sequence[str],
    encoding: str,
    total: int | None = None,
    options: Options = DEFAULTS,
) -> list[Mark]:
    """Return one mark a line, ordered by line.

    Past the cap the most severe stay and a last one counts the rest. None where marks are off.
    """
    if not options.marks:
        return []
    hidden = max(0, (len(notes) if total is None else total) - len(notes))
    loud = [(loudness(note), note) for note in notes if options.unconfirmed or not note.unconfirmed]
    by_line: dict[int, list[tuple[t.DiagnosticSeverity, EditorNote]]] = {}
    for level, note in sorted(loud, key=lambda pair: (pair[0].value, pair[1].rank, pair[1].id)):
        by_line.setdefault(note.line, []).append((level, note))
    groups = list(by_line.items())
    if len(groups) > FILE_CAP or (hidden and groups):
        keep = FILE_CAP - 1
        hidden += sum(len(group) for _, group in groups[keep:])
        groups = groups[:keep]
    elif not groups:
        hidden = 0
    marks = [_mark(line, group, lines, encoding) for line, group in groups]
    if hidden:
        marks.append(_rest(hidden, lines, encoding))
    return sorted(marks, key=lambda mark: mark.line)


def _mark(
    line: int,
    group: Sequence[tuple[t.DiagnosticSeverity, EditorNote]],
    lines: Sequence[str],
    encoding: str,
) -> Mark:
    notes = tuple(note for _, note in group)
    message, said = _alone(notes[0]) if len(notes) == 1 else _several(notes)
    diagnostic = t.Diagnostic(
        range=code_range(lines, line, encoding),
        message=message,
        severity=group[0][0],
        source=SOURCE,
        code=short_id(notes[0].id),
        data={"ids": [note.id for note in notes]},
    )
    return Mark(line, notes, diagnostic, said)


def suffix(note: EditorNote) -> str:
    """Return what is to be said about a note's place, and about who says it."""
    place = (
        f" (moved to {plain(note.went)})"
        if note.went
        else SUFFIX.get(note.state, SUFFIX["changed"] if note.stale else "")
    )
    marks = trust_marks(note.row)
    return place + (f" ({plain(', '.join(marks))})" if marks else "")


def _title(note: EditorNote, limit: int) -> tuple[str, frozenset[str]]:
    """Return a title and its suffix in at most `limit` characters, and which of them are whole.

    Each may have half of the characters.
    """
    title, end = plain(str(note.row["title"])), suffix(note)
    shown = shorten(title, max(limit // 2, limit - len(end)))
    shown_end = shorten(end, limit - len(shown))
    whole = (("title", shown == title), ("place", shown_end == end))
    return shown + shown_end, frozenset(name for name, is_whole in whole if is_whole)


def _alone(note: EditorNote) -> tuple[str, tuple[frozenset[str], ...]]:
    title, said = _title(note, MESSAGE_LIMIT)
    workaround = plain(str(note.row.get("workaround") or ""))
    whole = f"{title} → {workaround}"
    if 0 < len(workaround) <= WORKAROUND_LIMIT and len(whole) <= MESSAGE_LIMIT:
        return whole, (said | {"workaround"},)
    return title, (said,)


def _several(notes: Sequence[EditorNote]) -> tuple[str, tuple[frozenset[str], ...]]:
    shown = notes[:LINE_CAP]
    rest = f"; +{len(notes) - LINE_CAP} more" if len(notes) > LINE_CAP else ""
    room = (MESSAGE_LIMIT - len(rest)) // len(shown) - len("; ")
    titles = [_title(note, room) for note in shown]
    unsaid = [frozenset[str]()] * (len(notes) - len(shown))
    return "; ".join(text for text, _ in titles) + rest, (*(said for _, said in titles), *unsaid)


def _rest(count: int, lines: Sequence[str], encoding: str) -> Mark:
    message = (
        f"{count} more gotcha{'s' if count > 1 else ''} about this file; see them all with: git "
        f"mem list --kind gotcha --unresolved"
    )
    diagnostic = t.Diagnostic(
        range=code_range(lines, 0, encoding),
        message=message,
        severity=t.DiagnosticSeverity.Hint,
        source=SOURCE,
    )
    return Mark(0, (), diagnostic)


def as_json(diagnostic: t.Diagnostic) -> dict[str, Any]:
    """Return a diagnostic of ours as the protocol writes it."""
    start, end = diagnostic.range.start, diagnostic.range.end
    out: dict[str, Any] = {
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "message": diagnostic.message,
        "source": diagnostic.source,
    }
    if diagnostic.severity is not None:
        out["severity"] = diagnostic.severity.value
    for key in ("code", "data"):
        value = getattr(diagnostic, key)
        if value is not None:
            out[key] = value
    return out
