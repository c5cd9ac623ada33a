"""Questions on a terminal that a single key answers."""

from collections.abc import Callable

import click

QUIT = frozenset({"q", "\x03", "\x04", "\x1b"})


def ask_key(question: str, act: Callable[[str], bool]) -> bool:
    """Ask until a key is acted on, or `s` skips; return False where the user ends.

    `act` gets a key in lower case, and says whether it settled the question.
    """
    while True:
        click.echo(question, nl=False)
        try:
            key = click.getchar().lower()
        except EOFError:  # Ctrl-D
            key = "q"
        click.echo(key if key.isprintable() else "")
        if key in QUIT:
            return False
        if key == "s" or act(key):
            return True
