"""What tells of the code's history, cold, against git for the same question: evolution, timeline, why, drift; and what git's hooks cost a commit."""

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

from gitmem.services.provenance.why import why
from tests import histories
from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import (
    Bench,
    Launcher,
    Pairs,
    alternate,
    git,
    ms,
    opened,
    run,
    table,
    times,
)

BUDGET = {
    "evolution, cold": 1.5,
    "evolution, warm": 0.3,
    "timeline --limit 50": 5.0,
    "why FILE, all of its lines": 3.0,
    "why, in a process that stays": 3.0,
    "drift": 1.0,
    "hooks": 5.0,
}
BRANCHES = 12


def commands(bench: Bench, repo: Path, rounds: int) -> list[tuple[str, ...]]:
    """Time each command against git's own."""
    rows = []
    kept = repo / ".git/gitmem/evolution"
    line = "241"

    def forget() -> None:
        for path in kept.glob("*"):
            path.unlink()

    git_ = ["/usr/bin/env", "git"]
    with Launcher(bench.folder) as launcher:
        asked = (
            (
                "evolution, cold",
                ["code", "evolution", histories.CORE],
                [[*git_, "log", "--follow", "--format=%H", "--", histories.CORE]],
                forget,
            ),
            (
                "evolution, warm",
                ["code", "evolution", histories.CORE],
                [[*git_, "log", "--follow", "--format=%H", "--", histories.CORE]],
                lambda: None,
            ),
            (
                "timeline --limit 50",
                ["timeline", "--limit", "50"],
                [[sys.executable, "-c", "pass"], [*git_, "log", "-50"]],
                lambda: None,
            ),
            (
                "why FILE, all of its lines",
                ["why", histories.CORE],
                [[*git_, "blame", histories.CORE]],
                lambda: None,
            ),
            (
                "why FILE:LINE",
                ["why", f"{histories.CORE}:{line}"],
                [[*git_, "blame", f"-L{line},{line}", histories.CORE]],
                lambda: None,
            ),
        )
        for name, ours, theirs, before in asked:
            pairs = Pairs([], [])
            for number in range(-1, rounds):
                before()
                a = launcher.run([*program(), *ours], repo)
                b = sum(launcher.run(one, repo) for one in theirs)
                if number >= 0:
                    pairs.left.append(a)
                    pairs.right.append(b)
            against = " + ".join(
                "python -c pass" if one[0] == sys.executable else " ".join(one[1:3])
                for one in theirs
            )
            rows.append(
                (
                    f"git mem {name}",
                    against,
                    ms(pairs.left),
                    ms(pairs.right),
                    times(pairs.ratio),
                    bench.verdict(name, pairs.ratio, BUDGET[name]) if name in BUDGET else "-",
                )
            )
    return [*rows, staying(bench, repo, rounds, int(line))]


def staying(bench: Bench, repo: Path, rounds: int, line: int) -> tuple[str, ...]:
    """Time the question in a process that stays, as an editor's server asks it."""
    with opened(repo) as app:
        sources = app.provenance()
        blame = partial(git, repo, "blame", f"-L{line},{line}", histories.CORE)
        pairs = alternate(lambda: why(sources, histories.CORE, [(line, line)]), blame, rounds)
    name = "why, in a process that stays"
    return (
        name,
        "git blame",
        ms(pairs.left),
        ms(pairs.right),
        times(pairs.ratio),
        bench.verdict(name, pairs.ratio, BUDGET[name]),
    )


def branches(repo: Path) -> list[str]:
    """Make branches that change the core and other files, each another place of it."""
    base = git(repo, "rev-parse", "main")
    names = []
    for number in range(BRANCHES):
        name = f"topic{number}"
        git(repo, "checkout", "-q", "-f", "-b", name, base)
        core = repo / histories.CORE
        text = core.read_text().splitlines()
        for at in range(number * 20, number * 20 + 3):
            text[at] = f"{text[at]}  # {name}"
        core.write_text("\n".join(text) + "\n")
        (repo / f"src/p1/m{number * 50 + 1}.py").write_text(f"Z = {number}\n")
        git(repo, "commit", "-qam", f"work of {name}")
        names.append(name)
    git(repo, "checkout", "-q", "-f", "main")
    return names


def drifting(bench: Bench, repo: Path, rounds: int) -> list[tuple[str, ...]]:
    """Time all pairs of some branches against a `git merge-tree` for each."""
    names = branches(repo)
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    took = Pairs([], [])
    with Launcher(bench.folder) as launcher:
        for number in range(-1, rounds):
            a = launcher.run([*program(), "code", "drift", "--days", "10000"], repo)
            began = time.perf_counter()
            for one, two in pairs:
                subprocess.run(
                    ["git", "merge-tree", "--write-tree", one, two],
                    cwd=repo,
                    check=False,
                    capture_output=True,
                )
            b = time.perf_counter() - began
            if number >= 0:
                took.left.append(a)
                took.right.append(b)
    name = f"git mem code drift, {len(names) + 1} branches, {len(pairs)} pairs"
    return [
        (
            name,
            f"{len(pairs)} git merge-tree",
            ms(took.left),
            ms(took.right),
            times(took.ratio),
            bench.verdict("drift", took.ratio, BUDGET["drift"]),
        )
    ]


def hooks(bench: Bench, repo: Path, rounds: int) -> list[tuple[str, ...]]:
    """Time commits with our hooks against those without, in `python -c pass`; what hooks start in the background ends in between."""
    subprocess.run([*program(), "install", "git-hooks"], cwd=repo, check=True, capture_output=True)
    there, away = repo / ".git/hooks", repo / ".git/hooks.away"
    took: list[float] = []
    with Launcher(bench.folder) as launcher:
        commit = ["/usr/bin/env", "git", "commit", "-q", "--allow-empty", "-m", "x"]
        for number in range(-1, rounds):
            a = launcher.run(commit, repo)
            time.sleep(0.8)
            there.rename(away)
            b = launcher.run(commit, repo)
            away.rename(there)
            c = launcher.run([sys.executable, "-c", "pass"], repo)
            if number >= 0:
                took.append((a - b) / c)
    value = median(took)
    return [
        (
            "what hooks add to git commit",
            "python -c pass",
            "-",
            "-",
            times(value),
            bench.verdict("hooks", value, BUDGET["hooks"]),
        )
    ]


def body(bench: Bench) -> None:
    """Ask about a history of 100,000 commits."""
    count, rounds = bench.size(100_000, 2_000), bench.times(11)
    repo = histories.make(bench.fresh("history"), count, bench.size(2_000, 200))
    subprocess.run([*program(), "init", "--no-remote"], cwd=repo, check=True, capture_output=True)
    git(repo, "commit-graph", "write", "--reachable")
    head = ("command", "against", "gitmem", "git", "ratio", "budget")
    table(
        f"A history of {count:,} commits, {rounds} pairs, cold processes",
        head,
        [
            *commands(bench, repo, rounds),
            *drifting(bench, repo, rounds),
            *hooks(bench, repo, rounds),
        ],
    )


if __name__ == "__main__":
    sys.exit(run("bench_history", body))
