"""Writing to a store and reading it: one commit a change, replay, the journal, the format gate."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.clock import Clock
from gitmem.errors import FormatTooNew, InvalidRecord, UnknownId, UserError
from gitmem.git.objects import Draft, Identity
from gitmem.git.objects_cli import CliObjects
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.store import journal, operations
from gitmem.store.layout import FORMAT_PATH, record_path, tombstone_path
from gitmem.store.store import Message, Store
from gitmem.store.tree_merge import root_draft
from tests.conftest import (
    AUTHOR,
    CLOCK,
    add,
    damaged,
    edit,
    forget,
    fsck,
    git,
    git_of,
    listed,
    record,
)

NOTE = Message("note", "add")


def commits(store: Store) -> int:
    tip = store.tip()
    return sum(1 for _ in store.objects.walk([tip])) if tip else 0


def keep_waiting(store: Store, *items) -> None:
    """Leave writes in the journal, as a hook does."""
    store.no_write = "a hook"
    for item in items:
        add(store, item)
    store.no_write = ""


def foreign_tip(store: Store, edits: dict, message: str = "foreign\n") -> str:
    """Put a commit on the store that gitmem would not make."""
    tip = store.tip()
    who = Identity("Eve", "eve@example.org", 1_800_000_000)
    base = store.objects.commit(tip).tree if tip else None
    made = store.objects.write(Draft(base, edits, (tip,) if tip else (), message, who, who))
    store.objects.move(store.ref, tip, made, "foreign")
    return made


# -- writing and reading


def test_record_comes_back(store):
    """A written record is read with every field."""
    item = add(
        store,
        record(
            title="Use é", body="- one\n", tags=["b", "a"], importance=7, x_own={"k": [1, None]}
        ),
    )
    found = store.get(item.id)
    assert (item, record_path(item.id)) == (found.record, found.path)


def test_empty_store_has_nothing(store):
    """Before the first write there is no ref, no record, and reading makes none."""
    assert (None, None, []) == (store.tip(), store.tree(), list(store.records()))
    with pytest.raises(UnknownId):
        store.get(record().id)
    assert "" == git(os.path.dirname(store.home.path), "for-each-ref", "refs/gitmem")
    assert not os.path.exists(store.home.path)


def test_one_write_is_one_commit(store):
    """Several operations of one change are one commit on the deterministic root."""
    store.write([operations.put(record()), operations.put(record())], NOTE)
    assert 2 == commits(store)


def test_commit_says_what_was_done(store, repo):
    """Subject and trailers make plain `git log` readable."""
    item = record()
    store.write(
        [operations.put(item)],
        Message("memory: add\nline", "add", (item.id,), "dev", "s-1", (("Gitmem-Extra", "x\ny"),)),
    )
    assert "memory: add line" == git(repo, "log", "-1", "--format=%s", SHARED)
    trailers = git(repo, "log", "-1", "--format=%(trailers:unfold)", SHARED).splitlines()
    assert [
        "Gitmem-Op: add",
        f"Gitmem-Id: {item.id}",
        "Gitmem-Agent: dev",
        "Gitmem-Session: s-1",
        "Gitmem-Extra: x y",
    ] == trailers


def test_write_that_changes_nothing_makes_no_commit(store):
    """Putting what is there already is not a commit."""
    item = add(store)
    before = store.tip()
    written = store.write([operations.put(item)], NOTE)
    assert (None, False, before) == (written.commit, written.journaled, store.tip())


def test_operation_that_makes_no_sense_changes_nothing(store):
    """When one operation of a write is refused, none of it happens, and the store works on."""
    item = add(store)
    forget(store, item.id)
    before = store.tip()
    with pytest.raises(UserError):
        store.write([operations.put(record()), operations.put(item)], NOTE)
    assert (before, 0) == (store.tip(), journal.count(store.home))
    assert add(store).id in listed(store)


def test_stale_edits_are_merged(store):
    """Two edits made on the same version both hold."""
    base = add(store, record(title="T", body="one\n", tags=["a"]))
    edit(store, base, tags=["a", "b"])
    edit(store, base, tags=["a", "c"], body="two\n")
    found = store.get(base.id).record
    assert (["a", "b", "c"], "two\n") == (found.tags, found.body)


def test_old_version_is_read_at_its_commit(store):
    """A record is read as it was at any commit."""
    first = add(store, record(title="old"))
    then = store.tip()
    edit(store, first, title="new")
    assert ("old", "new") == (
        store.get(first.id, then).record.title,
        store.get(first.id).record.title,
    )


def test_root_is_the_same_everywhere(make_repo, open_store):
    """Stores that start apart, on either back end, share one root commit."""
    roots = set()
    for backend in ("libgit2", "git"):
        store = open_store(make_repo("plain"), backend)
        roots.add(store.create())
    assert 1 == len(roots)


def test_create_is_idempotent(store):
    """Creating again returns the tip that is there."""
    add(store)
    assert store.tip() == store.create()


def test_commit_times_never_go_back(store):
    """A clock that was set back does not put a child before its parent."""
    add(store)
    ahead = store.objects.commit(store.tip()).committer.time
    store.clock = Clock(now=lambda: 1_000_000_000.0)
    add(store)
    assert ahead <= store.objects.commit(store.tip()).committer.time


def test_writing_needs_no_name(repo, open_store):
    """Without user.name and user.email a write works."""
    store = open_store(repo, author=("", ""))
    item = add(store)
    assert ({item.id}, "") == (listed(store), fsck(repo))


def test_name_with_brackets_and_newlines_makes_a_sound_commit(store, repo):
    """An author that git's header cannot carry is cleaned, not written."""
    store.write([operations.put(record())], NOTE, author=("A <b>\nparent x", "x\0@>y"))
    assert "" == fsck(repo)


def test_private_store_is_apart(repo, open_store):
    """The private store has its own ref; neither sees the other's records."""
    shared, private = open_store(repo), open_store(repo, ref=PRIVATE)
    one, two = add(shared), add(private)
    assert ({one.id}, {two.id}) == (listed(shared), listed(private))


def test_users_world_is_untouched(store, repo):
    """Work tree, index, HEAD, branches and config are byte for byte what they were."""

    def world():
        index = repo / ".git" / "index"
        return (
            git(repo, "--no-optional-locks", "status", "--porcelain"),
            index.read_bytes(),
            index.stat().st_mtime_ns,
            (repo / ".git/HEAD").read_bytes(),
            (repo / ".git/config").read_bytes(),
            git(repo, "for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
            sorted(os.listdir(repo / ".git" / "hooks")),
        )

    before = world()
    forget(store, edit(store, add(store), title="x").id)
    assert before == world()


def test_hooks_of_the_user_do_not_run(repo, open_store):
    """A reference-transaction hook of the user's is not called by our writes."""
    hook = repo / ".git" / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {repo}/hook-ran\nexit 1\n")
    hook.chmod(0o755)
    add(open_store(repo, "git"))
    assert not (repo / "hook-ran").exists()


# -- damaged content


def test_damaged_file_is_listed_not_skipped(store):
    """A file that is not a record is told with its reason; the others are read."""
    good = add(store)
    bad = record().id
    foreign_tip(store, {record_path(bad): b"not a record", "memories/zz/notes.txt": b"?"})
    assert {record_path(bad), "memories/zz/notes.txt"} == set(damaged(store))
    with pytest.raises(InvalidRecord):
        store.get(bad)
    assert good == store.get(good.id).record


def test_record_at_the_wrong_path_is_damaged(store):
    """A file that holds another record's id is not taken for either."""
    one, other = add(store), record().id
    foreign_tip(store, {record_path(other): store.read_file(record_path(one.id))})
    assert [record_path(other)] == list(damaged(store))


def test_edit_over_a_damaged_file_keeps_its_bytes(store):
    """A put on a file that was damaged meanwhile keeps the damaged bytes in the attic."""
    base = add(store)
    foreign_tip(store, {record_path(base.id): b"damaged by hand"})
    edit(store, base, title="still here")
    assert "still here" == store.get(base.id).record.title
    attic = store.objects.find(store.tree(), f"attic/{base.id}")
    assert b"damaged by hand" in [store.objects.read(e.oid) for e in store.objects.tree(attic.oid)]


# -- the format gate


def test_newer_format_is_refused(store):
    """A store of a newer format is neither read as empty nor written."""
    add(store)
    tip = foreign_tip(store, {FORMAT_PATH: b'{"format": 2}\n'})
    for act in (lambda: list(store.records()), lambda: store.get(record().id), lambda: add(store)):
        with pytest.raises(FormatTooNew):
            act()
    assert tip == store.tip()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"[]",
        b"{}",
        *(
            b'{"format": %s}' % v
            for v in (b'"x"', b"true", b"1.0", b"-3", b"0", b"null", b"[1]", b"9.5")
        ),
        b"[" * 5000,
    ],
)
def test_ref_that_is_no_store_is_refused(store, content):
    """A ref whose tree lacks a sound gitmem.json is an error, not an empty store."""
    who = Identity("Eve", "eve@example.org", 1)
    made = store.objects.write(
        Draft(
            None,
            {"x": b"1", **({FORMAT_PATH: content} if content is not None else {})},
            (),
            "x\n",
            who,
            who,
        )
    )
    store.objects.move(store.ref, None, made, "x")
    with pytest.raises(InvalidRecord):  # an upgrade would not help
        add(store)
    assert made == store.tip()


# -- the journal


def test_journaled_write_is_committed_by_the_next(store):
    """What waits is committed before the next write, oldest first."""
    waiting = record(title="waits")
    keep_waiting(store, waiting)
    assert (None, 1) == (store.tip(), journal.count(store.home))
    later = add(store)
    assert ({waiting.id, later.id}, 0) == (listed(store), journal.count(store.home))


def test_journal_keeps_the_time_and_author_of_the_write(store):
    """A drained entry has its own author and time, not the drainer's."""
    store.no_write = "a hook"
    store.write([operations.put(record())], NOTE, author=("Hook", "hook@example.org"))
    store.no_write = ""
    store.drain()
    assert "Hook" == store.objects.commit(store.tip()).author.name


def test_killed_between_commit_and_removal_commits_once(store, tmp_path):
    """An entry whose commit is there already, because its drain died, is removed and not committed again."""
    item = record("gotcha")
    store.no_write = "a hook"
    add(store, item)
    store.write([operations.observe(item, 3, CLOCK.stamp())], NOTE)
    store.no_write = ""
    saved = tmp_path / "saved"
    shutil.copytree(store.home.join("journal"), saved)
    store.drain()
    before = commits(store), store.get(item.id).record.get("occurrences")
    add(store)
    shutil.copytree(saved, store.home.join("journal"), dirs_exist_ok=True)
    store.drain()
    assert (before[0] + 1, before[1], 0) == (
        commits(store),
        store.get(item.id).record.get("occurrences"),
        journal.count(store.home),
    )


def test_replayed_key_is_found_after_the_history_was_rewritten(store, tmp_path):
    """When the tip that an entry was made on is gone, its key is looked for in all of the history."""
    add(store)
    item = record("gotcha")
    keep_waiting(store, item)
    saved = tmp_path / "saved"
    shutil.copytree(store.home.join("journal"), saved)
    entry = next(iter(saved.iterdir()))
    entry.write_text(json.dumps({**json.loads(entry.read_text()), "since": "ab" * 20}))
    store.drain()
    before = commits(store)
    shutil.copytree(saved, store.home.join("journal"), dirs_exist_ok=True)
    store.drain()
    assert before == commits(store)


DAMAGED_ENTRIES = {
    "not-json": "{",
    "empty": "",
    "a-list": "[]",
    "newer": '{"v": 99, "key": "k", "ref": "refs/gitmem/heads/main", "ops": []}',
    "deep": "[" * 100_000,
    "unknown-op": {"ops": [{"op": "fly"}]},
    "op-is-text": {"ops": ["put"]},
    "op-lacks-fields": {"ops": [{"op": "put"}]},
    "bad-id": {"ops": [{"op": "forget", "id": "../../x", "mark": {}}]},
    "data-is-a-number": {"ops": [{"op": "put", "id": "mem-01arz3ndektsv4rrffq69g5f1v", "data": 7}]},
    "no-author": {"author": [], "ops": [{"op": "file", "path": "x", "data": "y"}]},
    "no-trailers": {"trailers": None, "ops": [{"op": "file", "path": "x", "data": "y"}]},
    "bad-time": {"at": "yesterday", "ops": [{"op": "file", "path": "x", "data": "y"}]},
    "since-is-a-number": {
        "since": 5,
        "ops": [{"op": "put", "id": "mem-01arz3ndektsv4rrffq69g5f1v"}],
    },
}


@pytest.mark.parametrize("name", DAMAGED_ENTRIES)
def test_damaged_entry_is_set_aside(store, name):
    """An entry that cannot be applied is kept under another name and blocks nobody."""
    add(store)
    good = {
        "v": 1,
        "key": "0" * 26,
        "ref": SHARED,
        "since": None,
        "author": list(AUTHOR),
        "at": CLOCK.stamp(),
        "subject": "s",
        "trailers": ["x", [], "", "", []],
    }
    content = DAMAGED_ENTRIES[name]
    folder = Path(store.home.make("journal"))
    (folder / "0000.json").write_text(
        content if isinstance(content, str) else json.dumps({**good, **content})
    )
    waiting = record(title="behind the damaged one")
    keep_waiting(store, waiting)
    now = add(store)
    assert {waiting.id, now.id} <= listed(store)
    assert ["0000.json.bad"] == sorted(os.listdir(folder))


def test_entry_of_another_store_is_left_for_it(repo, open_store):
    """A drain of the shared store leaves what belongs to the private one."""
    shared, private = open_store(repo), open_store(repo, ref=PRIVATE)
    item = record()
    keep_waiting(private, item)
    add(shared)
    assert 1 == journal.count(shared.home)
    private.drain()
    assert {item.id} == listed(private)


def test_journal_survives_a_store_that_cannot_be_read(store):
    """When the store is of a newer format, entries wait for the upgrade; they are not set aside."""
    add(store)
    keep_waiting(store, record())
    foreign_tip(store, {FORMAT_PATH: b'{"format": 2}\n'})
    with pytest.raises(FormatTooNew):
        store.drain()
    assert 1 == journal.count(store.home)


def test_journal_survives_a_store_that_is_damaged(store):
    """When gitmem.json is damaged, entries wait for the repair; they are not set aside."""
    add(store)
    keep_waiting(store, record())
    foreign_tip(store, {FORMAT_PATH: b"{"})
    with pytest.raises(InvalidRecord):
        store.drain()
    assert 1 == journal.count(store.home)


# -- locks


def test_held_ref_lock_spills_to_the_journal(store, repo):
    """While another process holds the ref's lock a write is kept, and committed when the lock is gone."""
    add(store)
    lock = repo / ".git" / f"{SHARED}.lock"
    lock.touch()
    store.budget = 0.2
    item = record()
    written = store.write([operations.put(item)], NOTE)
    assert (True, 1) == (written.journaled, journal.count(store.home))
    lock.unlink()
    assert 1 == store.drain()
    assert item == store.get(item.id).record


def test_held_ref_lock_on_the_first_write_spills_too(store, repo):
    """A write that finds the ref locked before the store exists is kept."""
    lock = repo / ".git" / f"{SHARED}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    store.budget = 0.2
    assert store.write([operations.put(record())], NOTE).journaled
    lock.unlink()
    assert 1 == store.drain()


def test_busy_write_lock_spills_to_the_journal(store):
    """While another gitmem holds the write lock past our patience, a write is kept."""
    add(store)
    holder = subprocess.Popen(
        ["flock", store.home.join("write.lock"), "-c", "echo held; sleep 30"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert holder.stdout.readline() == b"held\n"
    store.budget = 0.2
    try:
        assert store.write([operations.put(record())], NOTE).journaled
    finally:
        os.killpg(holder.pid, 9)
        holder.communicate()
    assert 1 == store.drain()


def test_lost_race_is_built_again(store):
    """A foreign commit that lands after our write began, before our commit, is kept, and so is ours."""
    add(store)

    class Late(Clock):
        """A clock that is read once the tip of a write has been read: the other writer comes then."""

        def stamp(self) -> str:
            foreign_tip(store, {"memories/zz/x.txt": b"x"})
            return CLOCK.stamp()

    store.clock = Late()
    item = record()
    store.write([operations.put(item)], NOTE)
    assert (item, b"x") == (store.get(item.id).record, store.read_file("memories/zz/x.txt"))


def test_packed_refs_in_between_change_nothing(store, repo):
    """`git pack-refs` between two writes is not seen as a move."""
    one = add(store)
    git(repo, "pack-refs", "--all", "--prune")
    two = add(store)
    assert {one.id, two.id} == listed(store)


def test_gc_in_between_changes_nothing(store, repo):
    """An open store reads and writes on after `git gc` packed and pruned everything."""
    ids = {add(store).id for _ in range(5)}
    git(repo, "gc", "-q", "--prune=now")
    ids.add(add(store).id)
    git(repo, "repack", "-qad")
    assert ids == listed(store)


def test_tombstone_stops_a_late_edit(store):
    """An edit that arrives after the record was forgotten is refused, and says how to get it back."""
    base = add(store)
    forget(store, base.id)
    with pytest.raises(UserError, match="forgotten"):
        edit(store, base, title="late")
    assert store.read_file(tombstone_path(base.id)) is not None


def test_root_draft_is_what_git_has_on_disk(repo):
    """The first commit depends on nothing but the format."""
    objects = CliObjects(git_of(repo))
    made = objects.write(root_draft())
    assert "1577836800 gitmem" == git(repo, "log", "-1", "--format=%ct %cn", made)
    objects.close()
