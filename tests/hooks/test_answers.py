"""A hook answers with what was written before it, however busy the machine is; what it could not have in time comes with the next event."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gitmem.index.builder import LOCK
from gitmem.index.reader import open_index
from gitmem.repo.refs import SHARED
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of

LOOPS = 2 * (os.cpu_count() or 1)
DB = ".git/gitmem/index.db"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep the processor busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def add(path: Path, title: str) -> str:
    """Add a decision; return its id."""
    return str(
        data_of(run(path, "add", title, "--type", "decision", "--importance", "9", "--json"))["id"]
    )


def remove_index(path: Path) -> None:
    """Take the index away, as anybody may at any time."""
    for file in (path / DB).parent.glob("index.db*"):
        file.unlink()


def tips(path: Path) -> dict[str, str]:
    """Return the commits that the index was made from."""
    index = open_index(str(path / DB))
    assert index is not None
    with closing(index.db):
        return index.tips()


@contextmanager
def indexing(path: Path) -> Iterator[None]:
    """Be a process that indexes for long."""
    import fcntl

    with open(path / ".git/gitmem" / LOCK, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_first_hooks_after_a_write_answer_on_a_busy_machine(project: Path, agent, tmp_path: Path):
    other = tmp_path / "other"
    add(project, "The zebra ledger is closed at noon")
    git(tmp_path, "clone", "-q", str(project), str(other))
    with busy(LOOPS):
        for number in range(6):
            title = f"The quagga ledger {number + 4000} is closed at noon"
            if number % 2:
                git(other, "fetch", "-q", str(project), f"+{SHARED}:{SHARED}")
                add(other, title)
                git(project, "fetch", "-q", str(other), f"{SHARED}:{SHARED}")
            else:
                add(project, title)
            assert title in agent(f"p{number}").hook(
                "UserPromptSubmit", prompt=f"what about this: {title}?"
            )
        remove_index(project)
        assert "zebra ledger" in agent("s1").hook("SessionStart")
        assert "quagga ledger 4005" in agent("s2").hook("SessionStart")


@pytest.mark.parametrize("args", [("edit", "-m", "Why."), ("forget",), ("pin",)])
def test_a_command_that_writes_leaves_an_index_that_is_current(project: Path, args):
    id = add(project, "The zebra ledger is closed at noon")
    run(project, args[0], id, *args[1:])
    assert tips(project)["shared"] == git(project, "rev-parse", SHARED)


def test_a_sync_leaves_an_index_that_is_current(project: Path, tmp_path: Path):
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "hub"))
    git(project, "remote", "add", "origin", str(tmp_path / "hub"))
    add(project, "The zebra ledger is closed at noon")
    run(project, "remote", "enable", "origin")
    run(project, "sync")
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(tmp_path / "hub"), str(other))
    run(other, "remote", "enable", "origin")
    run(other, "sync")
    assert (
        tips(other)["shared"]
        == git(other, "rev-parse", SHARED)
        == git(project, "rev-parse", SHARED)
    )


def test_what_a_start_could_not_have_in_time_is_told_by_the_next_tool_call_once(
    project: Path, agent
):
    add(project, "The zebra ledger is closed at noon")
    remove_index(project)
    session = agent("late")
    with indexing(project):
        assert "zebra" not in session.hook("SessionStart")
    run(project, "list")
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    assert "zebra ledger" in session.hook("PreToolUse.Read", **read)
    assert session.hook("PreToolUse.Read", **read) == ""


def test_what_a_prompt_could_not_have_in_time_is_told_by_the_next_tool_call_once(
    project: Path, agent
):
    add(project, "The zebra ledger is closed at noon")
    remove_index(project)
    session = agent("late")
    with indexing(project):
        assert session.hook("UserPromptSubmit", prompt="When is the zebra ledger closed?") == ""
    run(project, "list")
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    assert "zebra ledger" in session.hook("PreToolUse.Read", **read)
    assert session.hook("UserPromptSubmit", prompt="When is the zebra ledger closed?") == ""


def test_a_tool_call_never_refreshes_the_index(project: Path, agent):
    run(project, "add", "-k", "gotcha", "Trap in pay.py", "--anchor", "app/pay.py")
    remove_index(project)
    git(project, "config", "gitmem.inject", "true")
    with indexing(project):  # nor does the drain that it starts
        agent("t").hook("PreToolUse.Read", tool_input={"file_path": str(project / "app/pay.py")})
        assert (
            not (project / DB).exists()
            or open_index(str(project / DB)) is None
            or not tips(project)
        )
