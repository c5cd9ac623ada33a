"""The command group: each command's module is loaded when it is called.

Errors become text in `failures.py`.
"""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitmem.base.deferred import defer

defer()  # before click imports them

import click  # noqa: E402

from gitmem.cli.commands import (  # noqa: E402
    COMMANDS,
    GUESSED,
    HIDDEN,
    MOVED,
    PLUMBING,
    VARIANTS,
    variant_of,
    words_of,
)
from gitmem.cli.help_page import HelpPage  # noqa: E402
from gitmem.errors import UserError  # noqa: E402

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


click.Context.formatter_class = HelpPage  # of all commands, whatever class their context has


class Commands(click.Group):
    """Loads a command's module on look-up, so that one command never pays for another."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command or a variant of one (`forget --purge`), imported now."""
        if cmd_name in VARIANTS:
            return _loaded(*VARIANTS[cmd_name][:2])
        module = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else HIDDEN.get(cmd_name)
        if module is None:
            return None
        command = _loaded(module, cmd_name.replace("-", "_") + "_command")
        added = {param.name for param in command.params}
        for option in _variant_options(cmd_name):
            if option.name not in added:
                command.params.append(option)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one, say which was probably meant."""
        name, *rest = args
        word = variant_of(name, rest)
        if word:
            rest.remove(word)
            return super().resolve_command(ctx, [f"{name} {word}", *rest])
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            raise click.UsageError(f"git mem: {_meant(name)}", ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Return the commands that begin so, or the options, without importing a command.

        Plumbing is proposed when its name was begun.
        """
        from gitmem.cli.group import named

        rows = {
            name: about
            for name, (_, about, section) in COMMANDS.items()
            if incomplete or section != PLUMBING
        }
        return [*named(rows, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday commands, without importing one."""
        from gitmem.cli.help import write_everyday

        write_everyday(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview by section, without importing a command."""
        for section in dict.fromkeys(row[2] for row in COMMANDS.values()):
            rows = [(name, row[1]) for name, row in COMMANDS.items() if row[2] == section]
            with formatter.section(section):
                formatter.write_dl(rows)


def _loaded(module: str, attribute: str) -> click.Command:
    # an edge above this one is reached by its name alone: nothing here imports it
    is_whole = module.startswith("gitmem.")
    loaded = importlib.import_module(module if is_whole else f"gitmem.cli.{module}")
    command: click.Command = getattr(loaded, attribute)
    return command


def _variant_options(command: str) -> list[click.Option]:
    """Return the options that help and completion list; a command of its own answers each."""
    return [
        click.Option(
            [word],
            is_flag=True,
            expose_value=False,
            help=f"{about} See: git mem {command} {word} -h",
        )
        for word, about in words_of(command).items()
        if word.startswith("-")
    ]


def _meant(typed: str) -> str:
    """Return what to say about a name that no command has."""
    from gitmem.cli.group import near_names

    if typed in MOVED:
        return f"'{typed}' is now 'git mem {MOVED[typed]}'."
    guessed = GUESSED.get(typed.lower())
    names = [*COMMANDS, *(name for name in MOVED if " " not in name)]
    near = [guessed] if guessed else near_names(typed, names, 3)
    shown = dict.fromkeys(MOVED.get(name, name) for name in near)
    hint = f"Did you mean: git mem {' or git mem '.join(shown)}" if near else "See 'git mem -h'."
    return f"'{typed}' is not a command. {hint}"


@click.command(
    cls=Commands,
    name="git mem",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "-C",
    "folders",
    metavar="DIR",
    multiple=True,
    help="Run as if started in DIR. May be repeated; each is meant from the one before it.",
)
@click.option("--no-pager", is_flag=True, help="Write long output straight to the terminal.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to colour the output.",
)
@click.option("--version", "version", is_flag=True, help="Print the version.")
@click.pass_context
def cli(
    ctx: click.Context, folders: tuple[str, ...], no_pager: bool, color: str, version: bool
) -> None:
    """A memory for coding agents and people, kept in a ref of your git repository."""
    from gitmem.cli.terminal import Terminal

    # before the command's own arguments are read: their paths are meant from there
    for folder in folders:
        try:
            os.chdir(folder)
        except OSError as error:
            raise UserError(
                f"cannot change to '{folder}': {os.strerror(error.errno or 0)}.",
                "Check the path given with -C.",
            ) from error
    environ = dict(os.environ)
    if "GITMEM_SESSION" not in environ:  # what an agent or a person writes belongs to the session
        if any(key.endswith(("_SESSION_ID", "_THREAD_ID", "_CLI")) for key in environ):
            from gitmem.cli.sessions.group import current

            environ["GITMEM_SESSION"] = current(environ)
        else:
            from gitmem.services.sessions.current import here

            if mine := here(environ):
                environ["GITMEM_SESSION"] = mine
    ctx.obj = Terminal(folder=".", environ=environ, color=color, pager=not no_pager)
    if version:
        from gitmem.cli.help import version_line

        click.echo(version_line())
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(args: Sequence[str]) -> int:
    """Run a command line.

    Return the exit code: 0, 1 for what went wrong, 2 for wrong usage, 130 interrupted.
    """
    # `<&-` and `>&-`: else a file of ours would get its number
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    # Python would take any bytes in some locales, and lose them when they are stored
    if isinstance(sys.stdin, io.TextIOWrapper):
        # whoever runs this in a process of theirs has read from it
        with contextlib.suppress(io.UnsupportedOperation):
            sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    before = _here()
    try:
        for option, word in zip(["", *args], args, strict=False):
            if option not in {"-C", "-F", "--file"}:  # a file's name may be any bytes, text may not
                word.encode()
        result: Any = cli.main(args=list(args), prog_name="git mem", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (BrokenPipeError, SystemExit):
        # the reader of a pipe went away (`| head`), which click answers by leaving: no fault, and
        # no second message at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a stranger must not see a traceback
        from gitmem.cli import failures

        return failures.report(error, args)
    finally:
        if before is not None and before != _here():  # -C holds for one command line
            os.chdir(before)


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return None
