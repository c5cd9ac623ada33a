"""Consolidations that are killed, that run at once, and on three replicas beside syncs."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

from gitmem.records.kinds import FACTS
from gitmem.repo.refs import SHARED
from tests.conftest import fsck
from tests.lifecycle.memories import add, data
from tests.scale import scaled
from tests.stress.conftest import mem, mem_argv, mem_env
from tests.stress.harness import Nest
from tests.two_people import git

GROUPS = scaled(60, 10)
KILLS = scaled(40, 5)


def fill(repo: Path) -> set[str]:
    """Add facts, each in several wordings; return the statements."""
    titles = {f"The service {number} must log each request as JSON" for number in range(GROUPS)}
    for title in titles:
        for wording in (title, title.replace("must", "has to"), f"{title}."):
            add(repo, wording)
    return titles


def live(repo: Path) -> list[str]:
    """Return the statements of the facts that are live, in the wording of `fill`."""
    rows = data(repo, "list")
    return sorted(
        row["title"].rstrip(".").replace("has to", "must") for row in rows if row["kind"] in FACTS
    )


def test_killed_at_any_point(repo: Path, nest: Nest, rng: random.Random) -> None:
    """No statement is lost, the next run ends it, and one more changes nothing."""
    mem(repo, "init", "--no-remote")
    titles = fill(repo)
    for number in range(KILLS):
        add(repo, f"the service {number} must log each request as JSON")
        nest.strike(0.4, "mem", "-C", repo, "consolidate", "--steps", "collect,merge,health")
        nest.heal(repo)
        nest.settle()
        assert titles <= {title.replace("the service", "The service") for title in live(repo)}
    mem(repo, "consolidate")
    assert len(live(repo)) == len(titles)
    tip = git(repo, "rev-parse", SHARED)
    mem(repo, "consolidate")
    assert git(repo, "rev-parse", SHARED) == tip
    assert fsck(repo) == ""


def test_two_at_once_and_a_writer(repo: Path) -> None:
    """One ends, the other waits or says so; each statement stays once, and so does what is written."""
    mem(repo, "init", "--no-remote")
    titles = fill(repo)
    argv = mem_argv(repo, "consolidate", "--steps", "merge")
    both = [subprocess.Popen(argv, env=mem_env()) for _ in range(2)]
    written = {add(repo, f"Note {number}").title for number in range(5)}
    assert {one.wait() for one in both} in ({0}, {0, 1})
    mem(repo, "consolidate")
    assert sorted({*titles, *written}) == live(repo)


def test_three_replicas(repo: Path, make_repo: Callable[..., Path]) -> None:
    """All consolidate the same facts and sync: one tree, and no merges without end."""
    hub, clones = make_repo("bare"), [repo, make_repo(), make_repo()]
    for clone in clones:
        git(clone, "remote", "add", "origin", str(hub))
        mem(clone, "remote", "enable", "origin", "--yes")
    titles = fill(repo)
    for clone in clones:
        mem(clone, "sync")
    for clone in clones:
        mem(clone, "consolidate", "--steps", "collect,merge")
    work = [
        subprocess.Popen(mem_argv(clone, *args), env=mem_env(), stdout=subprocess.DEVNULL)
        for clone in clones
        for args in (("sync",), ("consolidate",))
    ]
    assert {one.wait() for one in work} == {0}
    for clone in (*clones, *clones):
        mem(clone, "sync")
    tips = {git(clone, "rev-parse", SHARED) for clone in clones}
    assert len(tips) == 1
    assert live(repo) == sorted(titles)
    for clone in clones:
        mem(clone, "consolidate", "--steps", "collect,merge")
        mem(clone, "sync")
    assert {git(clone, "rev-parse", SHARED) for clone in clones} == tips
