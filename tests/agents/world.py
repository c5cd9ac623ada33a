"""A repository, its remote and a second clone, in which a real CLI works against a fake model."""

import contextlib
import json
import os
import shlex
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.clis import DEADLINE, Cli
from tests.agents.fake_model import FakeModel, Step
from tests.conftest import git
from tests.hooks.conftest import CODE, run, wait_for
from tests.json_output import data_of

FAILING = "python3 app/pay.py"


@dataclass
class World:
    """One agent, its CLI in a home of its own, and the repositories of a test."""

    agent: str
    root: Path
    model: FakeModel

    def __post_init__(self) -> None:
        self.said = ""  # by the CLI, on both streams, in its last run
        self.cli = Cli(self.agent, Path(os.environ["HOME"]), self.model)
        if self.agent == "claude":
            # it ends without its last hooks when one of them is still at work in the background;
            # no real model is that fast
            self.model.before_end = lambda: wait_for(lambda: not self.hooks_at_work())
        # Codex CLI runs commands in a login shell
        (self.cli.home / ".profile").write_text(
            f"export PATH={shlex.quote(self.cli.environment()['PATH'])}\n"
        )
        self.hub = self.root / "hub.git"
        git(self.root, "init", "-q", "--bare", str(self.hub))
        self.first = self.root / "first"
        git(self.root, "clone", "-q", str(self.hub), str(self.first))
        (self.first / "app").mkdir()
        (self.first / "app" / "pay.py").write_text(CODE)
        git(self.first, "add", "app")
        git(self.first, "commit", "-qm", "pay")
        git(self.first, "push", "-q", "origin", "HEAD")
        run(self.first, "remote", "enable", "origin")

    def install(self, path: Path) -> Path:
        """Install the hooks in a clone, as a person would; return the clone."""
        run(path, "install", self.agent)
        return path

    def clone(self, name: str = "second") -> Path:
        """Return a new clone, with the memory that was synced and hooks of its own."""
        path = self.root / name
        git(self.root, "clone", "-q", str(self.hub), str(path))
        run(path, "sync")
        return self.install(path)

    def work(self, path: Path, prompt: str, *steps: Step) -> list[str]:
        """Let the agent take these steps in a folder; return what its model was sent, a text for each request."""
        self.model.steps = [*steps, {"text": "The work is done."}]
        self.model.requests.clear()
        self.said = self.cli.run(path, prompt, *self.trusting(path))
        return [request.text for request in self.model.asked]

    def kill(self, path: Path, prompt: str, *steps: Step) -> None:
        """Let the agent take these steps, and kill it and its children while the last one, a command, is at work."""
        mark = self.root / "at-work"
        self.model.steps = [
            *steps,
            self.shell(f"echo $$ >{mark}.new && mv {mark}.new {mark} && exec sleep 60"),
        ]
        # Gemini CLI as it is by default: two processes
        twice = {"GEMINI_CLI_NO_RELAUNCH": ""}
        host = self.cli.start(path, prompt, *self.trusting(path), env=twice)
        try:
            wait_for(mark.exists, DEADLINE)
        finally:
            os.killpg(host.pid, signal.SIGKILL)
            host.wait()
        # some start commands in a session of their own
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(mark.read_text()), signal.SIGKILL)

    def hooks_at_work(self) -> list[int]:
        """Return the processes of hooks that this CLI has started and not yet seen the end of."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                if f"hook {self.agent}".encode() in words and self._is_mine(process):
                    found.append(int(process.name))
        return found

    def _is_mine(self, process: Path) -> bool:
        return f"HOME={self.cli.home}".encode() in (process / "environ").read_bytes().split(b"\0")

    def trusting(self, path: Path) -> list[str]:
        """Return the words that make the CLI heed a project's settings."""
        return self.cli.kind.trusting(path)

    # -- the agent's tools

    def shell(self, command: str) -> Step:
        """Return a step that runs a command."""
        return self.cli.kind.shell(command)

    def read(self, path: Path) -> Step:
        """Return a step that reads a file."""
        return self.cli.kind.read(path)

    def edit(self, path: Path, old: str, new: str) -> Step:
        """Return a step that replaces one line of a file by others."""
        return self.cli.kind.edit(path, old, new)


def sessions(path: Path) -> list[dict[str, Any]]:
    """Return the sessions that the hooks told of, the latest first."""
    return list(data_of(run(path, "session", "list", "--json")))


def history(path: Path, session: str) -> list[dict[str, Any]]:
    """Return the rows of a session's history."""
    (file,) = (path / ".git/gitmem/sessions").glob(f"history_*_{session}.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def session_records(path: Path) -> list[dict[str, Any]]:
    """Return the records of sessions."""
    return [
        row
        for row in data_of(run(path, "list", "--kind", "session", "--json"))
        if row.get("session")
    ]


def show(path: Path, id: str) -> dict[str, Any]:
    """Return a record whole."""
    return dict(data_of(run(path, "show", id, "--json"))[0])
