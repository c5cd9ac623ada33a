"""The user's editor, chosen as git chooses it; none is started where nobody could use it."""

import os
import shlex
import sys

import click

from gitmem.app import App
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError

# these draw on a terminal, and without one wait for ever; any other program may be a script
_ON_TERMINAL = frozenset(
    "vi vim nvim view nano pico emacs emacsclient micro helix hx kak joe jed ne mcedit mg "
    "editor sensible-editor".split()
)
# ask for no terminal
_ALONE = frozenset({"-e", "-es", "-Es", "-s", "--batch", "--headless", "-c", "--create-frame"})


def edit(term: Terminal, app: App, text: str, hint: str) -> str | None:
    """Return what the user's editor makes of a text, None when it was not saved.

    Raises UserError, with the hint, where none can be opened.
    """
    editor = _chosen(term, app)
    if editor == ":":  # git's name for none: the text stays
        return text
    if not _can_open(term, editor):
        name = f"'{editor}' needs one" if editor else "and no editor is set that needs none"
        raise UserError(f"no editor can be opened: there is no terminal here, {name}.", hint)
    try:
        return click.edit(text, editor=editor or None, extension=".md", require_save=False)
    except click.ClickException as error:
        name = plain(editor) or "the editor"
        raise UserError(
            f"the editor '{name}' failed; nothing changed.",
            "Set one that works: git config --global core.editor NAME. " + hint,
        ) from error


def _chosen(term: Terminal, app: App) -> str:
    """Return the editor by git's order; empty when none is named."""
    names = ("EDITOR",) if term.environ.get("TERM", "dumb") == "dumb" else ("VISUAL", "EDITOR")
    named = (term.environ.get(name) for name in names)
    return (
        term.environ.get("GIT_EDITOR")
        or app.settings.git("core.editor")
        or next(filter(None, named), "")
    )


def _can_open(term: Terminal, editor: str) -> bool:
    if (
        sys.stdin.isatty()
        and sys.stdout.isatty()
        and (editor or term.environ.get("TERM", "dumb") != "dumb")
    ):
        return True
    try:
        program, *rest = shlex.split(editor) or [""]
    except ValueError:  # a quote is open: the shell will say so
        return True
    return bool(program) and (
        os.path.basename(program) not in _ON_TERMINAL or not _ALONE.isdisjoint(rest)
    )
