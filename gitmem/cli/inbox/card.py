"""How a fact that waits in the inbox is shown."""

from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.app import App
from gitmem.cli.rows import source_line
from gitmem.cli.terminal import LINE, Terminal, age, line, plain, short
from gitmem.records.kinds import IMPORTED
from gitmem.records.record import Record
from gitmem.records.texts import place_text
from gitmem.services.facts.stores import PROPOSED
from gitmem.services.records.committers import marked_title
from gitmem.services.views import inbox

LINES = 12  # of a text that are shown
WHY, SOURCES, PLACES = 2, 3, 3  # lines of a reason, places where it was seen, places in code
# the columns that `card` shows
CARD = (
    *LINE,
    "author",
    "origin",
    "severity",
    "occurrences",
    "last_seen",
    "session",
    "anchors",
    "workaround",
    "tags",
)


def card(
    term: Terminal, row: dict[str, Any], now: float, texts: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the lines that show a row of `CARD`, with what else is known of it."""
    yield line(term, row)
    anchors = [place_text(anchor) for anchor in row["anchors"] if isinstance(anchor, dict)]
    facts = (
        f"seen {row['occurrences']}×, last {age(row['last_seen'], now)}"
        if row.get("occurrences") and row.get("last_seen")
        else "",
        ", ".join(anchors[:PLACES]),
        f"session {row['session'][:12]}" if row.get("session") else "",
        f"committed by {row['author']}" if row.get("origin") == IMPORTED else "",
    )
    if any(facts):
        yield term.style("    " + plain("; ".join(filter(None, facts))), fg="bright_black")
    for text in (row.get("workaround"), *texts):
        if text:
            yield f"    {plain(text)}"


def evidence(app: App, row: dict[str, Any]) -> list[str]:
    """Return what a proposal would replace, why it is so, and where it was seen."""
    record = app.get(row["id"])[1].record
    replaced = _replaced(app, record)
    if PROPOSED not in row["tags"]:
        return replaced
    why = (
        [] if row.get("workaround") else [text for text in record.body.split("\n") if text.strip()]
    )
    return [*replaced, *why[:WHY], *map(source_line, record.get("sources")[:SOURCES])]


def whole(app: App, row: dict[str, Any]) -> list[str]:
    """Return what a proposal would replace, and its text."""
    record = app.get(row["id"])[1].record
    body = record.body.strip("\n")
    return [*_replaced(app, record), *(body.split("\n")[:LINES] if body else ())]


def _replaced(app: App, record: Record) -> list[str]:
    """Return a line for each live fact that a proposal would replace."""
    return [
        f"would replace {short(fact['id'])}: {marked_title(fact)}"
        for fact in inbox.replaced_facts(app.indexes(), record)
    ]
