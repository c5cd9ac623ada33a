"""The index keeps each text once: its size, and that it can tell all words of what it removes."""

import contextlib
import sqlite3
import time
from pathlib import Path

import pytest

from gitmem.errors import Unfinished
from gitmem.index import store_update
from gitmem.index.builder import IndexCache
from gitmem.index.reader import NAME
from gitmem.records.codec import encode
from gitmem.store import operations
from gitmem.store.layout import record_path
from gitmem.store.store import Message
from tests.benchmarks.common import records
from tests.conftest import add, edit, forget, record
from tests.index.conftest import content, rebuilt

MOST = 2.5  # of the bytes of the records


def test_size_is_in_proportion_to_the_text(indexed):
    """Built at once, and kept up by single writes, the file is small; so is what was written last."""
    made = list(records(3_100))
    puts = [operations.put(item) for item in made]
    path = Path(indexed.home.join(NAME))
    for some in (puts[:3_000], puts[3_000:]):
        with IndexCache(indexed.home) as cache:
            for put in [some] if len(some) > 100 else [[put] for put in some]:
                indexed.write(put, Message("add", "add"))
                cache.refresh({"shared": indexed})
            assert Path(f"{path}-wal").stat().st_size <= 2 * 2**20
        count = count_records(path)
        assert path.stat().st_size <= MOST * sum(len(encode(item)) for item in made[:count])


def count_records(path: Path) -> int:
    """Return how many records an index has."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT COUNT(*) FROM records").fetchone()[0]


def test_index_of_another_schema_leaves_no_room(indexed):
    """A file that an older version filled is as small as a new one."""
    indexed.write([operations.put(item) for item in records(300)], Message("import", "import"))
    path = Path(indexed.home.join(NAME))
    with IndexCache(indexed.home) as cache:
        cache.refresh({"shared": indexed})
    size = path.stat().st_size
    with IndexCache(indexed.home) as cache:
        cache.db.execute("CREATE TABLE old AS SELECT * FROM records, (SELECT 1 UNION SELECT 2)")
        cache.db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    with IndexCache(indexed.home) as cache:
        cache.refresh({"shared": indexed})
    assert path.stat().st_size <= 1.1 * size


def test_paths_follow_from_ids(indexed, cache):
    """The path of each kind's file is as the store has it."""
    items = [
        record("work", id="wrk-epic-one"),
        record("dna", id="dna-code"),
        *(record(kind) for kind in ("memory", "gotcha", "session", "snapshot", "event")),
    ]
    indexed.write([operations.put(item) for item in items], Message("add", "add"))
    cache.refresh({"shared": indexed})
    rows = {row["id"]: row["path"] for row in cache.index().rows()}
    assert {item.id: record_path(item.id) for item in items} == rows


@pytest.mark.parametrize("seed", range(4))
def test_stopped_updates_leave_no_word_behind(indexed, cache, tmp_path, monkeypatch, seed):
    """An update that is stopped after each step, while records change, ends as one that was not."""
    monkeypatch.setattr(store_update, "BULK", 3)
    monkeypatch.setattr(store_update, "STEP", 0.0)
    live = []
    for number in range(12):
        at = f"2026-01-01T00:00:{(number * 7 + seed) % 60:02d}Z"
        links = [live[-1].id] if live and number % 3 == 0 else []
        live.append(
            add(indexed, record(title=f"t{number} FooBar", session="s", created=at, links=links))
        )
    cache.refresh({"shared": indexed})
    for turn in range(6):
        for number in range(5):
            at = (turn * 5 + number * 3 + seed) % len(live)
            if number == 4:
                forget(indexed, live.pop(at).id)
            else:
                live[at] = edit(indexed, live[at], title=f"u{turn} {number} YzName")
        live.append(
            add(indexed, record(title=f"n{turn}", session="s", created="2026-01-01T00:00:31Z"))
        )
        for _ in range(turn + seed):
            try:
                cache.refresh({"shared": indexed}, until=time.monotonic(), defers=bool(seed % 2))
            except Unfinished:
                continue
            break
    cache.refresh({"shared": indexed})
    cache.settle({"shared": indexed})
    assert rebuilt(indexed, tmp_path) == content(cache.db)
