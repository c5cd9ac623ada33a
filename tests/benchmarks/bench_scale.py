"""What a store with a long history costs, against one of a tenth of its size, in turn; and first answers in a large work tree.

`python -m tests.benchmarks.bench_scale [--records 100000] [--keep DIR] [--only WORDS]`. Both
repositories have a code of two commits a record. Ratios are of processor time, children included:
what the machine does besides says less there.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gitmem.repo.refs import SHARED
from tests import histories, large_stores
from tests.benchmarks.bench_cli import program
from tests.benchmarks.bench_hook import payload
from tests.benchmarks.common import Bench, Launcher, git, ms, opened, run, table, times

RECORDS, SHARE = 100_000, 10
CONSTANT = 1.5  # what costs the same whatever the size
DOCTOR = 60.0  # seconds
FIRST_ANSWER = 5.0  # seconds, in a work tree of `FILES` files
FILES, COMMITS = 60_000, 100_000
SLOW = 10.0  # seconds: what takes longer is measured once
LIMIT = 60  # seconds after which a command is ended


class Question(NamedTuple):
    """A call that is measured at both sizes: its arguments, what it reads, whether it is constant."""

    name: str
    args: Callable[["Place"], list[str]]
    stdin: Callable[["Place"], bytes] | None = None
    constant: bool = True


class Place(NamedTuple):
    """A repository, and what is asked of it."""

    path: Path
    id: str  # of a record that was changed on both sides of merges, and is linked
    number: Iterator[int]

    def session(self) -> str:
        """Return a session that is new."""
        return f"session-{next(self.number)}"


def made(bench: Bench, records: int) -> Path:
    """Return a repository with a store of so many records, indexed; made once a folder."""
    path = bench.folder / f"history-{records}"
    done = path / ".git/bench-done"
    if not done.exists():
        if not (path / large_stores.HOT).exists():
            histories.make(path, records * 2, records // large_stores.ADDED, 60)
            (path / large_stores.HOT).write_text("def charge():\n    return 1\n" * 200)
            git(path, "add", large_stores.HOT)
            git(path, "commit", "-qm", "Add the file that everybody changes")
        large_stores.write(path, records, int(time.time()) - 3600)
        mem(path, "init", "--no-remote")
        mem(path, "list", "-n", "1")
        done.touch()
    return path


def mem(path: Path, *args: str) -> None:
    """Run a command."""
    subprocess.run([*program(), *args], cwd=path, check=True, capture_output=True)


def place(path: Path) -> Place:
    """Return a repository with a record of its middle that links to another one."""
    with opened(path) as app:
        rows = app.rows(kinds=("memory",), fields=("id", "title"))
        ids = sorted(row["id"] for row in rows if row["title"].endswith("7"))
    return Place(path, ids[len(ids) // 2], itertools.count(int(time.time())))


def command(*args: str, constant: bool = True) -> Question:
    """Return the question of a command; ID stands for the record's id."""

    def words(place: Place) -> list[str]:
        return [place.id if arg == "ID" else arg for arg in args]

    return Question(" ".join(args), words, constant=constant)


def add(place: Place) -> list[str]:
    """Return the arguments that add a record."""
    return ["add", f"Retry number {next(place.number)} of the gateway", "-m", "It answers 503."]


def hook(event: str, name: str, **changes: object) -> Question:
    """Return the question of one call of an agent's hook."""

    def text(place: Place) -> bytes:
        return payload(event, place.path, place.session(), **changes)

    return Question(f"hook: {name}", lambda _: ["hook", "claude"], text)


def file_hook(event: str, name: str, file: str) -> Question:
    """Return the question of a hook about a file."""

    def text(place: Place) -> bytes:
        where = {"file_path": str(place.path / file)}
        return payload(event, place.path, place.session(), tool_input=where)

    return Question(f"hook: {name}", lambda _: ["hook", "claude"], text)


QUESTIONS = (
    command("list", "-n", "20"),
    command("show", "ID"),
    Question("add", add),
    command("log", "-n", "20"),
    command("log", "--oneline", "-n", "20"),
    command("log", "ID"),
    command("show", "--graph", "ID"),
    command("timeline", "--limit", "50"),
    command("timeline", "--file", "src/p1/m1.py", "--limit", "20", constant=False),
    command("status"),
    command("session", "briefing"),
    command("why", "src/p1/m1.py:1", constant=False),
    command("gotcha", "for", large_stores.HOT),
    command("diff", "@~20", "--name-status"),
    command("diff", "@{1 week ago}", "--name-status", constant=False),
    command("search", "payment isolation", "-n", "20", constant=False),
    command("doctor", constant=False),
    hook("SessionStart", "a session starts"),
    hook("UserPromptSubmit", "a prompt"),
    hook("UserPromptSubmit", "a prompt with its words", prompt="Fix payment isolation in redis"),
    file_hook("PreToolUse.Read", "before a file is read", "src/p1/m1.py"),
    file_hook("PreToolUse.Read", "before the hot file is read", large_stores.HOT),
    file_hook("PostToolUse.Edit", "after a file is edited", "src/p1/m1.py"),
    hook("Stop", "a turn ends"),
    hook("SessionEnd", "a session ends"),
    Question("git hook: post-commit", lambda _: ["git-hook", "post-commit"]),
)


class Sample(NamedTuple):
    """Wall and processor time of one call, in seconds."""

    wall: float
    cpu: float


def ask(launcher: Launcher, question: Question, place: Place, source: Path) -> Sample:
    """Run one call to its end; one that does not end counts as `LIMIT`."""
    argv = ["/usr/bin/env", "timeout", str(LIMIT), *program(), *question.args(place)]
    stdin = None
    if question.stdin:
        source.write_bytes(question.stdin(place))
        stdin = source
    try:
        wall = launcher.run(argv, place.path, stdin)
    except RuntimeError as error:
        if "exit 124" not in str(error):
            raise
        return Sample(LIMIT, LIMIT)
    return Sample(wall, launcher.cpu)


def compare(bench: Bench, small: Place, large: Place, only: str) -> None:
    """Ask both repositories the same, in turn."""
    rows, source = [], bench.fresh("payload")
    with Launcher(bench.folder) as launcher:
        for question in QUESTIONS:
            if only not in question.name:
                continue
            left, right = list[Sample](), list[Sample]()
            for number in range(-1, bench.times(5)):
                one = ask(launcher, question, small, source)
                two = ask(launcher, question, large, source)
                if number >= 0 or two.wall > SLOW:
                    left.append(one)
                    right.append(two)
                if two.wall > SLOW:
                    break
            rows.append(judged(bench, question, left, right))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    head = ("git mem", "small", "large", "wall", "processor small, large", "ratio", "budget")
    table("A store, against one of a tenth of its size", head, rows)


def judged(
    bench: Bench, question: Question, small: list[Sample], large: list[Sample]
) -> tuple[str, ...]:
    """Return the row of a question."""
    pairs = list(zip(small, large, strict=True))
    wall = statistics.median(b.wall / a.wall for a, b in pairs)
    cpu = statistics.median(b.cpu / a.cpu for a, b in pairs)
    verdict = bench.verdict(question.name, cpu, CONSTANT) if question.constant else "-"
    if question.name == "doctor":
        took = statistics.median(one.wall for one in large)
        verdict = bench.verdict("doctor, seconds", took, DOCTOR) + " s"
    processor = f"{ms([one.cpu for one in small])}, {ms([one.cpu for one in large])}"
    walls = ms([one.wall for one in small]), ms([one.wall for one in large])
    return question.name, *walls, times(wall), processor, times(cpu), verdict


def wide(bench: Bench) -> None:
    """Ask about a large work tree whose code nobody has read, again and again."""
    files, commits = bench.size(FILES, 600), bench.size(COMMITS, 1200)
    path = bench.folder / f"wide-{files}"
    if not path.exists():
        histories.make(path, commits, files, 60)
        mem(path, "init", "--no-remote")
    task, source = "the value of step 1200 is wrong in m1200", bench.fresh("payload")
    prompt = f"{task}, so have a look at it, find out why, and write a test that fails first"
    asked = (
        ("scout", task),
        ("code", "dna", "show", "--at", "HEAD"),
        ("code", "dna", "refresh"),
        ("code", "dna", "refresh", "--all"),
    )
    rows = []
    with Launcher(bench.folder) as launcher:
        for words in asked:
            for cache in () if "--all" in words else path.glob(".git/gitmem/code*.db*"):
                cache.unlink()
            for again in range(1 if "--all" in words else 3):
                wall = launcher.run([*program(), *words, "--json"], path)
                rows.append((" ".join(words), f"{again + 1}", wall, unread(launcher.output())))
                if "--all" not in words and not bench.quick and again == 0:
                    bench.verdict(f"{words[0]}, first answer, seconds", wall, FIRST_ANSWER)
        for again in range(3):
            source.write_bytes(payload("UserPromptSubmit", path, f"w{again}", prompt=prompt))
            wall = launcher.run([*program(), "hook", "claude"], path, source)
            rows.append(("hook: a prompt", f"{again + 1}", wall, ""))
    cells = [(name, again, f"{wall:.2f} s", left) for name, again, wall, left in rows]
    title = f"{files:,} files, {commits:,} commits; the code is read from nothing"
    table(title, ("git mem", "call", "time", "files not read yet"), cells)


def unread(output: str) -> str:
    """Return how many files an answer leaves out."""
    data = json.loads(output[output.index("{") :])["data"]
    first = data[0] if isinstance(data, list) else data
    return f"{first['unread_count']:,}"


def body(bench: Bench, records: int, only: str) -> None:
    """Compare the two sizes, and ask about a large work tree."""
    if only in {"", "wide"}:
        wide(bench)
    if only != "wide":
        stores(bench, records, "" if only == "stores" else only)


def stores(bench: Bench, records: int, only: str) -> None:
    """Compare the two sizes."""
    small, large = made(bench, records // SHARE), made(bench, records)
    for path in (small, large):
        commits = git(path, "rev-list", "--count", SHARED)
        began = time.perf_counter()
        mem(path, "log", place(path).id)
        took = time.perf_counter() - began
        print(f"{path.name}: {commits} commits of the store; the first log ID {took:.1f} s\n")
    compare(bench, place(small), place(large), only)


def main() -> int:
    """Read the options of this benchmark, and run it."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--only", default="", help="stores, wide, or words of a name")
    options, rest = parser.parse_known_args()
    records = 2000 if "--quick" in rest else options.records
    return run("bench_scale", lambda bench: body(bench, records, options.only), rest)


if __name__ == "__main__":
    sys.exit(main())
