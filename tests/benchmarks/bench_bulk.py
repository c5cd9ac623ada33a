"""Bulk import against `git fast-import` of the same blobs; how much disk a store takes."""

import subprocess
import sys
from functools import partial
from pathlib import Path

from gitmem.records.codec import encode
from gitmem.records.record import Record
from gitmem.services.records import write
from gitmem.store.layout import FORMAT_BYTES, FORMAT_PATH, record_path
from tests.benchmarks.common import (
    SHARED,
    Bench,
    Pairs,
    disk,
    fill,
    git,
    ms,
    new_repo,
    opened,
    records,
    run,
    size,
    table,
    timed,
    times,
    writer,
)

BUDGET = 2.0
WHO = "committer Ada <ada@example.org> 1735689600 +0000"


def stream(items: list[Record], path: Path, commit_each: bool = False) -> None:
    """Write what fast-import reads: the same files, in one commit or one commit each."""
    with path.open("wb") as file:

        def commit(message: str) -> None:
            file.write(f"commit {SHARED}\n{WHO}\ndata {len(message)}\n{message}\n".encode())

        def blob(name: str, data: bytes) -> None:
            file.write(f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n")

        commit("init")
        blob(FORMAT_PATH, FORMAT_BYTES)
        for number, item in enumerate(items):
            if commit_each or number == 0:
                commit("add")
            blob(record_path(item.id), encode(item))


def fast_import(path: Path, source: Path) -> None:
    with source.open("rb") as file:
        subprocess.run(["git", "-C", str(path), "fast-import", "--quiet"], stdin=file, check=True)


def speed(bench: Bench) -> None:
    """Time both, each into a new repository."""
    count, rounds = bench.size(100_000, 2_000), bench.times(3, 2)
    items = list(records(count))
    source = bench.fresh("stream")
    stream(items, source)
    rows = []
    for backend in ("libgit2", "git"):
        pairs = Pairs([], [])
        for _ in range(rounds):
            ours, theirs = new_repo(bench.fresh("ours")), new_repo(bench.fresh("theirs"))
            with opened(ours, backend) as app:
                pairs.left.append(timed(partial(fill, app.store(), items)))
            pairs.right.append(timed(partial(fast_import, theirs, source)))
        same = git(ours, "rev-parse", f"{SHARED}^{{tree}}") == git(
            theirs, "rev-parse", f"{SHARED}^{{tree}}"
        )
        assert same, "both sides must have made the same tree"
        rows.append(
            (
                backend,
                ms(pairs.left),
                ms(pairs.right),
                times(pairs.ratio),
                bench.verdict(f"bulk import, {backend}", pairs.ratio, BUDGET),
            )
        )
    table(
        f"Import of {count:,} records, {rounds} pairs",
        ("backend", "gitmem", "git fast-import", "ratio", "budget"),
        rows,
    )


def space(bench: Bench) -> None:
    """Measure the disk that records take: imported at once, and written one by one."""
    count = bench.size(10_000, 1_000)
    items = list(records(count))
    bare = disk(new_repo(bench.fresh("empty")) / ".git")
    rows = []
    source = bench.fresh("stream")

    def row(name: str, path: Path, floor: int = 0) -> int:
        index = (
            sum(f.stat().st_size for f in (path / ".git" / "gitmem").glob("index.db*"))
            if (path / ".git" / "gitmem").exists()
            else 0
        )
        taken = disk(path / ".git") - bare - index
        rows.append(
            (
                name,
                size(taken),
                f"{taken / count:.0f}",
                times(taken / floor) if floor else "-",
                size(index) if index else "-",
            )
        )
        return taken

    packed = {}
    for name, each in (
        ("git, all files in one commit, after git gc", False),
        ("git, one commit a file, after git gc", True),
    ):
        path = new_repo(bench.fresh("packed"))
        stream(items, source, each)
        fast_import(path, source)
        git(path, "gc", "-q", "--prune=now")
        packed[each] = row(name, path)
    path = new_repo(bench.fresh("batch"))
    with opened(path) as app:
        fill(app.store(), items)
        app.index()
    row("gitmem, one batch", path, packed[False])
    git(path, "gc", "-q", "--prune=now")
    row("gitmem, one batch, after git gc", path, packed[False])
    path = new_repo(bench.fresh("single"))
    with opened(path) as app:
        store, who = app.store(), writer(app)
        for item in items:
            write.add(store, who, item)
        app.index()
    row("gitmem, one write a record", path, packed[True])
    git(path, "gc", "-q", "--prune=now")
    row("gitmem, one write a record, after git gc", path, packed[True])
    table(
        f"Disk for {count:,} records ({size(sum(len(encode(i)) for i in items))} of text)",
        ("", "objects and refs", "bytes a record", "to git's", "index.db"),
        rows,
    )


def body(bench: Bench) -> None:
    """Run both."""
    speed(bench)
    space(bench)


if __name__ == "__main__":
    sys.exit(run("bench_bulk", body))
