"""An agent's CLI as a hook sees it: real payloads on stdin of a real process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_command
from tests.conftest import git
from tests.json_output import data_of

SAMPLES = Path(__file__).parent / "samples" / "claude"
HOOK = [sys.executable, "-P", "-m", "gitmem", "hook", "claude"]
CODE = 'import os\n\n\ndef rate():\n    return float(os.environ["TAX_RATE"])\n\n\nprint(rate())\n'


@dataclass
class Agent:
    """One session of Claude Code in a folder."""

    cwd: Path
    session: str
    env: dict[str, str] = field(default_factory=dict)

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return a real payload as if it came from this session."""
        data = json.loads((SAMPLES / f"{event}.json").read_text())
        return {**data, "cwd": str(self.cwd), "session_id": self.session, **fields}

    def raw(
        self, data: bytes, *args: str, cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run the hook on some bytes; it must succeed and say nothing on stderr."""
        done = subprocess.run(
            [*HOOK, *args],
            input=data,
            cwd=cwd or self.cwd,
            env={**os.environ, **self.env},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    def hook(self, event: str, **fields: Any) -> str:
        """Send an event; return the text that the model would read."""
        out = self.raw(json.dumps(self.payload(event, **fields)).encode()).stdout
        if not out:
            return ""
        answer = json.loads(out)
        assert set(answer) == {"hookSpecificOutput"}
        inner = answer["hookSpecificOutput"]
        assert set(inner) == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == event.partition(".")[0]
        return str(inner["additionalContext"])

    def fail(self, error: str, command: str = "python app/pay.py") -> str:
        """Let a command fail."""
        return self.hook("PostToolUseFailure.Bash", error=error, tool_input={"command": command})

    def log(self) -> str:
        """Return what hooks have complained of."""
        path = self.cwd / ".git" / "gitmem" / "hook.log"
        return path.read_text() if path.exists() else ""


def run(path: Path, *args: str) -> str:
    """Run `git mem` as a person would; return its output."""
    done = run_command(path, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def learn(path: Path, *args: str) -> str:
    """Run a command that writes, and have the index follow: a hook waits for that so short a time that a busy machine may take longer."""
    out = run(path, *args)
    run(path, "drain")
    return out


def wait_for(check: Callable[[], Any], patience: float = 240.0) -> Any:
    """Wait until a check gives something; the drain that it waits for is a process of its own."""
    deadline = time.monotonic() + patience
    while True:
        began = time.monotonic()
        if found := check():
            return found
        assert began < deadline, "it did not happen"
        # a look that costs something leaves the processor to what it waits for
        time.sleep(max(0.02, 2 * (time.monotonic() - began)))


def gotchas(path: Path) -> list[dict[str, Any]]:
    """Return the gotchas of a repository, read without committing what waits."""
    return list(data_of(run(path, "list", "--kind", "gotcha", "--json")))


def session_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of sessions; the project summary is none."""
    return [
        row
        for row in data_of(run(path, "list", "--kind", "session", "--json"))
        if row.get("session")
    ]


def wait_for_session_record(path: Path) -> list[dict[str, Any]]:
    """Wait until a session has its record and nothing else is to be done; return the session records: hooks that follow tell them at once."""
    found: list[dict[str, Any]] = wait_for(lambda: session_records(path))
    wait_for(lambda: not data_of(run(path, "status", "--json"))["requests"])
    return found


def committed(path: Path) -> list[str]:
    """Return the subjects of both stores' commits, newest first, as git itself reads them."""
    return git(path, "log", "--format=%s", "--glob=refs/gitmem/*/main").splitlines()


def crash(path: Path) -> str:
    """Run the project's code, which fails; return what Claude Code would report."""
    done = subprocess.run(
        [sys.executable, "app/pay.py"], cwd=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return f"Exit code 1\n{done.stderr}"


@pytest.fixture
def project(repo: Path) -> Path:
    """A repository with code that fails for want of a variable; what is told of the code comes whenever the background has read it: see tests/code."""
    git(repo, "config", "gitmem.dna", "off")
    git(repo, "config", "gitmem.scout", "false")
    # what `git` commits here is the user's own
    git(repo, "config", "user.email", "test@example.org")
    (repo / "app").mkdir()
    (repo / "app" / "pay.py").write_text(CODE)
    git(repo, "add", "app")
    git(repo, "commit", "-qm", "pay")
    return repo


@pytest.fixture
def agent(project: Path) -> Callable[..., Agent]:
    """Start sessions, by name."""
    return lambda session="s1", cwd=project, **env: Agent(cwd, session, env)
