"""Reads are counted here, and committed with something else: reading alone makes no commit."""

from pathlib import Path

import pytest

from tests.cli.conftest import DAY, PRIVATE, SHARED, Mem, commits, tip
from tests.conftest import git


def counted(mem: Mem, ref: str = SHARED) -> list[str]:
    """Return the usage files of a store."""
    return git(mem.folder, "ls-tree", "-r", "--name-only", ref, "usage/").split()


def test_reads_alone_make_no_commit(mem: Mem) -> None:
    """However often a record is read, the store stays as it was; the count is shown all the same."""
    id = mem.add("T")
    before = tip(mem.folder)
    for _ in range(60):
        mem("show", id)

    assert (before, 61) == (tip(mem.folder), mem.show(id)["access_count"] + 1)
    assert mem.show(id)["accessed"]


@pytest.mark.parametrize(("flag", "ref"), [("--shared", SHARED), ("--private", PRIVATE)])
def test_the_next_write_takes_them_along(mem: Mem, flag: str, ref: str) -> None:
    """They are part of its commit, and count once."""
    id = mem.add("T", flag)
    for _ in range(3):
        mem("show", id)
    before = commits(mem.folder, ref)
    mem.add("more", flag)

    assert (before + 1, 1) == (commits(mem.folder, ref), len(counted(mem, ref)))
    assert mem("status", "--json").json["unsaved_read_count"] == 0
    assert mem.show(id)["access_count"] == 3


def test_they_are_committed_once_a_day(mem: Mem) -> None:
    """A second write within a day leaves them; the first one after it takes them."""
    id = mem.add("T", ago=3 * DAY)
    mem("show", id, ago=2 * DAY)
    mem.add("takes one", ago=2 * DAY)
    mem("show", id, ago=2 * DAY)
    mem.add("takes none", ago=2 * DAY - 60)
    assert mem("status", "--json").json["unsaved_read_count"] == 1

    mem.add("takes the rest")
    assert mem("status", "--json").json["unsaved_read_count"] == 0
    changed = git(mem.folder, "log", "--format=%s", SHARED, "--", "usage").splitlines()
    assert ["takes the rest", "takes one"] == [subject.split('"')[1] for subject in changed]
    assert mem.show(id)["access_count"] == 2


def test_undo_leaves_the_counts(mem: Mem) -> None:
    """What was read was read, whatever becomes of the write that took it along."""
    id = mem.add("T")
    mem("show", id)
    mem.add("oops")
    mem("undo")

    assert ["T"] == mem.titles()
    assert mem.show(id)["access_count"] == 1


def test_reads_of_the_own_store_are_shown(mem: Mem) -> None:
    """Also those that are in no commit yet."""
    id = mem.add("T", "--user")
    mem("show", id)

    assert mem.show(id)["access_count"] == 1


def test_a_clone_that_only_reads_sends_nothing(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Reading and syncing as often as one likes leaves the remote as it is."""
    one, two = clones
    id = one.add("T")
    one("sync")
    before = tip(hub)
    for _ in range(2):
        two("sync")
        two("show", id)

    assert two("sync").out == "origin: everything is up to date.\n"
    assert before == tip(hub) == tip(two.folder)


def test_log_leaves_merges_out(clones: tuple[Mem, Mem]) -> None:
    """Who made what is shown; a merge on request, or where it changed the record."""
    one, two = clones
    id = one.add("T")
    one("sync")
    two("sync")
    one("edit", id, "--tag", "one")
    two("edit", id, "-i", "9")
    for mem in (one, two):
        mem("sync")

    subjects = [row["subject"].split(": ")[0] for row in two("log", "--json").json]
    assert ["memory", "memory", "memory", "gitmem"] == subjects
    assert "gitmem: merge" in two("log", "--all", "--oneline").out
    assert "gitmem: merge" in two("log", id, "--oneline").out
