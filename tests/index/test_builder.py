"""The index is a cache: refreshed it says what a fresh one says, and it may be lost, damaged or of another time."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from gitmem.errors import Busy
from gitmem.index.builder import IndexCache
from gitmem.index.contexts import MOST_DUE, Contexts
from gitmem.index.fresh import FreshIndex
from gitmem.index.reader import NAME, SCHEMA, Index, open_index
from gitmem.index.store_update import BULK
from gitmem.repo.location import Home
from gitmem.store import operations
from gitmem.store.layout import record_path, usage_path
from gitmem.store.purge import purge
from gitmem.store.store import Message
from tests.conftest import (
    CLOCK,
    add,
    build_repo,
    edit,
    forget,
    git,
    git_of,
    listed,
    new_store,
    record,
)
from tests.index.conftest import content, rebuilt

HERE = str(Path(__file__).parents[2])


def write(store, *todo) -> None:
    store.write(list(todo), Message("change", "change"))


def ids(cache: IndexCache) -> set[str]:
    return {row["id"] for row in cache.index().rows()}


# -- refresh


def test_each_kind_of_change_is_followed(indexed, cache, tmp_path):
    """After an addition, an edit, a removal, reads, a damaged file and its repair the index says what a fresh one says."""
    one, two = (
        add(indexed, record(tags=["a"], anchors=[{"path": "a.py"}])),
        add(indexed, record("gotcha", links=["x"])),
    )
    steps = [
        lambda: edit(
            indexed, one, title="changed", tags=["b"], anchors=[{"path": "b.py"}], links=[two.id]
        ),
        lambda: write(
            indexed,
            operations.count_reads(
                usage_path("r", "aa"), {one.id: {"n": 2, "last": "2026-01-01T00:00:00Z"}}
            ),
        ),
        lambda: write(
            indexed,
            operations.count_reads(
                usage_path("r", "aa"), {one.id: {"n": 3, "last": "2026-01-02T00:00:00Z"}}
            ),
        ),
        lambda: write(indexed, operations.write_file(record_path(two.id), "<<<<<<< ours\n")),
        lambda: write(indexed, operations.write_file("memories/notes.txt", "not a record")),
        lambda: write(indexed, operations.write_file(record_path(two.id), None)),
        lambda: write(indexed, operations.put(two)),
        lambda: write(indexed, operations.write_file(usage_path("r", "aa"), None)),
        lambda: forget(indexed, one.id),
    ]
    for step in steps:
        cache.refresh({"shared": indexed})
        step()
        assert cache.refresh({"shared": indexed}) > 0
        assert rebuilt(indexed, tmp_path) == content(cache.db)


def test_nothing_to_do_costs_no_look(indexed, cache):
    """An index at the tip looks at no file."""
    add(indexed)
    cache.refresh({"shared": indexed})
    assert 0 == cache.refresh({"shared": indexed})


def steps_of_one_usage_file(indexed, cache, replicas: int) -> int:
    """Return the steps that SQLite takes for one changed usage file beside those of other replicas."""
    row = {"n": 1, "last": "2026-01-01T00:00:00Z"}
    counted = [record().id for _ in range(20)]
    files = [usage_path(f"r{n}", "aa") for n in range(replicas)]
    rows = [{id: {**row, "n": n + 1} for id in counted} for n in range(replicas)]
    write(indexed, *map(operations.count_reads, files, rows))
    cache.refresh({"shared": indexed})
    write(indexed, operations.count_reads(files[0], {counted[0]: row}))
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    cache.db.set_progress_handler(step, 1)
    cache.refresh({"shared": indexed})
    cache.db.set_progress_handler(None, 1)
    return steps


def test_a_usage_file_costs_no_look_at_the_others(indexed, cache):
    """What one replica read is brought up to date in as many steps beside two others as beside a hundred."""
    few = steps_of_one_usage_file(indexed, cache, 3)
    assert steps_of_one_usage_file(indexed, cache, 100) < 2 * few


def test_cost_follows_the_change(indexed, cache):
    """One more record in a store of many is one file looked at."""
    write(indexed, *[operations.put(record(title=str(n))) for n in range(120)])
    cache.refresh({"shared": indexed})
    add(indexed)
    assert 1 == cache.refresh({"shared": indexed})


def test_store_that_vanished_loses_its_rows(indexed, cache, repo):
    """A wiped store leaves nothing in the index."""
    add(indexed, record(anchors=[{"path": "a"}]))
    cache.refresh({"shared": indexed})
    git(repo, "update-ref", "-d", indexed.ref)
    cache.refresh({"shared": indexed})
    assert {key: [] for key in content(cache.db)} == content(cache.db)


def test_rewritten_history_is_followed(indexed, cache, repo, tmp_path):
    """A ref that was moved back, or to an unrelated commit, is indexed right."""
    add(indexed)
    old = indexed.tip()
    add(indexed)
    cache.refresh({"shared": indexed})
    git(repo, "update-ref", indexed.ref, old)
    cache.refresh({"shared": indexed})
    assert rebuilt(indexed, tmp_path) == content(cache.db)


def test_commit_that_is_gone_is_no_obstacle(indexed, cache, repo, tmp_path):
    """The commit that the index was built at may have been purged: it is built anew."""
    add(indexed)
    cache.refresh({"shared": indexed})
    cache.db.execute("UPDATE tips SET tip = ?", ("0" * 39 + "1",))
    add(indexed)
    cache.refresh({"shared": indexed})
    assert rebuilt(indexed, tmp_path) == content(cache.db)


def test_two_stores_do_not_mix(indexed, cache, repo, open_store, tmp_path):
    """The same id in the shared and the private store is two rows; one store's refresh leaves the other's."""
    private = open_store(repo, ref="refs/gitmem/local/main")
    item = add(indexed)
    add(private, item.change(title="mine"))
    stores = {"shared": indexed, "private": private}
    cache.refresh(stores)
    edit(private, private.get(item.id).record, title="mine again")
    cache.refresh(stores)
    assert {("shared", "A title"), ("private", "mine again")} == {
        (r["store"], r["title"]) for r in cache.index().rows()
    }
    assert rebuilt(indexed, tmp_path, private=private) == content(cache.db)


@pytest.mark.parametrize("purged", [False, True])
def test_words_of_what_is_gone_leave_the_neighbours_in_both_stores(
    indexed, cache, repo, open_store, tmp_path, purged
):
    """A record that is in two stores has the words of a neighbour in neither once that is forgotten."""
    private = open_store(repo, ref="refs/gitmem/local/main")
    first, middle, last = (
        record(title=title, session="s", created=f"2026-01-01T00:00:0{n}Z")
        for n, title in enumerate(("zebrasecret alpha", "middle", "last"))
    )
    write(private, *map(operations.put, (first, middle, last)))
    add(indexed, last)
    stores = {"shared": indexed, "private": private}
    cache.refresh(stores)
    forget(private, first.id)
    if purged:
        purge(private, git_of(repo), [first.id], None)
    cache.refresh(stores, defers=True)
    cache.settle(stores)
    assert [] == cache.index().search("zebrasecret")
    sql = "SELECT rowid FROM words WHERE words MATCH 'zebrasecret'"
    assert [] == cache.db.execute(sql).fetchall()
    assert rebuilt(indexed, tmp_path, private=private) == content(cache.db)
    edit(indexed, last, title="changed")
    cache.refresh(stores)
    assert rebuilt(indexed, tmp_path, private=private) == content(cache.db)


def test_bulk_and_single_refresh_say_the_same(indexed, cache, tmp_path):
    """Many records indexed in two passes have the same words and neighbours as one by one."""
    many = [
        record(
            title=f"t{n} CamelCaseName",
            body=f"body {n}\n",
            session=f"s{n % 7}",
            created=f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}Z",
        )
        for n in range(BULK + 60)
    ]
    for start in range(0, len(many), 60):
        write(indexed, *[operations.put(r) for r in many[start : start + 60]])
        cache.refresh({"shared": indexed})
    assert rebuilt(indexed, tmp_path) == content(cache.db)


class Machine(RuleBasedStateMachine):
    """Any operations, with refreshes in between: the index always equals one built from nothing."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.stack = contextlib.ExitStack()
        root = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        path = build_repo("plain", root, lambda *_: None)
        self.store = new_store(path)
        self.stack.callback(self.store.objects.close)
        self.private = new_store(path, ref="refs/gitmem/local/main")
        self.stack.callback(self.private.objects.close)
        self.stores = {"shared": self.store, "private": self.private}
        self.path = path
        self.folder = root / "fresh"
        self.folder.mkdir()
        self.cache = self.stack.enter_context(IndexCache(self.store.home))
        self.live: dict[str, object] = {}

    def teardown(self) -> None:
        self.stack.close()

    @initialize(target=made)
    def first(self):
        item = add(self.store)
        self.live[item.id] = item
        return item.id

    @rule(
        target=made,
        second=st.integers(0, 1200),
        session=st.sampled_from(["", "s", "t"]),
        title=st.sampled_from(["pool", "FooBar baz", "漢字 test", "é"]),
        kind=st.sampled_from(["memory", "gotcha", "event"]),
        other=made,
    )
    def new(self, second, session, title, kind, other):
        fields = (
            {} if kind == "event" else {"anchors": [{"path": f"{title}.py"}], "supersedes": [other]}
        )
        at = f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}Z"
        item = add(
            self.store,
            record(
                kind,
                title,
                f"{title} body\n",
                created=at,
                session=session or None,
                links=[other],
                **fields,
            ),
        )
        self.live[item.id] = item
        return item.id

    @rule(
        id=made,
        title=st.sampled_from(["x", "YzName w"]),
        links=st.lists(made, max_size=2),
        session=st.sampled_from([None, "s", "u"]),
    )
    def change(self, id, title, links, session):
        if id in self.live:
            self.live[id] = edit(
                self.store, self.live[id], title=title, links=links, session=session
            )

    @rule(id=made)
    def remove(self, id):
        if self.live.pop(id, None):
            forget(self.store, id)

    @rule(id=made)
    def purge(self, id):
        if self.live.pop(id, None):
            forget(self.store, id, purged=True)
            purge(self.store, git_of(self.path), [id], None)

    @rule(id=made, title=st.sampled_from([None, "mine"]))
    def add_to_private(self, id, title):
        item = self.live.get(id)
        if item and id not in listed(self.private):
            item = item.change(title=title) if title else item
            write(self.private, operations.put(item, revive=True))

    @rule(id=made)
    def remove_from_private(self, id):
        if id in listed(self.private):
            forget(self.private, id)

    @rule(id=made)
    def damage(self, id):
        if self.live.pop(id, None):
            write(self.store, operations.write_file(record_path(id), "damaged"))

    @rule(id=made, n=st.integers(1, 3))
    def read(self, id, n):
        write(
            self.store,
            operations.count_reads(usage_path("r", id[-2:]), {id: {"n": n, "last": CLOCK.stamp()}}),
        )

    @rule()
    def refresh(self):
        self.cache.refresh(self.stores, defers=True)

    @rule()
    def settle(self):
        self.cache.settle(self.stores)

    @invariant()
    def same_as_fresh(self):
        if self.cache.refresh(self.stores):
            assert rebuilt(self.store, self.folder, private=self.private) == content(self.cache.db)


Machine.TestCase.settings = settings(
    max_examples=15, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
TestRefreshEqualsRebuild = Machine.TestCase


# -- a file that is lost, damaged, or of another time


def fill(indexed) -> str:
    with IndexCache(indexed.home) as cache:
        item = add(indexed)
        cache.refresh({"shared": indexed})
        return item.id


def test_missing_file_is_built_again(indexed):
    """The file may be deleted at any time."""
    id = fill(indexed)
    os.unlink(indexed.home.join(NAME))
    assert open_index(indexed.home.join(NAME)) is None
    with IndexCache(indexed.home) as cache:
        cache.refresh({"shared": indexed})
        assert {id} == ids(cache)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("how", ["random", "empty", "cut", "text", "header only", "holes"])
def test_damaged_file_is_built_again(indexed, how, suffix):
    """Whatever is in the file or beside it, the next refresh has the right rows, and reading never fails."""
    write(indexed, *[operations.put(record(title=f"t{n}", body="words " * 50)) for n in range(60)])
    id = fill(indexed)
    path = Path(indexed.home.join(NAME) + suffix)
    data = path.read_bytes() if path.exists() else b""
    rng = random.Random(how + suffix)
    broken = {
        "random": rng.randbytes(9000),
        "empty": b"",
        "cut": data[: len(data) // 2],
        "text": b"not a database\n" * 50,
        "header only": data[:100],
        "holes": b"".join(
            data[n : n + 512] if rng.random() < 0.7 else rng.randbytes(512)
            for n in range(0, len(data), 512)
        ),
    }
    path.write_bytes(broken[how])
    found = open_index(indexed.home.join(NAME))
    if found is not None:
        with contextlib.suppress(sqlite3.DatabaseError):
            found.search("words")
        found.db.close()
    add(indexed)
    for _ in range(2):
        with IndexCache(indexed.home) as cache:
            cache.refresh({"shared": indexed})
            if (
                how == "holes"
                and cache.db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok"
            ):
                cache.rebuild({"shared": indexed})
            assert not cache.in_memory
            assert id in ids(cache)
            assert 62 == len(ids(cache))


@pytest.mark.parametrize("schema", [str(SCHEMA - 1), str(SCHEMA + 1), "99", "x", None])
def test_other_schema_is_built_again(indexed, schema):
    """An index of an older or newer version is not read; it is made anew, other tables and all."""
    id = fill(indexed)
    db = sqlite3.connect(indexed.home.join(NAME))
    if schema is None:
        db.execute("DELETE FROM meta")
    else:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (schema,))
    db.execute("ALTER TABLE records ADD COLUMN from_the_future TEXT")
    db.execute("CREATE TABLE more (a)")
    db.execute("CREATE VIEW seen AS SELECT id FROM records")
    db.commit()
    db.close()
    assert open_index(indexed.home.join(NAME)) is None
    with IndexCache(indexed.home) as cache:
        assert {} == cache.index().tips()
        cache.refresh({"shared": indexed})
        assert {id} == ids(cache)
        assert (
            []
            == cache.db.execute(
                "SELECT name FROM sqlite_master WHERE name IN ('more', 'seen')"
            ).fetchall()
        )


# run apart, so that a loop without an end is an error and not a test that hangs
UPGRADE = """
import contextlib, os, sqlite3, sys
from gitmem.index.builder import IndexCache
from tests.conftest import new_store
store = new_store(sys.argv[1])
path = store.home.join("index.db")
with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
    if sys.argv[2] == "read":
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM records").fetchone()
    with IndexCache(store.home) as cache:
        cache.refresh({"shared": store})
        free, gives = (cache.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "auto_vacuum"))
        print(len(cache.index().rows()), free > 0, gives)
"""


def upgrade(repo: Path, how: str) -> str:
    """Return what the first command with an index tells: records, whether room is free, and whether it is given back."""
    command = [sys.executable, "-c", UPGRADE, str(repo), how]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=60)
    assert "" == done.stderr
    return done.stdout.strip()


def keep_free_room(path: str) -> None:
    """Have a database keep its free room, and make some."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute("VACUUM")
        db.execute("CREATE TABLE more (a)")
        db.executemany("INSERT INTO more VALUES (?)", [("x" * 4000,)] * 3000)
        db.execute("DELETE FROM more")
        assert 0 == db.execute("PRAGMA auto_vacuum").fetchone()[0]
        assert db.execute("PRAGMA freelist_count").fetchone()[0] > 1000


@pytest.mark.parametrize("how", ["alone", "read"])
def test_older_file_that_keeps_its_free_room_is_built_again(indexed, repo, how):
    """An index made when files kept their free room is made anew, also while another process reads it."""
    fill(indexed)
    write(indexed, *[operations.put(record(title=f"t{n}")) for n in range(1200)])
    path = indexed.home.join(NAME)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(SCHEMA - 1),))
        db.commit()
    keep_free_room(path)
    assert "1201 False 2" == upgrade(repo, how)


def test_update_of_a_file_that_keeps_its_free_room_ends(indexed, repo):
    """Many new records are indexed in a file that gives no room back."""
    fill(indexed)
    keep_free_room(indexed.home.join(NAME))
    write(indexed, *[operations.put(record(title=f"t{n}")) for n in range(1200)])
    assert "1201 True 0" == upgrade(repo, "alone")


def test_damage_that_shows_late_is_healed(indexed):
    """A file whose damage shows only while refreshing is thrown away and built from git."""
    write(indexed, *[operations.put(record(title=f"t{n}", body="words " * 80)) for n in range(200)])
    fill(indexed)
    path = Path(indexed.home.join(NAME))
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = db.execute("PRAGMA page_size").fetchone()[0]
        root = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'records_session'"
        ).fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(root - 1) * page : root * page] = b"\xee" * page
    path.write_bytes(data)
    add(indexed)
    with IndexCache(indexed.home) as cache:
        cache.refresh({"shared": indexed})
        assert 202 == len(ids(cache))
        assert "ok" == cache.db.execute("PRAGMA integrity_check").fetchone()[0]


def test_folder_that_cannot_be_written(indexed, tmp_path):
    """On a read-only disk the index is made in memory and answers all the same."""
    id = add(indexed).id
    (tmp_path / "gitmem").write_text("a file where the folder should be")
    with IndexCache(Home(str(tmp_path / "gitmem"))) as cache:
        cache.refresh({"shared": indexed})
        assert (True, {id}) == (cache.in_memory, ids(cache))


def test_path_with_odd_characters(indexed, tmp_path):
    """Characters that mean something in a URL mean nothing in the path of the index."""
    home = Home(str(tmp_path / "a?b#c%20d&mode=memory é" / "gitmem"))
    id = add(indexed).id
    with IndexCache(home) as cache:
        cache.refresh({"shared": indexed})
    found = open_index(home.join(NAME))
    assert found is not None
    assert {id} == {row["id"] for row in found.rows()}
    found.db.close()


@pytest.mark.parametrize("data", [b"", b"x" * 5000, b"SQLite format 3\0" + b"\0" * 84])
def test_opening_for_reading_never_fails(tmp_path, data):
    """Hooks get None for a file that is not an index of ours."""
    path = tmp_path / "index.db"
    assert open_index(str(path)) is None
    path.write_bytes(data)
    assert open_index(str(path)) is None
    assert data == path.read_bytes()


def test_reader_cannot_write(indexed):
    """An index opened for reading refuses to change."""
    fill(indexed)
    found = open_index(indexed.home.join(NAME))
    assert found is not None
    with pytest.raises(sqlite3.OperationalError):
        found.db.execute("DELETE FROM records")
    found.db.close()


def test_rebuilding_repairs_what_is_wrong(indexed, cache, tmp_path):
    """Building anew drops rows that do not belong there."""
    add(indexed)
    cache.refresh({"shared": indexed})
    cache.db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    cache.db.execute("UPDATE records SET title = 'wrong'")
    cache.rebuild({"shared": indexed})
    assert rebuilt(indexed, tmp_path) == content(cache.db)


# -- many at once


WORKER = """
import sys
sys.path.insert(0, {here!r})
from gitmem.index.builder import IndexCache
from gitmem.index.reader import open_index
from tests.conftest import add, new_store, record
store = new_store(sys.argv[1])
for n in range(5):
    add(store, record(title=f"p{{sys.argv[2]}} n{{n}}"))
    with IndexCache(store.home) as cache:
        cache.refresh({{"shared": store}})
        assert not cache.in_memory
    found = open_index(store.home.join("index.db"))
    assert found is not None
    assert any(r["title"] == f"p{{sys.argv[2]}} n{{n}}" for r in found.search(f"p{{sys.argv[2]}} n{{n}}", limit=50))
    found.db.close()
store.objects.close()
"""


@pytest.mark.parametrize("before", ["missing", "random", "older"])
def test_many_processes_write_and_refresh(indexed, repo, tmp_path, before):
    """Six processes that write, refresh and search at once, on a missing or damaged index: all rows are there."""
    if before == "random":
        indexed.home.make()
        Path(indexed.home.join(NAME)).write_bytes(b"\x07" * 8192)
    elif before == "older":
        fill(indexed)
        with contextlib.closing(sqlite3.connect(indexed.home.join(NAME))) as db:
            db.execute("UPDATE meta SET value = '1'")
            db.commit()
    code = WORKER.format(here=HERE)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(repo), str(n)],
            stderr=subprocess.PIPE,
            text=True,
            cwd=HERE,
        )
        for n in range(6)
    ]
    assert [""] * 6 == [run.communicate()[1] for run in runs]
    with IndexCache(indexed.home) as cache:
        cache.refresh({"shared": indexed})
        assert 30 + (before == "older") == len(ids(cache))
        assert rebuilt(indexed, tmp_path) == content(cache.db)


OPENER = """
import sys, time
sys.path.insert(0, {here!r})
from gitmem.repo.location import Home
from gitmem.{module} import {name}
home = Home(sys.argv[1])
while time.time() < float(sys.argv[2]):
    pass
opened = {name}(home)
assert not opened.in_memory
opened.close()
"""


@pytest.mark.parametrize(
    ("module", "name"), [("index.builder", "IndexCache"), ("state.database", "State")]
)
def test_processes_that_make_a_database_at_the_same_moment_wait_for_one_another(
    tmp_path, module, name
):
    """SQLite tells a process that switches a new file to its log "locked" at once, whatever its timeout: nobody may take that for an answer."""
    code = OPENER.format(here=HERE, module=module, name=name)
    for round_ in range(6):
        home, start = str(tmp_path / str(round_)), str(time.time() + 0.5)
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", code, home, start], stderr=subprocess.PIPE, text=True
            )
            for _ in range(6)
        ]
        assert [""] * 6 == [run.communicate()[1] for run in runs]


@pytest.fixture
def fresh(indexed):
    """The index as a command has it."""
    made = FreshIndex(indexed.home, lambda: {"shared": indexed}, None)
    yield made
    made.close()


def link_to_many(store, fresh: FreshIndex) -> None:
    """Have a writer leave the contexts of many records due."""
    many = [record(title=f"t{n}") for n in range(MOST_DUE)]
    write(store, *map(operations.put, many))
    fresh.at({"shared": store.tip()})
    write(store, operations.put(record(title="zebra", links=[item.id for item in many])))


SETTLING_FAILS = pytest.mark.parametrize(
    ("error", "heals"),
    [
        (sqlite3.OperationalError("database is locked"), False),
        (sqlite3.OperationalError("database or disk is full"), False),
        (sqlite3.DatabaseError("database disk image is malformed"), True),
    ],
)


@SETTLING_FAILS
def test_writer_whose_index_cannot_be_settled_succeeds(indexed, fresh, monkeypatch, error, heals):
    """A write ends well whatever is wrong with the index; the next reader has it as it should be."""
    link_to_many(indexed, fresh)
    with monkeypatch.context() as patched:
        fail_once(patched, error)
        fresh.follow()
    assert heals is not fresh.behind
    index = fresh.at({"shared": indexed.tip()})
    assert MOST_DUE + 1 == len(index.search("zebra", limit=MOST_DUE * 2))
    assert [] == index.db.execute("SELECT n FROM due").fetchall()


@SETTLING_FAILS
def test_search_is_answered_where_the_index_cannot_be_settled(
    indexed, fresh, monkeypatch, error, heals
):
    """A search has an answer whatever is wrong with the index; a damaged one is built anew."""
    link_to_many(indexed, fresh)
    with monkeypatch.context() as patched:
        fail_once(patched, sqlite3.OperationalError("database is locked"))
        fresh.follow()
    index = fresh.at({"shared": indexed.tip()})
    with monkeypatch.context() as patched:
        fail_once(patched, error)
        assert "zebra" in {hit["title"] for hit in index.search("zebra", limit=MOST_DUE * 2)}
    assert heals is not bool(index.db.execute("SELECT n FROM due").fetchall())


def fail_once(patched: pytest.MonkeyPatch, error: Exception) -> None:
    """Have the next attempt to write contexts fail."""
    errors, settle = [error], Contexts.settle

    def settle_or_fail(self) -> bool:
        if errors:
            raise errors.pop()
        return settle(self)

    patched.setattr(Contexts, "settle", settle_or_fail)


def test_locked_index_is_told(indexed, cache, monkeypatch):
    """An index that another process holds for too long is an error with a hint, never a wrong answer."""
    add(indexed)
    with contextlib.closing(
        sqlite3.connect(indexed.home.join(NAME), isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="locked"):
            cache.refresh({"shared": indexed}, patience=0.05)
        other.execute("ROLLBACK")
    assert cache.refresh({"shared": indexed}) > 0


def test_reader_sees_whole_states(indexed, repo):
    """A reader beside a writer sees a store as it was at one commit, never half of one."""
    with IndexCache(indexed.home) as cache:
        add(indexed)
        cache.refresh({"shared": indexed})
    stop, seen = threading.Event(), []

    def read() -> None:
        found = open_index(indexed.home.join(NAME))
        assert found is not None
        while not stop.is_set():
            found.db.execute("BEGIN")
            rows = len(found.rows())
            words = found.db.execute("SELECT COUNT(*) FROM words").fetchone()[0]
            seen.append(rows == words and (rows - 1) % 10 == 0)
            found.db.execute("COMMIT")
        found.db.close()

    thread = threading.Thread(target=read)
    thread.start()
    with IndexCache(indexed.home) as cache:
        for _ in range(10):
            write(indexed, *[operations.put(record()) for _ in range(10)])
            cache.refresh({"shared": indexed})
    stop.set()
    thread.join()
    assert all(seen)
    assert [] != seen


def test_index_is_never_shared_state(indexed):
    """Two indexes on one file each see the other's refresh."""
    with IndexCache(indexed.home) as one, IndexCache(indexed.home) as two:
        id = add(indexed).id
        one.refresh({"shared": indexed})
        assert [id] == [r["id"] for r in Index(two.db).rows()]
        assert 0 == two.refresh({"shared": indexed})
