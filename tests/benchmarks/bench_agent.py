"""A whole run of the real Claude Code against a fake model: ten commands and ten files read, with hooks and without."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.agents.clis import BIN, Cli
from tests.agents.fake_model import FakeModel, Step
from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, run, table, times

BUDGET = 1.05
CALLS, DELAYS = 20, (0.0, 0.5)  # tool calls; seconds that the model takes for an answer


def steps(path: Path) -> list[Step]:
    """Return the tool calls of a run, a command and a read in turn, each of which succeeds."""
    files = sorted(path.glob("*.py"))
    made: list[Step] = []
    for n in range(CALLS // 2):
        made.append({"tool": "Bash", "input": {"command": f"echo {n}", "description": "work"}})
        made.append({"tool": "Read", "input": {"file_path": str(files[n % len(files)])}})
    return [*made, {"text": "The work is done."}]


def once(cli: Cli, path: Path) -> float:
    """Let the agent work in a repository; return the seconds that it took."""
    cli.model.steps = steps(path)
    cli.model.requests.clear()
    began = time.perf_counter()
    cli.run(path, "Please have a look")
    took = time.perf_counter() - began
    assert len(cli.model.asked) == CALLS + 1, f"{len(cli.model.asked)} requests"
    return took


def body(bench: Bench) -> None:
    """Time pairs of runs, with hooks and without, the first of a pair in turn."""
    if not (BIN / "claude").exists():
        print("Claude Code is not installed (make agents): nothing was measured.\n")
        return
    plain, hooked = (bench.copy(bench.size(10_000, 1_000), name) for name in ("plain", "hooked"))
    for path in (plain, hooked):
        for n in range(4):
            (path / f"file{n}.py").write_text(f"VALUE = {n}\n")
    subprocess.run([*program(), "install", "claude"], cwd=hooked, check=True, capture_output=True)
    rows = []
    with FakeModel() as model:
        cli = Cli("claude", bench.folder / "home", model)
        for path in (plain, hooked):
            once(cli, path)  # what is cached by a first run is there
        for delay in DELAYS:
            model.delay = delay
            pairs = []
            for n in range(bench.times(3, quick=1)):
                order = (plain, hooked) if n % 2 else (hooked, plain)
                took = {path: once(cli, path) for path in order}
                pairs.append((took[hooked], took[plain]))
            ratio = statistics.median(with_hooks / without for with_hooks, without in pairs)
            left, right = (statistics.median(column) for column in zip(*pairs, strict=True))
            verdict = (
                bench.verdict(f"a run with {delay:g} s an answer", ratio, BUDGET) if delay else "-"
            )
            each = f"{(left - right) / CALLS * 1000:.0f} ms"
            rows.append(
                (f"{delay:g} s", f"{left:.2f} s", f"{right:.2f} s", times(ratio), each, verdict)
            )
    head = ("a model's answer takes", "with hooks", "without", "ratio", "more for a call", "budget")
    table(
        f"Claude Code, {CALLS} tool calls (half commands, half reads), {bench.times(3, quick=1)} pairs",
        head,
        rows,
    )


if __name__ == "__main__":
    sys.exit(run("bench_agent", body))
