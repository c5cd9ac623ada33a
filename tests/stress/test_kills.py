"""Processes that are killed at random moments: nothing acknowledged is lost, and the store opens afterwards."""

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.repo.refs import SHARED
from gitmem.store import journal
from tests.conftest import fsck, git, listed
from tests.scale import FULL, scaled
from tests.stress.conftest import assert_whole, findings, finish, mem, unwell, warm_mem
from tests.stress.harness import Nest, age, heal, kill

pytestmark = pytest.mark.stress

KILLS = scaled(150, 12)  # on each backend
SYNCS, PURGES, WIPES = scaled(12, 3), scaled(10, 3), scaled(30, 5)  # that are killed
WAITING = scaled(150, 60)  # writes in the journal that is drained
GOTCHA = "got-01hzzzzzzzzzzzzzzzzzzzzzzz"


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_killed_writers(repo: Path, nest: Nest, backend: str):
    """Kills of a writing process on each backend: every write that it acknowledged is there."""
    mem(repo, "init", "--no-remote")
    stale = 0
    # a slow machine needs more of them, and more time for each
    while nest.strikes < KILLS or (len(nest.told()) <= KILLS and nest.strikes < 10 * KILLS):
        longest = 0.2 * max(1.0, nest.strikes / KILLS)
        nest.strike(longest, "write", repo, backend, 100_000, f"k{nest.strikes}")
        stale += nest.heal(repo)
    print(f"{len(nest.told())} writes acknowledged, {stale} locks left")
    nest.settle()
    assert len(nest.told()) > KILLS  # else most kills came before the first write
    assert_whole(repo, set(nest.told()))


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_killed_drains(
    repo: Path, nest: Nest, start: Callable[..., "subprocess.Popen[str]"], open_store, backend: str
):
    """Killed again and again while it is drained, the journal gives each of its writes exactly once."""
    mem(repo, "init", "--no-remote")
    hits = len(finish(start("observe", repo, backend, WAITING, GOTCHA)))
    store = open_store(repo, backend)
    keys = [entry["key"] for _, entry in journal.entries(store.home) if entry]
    assert hits == len(keys) == WAITING
    while journal.count(store.home):
        longest = 0.08 * max(1.0, nest.strikes / 10)  # a slow machine needs more time for each
        nest.strike(longest, "drain", repo, backend)
        for lock in nest.orphaned(repo):
            lock.unlink()  # not by a command: it would drain the rest in peace
    print(f"{nest.strikes} kills")
    nest.settle()
    assert nest.strikes >= 3
    assert hits == store.get(GOTCHA).record.get("occurrences")
    log = git(repo, "log", "--format=%(trailers:key=Gitmem-Key,valueonly)", SHARED).split()
    assert Counter(keys) == Counter(log)
    assert_whole(repo, {GOTCHA})


def test_killed_syncs(repo: Path, make_repo: Callable[..., Path], nest: Nest, open_store):
    """Killed while it syncs, a clone loses nothing, and its next sync brings both sides together."""
    hub, other = make_repo("bare"), make_repo()
    for clone in (repo, other):
        git(clone, "remote", "add", "origin", str(hub))
        mem(clone, "remote", "enable", "origin", "--yes")
    ids = set()

    def new(clone: Path) -> None:
        ids.add(
            warm_mem(clone, "add", f"number {len(ids)}", "--json")
            .stdout.split('"id": "')[1]
            .split('"')[0]
        )

    while nest.strikes < SYNCS:
        new(repo)
        new(other)
        mem(other, "sync")
        nest.strike(0.3, "mem", "-C", repo, "sync")
        nest.heal(repo)
        nest.settle()
        assert "" == fsck(repo)
    for clone in (repo, other, repo):
        mem(clone, "sync")
    tips = {git(path, "rev-parse", SHARED) for path in (repo, other, hub)}
    assert 1 == len(tips)
    assert ids == listed(open_store(repo))
    for clone in (repo, other):
        assert_whole(clone, ids)
    assert "" == fsck(hub)


def objects_with(path: Path, text: str) -> int:
    """Return how often a text stands in a repository's objects, reachable or not, and in our own files."""
    done = subprocess.run(
        ["git", "-C", str(path), "cat-file", "--batch-all-objects", "--unordered", "--batch"],
        capture_output=True,
        check=True,
    )
    files = (f.read_bytes() for f in (path / ".git" / "gitmem").rglob("*") if f.is_file())
    return sum(data.count(text.encode()) for data in (done.stdout, *files))


def test_killed_purges(repo: Path, nest: Nest):
    """A purge that was killed loses no other record; run again, it removes the secret for good."""
    ids = set()

    def new(text: str) -> str:
        ids.add(
            warm_mem(repo, "add", f"number {len(ids)}", "-m", text, "--json")
            .stdout.split('"id": "')[1]
            .split('"')[0]
        )
        return text

    left = 0
    for n in range(12):
        new(f"harmless {n}")
    while nest.strikes < PURGES:
        number = nest.strikes
        word = new(f"opensesame{number:03}")
        new(f"harmless after {number}")
        if number % 3 == 1:
            git(repo, "gc", "-q")  # also writes a commit-graph that names what goes
        elif number % 3 == 2:
            git(repo, "repack", "-q")
            git(repo, "multi-pack-index", "write")
        assert objects_with(repo, word)
        nest.strike(0.4, "mem", "-C", repo, "forget", "--purge", "--text", word, "--yes")
        nest.heal(repo)
        nest.settle()
        assert "" == fsck(repo)
        mem(repo, "drain")  # which releases the packs of writes that were killed
        complaints = unwell(repo)
        if complaints:
            assert any("a purge ended before" in what for what in complaints), complaints
            left += 1
            mem(repo, "doctor", "--fix")
            assert [] == unwell(repo)
        # 1: the one that was killed had found it all
        mem(repo, "forget", "--purge", "--text", word, "--yes", ok=(0, 1))
        assert 0 == objects_with(repo, word)
        assert "" == fsck(repo)
    print(f"{left} were killed half-way")
    assert_whole(repo, ids)


@pytest.mark.parametrize("split", [[], ["--split"]])
def test_lock_of_a_dead_commit_graph(repo: Path, split: list[str]):
    """A purge gets by the lock that a killed `git commit-graph` left, and doctor removes it: it would stop every `git gc`."""
    mem(repo, "add", "harmless")
    mem(repo, "add", "one", "-m", "opensesame")
    git(repo, "commit-graph", "write", "--reachable", *split)
    info = repo / ".git" / "objects" / "info"
    lock = (
        info / "commit-graphs" / "commit-graph-chain.lock" if split else info / "commit-graph.lock"
    )
    lock.touch()

    mem(repo, "forget", "--purge", "--text", "opensesame", "--yes")

    assert 0 == objects_with(repo, "opensesame")
    assert "" == fsck(repo)
    assert not any("died" in f["message"] for f in findings(repo))  # it may be at work
    age([lock])
    assert ["a lock of a process that died: " + str(lock.relative_to(repo / ".git"))] == unwell(
        repo
    )
    mem(repo, "doctor", "--fix")
    assert [] == unwell(repo)
    git(repo, "gc", "-q")


def test_lock_of_a_dead_git(repo: Path):
    """While the lock that a killed git left blocks the ref, writes wait in the journal and reading goes on.

    A command tries for five seconds until it leaves a write there, and `doctor` does so again.
    """
    before = mem(repo, "add", "before", "--json").stdout.split('"id": "')[1].split('"')[0]
    lock = repo / ".git" / f"{SHARED}.lock"
    lock.touch()
    during = mem(repo, "add", "during", "--json").stdout.split('"id": "')[1].split('"')[0]
    for command in (["list"], ["show", before], *([["search", "before"], ["log"]] if FULL else [])):
        assert "before" in mem(repo, *command).stdout
    assert 1 == heal(repo)
    assert_whole(repo, {before, during})


def test_killed_wipes(repo: Path, nest: Nest, rng: random.Random):
    """A wipe that is killed leaves all or says at the next command that it has not ended; the next one ends it."""
    halfway = 0
    for _ in range(WIPES):
        mem(repo, "init", "--no-remote")
        for number in range(3):
            warm_mem(repo, "add", f"Something to forget {number}")
        warm_mem(repo, "add", "Private", "--private")
        for number in range(300):  # what takes time to remove
            (repo / ".git/gitmem/sessions").mkdir(exist_ok=True)
            (repo / f".git/gitmem/sessions/{number}").touch()
        pid = nest.start("mem", "-C", repo, "uninstall", "--wipe", "--yes")
        while not (repo / ".git/gitmem/wiping").exists() and (repo / ".git/gitmem").exists():
            time.sleep(0.0005)
        time.sleep(rng.random() * 0.03)
        kill(pid, everything=rng.random() < 0.5)
        nest.settle()
        if left := list((repo / ".git").rglob("*.lock")):  # of a git command that was killed too
            age(left)
            mem(repo, "doctor", "--fix")
        if not (repo / ".git/gitmem").exists():
            continue
        whole = len(list((repo / ".git/gitmem/sessions").glob("*"))) == 300 and git(
            repo, "for-each-ref", "refs/gitmem"
        )
        said = "stopped before its end" in mem(repo, "status").stderr
        halfway += said
        assert whole or said
        mem(repo, "uninstall", "--wipe", "--yes")
        assert not (repo / ".git/gitmem").exists()
        assert git(repo, "for-each-ref", "refs/gitmem") == ""
    assert halfway


def test_a_wipe_that_was_stopped_can_be_given_up(repo: Path):
    """`init` keeps what is left."""
    mem(repo, "init", "--no-remote")
    mem(repo, "add", "Kept after all")
    (repo / ".git/gitmem/wiping").touch()
    assert "git mem uninstall --wipe --yes" in mem(repo, "list").stderr
    mem(repo, "init", "--no-remote")
    done = mem(repo, "list")
    assert ("Kept after all" in done.stdout, done.stderr) == (True, "")
