"""Commands as cold processes against `python -c pass`: time and peak memory."""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.common import Bench, Launcher, ms, opened, run, table, times

BUDGET = {"list -n 20": 7.0, "search": 7.0, "show": 7.0, "add": 9.0, "activate": 20.0}
DEV = "---\nname: dev\ntitle: Developer\nrole: Implements stories\ncommands: [help, {name: develop, visibility: key}]\n---\n"
WORDS = (
    "payment isolation",
    "webhook invoice",
    "deadlock rollback",
    "certificate proxy",
    "unicode encoding",
)


def program() -> list[str]:
    """Return how `git mem` is started once git has found it."""
    found = Path(sys.executable).with_name("git-mem")
    return [str(found)] if found.exists() else [sys.executable, "-m", "gitmem"]


def at(bench: Bench, count: int, rounds: int) -> None:
    """Time the commands at one size."""
    path = bench.copy(count, f"at-{count}")
    with opened(path) as app:
        ids = itertools.cycle([row["id"] for row in app.rows(limit=200)])
    number, words = itertools.count(), itertools.cycle(WORDS)
    (path / ".gitmem/agents").mkdir(parents=True)
    (path / ".gitmem/agents/dev.md").write_text(DEV)

    def add() -> list[str]:
        return [
            *program(),
            "add",
            f"Retry number {next(number)} of the payment gateway",
            "-m",
            "It answers 503 for a second after a deploy; wait and try again.",
        ]

    rows = []
    with Launcher(bench.folder) as launcher:

        def measure(name: str, argv: Callable[[], list[str]]) -> None:
            pairs = launcher.paired(argv, path, rounds, name)
            verdict = (
                bench.verdict(f"{name} at {count:,}", pairs.ratio, BUDGET[name])
                if name in BUDGET
                else "-"
            )
            rows.append(
                (
                    name,
                    ms(pairs.left),
                    ms(pairs.right),
                    times(pairs.ratio),
                    f"{launcher.peak[name] / 1024:.0f} MiB",
                    verdict,
                )
            )

        def after_add() -> list[str]:
            launcher.run(add(), path)
            return [*program(), "list", "-n", "20"]

        measure("list -n 20", lambda: [*program(), "list", "-n", "20"])
        measure("list", lambda: [*program(), "list"])
        measure("search", lambda: [*program(), "search", *next(words).split()])
        measure("show", lambda: [*program(), "show", next(ids)])
        measure("recall", lambda: [*program(), "search", "--sessions", *next(words).split()])
        measure("activate", lambda: [*program(), "session", "activate", "dev"])
        measure("add", add)
        measure("list -n 20, the first after an add", after_add)
        floor = launcher.peak["python -c pass"] / 1024
    title = f"Cold processes at {count:,} records, {rounds} pairs; `python -c pass` peaks at {floor:.0f} MiB"
    table(title, ("git mem", "time", "python -c pass", "ratio", "peak", "budget"), rows)


def body(bench: Bench) -> None:
    """Time the commands at two sizes."""
    for count in (1_000, 2_000) if bench.quick else (1_000, 10_000):
        at(bench, count, bench.times(25))


if __name__ == "__main__":
    sys.exit(run("bench_cli", body))
