"""Commands that change how a record stands: supersede, link, unlink, pin, unpin, archive, restore, forget."""

import pytest

from tests.cli.conftest import Mem, commits, tip
from tests.conftest import git

# -- supersede


def test_supersede_archives_the_old_one(mem: Mem) -> None:
    """The new record names the old one, which is archived in the same commit; the rest is taken over."""
    old = mem.add("SERIALIZABLE", "-t", "decision", "--tag", "db", "-i", "8", "--anchor", "code.py")
    before = commits(mem.folder)
    done = mem("supersede", old[-8:], "READ", "COMMITTED", "-m", "It retried too often.", "-i", "9")

    assert done.out.startswith(f"{old[-8:]} is superseded by ")
    assert commits(mem.folder) == before + 1
    assert mem.titles() == ["READ COMMITTED"]
    new = mem.show(mem("list", "--json").json[0]["id"])
    assert (new["supersedes"], new["type"], new["tags"], new["importance"]) == (
        [old],
        "decision",
        ["db"],
        9,
    )
    assert new["anchors"] == mem.show(old)["anchors"]
    assert mem.show(old)["status"] == "archived"
    assert f"Superseded by: {new['id'][-8:]}" in mem("show", old).out


def test_supersede_by_a_record_that_is_there(mem: Mem) -> None:
    """A title that is an id makes that record the successor."""
    old, new = mem.add("old"), mem.add("new")
    mem("supersede", old, new[-8:])

    assert mem.show(new)["supersedes"] == [old]
    assert mem.show(old)["status"] == "archived"
    assert sorted(mem.titles("--all")) == ["new", "old"]


def test_supersede_says_no(mem: Mem) -> None:
    """Not itself, not without a title, not an unknown one."""
    id = mem.add("T")
    before = tip(mem.folder)
    mem("supersede", id, id, code=1)
    mem("supersede", id, code=2)
    mem("supersede", "zzzzzzzz", "title", code=1)

    assert tip(mem.folder) == before


def test_supersede_keeps_the_store(mem: Mem) -> None:
    """A private record's successor is private."""
    old = mem.add("mine", "--private")
    new = mem("supersede", old, "mine too", "--json").json["id"]

    assert mem.show(new)["store"] == "private"
    assert tip(mem.folder) == ""


# -- link, unlink


def test_link_and_unlink(mem: Mem) -> None:
    """A link is kept by full id, seen from both ends, and can be removed."""
    a, b, c = mem.add("a"), mem.add("b"), mem.add("c")
    assert mem("link", a[-8:], b[-8:], c[-8:]).out.startswith("linked ")
    assert mem.show(a)["links"] == sorted([b, c])
    assert a[-8:] in next(
        line for line in mem("show", b).out.splitlines() if line.startswith("Linked from:")
    )

    mem("link", "--remove", a[-8:], b[-8:])
    assert mem.show(a)["links"] == [c]
    before = tip(mem.folder)
    assert "nothing changed" in mem("link", "--remove", a, b).out
    assert "nothing changed" in mem("link", a, c).out
    assert tip(mem.folder) == before


def test_unlink_what_is_there_no_more(mem: Mem) -> None:
    """A link to a forgotten record can still be removed."""
    a, b = mem.add("a"), mem.add("b")
    mem("link", a, b)
    mem("forget", b)
    mem("link", "--remove", a, b[-8:])

    assert "links" not in mem.show(a)


def test_link_says_no(mem: Mem) -> None:
    """Not to itself, not to what is not there."""
    a = mem.add("a")
    before = tip(mem.folder)
    mem("link", a, a, code=1)
    mem("link", a, "zzzzzzzz", code=1)
    mem("link", a, "mem-01jzzzzzzzzzzzzzzzzzzzzz0z", code=1)
    mem("link", a, code=2)

    assert tip(mem.folder) == before


def test_a_linked_record_is_found_by_its_neighbour(mem: Mem) -> None:
    """What one says helps to find the other."""
    a = mem.add("alpha particle", ago=7200)
    b = mem.add("unrelated heading", ago=60)
    assert b not in [row["id"] for row in mem("search", "alpha", "--json").json]

    mem("link", b, a)
    assert b in [row["id"] for row in mem("search", "alpha", "--json").json]


# -- pin, unpin, archive


def test_pin_and_unpin(mem: Mem) -> None:
    """A pinned record stays listed, marked as such; unpin ends it."""
    a, b = mem.add("a", ago=60), mem.add("b")
    mem("pin", a[-8:], b[-8:])
    assert [row["status"] for row in mem("list", "--json").json] == ["pinned", "pinned"]
    assert "(pinned)" in mem("list").out

    mem("pin", "--remove", a)
    assert mem.show(a)["status"] == "active"
    assert "is not pinned" in mem("pin", "--remove", a).out
    assert mem.show(b)["status"] == "pinned"


def test_pin_twice_writes_once(mem: Mem) -> None:
    """A record that is pinned already is left alone."""
    id = mem.add("T")
    mem("pin", id)
    before = tip(mem.folder)

    assert "already so" in mem("pin", id).out
    assert tip(mem.folder) == before


def test_archive_and_restore(mem: Mem) -> None:
    """An archived record is out of sight but found with --all; restore brings it back."""
    id = mem.add("aardvark")
    mem("archive", id[-8:])
    assert mem.titles() == []
    assert mem.titles("--all") == ["aardvark"]
    assert mem("search", "aardvark", "--json").json == []
    assert len(mem("search", "aardvark", "--all", "--json").json) == 1

    mem("restore", id[-8:])
    assert mem.titles() == ["aardvark"]
    assert "nothing changed" in mem("restore", id).out


def test_restore_leaves_a_record_that_was_never_archived(mem: Mem) -> None:
    """It says so, writes no commit, and keeps a pinned record pinned."""
    active, pinned = mem.add("A"), mem.add("P")
    mem("pin", pinned)
    before = tip(mem.folder)

    assert mem("restore", active).out == (f"{active[-8:]} is there and active; nothing changed.\n")
    rows = mem("restore", active, pinned, "--json").json
    assert [(row["changed"], row["store_commit"], row["status"]) for row in rows] == [
        (False, None, "active"),
        (False, None, "pinned"),
    ]
    assert tip(mem.folder) == before


@pytest.mark.parametrize("command", ["pin", "pin --remove", "archive", "restore", "forget"])
def test_an_unknown_id_stops_before_anything_is_written(mem: Mem, command: str) -> None:
    """Of several ids one is unknown: nothing is changed."""
    id = mem.add("T")
    mem("pin", id) if command == "pin --remove" else mem(
        "archive", id
    ) if command == "restore" else None
    before = tip(mem.folder)
    mem(*command.split(), id, "zzzzzzzz", code=1)

    assert tip(mem.folder) == before
    mem(*command.split(), code=2)


# -- forget, restore


def test_forget_leaves_a_mark_and_history(mem: Mem) -> None:
    """The record is gone from the tree, a tombstone with the reason stays, and history has the text."""
    id = mem.add("T", "-m", "text")
    done = mem("forget", id[-8:], "--reason", "no longer true")

    assert done.out == f"forgot {id[-8:]} T\n"
    assert "git mem restore" in done.err
    tree = git(mem.folder, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main").splitlines()
    assert f"tombstones/{id[-2:]}/{id}" in tree
    assert not [path for path in tree if path.endswith(f"{id}.md")]
    assert "no longer true" in git(
        mem.folder, "show", f"refs/gitmem/heads/main:tombstones/{id[-2:]}/{id}"
    )
    mem("show", id, code=1)
    mem("forget", id, code=1)


def test_restore_what_was_forgotten(mem: Mem) -> None:
    """Restore lists what history has, and brings it back as it was."""
    id = mem.add("T", "-m", "text", "--tag", "x")
    mem("forget", id)
    (row,) = mem("restore", "--list", "--json").json
    assert (row["id"], row["title"], row["store"]) == (id, "T", "shared")
    assert mem("restore", "--list").out.startswith(id[-8:])

    mem("restore", id[-8:])
    back = mem.show(id)
    assert (back["title"], back["body"], back["tags"]) == ("T", "text\n", ["x"])
    assert mem("restore", "--list", "--json").json == []
    tree = git(mem.folder, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main")
    assert "tombstones/" not in tree


def test_forget_several_in_one_commit(mem: Mem) -> None:
    """One act is one commit; records of another store are forgotten there."""
    a, b, c = mem.add("a"), mem.add("b"), mem.add("c", "--private")
    before = commits(mem.folder)
    mem("forget", a, b, c)

    assert commits(mem.folder) == before + 1
    assert mem.titles("--all") == []
    assert {row["store"] for row in mem("restore", "--list", "--json").json} == {
        "shared",
        "private",
    }


def test_restore_of_what_never_was(mem: Mem) -> None:
    """An unknown id is an error, no id is wrong usage."""
    mem.add("T")
    mem("restore", "zzzzzzzz", code=1)
    mem("restore", code=2)
    assert mem("restore", "--list").out == ""


def test_one_of_the_users_store(mem: Mem) -> None:
    """Commands reach the user's own store too."""
    id = mem.add("T", "--user")
    mem("pin", id)
    assert mem.show(id)["status"] == "pinned"

    mem("forget", id)
    assert mem.titles("--all") == []
    assert tip(mem.folder) == ""
    mem("restore", id)
    assert mem.titles("--user") == ["T"]


def test_a_successor_is_in_the_namespace_of_what_it_replaces(mem: Mem) -> None:
    old = mem("add", "--agent", "dev", "Use SERIALIZABLE", "--json").json["id"]
    new = mem("supersede", old, "Use READ COMMITTED", "--json").json["id"]
    assert mem("show", new, "--json").json[0]["agent"] == "dev"
    other = mem("supersede", new, "Use SNAPSHOT", "--agent", "qa", "--json").json["id"]
    assert mem("show", other, "--json").json[0]["agent"] == "qa"


def test_the_successor_of_a_gotcha_has_its_triggers(mem: Mem) -> None:
    old = mem(
        "gotcha", "add", "The gateway hangs", "--error", "TimeoutError: gateway", "--json"
    ).json["id"]
    new = mem("supersede", old, "The gateway needs 60 s", "--json").json["id"]
    assert (
        mem("show", new, "--json").json[0]["triggers"]
        == mem("show", old, "--json").json[0]["triggers"]
    )


def test_changes_of_several_records_in_json(mem: Mem) -> None:
    """A row for each record, in order, also for one that stays as it was."""
    a, b = mem.add("a"), mem.add("b")
    mem("pin", a)
    rows = mem("pin", "--remove", a, b, "--json").json
    assert [(row["id"], row["changed"]) for row in rows] == [(a, True), (b, False)]
    assert [row["status"] for row in mem("archive", a, b, "--json").json] == ["archived"] * 2
    assert mem("link", a, b, "--json").json["links"] == [b]
    gone = mem("forget", a, b, "--reason", "old", "--json")
    assert [row["store_commit"] for row in gone.json] == [tip(mem.folder)] * 2 and gone.err == ""
