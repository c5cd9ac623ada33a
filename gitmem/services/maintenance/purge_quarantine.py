"""Records in the quarantine: what they are called, and how one comes back."""

from collections.abc import Iterator

from gitmem.errors import InvalidRecord, UnknownId
from gitmem.records.codec import sane
from gitmem.records.record import Record
from gitmem.repo.location import Home
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.store import operations, quarantine
from gitmem.store.quarantine import Kept
from gitmem.store.store import Store


def titled(home: Home) -> Iterator[tuple[Kept, str]]:
    """Yield what is kept with its title."""
    for row in quarantine.kept(home):
        record = sane(_bytes(row), row.id)
        yield row, record.title if isinstance(record, Record) else "(damaged)"


def bring_back(store: Store, who: Writer, home: Home, row: Kept) -> str:
    """Give the store a record as it was before the purge; return its title.

    Raises InvalidRecord.
    """
    record = sane(_bytes(row), row.id)
    if not isinstance(record, Record):
        raise InvalidRecord(
            f"{row.id} in the quarantine is damaged: {record}",
            f"Look at it: {home.join(quarantine.FOLDER)}",
        )
    try:
        current = store.get(row.id).record
    except UnknownId:
        return write.restore(store, who, record).after.title
    back = record.touched(who.clock.stamp())
    store.write([operations.put(back, base=current)], who.message(back, "restore"))
    return back.title


def _bytes(row: Kept) -> bytes:
    return row.data.encode("utf-8", "surrogateescape")
