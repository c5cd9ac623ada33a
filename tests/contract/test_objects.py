"""What every implementation of `Objects` promises, in every kind of repository."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.errors import External, MissingObject, Moved
from gitmem.git.backend import open_objects
from gitmem.git.objects import (
    BLOB,
    LINK,
    TREE,
    Draft,
    Identity,
    Objects,
    TreeCache,
    TreeDifference,
    TreeEntry,
    diff,
    files,
)
from gitmem.git.objects_cli import CliObjects
from gitmem.repo.location import locate
from gitmem.store.operations import put
from gitmem.store.store import Message
from tests.conftest import GIT_ONLY, WORLDS, add, fsck, git, listed, record

REF = "refs/gitmem/heads/main"
WHO = Identity("Ada Lovelace", "ada@example.org", 1_700_000_000, 120)
WORKER = Path(__file__).parent.parent / "stress" / "worker.py"


def draft(
    edits: dict[str, bytes | TreeEntry | None],
    base: str | None = None,
    parents: tuple[str, ...] = (),
    time: int = 0,
    message: str = "change\n",
) -> Draft:
    who = Identity(WHO.name, WHO.email, WHO.time + time, WHO.offset)
    return Draft(base, edits, parents, message, who, who)


def grow(objects: Objects, parents: tuple[str, ...] = (), time: int = 0, **names: bytes) -> str:
    base = objects.commit(parents[0]).tree if parents else None
    return objects.write(draft({**names}, base, parents, time))


@pytest.fixture(params=WORLDS, ids=lambda w: "-".join(w))
def world(request: pytest.FixtureRequest, make_repo: Callable[..., Path]) -> tuple[str, Path]:
    backend, kind = request.param
    return backend, make_repo(kind)


@pytest.fixture
def objects(world: tuple[str, Path]) -> Iterator[Objects]:
    backend, path = world
    opened = open_objects(locate(str(path), os.environ), os.environ, backend)
    assert opened.traits.name == backend
    yield opened
    opened.close()


def absent(objects: Objects) -> str:
    return "ab" * (32 if objects.traits.hash == "sha256" else 20)


def test_blob_comes_back(objects: Objects):
    """What is written is read, byte for byte."""
    data = b"one\r\n\0\xff two"
    commit = grow(objects, a=data)
    entry = objects.find(objects.commit(commit).tree, "a")
    assert entry is not None
    assert data == objects.read(entry.oid)


def test_commit_comes_back(objects: Objects):
    """Author, zone, parents and message are read as they were written."""
    first = grow(objects, a=b"1")
    second = objects.write(
        draft({"b": b"2"}, objects.commit(first).tree, (first,), 5, "Titel: é\n\nKey: value\n")
    )
    found = objects.commit(second)
    assert ((first,), "Titel: é\n\nKey: value\n") == (found.parents, found.message)
    assert Identity("Ada Lovelace", "ada@example.org", WHO.time + 5, 120) == found.author


def test_nested_edits_keep_their_neighbours(objects: Objects):
    """An edit changes its path alone; a removed path takes empty folders with it."""
    first = objects.write(draft({"x/1/a": b"a", "x/2/b": b"b", "y": b"y"}))
    second = objects.write(
        draft({"x/1/a": None, "x/2/c": b"c"}, objects.commit(first).tree, (first,))
    )
    assert ["x/2/b", "x/2/c", "y"] == [
        path for path, _ in files(objects, objects.commit(second).tree)
    ]


def test_existing_entries_may_be_placed(objects: Objects):
    """An edit may name a folder that exists, which then stands at a second place."""
    first = objects.write(draft({"x/a": b"a"}))
    tree = objects.find(objects.commit(first).tree, "x")
    assert tree is not None
    second = objects.write(
        draft({"copy": TreeEntry("copy", TREE, tree.oid)}, objects.commit(first).tree, (first,))
    )
    assert ["copy/a", "x/a"] == [path for path, _ in files(objects, objects.commit(second).tree)]


def test_removing_everything_leaves_the_empty_tree(objects: Objects):
    """A tree without entries is git's empty tree."""
    first = objects.write(draft({"x/a": b"a"}))
    second = objects.write(draft({"x/a": None}, objects.commit(first).tree, (first,)))
    assert () == objects.tree(objects.commit(second).tree)


def test_git_finds_nothing_wrong(world: tuple[str, Path], objects: Objects):
    """`git fsck --strict` accepts what was written, few objects and many."""
    first = objects.write(draft({"x-/a": b"1", "x/b": b"2", "x.c": b"3", "é/ü": b"4"}))
    many = objects.write(
        draft({f"{n % 7}/{n}": b"%d" % n for n in range(100)}, objects.commit(first).tree, (first,))
    )
    objects.move(REF, None, many, "test")
    assert "" == fsck(world[1])


def test_many_objects_make_one_pack(world: tuple[str, Path], objects: Objects):
    """A batch adds one pack and no loose objects, and is read at once."""
    before = git(world[1], "count-objects", "-v")
    commit = objects.write(draft({f"{n}": b"file %d" % n for n in range(200)}))
    after = git(world[1], "count-objects", "-v")
    loose = [
        next(line for line in text.splitlines() if line.startswith("count:"))
        for text in (before, after)
    ]
    assert loose[0] == loose[1]
    assert 200 == len(objects.tree(objects.commit(commit).tree))


def test_ref_is_created_moved_and_read(objects: Objects):
    """A ref names what it was last moved to."""
    assert objects.tip(REF) is None
    one = grow(objects, a=b"1")
    two = grow(objects, (one,), 1, a=b"2")
    objects.move(REF, None, one, "one")
    objects.move(REF, one, two, "two")
    assert two == objects.tip(REF)
    assert {REF: two} == objects.refs("refs/gitmem/")


def test_move_from_another_value_is_refused(objects: Objects):
    """A move whose old value is not the ref's raises Moved and leaves the ref."""
    one, other = grow(objects, a=b"1"), grow(objects, a=b"x")
    objects.move(REF, None, one, "one")
    with pytest.raises(Moved):
        objects.move(REF, other, other, "lost race")
    assert one == objects.tip(REF)


def test_creating_what_exists_is_refused(objects: Objects):
    """`old=None` means that the ref must not exist."""
    one, other = grow(objects, a=b"1"), grow(objects, a=b"x")
    objects.move(REF, None, one, "one")
    with pytest.raises(Moved):
        objects.move(REF, None, other, "second creator")
    assert one == objects.tip(REF)


def test_moving_what_is_gone_is_refused(objects: Objects):
    """A move of a ref that was deleted raises Moved."""
    one = grow(objects, a=b"1")
    with pytest.raises(Moved):
        objects.move(REF, one, one, "nothing there")


def test_packed_refs_are_read_and_moved(world: tuple[str, Path], objects: Objects):
    """A ref that git packed is the same ref."""
    one = grow(objects, a=b"1")
    two = grow(objects, (one,), 1, a=b"2")
    objects.move(REF, None, one, "one")
    git(world[1], "pack-refs", "--all")
    assert one == objects.tip(REF)
    objects.move(REF, one, two, "two")
    assert two == objects.tip(REF)


def test_a_broken_ref_is_an_error(world: tuple[str, Path], objects: Objects):
    """A loose file that a power cut emptied is not read past: packed-refs has an older value."""
    _, path = world
    where = locate(str(path), os.environ).commondir
    if os.path.isdir(os.path.join(where, "reftable")):
        assert objects.tip(REF) is None
        return
    first = grow(objects, a=b"1")
    objects.move(REF, None, first, "made")
    git(path, "pack-refs", "--all")
    objects.move(REF, first, grow(objects, (first,), 1, a=b"2"), "moved")
    for left in (b"", b"\0" * 41, b"no oid\n"):
        Path(where, REF).write_bytes(left)
        with pytest.raises(External, match=REF):
            objects.tip(REF)


def test_delete_takes_the_ref(objects: Objects):
    """A deleted ref is gone; deleting it again raises Moved."""
    one = grow(objects, a=b"1")
    objects.move(REF, None, one, "one")
    objects.delete(REF, one)
    assert objects.tip(REF) is None
    with pytest.raises(Moved):
        objects.delete(REF, one)


def test_delete_of_another_value_is_refused(objects: Objects):
    """A delete whose old value is not the ref's raises Moved and leaves the ref."""
    one, other = grow(objects, a=b"1"), grow(objects, a=b"x")
    objects.move(REF, None, one, "one")
    with pytest.raises(Moved):
        objects.delete(REF, other)
    assert one == objects.tip(REF)


def test_refs_outside_the_prefix_are_not_listed(world: tuple[str, Path], objects: Objects):
    """A listing holds what starts with the prefix only, to the character."""
    one = grow(objects, a=b"1")
    for name in ("refs/gitmem/backup/a", "refs/gitmem/backups", "refs/gitmem/local/main"):
        objects.move(name, None, one, "x")
    assert {"refs/gitmem/backup/a": one} == objects.refs("refs/gitmem/backup/")


def test_missing_object_is_an_error_of_its_own(objects: Objects):
    """Reading what is not there raises MissingObject; the next read works."""
    present = grow(objects, a=b"1")
    for read in (objects.read, objects.tree, objects.commit):
        with pytest.raises(MissingObject):
            read(absent(objects))
    assert present == objects.commit(present).oid


def test_read_many_keeps_the_order(objects: Objects):
    """Many blobs come in the order that they were asked for, repeats included."""
    tree = objects.commit(objects.write(draft({f"{n:04}": b"%d" % n for n in range(1100)}))).tree
    oids = [e.oid for e in objects.tree(tree)]
    wanted = [*reversed(oids), oids[0]]
    assert wanted == [oid for oid, _ in objects.read_many(wanted)]


def test_read_many_reports_a_hole_and_goes_on(objects: Objects):
    """A missing blob among many raises MissingObject, and leaves the reader usable."""
    commit = objects.write(draft({"a": b"1", "b": b"2"}))
    one, two = (e.oid for e in objects.tree(objects.commit(commit).tree))
    with pytest.raises(MissingObject):
        list(objects.read_many([one, absent(objects), two]))
    assert [(two, b"2"), (one, b"1")] == list(objects.read_many([two, one]))


def test_large_blobs_are_passed_over(objects: Objects):
    """What is larger than asked for is None; the blobs around it come, in order, and the reader goes on."""
    sizes = {"a": 10, "b": 11, "c": 3_000_000, "d": 20_000_000, "e": 1, "f": 20_000_001, "g": 9}
    tree = objects.commit(
        objects.write(draft({name: b"z" * size for name, size in sizes.items()}))
    ).tree
    oids = {e.name: e.oid for e in objects.tree(tree)}
    found = list(objects.read_many_small([*oids.values(), oids["a"]], 10))
    assert [*oids.values(), oids["a"]] == [oid for oid, _ in found]
    assert [10, None, None, None, 1, None, 9, 10] == [
        None if data is None else len(data) for _, data in found
    ]
    assert [None, b"z", None] == [objects.read_small(oids[name], 10) for name in "deb"]
    assert 20_000_000 == len(objects.read(oids["d"]))
    with pytest.raises(MissingObject):
        list(objects.read_many_small([oids["d"], absent(objects), oids["e"]], 10))
    assert b"z" == objects.read_small(oids["e"], 1)


def test_tree_of_any_size_is_not_parsed(objects: Objects, monkeypatch):
    """A tree or a commit beyond all reason is an error with a hint."""
    commit = objects.write(draft({f"{n:04}": b"" for n in range(100)}))
    tree = objects.commit(commit).tree
    objects._tree = TreeCache(objects._read_tree)  # type: ignore[attr-defined]
    monkeypatch.setattr("gitmem.git.objects.MAX_PARSED", 1000)
    with pytest.raises(External, match="more than a folder"):
        objects.tree(tree)
    assert commit == objects.commit(commit).oid


def test_find_follows_folders_only(objects: Objects):
    """A path through a file, or to nothing, finds nothing."""
    tree = objects.commit(objects.write(draft({"x/a": b"1"}))).tree
    assert [True, True, False, False] == [
        objects.find(tree, p) is not None for p in ("x", "x/a", "x/a/b", "y/z")
    ]


def test_walk_is_newest_first_and_hides(objects: Objects):
    """Children come before parents; what a hidden tip reaches is left out."""
    a = grow(objects, a=b"1")
    b = grow(objects, (a,), 1, b=b"2")
    c = grow(objects, (a,), 2, c=b"3")
    d = grow(objects, (b, c), 3, d=b"4")
    assert [d, c, b, a] == [commit.oid for commit in objects.walk([d])]
    assert [d, c] == [commit.oid for commit in objects.walk([d], [b])]
    assert [] == list(objects.walk([]))


def test_bases_and_ancestors(objects: Objects):
    """Two crossed merges have two bases, sorted; unrelated commits have none."""
    root = grow(objects, a=b"1")
    b, c = grow(objects, (root,), 1, b=b"2"), grow(objects, (root,), 2, c=b"3")
    m, n = grow(objects, (b, c), 3, m=b"m"), grow(objects, (c, b), 4, n=b"n")
    other = grow(objects, z=b"unrelated")
    assert (tuple(sorted((b, c))), (root,), ()) == (
        objects.bases(m, n),
        objects.bases(b, c),
        objects.bases(m, other),
    )
    assert [True, True, False, False] == [
        objects.is_ancestor(*pair) for pair in ((root, m), (m, m), (m, root), (other, m))
    ]


def test_ancestor_that_is_not_there_is_none(objects: Objects):
    """An unknown commit, or text that is none, is nobody's ancestor."""
    tip = grow(objects, a=b"1")
    assert [False, False, False] == [
        objects.is_ancestor(name, tip) for name in (absent(objects), "zzz", "--help")
    ]


def test_diff_opens_only_what_differs(objects: Objects):
    """A change, an addition, a removal and a file that became a folder are each told once."""
    one = objects.commit(
        objects.write(draft({"same/x": b"s", "x/a": b"1", "x/b": b"2", "f": b"file"}))
    ).tree
    two = objects.commit(
        objects.write(draft({"same/x": b"s", "x/a": b"9", "x/c": b"3", "f/g": b"now a folder"}))
    ).tree
    changes = {c.path: (c.old is not None, c.new is not None) for c in diff(objects, one, two)}
    assert {
        "x/a": (True, True),
        "x/b": (True, False),
        "x/c": (False, True),
        "f": (True, False),
        "f/g": (False, True),
    } == changes
    assert [] == list(diff(objects, one, one))


def test_names_that_are_not_utf8_survive(world: tuple[str, Path], objects: Objects):
    """A tree made by somebody else with Latin-1 names is read, and kept by an edit beside it."""
    path = world[1]
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"x")
    tree = git(path, "mktree", "-z", stdin=b"100644 blob " + blob.encode() + b"\tcaf\xe9\0")
    commit = objects.write(draft({"new": b"1"}, tree))
    names = [e.name for e in objects.tree(objects.commit(commit).tree)]
    assert ["caf\udce9", "new"] == names


def test_writes_of_git_are_seen(world: tuple[str, Path], objects: Objects):
    """What another git process wrote after opening, loose or packed, is read."""
    path = world[1]
    objects.tip(REF)
    oids = []
    for n in range(3):
        blob = git(path, "hash-object", "-w", "--stdin", stdin=b"foreign %d" % n)
        tree = git(path, "mktree", stdin=f"100644 blob {blob}\tf\n".encode())
        commit = git(path, "commit-tree", "-m", "foreign", tree)
        git(path, "update-ref", f"refs/heads/foreign{n}", commit)
        git(path, "repack", "-qad")
        oids.append((commit, blob))
    assert [b"foreign 0", b"foreign 1", b"foreign 2"] == [objects.read(blob) for _, blob in oids]


def test_user_sees_no_trace(world: tuple[str, Path], objects: Objects):
    """Branches and HEAD stay as they were."""
    path = world[1]
    before = (
        git(path, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes"),
        git(path, "symbolic-ref", "HEAD"),
    )
    objects.move(REF, None, grow(objects, a=b"1"), "x")
    assert before == (
        git(path, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes"),
        git(path, "symbolic-ref", "HEAD"),
    )


def test_store_works_end_to_end(world: tuple[str, Path], open_store):
    """A record written through one opening is read through another."""
    backend, path = world
    item = add(open_store(path, backend), record(title="é", body="line\n"))
    again = open_store(path, backend)
    assert item == again.get(item.id).record


def test_linked_worktrees_share_one_store(make_repo, open_store):
    """What is written in a linked worktree is read in the main one."""
    path = make_repo("worktree")
    item = add(open_store(path))
    assert {item.id} == listed(open_store(path.parent / "source"))


def test_submodule_has_its_own_store(make_repo, open_store):
    """A write in a submodule leaves the outer repository without a store."""
    path = make_repo("submodule")
    add(open_store(path))
    assert open_store(path.parent).tip() is None


@pytest.mark.parametrize("kind", GIT_ONLY)
def test_what_libgit2_cannot_do_is_left_to_git(kind, make_repo):
    """Asked for libgit2, such a repository is opened with the git command."""
    opened = open_objects(locate(str(make_repo(kind)), os.environ), os.environ, "libgit2")
    assert isinstance(opened, CliObjects)


def test_partial_clone_fetches_a_missing_blob_when_asked(make_repo, open_store):
    """A store's blob that a filtered fetch left out is named when it is read, and fetched when the user asks for that."""
    path = make_repo("partial")
    item = add(open_store(path.parent / "source"))
    git(path, "fetch", "-q", "origin", f"{REF}:{REF}")
    with pytest.raises(MissingObject) as missing:
        open_store(path).get(item.id)
    assert "doctor --fix" in missing.value.hint
    git(path, "fetch", "-q", "--refetch", "--no-filter", "origin", f"{REF}:{REF}")
    assert item == open_store(path).get(item.id).record


def test_alternate_objects_are_read(make_repo, open_store):
    """Commits that only the alternate holds are read, and a write on top of them works."""
    path = make_repo("alternates")
    item = add(open_store(path.parent / "source"))
    git(path, "update-ref", REF, git(path.parent / "source", "rev-parse", REF))
    for backend in ("libgit2", "git"):
        mine = add(open_store(path, backend))
        assert {item.id, mine.id} <= listed(open_store(path, backend))


def test_group_may_write_whatever_we_made(make_repo, open_store):
    """In a group-shared repository every file and folder we make is the group's to use, in objects, refs and our own folder."""
    path = make_repo("group")
    before = set((path / ".git").rglob("*"))
    old = os.umask(0o022)
    try:
        store = open_store(path)
        add(store)
        store.no_write = "to fill the journal"
        add(store)
        store.no_write = ""
        store.write([put(record(title=f"{n}")) for n in range(60)], Message("many", "add"))
    finally:
        os.umask(old)
    bad = []
    for found in set((path / ".git").rglob("*")) - before:
        mode = found.stat().st_mode
        read_only = found.suffix in {".pack", ".idx", ".rev"} or (
            found.parent.parent.name == "objects" and found.parent.name != "pack"
        )
        want = 0o070 if stat.S_ISDIR(mode) else 0o040 if read_only else 0o060
        if mode & want != want:
            bad.append((str(found.relative_to(path)), oct(mode)))
    assert [] == bad


def test_both_back_ends_make_the_same_commit(make_repo):
    """One draft has one oid, whichever implementation writes it, few objects or many."""
    opened = [
        open_objects(locate(str(make_repo("bare")), os.environ), os.environ, backend)
        for backend in ("libgit2", "git")
    ]
    few = draft(
        {"a/b": b"1", "a-": b"2", "link": b"x", "é": b"3"}, message="Titel\n\nGitmem-Op: x\n"
    )
    many = draft({f"{n}/f": b"%d" % n for n in range(55)})
    got = [[objects.write(few), objects.write(many)] for objects in opened]
    for objects in opened:
        objects.close()
    assert got[0] == got[1]


def test_git_itself_makes_the_same_commit(make_repo):
    """Our bytes are git's: `git commit-tree` of the same content gives our oid."""
    path = make_repo("bare")
    objects = open_objects(locate(str(path), os.environ), os.environ, "git")
    ours = objects.write(draft({"a/b": b"1"}, message="Titel\n"))
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"1")
    inner = git(path, "mktree", stdin=f"100644 blob {blob}\tb\n".encode())
    tree = git(path, "mktree", stdin=f"040000 tree {inner}\ta\n".encode())
    objects.close()
    dates = {
        f"GIT_{r}_{k}": v
        for r in ("AUTHOR", "COMMITTER")
        for k, v in (("NAME", WHO.name), ("EMAIL", WHO.email), ("DATE", f"@{WHO.time} +0200"))
    }
    theirs = subprocess.run(
        ["git", "-C", str(path), "commit-tree", tree],
        input=b"Titel\n",
        env={**os.environ, **dates},
        capture_output=True,
        check=True,
    ).stdout
    assert theirs.decode().strip() == ours


def test_a_change_knows_its_sides(make_repo):
    """A link and a file of one name differ by mode: the change carries both entries."""
    path = make_repo("bare")
    objects = open_objects(locate(str(path), os.environ), os.environ, "git")
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"/etc/passwd")
    trees = [
        git(path, "mktree", stdin=f"{mode} blob {blob}\tx\n".encode())
        for mode in ("100644", "120000")
    ]
    changes = list(diff(objects, *trees))
    objects.close()
    assert [TreeDifference("x", TreeEntry("x", BLOB, blob), TreeEntry("x", LINK, blob))] == changes


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_creation_race_has_one_winner(backend, make_repo):
    """Of six processes that create one ref at once, one wins, forty times over."""
    path = make_repo("bare")
    argv = [sys.executable, str(WORKER), "create", str(path), backend, "40"]
    children = [
        subprocess.Popen([*argv, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(6)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    outs = _go(children)
    wins = sorted(int(n) for out in outs for n in out.split())
    assert list(range(40)) == wins


def _go(children: "list[subprocess.Popen[str]]") -> list[str]:
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    outs = [child.communicate(timeout=120)[0] for child in children]
    assert [0] * len(children) == [child.returncode for child in children]
    return outs
