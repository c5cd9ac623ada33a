"""What the tests of the house share: the tree, the command on the path, the commands and their options."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gitmem.cli.commands import COMMANDS, VARIANTS
from gitmem.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent  # not resolved: a virtual environment's python is a link


@pytest.fixture(autouse=True)
def _on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `git mem` find the git-mem of this environment."""
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")


def commands() -> dict[str, click.Command]:
    """Return all commands by name; `remote enable` and its like too, groups as well."""
    assert isinstance(cli, click.Group)
    assert cli.list_commands(click.Context(cli, **cli.context_settings)) == list(COMMANDS)
    context = click.Context(cli, **cli.context_settings)
    variants = {name: cli.get_command(context, name) for name in VARIANTS}
    return dict(_below(cli, "")) | {name: one for name, one in variants.items() if one is not None}


def _below(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, **cli.context_settings)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _below(command, f"{before}{name} ")


def groups() -> dict[str, list[str]]:
    """Return the commands that have commands, with the names of those."""
    return {
        name: command.list_commands(click.Context(command, **cli.context_settings))
        for name, command in commands().items()
        if isinstance(command, click.Group)
    }


def takes_value(command: click.Command) -> set[str]:
    """Return the options of a command, long and short, after which a value stands."""
    return {
        o for p in command.params if isinstance(p, click.Option) and not p.is_flag for o in p.opts
    }


def options(command: click.Command) -> set[str]:
    """Return the long options of a command, with --help."""
    found = {
        o
        for p in command.params
        if isinstance(p, click.Option)
        for o in (*p.opts, *p.secondary_opts)
        if o.startswith("--")
    }
    return found | {"--help"}


def git_mem(*args: str, cwd: Path | None = None) -> str:
    """Run git-mem; return its output."""
    done = subprocess.run(
        [str(BIN / "git-mem"), *args], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"git-mem {args}: {done.stderr}"
    return done.stdout


def run(*args: str | Path, cwd: Path, **env: str) -> str:
    """Run a program that succeeds; return its output."""
    done = subprocess.run(
        [str(a) for a in args],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (made,) = out.glob("*.whl")
    return made
