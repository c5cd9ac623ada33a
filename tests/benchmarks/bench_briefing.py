"""`git mem session briefing` as a cold process, and the start of a session which tells the same, against `python -c pass`."""

import itertools
import sys
from pathlib import Path

from gitmem.clock import base32, stamp
from gitmem.records.record import make
from tests.benchmarks.bench_cli import program
from tests.benchmarks.bench_hook import payload
from tests.benchmarks.common import Bench, Launcher, fill, ms, opened, run, table, times

BRIEFING, START = 10.0, 20.0
KINDS = ("decision", "task", "preference", "bug", "pattern", "context")
ENTRIES, SESSIONS = 25, 40  # facts of each type; sessions


def add_facts(path: Path) -> None:
    """Give a store facts of each type, and records of sessions."""
    with opened(path) as app:
        now = app.clock.now()
        made = {
            "created": stamp(now),
            "updated": stamp(now),
            "rev": 1,
            "author": "Ada <ada@example.org>",
            "origin": "captured",
        }
        facts = []
        for number, kind in itertools.product(range(ENTRIES), KINDS):
            text = f"The {kind} number {number} of this project says something that is about as long as such things are"
            at = stamp(now - number * 43200)
            facts.append(
                make(
                    "memory",
                    f"mem-{base32(1000 * len(facts) + 1)}",
                    text,
                    "and why it is so",
                    type=kind,
                    **{**made, "created": at, "updated": at, "origin": None},
                )
            )
        records = [
            make(
                "session",
                "ses-" + base32(100 + n),
                f"Session of 2026-11-21, claude, {n} files",
                "claude.\n",
                session=f"d{n}",
                **made,
            )
            for n in range(SESSIONS)
        ]
        fill(app.store(), [*facts, *records])
        app.index()


def at(bench: Bench, count: int, rounds: int) -> None:
    """Time the commands at one size."""
    path = bench.copy(count, f"at-{count}")
    add_facts(path)
    number, source, rows = itertools.count(), bench.fresh("payload"), []

    def start() -> Path:
        source.write_bytes(payload("SessionStart", path, f"session-{next(number)}"))
        return source

    calls = (
        ("session briefing", ["session", "briefing"], None, BRIEFING if count <= 10_000 else None),
        (
            "briefing --budget 1200t",
            ["session", "briefing", "--budget", "1200t"],
            None,
            BRIEFING if count <= 10_000 else None,
        ),
        ("briefing --json", ["session", "briefing", "--json"], None, None),
        ("list -n 20", ["list", "-n", "20"], None, None),
        ("session opening", ["session", "opening"], None, None),
        ("hook claude, a session starts", ["hook", "claude"], start, START),
    )
    with Launcher(bench.folder) as launcher:
        for name, args, stdin, budget in calls:
            argv = [*program(), *args]
            launcher.run(argv, path, stdin() if stdin else None)
            told = len(launcher.output())
            assert told > 100 or name == "session opening", f"{name} told nothing"
            pairs = launcher.paired(lambda: argv, path, rounds, name, stdin)  # noqa: B023 - called at once
            verdict = bench.verdict(f"{name} at {count:,}", pairs.ratio, budget) if budget else "-"
            rows.append(
                (
                    name,
                    str(told),
                    ms(pairs.left),
                    ms(pairs.right),
                    times(pairs.ratio),
                    f"{launcher.peak[name] / 1024:.0f} MiB",
                    verdict,
                )
            )
    if source.exists():
        source.unlink()
    head = ("git mem", "bytes told", "time", "python -c pass", "ratio", "peak", "budget")
    table(
        f"A briefing at {count:,} records and {ENTRIES * len(KINDS)} new facts, {rounds} pairs",
        head,
        rows,
    )


def body(bench: Bench) -> None:
    """Time them at two sizes."""
    for count in (1_000, 2_000) if bench.quick else (10_000, 100_000):
        at(bench, count, bench.times(25))


if __name__ == "__main__":
    sys.exit(run("bench_briefing", body))
