"""What the tests of the house share: the tree, the command on the path, the commands and their options."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gitmem.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent  # not resolved: a virtual environment's python is a link


@pytest.fixture(autouse=True)
def _on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `git mem` find the git-mem of this environment."""
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")


def commands() -> dict[str, click.Command]:
    """Return all commands by name; `remote enable` and its like too, groups as well."""
    context = click.Context(cli)
    out: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None, name
        out[name] = command
        if isinstance(command, click.Group):
            out |= {f"{name} {sub}": command.commands[sub] for sub in command.commands}
    return out


def options(command: click.Command) -> set[str]:
    """Return the long options of a command, with --help."""
    found = {o for p in command.params if isinstance(p, click.Option) for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}
    return found | {"--help"}


def git_mem(*args: str, cwd: Path | None = None) -> str:
    """Run git-mem; return its output."""
    done = subprocess.run([str(BIN / "git-mem"), *args], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git-mem {args}: {done.stderr}"
    return done.stdout
