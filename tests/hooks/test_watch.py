"""A hook ends in time, whatever holds the interpreter."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hooks.conftest import Agent, wait_for

# an expression that takes minutes, where a hook would do its work
SLOW = """
import os, re, sys
import gitmem.hooks.answer as answer
import gitmem.hooks.main as main
def react(hook):
    open({pid!r}, "w").write(str(os.getpid()))
    {work}
answer.react = react
main.main(["claude"])
"""
EXPRESSION = 're.match("(?:a*)*a*a*a*a*a*b", "a" * 3000)'
SCAN = 're.search("a+a+b", "a" * 40_000)'  # looks for no signal on its way


def run_hook(agent: Agent, folder: Path, work: str) -> "subprocess.Popen[bytes]":
    """Start a hook whose work is replaced."""
    data = json.dumps(agent.payload("PreToolUse.Read", tool_input={"file_path": str(folder / "a")}))
    code = SLOW.format(pid=str(folder / "pid"), work=work)
    hook = subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=agent.cwd,
    )
    assert hook.stdin is not None
    hook.stdin.write(data.encode())
    hook.stdin.close()
    hook.stdin = None
    return hook


def worker(folder: Path) -> int:
    """Return the process that does the work of a hook, once it is at work."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if (folder / "pid").exists() and (text := (folder / "pid").read_text()):
            return int(text)
        time.sleep(0.02)
    raise AssertionError("the hook did not begin")


def has_ended(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


@pytest.mark.parametrize(
    ("work", "line"),
    [
        (EXPRESSION, "took too long"),
        (SCAN, "took too long"),
        ("os.kill(os.getpid(), 11)", "ended by signal 11"),
    ],
    ids=["expression", "scan", "crash"],
)
def test_a_hook_that_hangs_or_crashes_ends_with_0(
    project: Path, agent, tmp_path: Path, work: str, line: str
) -> None:
    hook = run_hook(agent(), tmp_path, work)
    out, errors = hook.communicate(timeout=120)
    assert (hook.returncode, out, errors) == (0, b"", b"")
    assert line in (project / ".git/gitmem/hook.log").read_text()
    assert has_ended(worker(tmp_path))


def test_the_work_ends_when_the_agent_ends_its_hook(project: Path, agent, tmp_path: Path) -> None:
    hook = run_hook(agent(), tmp_path, EXPRESSION)
    pid = worker(tmp_path)
    os.kill(hook.pid, signal.SIGKILL)
    hook.communicate(timeout=120)
    wait_for(lambda: has_ended(pid))
