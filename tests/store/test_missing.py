"""Objects of the store that are gone: what is left can be read, and `doctor --fix` brings back what anything still has."""

import os
import random
import shutil
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.repo.refs import SHARED
from gitmem.services.records import write
from tests.command_line import mem
from tests.conftest import fsck, git, lose
from tests.json_output import data_of

TITLES = {f"Use queue {n} for area {n}" for n in range(12)} | {
    f"Never call f{n} twice" for n in range(6)
}


def oid(repo: Path, name: str) -> str:
    return git(repo, "rev-parse", name).strip()


def titles(repo: Path) -> set[str]:
    return {row["title"] for row in data_of(mem(repo, "list", "--json", "--limit", "1000").stdout)}


def in_git(repo: Path) -> set[str]:
    """Return the titles as git has them: the index is thrown away first."""
    (repo / ".git/gitmem/index.db").unlink(missing_ok=True)
    return titles(repo)


def repaired(repo: Path) -> str:
    return "\n".join(data_of(mem(repo, "doctor", "--fix", "--json", ok=(0, 1)).stdout)["repairs"])


@pytest.fixture
def filled(repo: Path) -> Path:
    """Return a repository with twelve memories and six gotchas, indexed."""
    mem(repo, "init", "--no-remote")
    with open_app(str(repo), dict(os.environ)) as app:
        store, who = app.store(), app.writer()
        for n in range(12):
            write.add(
                store,
                who,
                write.draft(
                    who, "memory", f"Use queue {n} for area {n}", f"Reason {n}.\n\nMore of it."
                ),
            )
        for n in range(6):
            write.add(
                store, who, write.draft(who, "gotcha", f"Never call f{n} twice", f"It hangs {n}.")
            )
    assert titles(repo) == TITLES
    return repo


def blob(repo: Path, number: int = 0) -> tuple[str, str]:
    """Return (path, oid) of a record's file."""
    row = git(repo, "ls-tree", "-r", SHARED, "memories").splitlines()[number]
    return row.split("\t")[1], row.split()[2]


def test_lost_file_is_read_past_and_written_anew(filled):
    """A file that is gone: everything else is told, and the index has it to the byte."""
    tip = oid(filled, SHARED)
    lose(filled, blob(filled)[1])
    shutil.copy(filled / ".git/gitmem/index.db", filled / "saved")
    assert 17 == len(in_git(filled))
    assert any(
        "missing" in f["message"]
        for f in data_of(mem(filled, "doctor", "--json", ok=(1,)).stdout)["findings"]
    )
    shutil.copy(filled / "saved", filled / ".git/gitmem/index.db")
    assert "to the byte" in repaired(filled)
    assert (TITLES, tip, "") == (in_git(filled), oid(filled, SHARED), fsck(filled))


@pytest.mark.parametrize("which", ["shard", "folder", "root", "two"])
def test_lost_folder_is_made_anew(filled, which):
    """A folder that is gone is made of what the index says was in it."""
    tip = oid(filled, SHARED)
    path = blob(filled)[0]
    gone = {
        "shard": [path.rpartition("/")[0]],
        "folder": ["memories"],
        "root": [""],
        "two": ["memories", "gotchas"],
    }[which]
    lose(filled, *(oid(filled, f"{SHARED}:{name}") for name in gone))
    repaired(filled)
    assert (TITLES, tip, "") == (in_git(filled), oid(filled, SHARED), fsck(filled))


def test_lost_newest_commit(filled):
    """The commit that the ref names is gone: reading goes on from the index and says so; the fix brings all of it back."""
    lose(filled, oid(filled, SHARED))
    shutil.copy(filled / ".git/gitmem/index.db", filled / "saved")
    done = mem(filled, "list", "--json", "--limit", "1000")
    assert {row["title"] for row in data_of(done.stdout)} == TITLES
    assert "every record of the last commit is there" in repaired(filled)
    assert (TITLES, "") == (in_git(filled), fsck(filled))
    git(filled, "gc", "-q", "--prune=now")
    mem(filled, "add", "The store goes on")
    assert TITLES | {"The store goes on"} == titles(filled)


def test_lost_old_commit(filled):
    """History is cut where it cannot be read; every record stays, and git's own collection works again."""
    lose(filled, oid(filled, f"{SHARED}~9"))
    assert titles(filled) == TITLES
    assert "could not be read" in repaired(filled)
    assert (TITLES, "") == (in_git(filled), fsck(filled))
    assert 9 <= int(git(filled, "rev-list", "--count", SHARED))
    git(filled, "gc", "-q")


def test_remote_has_what_is_gone(filled, make_repo):
    """What was pushed is fetched again, also what git thinks is here."""
    hub = make_repo("bare")
    git(filled, "remote", "add", "origin", str(hub))
    mem(filled, "remote", "enable", "origin")
    mem(filled, "sync")
    tip = oid(filled, SHARED)
    lose(filled, blob(filled)[1], oid(filled, f"{SHARED}~4"), oid(filled, f"{SHARED}:gotchas"))
    (filled / ".git/gitmem/index.db").unlink()
    assert "origin" in repaired(filled)
    assert (TITLES, tip, "") == (in_git(filled), oid(filled, SHARED), fsck(filled))


def test_what_nothing_has_is_named(filled):
    """Without index and remote, an older version stands in, and a record that is nowhere is named."""
    edited, gone = blob(filled, 0)[0], blob(filled, 1)[0]
    id = Path(edited).stem
    mem(filled, "edit", id, "--title", "A newer title")
    before = oid(filled, f"{SHARED}:{gone}")
    lose(filled, oid(filled, f"{SHARED}:{edited}"), before)
    (filled / ".git/gitmem/index.db").unlink()
    told = repaired(filled)
    assert f"1 file could not be saved: {Path(gone).stem}" in told
    assert id in told
    assert fsck(filled) == ""
    assert 17 == len(in_git(filled) & TITLES)


@pytest.mark.parametrize("seed", range(12))
def test_any_objects(filled, seed):
    """Whatever is gone: the store is whole afterwards, and with the index there every record is in it."""
    rng = random.Random(seed)
    every = sorted(
        {line.split()[0] for line in git(filled, "rev-list", "--objects", SHARED).splitlines()}
    )
    lose(filled, *rng.sample(every, rng.randint(1, 12)))
    told = repaired(filled)
    assert fsck(filled) == ""
    assert (TITLES, False) == (in_git(filled), "could not be saved" in told), told
