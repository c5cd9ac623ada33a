"""All gotchas as one Markdown page, by category. A view: made on demand, never read back."""

import re
from collections.abc import Sequence
from typing import Any

from gitmem.records.gotcha_notes import OWN
from gitmem.records.kinds import CATEGORIES
from gitmem.records.texts import place_text
from gitmem.services.records.committers import trust_marks

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&!#]")
_CODE = re.compile(r"^(?: {4}|\t| {0,3}(?:```|~~~))", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ACTIVE = re.compile(r"\\|`|<|&|\](?=[(:\[])|!(?=\[)")
_NOTE = re.compile(rf"> ({OWN})")
LINES = 40  # of a body


def page(rows: Sequence[dict[str, Any]], at: str) -> str:
    """Return the page.

    `rows` are the index's, each with its `body`, in the order they are shown.
    """
    by = {
        name: [row for row in rows if (row["category"] or "general") == name] for name in CATEGORIES
    }
    others = [row for row in rows if (row["category"] or "general") not in CATEGORIES]
    by["general"] += others
    open_ = sum(1 for row in rows if not row["resolved"])
    out = [
        "# Known gotchas",
        "",
        (
            f"{len(rows)} gotchas, {open_} of them not dealt with; as of {at}. Made by `git mem "
            "gotcha page`; edits here are not kept."
        ),
        "",
    ]
    for name, some in by.items():
        if some:
            out.append(f"- [{name.capitalize()}](#{name}): {len(some)}")
    for name, some in by.items():
        if some:
            out += ["", f"## {name.capitalize()}"]
            for row in some:
                out += ["", *_section(row)]
    return "\n".join(out) + "\n"


def _section(row: dict[str, Any]) -> list[str]:
    marks = [
        f"[{str(row['severity'] or 'warning').upper()}]",
        *(["resolved"] if row["resolved"] else []),
    ]
    marks += map(escape, trust_marks(row))
    title = f"### {marks[0]} {escape(row['title'])}" + (
        f" ({', '.join(marks[1:])})" if marks[1:] else ""
    )
    facts = [
        f"`{row['id'][-8:]}`",
        f"seen {int(row['occurrences'] or 1)}×",
        f"last {str(row['last_seen'] or row['created'])[:10]}",
    ]
    out = [title, "", ", ".join(facts)]
    places = [place_text(anchor) for anchor in row["anchors"] if isinstance(anchor, dict)]
    if places:
        out.append(
            "Code: "
            + ", ".join(f"`{' '.join(place.replace('`', '').split())}`" for place in places[:8])
        )
    if row["workaround"]:
        out += ["", f"**Workaround:** {escape(row['workaround'])}"]
    body, notes = _parted(row["body"])
    if body:
        out += [
            "",
            *(
                f"> {line}".rstrip()
                for line in text(body, row["origin"] in {"captured", "extracted"})
            ),
        ]
    if notes:
        out += ["", *(f"- {escape(note)}" for note in notes)]
    return out


def _parted(body: str) -> tuple[str, list[str]]:
    """Return a body without the notes about its history, and these notes.

    In a quotation, the notes would be another quotation.
    """
    lines = body.split("\n")
    notes = [
        (number, found[1]) for number, line in enumerate(lines) if (found := _NOTE.fullmatch(line))
    ]
    out = {number for number, _ in notes}
    return "\n".join(line for number, line in enumerate(lines) if number not in out).strip("\n"), [
        note for _, note in notes
    ]


def text(body: str, output: bool) -> list[str]:
    """Return the lines of a body as Markdown that loads, runs and hides nothing.

    `output` is what a tool printed.
    """
    every = body.strip("\n").split("\n")
    lines = [*every[:LINES], *(["…"] if len(every) > LINES else [])]
    # where code begins and ends is for the reader's Markdown to say: all of it is code
    if output or _CODE.search(body):
        fence = "~" * max(3, 1 + max(map(len, re.findall("~+", body)), default=0))
        return [fence, *lines, fence]
    return [_harmless(line) for line in lines]


def _harmless(line: str) -> str:
    """Return a line with its HTML, links and pictures as plain text.

    Emphasis, lists and code stay Markdown.
    """
    out, at = "", 0
    for span in _SPAN.finditer(line):
        out += _ACTIVE.sub(r"\\\g<0>", line[at : span.start()]) + span[0]
        at = span.end()
    return out + _ACTIVE.sub(r"\\\g<0>", line[at:])


def escape(text: str) -> str:
    """Return one line as Markdown that shows it as it is."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(str(text).split()))
