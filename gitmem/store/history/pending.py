"""What must still be deleted after a purge.

A purge, or a sync that follows one, may be killed between its new history and the removal of the
old one.
"""

import json
import re
from collections.abc import Sequence

from gitmem.base.files import write_atomic
from gitmem.repo.location import Home

PENDING = "purge.json"
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def pending(home: Home) -> dict[str, list[str]]:
    """Return what waits: `tips` of old history, or `oids` of single objects."""
    try:
        with open(home.join(PENDING), encoding="utf-8") as file:
            loaded = json.load(file)
    except (OSError, ValueError, RecursionError):
        loaded = None
    lists = {key: loaded.get(key) if isinstance(loaded, dict) else None for key in ("tips", "oids")}
    return {
        k: [x for x in v if isinstance(x, str) and _OID.fullmatch(x)] if isinstance(v, list) else []
        for k, v in lists.items()
    }


def remember(home: Home, what: dict[str, list[str]]) -> None:
    """Note what waits, in place of what was noted; on the disk when this returns."""
    write_atomic(home.join(PENDING), json.dumps(what).encode(), shared=home.shared)


def doom(home: Home, tips: Sequence[str], oids: Sequence[str] = ()) -> None:
    """Add tips of old history, and single objects, to what waits.

    What is still reached then is spared, so it may be said too early.
    """
    home.make()
    waiting = pending(home)
    remember(home, {"oids": [*waiting["oids"], *oids], "tips": [*waiting["tips"], *tips]})
