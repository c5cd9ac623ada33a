"""Many agents at once: no event is lost, none gets into another session, no hook takes longer than it may."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.hooks.conftest import Agent, gotchas, run, session_records, wait_for
from tests.json_output import data_of
from tests.scale import scaled

AGENTS, TURNS = 12, scaled(4, 3)  # an error that occurs three times becomes a gotcha
ERROR = "Exit code 1\nTraceback (most recent call last):\n  File \"app/pay.py\", line 5, in rate\nKeyError: 'RATE_{}'"


def session(one: Agent, number: int) -> list[float]:
    """Play a session; return how long each of its hooks took."""
    spent = []

    def hook(event: str, **fields: object) -> str:
        start = time.monotonic()
        out = one.hook(event, **fields)
        spent.append(time.monotonic() - start)
        return out

    hook("SessionStart")
    for turn in range(TURNS):
        hook("UserPromptSubmit", prompt=f"agent {number} turn {turn}")
        hook("PostToolUse.Read", tool_input={"file_path": str(one.cwd / "app/pay.py")})
        hook(
            "PostToolUseFailure.Bash",
            error=ERROR.format("ABCDEFGHIJKL"[number]),
            tool_input={"command": f"python app/pay.py {number}"},
        )
        hook("Stop", last_assistant_message=f"answer {number} {turn}")
    hook("SessionEnd")
    return spent


@pytest.mark.stress
def test_twelve_agents_in_four_worktrees(project: Path, tmp_path: Path, agent):
    trees = [project, *(tmp_path / f"tree {n}" for n in range(3))]
    for tree in trees[1:]:
        git(project, "worktree", "add", "-q", "--detach", str(tree))
    run(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py:5")
    agents = [Agent(trees[n % 4], f"agent-{n}") for n in range(AGENTS)]
    with ThreadPoolExecutor(AGENTS) as pool:
        spent = [s for some in pool.map(session, agents, range(AGENTS)) for s in some]
    assert len(spent) == AGENTS * (2 + 4 * TURNS)
    for n in range(AGENTS):
        (file,) = (project / ".git/gitmem/sessions").glob(f"history_*_agent-{n}.jsonl")
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert [r["metadata"]["event"] for r in rows] == [
            "SessionStart",
            *["PromptSubmit", "AfterTool", "ToolFailed", "TurnEnd"] * TURNS,
            "SessionEnd",
        ]
        assert [r["content"] for r in rows if r["role"] == "user"] == [
            f"agent {n} turn {t}" for t in range(TURNS)
        ]
        assert [r["content"] for r in rows if r["role"] == "assistant"] == [
            f"answer {n} {t}" for t in range(TURNS)
        ]
    captured: list[dict[str, Any]] = []

    def all_are_counted() -> bool:
        captured[:] = [g for g in gotchas(project) if g["origin"] == "captured"]
        return [g["occurrences"] for g in captured] == [TURNS] * AGENTS

    wait_for(all_are_counted)
    assert {g["session"] for g in captured} == {f"agent-{n}" for n in range(AGENTS)}
    written = wait_for(
        lambda: (found := session_records(project)) and len(found) == AGENTS and found
    )
    assert {d["session"] for d in written} == {f"agent-{n}" for n in range(AGENTS)}
    costs = data_of(run(project, "session", "cost", "--all", "--json"))
    assert costs["total"]["call_count"] == len(spent)


@pytest.mark.stress
def test_kills_at_any_moment_lose_no_event_that_was_acknowledged(project: Path, agent):
    """The hook's process is killed after a random while: what it had acknowledged by its exit code is in the history, whole."""
    import random

    chance = random.Random(7)
    acknowledged = []
    command = [sys.executable, "-P", "-m", "gitmem", "hook", "claude"]
    for number in range(scaled(60, 30)):
        payload = json.dumps(
            agent("k").payload("UserPromptSubmit", prompt=f"number {number}.")
        ).encode()
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=project
        )
        assert process.stdin
        process.stdin.write(payload)
        process.stdin.close()
        try:
            process.wait(chance.uniform(0.0, 0.25))
        except subprocess.TimeoutExpired:
            process.kill()
        if process.wait() == 0:
            acknowledged.append(f"number {number}.")
    (file,) = (project / ".git/gitmem/sessions").glob("history_*_k.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    said = [r["content"] for r in rows]
    assert acknowledged
    assert set(acknowledged) <= set(said)
    assert len(said) == len(set(said))
