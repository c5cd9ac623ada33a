"""`git mem consolidate`, `check` and `health` as cold processes, on facts of 200 days."""

import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, fill, git, new_repo, opened, records, run, table

DAYS = 200
CACHES = ("health.db", "state.db")
SECONDS = {
    "consolidate, the first time": 60.0,
    "consolidate, one fact changed": 2.0,
    "health --at, nothing kept": 2.0,
    "health --at, facts kept": 0.3,
    "health --history, the first time": 10.0,
    "health --history, again": 1.0,
}
MEBIBYTES = 500.0


def store_of_days(bench: Bench, count: int) -> Path:
    """Return a repository whose facts were committed on 200 days."""
    path = new_repo(bench.fresh("days"))
    facts = list(records(count))
    size = len(facts) // DAYS
    now = int(time.time())
    with opened(path) as app:
        store = app.store()
        for day in range(DAYS):
            at = now - (DAYS - day) * 86400
            store.clock = type(app.clock)(lambda at=at: float(at))  # type: ignore[misc]
            fill(store, facts[day * size : (day + 1) * size])
        app.index()
    return path


def forget(path: Path) -> None:
    """Remove what was computed before."""
    for file in (path / ".git" / "gitmem").glob("*.db*"):
        if file.name.startswith(CACHES):
            file.unlink()


def seconds(path: Path, *args: str) -> float:
    """Run a command; return how long it took."""
    begun = time.perf_counter()
    subprocess.run([*program(), *args], cwd=path, check=True, capture_output=True)
    return time.perf_counter() - begun


def body(bench: Bench) -> None:
    """Time each once: the first time is what a user waits for."""
    count = bench.size(10_000, 1000)
    path = store_of_days(bench, count)
    commit = git(path, "rev-parse", "refs/gitmem/heads/main~20").strip()
    earlier = git(path, "rev-parse", "refs/gitmem/heads/main~25").strip()
    took = {"consolidate, the first time": seconds(path, "consolidate")}
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    seconds(path, "add", "One more fact about the release")
    took["consolidate, one fact changed"] = seconds(path, "consolidate")
    took["check, nothing changed"] = seconds(path, "check")
    forget(path)
    took["health --at, nothing kept"] = seconds(path, "check", "--health", "--at", commit)
    took["health --at, facts kept"] = seconds(path, "check", "--health", "--at", earlier)
    forget(path)
    took["health --history, the first time"] = seconds(path, "check", "--health", "--history")
    took["health --history, again"] = seconds(path, "check", "--health", "--history")
    took["health"] = seconds(path, "check", "--health")
    bare = min(seconds(path, "--version") for _ in range(3))
    rows = []
    for name, value in took.items():
        budget = SECONDS.get(name)
        verdict = bench.verdict(name, value, budget) if budget else "-"
        rows.append((name, f"{value:.2f} s", f"{value / bare:.0f}x", verdict))
    rows.append(
        ("peak of consolidate", f"{peak:.0f} MiB", "", bench.verdict("peak", peak, MEBIBYTES))
    )
    head = ("git mem", "took", "git mem --version", "budget")
    table(f"Memory over time at {count:,} facts of {DAYS} days", head, rows)


if __name__ == "__main__":
    sys.exit(run("bench_lifecycle", body))
