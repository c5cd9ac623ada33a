"""The real CLIs of agents, as `make agents` installs them: found, or skipped; run in a scratch home against a fake model.

A CLI that is not installed is skipped, unless GITMEM_REQUIRE_ALL is set: then its tests fail.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

from tests.agents.cli_kinds import KINDS
from tests.agents.fake_model import FakeModel

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".cache" / "agents" / "node_modules" / ".bin"
DEADLINE = 600.0  # seconds for a whole run; a slow machine, not a budget


def missing(what: str) -> NoReturn:
    """Skip for want of a CLI, or fail where all have to be there."""
    if os.environ.get("GITMEM_REQUIRE_ALL"):
        pytest.fail(
            f"{what} is not installed ('make agents' does it), and GITMEM_REQUIRE_ALL is set."
        )
    pytest.skip(f"{what} is not installed: make agents.")


def program(agent: str) -> str:
    """Return the path of an agent's CLI."""
    path = BIN / agent
    return str(path) if path.exists() else missing(agent)


@dataclass
class Cli:
    """One agent's CLI in a home of its own, which has no settings but those that make it use the fake model.

    `env` is added to its environment. git-mem is on its PATH, as the environment of these tests has it.
    """

    agent: str
    home: Path
    model: FakeModel
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = program(self.agent)
        self.kind = KINDS[self.agent]
        for name, text in self.kind.settings(self.model.url).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.home.mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """Return all that the CLI sees of this machine."""
        path = os.pathsep.join(
            [str(Path(sys.executable).parent), str(BIN), *os.environ["PATH"].split(os.pathsep)]
        )
        git = {
            key: os.environ[key]
            for key in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES")
            if key in os.environ
        }
        return {
            "PATH": path,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "COPILOT_CACHE_HOME": str(BIN.parents[1] / "copilot-cache"),  # it unpacks itself there
            **git,
            **self.kind.environment(self.model.url),
            **self.env,
        }

    def command(self, prompt: str, *args: str) -> list[str]:
        """Return the words of a run without a person."""
        return [self.program, *self.kind.words(prompt, args)]

    def run(self, folder: Path, prompt: str, *args: str) -> str:
        """Have the agent work on a prompt; return what it printed."""
        return self.call(folder, *self.command(prompt, *args)[1:])

    def call(self, folder: Path, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        """Call the CLI in a folder; return what it printed, on both streams."""
        try:
            done = subprocess.run(
                [self.program, *args],
                cwd=folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=DEADLINE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            pytest.fail(f"{self.agent} {args} did not end in {DEADLINE:g} s: {error.stdout!r}")
        assert done.returncode in ok, f"{self.agent} {args}: exit {done.returncode}: {done.stdout}"
        return done.stdout

    def start(
        self, folder: Path, prompt: str, *args: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start the agent in a session of its own, to be killed by the caller, who waits for it too."""
        return subprocess.Popen(
            self.command(prompt, *args),
            cwd=folder,
            env={**self.environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
