"""Markdown: one page for people, with a section for each type of fact."""

from collections.abc import Iterator, Mapping, Sequence

from gitmem.records.kinds import LIVE, TYPES
from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter, group_of

HEADINGS = {
    "decision": "Decisions",
    "pattern": "Patterns",
    "rule": "Rules",
    "bug": "Bugs",
    "insight": "Insights",
    "context": "Context",
    "fact": "Facts",
    "preference": "Preferences",
    "task": "Tasks",
    "gotcha": "Gotchas",
}


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the one page."""
    lines = ["# Memory", ""]
    for group in (*TYPES, "gotcha"):
        some = [fact for fact in facts if group_of(fact.record) == group]
        if some:
            lines += [f"## {HEADINGS[group]}", ""]
            lines += [line for fact in some for line in _fact(fact)]
    return {"": "\n".join(lines).rstrip("\n") + "\n"}


def _fact(fact: ExportedFact) -> Iterator[str]:
    record = fact.record
    yield f"### {record.title}"
    yield ""
    yield f"*{', '.join(_remarks(fact))}*"
    yield ""
    if workaround := str(record.fields.get("workaround") or ""):
        yield f"Workaround: {workaround}"
        yield ""
    if record.body:
        # headings of a body stand below that of its fact
        yield from (f"###{line}" if line.startswith("#") else line for line in _lines(record))
        yield ""


def _lines(record: Record) -> list[str]:
    return record.body.rstrip("\n").split("\n")


def _remarks(fact: ExportedFact) -> Iterator[str]:
    record = fact.record
    yield record.id[-8:]
    yield record.created[:10]
    yield from (f"#{tag}" for tag in record.tags)
    if record.status not in LIVE:
        yield record.status
    if record.resolved:
        yield "resolved"
    if not fact.is_vouched:
        yield "unconfirmed"


WRITER = ForeignWriter("markdown", is_folder=False, files=files)
