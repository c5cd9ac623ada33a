"""How long a command reads code that is new, and what it says of the rest."""

import time
from collections.abc import Callable, Sequence

import click

from gitmem.cli.terminal import Terminal
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime

SECONDS = 3.2  # of the five that an answer may take

read_all_option = click.option(
    "--all", "read_all", is_flag=True, help="Read all the code that is new, however long it takes."
)


def reading_time(read_all: bool, first: Callable[[], Sequence[str]] | None = None) -> ReadingTime:
    """Return until when code is read; `first` gives the paths that come before others."""
    if read_all:
        return WHOLE
    reading = ReadingTime(time.monotonic() + SECONDS)
    return reading._replace(first=first) if first else reading


def note_unread(term: Terminal, unread: int, total: int) -> None:
    """Say that an answer is of a part of the code, if it is, and how to have the whole."""
    if unread:
        term.note(
            f"this is of {total - unread:,} of {total:,} files of code; there was no time for the "
            f"others. The same command goes on from here; with --all it reads them all."
        )
