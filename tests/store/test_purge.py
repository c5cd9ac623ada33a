"""A purge leaves nothing of a secret in our refs, on the disk or in what is sent, and nothing else is lost."""

import json
import os
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.base.files import Lock
from gitmem.errors import Busy
from gitmem.records.codec import encode
from gitmem.repo.refs import BACKUP, REMOTES
from gitmem.store import operations
from gitmem.store.history.pending import PENDING, pending, remember
from gitmem.store.history.propagate import purges
from gitmem.store.history.redact import Mask, taken_out
from gitmem.store.layout import FORMAT_PATH, PURGES, record_path, tombstone_path
from gitmem.store.purge import Purged, prune, purge
from gitmem.store.store import Message, Store
from gitmem.store.sync import backup
from tests.conftest import add, edit, forget, fsck, git, git_of, listed, record

SECRET = "the-hidden-word-" + "0987654321"


def everything(path: Path) -> bytes:
    """Return the content of every object in the repository, reachable or not, and all of our own files."""
    done = subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    ours = b"".join(
        file.read_bytes()
        for file in sorted((path / ".git" / "gitmem").rglob("*"))
        if file.is_file()
    )
    return done.stdout + ours


def run(store: Store, path: Path, *ids: str, text: bool = False) -> Purged:
    """Purge as the command does: tombstones first."""
    for id in ids:
        forget(store, id, purged=True)
    return purge(store, git_of(path), ids, Mask([SECRET]) if text else None)


# -- by id


def test_record_is_gone_from_history_and_disk(store, repo):
    """Of a purged record no object is left, whatever commits came after it."""
    one = add(store)
    bad = add(store, record(body=f"{SECRET}\n"))
    edit(store, bad, title=f"also {SECRET}")
    two = add(store)
    before = store.tip()
    out = run(store, repo, bad.id)
    assert SECRET.encode() not in everything(repo)
    assert ({one.id, two.id}, "") == (listed(store), fsck(repo))
    assert out.rewritten >= 3
    assert out.pruned.removed > 0
    assert before not in git(repo, "rev-list", "--all").split()


def test_title_of_a_purged_record_leaves_the_messages(store, repo):
    """Commit subjects carry titles: those of the purged record are replaced, the trailers stay."""
    bad = record(title=f"call {SECRET}")
    store.write(
        [operations.put(bad)], Message(f'memory: add {bad.id} "{bad.title}"', "add", (bad.id,))
    )
    run(store, repo, bad.id)
    text = git(repo, "log", "--format=%B", store.ref)
    assert (False, True) == (SECRET in text, f"Gitmem-Id: {bad.id}" in text)


def test_attic_of_a_purged_record_goes_too(store, repo):
    """The losing side of a merge is removed with its record."""
    bad = add(store, record(body="base\n"))
    store.write(
        [operations.write_file(f"attic/{bad.id}/{'a' * 16}.md", SECRET)], Message("merge", "merge")
    )
    run(store, repo, bad.id)
    assert SECRET.encode() not in everything(repo)


def test_tombstone_stays(store, repo):
    """A later sync knows that the record was purged."""
    bad = add(store)
    run(store, repo, bad.id)
    marks = git(repo, "ls-tree", "-r", "--name-only", store.ref, "tombstones/").split("\n")
    assert [f"tombstones/{bad.id[-2:]}/{bad.id}"] == marks
    assert '"purged": true' in git(repo, "show", f"{store.ref}:{marks[0]}")


def test_commits_keep_author_and_time(store, repo):
    """A rewritten commit differs in what it holds, not in who made it and when."""
    add(store)
    bad = add(store)
    add(store)
    fields = "--format=%an%x00%ae%x00%at%x00%cn%x00%ct"
    before = git(repo, "log", fields, store.ref).split("\n")
    run(store, repo, bad.id)
    after = git(repo, "log", fields, store.ref).split("\n")
    assert before == after[2:]


def test_history_before_the_secret_is_untouched(store, repo):
    """Commits that are older than the secret keep their ids."""
    add(store)
    old = store.tip()
    bad = add(store)
    run(store, repo, bad.id)
    assert old in git(repo, "rev-list", store.ref).split()


def test_merges_stay_merges(store, repo):
    """A history with two parents has its shape afterwards."""
    base = store.create()
    bad = add(store, record(body=SECRET + "\n"))
    side = store.tip()
    store.objects.move(store.ref, side, base, "back")
    good = add(store)
    from gitmem.store.tree_merge import merge_commits

    made, _ = merge_commits(store.objects, store.tip(), side)
    store.objects.move(store.ref, store.tip(), made, "merge")
    before = git(repo, "rev-list", "--count", "--merges", store.ref)
    run(store, repo, bad.id)
    assert ("1", "1") == (before, git(repo, "rev-list", "--count", "--merges", store.ref))
    assert {good.id} == listed(store)
    assert SECRET.encode() not in everything(repo)


# -- by text


def test_text_is_masked_in_every_version(store, repo):
    """A text is replaced wherever it ever stood: records, messages, usage, plain files."""
    item = add(store, record(title=f"uses {SECRET}", body=f"x {SECRET} y\n"))
    item = edit(store, item, title="clean", body="clean\n")
    other = add(store, record(body=f"{SECRET}\n"))
    store.write(
        [operations.write_file("notes.txt", f"{SECRET}\n")], Message(f"note {SECRET}", "file")
    )
    out = run(store, repo, text=True)
    assert SECRET.encode() not in everything(repo)
    assert ({item.id, other.id}, "[purged]\n", "") == (
        listed(store),
        store.get(other.id).record.body,
        fsck(repo),
    )
    assert out.rewritten >= 4


def test_text_that_is_nowhere_changes_nothing(store, repo):
    """A purge of what is not there moves no ref and deletes no object."""
    add(store)
    tip, objects = store.tip(), git(repo, "count-objects", "-v")
    out = run(store, repo, text=True)
    assert (tip, objects, 0, 0) == (
        store.tip(),
        git(repo, "count-objects", "-v"),
        out.rewritten,
        out.pruned.removed,
    )


def test_purge_of_an_empty_store(store, repo):
    """There is nothing to do, and it is not an error."""
    store.home.make()
    assert (0, 0) == ((out := run(store, repo, text=True)).rewritten, out.pruned.removed)


def test_forgotten_first_and_purged_then(store, repo):
    """An earlier mark gives way to that of the purge: its reason and pattern quote the record, today and in history."""
    bad = add(store, record())
    forget(store, bad.id, reason=f"it was {SECRET}", pattern=SECRET)
    run(store, repo, bad.id)
    mark = store.read_file(tombstone_path(bad.id))
    assert (True, False) == (b'"purged": true' in mark, b"reason" in mark)
    assert SECRET.encode() not in everything(repo)


def test_purge_leaves_a_tombstone_itself(store, repo):
    """Whoever calls it: other clones learn that the record is gone for good."""
    bad = add(store)
    purge(store, git_of(repo), [bad.id], None)
    assert b'"purged": true' in store.read_file(tombstone_path(bad.id))


# -- what a mask touches


@pytest.mark.parametrize(
    "text", ['pa"ss\\wo-rd', "tab\there", "käse-größe", "zwei  spaces", "\u2028line", "nine\nlines"]
)
def test_text_is_found_in_its_escaped_forms(store, repo, text):
    """Records hold values as JSON: quotes, backslashes and other characters in escapes, in several forms."""
    item = add(
        store,
        record(
            "gotcha",
            title="T",
            body=f"{text}\n",
            workaround=f"use {text} here",
            triggers={"error": text, "list": [text]},
        ),
    )
    odd = unicodedata.normalize("NFD", text)
    store.write(
        [operations.write_file("other.json", json.dumps([text, odd]))], Message("x", "file")
    )
    purge(store, git_of(repo), [], Mask([text]))
    data = everything(repo)
    for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], odd):
        assert form.encode() not in data
    kept = store.get(item.id).record
    assert ("use [purged] here", "[purged]\n") == (kept.get("workaround"), kept.body)


@pytest.mark.parametrize(
    "word",
    [
        "memory",
        "kind",
        "format",
        "title",
        "active",
        "2026",
        "created",
        "gotcha",
        "tombstones",
        "purged-by",
    ],
)
def test_words_of_the_format_stay(store, repo, word):
    """A text that is a word of the store's own is masked where people wrote it, and nowhere else."""
    item = add(store, record(title=f"about {word}", body=f"{word}\n", tags=[word]))
    gone = add(store, record("gotcha", title="T"))
    forget(store, gone.id)
    store.write(
        [operations.count_reads("usage/r/0.jsonl", {item.id: {"n": 1, "last": item.created}})],
        Message("usage", "usage"),
    )
    before = (
        store.read_file(FORMAT_PATH),
        store.read_file("usage/r/0.jsonl"),
        store.read_file(tombstone_path(gone.id)),
    )
    purge(store, git_of(repo), [], Mask([word]))
    kept = store.get(item.id).record
    assert ("about [purged]", "[purged]\n", ["[purged]"]) == (kept.title, kept.body, kept.tags)
    assert (item.id, item.kind, item.created) == (kept.id, kept.kind, kept.created)
    assert before == (
        store.read_file(FORMAT_PATH),
        store.read_file("usage/r/0.jsonl"),
        store.read_file(tombstone_path(gone.id)),
    )
    assert {item.id} == listed(store)


def test_keys_that_a_program_wrote_are_masked(store, repo):
    """A work item's state may hold anything, in its keys too."""
    item = add(store, record("work", id="wrk-one", state={SECRET: {"deep": [SECRET]}}))
    purge(store, git_of(repo), [], Mask([SECRET]))
    assert SECRET.encode() not in everything(repo)
    assert {"[purged]": {"deep": ["[purged]"]}} == store.get(item.id).record.get("state")


def test_what_a_mask_must_leave_is_named(store, repo):
    """A text in the name of a record is not replaced; the mask tells where it stands."""
    item = add(store, record("work", id="wrk-some-secret-name"))
    mask = Mask(["some-secret-name"])
    tip = store.tip()
    purge(store, git_of(repo), [], mask)
    assert (False, {"work/some-secret-name.md"}, tip) == (mask.found, mask.left, store.tip())
    assert item.id in listed(store)


def test_damaged_record_is_masked_as_bytes(store, repo):
    """A file that does not read as a record has no structure to spare."""
    path = record_path(record().id)
    store.write([operations.write_file(path, f"---\nbroken: [{SECRET}\n")], Message("x", "file"))
    purge(store, git_of(repo), [], Mask([SECRET]))
    assert b"---\nbroken: [[purged]\n" == store.read_file(path)


@pytest.mark.parametrize(
    ("old", "new", "cut"),
    [
        ("x hunter2 y", "x [purged] y", {"hunter2"}),
        ("hunter2", "[purged]", {"hunter2"}),
        ("a hunter2 b hunter2", "a [purged] b [purged]", {"hunter2"}),
        ("one:aaaa two:bbbb", "one:[purged] two:[purged]", {"aaaa", "bbbb"}),
        ("same", "same", set()),
        ("x hunter2 y", "x [purged] z", None),
        ("other", "something else", None),
        ("x abc y", "x [purged] y", None),
    ],
)
def test_what_a_mask_took_out_is_found_by_comparing(old, new, cut):
    """From a file's old and new form the removed text is known, if a mask explains the difference."""
    item = record(body="b\n")
    forms = [encode(item.change(body=text + "\n")) for text in (old, new)]
    assert cut == taken_out(record_path(item.id), *forms)
    assert cut == taken_out("plain.txt", old.encode(), new.encode())


# -- where else it may be


def test_objects_that_no_ref_ever_reached_go(store, repo):
    """A write that was killed or lost a race leaves objects: of ours they go, with what a merge made on its way."""
    item = add(store, record(title=f"a {SECRET}"))
    tip = store.tip()
    edit(store, item, body=f"lost {SECRET}\n")
    store.objects.move(store.ref, store.tip(), tip, "lost")
    alone = git(
        repo,
        "hash-object",
        "-w",
        "--stdin",
        stdin=encode(item.change(body=f"only a blob {SECRET}\n")),
    )
    users = git(
        repo, "hash-object", "-w", "--stdin", stdin=f"the user's own note of {SECRET}".encode()
    )
    run(store, repo, text=True)
    assert [users] == [
        oid for oid in (alone, users) if git(repo, "cat-file", "-t", oid, ok=(0, 128)) == "blob"
    ]
    assert 1 == everything(repo).count(SECRET.encode())


def test_refs_of_the_user_that_keep_it_are_named(store, repo):
    """A branch that the user's own fetch made of the memory keeps the old objects: it is told."""
    bad = add(store, record(body=f"{SECRET}\n"))
    git(repo, "update-ref", "refs/remotes/origin/gitmem/main", store.tip())
    out = run(store, repo, bad.id)
    assert ["refs/remotes/origin/gitmem/main"] == out.held_by
    git(repo, "update-ref", "-d", "refs/remotes/origin/gitmem/main")
    again = add(store)
    assert [] == run(store, repo, again.id).held_by


def test_write_just_before_the_lock_is_purged_too(store, repo, open_store, monkeypatch):
    """What another process commits while a purge waits for its turn belongs to the old history."""
    add(store, record(body=f"{SECRET}\n"))
    other = open_store(repo)
    enter = Lock.__enter__

    def slow(self: Lock) -> Lock:
        monkeypatch.setattr(Lock, "__enter__", enter)
        add(other, record(body=f"also {SECRET}\n"))
        return enter(self)

    monkeypatch.setattr(Lock, "__enter__", slow)
    run(store, repo, text=True)
    assert SECRET.encode() not in everything(repo)
    assert 2 == len(listed(store))


def test_backups_reflogs_and_fetched_refs_go(store, repo):
    """What was backed up, logged or fetched held it too."""
    git(repo, "config", "core.logAllRefUpdates", "always")
    bad = add(store, record(body=f"{SECRET}\n"))
    backup(store, store.tip())
    store.objects.move(f"{REMOTES}origin/main", None, store.tip(), "fetched")
    add(store)
    out = run(store, repo, bad.id)
    assert ({}, {}) == (store.objects.refs(BACKUP), store.objects.refs(REMOTES))
    assert 2 == len(out.dropped_refs)
    assert SECRET.encode() not in everything(repo)
    assert (
        not (repo / ".git" / "logs" / store.ref).exists()
        or SECRET not in (repo / ".git" / "logs" / store.ref).read_text()
    )


@pytest.mark.parametrize("how", ["gc", "repack", "bitmap", "graph", "graphs", "big write"])
def test_packed_objects_go(store, repo, how):
    """Objects in packs are removed as loose ones are; packs, graphs and bitmaps stay sound."""
    keep = [add(store) for _ in range(3)]
    if how == "big write":
        keep += [record() for _ in range(50)]
        bad = record(body=f"{SECRET}\n")
        store.write([operations.put(r) for r in (*keep[3:], bad)], Message("import", "import"))
    else:
        bad = add(store, record(body=f"{SECRET}\n"))
    commands = {
        "gc": ["gc", "-q"],
        "repack": ["repack", "-adq"],
        "bitmap": ["repack", "-adqb"],
        "graph": ["commit-graph", "write", "--reachable"],
        "graphs": ["commit-graph", "write", "--reachable", "--split"],
    }
    if how in commands:
        git(repo, *commands[how])
    run(store, repo, bad.id)
    assert SECRET.encode() not in everything(repo)
    assert ({r.id for r in keep}, "") == (listed(store), fsck(repo))
    assert "" == git(repo, "commit-graph", "verify") if how.startswith("graph") else True


def test_kept_pack_is_told(store, repo):
    """A pack marked .keep is the user's decision: it stays, and its objects are named."""
    bad = add(store, record(body=f"{SECRET}\n"))
    git(repo, "repack", "-adq")
    for pack in (repo / ".git" / "objects" / "pack").glob("*.pack"):
        pack.with_suffix(".keep").touch()
    out = run(store, repo, bad.id)
    assert [] != list(out.pruned.kept)
    assert "" == fsck(repo)


def test_users_own_unreachable_objects_stay(store, repo):
    """A purge is not a prune: dropped commits, stashes and staged files of the user's survive."""
    (repo / "code.py").write_text("lost work\n")
    git(repo, "add", "code.py")
    git(repo, "commit", "-qm", "to be dropped")
    dropped = git(repo, "rev-parse", "HEAD")
    git(repo, "reset", "-q", "--hard", "HEAD^")
    git(repo, "reflog", "expire", "--expire=now", "--all")
    dangling = git(repo, "hash-object", "-w", "--stdin", stdin=b"only the user knows")
    (repo / "code.py").write_text("staged\n")
    git(repo, "add", "code.py")
    (repo / "code.py").write_text("stashed\n")
    git(repo, "stash", "-q")
    (repo / "code.py").write_text("staged again\n")
    git(repo, "add", "code.py")
    bad = add(store, record(body=f"{SECRET}\n"))
    before = (
        git(repo, "for-each-ref", "refs/heads", "refs/stash"),
        git(repo, "status", "--porcelain"),
        git(repo, "stash", "list"),
    )
    run(store, repo, bad.id)
    assert before == (
        git(repo, "for-each-ref", "refs/heads", "refs/stash"),
        git(repo, "status", "--porcelain"),
        git(repo, "stash", "list"),
    )
    for oid in (dropped, dangling):
        assert "" == git(repo, "cat-file", "-e", oid)
    assert "" == fsck(repo)


def test_object_that_the_code_holds_too_stays(store, repo):
    """A blob that is also in the user's history is not ours to delete."""
    bad = add(store, record(body=f"{SECRET}\n"))
    data = subprocess.run(
        ["git", "-C", str(repo), "show", f"{store.ref}:{store.get(bad.id).path}"],
        capture_output=True,
        check=True,
    ).stdout
    (repo / "copy.md").write_bytes(data)
    git(repo, "add", "copy.md")
    git(repo, "commit", "-qm", "the user's own copy")
    run(store, repo, bad.id)
    assert SECRET in git(repo, "show", "HEAD:copy.md")
    assert ("", "") == (fsck(repo), git(repo, "status", "--porcelain"))


def test_private_store_is_not_rewritten(store, repo, open_store):
    """A purge of the shared store leaves the private one as it is."""
    private = open_store(repo, store.objects.traits.name, ref="refs/gitmem/local/main")
    mine = add(private)
    tip = private.tip()
    bad = add(store, record(body=f"{SECRET}\n"))
    run(store, repo, bad.id)
    assert (tip, {mine.id}) == (private.tip(), listed(private))


@pytest.mark.parametrize("kind", ["bare", "worktree", "sha256", "alternates"])
def test_purge_in_other_repositories(make_repo, open_store, kind):
    """It works in bare and SHA-256 repositories, linked worktrees and clones that borrow objects."""
    path = make_repo(kind)
    store = open_store(path)
    bad, good = add(store, record(body=f"{SECRET}\n")), add(store)
    run(store, path, bad.id)
    assert ({good.id}, "") == (listed(store), fsck(path))
    assert SECRET not in subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout.decode("utf-8", "replace")


# -- in the way


def test_purge_waits_for_a_writer(store, repo):
    """While somebody writes, a purge ends with Busy and has done nothing."""
    bad = add(store)
    tip = store.tip()
    store.budget = 0.05
    with Lock(store.home.touch("write.lock"), 1.0), pytest.raises(Busy):
        purge(store, git_of(repo), [bad.id], None)
    assert tip == store.tip()


def test_purge_that_was_killed_is_finished(store, repo, monkeypatch):
    """A purge that died before its objects were deleted is finished by the next prune."""
    bad, good = add(store, record(body=f"{SECRET}\n")), add(store)
    forget(store, bad.id, purged=True)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(
            "gitmem.store.purge.prune", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        purge(store, git_of(repo), [bad.id], None)
    assert SECRET.encode() in everything(repo)
    assert [] != pending(store.home)["tips"]
    prune(git_of(repo), store.home)
    assert SECRET.encode() not in everything(repo)
    assert ({good.id}, {"tips": [], "oids": []}, "") == (
        listed(store),
        pending(store.home),
        fsck(repo),
    )


def test_prune_that_was_killed_is_finished(store, repo):
    """So is one that had begun to delete and had lost the way from the tips to the rest."""
    bad = add(store, record(body=f"{SECRET}\n"))
    blob = store.get(bad.id).oid
    remember(store.home, {"oids": ["0" * 40, blob]})
    git(repo, "update-ref", "-d", store.ref)
    assert 1 == prune(git_of(repo), store.home)[0]
    assert SECRET.encode() not in everything(repo)


def test_prune_never_deletes_what_a_ref_needs(store, repo):
    """A list of doomed objects from a purge that was killed is checked against today's refs."""
    add(store)
    reachable = git(repo, "rev-list", "--objects", "--all", "--no-object-names").split()
    remember(store.home, {"oids": reachable, "tips": [store.tip()]})
    assert (0, ()) == prune(git_of(repo), store.home)[:2]
    assert "" == fsck(repo)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"1", b'{"oids": 1}', b'{"oids": ["../../x", "--all", ""]}', b"\xff"]
)
def test_damaged_note_of_a_killed_purge_is_harmless(store, repo, data):
    """What is left of a purge in our folder may be anything."""
    add(store)
    Path(store.home.join(PENDING)).write_bytes(data)
    prune(git_of(repo), store.home)
    assert "" == fsck(repo)


# -- told to others


def test_boundary_is_written_for_other_clones(store, repo):
    """The purged store names the oldest commit that was replaced, so that others do not bring it back."""
    add(store)
    bad = add(store)
    boundary = store.tip()
    add(store)
    run(store, repo, bad.id)
    (row,) = purges(store.objects, store.tip())
    assert (boundary, True) == (row["boundary"], row["at"].endswith("Z"))
    again = add(store)
    run(store, repo, again.id)
    assert 2 == len(list(purges(store.objects, store.tip())))


@pytest.mark.parametrize(
    "data",
    [
        "",
        "x",
        "[]",
        '{"boundary": 1}',
        '{"boundary": "--all"}\n{"boundary": "HEAD"}',
        "[" * 5000,
        '{"at": 1}',
    ],
)
def test_damaged_list_of_purges_is_harmless(store, data):
    """A list that somebody else damaged names no commit."""
    store.write([operations.write_file(PURGES, data)], Message("x", "file"))
    for row in purges(store.objects, store.tip()):
        assert not store.objects.is_ancestor(row["boundary"], store.tip())


def test_next_write_goes_on_top(store: Store, repo: Path, open_store: Callable[..., Store]):
    """After a purge the store is written and read as before, by this process and by the next."""
    bad, good = add(store, record(body=f"{SECRET}\n")), add(store)
    run(store, repo, bad.id)
    new = add(store)
    assert {good.id, new.id} == listed(store) == listed(open_store(repo))
    assert "purge.json" not in os.listdir(store.home.path)
