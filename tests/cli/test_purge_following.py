"""Following a purge by somebody else: one person must not delete everybody's memory."""

import contextlib
import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.clock import Clock
from gitmem.store.history.losses import Losses
from gitmem.store.layout import record_path
from gitmem.store.sync import sync
from tests.cli.conftest import SHARED, Mem, on_terminal, tip
from tests.cli.test_purge import holds
from tests.conftest import git

SECRET = "xyzzy-plugh-42"


def is_person(mem: Mem, name: str) -> None:
    """Make a clone that of another person."""
    git(mem.folder, "config", "user.name", name)
    git(mem.folder, "config", "user.email", f"{name.lower()}@example.org")


@pytest.fixture
def people(clones: tuple[Mem, Mem]) -> tuple[Mem, Mem]:
    """Mallory's clone and Ana's."""
    one, two = clones
    is_person(one, "Mallory")
    is_person(two, "Ana")
    return one, two


def all_ids(mem: Mem) -> list[str]:
    """Return the ids of everything."""
    return [row["id"] for row in mem("list", "--all", "--json").json]


def kept(mem: Mem) -> list[dict[str, str]]:
    """Return what is in the quarantine."""
    rows: list[dict[str, str]] = mem("forget", "--purge", "--quarantine-list", "--json").json
    return rows


def test_a_purge_of_everything_waits(people: tuple[Mem, Mem], hub: Path) -> None:
    """In the background and without a terminal nothing goes; it is said who did what, and what to type."""
    one, two = people
    for number in range(4):
        one.add(f"Mallory's {number}")
    one("sync")
    two("sync")
    for number in range(8):
        two.add(f"Ana's {number}")
    two("sync")
    one("sync")
    one("forget", "--purge", *all_ids(one), "--remote", "origin", "--yes")
    mine = two.add("not sent")
    before = tip(two.folder)

    done = two("sync", code=1, env={"GITMEM_BACKGROUND": "1"})
    assert (
        "Mallory <mallory@example.org> purged origin's history: 12 records of 13 removed"
        in done.err
    )
    assert "Ana <ana@example.org>: 8" in done.err
    assert "--follow-purge" in done.err
    assert (tip(two.folder), len(two.titles())) == (before, 13)
    waiting = two("sync", "--json", code=1).json["waiting_purge"]
    assert (len(waiting["record_ids"]), waiting["purgers"]) == (
        12,
        ["Mallory <mallory@example.org>"],
    )
    assert any(
        "purged" in row["message"] for row in two("doctor", "--json", code=None).json["findings"]
    )
    assert "Follow it?" in on_terminal(two.folder, "sync", keys="n\n", code=1)
    assert (tip(two.folder), kept(two)) == (before, [])

    # writing and reading go on
    two.add("later")
    followed = two("sync", "--follow-purge")
    assert "12 records kept on this machine for 30 days" in followed.err
    assert sorted(two.titles()) == ["later", "not sent"]
    folder = two.folder / ".git" / "gitmem" / "quarantine"
    (file,) = folder.iterdir()
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(folder.stat().st_mode)) == (
        0o600,
        0o700,
    )
    assert "Ana's" not in two("search", "Ana's").out
    assert mine in all_ids(two)

    # and it comes back, for everybody
    back = next(row for row in kept(two) if row["title"] == "Ana's 3")
    assert back["purged_by"] == "Mallory <mallory@example.org>"
    two("forget", "--purge", "--quarantine-restore", back["id"])
    two("sync")
    one("sync")
    assert "Ana's 3" in two.titles()
    assert "Ana's 3" in one.titles()
    assert "removed 12 records" in two("forget", "--purge", "--quarantine-drop").out
    assert kept(two) == []


def test_ones_own_single_secret_is_followed_at_once(people: tuple[Mem, Mem]) -> None:
    """A record that only its purger ever wrote: no question; the quarantine alone has it until it is dropped."""
    one, two = people
    id = one.add("the key", "-m", SECRET)
    for number in range(3):
        two.add(f"Ana's {number}")
    one("sync")
    two("sync")
    one("sync")
    one("forget", "--purge", id, "--remote", "origin", "--yes")
    said = two("sync").err

    assert "Mallory <mallory@example.org> purged origin's history: 1 record of 4 removed" in said
    assert [row["id"] for row in kept(two)] == [id]
    two("forget", "--purge", id, "--yes")
    assert (holds(two.folder), kept(two)) == ([], [])


def test_a_name_that_was_taken_takes_nothing_away(people: tuple[Mem, Mem]) -> None:
    """Who commits as Ana is followed, but all that goes is kept, small purges add up, and none empties the quarantine."""
    one, two = people
    is_person(one, "Ana")
    ids = [two.add(f"Ana's {number}") for number in range(4)]
    two("forget", two.add("brief"), "--reason", "a plain reason")
    two("sync")
    one("sync")
    one("forget", "--purge", ids[0], "--remote", "origin", "--yes")
    two("sync", env={"GITMEM_BACKGROUND": "1"})
    assert (len(two.titles()), [row["id"] for row in kept(two)]) == (3, [ids[0]])

    one(
        "forget", "--purge", "--text", "plain reason", "--remote", "origin", "--yes"
    )  # takes out no record
    assert "purged" in two("sync", env={"GITMEM_BACKGROUND": "1"}).err
    assert [row["id"] for row in kept(two)] == [ids[0]]

    one("forget", "--purge", ids[1], "--remote", "origin", "--yes")
    said = two("sync", code=1, env={"GITMEM_BACKGROUND": "1"}).err
    assert "1 record more went in the last 30 days" in said
    assert len(two.titles()) == 3
    two("forget", "--purge", "--quarantine-restore", ids[0])
    assert two.show(ids[0])["title"] == "Ana's 0"


def test_what_is_carried_over_keeps_its_committer(people: tuple[Mem, Mem]) -> None:
    """What was not sent is Ana's after a purge was followed, and what she had sent stays so on the remote's side."""
    one, two = people
    id = one.add("the key", "-m", SECRET)
    one("sync")
    two("sync")
    path = record_path(two.add("not sent"))
    one("forget", "--purge", id, "--remote", "origin", "--yes")
    two("sync")
    assert git(two.folder, "log", "--format=%cn", SHARED, "--", path) == "Ana"

    key = one.add("another key", "-m", SECRET)
    one("sync")
    two("sync")
    sent = record_path(two.add("sent"))
    two("sync")
    one("forget", "--purge", key, "--yes")
    one("forget", "--purge", "--remote", "origin", "--yes")
    assert git(one.folder, "log", "--format=%cn", SHARED, "--", sent) == "Ana"


def test_a_purge_of_a_remote_tells_what_still_holds_it(people: tuple[Mem, Mem]) -> None:
    """Following somebody's purge on the way is finished as a sync does: a database in use is told, and is a failure."""
    one, two = people
    id = one.add("the key", "-m", SECRET)
    one("sync")
    two("sync")
    two("show", id)
    one("forget", "--purge", id, "--remote", "origin", "--yes")
    with contextlib.closing(sqlite3.connect(two.folder / ".git" / "gitmem" / "state.db")) as db:
        db.execute("BEGIN")
        db.execute("SELECT * FROM reads").fetchall()
        report = two("forget", "--purge", "--remote", "origin", "--yes", "--json", code=1).json
    assert not report["complete"]
    assert "state.db" in [row["name"] for row in report["locations"] if row["state"] == "held"]


def test_a_quicker_writer_is_no_second_question(people: tuple[Mem, Mem]) -> None:
    """When somebody writes while a person is asked, the answer holds, and the quarantine has one file."""
    one, two = people
    ids = [two.add(f"Ana's {number}") for number in range(3)]
    two("sync")
    one("sync")
    one("forget", "--purge", *ids, "--remote", "origin", "--yes")
    asked = []

    def agree(lost: Losses) -> bool:
        asked.append(lost)
        two.add(f"meanwhile {len(asked)}")
        return True

    with open_app(str(two.folder), dict(os.environ), Clock(), "auto") as app:
        sync(app.store(), app.remote("origin"), push=False, consent=agree)
    assert (len(asked), two.titles()) == (1, ["meanwhile 1"])
    assert len(list((two.folder / ".git" / "gitmem" / "quarantine").iterdir())) == 1


@pytest.mark.parametrize("how", ["edited", "unsent"])
def test_what_others_wrote_in_a_record_counts(people: tuple[Mem, Mem], how: str) -> None:
    """A single record of Mallory's that Ana changed, sent or not, is not Mallory's alone: it waits, and Ana's words are kept."""
    one, two = people
    id = one.add("shared", "-m", "first")
    one("sync")
    two("sync")
    two("edit", id, "-m", "Ana's own words")
    if how == "edited":
        two("sync")
        one("sync")
    one("forget", "--purge", id, "--remote", "origin", "--yes")
    two("sync", code=1)
    assert two.show(id)["body"] == "Ana's own words\n"
    two("sync", "--follow-purge")
    assert two.titles() == []
    two("forget", "--purge", "--quarantine-restore", id)
    assert two.show(id)["body"] == "Ana's own words\n"


def test_a_masked_record_of_others_waits_and_can_be_restored(people: tuple[Mem, Mem]) -> None:
    """Masking somebody else's words takes them out as much as removing the record does."""
    one, two = people
    id = two.add("Ana's", "-m", "all of what Ana found out about the queue")
    two("sync")
    one("sync")
    one(
        "forget",
        "--purge",
        "--text",
        "what Ana found out about the queue",
        "--remote",
        "origin",
        "--yes",
    )
    assert "1 record with a text masked" in two("sync", code=1).err
    two("sync", "--follow-purge")
    assert two.show(id)["body"] == "all of [purged]\n"
    two("forget", "--purge", "--quarantine-restore", id)
    assert two.show(id)["body"] == "all of what Ana found out about the queue\n"


def test_a_purge_does_not_send_what_waits(people: tuple[Mem, Mem]) -> None:
    """`purge --remote` joins with the remote too: a purge there that waits is not followed by the way."""
    one, two = people
    for number in range(8):
        two.add(f"Ana's {number}")
    two("sync")
    one("sync")
    one("forget", "--purge", *all_ids(one), "--remote", "origin", "--yes")
    assert "--follow-purge" in two("forget", "--purge", "--remote", "origin", "--yes", code=1).err
    assert len(two.titles()) == 8
    two("forget", "--purge", "--remote", "origin", "--yes", "--follow-purge")
    assert (two.titles(), len(kept(two))) == ([], 8)


def test_an_emptied_history_without_a_purge_takes_nothing(
    people: tuple[Mem, Mem], hub: Path
) -> None:
    """A forced push of a history that names commits as purged, with nothing in it, waits like a purge; one that names none is merged."""
    _, two = people
    for number in range(8):
        two.add(f"Ana's {number}")
    two("sync")
    root = git(hub, "rev-list", "--max-parents=0", "refs/gitmem/heads/main")
    first = git(hub, "rev-list", "--reverse", "refs/gitmem/heads/main").split()[1]
    line = json.dumps(
        {"at": "2026-01-01T00:00:00Z", "boundary": first, "purge": "01J00000000000000000000000"}
    )
    blob = git(hub, "hash-object", "-w", "--stdin", stdin=line.encode() + b"\n")
    format_file = git(hub, "rev-parse", f"{root}:gitmem.json")
    tree = git(
        hub,
        "mktree",
        stdin=f"100644 blob {format_file}\tgitmem.json\n100644 blob {blob}\tpurges.jsonl\n".encode(),
    )
    text = f"gitmem: purge\n\nGitmem-Op: purge\nGitmem-Was: {tip(two.folder)}\n"
    made = git(hub, "commit-tree", tree, "-p", root, stdin=text.encode())
    git(hub, "update-ref", "refs/gitmem/heads/main", made)
    assert (
        "Test <test@example.org> purged origin's history: 8 records of 8 removed"
        in two("sync", code=1).err
    )
    assert len(two.titles()) == 8

    git(hub, "update-ref", "refs/gitmem/heads/main", root)
    two("sync")
    assert len(two.titles()) == 8


def test_the_quarantine_ends(people: tuple[Mem, Mem]) -> None:
    """After 30 days it is gone, and a purge of a text reaches it before."""
    one, two = people
    for number in range(8):
        two.add(f"Ana's {number}", "-m", f"{SECRET} {number}")
    two("sync")
    one("sync")
    one("forget", "--purge", *all_ids(one), "--remote", "origin", "--yes")
    two("sync", "--follow-purge")
    assert [place for place in holds(two.folder) if "quarantine" in place]
    two("forget", "--purge", "--text", SECRET, "--yes")
    assert (holds(two.folder), len(kept(two))) == ([], 8)
    (file,) = (two.folder / ".git" / "gitmem" / "quarantine").iterdir()
    os.rename(file, file.with_name("01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl"))  # of 2016
    two("drain")
    assert kept(two) == []
