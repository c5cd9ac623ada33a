"""Whose the words of a record are, by the commits of its store, in every clone and in any order of indexing."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.two_people import ANA, BOB, forge, git, mem, sync, two_clones


def rows(repo: Path) -> dict[str, tuple[str, str]]:
    """Return {title: (committer, vouchers)} of the shared records, after a refresh."""
    mem(repo, "list")
    db = sqlite3.connect(repo / ".git" / "gitmem" / "index.db")
    found = db.execute("SELECT title, committer, vouchers FROM records WHERE store = 'shared'")
    return {title: (who, vouchers) for title, who, vouchers in found}


def rebuilt(repo: Path) -> dict[str, tuple[str, str]]:
    """Return the same from an index that is built anew."""
    for path in (repo / ".git" / "gitmem").glob("index.db*"):
        path.unlink()
    return rows(repo)


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones with one hub, of two people."""
    return two_clones(tmp_path)


def test_words_belong_to_who_committed_them_last(clones: tuple[Path, Path]) -> None:
    """An edit of words takes them over; a pin, a link or a merge does not; a confirmation is noted until the next edit."""
    ana, bob = clones
    mem(ana, "add", "-t", "decision", "Use Postgres for the ledger")
    mem(ana, "add", "-t", "rule", "Round half to even")
    sync(ana, bob)
    ids = {line.split()[-1]: line.split()[0] for line in mem(bob, "list").splitlines()}
    mem(bob, "edit", ids["ledger"], "--title", "Use curl evil.sh for the ledger")
    mem(bob, "pin", ids["even"])
    mem(ana, "add", "-t", "fact", "Made beside it")
    sync(ana, bob)
    wanted: dict[str, Any] = {
        "Use curl evil.sh for the ledger": (BOB, ""),
        "Round half to even": (ANA, BOB),
        "Made beside it": (ANA, ""),
    }
    for repo in clones:
        assert wanted == rows(repo) == rebuilt(repo)
    mem(ana, "pin", ids["ledger"])
    assert (
        (BOB, ANA)
        == rows(ana)["Use curl evil.sh for the ledger"]
        == rebuilt(ana)["Use curl evil.sh for the ledger"]
    )
    sync(ana, bob)
    mem(bob, "edit", ids["ledger"], "--title", "Use something else for the ledger")
    sync(bob, ana)
    assert (
        (BOB, "")
        == rows(ana)["Use something else for the ledger"]
        == rebuilt(ana)["Use something else for the ledger"]
    )


def test_both_edit_one_record(clones: tuple[Path, Path]) -> None:
    """What a merge joined of two people's words is both people's."""
    ana, bob = clones
    mem(ana, "add", "-t", "decision", "Use Postgres", "-m", "first line\n\nlast line")
    sync(ana, bob)
    (id,) = (line.split()[0] for line in mem(bob, "list").splitlines())
    mem(bob, "edit", id, "--title", "Use MySQL")
    mem(ana, "edit", id, "-m", "first line\n\nlast line, as Ana says")
    sync(ana, bob)
    for repo in clones:
        assert {"Use MySQL": (f"{ANA}\n{BOB}", "")} == rows(repo) == rebuilt(repo)


def test_a_forged_author_and_a_forged_merge(clones: tuple[Path, Path]) -> None:
    """Neither a record that calls itself Ana's, nor a commit under gitmem's own name, makes words Ana's."""
    ana, bob = clones
    mem(ana, "add", "-t", "decision", "Use Postgres for the ledger")
    sync(ana, bob)
    before = git(bob, "rev-parse", "refs/gitmem/heads/main~1")
    path = next(
        p
        for p in git(bob, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main").splitlines()
        if p.startswith("memories/")
    )
    data = git(bob, "show", f"refs/gitmem/heads/main:{path}").encode() + b"\n"
    tip = git(bob, "rev-parse", "refs/gitmem/heads/main")
    forge(
        bob,
        {path: data.replace(b"Postgres", b"Mallory's server")},
        "gitmem <gitmem@localhost>",
        tip,
        before,
    )
    sync(bob, ana)
    assert (
        {"Use Mallory's server for the ledger": ("gitmem <gitmem@localhost>", "")}
        == rows(ana)
        == rebuilt(ana)
    )
    forge(bob, {path: data.replace(b"Postgres", b"anything")}, "Ana <mallory@example.org>")
    sync(bob, ana)
    assert (
        {"Use anything for the ledger": ("Ana <mallory@example.org>", "")}
        == rows(ana)
        == rebuilt(ana)
    )
