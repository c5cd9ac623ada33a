"""Five clones advance one epic, part and meet over a bare hub: all end with the same tree, and each story that anybody completed is done."""

import random
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import UserError
from gitmem.records import epic
from gitmem.records.record import make
from gitmem.store import operations
from gitmem.store.store import Store
from tests.conftest import AUTHOR, fsck, git
from tests.property.test_convergence import Clone, cross

CLONES, STEPS = 5, 60
EPIC = "wrk-shop"
SEEDS = {"known": 2, "random": secrets.randbits(32)}


def advance(clone: Clone, rng: random.Random, done: set[str]) -> None:
    """Do anything to the epic; note what was completed."""
    story = f"s{rng.randrange(12)}"
    steps = {
        "start": {"stories": [f"s{rng.randrange(12)}" for _ in range(5)]},
        "story": {"story": story},
        "done": {"story": story},
        "phase": {"phase": rng.choice(epic.PHASES), "executor": rng.choice("ab")},
        "pause": {},
        "go": {},
        "restart": {},
        "checkpoint": {"note": rng.choice("xy")},
        "override": {"set": {rng.choice("kl"): rng.choice([None, 1, "v"])}},
        "error": {"note": "e"},
    }
    act = rng.choice(
        [
            *["start"] * 2,
            "story",
            *["done"] * 3,
            *["phase"] * 3,
            "pause",
            "go",
            "restart",
            "checkpoint",
            "override",
            "error",
        ]
    )
    now = clone.clock.stamp()
    new = make("work", EPIC, "Shop", created=now, updated=now, rev=1)
    try:
        clone.write(
            act,
            operations.work(EPIC, act, {**steps[act], "holder": {"host": clone.name}}, now, new),
        )
    except UserError:
        return
    if act == "done":
        done.add(story)


@pytest.mark.stress
@pytest.mark.parametrize("seed", list(SEEDS))
def test_an_epic_converges(
    make_repo: Callable[..., Path], open_store: Callable[..., Store], seed: str
) -> None:
    """Whoever met whom in between, criss-cross too; clocks a day apart."""
    print(f"seed {SEEDS[seed]}")
    rng = random.Random(SEEDS[seed])
    hub = make_repo("bare")
    clones = []
    for n in range(CLONES):
        path = make_repo()
        git(path, "remote", "add", "origin", str(hub))
        clones.append(
            Clone(path, open_store(path, "libgit2", author=(f"P{n}", AUTHOR[1])), f"c{n}", rng)
        )
    done: set[str] = set()
    for _ in range(STEPS):
        for clone in rng.sample(clones, 2):
            advance(clone, rng, done)
        if rng.random() < 0.3:
            rng.choice(clones).meet()
        if rng.random() < 0.15:
            cross(clones, rng)
    for clone in [*clones, *clones]:
        clone.meet()

    assert len({clone.store.tree() for clone in clones}) == 1
    state = clones[0].store.get(EPIC).record.fields["state"]
    known = epic.progress(state)
    assert set(known["stories_done"]) == done
    assert done
    assert known["current"] not in {*known["stories_pending"], *known["stories_done"]}
    assert clones[0].store.get(EPIC).record.fields.get("conflict") is None
    assert fsck(hub) == ""
