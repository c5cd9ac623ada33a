"""`git mem help` and `git mem version`, and the overview that `git mem` alone prints."""

from typing import Any

import click

from gitmem import __version__
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain

# purpose -> (how the command is called, what that does)
EVERYDAY: dict[str, tuple[tuple[str, str], ...]] = {
    "Start": (
        ("git mem init", "make the store of this repository"),
        ("git mem install claude", "install the hooks of an agent's CLI"),
        ("git mem status", "see where you are, and what needs a look"),
    ),
    "Write": (
        ('git mem add "Use SERIALIZABLE for payments"', "remember a fact"),
        ('git mem gotcha add "Decimal becomes float"', "remember a gotcha"),
        ("git mem edit 7k2m9qxa --tag payments", "change it"),
        ("git mem forget 7k2m9qxa", "delete it"),
        ("git mem undo", "take back your last command"),
    ),
    "Read": (
        ("git mem search isolation level", "find records by their words"),
        ("git mem list --kind gotcha", "list them"),
        ("git mem show 7k2m9qxa", "show one whole"),
        ("git mem why app/pay.py:40", "see why lines are as they are"),
        ("git mem scout 'retry failed payments'", "find what matters for a task"),
    ),
    "Care and share": (
        ("git mem inbox", "confirm or reject what was captured"),
        ("git mem session resume", "go on where a session stopped"),
        ("git mem sync", "exchange memory with a remote"),
    ),
}
LAST = "All commands and options: git mem help -a. One command: git mem help COMMAND"


def version_line() -> str:
    """Return what `git mem --version` prints."""
    return f"git-mem version {__version__}"


def write_everyday(
    group: click.Group, context: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the commands of every day, each with an example."""
    group.format_usage(context, formatter)
    group.format_help_text(context, formatter)
    for purpose, rows in EVERYDAY.items():
        with formatter.section(purpose):
            formatter.write_dl(rows, col_max=60)
    formatter.write(f"\n{LAST}\n")  # a line that is too long is broken before a command


def _write_all(group: click.Group, context: click.Context) -> str:
    """Return all commands by section, and the options that stand before a command."""
    formatter = context.make_formatter()
    group.format_usage(context, formatter)
    group.format_help_text(context, formatter)
    group.format_options(context, formatter)
    return formatter.getvalue().rstrip("\n")


def context_of(root: click.Context, words: tuple[str, ...]) -> click.Context:
    """Return the context of the command that words name. Raises UsageError when none is named."""
    context, left = root, list(words)
    while left:
        if not isinstance(context.command, click.Group):
            raise click.UsageError(
                f"'{context.command_path}' has no command '{plain(left[0])}'.", context
            )
        name, command, left = context.command.resolve_command(context, left)
        if command is None:
            break
        context = click.Context(command, info_name=name, parent=context, **command.context_settings)
    return context


@click.command(
    "help",
    short_help="Show all commands, or how to use one",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", nargs=-1, metavar="[COMMAND [SUBCOMMAND]]", type=click.UNPROCESSED)
@click.option("--all", "-a", "everything", is_flag=True, help="All commands, and all options.")
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...], *, everything: bool) -> None:
    """Show the everyday commands, or how to use one command, as its -h does.

    \b
    Examples:
      git mem help -a
      git mem help search
      git mem help forget --purge
      git mem help session resume
    """
    root = context.find_root()
    if everything and isinstance(root.command, click.Group):
        click.echo(_write_all(root.command, root))
    else:
        click.echo(context_of(root, words).get_help())


@click.command("version", short_help="Print the version")
@options.json_option
@click.pass_obj
def version_command(term: Terminal, as_json: bool) -> None:
    """Print the version of git mem.

    \b
    Example:
      git mem version --json
    """
    data: dict[str, Any] = {"version": __version__}
    if as_json:
        term.json(data)
    else:
        term.say(version_line())
