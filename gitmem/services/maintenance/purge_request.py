"""What a user asks to purge.

This covers which records are meant, and whether a text may be masked everywhere.
"""

import re
from collections.abc import Sequence

from gitmem.errors import UnknownId, UserError
from gitmem.records.kinds import is_long_enough, short_id
from gitmem.services.records import history
from gitmem.store.history.propagate import purged_ids
from gitmem.store.history.redact import MASK, SHORTEST, Mask
from gitmem.store.layout import id_of_path
from gitmem.store.store import Store

_LETTER = re.compile(r"[^\W_]")


def check_texts(texts: Sequence[str]) -> None:
    """Raise UserError for a text that would tear holes into everything."""
    for text in texts:
        if len(text.strip()) < SHORTEST:
            raise UserError(
                "the text is too short: it would tear holes into everything.",
                "Give at least four characters.",
            )
        if not _LETTER.search(text):
            raise UserError(
                "the text has neither letters nor digits: it would tear holes into everything.",
                "Give more of the text around it.",
            )
        if text in MASK:
            raise UserError(
                f"the text is a part of {MASK}, which takes the place of what is removed.",
                "Give more of it.",
            )


def is_named(given: str, id: str) -> bool:
    """Say whether what a user gave names an id."""
    low = given.lower()
    if id == low:
        return True
    return is_long_enough(low) and (
        id.startswith(low)
        or id[4:].startswith(low)
        or short_id(id).startswith(low)
        or id.endswith(low)
    )


def find_ids(store: Store, given: Sequence[str]) -> list[str]:
    """Return the full ids, of today and of the past, that a user means.

    Raises UnknownId for more than one.
    """
    tip = store.tip()
    if not given or tip is None:
        return []
    ids = {id for path, _ in store.entries() if (id := id_of_path(path))}
    ids |= {*history.removed_ids(store), *purged_ids(store.objects, tip)}
    out: list[str] = []
    for text in given:
        matches = [id for id in ids if is_named(text, id)]
        if len(matches) > 1:
            raise UnknownId(
                f"{len(matches)} records match '{text}'.",
                "Give more characters: " + " | ".join(sorted(matches)[:4]),
            )
        out += matches
    return out


def count_places(store: Store, mask: Mask) -> int:
    """Return how many of a store's files hold one of the texts today."""
    oids = [entry.oid for _, entry in store.entries()]
    return sum(1 for _, data in store.objects.read_many(oids) if mask.holds(data))
