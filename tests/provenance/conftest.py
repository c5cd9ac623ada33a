"""Sessions of Claude Code, told by real hooks, that change a repository; and what `git mem` says of its code."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.hooks.conftest import Agent, run
from tests.json_output import data_of


@dataclass
class Worker:
    """One session that edits files as Claude Code does."""

    repo: Path
    agent: Agent

    def begin(self, prompt: str = "") -> "Worker":
        """Start, and be asked something."""
        self.agent.hook("SessionStart", model="claude-test")
        if prompt:
            self.ask(prompt)
        return self

    def ask(self, prompt: str) -> None:
        """Be asked something."""
        self.agent.hook("UserPromptSubmit", prompt=prompt)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a part of a file."""
        path = self.repo / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        self.agent.hook("PostToolUse.Edit", tool_input=given, tool_response={})

    def write(self, name: str, text: str) -> None:
        """Write a whole file."""
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else None
        path.write_text(text)
        answer = {
            "type": "create" if before is None else "update",
            "originalFile": before,
            "content": text,
        }
        self.agent.hook(
            "PostToolUse.Edit",
            tool_name="Write",
            tool_input={"file_path": str(path), "content": text},
            tool_response=answer,
        )

    def shell(self, command: str) -> None:
        """Run a command."""
        started = time.monotonic()
        subprocess.run(["bash", "-c", command], cwd=self.repo, check=True)
        taken = int((time.monotonic() - started) * 1000)
        self.agent.hook(
            "PostToolUse.Edit",
            tool_name="Bash",
            tool_input={"command": command},
            tool_response={},
            duration_ms=taken,
        )

    def commit(self, message: str, *args: str) -> str:
        """Commit all by a command of the session; return the commit."""
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-q", "-m", message, *args)
        self.agent.hook(
            "PostToolUse.Edit",
            tool_name="Bash",
            tool_input={"command": f"git commit -am '{message}'"},
            tool_response={},
        )
        return git(self.repo, "rev-parse", "HEAD")


@dataclass
class Team:
    """A repository and the sessions in it."""

    repo: Path

    def session(self, id: str, prompt: str = "") -> Worker:
        """Return a session that has begun."""
        return Worker(self.repo, Agent(self.repo, id)).begin(prompt)

    def person(self, *args: str) -> str:
        """Run git as a person does in a terminal."""
        return git(self.repo, *args)

    def drain(self) -> None:
        """Do what waits."""
        run(self.repo, "drain")

    def why(self, place: str, *args: str) -> dict[str, Any]:
        """Return what `why` says."""
        found: dict[str, Any] = data_of(
            run(self.repo, "why", str(self.repo / place), "--json", *args)
        )[0]
        return found

    def sessions(self, place: str) -> list[str]:
        """Return the sessions that `why` names, in its order."""
        return [part["id"] for origin in self.why(place)["origins"] for part in origin["sessions"]]

    def part_takers(self, place: str) -> list[str]:
        """Return the sessions that had a part in the commits alone."""
        return [
            part["id"] for origin in self.why(place)["origins"] for part in origin["other_sessions"]
        ]


CODE = "import os\n\n\ndef balance():\n    return 1\n\n\ndef fees():\n    return [2]\n"


@pytest.fixture
def team(repo: Path) -> Team:
    """A repository with a file of two functions."""
    git(repo, "config", "user.name", "Grace")
    git(repo, "config", "user.email", "grace@example.org")
    (repo / "pay.py").write_text(CODE)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "pay")
    run(repo, "init", "--no-remote")
    return Team(repo)


@pytest.fixture(autouse=True)
def _no_code_reading(no_code_reading: None) -> None:
    """What is told of the code is no matter of these tests."""
