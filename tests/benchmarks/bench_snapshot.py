"""A snapshot of a tree of 10,000 files against `git stash create`, which saves the same but for new files; and a restore against a checkout."""

import sys
from functools import partial
from pathlib import Path

from gitmem.clock import Clock
from gitmem.git.work_state import Work
from gitmem.services.snapshots import restore, save
from gitmem.services.snapshots.plan import plan as plan_restore
from gitmem.services.snapshots.saved import read
from tests.benchmarks.common import (
    Bench,
    alternate,
    git,
    ms,
    new_repo,
    opened,
    run,
    table,
    times,
    writer,
)

BUDGET = 1.5
CHANGED, NEW = 20, 10


def tree(path: Path, count: int) -> Path:
    """Make a repository with so many files, some of them changed, some staged, some new."""
    repo = new_repo(path)
    for number in range(count):
        file = repo / f"src/p{number % 100}/m{number // 100 % 10}/f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def f{number}():\n    return {number}\n" * 10)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "many")
    for number in range(CHANGED):
        (repo / f"src/p{number % 100}/m0/f{number}.py").write_text(f"changed {number}\n")
    git(repo, "add", "src/p0", "src/p1", "src/p2")
    for number in range(NEW):
        (repo / f"new{number}.py").write_text(f"new {number}\n")
    git(repo, "status")
    return repo


def body(bench: Bench) -> None:
    """Save and restore, in a process that stays; git starts a process each time."""
    count, rounds = bench.size(10_000, 300), bench.times(15)
    repo = tree(bench.fresh("tree"), count)
    with opened(repo) as app:
        work, clock, who = Work(app.location, app.env), Clock(), writer(app)

        def ours() -> str:
            return save.save(
                work,
                app.objects,
                app.store("private"),
                who,
                f"snp-{clock.ulid()}",
                save.SaveContext(),
            ).id

        pairs = alternate(ours, partial(git, repo, "stash", "create"), rounds)
        id = ours()
        for number in range(CHANGED):
            (repo / f"src/p{number % 100}/m0/f{number}.py").write_text(f"other {number}\n")
        now, then = save.unkept(work, app.objects, who), read(app.objects, id)

        def there() -> None:
            restore.carry_out(
                work,
                app.objects,
                app.home,
                plan_restore(work, app.objects, now, then),
                then,
                restore.RestoreNote(id, "", str(repo)),
            )

        back = alternate(there, partial(git, repo, "read-tree", "--reset", "-u", "HEAD"), rounds)
    head = ("", "gitmem", "git", "ratio", "budget")
    rows = [
        (
            "save, against git stash create",
            ms(pairs.left),
            ms(pairs.right),
            times(pairs.ratio),
            bench.verdict("save", pairs.ratio, BUDGET),
        ),
        (
            "restore files and index, against git read-tree --reset -u",
            ms(back.left),
            ms(back.right),
            times(back.ratio),
            "-",
        ),
    ]
    table(
        f"A work tree of {count:,} files, {CHANGED} changed, {NEW} new, {rounds} pairs", head, rows
    )


if __name__ == "__main__":
    sys.exit(run("bench_snapshot", body))
