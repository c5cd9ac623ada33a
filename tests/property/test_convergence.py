"""Eight clones write, part and meet again over one bare hub: all end with the same tree, and no id is lost."""

import random
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.model.merge import restamp
from gitmem.model.record import Record
from gitmem.store import ops
from gitmem.store.records import Message, Store, Stored
from gitmem.store.sync import sync
from tests.conftest import AUTHOR, CLOCK, forget, fsck, git, listed, record, remote_of

CLONES = 8
STEPS = 90
KNOWN = (1, 20260131)  # the same on every run
SEEDS = [*KNOWN, secrets.randbits(32), secrets.randbits(32)]

Step = Callable[["Clone", random.Random], None]


class Clone:
    """One replica: a repository, its store, the hub as its remote, and what it did."""

    def __init__(self, path: Path, store: Store, name: str) -> None:
        self.path = path
        self.store = store
        self.name = name
        self.born: set[str] = set()  # ids that were made here
        self.collected: set[str] = set()  # ids that decay removed here: the only ones that may be in no place

    def mine(self, rng: random.Random) -> Record | None:
        """Return any record that this clone sees."""
        rows = sorted(self.store.entries())
        if not rows:
            return None
        return self.store.get(rng.choice(rows)[0].rsplit("/", 1)[1].removesuffix(".md")).record

    def meet(self) -> None:
        """Sync with the hub."""
        sync(self.store, remote_of(self.path), push=True, sleep=lambda _: None)


def change(clone: Clone, before: Record, after: Record, op: str) -> None:
    after = restamp(before, after.touched(CLOCK.stamp()))
    clone.store.write([ops.put(after, before)], Message(f"{op} {after.id}", op, (after.id,)))


def add(clone: Clone, rng: random.Random) -> None:
    kind = rng.choice(["memory", "memory", "gotcha"])
    body = "".join(f"line {n} of {clone.name}\n" for n in range(rng.randrange(6)))
    item = record(kind, f"{clone.name} {len(clone.born)}", body, tags=[rng.choice("abc")])
    clone.store.write([ops.put(item)], Message(f"add {item.id}", "add", (item.id,)))
    clone.born.add(item.id)


def learn(clone: Clone, rng: random.Random) -> None:
    """Capture a gotcha whose id comes from its pattern, so that clones meet in one record."""
    pattern = f"ValueError: {rng.randrange(4)}"
    now = CLOCK.stamp()
    facts = {
        "pattern": pattern,
        "title": pattern,
        "category": "test",
        "severity": "info",
        "message": pattern,
        "times": 3,
        "more": 1,
        "at": now,
        "first": now,
    }
    clone.store.write([ops.capture(facts)], Message("capture", "capture"))
    id = ops.gotcha_id(pattern)
    if id in listed(clone.store):
        clone.born.add(id)


def edit(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is None:
        return
    lines = item.body.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), f"{clone.name} was here {rng.randrange(1000)}\n")
    if rng.random() < 0.4:
        del lines[rng.randrange(len(lines))]
    tags = set(item.tags) ^ {rng.choice("abcdef")}
    title = f"{item.title} {clone.name}" if rng.random() < 0.2 else item.title
    change(clone, item, item.change(title=title[-120:], body="".join(lines), tags=sorted(tags)), "edit")


def pin(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None and item.kind == "memory":
        change(clone, item, item.change(status=rng.choice(["pinned", "active", "archived"])), "pin")


def supersede(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is None:
        return
    new = record(item.kind, f"after {item.id[-6:]}", supersedes=[item.id])
    gone = restamp(item, item.change(status="archived").touched(CLOCK.stamp()))
    clone.store.write([ops.put(new), ops.put(gone, item)], Message(f"supersede {item.id}", "supersede", (new.id, item.id)))
    clone.born.add(new.id)


def remove(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None:
        forget(clone.store, item.id)


def collect(clone: Clone, rng: random.Random) -> None:
    item = clone.mine(rng)
    if item is not None:
        clone.store.write([ops.collect(item.id)], Message(f"collect {item.id}", "collect", (item.id,)))
        clone.collected.add(item.id)


STEPS_BY_WEIGHT: list[tuple[Step, int]] = [(add, 6), (edit, 9), (learn, 2), (pin, 3), (supersede, 2), (remove, 2), (collect, 1)]


def cross(clones: list[Clone], rng: random.Random) -> None:
    """Let two clones fetch each other without the hub, each merging what the other had: the criss-cross of git's books."""
    one, two = rng.sample(clones, 2)
    before = [(c, str(c.path), c.store.tip()) for c in (one, two)]
    bundle = {}
    for clone, path, tip in before:
        if tip:
            git(path, "update-ref", "refs/heads/seen", tip)
            bundle[clone.name] = path
    for clone, other in ((one, two), (two, one)):
        if other.name in bundle:
            sync(clone.store, remote_of(clone.path, bundle[other.name], "refs/heads/seen"), push=False)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(len(SEEDS)), ids=lambda n: "known" if n < len(KNOWN) else "random")
@pytest.mark.parametrize("backend", ["libgit2"])
def test_clones_converge(make_repo: Callable[..., Path], open_store: Callable[..., Store], backend: str, seed: int):
    """Whatever eight clones did, and whoever met whom in between, one more round makes them all the same."""
    print(f"seed {SEEDS[seed]}")
    rng = random.Random(SEEDS[seed])
    hub = make_repo("bare")
    clones = []
    for n in range(CLONES):
        path = make_repo()
        git(path, "remote", "add", "origin", str(hub))
        clones.append(Clone(path, open_store(path, backend, author=(f"P{n}", AUTHOR[1])), f"c{n}"))
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
