"""Reports in full length.

They are about a record, the gotchas of a file or repository, and the timeline of a definition.
Clients get values, people get Markdown.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.clock import stamp
from gitmem.records.record import Record
from gitmem.services.records import history
from gitmem.services.records.committers import marked_title, trust_marks
from gitmem_lsp.diagnostics.diagnostics import short_id
from gitmem_lsp.protocol.safe_text import block, inline, multiline, plain
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.record_paths import first_place, is_followed
from gitmem_lsp.workspace.repository_view import Row

if TYPE_CHECKING:
    from gitmem.app import App

LOOKING = 3.0  # seconds that the history of a store is read
LISTED = 2000  # rows that a list has at most
DONE = {
    "add": "recorded",
    "edit": "changed",
    "resolve": "resolved",
    "reopen": "reopened",
    "confirm": "confirmed",
    "reanchor": "moved to other code",
    "supersede": "superseded",
    "capture": "captured",
    "observe": "seen again",
    "pin": "pinned",
    "unpin": "unpinned",
    "archive": "archived",
}


def listed(row: Row, line: int | None = None, state: str = "") -> dict[str, Any]:
    """Return a gotcha as a client lists it.

    `line` counts from 0, or is null for one of the whole file.
    """
    return {
        "id": row["id"],
        "short": short_id(str(row["id"])),
        "kind": row["kind"],
        "type": plain(str(row.get("type") or "")),
        "title": plain(str(row["title"])),
        "severity": plain(str(row["severity"] or "")),
        "category": plain(str(row["category"] or "")),
        "status": row["status"],
        "resolved": bool(row["resolved"]),
        "unconfirmed": bool(row["unconfirmed"]),
        "trust_marks": list(map(plain, trust_marks(row))),
        "line": line,
        "state": state,
        "workaround": plain(str(row.get("workaround") or "")),
        "agent": plain(str(row["agent"] or "")),
        "updated": row["updated"],
        "snoozed_until": row.get("snoozed_until"),
    }


def of_notes(notes: Iterable[EditorNote], worktree: str | None) -> list[dict[str, Any]]:
    """Return the gotchas of a file, in the order of its lines. Reads the disk."""
    return [
        listed(n.row, n.line, n.state) | {"moved_to": moved_to(n, worktree)}
        for n in sorted(notes, key=lambda n: (n.line, n.rank, n.id))
    ]


def moved_to(note: EditorNote, worktree: str | None) -> dict[str, Any] | None:
    """Return the other file, and the line in it, that a gotcha's code is in now."""
    path, _, line = note.went.rpartition(":")
    return {"path": path, "line": int(line) - 1} if is_followed(path, worktree) else None


def of_repository(rows: Iterable[Row], worktree: str | None) -> list[dict[str, Any]]:
    """Return a repository's gotchas, each with its first place as it was recorded.

    The path is empty where the record names no file of the repository. Reads the disk.
    """
    out = []
    for row in rows:
        path, line = first_place(row, worktree)
        out.append(listed(row, line) | {"path": path})
    return out


def whole(record: Record) -> str:
    """Return a record as a page: title, what kind of thing it is, text, workaround, id."""
    facts = [
        record.kind,
        record.get("severity"),
        record.get("category"),
        "resolved" if record.resolved else None,
    ]
    workaround = str(record.get("workaround") or "")
    parts = [
        f"# {inline(record.title)}",
        " · ".join(inline(str(fact)) for fact in facts if fact),
        block(record.body),
        *(["**Workaround**", block(workaround)] if workaround.strip() else []),
        f"`{record.id}`",
    ]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def clean(value: Any) -> Any:
    """Return a record's fields with every text in them made safe to show."""
    if isinstance(value, str):
        return multiline(value)
    if isinstance(value, Mapping):
        return {multiline(str(key)): clean(inner) for key, inner in value.items()}
    return [clean(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def report(title: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Return a page about the gotchas of a file."""
    lines = [f"# {inline(title)}", ""]
    if not entries:
        return "\n".join([*lines, "No gotchas.", ""])
    for entry in entries:
        facts = [
            entry["severity"],
            entry["category"],
            *map(inline, entry["trust_marks"]),
            *(["resolved"] if entry["resolved"] else []),
        ]
        where = f"line {entry['line'] + 1}" if entry["line"] is not None else "the whole file"
        if entry["state"] == "adrift":
            where = "its code was not found"
        lines.append(
            f"- **{inline(str(entry['title']))}** ({where}; {', '.join(str(f) for f in facts)}) "
            f"`{entry['id']}`"
        )
        if entry["workaround"]:
            lines.append(f"  {inline(str(entry['workaround']))}")
    return "\n".join([*lines, ""])


def timeline(app: "App", title: str, rows: Sequence[Row]) -> str:
    """Return a page that tells how records came to be, the newest change first.

    On the repository's thread.
    """
    lines = [f"# {inline(title)}", ""]
    if not rows:
        return "\n".join([*lines, "Nothing is recorded about this code.", ""])
    titles = {str(row["id"]): row for row in rows}
    steps, whole = _steps(app, list(titles), {str(row["store"]) for row in rows})
    day = ""
    for when, who, op, id in steps:
        date = stamp(when)[:10]
        if date != day:
            lines += ["", f"## {date}", ""]
            day = date
        row = titles[id]
        lines.append(
            f"- {stamp(when)[11:16]} {DONE.get(op, op or 'changed')} by {inline(who)}: "
            f"**{inline(marked_title(row))}** `{id}`"
        )
    if not whole:
        lines += ["", "Older changes were not looked for."]
    lines += ["", "## As it is now", ""]
    for id, row in titles.items():
        state = "resolved" if row["resolved"] else row["status"]
        lines.append(f"- {row['kind']}, {state}: **{inline(marked_title(row))}** `{id}`")
    return "\n".join([*lines, ""])


def _steps(
    app: "App", ids: Sequence[str], scopes: Iterable[str]
) -> tuple[list[tuple[float, str, str, str]], bool]:
    until = time.monotonic() + LOOKING
    out: list[tuple[float, str, str, str]] = []
    whole = True
    for scope in sorted(scopes):
        left = set(ids)
        for step in history.log(app.store(scope), ids):
            op, author = step.trailers.get("op", [""])[0], step.commit.author
            out += [(float(author.time), author.name, op or what, id) for what, id in step.changes]
            left -= {id for what, id in step.changes if what == "added"}
            if not left:
                break
            if time.monotonic() > until:
                whole = False
                break
    return sorted(out, reverse=True), whole
