"""Writes that wait: on the disk when acknowledged, committed once, never in each other's way."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.base.files import Lock
from gitmem.base.sharing import GROUP
from gitmem.clock import Clock
from gitmem.errors import Busy, External, Moved
from gitmem.repo.location import Home
from gitmem.repo.refs import PRIVATE
from gitmem.store import journal, operations
from gitmem.store.store import Message, Store
from tests.conftest import add, forget, fsck, git, listed, new_store, record

HERE = str(Path(__file__).parents[2])


def entry(key: str, **more: object) -> dict[str, object]:
    return {
        "key": key,
        "ref": "refs/gitmem/heads/main",
        "since": None,
        "ops": [],
        "author": ["A", "a@b"],
        "at": "2026-01-01T00:00:00Z",
        "subject": "s",
        "trailers": ["add", [], "", "", []],
        **more,
    }


def wait(store: Store, item=None):
    """Write a record that finds the ref busy: it goes to the journal."""
    item = item or record()
    before, store.no_write = store.no_write, "busy"
    done = store.write([operations.put(item)], Message(f"add {item.id}", "add", (item.id,)))
    store.no_write = before
    assert (None, True) == (done.commit, done.journaled)
    return item


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "gitmem"))


# -- the files


def test_entry_comes_back_as_it_was_written(home):
    """What was put in comes out, oldest first."""
    paths = [journal.add(home, entry(key, subject=f"é {key}")) for key in ("01b", "01a", "01c")]
    got = list(journal.entries(home))
    assert paths == [path for path, _ in got]
    assert ["é 01b", "é 01a", "é 01c"] == [e["subject"] for _, e in got if e]
    assert 3 == journal.count(home)


def test_order_is_that_of_writing_whatever_the_clock(home):
    """Entries whose clock went back, by whatever number, come after those that were there; a clock that goes on takes over."""
    keys = [
        "05b",
        "05a",
        "01x",
        *(f"00{n:02d}" for n in range(30)),
        "05a",
        "04z",
        "06a",
        "05c",
        "07a",
    ]
    for number, key in enumerate(keys):
        journal.add(home, entry(key, subject=str(number)))
    assert [str(n) for n in range(len(keys))] == [
        e["subject"] for _, e in journal.entries(home) if e
    ]
    assert keys == [e["key"] for _, e in journal.entries(home) if e]
    assert all(len(os.path.basename(path)) < 60 for path, _ in journal.entries(home))


def test_writers_at_once_never_take_one_name(home):
    """Two that see the same last entry write two files."""
    journal.add(home, entry("09"))
    folder = home.join("journal")
    assert journal._name(folder, "01a") != journal._name(folder, "01b")


def test_clock_that_goes_back_does_not_turn_writes_around(store):
    """An edit and then a forgetting, an hour earlier by the clock: the record is forgotten, and nothing is set aside."""
    item = add(store)
    store.no_write = "busy"
    now = store.clock.now()
    for shift, op in (
        (0, operations.put(item.touched("2026-02-02T00:00:00Z").change(title="late"), item)),
        (-3600, operations.forget(item.id, "2026-02-02T00:00:00Z", "Ada")),
    ):
        store.clock = Clock(now=lambda at=now + shift: at)
        store.write([op], Message("x", "x"))
    store.no_write = ""
    store.drain()
    assert (set(), []) == (
        listed(store),
        [name for name in os.listdir(store.home.join("journal")) if name.endswith(".bad")],
    )


def test_empty_journal(home):
    """No folder, no entries, and reading makes none."""
    assert (0, []) == (journal.count(home), list(journal.entries(home)))
    assert not os.path.exists(home.path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"1",
        b'{"v": 1}',
        b'{"v": 2, "ops": [], "ref": "x"}',
        b'{"v": 1, "ops": {}, "ref": "x"}',
        b'{"v": 1, "ops": [], "ref": 1}',
        b"[" * 100_000,
    ],
    ids=lambda d: ascii(d[:20]),
)
def test_unreadable_entry_is_none(home, data):
    """A cut, foreign or newer file is told as None, and stays until it is set aside."""
    Path(home.make("journal"), "01a.json").write_bytes(data)
    ((path, found),) = journal.entries(home)
    assert found is None
    journal.set_aside(path)
    assert (0, data) == (journal.count(home), Path(path + ".bad").read_bytes())


def test_entry_is_there_whole_or_not_at_all(home):
    """A writer that died left a temporary file: no reader takes it for an entry."""
    journal.add(home, entry("01a"))
    Path(home.join("journal"), "01b.json.99.1.tmp").write_bytes(b'{"v": 1, "key"')
    assert [home.join("journal", "01a.json")] == [path for path, _ in journal.entries(home)]


def test_removing_twice_is_no_error(home):
    """Two drains that meet remove one entry once."""
    path = journal.add(home, entry("01a"))
    for _ in range(2):
        journal.remove(path)
        journal.set_aside(path)
    assert 0 == journal.count(home)


def test_lone_surrogates_can_wait(home):
    """Text from a hook that is not a valid Unicode is kept as far as JSON can."""
    journal.add(home, entry("01a", subject="a\udcffb"))
    ((_, found),) = journal.entries(home)
    assert found is not None
    assert found["subject"].startswith("a")


def test_group_may_write_in_a_shared_repository(tmp_path):
    """Of a group-shared repository the entries belong to the group."""
    shared = Home(str(tmp_path / "gitmem"), shared=GROUP)
    path = journal.add(shared, entry("01a"))
    assert (0o664, 0o2775) == (
        os.stat(path).st_mode & 0o777,
        os.stat(shared.join("journal")).st_mode & 0o7777,
    )


def test_disk_that_refuses_is_an_error(home):
    """What cannot reach the disk is not acknowledged."""
    home.make()
    Path(home.path, "journal").write_text("a file where the folder should be")
    with pytest.raises(External):
        journal.add(home, entry("01a"))


# -- with a store


def test_waiting_write_is_committed_by_the_next_writer(store):
    """The journal is drained before a new write, in its order."""
    waiting = [wait(store), wait(store)]
    assert None is store.tip()
    last = add(store)
    assert {i.id for i in (*waiting, last)} == listed(store)
    assert 0 == journal.count(store.home)
    order = [commit.message.split()[1] for commit in store.objects.walk([store.tip()])]
    assert [last.id, waiting[1].id, waiting[0].id] == order[:3]


def test_lock_that_is_held_sends_a_write_to_the_journal(store):
    """A writer whose patience ends is acknowledged from the journal, and nothing is lost."""
    store.create()
    store.budget = 0.05
    item = record()
    with Lock(store.home.touch("write.lock"), 1.0):
        assert store.write([operations.put(item)], Message("x", "add")).journaled
        with pytest.raises(Busy):
            store.drain()
    assert 1 == store.drain()
    assert {item.id} == listed(store)


def test_ref_that_never_holds_still_sends_a_write_to_the_journal(store, monkeypatch):
    """So is one whose every compare-and-swap fails."""
    store.create()
    store.budget = 0.05
    item = record()
    with monkeypatch.context() as patched:
        patched.setattr(
            type(store.objects), "move", lambda *_: (_ for _ in ()).throw(Moved("busy"))
        )
        assert store.write([operations.put(item)], Message("x", "add")).journaled
    assert 1 == store.drain()
    assert {item.id} == listed(store)


def test_entry_that_was_committed_is_not_committed_again(store):
    """A drain that died between the commit and the removal of the entry is finished, not repeated."""
    item = wait(store)
    ((path, _),) = journal.entries(store.home)
    data = Path(path).read_bytes()
    store.drain()
    tip = store.tip()
    Path(path).write_bytes(data)
    assert 0 == store.drain()
    assert (tip, 0, {item.id}) == (store.tip(), journal.count(store.home), listed(store))


def test_hits_counted_in_an_entry_are_counted_once(store):
    """Neither are counts added twice."""
    item = add(store, record("gotcha", occurrences=1))
    store.no_write = "busy"
    store.write([operations.observe(item, 3, "2026-02-02T00:00:00Z")], Message("hit", "hit"))
    store.no_write = ""
    ((path, _),) = journal.entries(store.home)
    data = Path(path).read_bytes()
    store.drain()
    add(store)
    Path(path).write_bytes(data)
    store.drain()
    assert 4 == store.get(item.id).record.get("occurrences")


def test_bad_entry_does_not_block_the_others(store):
    """An entry that makes no sense is set aside, whole; the rest is committed."""
    bad = entry("00000000000000000000000000", ops=[{"op": "from the future"}])
    journal.add(store.home, bad)
    journal.add(store.home, entry("00000000000000000000000001", ops=[{"op": "put"}]))
    journal.add(store.home, entry("00000000000000000000000002", ops=[1]))
    journal.add(
        store.home,
        {
            k: v
            for k, v in entry(
                "00000000000000000000000003", ops=[{"op": "collect", "id": "x"}]
            ).items()
            if k != "trailers"
        },
    )
    Path(store.home.join("journal"), "00000000000000000000000004.json").write_bytes(b"{")
    before = wait(store)
    store.drain()
    assert {before.id} == listed(store)
    aside = sorted(p for p in os.listdir(store.home.join("journal")))
    assert [f"0000000000000000000000000{n}.json.bad" for n in range(5)] == aside
    assert bad["ops"] == json.loads(Path(store.home.join("journal", aside[0])).read_text())["ops"]


def test_entry_for_a_forgotten_record_is_set_aside(store):
    """A waiting edit of what was forgotten meanwhile cannot be committed; it is kept."""
    item = add(store)
    store.no_write = "busy"
    store.write(
        [operations.put(item.touched("2026-02-02T00:00:00Z").change(title="late"), item)],
        Message("edit", "edit"),
    )
    store.no_write = ""
    ((path, _),) = journal.entries(store.home)
    os.rename(path, path + ".later")
    forget(store, item.id)
    os.rename(path + ".later", path)
    store.drain()
    assert (set(), 0) == (listed(store), journal.count(store.home))
    assert "late" in Path(path + ".bad").read_text()


def test_entry_of_another_store_waits_for_it(store, repo, open_store):
    """What was meant for the private store is not committed to the shared one."""
    private = open_store(repo, store.objects.traits.name, ref=PRIVATE)
    item = wait(private)
    add(store)
    assert (1, set()) == (journal.count(store.home), listed(private))
    assert 1 == private.drain()
    assert {item.id} == listed(private)
    assert item.id not in listed(store)


def test_author_and_time_of_the_write_are_kept(store, repo):
    """The commit that comes later carries who wrote and when."""
    store.author = ("Grace", "grace@example.org")
    item = wait(store)
    store.author = ("Other", "other@example.org")
    store.drain()
    assert ["Grace", "grace@example.org"] == git(
        repo, "log", "-1", "--format=%an%n%ae", store.ref
    ).split("\n")
    assert item.created <= git(
        repo, "log", "-1", "--format=%ad", "--date=format:%Y-%m-%dT%H:%M:%SZ", store.ref
    )


def test_damaged_store_keeps_its_journal(store, repo):
    """Entries wait when the store cannot be read; they are not at fault."""
    item = wait(store)
    store.objects.move(store.ref, None, git(repo, "rev-parse", "HEAD"), "not a store")
    with pytest.raises(Exception, match="does not hold a gitmem store"):
        store.drain()
    assert 1 == journal.count(store.home)
    git(repo, "update-ref", "-d", store.ref)
    store.drain()
    assert {item.id} == listed(store)


def _drain(path: str) -> None:
    one = new_store(path)
    one.drain()
    one.objects.close()


def test_many_drains_at_once_commit_each_entry_once(repo: Path, open_store: Callable[..., Store]):
    """Six processes that drain one journal make each commit once."""
    store = open_store(repo)
    items = [wait(store) for _ in range(12)]
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_drain, args=(str(repo),)) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [0] * 6 == [worker.exitcode for worker in workers]
    keys = [
        line
        for line in git(repo, "log", "--format=%B", store.ref).split("\n")
        if line.startswith("Gitmem-Key")
    ]
    assert (12, 12, {i.id for i in items}) == (len(keys), len(set(keys)), listed(store))
    assert "" == fsck(repo)


def test_journal_needs_the_standard_library_alone():
    """A hook pays for nothing heavy."""
    code = "import sys, gitmem.store.journal; print(sorted({'click', 'pygit2', 'yaml', 'dataclasses', 'subprocess', 'typing'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {HERE!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[]" == done.stdout.strip()
