"""The option that has all code read, and what is said where it was not."""

from collections.abc import Mapping

import click

from gitmem.cli.terminal import Terminal
from gitmem.codemap.grammars import TITLES, install_command

read_all_option = click.option(
    "--all", "read_all", is_flag=True, help="Read all the code that is new, however long it takes."
)


def note_unread(term: Terminal, unread: int, total: int) -> None:
    """Say that an answer is of a part of the code, if it is, and how to have the whole."""
    if unread:
        term.note(
            f"this covers {total - unread:,} of {total:,} files of code, because time ran "
            f"out. Run the same command again to read more, or use --all to read every file."
        )


def note_without_grammar(term: Terminal, unreadable: Mapping[str, str]) -> None:
    """Say which languages are not read, if files have them, and how to have them read.

    `unreadable` has the language of each file whose grammar is not installed.
    """
    if unreadable:
        languages = set(unreadable.values())
        term.note(
            f"{', '.join(sorted(TITLES[language] for language in languages))} is not read: the "
            f"grammar is not installed. Install it: {install_command(languages)}"
        )
