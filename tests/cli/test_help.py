"""Every command explains itself: --help with examples, the overview, what was probably meant."""

import re
import shlex

import click
import pytest

from gitmem.cli.commands import COMMANDS, GUESSED, HIDDEN, MOVED, PLUMBING, VARIANTS
from gitmem.cli.help import EVERYDAY
from gitmem.cli.main import cli
from tests.cli.conftest import Mem, spawn
from tests.conftest import git

SUBCOMMANDS = ("remote enable", "remote disable", "remote show", "hook off", "code dna", *VARIANTS)
MOST = 40  # commands that people are shown


def resolved(words: list[str]) -> click.Context:
    """Return the context of the command that words name."""
    context = click.Context(cli, info_name="git mem", **cli.context_settings)
    while words:
        assert isinstance(context.command, click.Group)
        name, command, words = context.command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    return context


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
    command = resolved(name.split()).command

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
            while isinstance(group, click.Group) and words and words[0][:1] != "-":
                _, command, words = group.resolve_command(above, words)
                assert command is not None
                group = command
            assert group.make_context(group.name, words, above, resilient_parsing=True), piece
            known = {option for p in group.params for option in (*p.opts, *p.secondary_opts)}
            assert {w.partition("=")[0] for w in words if re.match(r"--?[a-zA-Z]", w)} <= known, (
                piece
            )


def test_the_everyday_commands_are_shown_first(outside: Mem) -> None:
    """`git mem`, -h and help alike; each example is a command line that is right; the end leads on."""
    out = outside().out

    assert outside("--help").out == outside("-h").out == outside("help").out == out
    lines = [line for rows in EVERYDAY.values() for line, _ in rows]
    assert 12 <= len(lines) <= 18
    for line in lines:
        assert re.search(rf"^  {re.escape(line)} ", out, re.MULTILINE)
        words = shlex.split(line)[2:]
        context = click.Context(cli, **cli.context_settings)
        name, command, rest = cli.resolve_command(context, words)
        assert command is not None
        command.make_context(name, rest, context).close()
    last = out.splitlines()[-1]
    assert "git mem help -a" in last and "git mem help COMMAND" in last
    assert max(map(len, out.splitlines())) < 80


@pytest.mark.parametrize("flag", ["-a", "--all"])
def test_all_commands_are_listed_by_section(outside: Mem, flag: str) -> None:
    """With the options that stand before a command; hidden ones are left out."""
    out = outside("help", flag).out

    for name, (_, what, section) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", out, re.MULTILINE)
        assert f"\n{section}:\n" in out
    assert "--no-pager" in out
    assert not [name for name in HIDDEN if re.search(rf"^  {name}\b", out, re.MULTILINE)]


def test_the_surface_is_small() -> None:
    """More commands than that nobody finds the right one in."""
    sections = [row[2] for row in COMMANDS.values()]

    assert len([section for section in sections if section != PLUMBING]) <= MOST
    assert list(dict.fromkeys(sections)) == [
        *("Start", "Write", "Care", "Read", "Code", "History", "Share", "Agents"),
        PLUMBING,
    ]


@pytest.mark.parametrize(
    "name",
    [
        "search",
        "session resume",
        "code dna refresh",
        "forget --purge",
        "page summary",
        "hook claude",
    ],
)
def test_help_is_that_of_the_command(outside: Mem, name: str) -> None:
    """`git mem help COMMAND` and `git mem COMMAND -h` are one page."""
    out = outside("help", *name.split()).out

    assert out == outside(*name.split(), "-h").out
    assert out.startswith(f"Usage: git mem {name} ")


def test_the_help_of_pages_offers_what_each_takes(mem: Mem) -> None:
    """The summary is a command of its own: `page` claims no option for it, and says where it is."""
    out = mem("page", "-h").out
    usage = out.partition("\n\n")[0]
    assert "summary" not in usage
    for name in re.findall(r"[a-z]+(?=\||$)", usage):
        mem("page", name, "--private", "--out", f"{name}.out", "--force")
    assert "git mem page summary" in " ".join(out.split())
    assert "printed only" in mem("page", "summary", "-h").out
    for options in (["--json"], ["--out", "x"]):
        assert "git mem page summary [OPTIONS]" in mem("page", *options, "summary", code=2).err
    mem("page", "summary", "--json")


def test_help_of_no_command_is_wrong_usage(outside: Mem) -> None:
    """It says which command was meant, or that there is none below."""
    assert "is now 'git mem search --sessions'" in outside("help", "recall", code=2).err
    assert "is now 'git mem scout'" in outside("help", "gotcha", "context", code=2).err
    assert "Did you mean: git mem search" in outside("help", "serach", code=2).err
    assert "'git mem add' has no command 'x'" in outside("help", "add", "x", code=2).err


@pytest.mark.parametrize("old", MOVED)
def test_a_former_name_is_answered_with_the_new_one(outside: Mem, old: str) -> None:
    """As an unknown command is; and there is a command of the new name."""
    err = outside(*old.split(), "x", code=2).err

    assert err.endswith(f"git mem: '{old}' is now 'git mem {MOVED[old]}'.\n")
    words = MOVED[old].removesuffix(" --kind gotcha").split()
    assert resolved(words).command_path == f"git mem {' '.join(words)}"


@pytest.mark.parametrize("meant", sorted(set(GUESSED.values())))
def test_what_is_guessed_is_a_command(meant: str) -> None:
    """Of today's names."""
    assert resolved(meant.split()).command_path == f"git mem {meant}"


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_a_command_of_its_own(outside: Mem, name: str) -> None:
    """With its own usage line, options and errors; its command lists it."""
    command, word = name.split()
    about = outside(command, word, "-h").out

    assert about.startswith(f"Usage: git mem {name} ")
    assert re.search(rf"^ +.*\bgit mem {name}\b", about.partition("Example")[2], re.MULTILINE)
    assert word in outside(command, "-h").out
    err = outside(command, word, "--no-such-option", code=2).err
    assert err.startswith(f"Usage: git mem {name} ")
    assert f"Try 'git mem {name} --help' for help." in err
    if word.startswith("-"):
        assert outside(command, "-h", word).out == about


def test_a_variant_is_chosen_by_an_option_alone(mem: Mem) -> None:
    """It may stand anywhere, but behind `--` it is a word."""
    one, two = mem.add("first"), mem.add("second --redo")
    mem("link", one, two)
    mem("link", one, two, "--remove")

    assert mem("show", one, "--graph", "--json").json["edges"] == []
    assert [hit["id"] for hit in mem("search", "--json", "--", "--redo").json] == [two]
    mem("undo", "--json", "--redo", code=1)


def test_an_unknown_command_is_answered_with_what_was_meant(outside: Mem) -> None:
    """A slip of the finger is wrong usage, with the likely command."""
    assert "Did you mean: git mem search" in outside("serach", code=2).err
    assert "git mem -h" in outside("qqqq", code=2).err


def test_version(outside: Mem) -> None:
    """The version is the package's, by the option and by the command."""
    from importlib.metadata import version
    from pathlib import Path

    out = spawn(Path.cwd(), "--version").out
    assert re.fullmatch(r"git-mem version \d+\.\d+\.\d+\S*\n", out)
    assert out.split()[-1] == version("git-mem")
    assert outside("version").out == out
    assert outside("version", "--json").json == {"version": version("git-mem")}


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
    assert mem("timeline", "--trends").out.splitlines()[0].endswith(" 1 session")
