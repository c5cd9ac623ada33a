"""An agent's hook as a cold process, with payloads as Claude Code sends them, against `python -c pass`."""

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gitmem.state.attempts import FailedCommand, note_failure
from tests.benchmarks.bench_cli import program
from tests.benchmarks.common import Bench, Launcher, ms, opened, run, table, times

SAMPLES = Path(__file__).parent.parent / "hooks" / "samples" / "claude"
TOOL, PROMPT, START = 3.0, 5.0, 20.0


def payload(event: str, repo: Path, session: str, **changes: Any) -> bytes:
    """Return a recorded payload, moved into our repository and into a session."""
    text = (SAMPLES / f"{event}.json").read_text().replace("/home/user/repo", str(repo))
    data = json.loads(text)
    data["session_id"] = session
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(data.get(key), dict):
            data[key] |= value
        else:
            data[key] = value
    return json.dumps(data).encode()


def calls_of(
    path: Path, known: str, titles: list[str]
) -> Iterator[tuple[str, str, Callable[[], bytes], float | None]]:
    """Yield (what happens, payload's name, how to make one, budget); a session that is new each time has been told nothing."""
    number, prompts = itertools.count(), itertools.cycle(titles)
    plain, there = {"file_path": str(path / "a.py")}, {"file_path": str(path / known)}

    def fresh() -> str:
        return f"session-{next(number)}"

    def same(event: str, **changes: Any) -> Callable[[], bytes]:
        return lambda: payload(event, path, "one", **changes)

    def new(event: str, **changes: Any) -> Callable[[], bytes]:
        return lambda: payload(event, path, fresh(), **changes)

    yield "before a command", "PreToolUse.Bash", same("PreToolUse.Bash"), TOOL
    yield (
        "before a file is read, nothing known",
        "PreToolUse.Read",
        same("PreToolUse.Read", tool_input=plain),
        TOOL,
    )
    yield (
        "before a file is read, a gotcha is told",
        "PreToolUse.Read",
        new("PreToolUse.Read", tool_input=there),
        TOOL,
    )
    yield (
        "before it is read again",
        "PreToolUse.Read",
        same("PreToolUse.Read", tool_input=there),
        TOOL,
    )
    yield (
        "after a file is read",
        "PostToolUse.Read",
        same("PostToolUse.Read", tool_input=plain),
        TOOL,
    )
    yield (
        "after a file is edited",
        "PostToolUse.Edit",
        same("PostToolUse.Edit", tool_input=plain),
        TOOL,
    )
    ran = {
        "tool_name": "Bash",
        "tool_response": {"stdout": "ok", "stderr": "", "interrupted": False},
    }
    yield (
        "after a command passes",
        "PostToolUse.Edit",
        same("PostToolUse.Edit", tool_input={"command": "make test"}, **ran),
        TOOL,
    )
    yield (
        "after an edit, while a command fails",
        "PostToolUse.Edit",
        lambda: payload("PostToolUse.Edit", path, "red", tool_input=plain),
        TOOL,
    )
    yield "a prompt, as recorded", "UserPromptSubmit", new("UserPromptSubmit"), PROMPT
    yield (
        "a prompt that memories fit",
        "UserPromptSubmit",
        lambda: payload(
            "UserPromptSubmit",
            path,
            fresh(),
            prompt=f"Have a look at {next(prompts)}, and tell me what to do",
        ),
        PROMPT,
    )
    yield "a session starts", "SessionStart", new("SessionStart"), START
    yield (
        "a command fails, each time anew",
        "PostToolUseFailure.Bash",
        lambda: payload("PostToolUseFailure.Bash", path, fresh(), error=failure(fresh())),
        None,
    )


def failure(name: str) -> str:
    """Return the output of a command that fails in a way not seen before."""
    return f"Exit code 1\nTraceback (most recent call last):\n  File \"app.py\", line 3, in <module>\nNameError: name '{name.replace('-', '_')}' is not defined"


def at(bench: Bench, count: int, rounds: int) -> None:
    """Time each kind of call at one size."""
    path = bench.copy(count, f"at-{count}")
    with opened(path) as app:
        titles = [row["title"] for row in app.rows(kinds=("memory",), limit=50)]
        known = next(
            a["path"]
            for row in app.rows(kinds=("gotcha",), resolved=False, limit=200)
            for a in row["anchors"]
        )
        note_failure(
            app.state,
            "red",
            FailedCommand("make test", "Error: <str>", 1.0, "make test", "", str(path)),
        )
    (path / "a.py").write_text("def f():\n    pass\n")
    source, rows, argv = bench.fresh("payload"), [], [*program(), "hook", "claude"]

    def stored(made: Callable[[], bytes]) -> Callable[[], Path]:
        def store() -> Path:
            source.write_bytes(made())
            return source

        return store

    with Launcher(bench.folder) as launcher:
        for name, event, made, budget in calls_of(path, known, titles):
            for _ in range(2):  # the second time, a session that is the same has been told
                launcher.run(argv, path, stored(made)())
            told = len(launcher.output())
            pairs = launcher.paired(lambda: argv, path, rounds, name, stored(made))
            verdict = bench.verdict(f"{name} at {count:,}", pairs.ratio, budget) if budget else "-"
            rows.append(
                (
                    name,
                    event,
                    str(told),
                    ms(pairs.left),
                    ms(pairs.right),
                    times(pairs.ratio),
                    f"{launcher.peak[name] / 1024:.0f} MiB",
                    verdict,
                )
            )
        floor = launcher.peak["python -c pass"] / 1024
    source.unlink()
    log = path / ".git" / "gitmem" / "hook.log"
    said = log.read_text() if log.exists() else ""
    assert not said, f"a hook failed: {said[-500:]}"
    head = (
        "what happens",
        "payload",
        "bytes answered",
        "time",
        "python -c pass",
        "ratio",
        "peak",
        "budget",
    )
    table(
        f"`git mem hook claude` at {count:,} records, {rounds} pairs; `python -c pass` peaks at {floor:.0f} MiB",
        head,
        rows,
    )


def body(bench: Bench) -> None:
    """Time each kind of call at two sizes."""
    for count in (1_000, 2_000) if bench.quick else (10_000, 100_000):
        at(bench, count, bench.times(25))


if __name__ == "__main__":
    sys.exit(run("bench_hook", body))
