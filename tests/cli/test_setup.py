"""Commands about gitmem itself: init, status, doctor, wipe, config, completion."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.codemap.anchors.tracker import Follower
from gitmem.config import GROUPS, RANGES, SETTINGS
from gitmem.services.gotchas import placement
from tests.cli.conftest import PRIVATE, SHARED, Mem, commits, on_terminal, tip, venv_path
from tests.conftest import fsck, git, lose, read_only

# -- init


def test_init_says_what_it_did(mem: Mem) -> None:
    """The ref and the folder are named, and what was not touched."""
    out = mem("init").out

    assert SHARED in out
    assert str(mem.folder / ".git" / "gitmem") in out
    assert "were not touched" in out
    assert "nothing is pushed" in out
    assert commits(mem.folder) == 1


def test_init_again_changes_nothing(mem: Mem) -> None:
    """A second init says so and leaves the tip, also when there is memory."""
    mem("init")
    first = tip(mem.folder)
    assert "nothing was changed" in mem("init").out
    assert tip(mem.folder) == first

    mem("add", "T")
    before = tip(mem.folder)
    assert mem("init", "--json").json["is_new"] is False
    assert tip(mem.folder) == before


def test_init_apart_shares_a_root(mem: Mem, make_repo: Callable[..., Path]) -> None:
    """Two clones that begin on their own have one beginning."""
    other = mem.at(make_repo("plain"))
    mem("init")
    other("init", ago=86400)

    assert tip(mem.folder) == tip(other.folder)


def test_init_is_not_needed(mem: Mem) -> None:
    """A command that writes makes the store by itself."""
    mem("add", "T")
    made = git(mem.folder, "rev-list", "--max-parents=0", SHARED)
    mem("uninstall", "--wipe", "--yes")
    mem("init")

    assert tip(mem.folder) == made


# -- status


def test_status_counts(mem: Mem) -> None:
    """What is stored, by store and kind, and where it goes."""
    assert "no memory yet" in mem("status").out
    mem("add", "one")
    mem("add", "two")
    mem("add", "three", "-k", "gotcha")
    mem("add", "mine", "--private")

    out = mem("status").out
    assert "shared   1 gotcha, 2 memories" in out
    assert "private  1 memory" in out
    assert "remote   none" in out
    row = mem("status", "--json").json
    assert row["stores"]["shared"]["record_counts"] == {"gotcha": 1, "memory": 2}
    assert row["stores"]["shared"]["commit"] == tip(mem.folder)
    assert row["stores"]["private"]["commit"] == tip(mem.folder, PRIVATE)
    assert (row["folder"], row["damaged_files"], row["conflict_count"], row["journal_count"]) == (
        str(mem.folder),
        [],
        0,
        0,
    )


def damage(folder: Path, id: str, data: bytes = b"---\nid: [broken\n", path: str = "") -> str:
    """Replace a record's file, or another, by other bytes, as a foreign writer could; return the blob's id."""
    blob = git(folder, "hash-object", "-w", "--stdin", stdin=data)
    index = {"GIT_INDEX_FILE": str(folder / ".git" / "scratch-index")}
    env = ["env", *(f"{k}={v}" for k, v in index.items()), "git", "-C", str(folder)]
    subprocess.run([*env, "read-tree", SHARED], check=True)
    subprocess.run(
        [
            *env,
            "update-index",
            "--add",
            "--cacheinfo",
            f"100644,{blob},{path or f'memories/{id[-2:]}/{id}.md'}",
        ],
        check=True,
    )
    tree = subprocess.run(
        [*env, "write-tree"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (folder / ".git" / "scratch-index").unlink()
    commit = git(folder, "commit-tree", tree, "-p", SHARED, "-m", "foreign")
    git(folder, "update-ref", SHARED, commit)
    return blob


def test_a_damaged_file_is_told_and_kept(mem: Mem) -> None:
    """Status, doctor and show name a damaged file; its bytes stay; the other records are there."""
    id = mem.add("broken one")
    mem("add", "sound one")
    blob = damage(mem.folder, id)

    assert "1 damaged file:" in mem("status").out
    assert [row["store_path"] for row in mem("status", "--json").json["damaged_files"]] == [
        f"memories/{id[-2:]}/{id}.md"
    ]
    done = mem("doctor", code=1)
    assert f"damaged: memories/{id[-2:]}/{id}.md" in done.out
    assert blob[:12] in done.out
    assert mem.titles() == ["sound one"]
    assert "damaged" in mem("show", id, code=1).err
    mem("add", "later")
    assert git(mem.folder, "rev-parse", f"{SHARED}:memories/{id[-2:]}/{id}.md") == blob


@pytest.mark.parametrize("name", ["history.db", "health.db"])
def test_a_damaged_cache_is_named_and_removed(mem: Mem, name: str) -> None:
    """Doctor names a cache whose pages were overwritten, and removes it with `--fix`."""
    id = mem.add("T")
    mem("log", id)
    path = mem.folder / ".git/gitmem" / name
    if not path.exists():
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE t (a)")
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)

    assert f"the cache {name} is damaged" in mem("doctor", code=1).out
    assert f"removed {name}" in mem("doctor", "--fix").out
    assert "everything is in order" in mem("doctor").out
    assert id in mem("log", id, "--oneline").out


def test_caches_that_cannot_be_written(mem: Mem) -> None:
    """On a read-only disk sound databases are sound to doctor, and a damaged cache fails nothing."""
    id = mem.add("T")
    mem("log", id)

    def run_read_only(*args: str) -> subprocess.CompletedProcess[str]:
        command = read_only(mem.folder, [sys.executable, "-P", "-m", "gitmem", *args])
        return subprocess.run(command, cwd=mem.folder, capture_output=True, text=True, check=False)

    folder = mem.folder / ".git/gitmem"
    for name in ("index.db", "state.db"):
        with contextlib.closing(sqlite3.connect(folder / name)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert not (folder / f"{name}-wal").exists()
    assert "damaged" not in run_read_only("doctor").stdout
    path = folder / "history.db"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)
    assert "the cache history.db is damaged" in run_read_only("doctor").stdout
    assert id in run_read_only("log", id, "--oneline").stdout


def test_a_foreign_record_steers_no_terminal(mem: Mem) -> None:
    """What other people wrote reaches the terminal as text: origin, links, ids in a graph, JSON; `log` passes over what is not an id."""
    evil = mem.add("evil")
    mem.add("gotcha", "-k", "gotcha")
    front = f"---\nid: {evil}\nkind: memory\ncreated: 2026-11-20T00:00:00Z\n"
    damage(
        mem.folder,
        evil,
        (
            front
            + 'origin: "\\u001b]0;PWNED\\u0007"\nagent: "\\u202eevil"\nlinks: ["\\u009b2Jx\\u202e"]\nsupersedes: ["nonsense", "\\"];x"]\n'
            'x_more: "\\u202e\\u009b"\n---\n# t1 \u202e\n\nbody \u009b31m\n'
        ).encode(),
    )
    for command in (
        ("list",),
        ("show", evil),
        ("show", "--graph"),
        ("show", "--graph", "--dot"),
        ("log", evil),
        ("log", evil, "-p"),
        ("search", "t1"),
        ("status",),
        ("doctor",),
        ("list", "--json"),
        ("show", evil, "--json"),
        ("show", "--graph", "--json"),
        ("search", "t1", "--json"),
        ("list", "--format", "{origin} {agent} {title}"),
    ):
        done = mem(*command)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err), command
    assert "\u202e" in mem.show(evil)["title"]
    dot = mem("show", "--graph", "--dot").out
    assert '"\\"];x"' in dot


@pytest.mark.parametrize(
    "line",
    [
        "created: 2026-13-45T99:99:99Z",
        "created: 2026-02-03T00:00:00Z\nupdated: 2026-02-30T00:00:00Z",
    ],
)
def test_a_time_that_is_none_is_damage(mem: Mem, line: str) -> None:
    """A record with an impossible time is told as damaged, and breaks no command."""
    id = mem.add("T")
    damage(mem.folder, id, f"---\nid: {id}\nkind: memory\n{line}\n---\n# T\n".encode())

    assert "damaged" in mem("show", id, code=1).err
    assert mem.titles() == []
    assert "has the wrong type" in mem("doctor", code=1).out


def test_usage_that_is_none_breaks_nothing(mem: Mem) -> None:
    """A time in somebody's usage file that is not a time does not count."""
    id = mem.add("T")
    row = json.dumps({"id": id, "n": 3, "last": "zzzz\u001b[2J"}).encode() + b"\n"
    damage(mem.folder, id, row, path=f"usage/other/{id[-2:]}.jsonl")

    assert mem.show(id)["access_count"] == 3
    mem("show", id)


def test_undo_repairs_a_damaged_file(mem: Mem) -> None:
    """The way out of damage is history."""
    id = mem.add("T")
    damage(mem.folder, id)
    mem("undo", "@")  # a stranger's commit is no command of this person

    assert mem.show(id)["title"] == "T"
    mem("doctor")


# -- doctor


def test_doctor_on_a_sound_store(mem: Mem) -> None:
    """Everything in order: exit 0, also on an empty repository; nothing is changed."""
    mem("doctor")
    mem("add", "T")
    mem("list")
    before = tip(mem.folder)
    out = mem("doctor").out

    assert "everything is in order." in out
    assert {row["level"] for row in mem("doctor", "--json").json["findings"]} <= {"ok", "note"}
    assert tip(mem.folder) == before


def test_doctor_repairs_the_index(mem: Mem) -> None:
    """A damaged index is an error; --fix drops it, and the next command builds it."""
    mem("add", "T")
    mem("list")
    (mem.folder / ".git/gitmem/index.db").write_bytes(b"broken" * 1000)
    found = mem("doctor", "--json", code=1).json["findings"]
    assert [f["message"] for f in found if f["level"] == "error" and f["fixable"]]

    (mem.folder / ".git/gitmem/index.db").write_bytes(b"broken" * 1000)
    assert "repaired: removed the index" in mem("doctor", "--fix").out
    assert mem.titles() == ["T"]
    mem("doctor")


def test_doctor_repairs_an_empty_ref(mem: Mem) -> None:
    """A ref that a power cut emptied is set back to where the index last saw it."""
    mem("add", "T")
    mem("list")
    before = tip(mem.folder)
    (mem.folder / ".git" / SHARED).write_bytes(b"")
    assert "is empty" in mem("doctor", code=1).out
    assert "git mem doctor --fix" in mem("list", code=1).err

    mem("doctor", "--fix")
    assert tip(mem.folder) == before
    assert mem.titles() == ["T"]


@pytest.mark.parametrize("left", [b"", b"\0" * 41, b"0123456789abcdef\n", b"\xff\xfe\n"])
def test_a_broken_ref_is_no_older_one(mem: Mem, left: bytes) -> None:
    """What packed-refs still has of a broken ref is not read, and --fix finds what was written since: no write is lost."""
    mem("add", "one")
    git(mem.folder, "pack-refs", "--all")
    mem("add", "two")
    mem("list")
    mem("add", "three")
    mem("add", "four")
    before = tip(mem.folder)
    (mem.folder / ".git" / SHARED).write_bytes(left)

    for command in (("list",), ("search", "one"), ("add", "five"), ("log",), ("status",)):
        assert "git mem doctor --fix" in mem(*command, code=1).err
    mem("doctor", "--fix")
    assert tip(mem.folder) == before
    assert set(mem.titles()) == {"one", "two", "three", "four"}
    assert not list((mem.folder / ".git" / SHARED).parent.glob("*.lock"))
    assert fsck(mem.folder) == ""


def test_a_broken_ref_without_an_index(mem: Mem) -> None:
    """What packed-refs has is enough to find the last commit; with nothing to go by, doctor says what to do and changes nothing."""
    mem("add", "one")
    git(mem.folder, "pack-refs", "--all")
    mem("add", "two")
    before = tip(mem.folder)
    ref = mem.folder / ".git" / SHARED
    ref.write_bytes(b"")
    mem("doctor", "--fix")
    assert tip(mem.folder) == before

    (mem.folder / ".git/packed-refs").unlink()
    (mem.folder / ".git/gitmem/index.db").unlink()
    ref.write_bytes(b"")
    assert "out of the way" in mem("doctor", "--fix", code=1).out
    assert ref.read_bytes() == b""


def test_a_ref_that_git_writes_is_left_alone(mem: Mem) -> None:
    """A lock of git's own is respected by the repair."""
    mem("add", "one")
    mem("list")
    (mem.folder / ".git" / SHARED).write_bytes(b"")
    lock = mem.folder / ".git" / (SHARED + ".lock")
    lock.touch()

    assert "git is writing" in mem("doctor", "--fix", code=1).err
    assert lock.exists()


def overwrite(path: Path, *tables: str) -> None:
    """Overwrite the first page of tables in a database, as a failing disk could."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = db.execute("PRAGMA page_size").fetchone()[0]
        pages = [
            db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
            for name in tables
        ]
    with path.open("r+b") as file:
        for page in pages:
            file.seek(size * (page - 1))
            file.write(b"\xff" * size)


@pytest.mark.parametrize(
    "table", ["records", "words_data", "edges", "tips", "records_created", "usage"]
)
def test_damage_inside_the_index_is_healed(mem: Mem, table: str) -> None:
    """A page that a disk destroyed costs no answer: the index is built anew; doctor alone only tells."""
    one = mem.add("one word")
    two = mem.add("two word")
    mem("link", one, two)
    mem("list")
    path = mem.folder / ".git/gitmem/index.db"
    for command in (
        ("list",),
        ("search", "word"),
        ("show", one[-8:]),
        ("show", "--graph"),
        ("status",),
        ("list", "--file", "x"),
        ("log", one),
    ):
        overwrite(path, table)
        mem(*command)
    overwrite(path, table)
    assert "the index is damaged" in mem("doctor", code=1).out
    assert "the index is damaged" in mem("doctor", code=1).out
    mem("doctor", "--fix")
    assert set(mem.titles()) == {"one word", "two word"}


def test_damage_inside_the_counts_is_healed(mem: Mem) -> None:
    """A destroyed page of the working state costs counts, no command; doctor tells and repairs."""
    id = mem.add("one")
    mem("show", id)
    path = mem.folder / ".git/gitmem/state.db"
    for command in (("show", id), ("status",)):
        overwrite(path, "reads")
        mem(*command)
        assert (mem.folder / ".git/gitmem/state.db.damaged").exists()
        mem("show", id)
        assert mem.show(id)["access_count"] >= 1
    overwrite(path, "reads", "errors")
    assert "state.db are damaged" in mem("doctor", code=1).out
    mem("doctor", "--fix")
    assert mem.show(id)["title"] == "one"


def test_a_reader_does_not_wait_for_ever(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process indexes, the answer is what was indexed before, and that is said; with nothing to answer from, the reader waits."""
    monkeypatch.setattr("gitmem.index.builder.PATIENCE", 0.2)
    monkeypatch.setattr("gitmem.index.fresh.FIRST_INDEX", 0.3)
    id = mem.add("one")
    mem("list")
    with contextlib.closing(
        sqlite3.connect(mem.folder / ".git/gitmem/index.db", isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        mem("add", "two")
        done = mem("list", "--format", "{title}")
        assert done.out == "one\n"
        assert "another process is indexing" in done.err
        assert "another process is indexing" in mem("show", id).err
        other.execute("ROLLBACK")
        done = mem("list", "--format", "{title}")
        assert set(done.out.split()) == {"one", "two"}
        assert done.err == ""
        other.execute("DELETE FROM tips")
        other.execute("BEGIN IMMEDIATE")
        assert "locked by another process" in mem("list", code=1).err
        other.execute("ROLLBACK")
    assert set(mem.titles()) == {"one", "two"}


def test_doctor_removes_a_dead_lock(mem: Mem) -> None:
    """A lock that a killed process left behind is found by its age."""
    mem("add", "T")
    lock = mem.folder / ".git" / (SHARED + ".lock")
    lock.touch()
    os.utime(lock, (1_600_000_000, 1_600_000_000))
    assert "a lock of a process that died" in mem("doctor").out

    mem("doctor", "--fix")
    assert not lock.exists()
    mem("add", "U")


def test_doctor_tells_of_missing_objects(mem: Mem) -> None:
    """An object that is gone is an error; what nothing has any more is named, and the store is whole without it."""
    id = mem.add("T")
    kept = mem.add("Kept")
    lose(mem.folder, git(mem.folder, "rev-parse", f"{SHARED}:memories/{id[-2:]}/{id}.md"))
    (mem.folder / ".git/gitmem/index.db").unlink(missing_ok=True)

    assert "missing" in mem("doctor", code=1).out
    assert f"could not be saved: {id}" in mem("doctor", "--fix").out
    assert [kept] == [row["id"] for row in mem("list", "--json").json]


@pytest.mark.parametrize(
    "lines",
    [
        ("remote.origin.fetch", "+refs/*:refs/*"),
        ("remote.origin.fetch", "+refs/gitmem/*:refs/gitmem/*"),
        ("gitmem.captureThreshold", "many"),
    ],
)
def test_doctor_warns_of_settings(mem: Mem, lines: tuple[str, str]) -> None:
    """A setting that endangers memory, or makes no sense, is a warning."""
    git(mem.folder, "config", *lines)
    found = mem("doctor", "--json").json["findings"]

    assert [f["level"] for f in found if lines[0] in f["message"]] == ["warning"]


def test_doctor_tells_of_forks_and_circles(mem: Mem) -> None:
    """Two successors of one record are a warning with the way to settle it."""
    one = mem.add("one")
    mem("supersede", one, "left")
    mem("supersede", one, "right")

    assert "has 2 successors" in mem("doctor").out


# -- wipe


def test_wipe_asks(mem: Mem) -> None:
    """Without a terminal and without --yes nothing is removed; on a terminal no is the default."""
    mem("add", "T")
    before = tip(mem.folder)
    assert "--yes" in mem("uninstall", "--wipe", code=1).err
    assert "nothing was changed" in on_terminal(
        mem.folder, "uninstall", "--wipe", keys="\n", code=1
    )
    assert tip(mem.folder) == before

    on_terminal(mem.folder, "uninstall", "--wipe", keys="y\n")
    assert tip(mem.folder) == ""


def test_wipe_removes_everything(mem: Mem) -> None:
    """Refs, folder and settings are gone; a second wipe finds nothing; one can begin again."""
    mem("add", "T")
    mem("add", "mine", "--private")
    mem("config", "sign", "false")
    mem("uninstall", "--wipe", "--yes")
    assert git(mem.folder, "for-each-ref", "refs/gitmem") == ""
    assert not (mem.folder / ".git" / "gitmem").exists()
    assert "gitmem" not in (mem.folder / ".git" / "config").read_text()
    assert fsck(mem.folder) == ""

    assert "gitmem has nothing" in mem("uninstall", "--wipe", "--yes").out
    mem("add", "again")
    assert mem.titles() == ["again"]


def test_wipe_keeps_the_users_store(mem: Mem) -> None:
    """What holds in every project is not this repository's to remove."""
    mem("add", "everywhere", "--user")
    mem("add", "T")
    mem("uninstall", "--wipe", "--yes")

    assert mem.titles() == ["everywhere"]


def test_wipe_a_remote(clones: tuple[Mem, Mem], hub: Path) -> None:
    """The memory is removed from the remote, stays here, and is not published again by itself."""
    one, two = clones
    one("add", "T")
    one("sync")
    two("sync")
    assert "--yes" in one("uninstall", "--wipe", "--remote", "origin", code=1).err
    assert tip(hub)

    wiped = one("uninstall", "--wipe", "--remote", "origin", "--yes")
    assert "a clone whose remote is enabled publishes it again" in wiped.err
    assert git(hub, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert one.titles() == ["T"]
    assert "has no memory" in one("uninstall", "--wipe", "--remote", "origin", "--yes").out


# -- config


def test_config_shows_all(mem: Mem) -> None:
    """Every setting with its value and what it is for."""
    out = mem("config").out
    rows = mem("config", "--json").json

    assert [row["key"] for row in rows] == list(SETTINGS)
    assert [row["group"] for row in rows] == [name for name, rows in GROUPS.items() for _ in rows]
    assert all(name in out for name in SETTINGS)
    assert mem("config", "captureThreshold", "--json").json in rows
    assert mem("config", "captureThreshold", "--json").json == {
        "group": "Capture",
        "key": "captureThreshold",
        "value": 3,
        "default": 3,
        "meaning": SETTINGS["captureThreshold"][2],
        "type": "int",
        "scope": "default",
        "origins": [],
    }


def test_config_shows_groups_and_what_differs(mem: Mem) -> None:
    """A heading for each group; a star, the new value and who set it where it is not the default."""
    mem("config", "captureThreshold", "2")
    mem("config", "--global", "agent", "dev")
    lines = mem("config").out.splitlines()

    assert [line for line in lines if line and not line.startswith((" ", "*"))] == list(GROUPS)
    assert [line for line in lines if line.startswith("*")] == [
        "* agent = dev  (yours)",
        "* captureThreshold = 2  (this repository)",
    ]
    assert lines[lines.index("  inject = true") + 1].strip() == SETTINGS["inject"][2]


def test_config_tells_all_of_one(mem: Mem) -> None:
    """Its value, what it is for, what is allowed, and the default."""
    assert mem("config", "share").out.splitlines() == [
        "  share = agents",
        f"      {SETTINGS['share'][2]}",
        "      people, agents, all; the default is agents",
    ]
    mem("config", "captureThreshold", "2")
    assert mem("config", "capturethreshold").out.splitlines() == [
        "* captureThreshold = 2  (this repository)",
        f"      {SETTINGS['captureThreshold'][2]}",
        "      a whole number from 1 to 1,000; the default is 3",
    ]


@pytest.mark.parametrize("key", ["captureTreshold", "gitmem.capturethresold"])
def test_config_names_the_nearest_setting(mem: Mem, key: str) -> None:
    """A key that is none is a wrong use, to read, to set and to unset."""
    for args in ((key,), (key, "2"), ("--unset", key)):
        done = mem("config", *args, code=2)
        assert f"there is no setting '{key}'. Did you mean captureThreshold" in done.err
        assert "See all: git mem config" in done.err


def test_a_key_that_is_no_setting_is_told(mem: Mem) -> None:
    """Config, status and doctor name it; its value is in no copy, for it may be a key."""
    git(mem.folder, "config", "gitmem.geminiKey", "s3cret-value")
    for command in ("config", "status", "doctor"):
        for _ in range(2):  # from git, and from the copy of the settings
            done = mem(command)
            assert "gitmem.geminikey is no setting of git mem, and does nothing." in (
                done.out + done.err
            )
    problems = mem("status", "--json").json["setting_problems"]
    assert problems == ["gitmem.geminikey is no setting of git mem, and does nothing."]
    assert "s3cret" not in (mem.folder / ".git/gitmem/settings.json").read_text()


def test_config_sets_and_unsets(mem: Mem) -> None:
    """A setting is git's own; capitals and the prefix do not matter."""
    mem("config", "captureThreshold", "2")
    assert git(mem.folder, "config", "--get", "gitmem.captureThreshold") == "2"
    assert mem("config", "gitmem.capturethreshold", "--json").json["value"] == 2

    mem("config", "--unset", "CAPTURETHRESHOLD")
    assert git(mem.folder, "config", "--get", "gitmem.captureThreshold", ok=(1,)) == ""
    assert mem("config", "captureThreshold", "--json").json["value"] == 3
    mem("config", "--unset", "captureThreshold")


def test_config_global(mem: Mem, make_repo: Callable[..., Path]) -> None:
    """`--global` holds in every repository; the local one wins."""
    mem("config", "--global", "agent", "dev")
    mem("config", "agent", "qa")

    other = mem.at(make_repo("plain"))("config", "agent", "--json").json
    assert (other["value"], other["scope"]) == ("dev", "global")
    here = mem("config", "agent", "--json").json
    assert (here["value"], here["scope"]) == ("qa", "local")
    assert mem.show(mem.add("T"))["agent"] == "qa"


def test_config_lists(mem: Mem) -> None:
    """A list setting is added to."""
    mem("config", "allowSecret", "one.*")
    mem("config", "allowSecret", "two.*")

    out = mem("config", "allowSecret").out.splitlines()
    assert out[:2] == [f"* allowSecret = {text}  (this repository)" for text in ("one.*", "two.*")]


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("nonsense", "1"),
        ("sign", "perhaps"),
        ("captureThreshold", "1.5"),
        ("captureThreshold", "x"),
        ("captureThreshold", "0"),
        ("captureThreshold", "nan"),
        ("injectBudget", "99999999"),
        ("injectBudget", "9" * 5000),
        ("share", "some"),
        ("--unset", "nonsense"),
    ],
)
def test_config_refuses(mem: Mem, args: tuple[str, ...]) -> None:
    """An unknown key or a value that makes no sense is refused and not written."""
    before = (mem.folder / ".git" / "config").read_bytes()
    mem("config", *args, code=2)

    assert (mem.folder / ".git" / "config").read_bytes() == before


def test_each_number_has_a_range(mem: Mem) -> None:
    """It is named, and the default is within it; what is set otherwise keeps the default."""
    for key, (least, most) in RANGES.items():
        assert least <= SETTINGS[key][1] <= most
        assert f"from {least:g} to {most:,}." in mem("config", key, "--", "-1", code=2).err
    numbers = {key for key, row in SETTINGS.items() if type(row[1]) in {int, float}}
    assert set(RANGES) == numbers
    git(mem.folder, "config", "gitmem.captureThreshold", "0")
    assert mem("config", "captureThreshold", "--json").json["value"] == 3


def test_config_that_makes_no_sense_is_told(mem: Mem) -> None:
    """A wrong value by hand keeps the default, and is told."""
    git(mem.folder, "config", "gitmem.captureThreshold", "many")

    assert "captureThreshold" in mem("config").err
    assert "! gitmem.captureThreshold is 'many'; allowed:" in mem("status").out
    assert mem("config", "captureThreshold", "--json").json["value"] == 3


def test_config_from_the_command_line(mem: Mem) -> None:
    """`git -c` reaches gitmem as it reaches git."""
    env = {**os.environ, "PATH": venv_path()}
    done = subprocess.run(
        ["git", "-c", "gitmem.agent=dev", "mem", "config", "agent", "--json"],
        cwd=mem.folder,
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )

    data = json.loads(done.stdout)["data"]
    assert (data["value"], data["scope"]) == ("dev", "command")


# -- completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(mem: Mem, shell: str) -> None:
    """A script is printed that names the hidden completer; another shell is wrong usage."""
    assert "__complete" in mem("completion", shell).out
    mem("completion", "tcsh", code=2)


def test_status_says_whose_code_is_gone(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many, and whether all were looked at: what was not looked at is not told as found."""
    for n, text in enumerate(
        ("import decimal\n", "def charge(order):\n", "raise SystemExit(main())\n")
    ):
        (mem.folder / f"f{n}.py").write_text(text)
        mem("gotcha", "add", f"about {n}", "--anchor", f"f{n}.py:1")
    row = mem("status", "--json").json
    assert tuple(row["lost_gotchas"].values()) == (0, 3, True)
    assert "code" not in mem("status").out
    for n in range(2):
        (mem.folder / f"f{n}.py").unlink()
    row = mem("status", "--json").json
    assert tuple(row["lost_gotchas"].values()) == (2, 3, True)
    assert (
        "! 2 gotchas whose code is not found any more: git mem gotcha verify" in mem("status").out
    )

    git(mem.folder, "add", "f2.py")  # code may have moved: it is counted anew
    monkeypatch.setattr("gitmem.cli.setup.status.DRIFT_PATIENCE", 0.0)
    row = mem("status", "--json").json
    assert tuple(row["lost_gotchas"].values()) == (0, 0, False)
    assert "the code of 0 gotchas was looked at, for lack of time" in mem("status").out
    # three files are read, the first one's gotcha is searched for
    whole, turns = placement.survey, iter([True] * 6)
    monkeypatch.setattr(
        placement,
        "survey",
        lambda indexes, follower, go_on: whole(indexes, follower, lambda: next(turns, False)),
    )
    assert "! at least 1 gotcha whose code is not found any more" in mem("status").out


def test_status_counts_lost_code_anew_when_code_changed(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted is kept until a file that gotchas are about, or git's index, changes."""
    monkeypatch.setattr("gitmem.cli.setup.status.DRIFT_PATIENCE", 600.0)
    code = "def charge(order):\n    return round(order.total * 1.19, 2)\n"
    (mem.folder / "a.py").write_text(code)
    mem("gotcha", "add", "Rounds to even", "--anchor", "a.py:2")

    def lost() -> int:
        return int(mem("status", "--json").json["lost_gotchas"]["count"])

    assert (lost(), lost()) == (0, 0)
    (mem.folder / "a.py").write_text("import decimal\n")
    assert (lost(), lost()) == (1, 1)
    (mem.folder / "b.py").write_text(code)
    git(mem.folder, "add", "b.py")
    assert lost() == 0
    git(mem.folder, "rm", "-qf", "--cached", "b.py")
    (mem.folder / "b.py").unlink()
    assert lost() == 1
    mem("gotcha", "add", "Another", "--anchor", "a.py:1")
    assert lost() == 1
    (mem.folder / "a.py").write_text(code)
    assert lost() == 1  # now of the other one


CHARGE = "def charge(order):\n    return round(order.total * 1.19, 2)\n"


def test_status_keeps_no_count_that_rests_on_a_deadline(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that git had no time to look for is looked for again."""
    (mem.folder / "a.py").write_text(CHARGE)
    mem("gotcha", "add", "Rounds to even", "--anchor", "a.py:2")
    (mem.folder / "a.py").unlink()
    (mem.folder / "b.py").write_text(CHARGE)
    git(mem.folder, "add", "b.py")
    with monkeypatch.context() as slow:
        slow.setattr(Follower.__init__, "__defaults__", (0.0,))
        assert mem("status", "--json").json["lost_gotchas"]["count"] == 1
    assert mem("status", "--json").json["lost_gotchas"]["count"] == 0


def test_status_keeps_no_count_of_code_that_changed_meanwhile(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is written while gotchas are looked for is looked at the next time."""
    (mem.folder / "a.py").write_text(CHARGE)
    mem("gotcha", "add", "Rounds to even", "--anchor", "a.py:2")
    whole = placement.survey

    def survey(*args: Any, **options: Any) -> placement.PlacementSurvey:
        found = whole(*args, **options)
        (mem.folder / "a.py").write_text("import decimal\n")
        return found

    with monkeypatch.context() as busy:
        busy.setattr(placement, "survey", survey)
        assert mem("status", "--json").json["lost_gotchas"]["count"] == 0
    assert mem("status", "--json").json["lost_gotchas"]["count"] == 1


def test_status_tells_where_the_work_stands(mem):
    """Session, epic and pending tasks, each with the command that goes on with it."""
    mem("init")
    mem("add", "Use SERIALIZABLE", "-t", "decision")
    mem("add", "-t", "task", "Load-test the checkout")
    mem("work", "start", "checkout", "--story", "S1")
    mem("session", "start", "--title", "invoices")
    lines = mem("status").out.splitlines()
    assert any(line.startswith("session ") and "git mem session show" in line for line in lines)
    assert any(
        line.startswith("epic ") and line.endswith("git mem work show checkout") for line in lines
    )
    assert any(
        line.startswith("to do ")
        and "Load-test the checkout" in line
        and "git mem page summary" in line
        for line in lines
    )
    work = mem("status", "--json").json["work"]
    assert [(epic["id"], epic["status"], epic["condition"]) for epic in work["epics"]] == [
        ("wrk-checkout", "active", "active")
    ]
    mem("work", "pause")
    (epic,) = mem("status", "--json").json["work"]["epics"]
    (same,) = mem("work", "list", "--json").json
    assert epic == {name: same[name] for name in epic} and epic["condition"] == "paused"
    assert any("checkout is paused" in line for line in mem("status").out.splitlines())
    assert [task["text"] for task in work["pending_tasks"]] == ["Load-test the checkout"]


@pytest.mark.parametrize(
    ("guess", "command"),
    [
        ("remember", "add"),
        ("note", "add"),
        ("decision", "add"),
        ("tidy", "consolidate"),
        ("remove", "forget"),
        ("where", "status"),
    ],
)
def test_a_guessed_word_leads_to_the_command(mem, guess, command):
    done = mem(guess, "anything", code=2)
    assert f"Did you mean: git mem {command}" in done.err
