"""What a page of DNA shows besides what is stored of it: patterns that a person vouches for."""

from collections.abc import Callable, Sequence
from typing import Any

from gitmem.records.kinds import LIVE
from gitmem.services.records.committers import TRUST_FIELDS, marked_title
from gitmem.text.tokens import tokens

PATTERNS = 8
BUDGET = 1000  # tokens of a page: four ASCII characters count as one


def vouched_titles(
    rows: Callable[..., Sequence[dict[str, Any]]], agents: Sequence[str], now: str
) -> list[str]:
    """Return the titles of rules and patterns that agents see and a person vouches for."""
    vouched = [
        row
        for kind in ("rule", "pattern")
        for row in rows(
            kinds=("memory",),
            statuses=LIVE,
            what=kind,
            agents=agents,
            valid_at=now,
            unconfirmed=False,
            limit=PATTERNS,
            order="importance",
            fields=TRUST_FIELDS,
        )
    ]
    return [marked_title(row) for row in vouched[:PATTERNS]]


def with_patterns(body: str, titles: Sequence[str], budget: int) -> str:
    """Return a stored page with the patterns that hold now, as far as its budget has room.

    They are facts: no page stores their words.
    """
    heading = "\n## Patterns\n"
    rows = ""
    for title in titles:
        row = f"- {cut_text(title, 120)}\n"
        if tokens(body + heading + rows + row) <= budget:
            rows += row
    return body + heading + rows if rows else body


def cut_text(text: str, most: int) -> str:
    """Return a text within a length: whole sentences if there is one, else cut at a word."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    end = max(text.rfind(mark, 0, most) for mark in (". ", "! ", "。", "！"))
    if end >= most // 4:
        return text[: end + 1]
    return text[: max(1, most - 1)].rsplit(" ", 1)[0].rstrip(" ,.;:(") + "…"
