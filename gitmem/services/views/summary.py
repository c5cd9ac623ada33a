"""The project summary: what is known of a project in five sections, from live facts.

It is text made on request; nothing of it is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.score import Score

Row = dict[str, Any]
# section -> types of memories in it; gotchas are technical context
TYPES: Mapping[str, tuple[str, ...]] = {
    "key_decisions": ("decision", "rule"),
    "pending_tasks": ("task",),
    "user_preferences": ("preference",),
    "technical_context": ("pattern", "bug", "insight", "gotcha"),
    "general_context": ("context", "fact"),
}
TITLES: Mapping[str, str] = {
    "key_decisions": "Key decisions",
    "pending_tasks": "Pending tasks",
    "user_preferences": "User preferences",
    "technical_context": "Technical context",
    "general_context": "General context",
}
_SECTION = {kind: name for name, kinds in TYPES.items() for kind in kinds}
FIELDS = (
    "store",
    "id",
    "kind",
    "type",
    "status",
    "agent",
    "session",
    "author",
    "origin",
    "unconfirmed",
    "title",
    "created",
    "updated",
    "rev",
    "importance",
    "decay_rate",
    "level",
    "done",
    "severity",
    "resolved",
    "last_seen",
    "workaround",
    "committer",
    "vouchers",
)


@dataclass(frozen=True, slots=True)
class SummarySection:
    """One section: rows of facts, the first to be told first, and how many are left out."""

    name: str
    rows: tuple[Row, ...]
    left_out: int = 0

    @property
    def title(self) -> str:
        """The heading of the section."""
        return TITLES[self.name]


def facts(indexes: Indexes, agents: Sequence[str], at: str) -> list[Row]:
    """Return the rows of the facts that hold at a time and that these agents read, newest first."""
    return joined.rows(
        indexes,
        kinds=tuple(sorted(FACTS)),
        statuses=LIVE,
        resolved=False,
        agents=agents,
        valid_at=at,
        order="updated",
        fields=FIELDS,
    )


def sections(
    rows: Sequence[Row], limit: int, score_of: Callable[[Row], Score]
) -> list[SummarySection]:
    """Return live facts by section, at most `limit` in each; `rows` have `FIELDS`.

    What has decayed is left out; the order is that of the scores.
    """
    by: dict[str, list[tuple[tuple[Any, ...], Row]]] = {name: [] for name in TYPES}
    for row in rows:
        name = _SECTION.get("gotcha" if row["kind"] == "gotcha" else str(row["type"]))
        score = score_of(row)
        if name and not score.decayed:
            by[name].append((_rank(row, score), row))
    out = []
    for name, facts_of_section in by.items():
        ranked = [row for _, row in sorted(facts_of_section, key=itemgetter(0), reverse=True)]
        out.append(SummarySection(name, tuple(ranked[:limit]), max(0, len(ranked) - limit)))
    return out


def _rank(row: Row, score: Score) -> tuple[Any, ...]:
    at = str(row["last_seen"] or row["updated"] or row["created"])
    return row["status"] == "pinned", not row["unconfirmed"], score.value, at, row["id"]
