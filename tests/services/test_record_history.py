"""The log of a record in a history with many merges: the same as a plain walk over every commit finds."""

import contextlib
import os
import random
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem.errors import MissingObject
from gitmem.git.newest_first import newest_first
from gitmem.git.objects import Commit
from gitmem.repo.refs import SHARED
from gitmem.services.records import history
from gitmem.store import operations, record_history
from gitmem.store.layout import record_path
from gitmem.store.record_history import RecordHistory
from gitmem.store.store import Message, Store
from gitmem.store.tree_merge import merge_commits
from tests import large_stores
from tests.conftest import add, edit, forget, git, record

END = 1_790_000_000
LATER = 2_000_000_000  # after all that tests write


def entry(store: Store, commit: str, id: str) -> str | None:
    """Return the blob of a record in a commit."""
    there = store.objects.find(store.objects.commit(commit).tree, record_path(id))
    return there.oid if there else None


def changed(store: Store, commit: Commit, id: str) -> bool:
    """Say whether a commit has a record in a form that none of its parents has."""
    now = entry(store, commit.oid, id)
    before = [entry(store, parent, id) for parent in commit.parents] or [None]
    return now not in before


def plain_log(store: Store, id: str, start: str | None = None) -> list[str]:
    """Return the commits that changed a record, by looking at each, in the order of their ids."""
    commits = store.objects.walk([start or store.tip()])
    return sorted(one.oid for one in commits if changed(store, one, id))


def quick_log(store: Store, id: str, start: str | None = None) -> list[str]:
    """Return what `log` has, in the order of the commits' ids."""
    return sorted(step.commit.oid for step in history.log(store, [id], start))


def ids_of(store: Store) -> list[str]:
    """Return the ids of all records of the store."""
    return sorted(stored.record.id for stored in store.records())


@pytest.fixture
def merged(repo: Path, open_store) -> Store:
    """Return a store of many merges, with records that were changed on two sides."""
    large_stores.write(repo, 120, END)
    return open_store(repo)


@pytest.fixture
def wild(repo: Path, open_store) -> Store:
    """Return a store whose records were changed, removed and brought back on both sides of merges."""
    store, rng = open_store(repo), random.Random(3)
    items = [add(store, record(title=f"n{n}", body="a\nb\nc\nd\n")) for n in range(6)]
    for _ in range(8):
        base, tips = store.tip(), []
        for _ in range(2):
            for item in rng.sample(items, 3):
                act(store, item.id, rng)
            tips.append(store.tip())
            git(repo, "update-ref", SHARED, base)
        made, _ = merge_commits(store.objects, *tips)
        git(repo, "update-ref", SHARED, made)
    return store


def act(store: Store, id: str, rng: random.Random) -> None:
    """Change a record, remove it, or bring it back."""
    there = entry(store, store.tip(), id)
    item = store.get(id).record if there else history.last_version(store, id)
    if not there:
        store.write([operations.put(item, revive=True)], Message("back", "restore", (id,)))
    elif rng.random() < 0.3:
        forget(store, id)
    else:
        edit(store, item, body=item.body.replace(rng.choice("abcd"), f"x{rng.random()}", 1))


@pytest.mark.parametrize("name", ["merged", "wild"])
def test_log_of_each_record_is_that_of_a_plain_walk(name, request):
    """Of each record the log has the commits that a walk over all of them finds."""
    store = request.getfixturevalue(name)
    commits = list(store.objects.walk([store.tip()]))
    ids = {i for one in commits for i in history.trailers(one.message).get("id", ())}
    assert 6 <= len(ids)
    assert any(len(one.parents) > 1 and changed(store, one, i) for one in commits for i in ids)
    for id in sorted(ids):
        assert plain_log(store, id) == quick_log(store, id)


def test_steps_come_newest_first(merged):
    """The steps of a log are in the order of the committers' times, children first."""
    for id in ids_of(merged):
        times = [step.commit.committer.time for step in history.log(merged, [id])]
        assert sorted(times, reverse=True) == times
        assert history.log(merged, [id]).__next__().changes[0][0] in {"added", "changed", "merged"}


@pytest.mark.parametrize("steps", [5, 40])
def test_log_follows_a_tip_that_moves(merged, repo, steps):
    """What was kept of an earlier tip, of a side and of a tip that was replaced leads to no other answer."""
    last, id = merged.tip(), ids_of(merged)[40]
    commits = [one.oid for one in merged.objects.walk([last])]
    wanted = plain_log(merged, id)
    for oid in (*commits[::steps][::-1], last):
        git(repo, "update-ref", SHARED, oid)
        quick_log(merged, id)
    assert wanted == quick_log(merged, id)


def test_log_up_to_an_earlier_commit(merged):
    """The log from a revision has what was below it, sides that joined later left out."""
    commits = [one.oid for one in merged.objects.walk([merged.tip()])]
    for start in commits[::17]:
        for id in ids_of(merged)[::9]:
            assert plain_log(merged, id, start) == quick_log(merged, id, start)


def test_process_that_read_the_ref_before_takes_nothing_away(merged):
    """A question about an older tip is answered, and leaves what is noted up to the newer one."""
    id, git_ = ids_of(merged)[40], merged.objects.git
    older = merged.tip()
    item = merged.get(id).record
    for text in ("one more", "and one more"):
        item = edit(merged, item, body=text)
    newer = merged.tip()
    with RecordHistory(merged.home, git_) as fast, RecordHistory(merged.home, git_) as slow:
        wanted = fast.commits(SHARED, newer, [id])
        assert wanted[:-2] == slow.commits(SHARED, older, [id])
        last = slow.last_commits(SHARED, older)
        with contextlib.closing(sqlite3.connect(fast.path)) as db:
            assert [(newer,)] == db.execute("SELECT tip FROM refs").fetchall()
        assert wanted == fast.commits(SHARED, newer, [id])
    assert last[id] == wanted[-3]


def test_log_of_a_commit_beside_the_tip(merged, repo):
    """The log from a commit that the tip does not have ends there, with what only its line has."""
    id = ids_of(merged)[40]
    before = merged.tip()
    edit(merged, merged.get(id).record, body="on this line")
    beside = merged.tip()
    git(repo, "update-ref", SHARED, before)
    edit(merged, merged.get(id).record, body="on the other line")
    for start in (beside, before, merged.tip()):
        assert plain_log(merged, id, start) == quick_log(merged, id, start)
    assert beside in quick_log(merged, id, beside)


def commit_at(repo: Path, time: int, tree: str, *parents: str) -> str:
    """Write a commit of the store by plain git, with a committer's time; return its id."""
    return subprocess.run(
        [
            "git",
            "-C",
            repo,
            "commit-tree",
            "-m",
            "foreign",
            *(w for p in parents for w in ("-p", p)),
            tree,
        ],
        env={
            **os.environ,
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "F"), ("EMAIL", "f@x"), ("DATE", f"{time} +0000"))
            },
        },
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@pytest.mark.parametrize("first_look", [0, 1, 2, 3])
def test_children_come_first_whatever_the_times_say(repo, open_store, first_look):
    """The last version of a record is its last one where an older one has a later time."""
    store = open_store(repo)
    item, other = add(store), add(store)
    trees, tips = [], [store.tip()]
    for body in ("version two", "version three"):
        item = edit(store, item, body=body)
        trees.append(f"{store.tip()}^{{tree}}")
    forget(store, item.id)
    trees.append(f"{store.tip()}^{{tree}}")
    for time, tree in zip((LATER + 10**6, LATER, LATER + 10), trees, strict=True):
        tips.append(commit_at(repo, time, tree, tips[-1]))
    for tip in dict.fromkeys((tips[first_look], tips[-1])):
        git(repo, "update-ref", SHARED, tip)
        quick_log(store, other.id)
    assert "version three" in history.last_version(store, item.id).body
    steps = [step.commit.oid for step in history.log(store, [item.id])]
    assert [*tips[:0:-1], tips[0]][: len(steps) - 1] == steps[:-1]
    assert len(steps) == 4


def test_unrelated_commits_are_in_the_order_of_their_times(repo, open_store):
    """Of two lines that were joined, the one that was seen later is not later for that."""
    store = open_store(repo)
    item = add(store)
    base = store.tip()
    edit(store, item, body="here")
    tree = f"{store.tip()}^{{tree}}"
    late, early = (commit_at(repo, LATER + time, tree, base) for time in (200, 100))
    git(repo, "update-ref", SHARED, late)
    quick_log(store, item.id)
    joined = commit_at(repo, LATER + 300, tree, late, early)
    git(repo, "update-ref", SHARED, joined)
    assert [late, early, base] == [step.commit.oid for step in history.log(store, [item.id])]


def test_look_that_was_ended_is_gone_on_with(merged, monkeypatch):
    """A process that dies while it looks through the history leaves nothing wrong."""
    monkeypatch.setattr(record_history, "BATCH", 10)

    def killed(done: int, _: int) -> None:
        if done > 50:
            raise KeyboardInterrupt

    id, seen = ids_of(merged)[60], []
    with pytest.raises(KeyboardInterrupt):
        list(history.log(merged, [id], progress=killed))
    list(history.log(merged, [id], progress=lambda done, total: seen.append((done, total))))
    assert seen[-1][0] == seen[-1][1] < 240
    assert plain_log(merged, id) == quick_log(merged, id)


def test_damaged_and_unwritable_files_are_made_anew(merged):
    """Rubbish in place of the file, or a folder that takes none, changes no answer."""
    path, id = Path(merged.home.join(record_history.NAME)), ids_of(merged)[5]
    quick_log(merged, id)
    path.write_bytes(b"no database" * 1000)
    assert plain_log(merged, id) == quick_log(merged, id)
    path.unlink()
    path.mkdir()
    assert plain_log(merged, id) == quick_log(merged, id)


@pytest.mark.parametrize("table", ["refs", "commits", "changes"])
def test_damage_that_shows_late_is_mended(merged, table):
    """A table that is gone is found when it is asked, and all is made anew."""
    path, id = merged.home.join(record_history.NAME), ids_of(merged)[5]
    quick_log(merged, id)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"DROP TABLE {table}")
        db.commit()
    assert plain_log(merged, id) == quick_log(merged, id)


def overwrite(path: Path, start: int = 4096) -> None:
    """Overwrite a file from a place on, as a failing disk does."""
    data = path.read_bytes()
    path.write_bytes(data[:start] + b"\xff" * (len(data) - start))


def test_overwritten_pages_are_mended(merged):
    """Every question, and the worker's look, begin anew where pages were overwritten."""
    path, id = Path(merged.home.join(record_history.NAME)), ids_of(merged)[5]
    with RecordHistory(merged.home, merged.objects.git) as database:
        for question in (
            lambda: quick_log(merged, id),
            lambda: history.removed_ids(merged),
            lambda: database.follow(SHARED, merged.tip()),
        ):
            quick_log(merged, id)
            overwrite(path)
            question()
            assert plain_log(merged, id) == quick_log(merged, id)


def test_damaged_file_that_cannot_be_removed(merged, monkeypatch):
    """A damaged file in a folder that this user may not change fails no question."""
    path, id = Path(merged.home.join(record_history.NAME)), ids_of(merged)[5]
    quick_log(merged, id)
    overwrite(path)

    def refuse(_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(record_history.os, "unlink", refuse)
    assert plain_log(merged, id) == quick_log(merged, id)


def test_history_that_was_rewritten_leaves_no_old_commit(merged, repo):
    """After the ref went to another history, and the old one is gone, the log is of the new one."""
    id = ids_of(merged)[5]
    quick_log(merged, id)
    new = git(repo, "commit-tree", "-m", "rewritten", f"{SHARED}^{{tree}}")
    git(repo, "update-ref", SHARED, new)
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")
    assert [new] == quick_log(merged, id)
    assert [new] == plain_log(merged, id)


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_shallow_store_has_the_log_that_git_has(merged, repo, tmp_path, open_store, backend):
    """The log ends where git's own log ends, and is whole again after the rest was fetched."""
    url = f"file://{repo}"
    git(tmp_path, "clone", "-q", url, "shallow")
    clone = tmp_path / "shallow"
    fetch = ("fetch", "-q", url, f"+{SHARED}:{SHARED}")
    git(clone, *fetch, "--depth=4")
    store = open_store(clone, backend)
    listed = git(clone, "log", "--format=%H %P", SHARED).splitlines()
    assert 4 <= len(listed) < 20
    steps = {step.commit.oid: step.commit.parents for step in history.log(store)}
    assert {line.split()[0]: tuple(line.split()[1:]) for line in listed} == steps
    id = ids_of(store)[-1]
    assert quick_log(store, id)
    for other in ids_of(store)[::9]:
        assert set(quick_log(store, other)) <= set(steps)
    git(clone, *fetch, "--unshallow")
    for other in ids_of(store)[::9]:
        assert plain_log(merged, other) == quick_log(store, other)


def test_commit_that_is_missing_is_told(merged, repo):
    """A history with a hole is an error that says what to do, not a short answer."""
    with (
        RecordHistory(merged.home, merged.objects.git) as database,
        pytest.raises(MissingObject, match="incomplete"),
    ):
        database.commits(SHARED, "1" * 40, [ids_of(merged)[0]])


def test_walk_by_time_has_what_a_walk_has(merged):
    """The lazy walk has each commit once, none before all of its children."""
    seen = [one.oid for one in newest_first(merged.objects, merged.tip())]
    assert sorted(one.oid for one in merged.objects.walk([merged.tip()])) == sorted(seen)
    place = {oid: number for number, oid in enumerate(seen)}
    for oid in seen:
        for parent in merged.objects.commit(oid).parents:
            assert place[oid] < place[parent]


def test_removed_records_of_merges(wild):
    """What a merge removed or a side did is known as removed, and its last version can be had."""
    gone = history.removed_ids(wild)
    there = set(ids_of(wild))
    every = {i for one in wild.objects.walk([wild.tip()]) for i in of_trailers(one)}
    assert every - there == set(gone)
    for id in gone:
        assert id == history.last_version(wild, id).id


def of_trailers(commit: Commit) -> Sequence[str]:
    """Return the ids that a commit names."""
    return history.trailers(commit.message).get("id", ())
