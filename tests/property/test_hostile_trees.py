"""A store's tree may come from anybody: no name, mode or size crashes, loses a record, or leads out of the repository."""

import gc
import os
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.clock import Clock
from gitmem.errors import GitmemError
from gitmem.git.object_codec import object_id, ordered_tree, parse_tree
from gitmem.git.objects import Draft, Identity, TreeEntry, diff, files
from gitmem.index.builder import IndexCache
from gitmem.records.codec import encode
from gitmem.services.records import history
from gitmem.services.records.revert import revert
from gitmem.services.records.undo import CommandCommits
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.history.redact import Mask
from gitmem.store.layout import FORMAT_BYTES, FORMAT_PATH, id_of_path, record_path, safe_path
from gitmem.store.purge import purge
from gitmem.store.reader import Damaged, Stored
from gitmem.store.store import Message, Store
from gitmem.store.sync import sync
from gitmem.store.tree_merge import merge_commits, root_draft
from tests.conftest import build_repo, fsck, git, git_of, new_store, record, remote_of
from tests.scale import scaled

WHO = Identity("Mallory", "m@example.org", 1_700_000_000)
GOOD = record(id="mem-01arz3ndektsv4rrffq69g5f1v", title="good")
MINE = record(id="mem-01bx5zzkbkactav9wevgemmvrz", title="mine")
SHARD = record_path(GOOD.id).split("/")[1]

NAMES = [
    b"..",
    b".",
    b".git",
    b".GIT",
    b".Git",
    b"git~1",
    b".git ",
    b".git.",
    b"../../evil",
    b"/etc/passwd",
    b"a/b",
    b"/",
    b"//",
    b"C:\\x",
    b"..\\..\\x",
    b"con",
    b"a:b",
    b"a\nb",
    b"a\tb",
    b"\x01",
    b"\x7f",
    b"\x1b[31m",
    b"\xff\xfe",
    b"\xc3",
    b"\xed\xa0\x80",
    "\u202e".encode(),
    "é".encode(),
    "e\u0301".encode(),
    b"-x",
    b"--help",
    b" ",
    b"x ",
    b"x.",
    b"*",
    b"?",
    b'"',
    b"'",
    b"$(touch x)",
    b"`touch x`",
    b"%00",
    b"x" * 200,
    b"x" * 255,
    b"x" * 5000,
    b"memories",
    b"gitmem.json",
    b"attic",
    b"usage",
    b"tombstones",
    GOOD.id.encode(),
    GOOD.id.encode() + b".md",
    GOOD.id.encode() + b".MD",
    SHARD.encode(),
    b"purges.jsonl",
    b"0" * 40,
]
MODES = (0o100644, 0o100755, 0o120000, 0o160000, 0o040000, 0o100600, 0o100664, 0o777, 0)
HUGE = b"huge"  # stands for 300 kB, so that a failure can be printed
names = st.sampled_from(NAMES) | st.binary(min_size=1, max_size=20).filter(lambda b: b"\0" not in b)
contents = st.sampled_from(
    [
        b"",
        b"payload",
        b"\xff" * 50,
        encode(GOOD),
        encode(MINE),
        FORMAT_BYTES,
        b'{"format": 99}',
        b"---\n" + b"[" * 5000,
        b"/etc/passwd",
        HUGE,
    ]
) | st.binary(max_size=60)
leaves = st.tuples(st.sampled_from(MODES), contents)
trees = st.recursive(leaves, lambda inner: st.dictionaries(names, inner, max_size=4), max_leaves=10)
roots = st.dictionaries(
    st.sampled_from([b"memories", b"gotchas", b"attic", b"usage", b"tombstones", b"work", b"other"])
    | names,
    trees,
    max_size=5,
)


class Forge:
    """Makes any tree, as an attacker can: no check of git's is asked."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.raws: list[tuple[str, str, bytes]] = []

    def made(self, kind: str, data: bytes) -> str:
        oid = object_id(kind, data, "sha1")
        self.raws.append((oid, kind, data))
        return oid

    def tree(self, rows: dict[bytes, object]) -> str:
        out = []
        for name, value in rows.items():
            if isinstance(value, dict):
                out.append((name, 0o040000, self.tree(value)))
            else:
                mode, data = value
                oid = (
                    self.tree({})
                    if mode == 0o040000
                    else "1" * 40
                    if mode == 0o160000
                    else self.made("blob", data * (75_000 if data == HUGE else 1))
                )
                out.append((name, mode, oid))
        raw = b"".join(
            b"%o %s\0%s" % (mode, name, bytes.fromhex(oid)) for name, mode, oid in sorted(out)
        )
        return self.made("tree", raw)

    def commit(self, rows: dict[bytes, object], parent: str) -> str:
        tree = self.tree({**rows, FORMAT_PATH.encode(): (0o100644, FORMAT_BYTES)})
        data = f"tree {tree}\nparent {parent}\nauthor M <m@x> 1700000000 +0000\ncommitter M <m@x> 1700000000 +0000\n\nevil\n".encode()
        oid = self.made("commit", data)
        self.store.objects.store(self.raws)
        self.raws = []
        return oid


def with_good(rows: dict[bytes, object]) -> dict[bytes, object]:
    """Put a sound record into a hostile tree, where nothing of the tree's own is in its way."""
    folder = rows.get(b"memories")
    folder = dict(folder) if isinstance(folder, dict) else {}
    shard = folder.get(SHARD.encode())
    shard = dict(shard) if isinstance(shard, dict) else {}
    shard[f"{GOOD.id}.md".encode()] = (0o100644, encode(GOOD))
    folder[SHARD.encode()] = shard
    return {**rows, b"memories": folder}


@pytest.fixture(scope="module")
def repo_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patched:
        yield build_repo("plain", Path(root), patched.setenv)


@pytest.fixture(scope="module")
def shared(repo_path: Path) -> Iterator[Store]:
    store = new_store(repo_path)
    store.home.make()
    yield store
    store.objects.close()


@pytest.fixture(autouse=True)
def _nothing_outside(repo_path: Path) -> Iterator[None]:
    """No file appears beside the repository, in its work tree, or in its git dir but where ours belong."""

    def seen() -> set[str]:
        found = (
            set(os.listdir(repo_path.parent))
            | {f"w/{p}" for p in os.listdir(repo_path)}
            | {f"g/{p}" for p in os.listdir(repo_path / ".git")}
        )
        return found - {"g/logs", "g/packed-refs", "g/gitmem"}

    before, here = seen(), set(os.listdir("."))
    yield
    assert before == seen()
    assert here >= set(os.listdir(".")) - {".hypothesis", ".pytest_cache"}


MANY = settings(max_examples=scaled(80, 25), deadline=None, suppress_health_check=list(HealthCheck))


def reset(store: Store, tip: str) -> None:
    git(store.objects._cli._git.gitdir, "update-ref", store.ref, tip)


@MANY
@given(rows=roots)
def test_hostile_tree_is_read(shared, rows):
    """Every record is a record or damaged, sound ones are there, and the index says the same."""
    root = shared.objects.write(root_draft())
    reset(shared, Forge(shared).commit(with_good(rows), root))
    found = list(shared.records())
    assert all(isinstance(row, Stored | Damaged) for row in found)
    assert GOOD in [row.record for row in found if isinstance(row, Stored)]
    for row in found:
        if isinstance(row, Stored):
            assert record_path(row.record.id) == row.path
    with tempfile.TemporaryDirectory() as folder:
        from gitmem.repo.location import Home

        with IndexCache(Home(folder)) as cache:
            cache.refresh({"shared": shared})
            assert {r.record.id for r in found if isinstance(r, Stored)} == {
                r["id"] for r in cache.index().rows()
            }


@MANY
@given(rows=roots)
def test_hostile_tree_is_merged_without_loss(shared, rows):
    """Whoever merges: our record stays, only safe plain files come in, and what was left out is named."""
    objects = shared.objects
    root = objects.write(root_draft())
    mine = objects.write(
        Draft(
            objects.commit(root).tree,
            {record_path(MINE.id): encode(MINE)},
            (root,),
            "mine\n",
            WHO,
            WHO,
        )
    )
    evil = Forge(shared).commit(with_good(rows), root)
    made, report = merge_commits(objects, mine, evil)
    assert made == merge_commits(objects, evil, mine)[0]
    got = dict(files(objects, objects.commit(made).tree, depth=50))
    assert [] == [
        (path, entry.mode)
        for path, entry in got.items()
        if entry.mode not in {0o100644, 0o100755} or not safe_path(path)
    ]
    assert record_path(GOOD.id) in got
    assert record_path(MINE.id) in got or any(path.startswith(f"attic/{MINE.id}/") for path in got)
    kept = {entry.oid for entry in got.values()}
    for change in diff(objects, objects.commit(root).tree, objects.commit(evil).tree):
        if change.new and change.path not in report.refused and id_of_path(change.path) is None:
            assert change.new.oid in kept or change.path.startswith(("usage/", "tombstones/")), (
                change.path
            )
    assert made == merge_commits(objects, made, evil)[0]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=roots)
def test_store_with_a_hostile_tree_goes_on(shared, rows):
    """Writes, history, diff and undo work on it; the write is there and the sound record too."""
    root = shared.objects.write(root_draft())
    evil = Forge(shared).commit(with_good(rows), root)
    reset(shared, evil)
    item = record()
    shared.write([operations.put(item)], Message("add", "add", (item.id,)))
    assert (item, GOOD) == (shared.get(item.id).record, shared.get(GOOD.id).record)
    assert 3 == len(list(history.log(shared)))
    assert [] != list(history.changes(shared, root, shared.tip()))
    history.removed_ids(shared)
    try:
        revert(
            Writer(Clock(), ("A", "a@b")),
            CommandCommits(evil, [(shared, shared.objects.commit(evil))]),
        )
    except GitmemError:
        return
    assert item == shared.get(item.id).record


@settings(max_examples=scaled(300, 75), deadline=None)
@given(rows=st.dictionaries(names, st.sampled_from(MODES), max_size=6))
def test_tree_bytes_come_back(rows):
    """Any names are read and written as they are; none has a slash in it once read."""
    raw = b"".join(b"%o %s\0%s" % (mode, name, b"\1" * 20) for name, mode in rows.items())
    entries = parse_tree(raw, "sha1")
    assert set(rows) == {
        e.name.encode("utf-8", "surrogateescape").replace(b"\0", b"/") for e in entries
    }
    assert not any("/" in e.name for e in entries)
    assert sorted(entries, key=repr) == sorted(
        parse_tree(ordered_tree(entries)[1], "sha1"), key=repr
    )


@given(st.binary(max_size=120))
def test_cut_tree_is_an_error_of_ours(data):
    """Bytes that are no tree are told as damage."""
    try:
        for entry in parse_tree(data, "sha1"):
            assert isinstance(entry, TreeEntry)
    except GitmemError:
        pass


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("./\\~git:"), max_size=60))
def test_safe_path_stays_inside(path):
    """A path that may be taken over stays in the folder it is joined to, on any system."""
    if safe_path(path):
        assert os.path.normpath(os.path.join("/store", path)).startswith("/store/")
        assert not {part.lower() for part in path.replace("\\", "/").split("/")} & {
            ".git",
            "git~1",
            "..",
            ".",
            "",
        }
        assert not any(ord(c) < 32 for c in path)


@given(st.text(string.ascii_lowercase + string.digits + "./-_", max_size=60))
def test_path_of_a_record_is_its_only_one(path):
    """A path that names a record is the one where that record belongs."""
    id = id_of_path(path)
    assert id is None or record_path(id) == path


def deep(store: Store, levels: int, leaf: bytes) -> dict[bytes, object]:
    rows: dict[bytes, object] = {b"f": (0o100644, leaf)}
    for _ in range(levels):
        rows = {b"d": rows}
    return rows


@pytest.mark.parametrize("folder", [b"memories", b"other", b"usage"])
def test_very_deep_tree(shared, repo_path, folder):
    """Hundreds of folders in each other are compared as a whole: merge, index, history and purge end quickly."""
    objects = shared.objects
    root = objects.write(root_draft())
    mine = objects.write(
        Draft(
            objects.commit(root).tree,
            {record_path(MINE.id): encode(MINE)},
            (root,),
            "mine\n",
            WHO,
            WHO,
        )
    )
    evil = Forge(shared).commit({folder: deep(shared, 300, b"secret-word-here")}, root)
    start = time.monotonic()
    made, report = merge_commits(objects, mine, evil)
    assert [] != report.refused
    reset(shared, evil)
    list(shared.records())
    list(history.changes(shared, root, evil))
    with tempfile.TemporaryDirectory() as home:
        from gitmem.repo.location import Home

        with IndexCache(Home(home)) as cache:
            cache.refresh({"shared": shared})
    purge(shared, git_of(repo_path), [], Mask(["secret-word-here"]))
    assert time.monotonic() - start < 10
    assert made


def test_hostile_remote_is_synced(tmp_path, shared):
    """A sync with a remote that holds such trees ends, takes the sound record, and leaves both repositories sound."""
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(hub))
    mallory = new_store(hub)
    root = mallory.create()
    rows = {
        b"link": (0o120000, b"/etc/passwd"),
        b"memories": {b"aa": {b"x\ny": (0o100644, b"z"), b"plain.md": (0o120000, b"../../x")}},
        b"exec": (0o100755, b"#!/bin/sh\n"),
    }
    reset(mallory, Forge(mallory).commit(with_good(rows), root))
    mallory.objects.close()
    path = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(hub), str(path))
    store = new_store(path)
    store.write([operations.put(MINE)], Message("add", "add", (MINE.id,)))
    out = sync(store, remote_of(path), push=True)
    assert {"link", "memories/aa/plain.md", "memories/aa/x\ny"} == set(out.refused)
    assert {GOOD.id, MINE.id} == {
        row.record.id for row in store.records() if isinstance(row, Stored)
    }
    assert store.tip() == git(hub, "rev-parse", store.ref)
    assert "" == fsck(path)
    store.objects.close()


# -- sizes


def bomb(forge: Forge, levels: int, width: int = 10) -> str:
    """Return the oid of a tree of a few bytes that stands for width ** levels files."""
    oid, mode = forge.made("blob", b"x"), 0o100644
    for _ in range(levels):
        rows = b"".join(b"%o d%02d\0%s" % (mode, n, bytes.fromhex(oid)) for n in range(width))
        oid, mode = forge.made("tree", rows), 0o040000
    return oid


def planted(store: Store, where: str, oid: str, mode: int = 0o040000) -> str:
    """Return a commit on the root with one entry that was made elsewhere."""
    root = store.objects.write(root_draft())
    base = store.objects.commit(root).tree
    return store.objects.write(
        Draft(
            base,
            {where: TreeEntry(where.rsplit("/", 1)[-1], mode, oid)},
            (root,),
            "evil\n",
            WHO,
            WHO,
        )
    )


@pytest.mark.parametrize("backend", ["libgit2", "git"])
@pytest.mark.parametrize("where", ["memories/bomb", "other", "attic/bomb"])
def test_tree_that_repeats_itself_is_refused_at_once(make_repo, open_store, backend, where):
    """Ten folders in ten folders, nine deep, stand for a billion files: no sync takes them, with or without own records."""
    hub, here = make_repo("bare"), make_repo()
    theirs, ours = open_store(hub), open_store(here, backend)
    forge = Forge(theirs)
    oid = bomb(forge, 9)
    theirs.objects.store(forge.raws)
    theirs.objects.move(theirs.ref, None, planted(theirs, where, oid), "evil")
    git(here, "remote", "add", "origin", str(hub))
    item = record()
    for tip in (None, "some"):
        if tip:
            ours.write([operations.put(item)], Message("add", "add"))
        began = time.monotonic()
        with pytest.raises(GitmemError, match="repeats equal folders"):
            sync(ours, remote_of(here), push=False)
        assert 10 > time.monotonic() - began
    assert item == ours.get(item.id).record


def test_equal_folders_within_reason_are_merged(shared):
    """A few folders with the same content are no attack."""
    forge = Forge(shared)
    oid = bomb(forge, 3, 5)
    shared.objects.store(forge.raws)
    evil = planted(shared, "other", oid)
    mine = shared.objects.write(
        Draft(
            shared.objects.commit(shared.objects.write(root_draft())).tree,
            {record_path(MINE.id): encode(MINE)},
            (shared.objects.write(root_draft()),),
            "mine\n",
            WHO,
            WHO,
        )
    )
    made, report = merge_commits(shared.objects, mine, evil)
    got = dict(files(shared.objects, shared.objects.commit(made).tree))
    assert (125, []) == (sum(path.startswith("other/") for path in got), report.refused)


def test_folder_too_deep_is_named_not_opened(shared):
    """What lies deeper than any path of a store is one damaged entry, in the store as in the index."""
    forge = Forge(shared)
    oid = bomb(forge, 40, 1)
    shared.objects.store(forge.raws)
    reset(shared, planted(shared, "memories/deep", oid))
    found = [row.path for row in shared.records()]
    assert ["memories/deep" + "/d00" * 6] == found
    with tempfile.TemporaryDirectory() as folder:
        from gitmem.repo.location import Home

        with IndexCache(Home(folder)) as cache:
            cache.refresh({"shared": shared})
            assert found == [path for (path,) in cache.db.execute("SELECT path FROM damaged")]


PEAK = """
import os, resource, sys
from tests.conftest import new_store, remote_of
from gitmem.repo.location import Home
from gitmem.index.builder import IndexCache
from gitmem.store.reader import Damaged
from gitmem.store.sync import sync
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = new_store(sys.argv[1], sys.argv[2])
sync(store, remote_of(sys.argv[1]), push=False)
rows = list(store.records())
with IndexCache(Home(sys.argv[1] + "/index")) as cache:
    cache.refresh({"shared": store})
    damaged = cache.db.execute("SELECT count(*) FROM damaged").fetchone()[0]
store.objects.close()
print(sum(isinstance(r, Damaged) for r in rows), damaged, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_large_file_is_damaged_unread(make_repo, open_store, backend):
    """A record of 200 MB of zeros, 200 kB to fetch, is named as damaged; it is merged and indexed without being read."""
    hub, here = make_repo("bare"), make_repo()
    theirs, ours = open_store(hub), open_store(here)
    oid = git(hub, "hash-object", "-w", "--stdin", stdin=b"\0" * 200_000_000)
    theirs.objects.move(
        theirs.ref, None, planted(theirs, record_path(GOOD.id), oid, 0o100644), "evil"
    )
    ours.write([operations.put(GOOD), operations.put(MINE)], Message("add", "add"))
    git(here, "remote", "add", "origin", str(hub))
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(here), backend],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    damaged, indexed, peak = map(int, done.stdout.split())
    assert (0, 0) == (damaged, indexed)  # the sound one stays
    assert 60 > peak
    assert {MINE.id, GOOD.id} == {
        row.record.id for row in ours.records() if isinstance(row, Stored)
    }
    assert oid in {
        e.oid
        for p, e in files(ours.objects, ours.tree() or "")
        if p.startswith(f"attic/{GOOD.id}/")
    }


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_large_record_is_listed_and_can_be_removed(repo, open_store, backend):
    """A file that is too large is damaged wherever it is met, and forgetting it works."""
    store = open_store(repo, backend)
    other = record()
    store.write([operations.put(other)], Message("add", "add"))
    for size, whole in ((262_144, True), (262_145, False), (20_000_000, False)):
        store.write([operations.write_file(record_path(GOOD.id), "z" * size)], Message("x", "x"))
        found = {row.path: row for row in store.records()}
        assert isinstance(found[record_path(GOOD.id)], Damaged)
        assert whole == ("more than 262,144" not in found[record_path(GOOD.id)].reason)
        with pytest.raises(GitmemError, match="damaged"):
            store.get(GOOD.id)
    assert other == store.get(other.id).record
    store.write([operations.forget(GOOD.id, "2026-01-01T00:00:00Z", "Ada")], Message("x", "forget"))
    assert [record_path(other.id)] == [path for path, _ in store.entries()]


def _refused_links(shared, number):
    """Merge a tree with so many links; return how many were refused, and how many calls that took."""
    forge = Forge(shared)
    blob = bytes.fromhex(forge.made("blob", b"/etc/passwd"))
    oid = forge.made("tree", b"".join(b"120000 l%05d\0%s" % (n, blob) for n in range(number)))
    shared.objects.store(forge.raws)
    evil = planted(shared, "other", oid)
    root = shared.objects.commit(evil).parents[0]
    mine = shared.objects.write(
        Draft(
            shared.objects.commit(root).tree,
            {record_path(MINE.id): encode(MINE)},
            (root,),
            "mine\n",
            WHO,
            WHO,
        )
    )
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    gc.collect()
    gc.disable()  # what other tests left would be counted
    sys.setprofile(count)
    try:
        _, report = merge_commits(shared.objects, mine, evil)
    finally:
        sys.setprofile(None)
        gc.enable()
    return len(report.refused), calls


def test_many_refused_entries_cost_their_number(shared):
    """Each link of a folder is left out and named.

    Four times as many cost about four times as much; if each was compared with each, sixteen times.
    """
    few, few_calls = _refused_links(shared, 1000)
    many, many_calls = _refused_links(shared, 4000)

    assert (few, many) == (1000, 4000)
    assert many_calls < 10 * few_calls
