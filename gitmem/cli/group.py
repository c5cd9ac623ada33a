"""Commands that have commands of their own: each one's module is loaded when it is called."""

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.commands import MOVED
from gitmem.cli.json_output import command_name
from gitmem.cli.terminal import plain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def named(rows: Mapping[str, str], incomplete: str) -> "list[CompletionItem[str]]":
    """Return the proposals of {name: one line about it} that begin as a word does."""
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=about)
        for name, about in rows.items()
        if name.startswith(incomplete)
    ]


# commands that take something away: proposed only for a slip of the keyboard
TAKING = frozenset(
    {"archive", "drop", "forget", "off", "prune", "purge", "reject", "uninstall", "wipe"}
)
NEAR, SLIP = 0.6, 0.8  # how alike a name has to be, as difflib counts it


def near_names(typed: str, names: Iterable[str], most: int) -> list[str]:
    """Return the names that somebody who typed something else probably meant."""
    import difflib

    near = difflib.get_close_matches(typed, list(names), n=most, cutoff=NEAR)
    return [
        name
        for name in near
        if name not in TAKING or difflib.SequenceMatcher(None, typed, name).ratio() >= SLIP
    ]


class Parts(click.Group):
    """A command group that is defined by a table.

    The table maps a name to (module below gitmem.cli, attribute, one line).
    """

    def __init__(
        self, *args: Any, table: Mapping[str, tuple[str, str, str]], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        if cmd_name not in self.table:
            return None
        module, attribute, _ = self.table[cmd_name]
        command: click.Command = getattr(importlib.import_module(f"gitmem.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one, say which was probably meant."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            old = f"{command_name(ctx)} {args[0]}"
            if old in MOVED:
                raise click.UsageError(f"git mem: '{old}' is now 'git mem {MOVED[old]}'.", ctx)
            near = near_names(args[0], self.table, 2)
            hint = (
                f" Did you mean {' or '.join(near)}?"
                if near
                else f" It has: {', '.join(self.table)}."
            )
            raise click.UsageError(
                f"{ctx.command_path}: '{plain(args[0])}' is none of its commands.{hint}", ctx
            )
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Return the commands that begin so, or the options, without importing a command."""
        rows = {name: row[2] for name, row in self.table.items()}
        return [*named(rows, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row[2]) for name, row in self.table.items()])
