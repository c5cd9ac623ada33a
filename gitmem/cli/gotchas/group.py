"""`git mem gotcha`: the family of commands about traps."""

import click

from gitmem.cli.group import Parts

TABLE = {
    "add": ("gotchas.change", "add_command", "Record a trap and what helps"),
    "list": ("gotchas.find", "list_command", "List gotchas, critical ones first"),
    "resolve": ("gotchas.change", "resolve_command", "Say that it is dealt with"),
    "reopen": ("gotchas.change", "reopen_command", "Say that it is not dealt with after all"),
    "snooze": ("gotchas.snooze", "snooze_command", "Hide it from yourself for a while"),
    "verify": (
        "gotchas.change",
        "verify_command",
        "Say that it is still so, or see which may not be",
    ),
    "for": ("gotchas.places", "for_command", "Show what to know about files or lines"),
}


@click.group("gotcha", cls=Parts, table=TABLE, short_help="Record, find and resolve traps")
def gotcha_command() -> None:
    """A gotcha says what goes wrong, where in the code, and what helps.

    Errors that repeat become gotchas automatically. `git mem inbox` shows those that nobody has
    confirmed.

    \b
    Examples:
      git mem gotcha add "pytest hangs without -p no:cacheprovider" --anchor conftest.py:12
      git mem gotcha for app/pay.py:40
      git mem gotcha resolve 7k2m9qxa -m "fixed in the new client"
    """
