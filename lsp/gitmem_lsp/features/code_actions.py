"""Code actions.

The list is made from what is on the screen, in no time: editors ask at each move of the cursor.
Pure.
"""

from collections.abc import Sequence
from typing import Any

from lsprotocol import types as t

from gitmem_lsp import command_names
from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.protocol.safe_text import plain, shorten
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.repository_view import Row

TITLE_LIMIT = 60
OFFERED = 5  # gotchas of one range that can be resolved from it
WHOLE = 2  # of those, how many get everything else too
KINDS = [t.CodeActionKind.QuickFix, t.CodeActionKind.Refactor, t.CodeActionKind.Source]


def wanted(only: Sequence[str | t.CodeActionKind] | None, kind: str) -> bool:
    """Return whether a request for some kinds of actions includes one kind.

    A kind includes those below it.
    """
    if only is None:
        return True
    asked = [str(getattr(k, "value", k)) for k in only]
    return any(not k or kind == k or kind.startswith(k + ".") for k in asked)


def title_of(row: Row) -> str:
    """Return a record's title as it stands in a menu."""
    return shorten(plain(str(row["title"])), TITLE_LIMIT)


def _command(
    title: str,
    name: str,
    *arguments: Any,
    kind: str = "quickfix",
    diagnostic: t.Diagnostic | None = None,
) -> t.CodeAction:
    command = t.Command(title, name, arguments=list(arguments))
    return t.CodeAction(
        title,
        kind=t.CodeActionKind(kind),
        diagnostics=[diagnostic] if diagnostic else None,
        command=command,
    )


def names_refactoring(only: Sequence[str | t.CodeActionKind] | None) -> bool:
    """Return whether a request asks for refactorings by name."""
    return bool(only) and wanted(only, "refactor")


def for_marks(marks: Sequence[Mark], range: t.Range, uri: str) -> list[t.CodeAction]:
    """Return the quick fixes for the gotchas of the lines of a range, resolving first."""
    pairs = _pairs(marks, range)
    out = [
        _command(
            f"Resolve gotcha: {title_of(n.row)}",
            command_names.RESOLVE,
            n.id,
            uri,
            diagnostic=m.diagnostic,
        )
        for m, n in pairs[:OFFERED]
        if _is_gotcha(n)
    ]
    for mark, note in pairs[:WHOLE]:
        out += _fixes(mark.diagnostic, note, range, uri)
    return out


def for_records(marks: Sequence[Mark], range: t.Range, uri: str) -> list[t.CodeAction]:
    """Return what changes the records of the lines of a range, as refactorings."""
    out = []
    for _, note in _pairs(marks, range)[:WHOLE]:
        title, id = title_of(note.row), note.id
        pinned = note.row.get("status") == "pinned"
        commands = [_reanchor(note, range, uri)] if _is_sure(note) else []
        if _is_gotcha(note):
            commands += [
                (f"Edit: {title}", command_names.EDIT, id),
                (f"Unpin: {title}", command_names.UNPIN, id)
                if pinned
                else (f"Pin: {title}", command_names.PIN, id),
            ]
        commands.append((f"Replace by a new record: {title}", command_names.SUPERSEDE, id))
        out += [_command(*command, kind="refactor") for command in commands]
    return out


def _pairs(marks: Sequence[Mark], range: t.Range) -> list[tuple[Mark, EditorNote]]:
    return [
        (mark, note)
        for mark in marks
        if range.start.line <= mark.line <= range.end.line
        for note in mark.notes
    ]


def _is_gotcha(note: EditorNote) -> bool:
    return bool(note.row.get("kind", "gotcha") == "gotcha")


def _is_sure(note: EditorNote) -> bool:
    """Return whether a gotcha is anchored at the code that it was recorded for."""
    return _is_gotcha(note) and note.state in {"same", "moved"} and not note.stale


def _reanchor(note: EditorNote, range: t.Range, uri: str) -> tuple[Any, ...]:
    where = {"start": _spot(range.start), "end": _spot(range.end)}
    return f"Re-anchor here: {title_of(note.row)}", command_names.REANCHOR, note.id, uri, where


def _fixes(
    diagnostic: t.Diagnostic, note: EditorNote, range: t.Range, uri: str
) -> list[t.CodeAction]:
    id, title = note.id, title_of(note.row)
    if not _is_gotcha(note):
        return [_command(f"Edit: {title}", command_names.EDIT, id, diagnostic=diagnostic)]
    snooze = f"Snooze for {command_names.SNOOZE_DAYS} days: {title}"
    verify = f"{'Confirm' if note.unconfirmed else 'Still true'}: {title}"
    commands: list[tuple[Any, ...]] = [
        (snooze, command_names.SNOOZE, id, command_names.SNOOZE_DAYS),
        (verify, command_names.VERIFY, id),
    ]
    if note.state != "trigger" and not _is_sure(note):
        commands.append(_reanchor(note, range, uri))
    return [_command(*command, diagnostic=diagnostic) for command in commands]


def _spot(position: t.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def for_astray(notes: Sequence[EditorNote], range: t.Range, uri: str) -> list[t.CodeAction]:
    """Return what puts gotchas whose code was not found at the selection."""
    where = {"start": _spot(range.start), "end": _spot(range.end)}
    lost = [note for note in notes if note.state == "adrift"][:OFFERED]
    return [
        _command(
            f"Re-anchor here: {title_of(n.row)}",
            command_names.REANCHOR,
            n.id,
            uri,
            where,
            kind="refactor",
        )
        for n in lost
    ]


def for_past(past: Sequence[EditorNote], range: t.Range, uri: str) -> list[t.CodeAction]:
    """Return what reopens the gotchas that were resolved in the lines of a range."""
    here = [
        note
        for note in past
        if not note.whole_file and range.start.line <= note.line <= range.end.line
    ]
    return [
        _command(
            f"Reopen gotcha: {title_of(n.row)}", command_names.REOPEN, n.id, uri, kind="refactor"
        )
        for n in here[:OFFERED]
    ]


def for_code(range: t.Range, uri: str) -> list[t.CodeAction]:
    """Return the actions for any code: record something about it, or ask how it came to be."""
    where = {"start": _spot(range.start), "end": _spot(range.end)}
    what = "selection" if range.start != range.end else "line"
    return [
        _command(
            f"Record a gotcha for this {what}", command_names.RECORD, uri, where, kind="refactor"
        ),
        _command(f"Why is this {what} so", command_names.WHY, uri, where, kind="source"),
        _command(
            "Timeline of this symbol", command_names.TIMELINE, uri, where["start"], kind="source"
        ),
    ]
