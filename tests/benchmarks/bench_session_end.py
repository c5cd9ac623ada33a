"""What a session taught, found when it has ended: `git mem extract` of a Claude Code transcript, and a session record through `git mem drain`, as cold processes."""

import itertools
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from gitmem.hooks import context
from gitmem.hooks.main import respond
from tests.benchmarks.bench_cli import program
from tests.benchmarks.bench_hook import payload
from tests.benchmarks.common import TELLING, Bench, Launcher, ms, opened, run, size, table, times
from tests.extraction.render import HERE
from tests.extraction.render_claude import Clock, claude
from tests.extraction.source import Step, split, steps

# of the transcript; of `git mem extract` and its peak in MiB on a machine that is quiet
MILLIONS, SECONDS, MEMORY = 5.0, 3.0, 200
PASS = 0.012  # seconds of `python -c pass` on such a machine: the budget is their ratio
SAYING = ("user", "agent", "run", "fail", "edit")


def told(seed: int) -> Iterator[Step]:
    """Yield the turns of a long session: those of the labelled ones in other orders, among files that are read and what builds print."""
    draw = random.Random(seed)
    talks = []
    for path in sorted(HERE.glob("claude_*.txt")):
        _, body, _ = split(path.stem, path.read_text(encoding="utf-8"))
        talks.append([step for step in steps(path.stem, body) if step.word in SAYING])
    for number in itertools.count():
        for step in draw.choice(talks):
            if step.word in ("user", "agent"):
                # other things are spoken of each time: words of a session repeat, sentences seldom
                # do
                yield Step(
                    step.word,
                    step.head,
                    f"{step.body}\nThe {draw.choice(TELLING)} of {draw.choice(TELLING)} {number} is {draw.choice(TELLING)}.",
                )
                continue
            yield step
            if draw.random() < 0.6:
                lines = "\n".join(
                    f"{n:>6}\t    {' '.join(draw.choices(TELLING, k=9))} = {draw.random()}"
                    for n in range(draw.choice((12, 30, 90)))
                )
                yield Step("read", f"src/{draw.choice(TELLING)}.py", lines)


def write(path: Path, millions: float) -> None:
    """Write a transcript of a size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    left = int(millions * 1e6)
    with path.open("w", encoding="utf-8") as file:
        for row in claude(Clock("long"), list(itertools.islice(told(5), int(millions * 3000)))):
            line = json.dumps(row) + "\n"
            file.write(line)
            left -= len(line)
            if left <= 0:
                return


def body(bench: Bench) -> None:
    """Time both, each against `python -c pass`."""
    path = bench.copy(100, "session")
    home = bench.folder / "home"
    transcript = home / ".claude/projects/-repo/long.jsonl"
    write(transcript, 0.5 if bench.quick else MILLIONS)
    number, rows = itertools.count(), []
    context.detach = lambda *_: 0  # type: ignore[assignment] # the drain that is timed is the one that has the work
    with Launcher(bench.folder) as launcher:

        def row(name: str, left: list[float], right: list[float], budget: bool) -> None:
            ratio = statistics.median(a / b for a, b in zip(left, right, strict=True))
            peak = launcher.peak[name] / 1024
            verdict = "-"
            if budget:
                verdict = bench.verdict(f"{name}: time", ratio, SECONDS / PASS)
                verdict = f"{verdict}; {bench.verdict(f'{name}: peak MiB', peak, MEMORY)}"
            rows.append((name, ms(left), ms(right), times(ratio), f"{peak:.0f} MiB", verdict))

        launcher.run([*program(), "extract", str(transcript)], path)
        assert len(launcher.output()) > 100, "nothing was found"
        pairs = launcher.paired(
            lambda: [*program(), "extract", str(transcript)], path, bench.times(5), "extract"
        )
        row("extract", pairs.left, pairs.right, True)
        left, right = [], []
        for _ in range(bench.times(5)):
            session = f"ended-{next(number)}"
            for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
                respond(
                    "claude",
                    "",
                    payload(event, path, session, transcript_path=str(transcript)),
                    os.environ,
                    time.time(),
                )
            left.append(launcher.run([*program(), "drain"], path, name="drain"))
            right.append(launcher.run([sys.executable, "-c", "pass"], path))
        row("drain", left, right, False)
    with opened(path) as app:
        recorded = {row["session"] for row in app.index().rows(kinds=("session",), limit=100)}
    assert {f"ended-{n}" for n in range(next(number))} <= recorded, "a session has no record"
    title = f"What a session taught: a transcript of {size(transcript.stat().st_size)}"
    table(title, ("git mem", "time", "python -c pass", "ratio", "peak", "budget"), rows)


if __name__ == "__main__":
    sys.exit(run("bench_session_end", body))
