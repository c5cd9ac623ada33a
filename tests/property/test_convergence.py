"""Eight clones write, part and meet again over one bare hub: all end with the same tree, and no id is lost."""

import random
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.clock import Clock
from gitmem.records.merge import restamp
from gitmem.records.record import PREFIX, Record, make
from gitmem.store import operations
from gitmem.store.reader import Stored
from gitmem.store.store import Message, Store
from gitmem.store.sync import sync
from tests.conftest import AUTHOR, fsck, git, remote_of

CLONES = 8
STEPS = 75
SEEDS = {"known": 1, "random": secrets.randbits(32)}
START = 1_767_225_600  # any time; the clones' clocks are up to a day apart

Step = Callable[["Clone", random.Random], None]


class Clone:
    """One replica: a repository, its store, the hub as its remote, and what it did."""

    def __init__(self, path: Path, store: Store, name: str, rng: random.Random) -> None:
        self.path = path
        self.store = store
        self.name = name
        self._time = START + rng.randrange(86400)
        self.clock = store.clock = Clock(self._tick, rng.randbytes)
        self.born: set[str] = set()  # ids that were made here
        # ids that decay removed here: the only ones that may be in no place
        self.collected: set[str] = set()

    def _tick(self) -> float:
        self._time += 0.4  # what a second sees may share its stamp
        return self._time

    def new(self, kind: str, title: str, body: str = "", **fields: Any) -> Record:
        """Return a new record, and note its id."""
        id, now = f"{PREFIX[kind]}-{self.clock.ulid()}", self.clock.stamp()
        self.born.add(id)
        return make(kind, id, title, body, created=now, updated=now, rev=1, **fields)

    def write(self, op: str, *steps: operations.Op) -> None:
        """Write operations as one commit."""
        self.store.write(list(steps), Message(op, op))

    def change(self, before: Record, **changes: Any) -> operations.Op:
        """Return the operation that changes a record."""
        return operations.put(
            restamp(before, before.change(**changes).touched(self.clock.stamp())), before
        )

    def mine(self, rng: random.Random) -> Record | None:
        """Return any record that this clone sees."""
        rows = sorted(self.store.entries())
        if not rows:
            return None
        return self.store.get(rng.choice(rows)[0].rsplit("/", 1)[1].removesuffix(".md")).record

    def meet(self) -> None:
        """Sync with the hub."""
        sync(self.store, remote_of(self.path), push=True, sleep=lambda _: None)


def add(clone: Clone, rng: random.Random) -> None:
    body = "".join(f"line {n} of {clone.name}\n" for n in range(rng.randrange(6)))
    item = clone.new(
        rng.choice(["memory", "memory", "gotcha"]),
        f"{clone.name} {len(clone.born)}",
        body,
        tags=[rng.choice("abc")],
    )
    clone.write("add", operations.put(item))


def learn(clone: Clone, rng: random.Random) -> None:
    """Capture a gotcha whose id comes from its pattern, so that clones meet in one record."""
    pattern = f"ValueError: {rng.randrange(4)}"
    now = clone.clock.stamp()
    facts = {
        "pattern": pattern,
        "title": pattern,
        "category": "test",
        "severity": "info",
        "message": pattern,
        "times": 3,
        "more": 1,
        "at": now,
    }
    clone.write("capture", operations.capture(facts))
    clone.born.add(operations.gotcha_id(pattern))  # there now, or muted by a tombstone


def edit(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is None:
        return
    lines = item.body.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), f"{clone.name} was here {rng.randrange(1000)}\n")
    if rng.random() < 0.4:
        del lines[rng.randrange(len(lines))]
    title = f"{item.title} {clone.name}" if rng.random() < 0.2 else item.title
    clone.write(
        "edit",
        clone.change(
            item,
            title=title[-120:],
            body="".join(lines),
            tags=sorted(set(item.tags) ^ {rng.choice("abcdef")}),
        ),
    )


def pin(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None and item.kind == "memory":
        clone.write("pin", clone.change(item, status=rng.choice(["pinned", "active", "archived"])))


def supersede(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None:
        new = clone.new(item.kind, f"after {item.id[-6:]}", supersedes=[item.id])
        clone.write("supersede", operations.put(new), clone.change(item, status="archived"))


def remove(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None:
        clone.write("forget", operations.forget(item.id, clone.clock.stamp(), clone.name))


def collect(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None:
        clone.write("collect", operations.collect(item.id))
        clone.collected.add(item.id)


STEPS_BY_WEIGHT: list[tuple[Step, int]] = [
    (add, 6),
    (edit, 9),
    (learn, 2),
    (pin, 3),
    (supersede, 2),
    (remove, 2),
    (collect, 1),
]


def live_files(clone: Clone) -> list[str]:
    """Return what `git ls-tree` lists of a clone's store, but the attic."""
    listed = git(clone.path, "ls-tree", "-r", str(clone.store.tree())).splitlines()
    return [line for line in listed if not line.partition("\t")[2].startswith("attic/")]


def cross(clones: list[Clone], rng: random.Random) -> None:
    """Let two clones take each other's state of one moment, without the hub: the criss-cross that gives a merge two bases."""
    pair = rng.sample(clones, 2)
    if not all(clone.store.tip() for clone in pair):
        return
    for clone in pair:
        git(clone.path, "update-ref", "refs/heads/seen", str(clone.store.tip()))
    for clone, other in zip(pair, reversed(pair), strict=True):
        sync(clone.store, remote_of(clone.path, str(other.path), "refs/heads/seen"), push=False)
    # the same content; not always the same commit: a merge that was never sent is made anew, and
    # then the attic has another form of what was removed. The next meeting joins the two
    one, two = (live_files(clone) for clone in pair)
    assert one == two


@pytest.mark.stress
@pytest.mark.parametrize("seed", list(SEEDS))
def test_clones_converge(
    make_repo: Callable[..., Path], open_store: Callable[..., Store], seed: str
):
    """Whatever eight clones did, and whoever met whom in between, one more round makes them all the same."""
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
    steps, weights = zip(*STEPS_BY_WEIGHT, strict=True)
    reachable = list(clones)
    for _ in range(STEPS):
        for clone in rng.sample(clones, 3):
            rng.choices(steps, weights)[0](clone, rng)
        if rng.random() < 0.1:  # a partition: only some reach the hub, until the next one
            reachable = rng.sample(clones, rng.randrange(1, CLONES + 1))
        if rng.random() < 0.3:
            rng.choice(reachable).meet()
        if rng.random() < 0.15:
            cross(clones, rng)
    # one round gives the hub everything, the second brings it to those who came first
    for clone in [*rng.sample(clones, CLONES), *rng.sample(clones, CLONES)]:
        clone.meet()

    trees = {clone.name: clone.store.tree() for clone in clones}
    assert 1 == len(set(trees.values())), trees
    print(f"tree {trees['c0']}")
    assert 1 == len({clone.store.tip() for clone in clones})
    born = set().union(*(c.born for c in clones))
    collected = set().union(*(c.collected for c in clones))
    names = git(hub, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main").splitlines()
    kept = {part.removesuffix(".md") for name in names for part in name.split("/")}
    assert born - collected <= kept
    assert len(born) > 20
    assert all(isinstance(row, Stored) for row in clones[0].store.records())
    assert "" == fsck(hub)
    assert "" == fsck(clones[0].path)
