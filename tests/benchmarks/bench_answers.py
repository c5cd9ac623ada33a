"""Whether a hook answers when it should, and what it costs, while other work runs: busy loops beside it, or gitmem's own worker."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.repo.refs import SHARED
from tests.benchmarks.bench_cli import program
from tests.benchmarks.bench_hook import payload
from tests.benchmarks.common import Bench, Launcher, git, ms, new_repo, run, table, times

ANSWERED = 0.99  # of the first hooks after a write
PROMPT, START = 8.0, 12.0  # of `python -c pass`, while a worker runs
LOOPS = 2  # busy loops for each core
SUBJECTS = (
    "ledger export",
    "webhook signature",
    "invoice rounding",
    "tenant quota",
    "avatar upload",
    "search ranking",
)
TURNS = 24  # of a session whose record the worker makes


def title_of(number: int) -> str:
    """Return a title that no other record has."""
    return f"The {SUBJECTS[number % len(SUBJECTS)]} job {number + 4000} needs a second pass"


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep the processor busy by so many processes."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Writes:
    """The ways in which a store comes to hold a record that a hook has not seen."""

    def __init__(self, bench: Bench) -> None:
        self.here = new_repo(bench.fresh("here"))
        self.there = bench.fresh("there")
        self._mem(self.here, "init", "--no-remote")
        git(self.here, "config", "gitmem.dna", "off")
        git(self.here, "config", "gitmem.scout", "false")
        for number in range(40):
            self._add(self.here, 5000 + number)
        self.other = 0

    def _mem(self, path: Path, *args: str) -> None:
        subprocess.run([*program(), *args], cwd=path, check=True, capture_output=True)

    def _add(self, path: Path, number: int) -> None:
        self._mem(
            path,
            "add",
            title_of(number),
            "-m",
            "The first pass leaves rows out.",
            "--type",
            "decision",
            "--importance",
            "9",
        )

    def command(self, number: int) -> Path:
        """Write with the command."""
        self._add(self.here, number)
        return self.here

    def plain_git(self, number: int) -> Path:
        """Move the ref with git alone, as a fetch by the user's own refspec does."""
        if not self.there.exists():
            git(".", "clone", "-q", str(self.here), str(self.there))
        git(self.there, "fetch", "-q", "origin", f"+{SHARED}:{SHARED}")
        self._add(self.there, number)
        git(self.here, "fetch", "-q", str(self.there), f"{SHARED}:{SHARED}")
        return self.here

    def no_index(self, number: int) -> Path:
        """Write, and take the index away."""
        self._add(self.here, number)
        for path in (self.here / ".git" / "gitmem").glob("index.db*"):
            path.unlink()
        return self.here

    def new_clone(self, number: int) -> Path:
        """Fetch the store into a clone where gitmem never ran."""
        path = self.here.with_name(f"{self.here.name}-clone-{number}")
        self._add(self.here, number)
        git(".", "clone", "-q", str(self.here), str(path))
        git(path, "fetch", "-q", "origin", f"{SHARED}:{SHARED}")
        return path


def first_hooks(bench: Bench) -> None:
    """Count the first hooks after a write that tell what was written."""
    writes, source = Writes(bench), bench.fresh("payload")
    ways: tuple[tuple[str, Callable[[int], Path], str, int], ...] = (
        ("git mem add, then a prompt", writes.command, "UserPromptSubmit", 40),
        ("git mem add, then a start", writes.command, "SessionStart", 40),
        ("git fetch, then a prompt", writes.plain_git, "UserPromptSubmit", 40),
        ("git fetch, then a start", writes.plain_git, "SessionStart", 40),
        ("no index, then a start", writes.no_index, "SessionStart", 20),
        ("a new clone, then a start", writes.new_clone, "SessionStart", 20),
    )
    rows, answered, asked, number = [], 0, 0, 0
    with Launcher(bench.folder) as launcher, busy_loops(LOOPS * (os.cpu_count() or 1)):
        for name, write, event, count in ways:
            took, told = [], 0
            rounds = max(1, count // 10) if bench.quick else bench.rounds or count
            for _ in range(rounds):
                number += 1
                path = write(number)
                prompt = (
                    {"prompt": f"what about {title_of(number)}?"}
                    if event == "UserPromptSubmit"
                    else {}
                )
                source.write_bytes(payload(event, path, f"first-{number}", **prompt))
                took.append(launcher.run([*program(), "hook", "claude"], path, source))
                told += title_of(number) in launcher.output()
            rows.append((name, f"{told} of {rounds}", ms(took), ms([max(took)])))
            answered, asked = answered + told, asked + rounds
    share = answered / asked
    bench.verdict("first hooks without an answer", 1 - share, 1 - ANSWERED + 1e-9)
    verdict = "kept" if share >= ANSWERED else "MISSED"
    rows.append(
        ("all", f"{answered} of {asked}", "", f"{share:.1%}, budget {ANSWERED:.0%} {verdict}")
    )
    title = f"The first hook after a write, beside {LOOPS} busy loops a core"
    table(title, ("what was written, and the hook", "answered", "median", "longest"), rows)


def transcript(path: Path, number: int) -> None:
    """Write a transcript as Claude Code leaves it, long enough that its record takes a while."""
    rows = []
    for turn in range(TURNS):
        said = f"We decided to use retry policy {number}-{turn} for the ledger, because the gateway drops calls. Fix the ledger test."
        done = f"I changed ledger_{turn}.py. The error was a missing lock; I added it, and the tests pass now."
        for kind, text in (("user", said), ("assistant", done)):
            message = {"role": kind, "content": [{"type": "text", "text": text}]}
            rows.append(
                json.dumps(
                    {
                        "type": kind,
                        "uuid": f"{number}-{turn}-{kind}",
                        "timestamp": "2026-01-01T00:00:00Z",
                        "message": message,
                    }
                )
            )
    path.write_text("\n".join(rows) + "\n")


def beside_worker(bench: Bench) -> None:
    """Time hooks of sessions back to back: the worker that the last one's end has started is at work."""
    path, source = bench.copy(bench.size(10_000, 1_000), "worker"), bench.fresh("payload")
    argv, base = [*program(), "hook", "claude"], [sys.executable, "-c", "pass"]
    rounds = bench.times(25)
    ratios: dict[str, list[float]] = {
        "SessionStart": [],
        "UserPromptSubmit": [],
        "PreToolUse.Read": [],
    }
    spent: dict[str, list[float]] = {name: [] for name in ratios}
    with Launcher(bench.folder) as launcher:

        def call(event: str, session: str, **changes: object) -> float:
            source.write_bytes(payload(event, path, session, **changes))
            return launcher.run(argv, path, source)

        for number in range(-1, rounds):
            log = bench.fresh("transcript")
            transcript(log, number)
            before, session = f"before-{number}", f"after-{number}"
            call("SessionStart", before, transcript_path=str(log))
            call(
                "UserPromptSubmit",
                before,
                transcript_path=str(log),
                prompt="We decided to keep the ledger in one table.",
            )
            call("SessionEnd", before, transcript_path=str(log))
            for event in ratios:
                changes = (
                    {"prompt": "what is known of the payment isolation retry?"}
                    if event == "UserPromptSubmit"
                    else {}
                )
                took, floor = call(event, session, **changes), launcher.run(base, path)
                if number >= 0:
                    spent[event].append(took)
                    ratios[event].append(took / floor)
            call("SessionEnd", session)
            settle(path)
    rows = []
    for event, budget in (
        ("SessionStart", START),
        ("UserPromptSubmit", PROMPT),
        ("PreToolUse.Read", None),
    ):
        ratio = sorted(ratios[event])[len(ratios[event]) // 2]
        verdict = bench.verdict(f"{event} beside a worker", ratio, budget) if budget else "-"
        rows.append((event, ms(spent[event]), ms([max(spent[event])]), times(ratio), verdict))
    table(
        f"Hooks while a worker runs, {rounds} sessions back to back",
        ("hook", "median", "longest", "ratio", "budget"),
        rows,
    )


def settle(path: Path) -> None:
    """Wait until nothing is at work in a repository."""
    subprocess.run([*program(), "drain"], cwd=path, check=True, capture_output=True)
    time.sleep(0.2)


def body(bench: Bench) -> None:
    """Run both."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the busy loops end with it
    first_hooks(bench)
    beside_worker(bench)


if __name__ == "__main__":
    sys.exit(run("bench_answers", body))
