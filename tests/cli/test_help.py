"""Every command explains itself: --help with examples, the overview, what was probably meant."""

import re
import shlex

import click
import pytest

from gitmem.cli.main import COMMANDS, HIDDEN, cli
from tests.cli.conftest import Mem, spawn
from tests.conftest import git

SUBCOMMANDS = ("remote enable", "remote disable", "remote show")


@pytest.mark.parametrize("name", [*COMMANDS, *SUBCOMMANDS])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_has_examples(outside: Mem, name: str, flag: str) -> None:
    """Help ends well, outside of a repository too, and shows how the command is used."""
    out = outside(*name.split(), flag).out

    assert out.startswith(f"Usage: git mem {name} ")
    assert re.search(r"^ +Examples?\b.*:$", out, re.MULTILINE)
    assert name == "hook" or re.search(
        rf"^ +.*\bgit mem {name.split()[0]}\b", out.partition("Example")[2], re.MULTILINE
    )


@pytest.mark.parametrize("name", [*COMMANDS, *SUBCOMMANDS])
def test_every_option_is_explained(name: str) -> None:
    """Each option of each command says what it does."""
    command: click.Command | None = cli
    context = click.Context(cli, **cli.context_settings)
    for part in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(context, part)
    assert command is not None

    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


@pytest.mark.parametrize("name", [*COMMANDS, *SUBCOMMANDS])
def test_examples_are_real(outside: Mem, name: str) -> None:
    """Each example's options exist: a click parser takes the line."""
    text = outside(*name.split(), "--help").out.partition("Example")[2].partition("\nOptions:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("git mem ")]
    for line in lines:
        for piece in line.split(" && "):
            words = shlex.split(re.split(r" [|>]| {4,}", piece)[0])[2:]
            group: click.Command = cli
            above = cli.make_context("git mem", [], resilient_parsing=True)
            while (
                isinstance(group, click.Group)
                and words
                and (command := group.get_command(above, words[0]))
            ):
                group, words = command, words[1:]
            assert group.make_context(group.name, words, above, resilient_parsing=True), piece
            known = {option for p in group.params for option in (*p.opts, *p.secondary_opts)}
            assert {w.partition("=")[0] for w in words if re.match(r"--?[a-zA-Z]", w)} <= known, (
                piece
            )


def test_overview(outside: Mem) -> None:
    """Without arguments, and with -h, all commands are listed by section."""
    out = outside().out

    assert outside("--help").out == outside("-h").out == out
    for name, (_, what, section) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", out, re.MULTILINE)
        assert f"\n{section}:\n" in out
    assert not [name for name in HIDDEN if re.search(rf"^  {name}\b", out, re.MULTILINE)]


def test_an_unknown_command_is_answered_with_what_was_meant(outside: Mem) -> None:
    """A slip of the finger is wrong usage, with the likely command."""
    assert "Did you mean: git mem search" in outside("serach", code=2).err
    assert "git mem -h" in outside("qqqq", code=2).err


def test_version() -> None:
    """The version is the package's."""
    from importlib.metadata import version
    from pathlib import Path

    out = spawn(Path.cwd(), "--version").out
    assert re.fullmatch(r"git-mem version \d+\.\d+\.\d+\S*\n", out)
    assert out.split()[-1] == version("git-mem")


def test_git_finds_the_command(mem: Mem) -> None:
    """`git mem` is the same as `git-mem`; a failure's exit code comes through."""
    spawn(mem.folder, "add", "through git", through_git=True)
    spawn(mem.folder, "show", "zzzzzzzz", code=1, through_git=True)
    spawn(mem.folder, "frobnicate", code=2, through_git=True)

    assert mem.titles() == ["through git"]
    git(mem.folder, "config", "alias.m", "mem")
    assert spawn(mem.folder, "list", "--format", "{title}", through_git=True).out == "through git\n"


def test_no_command_is_suggested_when_none_is_near(mem: Mem) -> None:
    """`git mem git` is a slip of the fingers: nothing that the letters resemble is meant."""
    assert "'git' is not a command. See 'git mem -h'." in mem("git", code=2).err
    assert "Did you mean: git mem search" in mem("serach", code=2).err


def test_one_of_a_kind_is_in_the_singular(mem: Mem) -> None:
    mem("session", "start")
    assert mem("trends").out.splitlines()[0].endswith(" 1 session")
