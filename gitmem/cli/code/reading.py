"""The option that has all code read, and what is said where it was not."""

import click

from gitmem.cli.terminal import Terminal

read_all_option = click.option(
    "--all", "read_all", is_flag=True, help="Read all the code that is new, however long it takes."
)


def note_unread(term: Terminal, unread: int, total: int) -> None:
    """Say that an answer is of a part of the code, if it is, and how to have the whole."""
    if unread:
        term.note(
            f"this is of {total - unread:,} of {total:,} files of code; there was no time for the "
            f"others. The same command goes on from here; with --all it reads them all."
        )
