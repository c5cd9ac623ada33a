"""Merging two stores: nothing acknowledged is lost, and it does not matter who merges."""

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.git.objects import Draft, Identity, diff, files
from gitmem.records.codec import encode
from gitmem.store import operations
from gitmem.store.layout import (
    FORMAT_BYTES,
    FORMAT_PATH,
    attic_path,
    record_path,
    safe_path,
    tombstone_path,
    usage_path,
)
from gitmem.store.operations import View, apply
from gitmem.store.reader import Damaged, load
from gitmem.store.store import Store
from gitmem.store.tree_merge import merge_commits, root_draft
from gitmem.store.usage_file import parse_usage
from tests.conftest import CLOCK, fsck, git, record

AT = "2026-02-03T04:05:06Z"


class World:
    """Branches of one store, made commit by commit without refs."""

    def __init__(self, store: Store, path: Path) -> None:
        self.objects = store.objects
        self.path = path
        self.root = self.objects.write(root_draft())
        self.time = 1_700_000_000

    def files(self, commit: str) -> dict[str, bytes]:
        return {
            p: self.objects.read(e.oid)
            for p, e in files(self.objects, self.objects.commit(commit).tree)
        }

    def commit(self, parent: str, *changes: operations.Op, **paths: bytes | None) -> str:
        """Commit operations, or files given as `path=bytes`, on a parent."""
        view = View(self.files(parent).get)
        for op in changes:
            apply(op, view)
        return self.plain(parent, {**view.edits, **paths})

    def plain(
        self, parent: str | None, edits: dict[str, bytes | None], tree: str | None = None
    ) -> str:
        self.time += 1
        who = Identity("Ada", "ada@example.org", self.time)
        base = tree or (self.objects.commit(parent).tree if parent else None)
        return self.objects.write(
            Draft(base, edits, (parent,) if parent else (), "change\n", who, who)
        )

    def raw(self, parent: str, tree: str) -> str:
        """Commit a tree that somebody else made."""
        return self.plain(parent, {}, tree)

    def merge(self, one: str, two: str) -> dict[str, bytes]:
        """Merge both ways round; the commits must be the same, git must find nothing wrong, a repeat must change nothing."""
        made, _ = merge_commits(self.objects, one, two)
        assert made == merge_commits(self.objects, two, one)[0]
        assert (
            made
            == merge_commits(self.objects, made, one)[0]
            == merge_commits(self.objects, two, made)[0]
        )
        git(self.path, "update-ref", "refs/gitmem/test", made)
        assert "" == fsck(self.path)
        return self.files(made)

    def blob(self, data: bytes) -> str:
        return git(self.path, "hash-object", "-w", "--stdin", stdin=data)

    def tree(self, *rows: tuple[str, str, bytes]) -> str:
        """Make a tree with any names, as an attacker can: no check of git's is asked."""
        raw = b"".join(
            mode.lstrip("0").encode() + b" " + name + b"\0" + bytes.fromhex(oid)
            for mode, oid, name in rows
        )
        done = subprocess.run(
            ["git", "-C", self.path, "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
            input=raw,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()


@pytest.fixture
def world(store: Store, repo: Path) -> World:
    return World(store, repo)


def at(files: dict[str, bytes], id: str):
    """Return the record of an id in a tree's files."""
    found = load(record_path(id), "", files[record_path(id)])
    assert not isinstance(found, Damaged), found
    return found.record


def attic(files: dict[str, bytes], id: str) -> list[bytes]:
    return [data for path, data in files.items() if path.startswith(f"attic/{id}/")]


# -- ordinary merges


def test_two_new_records_are_both_there(world):
    """What either side added is in the merge."""
    a, b = record(), record()
    got = world.merge(
        world.commit(world.root, operations.put(a)), world.commit(world.root, operations.put(b))
    )
    assert {FORMAT_PATH, record_path(a.id), record_path(b.id)} == set(got)


def test_side_that_holds_the_other_is_the_merge(world):
    """A fast-forward makes no commit."""
    one = world.commit(world.root, operations.put(record()))
    two = world.commit(one, operations.put(record()))
    assert (
        two
        == merge_commits(world.objects, one, two)[0]
        == merge_commits(world.objects, two, one)[0]
    )


def test_merge_commit_depends_on_its_parents_alone(world):
    """Parents are sorted, the author is fixed, the time is the later parent's."""
    one, two = (
        world.commit(world.root, operations.put(record())),
        world.commit(world.root, operations.put(record())),
    )
    found = world.objects.commit(merge_commits(world.objects, one, two)[0])
    assert (tuple(sorted((one, two))), "gitmem", world.time) == (
        found.parents,
        found.author.name,
        found.author.time,
    )


def test_edits_of_one_record_are_joined(world):
    """Different fields and lines of one record are joined."""
    item = record(title="T", body="one\ntwo\nthree\nfour\nfive\n", tags=["a"])
    base = world.commit(world.root, operations.put(item))
    one = world.commit(
        base,
        operations.put(
            item.touched(AT).change(body="ONE\ntwo\nthree\nfour\nfive\n", tags=["a", "b"]), item
        ),
    )
    two = world.commit(
        base,
        operations.put(
            item.touched(AT).change(body="one\ntwo\nthree\nfour\nFIVE\n", importance=9), item
        ),
    )
    got = at(world.merge(one, two), item.id)
    assert ("ONE\ntwo\nthree\nfour\nFIVE\n", ["a", "b"], 9, None) == (
        got.body,
        got.tags,
        got.get("importance"),
        got.get("conflict"),
    )


def test_conflict_keeps_both_texts(world):
    """Of two texts of one line, one stays, marked; the other is in the attic."""
    item = record(body="base\n")
    base = world.commit(world.root, operations.put(item))
    one = world.commit(base, operations.put(item.touched(AT).change(body="left\n"), item))
    two = world.commit(base, operations.put(item.touched(AT).change(body="right\n"), item))
    got = world.merge(one, two)
    _, report = merge_commits(world.objects, one, two)
    assert ([item.id], True) == (report.conflicts, at(got, item.id).get("conflict"))
    texts = b"".join([got[record_path(item.id)], *attic(got, item.id)])
    assert b"left" in texts
    assert b"right" in texts


def test_counts_add_up(world):
    """Hits on a gotcha that both sides counted are summed."""
    item = record("gotcha", occurrences=3, last_seen=AT)
    base = world.commit(world.root, operations.put(item))
    one = world.commit(base, operations.observe(item, 2, "2026-02-04T00:00:00Z"))
    two = world.commit(base, operations.observe(item, 5, "2026-02-05T00:00:00Z"))
    got = at(world.merge(one, two), item.id)
    assert (10, "2026-02-05T00:00:00Z") == (got.get("occurrences"), got.get("last_seen"))


def test_reads_of_one_replica_add_up(world):
    """A usage file that both sides changed (a copied clone) has the sum."""
    path = usage_path("r", "aa")
    base = world.commit(world.root, operations.count_reads(path, {"x": {"n": 5, "last": AT}}))
    one = world.commit(base, operations.count_reads(path, {"x": {"n": 1, "last": AT}}))
    two = world.commit(
        base, operations.count_reads(path, {"x": {"n": 2, "last": AT}, "y": {"n": 1, "last": AT}})
    )
    assert {"x": 8, "y": 1} == {
        k: v["n"] for k, v in parse_usage(world.merge(one, two)[path]).items()
    }


def test_unknown_file_changed_on_both_sides_is_kept_twice(world):
    """A file that no rule knows (a newer gitmem's) stays, and the other side's version is in the attic."""
    got = world.merge(
        world.commit(world.root, **{"new-thing.json": b"1"}),
        world.commit(world.root, **{"new-thing.json": b"2"}),
    )
    assert {b"1", b"2"} == {got["new-thing.json"], *attic(got, "files")}


# -- removal


def test_removed_here_untouched_there_is_removed(world):
    """A collected record that nobody else changed is gone."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    got = world.merge(
        world.commit(base, operations.collect(item.id)),
        world.commit(base, operations.put(record())),
    )
    assert record_path(item.id) not in got


def test_collected_here_used_there_comes_back(world):
    """An edit wins over decay's removal."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    got = world.merge(
        world.commit(base, operations.collect(item.id)),
        world.commit(base, operations.put(item.touched(AT).change(title="used"), item)),
    )
    assert "used" == at(got, item.id).title


def test_forgotten_here_edited_there_is_forgotten(world):
    """Forgetting on purpose wins over an edit, which is kept in the attic."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    edited = item.touched(AT).change(title="edited")
    got = world.merge(
        world.commit(base, operations.forget(item.id, AT, "Ada")),
        world.commit(base, operations.put(edited, item)),
    )
    assert (False, True) == (record_path(item.id) in got, tombstone_path(item.id) in got)
    assert [encode(edited)] == attic(got, item.id)


def test_purged_here_edited_there_leaves_nothing(world):
    """An edit of a purged record is not kept anywhere."""
    item = record(body="secret\n")
    base = world.commit(world.root, operations.put(item))
    edited = item.touched(AT).change(title="edited")
    got = world.merge(
        world.commit(base, operations.forget(item.id, AT, "Ada", purged=True)),
        world.commit(base, operations.put(edited, item)),
    )
    assert b"secret" not in b"".join(got.values())


def test_forgotten_on_both_sides_is_forgotten_once(world):
    """Two marks of one id become one, the same whoever merges."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    got = world.merge(
        world.commit(base, operations.forget(item.id, AT, "Ada")),
        world.commit(base, operations.forget(item.id, AT, "Bob")),
    )
    assert 1 == len([p for p in got if p.startswith("tombstones/")])


def test_captured_here_muted_there_stays_muted(world):
    """A gotcha that one side learned while the other forgot its id goes to the attic."""
    item = record("gotcha")
    muted = world.commit(
        world.commit(world.root, operations.put(item)), operations.forget(item.id, AT, "Ada")
    )
    again = item.touched(AT).change(title="learned again")
    got = world.merge(muted, world.commit(world.root, operations.put(again)))
    assert (False, [encode(again)]) == (record_path(item.id) in got, attic(got, item.id))


def test_restored_here_untouched_there_is_restored(world):
    """A restore on one side lifts the tombstone in the merge."""
    item = record()
    base = world.commit(
        world.commit(world.root, operations.put(item)), operations.forget(item.id, AT, "Ada")
    )
    got = world.merge(
        world.commit(base, operations.put(item, revive=True)),
        world.commit(base, operations.put(record())),
    )
    assert (True, False) == (record_path(item.id) in got, tombstone_path(item.id) in got)


def test_edit_of_one_record_and_forgetting_of_another_do_not_meet(world):
    """Records in one shard are merged one by one."""
    one, two = record(), record()
    two = record(id=one.id[:-3] + ("0" if one.id[-3] != "0" else "1") + one.id[-2:])
    base = world.commit(world.root, operations.put(one), operations.put(two))
    got = world.merge(
        world.commit(base, operations.forget(one.id, AT, "Ada")),
        world.commit(base, operations.put(two.touched(AT).change(title="kept"), two)),
    )
    assert "kept" == at(got, two.id).title


# -- damage


def test_damaged_on_one_side_keeps_the_sound_one(world):
    """The sound version stays; the damaged bytes are in the attic, and told."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    sound = item.touched(AT).change(title="sound")
    one, two = (
        world.commit(base, **{record_path(item.id): b"<<<<<<< ours\n"}),
        world.commit(base, operations.put(sound, item)),
    )
    got = world.merge(one, two)
    assert (encode(sound), [b"<<<<<<< ours\n"]) == (got[record_path(item.id)], attic(got, item.id))
    assert [record_path(item.id)] == merge_commits(world.objects, one, two)[1].damaged


def test_damaged_on_both_sides_keeps_both(world):
    """Two damaged versions are both kept: one at the path, one in the attic."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    got = world.merge(
        world.commit(base, **{record_path(item.id): b"bad one"}),
        world.commit(base, **{record_path(item.id): b"bad two"}),
    )
    assert {b"bad one", b"bad two"} == {got[record_path(item.id)], *attic(got, item.id)}


def test_damaged_on_one_side_only_is_taken_as_it_is(world):
    """A damaged file that the other side lacks is carried over byte for byte."""
    id = record().id
    got = world.merge(
        world.commit(world.root, **{record_path(id): b"\xff\xfe"}),
        world.commit(world.root, operations.put(record())),
    )
    assert b"\xff\xfe" == got[record_path(id)]


# -- shapes of history


def test_unrelated_roots_are_joined(world):
    """Two stores without a common commit keep what either has."""
    a, b, shared = record(), record(), record(title="both")
    one = world.plain(
        None,
        {
            FORMAT_PATH: FORMAT_BYTES,
            record_path(a.id): encode(a),
            record_path(shared.id): encode(shared),
        },
    )
    two = world.plain(
        None,
        {
            FORMAT_PATH: FORMAT_BYTES,
            record_path(b.id): encode(b),
            record_path(shared.id): encode(shared),
        },
    )
    assert {FORMAT_PATH, *(record_path(x.id) for x in (a, b, shared))} == set(world.merge(one, two))


def test_crossed_merges_are_joined(world):
    """Two merges of the same pair, each with a change after it, meet without loss or conflict."""
    item = record(body="one\ntwo\nthree\nfour\nfive\n")
    base = world.commit(world.root, operations.put(item))
    one = world.commit(
        base, operations.put(item.touched(AT).change(body="ONE\ntwo\nthree\nfour\nfive\n"), item)
    )
    two = world.commit(
        base, operations.put(item.touched(AT).change(body="one\ntwo\nthree\nfour\nFIVE\n"), item)
    )
    extra, more = record(), record()
    left, _ = merge_commits(world.objects, world.commit(one, operations.put(extra)), two)
    right, _ = merge_commits(world.objects, world.commit(two, operations.put(more)), one)
    assert 2 == len(world.objects.bases(left, right))
    found = at(world.files(left), item.id)
    last = world.commit(left, operations.put(found.touched(AT).change(tags=["late"]), found))
    got = world.merge(last, right)
    assert {record_path(i.id) for i in (item, extra, more)} <= set(got)
    assert ("ONE\ntwo\nthree\nfour\nFIVE\n", ["late"]) == (
        at(got, item.id).body,
        at(got, item.id).tags,
    )


@pytest.mark.parametrize(
    "order", list(itertools.permutations(range(3))), ids=lambda o: "".join(map(str, o))
)
def test_three_sides_give_one_tree_in_any_order(world, order):
    """Three replicas that edit one record end with the same record whatever the order of merges."""
    item = record(
        id="mem-01arz3ndektsv4rrffq69g5f1v",
        created=AT,
        updated=AT,
        body="one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
        tags=["a"],
    )
    base = world.commit(world.root, operations.put(item))
    edits = [
        {"body": "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"},
        {"title": "X", "tags": []},
        {"title": "Y", "body": "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n"},
    ]
    sides = [world.commit(base, operations.put(item.touched(AT).change(**e), item)) for e in edits]
    made = sides[order[0]]
    for n in order[1:]:
        made, _ = merge_commits(world.objects, made, sides[n])
    got = at(world.files(made), item.id)
    assert ("Y", "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n", []) == (
        got.title,
        got.body,
        got.tags,
    ) or got.title == "X"
    assert (
        world.files(made)[record_path(item.id)]
        == world.files(
            merge_commits(
                world.objects, merge_commits(world.objects, sides[0], sides[1])[0], sides[2]
            )[0]
        )[record_path(item.id)]
    )


# -- hostile trees


def hostile(world: World, kind: str) -> str:
    """Return the oid of a tree with one record and something that must not come in."""
    blob = world.blob(b"payload")
    keep = ("100644", world.blob(FORMAT_BYTES), FORMAT_PATH.encode())
    id = "mem-01arz3ndektsv4rrffq69g5f1v"
    name = f"{id}.md".encode()

    def below(*rows: tuple[str, str, bytes]) -> str:
        return world.tree(("40000", world.tree(*rows), b"1v"))

    commit = world.root
    rows: dict[str, Callable[[], list[tuple[str, str, bytes]]]] = {
        "symlink": lambda: [
            ("40000", below(("120000", world.blob(b"/etc/passwd"), name)), b"memories")
        ],
        "gitlink": lambda: [("40000", below(("160000", commit, name)), b"memories")],
        "dotdot": lambda: [("40000", world.tree(("100644", blob, b"evil")), b"..")],
        "dot": lambda: [("40000", world.tree(("100644", blob, b"evil")), b".")],
        "dotgit": lambda: [("40000", world.tree(("100644", blob, b"config")), b".git")],
        "dotgit-upper": lambda: [("40000", world.tree(("100644", blob, b"config")), b".GIT")],
        "git~1": lambda: [("40000", world.tree(("100644", blob, b"config")), b"git~1")],
        "absolute": lambda: [("100644", blob, b"/etc/cron.d/x")],
        "slashes": lambda: [("100644", blob, b"../../../evil")],
        "backslash": lambda: [("100644", blob, b"..\\evil")],
        "newline": lambda: [("100644", blob, b"a\nb")],
        "empty-name": lambda: [("100644", blob, b"")],
        "not-utf8": lambda: [("100644", blob, b"\xff\xfe")],
        "long-name": lambda: [("100644", blob, b"x" * 5000)],
        "odd-mode": lambda: [("100600", blob, b"odd")],
        "deep": lambda: [("40000", _deep(world, blob, 3000), b"deep")],
    }
    return world.tree(keep, *rows[kind]())


def _deep(world: World, blob: str, levels: int) -> str:
    tree = world.tree(("100644", blob, b"f"))
    for _ in range(levels // 100):
        rows = []
        for _ in range(100):
            data = b"40000 d\0" + bytes.fromhex(tree)
            tree = __import__("gitmem.git.object_codec", fromlist=["x"]).object_id(
                "tree", data, "sha1"
            )
            rows.append((tree, "tree", data))
        world.objects.store(rows)
    return tree


HOSTILE = (
    "symlink",
    "gitlink",
    "dotdot",
    "dot",
    "dotgit",
    "dotgit-upper",
    "git~1",
    "absolute",
    "slashes",
    "backslash",
    "newline",
    "empty-name",
    "not-utf8",
    "long-name",
    "odd-mode",
    "deep",
)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_entry_is_left_out(world, kind):
    """What could lead out of the store, or is not a plain file, is not merged in; it is told, and the rest is merged."""
    good, ours = record(), record()
    theirs = (
        world.commit(world.raw(world.root, hostile(world, kind)), operations.put(good))
        if kind not in {"absolute", "slashes", "empty-name"}
        else None
    )
    theirs = theirs or world.raw(world.root, hostile(world, kind))
    mine = world.commit(world.root, operations.put(ours))
    for pair in ((mine, theirs), (theirs, mine)):
        made, report = merge_commits(world.objects, *pair)
        got = [
            (path, entry.mode)
            for path, entry in files(world.objects, world.objects.commit(made).tree, depth=5000)
        ]
        assert [] == [
            (path, mode)
            for path, mode in got
            if mode not in {0o100644, 0o100755} or not safe_path(path)
        ]
        assert record_path(ours.id) in dict(got)
        assert [] != report.refused
    assert (
        merge_commits(world.objects, mine, theirs)[0]
        == merge_commits(world.objects, theirs, mine)[0]
    )


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_tree_can_be_listed(world, kind, store):
    """A store that was fast-forwarded to such a tree is read: sound records come, the rest is damaged or passed over."""
    tip = world.raw(world.root, hostile(world, kind))
    store.objects.move(store.ref, None, tip, "fast-forward")
    for row in store.records():
        assert isinstance(row, Damaged)


@pytest.mark.parametrize("kind", ["symlink", "gitlink", "dotdot", "dotgit", "deep"])
def test_hostile_tree_does_not_stop_writes(world, kind, store):
    """A store with such a tree takes the next record."""
    tip = world.raw(world.root, hostile(world, kind))
    store.objects.move(store.ref, None, tip, "fast-forward")
    item = record()
    store.write(
        [operations.put(item)], __import__("gitmem.store.store", fromlist=["x"]).Message("x", "add")
    )
    assert item == store.get(item.id).record


def test_folder_and_file_of_one_name_lose_no_record(world):
    """One side put a file where the other has a folder with a new record: the record stays, whoever merges."""
    old, new = record(), record()
    base = world.commit(world.root, operations.put(old))
    mine = world.commit(base, operations.put(new))
    tree = world.tree(
        ("100644", world.blob(FORMAT_BYTES), FORMAT_PATH.encode()),
        ("100644", world.blob(b"a file"), b"memories"),
    )
    got = world.merge(mine, world.raw(base, tree))
    assert record_path(new.id) in got


def test_file_became_folder_on_the_other_side(world):
    """A file that nobody else changed may become a folder."""
    base = world.commit(world.root, thing=b"1")
    two = world.plain(world.plain(base, {"thing": None}), {"thing/inner": b"2"})
    got = world.merge(world.commit(base, operations.put(record())), two)
    assert b"2" == got["thing/inner"]


def test_folder_became_file_on_the_other_side(world):
    """A folder that nobody else changed may become a file."""
    base = world.commit(world.root, **{"thing/inner": b"1"})
    two = world.plain(world.plain(base, {"thing/inner": None}), {"thing": b"2"})
    got = world.merge(world.commit(base, operations.put(record())), two)
    assert (b"2", False) == (got["thing"], "thing/inner" in got)


def test_file_here_and_folder_there_are_symmetric(world):
    """Where one side changed a file and the other put a folder in its place, both merges agree and the folder stays."""
    base = world.commit(world.root, thing=b"1")
    one = world.plain(base, {"thing": b"2"})
    two = world.plain(world.plain(base, {"thing": None}), {"thing/inner": b"3"})
    got = world.merge(one, two)
    assert (b"3", [b"2"]) == (got["thing/inner"], attic(got, "files"))


def test_folder_in_the_place_of_a_record_does_not_displace_it(world):
    """A folder named as a record's file is not merged in; the record that was edited here stays a file."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    edited = item.touched(AT).change(title="edited")
    evil = world.plain(
        world.plain(base, {record_path(item.id): None}), {record_path(item.id) + "/inner": b"x"}
    )
    one = world.commit(base, operations.put(edited, item))
    got = world.merge(one, evil)
    assert ("edited", False) == (at(got, item.id).title, record_path(item.id) + "/inner" in got)
    assert [record_path(item.id) + "/inner"] == merge_commits(world.objects, one, evil)[1].refused


def test_damaged_record_with_a_huge_line_is_merged(world):
    """A file of a megabyte where a record should be is kept, not parsed for minutes."""
    item = record()
    base = world.commit(world.root, operations.put(item))
    huge = b"---\n" + b"x: " + b"[" * 1_000_000
    got = world.merge(
        world.commit(base, **{record_path(item.id): huge}),
        world.commit(base, operations.put(item.touched(AT).change(title="n"), item)),
    )
    assert ("n", [huge]) == (at(got, item.id).title, attic(got, item.id))


def test_equal_folders_are_not_opened(world):
    """A merge of two small changes in a large store reads a handful of trees."""
    many = [record(title=str(n)) for n in range(600)]
    base = world.plain(world.root, {record_path(r.id): encode(r) for r in many})
    one, two = (
        world.commit(base, operations.put(record())),
        world.commit(base, operations.put(record())),
    )
    changes = list(
        diff(world.objects, world.objects.commit(one).tree, world.objects.commit(two).tree)
    )
    assert 2 == len(changes)


def test_attic_names_its_file_by_content(world):
    """Two conflicts of one record never overwrite each other in the attic."""
    item = record(body="base\n")
    base = world.commit(world.root, operations.put(item))
    sides = [
        world.commit(base, operations.put(item.touched(CLOCK.stamp()).change(body=f"{n}\n"), item))
        for n in range(4)
    ]
    made = sides[0]
    for side in sides[1:]:
        made, _ = merge_commits(world.objects, made, side)
    got = world.files(made)
    texts = b"".join([got[record_path(item.id)], *attic(got, item.id)])
    assert [] == [n for n in range(4) if b"\n%d\n" % n not in texts]
    assert all(
        path == attic_path(item.id, path.rsplit("/", 1)[1][:-3])
        for path in got
        if path.startswith("attic/")
    )
