"""All gotchas as one Markdown page, by category. A view: made on demand, never read back."""

import re
from collections.abc import Mapping, Sequence

from gitmem.records.gotcha_notes import OWN
from gitmem.records.kinds import CATEGORIES, SEVERITIES
from gitmem.records.texts import place_text
from gitmem.services.pages.markdown import body_lines, code, escape
from gitmem.services.pages.page_fact import PageFact, header, newest_day
from gitmem.text.plural import counted

_NOTE = re.compile(rf"> ({OWN})")
GENERAL = "general"
PLACES = 8  # of a gotcha that are named


def gotchas_page(facts: Sequence[PageFact]) -> str:
    """Return the page of those facts that are gotchas."""
    gotchas = sorted((fact for fact in facts if fact.record.kind == "gotcha"), key=_rank)
    by_category = _by_category(gotchas)
    number_open = sum(1 for fact in gotchas if fact.is_open_gotcha)
    as_of = f"; as of {newest_day(gotchas)}" if gotchas else ""
    out = [
        *header("gotchas"),
        "# Known gotchas",
        "",
        f"{counted(len(gotchas), 'gotcha')}, {number_open:,} open{as_of}.",
    ]
    if gotchas:
        out.append("")
    for name, members in by_category.items():
        out.append(f"- [{name.capitalize()}](#{name}): {len(members):,}")
    for name, members in by_category.items():
        out += ["", f"## {name.capitalize()}"]
        for fact in members:
            out += ["", *_section(fact)]
    return "\n".join(out) + "\n"


def _by_category(gotchas: Sequence[PageFact]) -> Mapping[str, Sequence[PageFact]]:
    """Return gotchas by category, without categories that have none."""
    out: dict[str, list[PageFact]] = {name: [] for name in CATEGORIES}
    for fact in gotchas:
        name = str(fact.record.get("category") or GENERAL)
        out[name if name in out else GENERAL].append(fact)
    return {name: members for name, members in out.items() if members}


def severity_of(fact: PageFact) -> str:
    """Return how severe a gotcha is."""
    severity = str(fact.record.get("severity"))
    return severity if severity in SEVERITIES else "warning"


def _rank(fact: PageFact) -> tuple[bool, int, str]:
    """Return where a gotcha stands: open ones first, then the most severe."""
    return not fact.is_open_gotcha, SEVERITIES.index(severity_of(fact)), fact.id


def _section(fact: PageFact) -> list[str]:
    record = fact.record
    marks = [*(["resolved"] if record.resolved else []), *map(escape, fact.marks)]
    behind = f" ({', '.join(marks)})" if marks else ""
    facts = [
        code(fact.id),
        f"seen {int(record.get('occurrences') or 1):,}×",
        f"last {str(record.get('last_seen') or record.created)[:10]}",
    ]
    out = [
        f"### [{severity_of(fact).upper()}] {escape(fact.title)}{behind}",
        "",
        ", ".join(facts),
    ]
    if places := [code(place_text(anchor)) for anchor in record.anchors[:PLACES]]:
        out.append(f"Code: {', '.join(places)}")
    if workaround := record.get("workaround"):
        out += ["", f"**Workaround:** {escape(workaround)}"]
    body, notes = _parted(record.body)
    if body:
        is_output = record.get("origin") in {"captured", "extracted"}
        lines = body_lines(body, is_output=is_output)
        out += ["", *(f"> {line}".rstrip() for line in lines)]
    if notes:
        out += ["", *(f"- {escape(note)}" for note in notes)]
    return out


def _parted(body: str) -> tuple[str, list[str]]:
    """Return a body without the notes about its history, and these notes.

    In a quotation, the notes would be another quotation.
    """
    kept, notes = list[str](), list[str]()
    for line in body.split("\n"):
        if note := _NOTE.fullmatch(line):
            notes.append(note[1])
        else:
            kept.append(line)
    return "\n".join(kept).strip("\n"), notes
