"""Whole runs of real agents' CLIs against a fake model: 40 tool calls, with hooks and without, side by side.

Processor time is that of the CLI and of all that it started, what goes on in the background after its end included.
"""

import ctypes
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.agents.clis import BIN, Cli
from tests.agents.fake_model import FakeModel, Step
from tests.agents.world import World
from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, git, run, table, times

AGENTS = ("claude", "gemini", "codex", "opencode", "copilot")
CALLS = 40
# seconds that the model takes for an answer, and what a run with hooks may then take
BUDGETS = {0.0: 1.3, 0.5: 1.03}
TEXT = "def value():\n    return {}\n"
REAPS_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER: what is left behind becomes this process's child
QUIET = 120.0  # seconds that the background may take after a run


@dataclass(frozen=True)
class Cost:
    """Seconds of one run: until the CLI ended, and of the processor."""

    wall: float
    processor: float


class Place(World):
    """One agent in one repository of the benchmark."""

    def __init__(self, cli: Cli, path: Path) -> None:
        self.cli, self.agent, self.path, self.model = cli, cli.agent, path, cli.model

    def steps(self) -> list[Step]:
        """Return the calls of a run: commands, reads and edits of four files in turn."""
        files = sorted(self.path.glob("work*.py"))
        made: list[Step] = []
        for n in range(CALLS // 4):
            path = files[n % len(files)]
            old, new = (TEXT.format(n // len(files) + more) for more in (0, 1))
            made += [
                self.shell(f"echo {n}"),
                self.read(path),
                self.edit(path, old, new),
                self.shell("python3 -c 'import sys; sys.exit(1)'" if n == 5 else f"ls {path.name}"),
            ]
        return [*made, {"text": "The work is done."}]

    def once(self) -> Cost:
        """Let the agent work; return what that took, the background included."""
        for path in self.path.glob("work*.py"):
            path.write_text(TEXT.format(0))
        self.model.steps = self.steps()
        self.model.requests.clear()
        before, began = _processor(), time.perf_counter()
        printed = self.cli.run(self.path, "Please have a look", *self.trusting(self.path))
        wall = time.perf_counter() - began
        _reap()
        assert "The work is done." in printed, printed
        assert len(self.model.asked) == CALLS + 1, f"{len(self.model.asked)} requests"
        return Cost(wall, _processor() - before)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reap() -> None:
    """Wait for what a run has left in the background."""
    until = time.monotonic() + QUIET
    while time.monotonic() < until:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.02)
        except ChildProcessError:
            return
    raise AssertionError("a process in the background did not end")


def _repository(bench: Bench, name: str) -> Path:
    path = bench.copy(bench.size(10_000, 1_000), name)
    for n in range(4):
        (path / f"work{n}.py").write_text(TEXT.format(0))
    git(path, "add", ".")
    git(path, "commit", "-qm", "Add the work")
    return path


def _places(bench: Bench, agent: str, model: FakeModel) -> dict[bool, Place]:
    """Return the agent without hooks and with them, each in a repository and a home of its own."""
    places = {}
    for hooked in (False, True):
        name = f"{agent}-{'hooked' if hooked else 'plain'}"
        cli = Cli(agent, bench.folder / f"home-{name}", model)
        path = cli.environment()["PATH"]
        # Codex CLI runs commands in a login shell
        (cli.home / ".profile").write_text(f"export PATH={shlex.quote(path)}\n")
        place = Place(cli, _repository(bench, name))
        if hooked:
            subprocess.run(
                [*program(), "install", agent],
                cwd=place.path,
                env={**os.environ, "HOME": str(cli.home)},
                check=True,
                capture_output=True,
            )
        place.once()  # what is cached by a first run is there
        places[hooked] = place
    return places


def body(bench: Bench) -> None:
    """Time pairs of runs, with hooks and without, the first of a pair in turn."""
    ctypes.CDLL(None).prctl(REAPS_ORPHANS, 1, 0, 0, 0)
    wanted = os.environ.get("BENCH_AGENTS", ",".join(AGENTS)).split(",")
    for agent in wanted:
        if not (BIN / agent).exists():
            print(f"{agent} is not installed (make agents): it was not measured.\n")
            continue
        with FakeModel() as model:
            _measure(bench, agent, model)


def _measure(bench: Bench, agent: str, model: FakeModel) -> None:
    places, rows = _places(bench, agent, model), []
    rounds = bench.times(3, quick=1)
    for delay, budget in BUDGETS.items():
        model.delay = delay
        pairs = []
        for n in range(rounds):
            order = (False, True) if n % 2 else (True, False)
            took = {hooked: places[hooked].once() for hooked in order}
            pairs.append((took[True], took[False]))
        ratio = statistics.median(ours.wall / bare.wall for ours, bare in pairs)
        more = statistics.median(ours.processor - bare.processor for ours, bare in pairs)
        ours, bare = (
            statistics.median(one.wall for one in column) for column in zip(*pairs, strict=True)
        )
        rows.append(
            (
                f"{delay:g} s",
                f"{ours:.2f} s",
                f"{bare:.2f} s",
                times(ratio),
                f"{more:.2f} s",
                bench.verdict(f"{agent} with {delay:g} s an answer", ratio, budget),
            )
        )
    head = ("a model's answer takes", "with hooks", "without", "ratio", "more processor", "budget")
    table(f"{agent}, {CALLS} tool calls, {rounds} pairs", head, rows)


if __name__ == "__main__":
    sys.exit(run("bench_agent", body))
