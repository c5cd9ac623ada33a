"""Merge two stores that grew apart, against `git merge` of the same commits."""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gitmem.app import App
from gitmem.clock import stamp
from gitmem.records.record import Record
from gitmem.store import operations
from gitmem.store.reader import Stored
from gitmem.store.store import Message, Store
from gitmem.store.tree_merge import merge_commits
from tests.benchmarks.common import (
    SHARED,
    START,
    Bench,
    Pairs,
    git,
    ms,
    opened,
    records,
    run,
    table,
    timed,
    times,
)

COMMITS = 10  # a side


def changes(
    everything: list[Record], side: int, number: int, overlap: int
) -> list[dict[str, object]]:
    """Return half edits, four tenths additions, a tenth removals; `overlap` edits hit records that the other side edits too."""
    rng = random.Random(side)
    pool = everything[overlap:]
    mine = pool[side::2]  # odd or even: nobody else's
    rng.shuffle(mine)
    edits, adds, gone = number // 2, number * 4 // 10, number // 10
    now = stamp(START + 90_000_000 + side)
    todo = []
    for at, record in enumerate([*everything[:overlap], *mine[: edits - overlap]]):
        words = f"Side {side} found that it also happens after a restart.\n"
        body = words + record.body if side else record.body + words
        todo.append(
            operations.put(
                record.touched(now).change(body=body, tags=[*record.tags, f"side{side}-{at % 7}"]),
                record,
            )
        )
    todo += [operations.put(record) for record in records(adds, seed=100 + side)]
    todo += [operations.forget(record.id, now, "Ada") for record in mine[edits : edits + gone]]
    return todo


def grow(store: Store, todo: list[dict[str, object]], side: int) -> str:
    """Write the changes in some commits; return the last."""
    for part in range(COMMITS):
        store.write(todo[part::COMMITS], Message(f"side {side}, part {part}", "edit"))
    tip = store.tip()
    assert tip
    return tip


def prepare(
    bench: Bench, count: int, number: int, overlap: int, name: str
) -> tuple[Path, str, str]:
    """Return a repository that holds both sides, and their commits; the store is at ours."""
    path = bench.copy(count, name)
    with opened(path) as app:
        store = app.store()
        base = store.tip()
        everything = [row.record for row in store.records() if isinstance(row, Stored)]
        theirs = grow(store, changes(everything, 1, number, overlap), 1)
        git(path, "update-ref", "refs/gitmem/other", theirs)
        git(path, "update-ref", SHARED, str(base))
    with opened(path) as app:
        ours = grow(app.store(), changes(everything, 0, number, overlap), 0)
    git(path, "repack", "-adq")
    return path, ours, theirs


def ours_in(source: Path, target: Path, backend: str, ours: str, theirs: str) -> float:
    """Merge as sync does, everything cold but the disk; return the seconds."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    with opened(target, backend) as app:
        return timed(lambda: _merge(app, ours, theirs))


def _merge(app: App, ours: str, theirs: str) -> None:
    store = app.store()
    made, report = merge_commits(store.objects, ours, theirs)
    store.move(ours, made, "merge")
    assert not report.damaged
    assert not report.refused
    assert not report.conflicts, "each side's words must be in the merged text"


def work_tree(path: Path, ours: str) -> None:
    """Check out our side, with no trace of an earlier merge."""
    if (path / ".git" / "MERGE_HEAD").exists():
        git(path, "merge", "--abort")
    git(path, "checkout", "-qfB", "bench", ours)
    git(path, "reflog", "expire", "--expire=now", "--all")
    git(path, "prune", "--expire=now")


def git_merge(path: Path, ours: str, theirs: str, *options: str) -> Callable[[], float]:
    """Return what merges in a work tree and tells the seconds; conflicts are a result too."""

    def merge() -> float:
        work_tree(path, ours)
        return timed(
            lambda: subprocess.run(
                ["git", "-C", str(path), "merge", "-q", "--no-edit", *options, theirs],
                capture_output=True,
                check=False,
            )
        )

    return merge


def git_merge_tree(path: Path, ours: str, theirs: str, *config: str) -> Callable[[], float]:
    """Return what merges without a work tree."""

    def merge() -> float:
        work_tree(path, ours)
        return timed(
            lambda: subprocess.run(
                ["git", "-C", str(path), *config, "merge-tree", "--write-tree", ours, theirs],
                capture_output=True,
                check=False,
            )
        )

    return merge


def body(bench: Bench) -> None:
    """Merge with no record changed on both sides, and with a hundred that are."""
    count, number, rounds = bench.size(10_000, 1_000), bench.size(1_000, 100), bench.times(5, 2)
    has_tree = (
        "--write-tree"
        in subprocess.run(
            ["git", "merge-tree", "-h"], capture_output=True, text=True, check=False
        ).stdout
    )
    for overlap in (0, number // 10):
        path, ours, theirs = prepare(bench, count, number, overlap, "sides")
        against = bench.fresh("against")
        shutil.copytree(path, against)
        others = {
            "git merge": git_merge(against, ours, theirs),
            "git merge -X no-renames": git_merge(against, ours, theirs, "-X", "no-renames"),
        }
        if has_tree:
            others["git merge-tree"] = git_merge_tree(against, ours, theirs)
            others["git merge-tree, no renames"] = git_merge_tree(
                against, ours, theirs, "-c", "merge.renames=false"
            )
        target, rows = bench.fresh("target"), []
        for backend in ("libgit2", "git"):
            for name, other in others.items():
                pairs = Pairs([], [])
                for _ in range(rounds):
                    pairs.left.append(ours_in(path, target, backend, ours, theirs))
                    pairs.right.append(other())
                rows.append((backend, name, ms(pairs.left), ms(pairs.right), times(pairs.ratio)))
        clean = (
            subprocess.run(
                [
                    "git",
                    "-C",
                    str(against),
                    "merge-tree",
                    "--write-tree",
                    "--name-only",
                    ours,
                    theirs,
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if has_tree
            else None
        )
        told = (
            f"; git leaves {clean.stdout.count('CONFLICT')} conflicts, gitmem none"
            if clean and clean.returncode
            else ""
        )
        table(
            f"{count:,} records, {number:,} changes a side, {overlap} records changed on both{told}; {rounds} pairs",
            ("backend", "against", "gitmem", "git", "ratio"),
            rows,
        )


if __name__ == "__main__":
    sys.exit(run("bench_merge", body))
