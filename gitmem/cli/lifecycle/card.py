"""How a finding of a check is shown, and how it is answered."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitmem.app import App
from gitmem.cli.inbox.card import CARD, card
from gitmem.cli.json_shapes import mention_json
from gitmem.cli.rows import source_line
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.records.record import Record
from gitmem.services.lifecycle.findings import Finding

LINES, SOURCES = 2, 2  # of a fact that are shown: lines of its text, places where it was seen
Rows = Mapping[str, dict[str, Any]]


def rows_of(app: App, findings: list[Finding]) -> Rows:
    """Return the facts of findings as rows, by id, without the mark that a finding itself is."""
    ids = tuple({id for finding in findings for id in finding.ids})
    rows = {row["id"]: row for row in app.rows(ids=ids, fields=(*CARD, "rev"))} if ids else {}
    for row in rows.values():
        row.pop("out_of_date", None)
    return rows


def finding_lines(term: Terminal, app: App, finding: Finding, rows: Rows) -> Iterator[str]:
    """Yield the lines that show a finding."""
    for id in finding.ids:
        if id in rows:
            yield from card(term, rows[id], app.clock.now(), _fact_lines(app, id))
    doubt = "" if finding.sure else "perhaps "
    yield f"  {doubt}{finding.what}: {plain(finding.evidence)}"


def _fact_lines(app: App, id: str) -> list[str]:
    """Return who said a fact, where it was seen, and the beginning of its text."""
    record = app.get(id)[1].record
    body = [line for line in record.body.split("\n") if line.strip()]
    seen = map(source_line, record.get("sources")[-SOURCES:])
    return [f"by {_speaker(record)}", *seen, *body[:LINES]]


def _speaker(record: Record) -> str:
    sources = record.get("sources")
    program = str(sources[0].get("program") or "") if sources else ""
    if record.get("origin") == "agent" and program:
        return f"{program}, for {record.get('author')}"
    return str(record.get("author") or "unknown")


def proposal(finding: Finding) -> str:
    """Return the command that answers a finding as it is proposed."""
    if finding.choice == "edit":
        return f"git mem edit {short(finding.ids[0])}"
    return f"git mem check --resolve {short(finding.ids[0])}={finding.choice}"


def finding_json(finding: Finding, rows: Rows) -> dict[str, Any]:
    """Return a finding as JSON."""
    return {
        "finding": finding.what,
        "reason": finding.evidence,
        "choice": finding.choice,
        "is_sure": finding.sure,
        "facts": [mention_json(rows[id]) for id in finding.ids if id in rows],
    }
