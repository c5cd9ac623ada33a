"""Whether a fact that is stated anew is there already."""

from collections.abc import Sequence
from typing import Any

from gitmem.index.reader import Index
from gitmem.records.kinds import FACTS, LIVE
from gitmem.text.equality import plain

LOOKED = 5  # hits that are compared


def live_fact_with_title(
    indexes: Sequence[Index], title: str, agents: Sequence[str]
) -> dict[str, Any] | None:
    """Return a live fact that these agents see and whose title has the same words."""
    words = plain(title)
    filters: dict[str, Any] = {"kinds": tuple(FACTS), "statuses": LIVE, "agents": agents}
    for index in indexes:
        hits = index.search(words, limit=LOOKED, snippets=False, titles=True, **filters)
        for hit in hits:
            if plain(str(hit["title"])) == words:
                return dict(hit)
    return None
