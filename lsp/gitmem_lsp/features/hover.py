"""The full record for a line, as Markdown or as plain text. Pure: records in, text out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsprotocol import types as t

from gitmem.clock import seconds
from gitmem.records.record import Record
from gitmem_lsp.protocol.safe_text import block, inline, multiline, plain, shorten

BODY_LIMIT = 4000
RECORDS = 3  # records told in full; the others are counted

UNITS = (
    (365 * 86400, "year"),
    (30 * 86400, "month"),
    (7 * 86400, "week"),
    (86400, "day"),
    (3600, "hour"),
    (60, "minute"),
)
STATES = {
    "moved": "Its code has moved here since.",
    "changed": "The code has changed since.",
    "approximate": "Its code was deleted; this is the definition that contained it.",
    "trigger": "Code like this calls for it.",
    "stale": "The code has changed since.",
    "adrift": "Its code was not found: it was moved or deleted.",
    "file": "It is about the whole file.",
}


@dataclass(frozen=True, slots=True)
class HoverText:
    """A record and how sure its place is; `went` is where its code is, in another file.

    `claim` is what it says of its author against the store's history, in words. `definition` is
    what it is about, where that is only used. `said` has what a diagnostic in the same window says
    already, as `Mark.said` does: that is not repeated.
    """

    record: Record
    state: str
    went: str = ""
    claim: str = ""
    definition: str = ""
    said: frozenset[str] = frozenset()

    @property
    def place(self) -> str:
        """What is to be said of its place, if anything."""
        if "place" in self.said:
            return ""
        if self.definition:
            return f"It is about {plain(self.definition)}, which is used here."
        return (
            f"Its code has moved to {plain(self.went)}."
            if self.went
            else STATES.get(self.state, "")
        )

    @property
    def workaround(self) -> str:
        """The workaround, '' when there is none or it is said already."""
        words = str(self.record.get("workaround") or "").strip()
        return "" if "workaround" in self.said else words


def wants_markdown(capabilities: t.ClientCapabilities) -> bool:
    """Say whether a client renders Markdown in a hover."""
    text = capabilities.text_document
    formats = text.hover.content_format if text and text.hover else None
    return t.MarkupKind.Markdown in (formats or ())


def make_hover(
    texts: Sequence[HoverText], more: int, range: t.Range, now: float, markdown: bool
) -> t.Hover:
    """Return the hover for the records of a line; `more` have no room."""
    tell = _markdown if markdown else _plain
    parts = [tell(item, now) for item in texts]
    if more:
        parts.append(f"+{more} more on this line")
    joined = ("\n\n---\n\n" if markdown else "\n\n----\n\n").join(parts)
    return t.Hover(
        t.MarkupContent(t.MarkupKind.Markdown if markdown else t.MarkupKind.PlainText, joined),
        range,
    )


def age(stamp: str, now: float) -> str:
    """Return how long ago a time is, in words."""
    try:
        gone = now - seconds(stamp)
    except ValueError:
        return "at an unknown time"
    for size, name in UNITS:
        if gone >= size:
            count = int(gone // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def _facts(hover_text: HoverText, now: float, say: Callable[[str], str]) -> list[str]:
    """Return the lines of facts; `say` makes the record's words safe."""
    record = hover_text.record
    author = str(record.get("author") or "").split(" <")[0]
    made = f"Recorded {age(record.created, now)}" + (
        f" by {say(shorten(author, 80))}" if author else ""
    )
    own = ("severity", "category") if record.kind == "gotcha" else ("type",)
    first = [
        *(str(record.get(key) or "") for key in own),
        record.status if record.status != "active" else "",
        "resolved" if record.resolved else "",
        _origin(record),
        f"unconfirmed, {say(shorten(hover_text.claim, 200))}" if hover_text.claim else "",
    ]
    times = record.get("occurrences")
    seen = [made]
    if isinstance(times, int) and times > 1:
        last = record.fields.get("last_seen")
        seen.append(f"happened {times} times" + (f", last {age(str(last), now)}" if last else ""))
    elif record.updated != record.created:
        seen.append(f"changed {age(record.updated, now)}")
    confirmed = record.fields.get("confirmed")
    if isinstance(confirmed, dict) and confirmed.get("at") and not hover_text.claim:
        seen.append(
            f"confirmed {age(str(confirmed['at']), now)}"
            + (f" by {say(shorten(str(confirmed['by']), 80))}" if confirmed.get("by") else "")
        )
    return [" · ".join(say(x) for x in first if x), " · ".join(seen)]


def _origin(record: Record) -> str:
    origin = str(record.get("origin"))
    if record.unconfirmed:
        return f"{origin}, unconfirmed"
    return "" if origin == "manual" else origin


def _markdown(hover_text: HoverText, now: float) -> str:
    record = hover_text.record
    title = f"**{record.kind.capitalize()}** {inline(record.title)}"
    body = record.body.strip()
    parts = [
        "" if "title" in hover_text.said else title,
        "  \n".join(_facts(hover_text, now, inline)),
        inline(hover_text.place),
        block(shorten(body, BODY_LIMIT)),
    ]
    if hover_text.workaround:
        parts.append(f"**Workaround**\n\n{block(shorten(hover_text.workaround, BODY_LIMIT))}")
    return "\n\n".join(part for part in (*parts, f"`{record.id}`") if part)


def _plain(hover_text: HoverText, now: float) -> str:
    record = hover_text.record
    parts = [
        "" if "title" in hover_text.said else f"{record.kind.capitalize()}: {plain(record.title)}",
        "\n".join(_facts(hover_text, now, plain)),
        hover_text.place,
        multiline(shorten(record.body.strip(), BODY_LIMIT)),
    ]
    if hover_text.workaround:
        parts.append(f"Workaround: {multiline(shorten(hover_text.workaround, BODY_LIMIT))}")
    return "\n\n".join(part for part in (*parts, record.id) if part)
