"""What a memory is made of in numbers, and where it has gaps."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.index.joined import Indexes
from gitmem.records.score import Score

Row = Mapping[str, Any]
TOP = 10
TOTALS = ("agent", "project", "type", "trust")
GAP_DAYS = 90  # days in which a folder has commits and no new fact
ACTIVE = 3  # commits of such a folder, at least


class Gap(NamedTuple):
    """A folder with commits of the last 90 days about which no fact of that time is."""

    path: str
    commits: int


class Linked(NamedTuple):
    """A fact and how many links lead to it or from it."""

    id: str
    title: str
    links: int


def totals(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """Return how many facts there are by agent, project, type and trust."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in TOTALS}
    for row in rows:
        counts["agent"][str(row["agent"])] += 1
        counts["project"][str(row["project"] or "none")] += 1
        counts["type"][str(row["type"] or row["kind"])] += 1
        counts["trust"]["unconfirmed" if row["unconfirmed"] else "confirmed"] += 1
    return {name: dict(counter.most_common()) for name, counter in counts.items()}


def mean_decay(scores: Iterable[Score]) -> float:
    """Return how much of the importance of the facts is left, 0.0 to 1.0; 1.0 without facts."""
    left = [score.rate**score.hours for score in scores]
    return sum(left) / len(left) if left else 1.0


def most_linked(indexes: Indexes, rows: Sequence[Row], most: int = TOP) -> list[Linked]:
    """Return the facts with the most links, in both directions."""
    titles = {row["id"]: str(row["title"]) for row in rows}
    counts: Counter[str] = Counter()
    for _, index in indexes:
        for source, relation, target in index.edges():
            if relation == "links":
                counts.update((source, target))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Linked(id, titles[id], number) for id, number in ranked if id in titles][:most]


def places_since(rows: Iterable[Row], since: str) -> list[str]:
    """Return the paths that facts are about which were made since a time (RFC 3339 UTC)."""
    recent = (row for row in rows if row["created"] >= since)
    return [str(a["path"]) for row in recent for a in row["anchors"] or () if "path" in a]


def gaps(touched: Iterable[Sequence[str]], anchored: Iterable[str], most: int = TOP) -> list[Gap]:
    """Return the folders that are worked in and that no fact is about.

    `touched` are the paths of each commit of the time, `anchored` those that its facts are about.
    """
    commits: Counter[str] = Counter()
    for paths in touched:
        commits.update({folder for path in paths for folder in _folders(path)[:1]})
    covered = {folder for path in anchored for folder in _folders(path)}
    missing = [
        Gap(folder, number)
        for folder, number in commits.items()
        if number >= ACTIVE and folder not in covered
    ]
    return sorted(missing, key=lambda gap: (-gap.commits, gap.path))[:most]


def _folders(path: str) -> list[str]:
    """Return the folders of a path, the innermost first; none for a file at the top."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:number]) for number in range(len(parts), 0, -1)]
