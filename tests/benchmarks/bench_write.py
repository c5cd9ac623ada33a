"""One write in process against the same change by git's plumbing; how write, search and refresh grow."""

import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from gitmem.app import App
from gitmem.git.process import DURABLE
from gitmem.records.codec import encode
from gitmem.records.record import Record
from gitmem.redaction.mask import scrub
from gitmem.services.records import write
from gitmem.store.layout import record_path
from tests.benchmarks.common import (
    SHARED,
    Bench,
    Pairs,
    alternate,
    git,
    ms,
    opened,
    records,
    run,
    table,
    timed,
    times,
    writer,
)

BUDGET = 0.2
MEMORY = Path("/dev/shm")


def by_index(path: Path, record: Record, config: tuple[str, ...] = ()) -> None:
    """Make the change with six processes and a temporary index."""
    index = {"GIT_INDEX_FILE": str(path / ".git" / "bench-index")}
    tip = (path / ".git" / SHARED).read_text().strip()
    blob = git(path, *config, "hash-object", "-w", "--stdin", stdin=encode(record))
    git(path, "read-tree", tip, env=index)
    git(
        path,
        "update-index",
        "--add",
        "--cacheinfo",
        f"100644,{blob},{record_path(record.id)}",
        env=index,
    )
    tree = git(path, *config, "write-tree", env=index)
    commit = git(path, *config, "commit-tree", tree, "-p", tip, "-m", f"memory: add {record.id}")
    git(path, *config, "update-ref", SHARED, commit, tip)


def by_mktree(path: Path, record: Record, config: tuple[str, ...] = ()) -> None:
    """Make the change with nine processes: each folder on the way listed and made anew."""
    tip = (path / ".git" / SHARED).read_text().strip()
    oid, mode = (
        git(path, *config, "hash-object", "-w", "--stdin", stdin=encode(record)),
        "100644 blob",
    )
    *folders, name = record_path(record.id).split("/")
    for depth in range(len(folders), -1, -1):
        prefix = "".join(folder + "/" for folder in folders[:depth])
        listed = git(path, "ls-tree", tip, *([prefix] if prefix else [])).replace(
            "\t" + prefix, "\t"
        )
        rows = [row for row in listed.splitlines() if not row.endswith("\t" + name)]
        oid = git(
            path,
            *config,
            "mktree",
            stdin=("\n".join([*rows, f"{mode} {oid}\t{name}"]) + "\n").encode(),
        )
        mode, name = "040000 tree", folders[depth - 1] if depth else ""
    commit = git(path, *config, "commit-tree", oid, "-p", tip, "-m", f"memory: add {record.id}")
    git(path, *config, "update-ref", SHARED, commit, tip)


def adder(app: App, fresh: Iterator[Record]) -> Callable[[], None]:
    """Return what adds one record, as any caller in the product does: secrets masked, durable, the lock held."""
    store, who = app.store(), writer(app)

    def add() -> None:
        write.add(store, who, next(fresh))

    return add


def maker(
    plumbing: Callable[[Path, Record, tuple[str, ...]], None],
    path: Path,
    fresh: Iterator[Record],
    config: tuple[str, ...],
) -> Callable[[], None]:
    """Return what makes the same change by processes."""

    def make() -> None:
        plumbing(path, next(fresh), config)

    return make


def plain_records() -> Iterator[Record]:
    """Return new records that the masker leaves alone: some lines of made-up words look like the words of a wallet."""
    some = islice(records(10_000, seed=2), 400)
    return iter([record for record in some if not scrub(record.body).findings])


def against_plumbing(bench: Bench, where: str, folder: Path) -> None:
    """Time one write and the same change by processes, each side in its own copy of the store.

    Judged with git set to what ours does: everything on the disk before it is acknowledged. By default git
    leaves loose objects to the kernel; that is told beside it.
    """
    count, rounds = bench.size(10_000, 1_000), bench.times(40)
    ways = (
        ("temporary index, fsync", by_index, DURABLE, True),
        ("mktree, fsync", by_mktree, DURABLE, True),
        ("temporary index, git's default", by_index, (), False),
        ("mktree, git's default", by_mktree, (), False),
    )
    rows = []
    for backend in ("libgit2", "git"):
        for name, plumbing, config, judged in ways:
            ours, theirs = bench.copy(count, "ours", folder), bench.copy(count, "theirs", folder)
            one, two = plain_records(), plain_records()
            with opened(ours, backend) as app:
                pairs = alternate(
                    adder(app, one), maker(plumbing, theirs, two, config), rounds, warm=3
                )
            same = git(ours, "rev-parse", f"{SHARED}^{{tree}}") == git(
                theirs, "rev-parse", f"{SHARED}^{{tree}}"
            )
            assert same, "both sides must have made the same tree"
            # the git backend starts two processes where the plumbing starts six: told, not judged
            verdict = (
                bench.verdict(f"write, {where}, {name}", pairs.ratio, BUDGET)
                if judged and backend == "libgit2"
                else "-"
            )
            rows.append(
                (backend, name, ms(pairs.left), ms(pairs.right), times(pairs.ratio), verdict)
            )
    table(
        f"One write at {count:,} records, {where}, {rounds} pairs",
        ("backend", "plumbing by", "gitmem", "plumbing", "ratio", "budget"),
        rows,
    )


def many(bench: Bench) -> None:
    """Time writes in a row, our own packing of loose objects included."""
    count, number = bench.size(10_000, 1_000), bench.size(900, 320)
    fresh = records(10_000, seed=3)
    path = bench.copy(count, "many")
    with opened(path) as app:
        each = [timed(adder(app, fresh)) for _ in range(number)]
    rows = [
        ("median", f"{statistics.median(each) * 1000:.2f} ms"),
        ("mean, packing included", f"{statistics.mean(each) * 1000:.2f} ms"),
        ("longest (a packing)", f"{max(each) * 1000:.0f} ms"),
    ]
    table(f"{number} writes in a row at {count:,} records, libgit2", ("", "one write"), rows)


def growth(bench: Bench) -> None:
    """Time a write, a search, and the refresh after one commit, the sizes taken in turn."""
    sizes = (1_000, 2_000) if bench.quick else (1_000, 10_000, 100_000)
    rounds = bench.times(25)
    queries = itertools.cycle(
        (
            "payment isolation",
            "webhook invoice rounding",
            "deadlock",
            '"session token"',
            "certificate proxy header",
        )
    )
    taken: dict[str, dict[int, list[float]]] = {
        what: {n: [] for n in sizes} for what in ("write", "refresh after one commit", "search")
    }
    apps = {}
    contexts = [(n, opened(bench.copy(n, f"grow-{n}"))) for n in sizes]
    try:
        for n, context in contexts:
            apps[n] = context.__enter__()
        adders = {n: adder(apps[n], records(10_000, seed=4)) for n in sizes}
        for number in range(-1, rounds):
            query = next(queries)
            for n in sizes:
                app = apps[n]
                row = timed(adders[n]), timed(app.index), timed(partial(app.search, query, 10))
                if number >= 0:
                    for what, value in zip(taken, row, strict=True):
                        taken[what][n].append(value)
    finally:
        for _, context in contexts:
            context.__exit__(None, None, None)
    rows = []
    for what, by_size in taken.items():
        ratio = Pairs(by_size[sizes[-1]], by_size[sizes[0]]).ratio
        rows.append((what, *(ms(by_size[n]) for n in sizes), times(ratio)))
    table(
        f"Growth, libgit2, {rounds} rounds", ("", *(f"{n:,}" for n in sizes), "last to first"), rows
    )


def body(bench: Bench) -> None:
    """Run all."""
    against_plumbing(bench, "on the disk", bench.folder)
    if MEMORY.is_dir():
        # what is left when nobody waits for a disk: the work itself
        with tempfile.TemporaryDirectory(prefix="gitmem-bench-", dir=MEMORY) as folder:
            against_plumbing(bench, "in memory", Path(folder))
    many(bench)
    growth(bench)


if __name__ == "__main__":
    sys.exit(run("bench_write", body))
