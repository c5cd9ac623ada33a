"""From gotchas and a text to diagnostics. Pure: rows and lines in, protocol values out."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from lsprotocol import types as t

from gitmem.git.build import object_id
from gitmem.services.anchors import place
from gitmem_lsp.positions import code_range, git_lines
from gitmem_lsp.text import plain, shorten

SOURCE = "gitmem"
FILE_CAP = 20  # diagnostics in a file; the last then says how many more there are
LINE_CAP = 3  # titles on a line
PLACED = 200  # gotchas of a file that are looked for in its text, the most severe first
MAX_LINES = 50_000
MAX_CHARS = 10_000_000
MESSAGE_LIMIT = 200
WORKAROUND_LIMIT = 80

Row = dict[str, Any]

RANK = {"critical": 0, "warning": 1, "info": 2}
SEVERITY = {"critical": t.DiagnosticSeverity.Warning, "warning": t.DiagnosticSeverity.Information, "info": t.DiagnosticSeverity.Hint}
STATES = ("same", "changed", "file", "adrift")  # surest first
SUFFIX = {"changed": " (code changed since)", "adrift": " (code not found: moved or deleted)"}


@dataclass(frozen=True, slots=True)
class Note:
    """A gotcha at its best place in a text; `line` counts from 0."""

    row: Row
    line: int
    state: str

    @property
    def id(self) -> str:
        """The record's id."""
        return str(self.row["id"])

    @property
    def rank(self) -> int:
        """How severe it is: 0 is worst."""
        return RANK.get(str(self.row.get("severity")), 1)

    @property
    def severity(self) -> t.DiagnosticSeverity:
        """How loud it is shown: code that is gone is never shouted about."""
        if self.state == "adrift":
            return t.DiagnosticSeverity.Information if self.rank == 0 else t.DiagnosticSeverity.Hint
        return SEVERITY.get(str(self.row.get("severity")), t.DiagnosticSeverity.Information)


@dataclass(frozen=True, slots=True)
class Mark:
    """One diagnostic, and the gotchas that it speaks of."""

    line: int
    notes: tuple[Note, ...]
    diagnostic: t.Diagnostic


def short_id(id: str) -> str:
    """Return the end of an id: enough to name a record, and unlike its start not shared by its neighbours."""
    return id[-8:]


def bounded(lines: Sequence[str]) -> bool:
    """Say whether a text is one that is worth looking at: not binary, not huge."""
    return len(lines) <= MAX_LINES and sum(map(len, lines)) <= MAX_CHARS and not any("\0" in line for line in lines)


def glob_match(pattern: str, path: str) -> bool:
    """Say whether a path matches a pattern: `*` and `?` stay in a folder, `**` spans folders, a bare name matches in any folder."""
    if "/" not in pattern:
        return fnmatchcase(path.rsplit("/", 1)[-1], pattern)
    want = pattern.strip("/").split("/")

    def skip(at: Iterable[int]) -> set[int]:
        out = set(at)
        for here, part in enumerate(want):
            if here in out and part == "**":
                out.add(here + 1)
        return out

    reached = skip({0})
    for part in path.split("/"):
        stay = {at for at in reached if at < len(want) and want[at] == "**"}
        step = {at + 1 for at in reached - stay if at < len(want) and fnmatchcase(part, want[at])}
        reached = skip(stay | step)
        if not reached:
            return False
    return len(want) in reached


def blob_ids(text: str, lengths: Iterable[int]) -> frozenset[str]:
    """Return the oids that git could know a text by: as it is, and with the line ends that it keeps for a CRLF file."""
    forms = {text, text.replace("\r\n", "\n")}
    kinds = {"sha256" if length == 64 else "sha1" for length in lengths}
    return frozenset(object_id("blob", form.encode("utf-8", "replace"), kind) for form in forms for kind in kinds)


def find_notes(rows: Sequence[Row], paths: Sequence[str], lines: Sequence[str]) -> list[Note]:
    """Return each gotcha at its best place in a text, the most severe first."""
    ranked = sorted(rows, key=lambda row: RANK.get(str(row.get("severity")), 1))
    chosen = [(row, [a for a in row["anchors"] if applies(a, paths)]) for row in ranked[:PLACED]]
    lengths = {len(str(a["blob"])) for _, anchors in chosen for a in anchors if a.get("blob")}
    blobs = blob_ids("".join(lines), lengths) if lengths else frozenset()
    texts, starts = git_lines(lines)
    known: dict[str, tuple[int, str]] = {}

    def look(anchor: dict[str, Any]) -> tuple[int, str]:
        key = json.dumps(anchor, sort_keys=True)
        if key not in known:
            blob = str(anchor.get("blob") or "")
            first, _, state = place(anchor, texts, blob if blob in blobs else "")
            known[key] = starts[max(0, min(first, len(starts)) - 1)], state
        return known[key]

    out = []
    for row, anchors in chosen:
        spots = [look(anchor) for anchor in anchors]
        if spots:
            line, state = min(spots, key=lambda spot: (STATES.index(spot[1]), spot[0]))
            out.append(Note(row, line, state))
    return out


def applies(anchor: dict[str, Any], paths: Sequence[str]) -> bool:
    """Say whether an anchor is in a file that has these paths."""
    if isinstance(anchor.get("path"), str):
        return anchor["path"] in paths
    glob = anchor.get("glob")
    return isinstance(glob, str) and any(glob_match(glob, path) for path in paths)


def make_marks(notes: Sequence[Note], lines: Sequence[str], encoding: str, total: int | None = None) -> list[Mark]:
    """Return one mark a line, ordered by line; past the cap the most severe stay and a last one counts the rest."""
    by_line: dict[int, list[Note]] = {}
    for note in sorted(notes, key=lambda n: (n.severity.value, n.rank, n.id)):
        by_line.setdefault(note.line, []).append(note)
    groups = list(by_line.items())
    hidden = max(0, (len(notes) if total is None else total) - len(notes))
    if len(groups) > FILE_CAP or hidden:
        hidden += sum(len(group) for _, group in groups[FILE_CAP - 1 :])
        groups = groups[: FILE_CAP - 1]
    marks = [_mark(line, tuple(group), lines, encoding) for line, group in groups]
    if hidden:
        marks.append(_rest(hidden, lines, encoding))
    return sorted(marks, key=lambda mark: mark.line)


def _mark(line: int, notes: tuple[Note, ...], lines: Sequence[str], encoding: str) -> Mark:
    shown = [_title(note) for note in notes[:LINE_CAP]]
    if len(notes) == 1:
        message = _alone(notes[0])
    else:
        message = "; ".join([*shown, *([f"+{len(notes) - LINE_CAP} more"] if len(notes) > LINE_CAP else [])])
    diagnostic = t.Diagnostic(
        range=code_range(lines, line, encoding), message=message, severity=notes[0].severity, source=SOURCE, code=short_id(notes[0].id),
        data={"ids": [note.id for note in notes]},
    )  # fmt: skip
    return Mark(line, notes, diagnostic)


def _title(note: Note) -> str:
    return shorten(plain(str(note.row["title"])), MESSAGE_LIMIT) + SUFFIX.get(note.state, "")


def _alone(note: Note) -> str:
    workaround = plain(str(note.row.get("workaround") or ""))
    return _title(note) + (f" → {workaround}" if 0 < len(workaround) <= WORKAROUND_LIMIT else "")


def _rest(count: int, lines: Sequence[str], encoding: str) -> Mark:
    message = f"{count} more gotcha{'s' if count > 1 else ''} about this file; see them all with: git mem list --kind gotcha --unresolved"
    diagnostic = t.Diagnostic(range=code_range(lines, 0, encoding), message=message, severity=t.DiagnosticSeverity.Hint, source=SOURCE)
    return Mark(0, (), diagnostic)
