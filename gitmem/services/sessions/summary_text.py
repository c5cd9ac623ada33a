"""The project summary as text that people edit, and back. Pure.

A heading a kind, a line an entry, its id in brackets, `!` behind it for a pinned one; indented
lines below are its detail. A new line needs no id.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import UserError
from gitmem.records.items import (
    CONTEXT,
    DECISION,
    DONE,
    ERROR,
    PATTERN,
    PREFERENCE,
    SECTION,
    TASK,
    item_id,
)
from gitmem.records.summary_entries import Entry, key_of, ordered
from gitmem.records.texts import clean_title

HEADINGS: Mapping[str, str] = {
    DECISION: "Decisions",
    TASK: "Pending tasks",
    PREFERENCE: "Preferences",
    ERROR: "Errors and their fixes",
    PATTERN: "Patterns",
    CONTEXT: "Technical context",
    DONE: "Done",
}
HELP = (
    "# A line is an entry: '- [id] text'; 'id!' pins it. Lines below it that begin with two spaces "
    "are its detail.\n"
    "# New lines need no id. A line that is taken out is forgotten. Lines that begin with '# ' are "
    "comments.\n"
)
_LINE = re.compile(
    r"[-*]\s+(?:\[(?P<id>[0-9a-f]{6,12})(?P<pin>!?)\]\s*|\[(?P<new>!)\]\s*)?(?P<text>.*)"
)


def by_kind(sections: Mapping[str, Sequence[Entry]]) -> dict[str, list[Entry]]:
    """Return the entries of each kind that has some, in the order in which they are shown."""
    every = [e for part in sections.values() for e in part]
    found = {kind: ordered(e for e in every if e.get("kind") == kind) for kind in HEADINGS}
    return {kind: entries for kind, entries in found.items() if entries}


def text_of(sections: Mapping[str, Sequence[Entry]]) -> str:
    """Return the sections as text to be edited."""
    out = [HELP]
    found = by_kind(sections)
    for kind, heading in HEADINGS.items():
        out.append(f"\n## {heading}\n\n")
        for entry in found.get(kind, []):
            out.append(
                f"- [{key_of(entry)}{'!' if entry.get('pinned') else ''}] "
                f"{' '.join(str(entry.get('text', '')).split())}\n"
            )
            out += [f"  {line}\n" for line in str(entry.get("detail", "")).splitlines()]
    return "".join(out)


def parsed(text: str, before: Mapping[str, Sequence[Entry]], now: str) -> dict[str, list[Entry]]:
    """Return the sections of an edited text.

    Raises UserError that names the line which cannot be read.
    """
    known = {key_of(e): e for part in before.values() for e in part}
    # of a newer version: not shown
    hidden = {
        name: [e for e in part if e.get("kind") not in HEADINGS] for name, part in before.items()
    }
    kinds = {heading.lower(): kind for kind, heading in HEADINGS.items()}
    out: dict[str, Entry] = {}
    kind, current = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            kind = kinds.get(line[3:].strip().lower(), "")
            if not kind:
                raise UserError(
                    f"line {number}: there is no part '{line[3:].strip()}'.",
                    "Parts: " + ", ".join(HEADINGS.values()) + ".",
                )
            current = ""
        elif not line.strip() or line.startswith("# "):
            continue
        elif line.startswith("  ") and current:
            entry = out[current]
            entry["detail"] = (
                f"{entry['detail']}\n{line.strip()}" if entry.get("detail") else line.strip()
            )
        elif (match := _LINE.fullmatch(line)) and kind:
            current = _take(match, kind, known, out, now)
        else:
            raise UserError(
                f"line {number} is not an entry: '{line[:40]}'.",
                "An entry is '- text', below a heading such as '## Decisions'.",
            )
    sections: dict[str, list[Entry]] = {name: part for name, part in hidden.items() if part}
    for entry in out.values():
        sections.setdefault(SECTION[entry["kind"]], []).append(entry)
    return {name: ordered(part) for name, part in sections.items()}


def _take(
    match: re.Match[str], kind: str, known: Mapping[str, Entry], out: dict[str, Entry], now: str
) -> str:
    """Put the entry of a line into `out`; return its id, empty for a line without a text."""
    line = clean_title(match["text"])
    if not line:
        return ""
    old = known.get(match["id"] or "")
    if old is not None and key_of(old) in out:
        old = None  # a copy of a line, with another text
    entry: dict[str, Any] = {k: v for k, v in (old or {}).items() if k not in {"pinned", "detail"}}
    if old is None or " ".join(str(old.get("text", "")).split()) != line or old.get("kind") != kind:
        entry |= {"text": line, "kind": kind, "at": now}
    id = key_of(old) if old else item_id(line)
    entry["id"] = id
    if match["pin"] or match["new"]:
        entry["pinned"] = True
    out[id] = entry
    return id
