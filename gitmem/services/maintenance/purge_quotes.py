"""What still quotes a record that was purged: other records, their history, our own files.

A record is removed by its id; what was copied out of it has another one.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from gitmem.errors import GitmemError, MissingObject
from gitmem.git.objects_cli import CliObjects
from gitmem.git.process import Git
from gitmem.records.codec import LARGE_LIMIT
from gitmem.records.record import Record
from gitmem.services.maintenance.purge_places import HELD, PurgePlace
from gitmem.services.records import history
from gitmem.store.history.redact import Mask
from gitmem.store.layout import id_of_path
from gitmem.store.store import Store
from gitmem.text.plural import noun_of

TITLE_WORDS, LINE_WORDS = 2, 3  # a shorter text is anybody's
LEAST = 8  # characters
MOST = 50  # lines of a record that are looked for
NAMED = 4
HOW = "Remove the words too; this asks for them: git mem forget --purge --text -"


def records_of(store: Store, ids: Sequence[str]) -> list[Record]:
    """Return records as they are, or were last, before they are purged."""
    out = []
    for id in ids:
        try:
            out.append(history.last_version(store, id))
        except GitmemError:
            continue  # purged before
    return out


def texts_of(records: Iterable[Record]) -> Iterator[str]:
    """Yield what is looked for: titles, and the lines of their texts that are long enough."""
    for record in records:
        lines = [line.strip(" -*>#`") for line in record.body.splitlines()[:MOST]]
        rows = [(record.title, TITLE_WORDS), *((line, LINE_WORDS) for line in lines)]
        for text, words in rows:
            if len(text) >= LEAST and len(text.split()) >= words:
                yield text


def quoting(store: Store, git: Git, scope: str, mask: Mask) -> Iterator[PurgePlace]:
    """Yield a place for what in a store, now or in its history, still has one of the texts."""
    here = [
        id_of_path(path) or path
        for path, entry in store.entries()
        if mask.holds(store.objects.read_small(entry.oid, LARGE_LIMIT) or b"")
    ]
    past = sum(1 for data in _history(store, git) if mask.holds(data))
    if here:
        more = " …" if len(here) > NAMED else ""
        quotes = noun_of(len(here), "record quotes it", "records quote it")
        named = f"{quotes}: {', '.join(here[:NAMED])}{more}"
        yield PurgePlace(f"{scope} records", HELD, len(here), f"{named}. {HOW}")
    elif past:
        quotes = noun_of(past, "object quotes", "objects quote")
        yield PurgePlace(f"{scope} history", HELD, past, f"{quotes} it. {HOW}")


def _history(store: Store, git: Git) -> Iterator[bytes]:
    tip = store.tip()
    if tip is None:
        return
    listed = git.run("rev-list", "--objects", tip, timeout=600)
    with contextlib.closing(CliObjects(git)) as objects:
        for line in listed.splitlines():
            with contextlib.suppress(MissingObject):
                yield objects.read_small(line.partition(b" ")[0].decode(), LARGE_LIMIT) or b""
