"""What git's hooks cost a rebase: the same rebase with them and without them, in turn."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, Pairs, git, ms, new_repo, run, table, times

BUDGET = 1.5
BACKGROUND = 2.0  # seconds that are left to what a rebase starts in the background
EVERY = {
    "reword of all": ("reword",),
    "rewords and squashes": ("reword", "pick", "squash", "pick", "fixup"),
}


def body(bench: Bench) -> None:
    """Compare rebases of several kinds."""
    count, rounds = bench.size(60, 10), bench.times(7)
    repo = history(bench, count)
    rows = []
    for name, verbs in EVERY.items():
        took = compare(repo, count, verbs, rounds)
        cells = (ms(took.left), ms(took.right), times(took.ratio))
        rows.append((f"{count} commits, {name}", *cells, bench.verdict(name, took.ratio, BUDGET)))
    head = ("", "with hooks", "without", "ratio", "budget")
    table(f"A rebase with git's hooks installed, {rounds} pairs", head, rows)


def history(bench: Bench, count: int) -> Path:
    """Return a repository with memory and hooks, and so many commits that teach."""
    repo = new_repo(bench.fresh("rebase"))
    git(repo, "commit", "-q", "--allow-empty", "-m", "first")
    for number in range(count):
        (repo / f"file{number}").write_text(f"{number}\n")
        git(repo, "add", ".")
        git(repo, "commit", "-qm", f"Change {number}\n\nDecision: Number {number} is right")
    git(repo, "tag", "start")
    for args in (("init", "--no-remote"), ("add", "A fact"), ("install", "git-hooks")):
        subprocess.run([*program(), *args], cwd=repo, check=True, capture_output=True)
    return repo


def compare(repo: Path, count: int, verbs: tuple[str, ...], rounds: int) -> Pairs:
    """Return the times of rebases with and without hooks, in turn."""
    there, away = repo / ".git/hooks", repo / ".git/hooks.away"
    took = Pairs([], [])
    for number in range(-1, rounds):
        left = rebase(repo, count, verbs)
        time.sleep(BACKGROUND)
        there.rename(away)
        right = rebase(repo, count, verbs)
        away.rename(there)
        if number >= 0:
            took.left.append(left)
            took.right.append(right)
    return took


def rebase(repo: Path, count: int, verbs: tuple[str, ...]) -> float:
    """Rebase from the start with these verbs in turn; return how long it took. The second commit changes, so that none is kept."""
    git(repo, "-c", "core.hooksPath=/dev/null", "reset", "-q", "--hard", "start")
    todo = repo.parent / "todo"
    oids = git(repo, "rev-list", "--reverse", f"HEAD~{count}..HEAD").split()
    lines = (f"{verbs[number % len(verbs)]} {oid}\n" for number, oid in enumerate(oids))
    todo.write_text(
        "exec git -c core.hooksPath=/dev/null commit -q --allow-empty -m begin\n" + "".join(lines)
    )
    env = {**os.environ, "GIT_SEQUENCE_EDITOR": f"cp '{todo}'", "GIT_EDITOR": "true"}
    began = time.perf_counter()
    subprocess.run(
        ["git", "rebase", "-q", "-i", f"HEAD~{count}"],
        cwd=repo,
        env=env,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(run("bench_rebase", body))
