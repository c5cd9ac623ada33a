"""A repository with gotchas, and the editors of this machine.

An editor that is not installed is skipped, unless GITMEM_REQUIRE_ALL is set: then its tests fail.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.command_line import run_command
from tests.conftest import git
from tests.json_output import data_of

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
DEADLINE = 90.0  # seconds for a whole run of an editor; a slow machine, not a budget
REF = "refs/gitmem/heads/main"

CODE = """\
import decimal


def total(cart):
    cents = sum(item.price for item in cart)  # integers
    return decimal.Decimal(cents) / 100


def refund(order):
    order.lock()
    return order.total * -1
"""
TITLE = "Totals are in cents"
WORKAROUND = "divide by 100 first"
OTHER = "Lock before the refund"


def missing(what: str) -> NoReturn:
    """Skip for want of a program, or fail where all programs have to be there."""
    if os.environ.get("GITMEM_REQUIRE_ALL"):
        pytest.fail(f"{what} is not installed, and GITMEM_REQUIRE_ALL is set.")
    pytest.skip(f"{what} is not installed.")


def program(name: str) -> str:
    """Return the path of a program."""
    return shutil.which(name) or missing(name)


def neovims() -> dict[str, str]:
    """Return the Neovims of this machine: one before 0.11 as `old`, one since as `new`."""
    found: dict[str, str] = {}
    folders = [
        str(ROOT / ".cache" / "neovim" / "bin"),
        *os.environ.get("PATH", "").split(os.pathsep),
        "/usr/bin",
    ]
    for folder in folders:
        path = shutil.which("nvim", path=folder)
        if path is None:
            continue
        told = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False
        ).stdout
        version = re.match(r"NVIM v(\d+)\.(\d+)", told)
        if version:
            found.setdefault(
                "new" if (int(version[1]), int(version[2])) >= (0, 11) else "old", path
            )
    return found


@dataclass
class World:
    """A repository whose gotchas an editor shows, and the environment that the editor gets."""

    root: Path
    out: Path
    env: dict[str, str]

    @property
    def file(self) -> Path:
        return self.root / "pay.py"

    def mem(self, *args: str) -> str:
        """Run `git mem` as a person would."""
        done = run_command(self.root, *args, env=self.env)
        assert done.returncode == 0, f"git mem {args}: {done.stdout}{done.stderr}"
        return done.stdout

    def gotchas(self) -> list[dict[str, Any]]:
        """Return all gotchas of the store."""
        rows: list[dict[str, Any]] = data_of(self.mem("list", "--kind", "gotcha", "--json"))
        return rows

    def messages(self, op: str) -> list[str]:
        """Return the messages of the store's commits that did something."""
        said = git(self.root, "log", "--format=%B%x00", REF).split("\0")
        return [message for message in said if f"Gitmem-Op: {op}" in message]

    def run(
        self, *args: str | Path, input: str = "", **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run an editor in the repository; what it prints is in the failure when it ends badly."""
        command = [str(arg) for arg in args]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env={**self.env, **env},
                input=input,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=DEADLINE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            pytest.fail(
                f"{command[0]} did not end in {DEADLINE:g} s: {error.stdout!r} {error.stderr!r}"
            )
        assert done.returncode == 0, (
            f"{command[0]}: exit {done.returncode}: {done.stdout}{done.stderr}"
        )
        return done

    def told(self) -> dict[str, Any]:
        """Return what a driver wrote down."""
        assert self.out.is_file(), "the driver wrote nothing"
        found: dict[str, Any] = json.loads(self.out.read_text(encoding="utf-8"))
        return found


@pytest.fixture
def world(tmp_path: Path, repo: Path) -> World:
    """A repository with two gotchas about one file."""
    bin = Path(sys.executable).parent
    env = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "GITMEM_OUT": str(tmp_path / "told.json"),
        "NO_COLOR": "1",
    }
    env |= {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    made = World(repo, tmp_path / "told.json", env)
    made.file.write_text(CODE, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "pay")
    made.mem(
        "add",
        "-k",
        "gotcha",
        TITLE,
        "--anchor",
        "pay.py:5",
        "--workaround",
        WORKAROUND,
        "--severity",
        "warning",
    )
    made.mem(
        "add",
        "-k",
        "gotcha",
        OTHER,
        "--anchor",
        "pay.py:10",
        "--severity",
        "critical",
        "-m",
        "Two refunds ran at once.",
    )
    return made


@pytest.fixture
def drive(world: World) -> Callable[..., dict[str, Any]]:
    """Run an editor on the repository and return what its driver wrote down."""

    def run(*args: str | Path, **env: str) -> dict[str, Any]:
        world.run(*args, **env)
        return world.told()

    return run


@pytest.fixture(params=["old", "new"])
def neovim(request: pytest.FixtureRequest) -> str:
    """A Neovim with the oldest API that the plugin works with, and a current one."""
    return neovims().get(request.param) or missing(
        f"Neovim ({request.param}: {'before' if request.param == 'old' else 'since'} 0.11)"
    )


@pytest.fixture
def nvim(neovim: str, drive: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Run a driver in a headless Neovim that has the plugin and nothing else."""

    def run(driver: str, file: str | Path = "pay.py", *options: str, **env: str) -> dict[str, Any]:
        script = HERE / "neovim" / f"{driver}.lua"
        plugin = ("--cmd", f"set runtimepath^={ROOT / 'lsp' / 'nvim'}")
        wanted = {"GITMEM_DRIVER": str(script.with_name("driver.lua")), **env}
        return drive(
            neovim,
            "--clean",
            "--headless",
            *plugin,
            *options,
            file,
            "-c",
            f"luafile {script}",
            **wanted,
        )

    return run
