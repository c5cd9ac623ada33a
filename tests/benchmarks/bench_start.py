"""Commands as cold processes on repositories of ordinary size, where the start of a command is most of its cost.

`BENCH_REPOSITORIES` names folders with clones of real projects, separated by `:`, which are cloned
once more. Without it, the release of flask that tests read (`make projects`) gets a made-up history.
"""

import itertools
import os
import random
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import (
    Bench,
    Launcher,
    Pairs,
    fill,
    git,
    ms,
    opened,
    records,
    run,
    table,
    times,
)

RELEASE = Path(__file__).parents[2] / ".cache/projects/flask-3.0.3.tar.gz"
COMMITS, LATER = 5_000, 300  # commits of a made-up history; those since most anchors were made
RECORDS, OLD, NEW = 300, 60, 20  # records without an anchor, with an old one, with a new one
GIT = "/usr/bin/env git".split()
PYTHON = [sys.executable, "-c", "pass"]
BUDGET = {
    "list": 7.0,
    "search": 7.0,
    "show": 7.0,
    "dna show, stored": 7.0,
    "status": 10.0,
    "add": 9.0,
    "timeline --limit 50": 5.0,
}


def made_up(path: Path, commits: int) -> Path:
    """Make a repository of a release, whose commits write and remove lines of its code."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    with tarfile.open(RELEASE) as archive:
        archive.extractall(path, filter="data")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "Release")
    feed = "".join(_commits(path, git(path, "ls-files", "*.py").split("\n"), commits))
    git(path, "fast-import", "--quiet", "--force", stdin=feed.encode())
    git(path, "reset", "-q", "--hard", "main")
    return path


def _commits(path: Path, names: Sequence[str], commits: int) -> Iterator[str]:
    rng = random.Random(1)
    texts = {name: (path / name).read_text().splitlines(keepends=True) for name in names}
    yield "reset refs/heads/main\nfrom refs/heads/main^0\n"
    for number in range(commits):
        name = rng.choice(names)
        lines = texts[name]
        at = rng.randint(0, len(lines))
        if number % 3 == 2 and lines:
            del lines[min(at, len(lines) - 1)]
        else:
            lines.insert(at, f"# {number}: what the gateway answers\n")
        data = "".join(lines)
        when = 1_700_000_000 + number * 3600
        yield f"commit refs/heads/main\ncommitter Ada <ada@example.org> {when} +0000\n"
        yield f"data <<E\nChange {number} of {name}\nE\n"
        yield f"M 100644 inline {name}\ndata {len(data.encode())}\n{data}\n"


def repositories(bench: Bench) -> Iterator[tuple[str, Path]]:
    """Yield (name, repository) of what is measured, with a store and code that moved since."""
    given = os.environ.get("BENCH_REPOSITORIES", "")
    for source in filter(None, given.split(":")):
        path = bench.fresh(Path(source).name)
        git(".", "clone", "-q", source, str(path))
        yield Path(source).name, path
    if not given:
        count = bench.size(COMMITS, 500)
        yield f"a release of flask with {count:,} commits", made_up(bench.fresh("flask"), count)


def remember(repo: Path) -> None:
    """Make the store of a repository: most of its anchors are older than the last commits."""

    def mem(*args: str) -> None:
        subprocess.run([*program(), *args], cwd=repo, check=True, capture_output=True)

    mem("init", "--no-remote")
    with opened(repo) as app:
        bare = [
            replace(one, fields={k: v for k, v in one.fields.items() if k != "anchors"})
            for one in records(RECORDS)
        ]
        fill(app.store(), bare)
    rng, branch = random.Random(2), git(repo, "rev-parse", "--abbrev-ref", "HEAD")
    for revision, count in ((f"{branch}~{LATER}", OLD), (branch, NEW)):
        git(repo, "checkout", "-q", revision)
        names = git(repo, "ls-files", "*.py").split("\n")
        files = [name for name in names if (repo / name).stat().st_size > 400]
        for number in range(count):
            name = rng.choice(files)
            line = rng.randint(1, (repo / name).read_text().count("\n"))
            kind = ("gotcha", "add") if number % 2 else ("add",)
            mem(*kind, f"What holds at {line} of {name}", "--anchor", f"{name}:{line}")
    git(repo, "checkout", "-q", branch)
    mem("code", "dna", "refresh")
    mem("drain")


def core_of(repo: Path) -> str:
    """Return the file of code that most commits changed."""
    names = git(repo, "log", "-1000", "--format=", "--name-only", "--", "*.py").split("\n")
    there = [name for name in names if (repo / name).is_file() and name]
    return max(sorted(set(there)), key=there.count)


def at(bench: Bench, name: str, repo: Path, rounds: int) -> None:
    """Time the commands in one repository."""
    remember(repo)
    core, number = core_of(repo), itertools.count()
    with opened(repo) as app:
        ids = itertools.cycle([row["id"] for row in app.rows(limit=60)])
    kept = repo / ".git/gitmem/evolution"

    def forget() -> None:
        for path in kept.glob("*"):
            path.unlink()

    def edit() -> None:
        (repo / core).write_text((repo / core).read_text() + f"# {next(number)}\n")

    python, nothing = [PYTHON], lambda: None
    blame, log = [*GIT, "blame"], [*GIT, "log"]
    text = "It answers 503 for a second after a deploy; wait and try again."
    asked: tuple[tuple[str, Callable[[], list[str]], list[list[str]], Callable[[], None]], ...] = (
        ("list", lambda: ["list"], python, nothing),
        ("search", lambda: ["search", "payment", "isolation"], python, nothing),
        ("show", lambda: ["show", next(ids)], python, nothing),
        ("dna show, stored", lambda: ["code", "dna", "show"], python, nothing),
        ("status", lambda: ["status"], python, nothing),
        (
            "add",
            lambda: ["add", f"Retry {next(number)} of the gateway", "-m", text],
            python,
            nothing,
        ),
        (
            "search --sessions",
            lambda: ["search", "--sessions", "webhook", "invoice"],
            python,
            nothing,
        ),
        (
            "timeline --limit 50",
            lambda: ["timeline", "--limit", "50"],
            [PYTHON, [*log, "-50"]],
            nothing,
        ),
        (
            "why FILE:LINE",
            lambda: ["why", f"{core}:40"],
            [PYTHON, [*blame, "-L40,40", "-M", "-C", core]],
            nothing,
        ),
        ("why FILE", lambda: ["why", core], [PYTHON, [*blame, "-M", "-C", core]], nothing),
        (
            "evolution FILE, cold",
            lambda: ["code", "evolution", core],
            [[*log, "--follow", "--format=%H", "--", core]],
            forget,
        ),
        (
            "evolution FILE, warm",
            lambda: ["code", "evolution", core],
            [[*log, "--follow", "--format=%H", "--", core]],
            nothing,
        ),
        ("code refs NAME, warm", lambda: ["code", "refs", "get"], python, nothing),
        ("snapshot save", lambda: ["snapshot", "save"], [PYTHON, [*GIT, "stash", "create"]], edit),
    )
    rows = []
    with Launcher(bench.folder) as launcher:
        for what, ours, theirs, before in asked:
            pairs, spent = Pairs([], []), Pairs([], [])
            for turn in range(-1, rounds):
                before()
                left = launcher.run([*program(), *ours()], repo), launcher.cpu
                both = [(launcher.run(command, repo), launcher.cpu) for command in theirs]
                if turn >= 0:
                    pairs.left.append(left[0])
                    pairs.right.append(sum(took for took, _ in both))
                    spent.left.append(left[1])
                    spent.right.append(sum(processor for _, processor in both))
            verdict = bench.verdict(what, pairs.ratio, BUDGET[what]) if what in BUDGET else "-"
            against = " + ".join(map(_called, theirs))
            ratios = times(pairs.ratio), times(spent.ratio)
            rows.append((what, against, ms(pairs.left), ms(pairs.right), *ratios, verdict))
    head = ("git mem", "against", "gitmem", "the other", "ratio", "of processor time", "budget")
    table(f"{name}: cold processes, {rounds} pairs", head, rows)


def _called(command: Sequence[str]) -> str:
    if command == PYTHON:
        return "python -c pass"
    return " ".join(word for word in command[1:] if not word.endswith(".py"))


def body(bench: Bench) -> None:
    """Time the commands in each repository."""
    for name, repo in repositories(bench):
        at(bench, name, repo, bench.times(15))


if __name__ == "__main__":
    sys.exit(run("bench_start", body))
