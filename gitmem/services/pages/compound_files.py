"""The files of the compound analysis. Pure: the same facts give the same bytes."""

import json
from collections.abc import Mapping, Sequence

from gitmem.services.pages.compound import (
    Analysed,
    CompoundSection,
    EntryGroup,
    PageEntry,
    sections,
)
from gitmem.services.pages.markdown import beginning, code, escape
from gitmem.services.pages.page_fact import MADE_BY, PageFact, header, newest_day
from gitmem.text.plural import counted

FORMAT = 1
MANIFEST = "00-manifest.json"
SUMMARY = "COMPOUND-SUMMARY.md"
FIRST = 5  # entries of a section that the summary has


def compound_files(analysed: Analysed, tips: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each file by its name; `tips` are the commits of the stores read."""
    made = sections(analysed)
    day = newest_day(analysed.facts)
    return {
        MANIFEST: _manifest(made, day, tips),
        **{f"{section.name}.md": _page(section) for section in made},
        SUMMARY: _summary(made, day, len(analysed.facts)),
    }


def _manifest(made: Sequence[CompoundSection], day: str, tips: Mapping[str, str]) -> str:
    manifest = {
        "generated_by": MADE_BY,
        "format": FORMAT,
        "newest_fact": day or None,
        "tips": dict(sorted(tips.items())),
        "sections": [
            {
                "file": f"{section.name}.md",
                "title": section.title,
                "entry_count": section.number,
                "ids": section.ids,
            }
            for section in made
        ],
    }
    return json.dumps(manifest, indent=1) + "\n"


def _page(section: CompoundSection) -> str:
    out = [*header("compound"), f"# {section.title}", "", section.rule]
    if not section.groups:
        out += ["", "There is nothing of this yet."]
    for group in section.groups:
        out += ["", f"## {escape(group.title)}", *_group_lines(group)]
    return "\n".join(out) + "\n"


def _group_lines(group: EntryGroup) -> list[str]:
    out = [text for line in group.lines for text in ("", escape(line))]
    if group.entries:
        out.append("")
    return out + [text for entry in group.entries for text in _entry_lines(entry)]


def _entry_lines(entry: PageEntry) -> list[str]:
    """Return an entry: its title, day, marks and id, and below it the beginning of its text."""
    text = beginning(entry.text or entry.fact.record.body)
    return [_title_line(entry.fact, entry.notes), *([f"  {text}"] if text else [])]


def _title_line(fact: PageFact, notes: Sequence[str] = ()) -> str:
    around = [fact.day, *map(escape, [*notes, *fact.marks]), code(fact.id)]
    return f"- **{escape(fact.title)}** ({'; '.join(around)})"


def _summary(made: Sequence[CompoundSection], day: str, number: int) -> str:
    as_of = f", the newest of {day}" if day else ""
    out = [
        *header("compound"),
        "# What was learned",
        "",
        f"Of {counted(number, 'fact')}{as_of}. To see what an entry is from: `git mem show ID`.",
    ]
    for section in made:
        entries = [entry for group in section.groups for entry in group.entries]
        out += ["", f"## [{section.title}]({section.name}.md): {section.number:,}", ""]
        out += [_title_line(entry.fact, entry.notes) for entry in entries[:FIRST]]
        if len(entries) > FIRST:
            out.append(f"- … {len(entries) - FIRST:,} more")
        if not entries:
            out.append("There is nothing of this yet.")
    return "\n".join(out) + "\n"
