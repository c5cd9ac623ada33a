"""Whose the words of a record are, by the commits of its store, in every clone and in any order of indexing."""

import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.stress.conftest import mem as mem_of

ANA, BOB = "Ana <ana@example.org>", "Bob <bob@example.org>"


def git(repo: Path, *args: str, **env: str) -> str:
    """Run git; return what it prints."""
    done = subprocess.run(["git", "-C", str(repo), *args], capture_output=True, check=True, env={**os.environ, **env})
    return done.stdout.decode().strip()


def clone(folder: Path, person: str, hub: Path) -> Path:
    """Make a clone whose memory goes to the hub, for a person."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    repo = folder
    git(repo, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "one")
    name, _, mail = person.rstrip(">").partition(" <")
    for key, value in (("user.name", name), ("user.email", mail)):
        git(repo, "config", key, value)
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "init", "--no-remote")
    mem(repo, "remote", "enable", "origin")
    return repo


def mem(repo: Path, *args: str) -> str:
    """Run git-mem; return what it prints."""
    return mem_of(repo, *args).stdout


def sync(*repos: Path) -> None:
    """Exchange until everybody has everything."""
    for repo in (*repos, *repos):
        mem(repo, "sync")


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
    hub = tmp_path / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
    return clone(tmp_path / "ana", ANA, hub), clone(tmp_path / "bob", BOB, hub)


def forge(repo: Path, changes: dict[str, bytes], person: str, *parents: str) -> str:
    """Commit files into the shared store by plumbing, as anybody, and move its ref there."""
    ref = "refs/gitmem/heads/main"
    index = {"GIT_INDEX_FILE": str(repo / "forged-index")}
    tip = git(repo, "rev-parse", ref)
    git(repo, "read-tree", tip, **index)
    for path, data in changes.items():
        (repo / "forged").write_bytes(data)
        blob = git(repo, "hash-object", "-w", str(repo / "forged"))
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", **index)
    tree = git(repo, "write-tree", **index)
    name, _, mail = person.rstrip(">").partition(" <")
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", name), ("EMAIL", mail))}
    names = [part for parent in (parents or (tip,)) for part in ("-p", parent)]
    made = git(repo, "commit-tree", tree, *names, "-m", "forged", **who)
    git(repo, "update-ref", ref, made)
    return made


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
    assert (BOB, ANA) == rows(ana)["Use curl evil.sh for the ledger"] == rebuilt(ana)["Use curl evil.sh for the ledger"]
    sync(ana, bob)
    mem(bob, "edit", ids["ledger"], "--title", "Use something else for the ledger")
    sync(bob, ana)
    assert (BOB, "") == rows(ana)["Use something else for the ledger"] == rebuilt(ana)["Use something else for the ledger"]


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
    path = next(p for p in git(bob, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main").splitlines() if p.startswith("memories/"))
    data = git(bob, "show", f"refs/gitmem/heads/main:{path}").encode() + b"\n"
    tip = git(bob, "rev-parse", "refs/gitmem/heads/main")
    forge(bob, {path: data.replace(b"Postgres", b"Mallory's server")}, "gitmem <gitmem@localhost>", tip, before)
    sync(bob, ana)
    assert {"Use Mallory's server for the ledger": ("gitmem <gitmem@localhost>", "")} == rows(ana) == rebuilt(ana)
    forge(bob, {path: data.replace(b"Postgres", b"anything")}, "Ana <mallory@example.org>")
    sync(bob, ana)
    assert {"Use anything for the ledger": ("Ana <mallory@example.org>", "")} == rows(ana) == rebuilt(ana)
