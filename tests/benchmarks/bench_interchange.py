"""Export and import of many facts, against git's own work on the same files.

Git's part is `git add` and `git commit` of the exported bundle in a new repository: each fact becomes a blob
there too, without being read, masked or compared.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, git, new_repo, run, table, timed
from tests.dashboard import sample

SECONDS = 30.0  # for an import of 10,000 records


def command(path: Path, *args: str) -> Callable[[], None]:
    """Return what runs `git mem` in a folder."""

    def call() -> None:
        subprocess.run([*program(), *args], cwd=path, capture_output=True, check=True)

    return call


def committed(folder: Path) -> None:
    """Put a folder into a git repository of its own."""
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all")


def body(bench: Bench) -> None:
    """Measure at one size."""
    count = bench.size(10_000, 200)
    source = new_repo(bench.fresh("source"))
    sample.many(source, count)
    bundle, file = bench.fresh("bundle"), bench.fresh("export.json")
    exported = timed(command(source, "export", str(bundle)))
    exported_json = timed(command(source, "export", str(file), "--format", "json"))
    target = new_repo(bench.fresh("target"))
    imported = timed(command(target, "import", str(bundle)))
    again = timed(command(target, "import", str(bundle)))
    imported_json = timed(command(new_repo(bench.fresh("other")), "import", str(file)))
    bare = timed(lambda: committed(bundle))
    rows = [
        ("export, OKF", exported),
        ("import, OKF", imported),
        ("import of the same again", again),
        ("export, JSON", exported_json),
        ("import, JSON", imported_json),
    ]
    table(
        f"{count:,} facts",
        ("what", "seconds", "git add and commit", "ratio", "budget"),
        [
            (
                what,
                f"{seconds:.1f}",
                f"{bare:.2f}",
                f"{seconds / bare:.1f}x",
                f"{bench.verdict(what, seconds, SECONDS)} (s)",
            )
            for what, seconds in rows
        ],
    )


if __name__ == "__main__":
    sys.exit(run("bench_interchange", body))
