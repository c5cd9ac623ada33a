"""What `git mem install` says for an editor: the lines of its set-up, and where they belong."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.cli.terminal import Terminal, plain
from gitmem.install.editors import EDITORS, EditorSetup, editor_setup


def is_for_editors(whats: Sequence[str]) -> bool:
    """Return whether only editors are named. Raises UsageError where something else is, too."""
    named = [what for what in whats if what in EDITORS]
    if named and len(named) < len(whats):
        raise click.UsageError(f"Name editors by themselves: git mem install {' '.join(named)}")
    return bool(named)


def explain(term: Terminal, whats: Sequence[str], *, as_json: bool) -> None:
    """Print the set-up of editors: the lines to stdout, where they belong to stderr."""
    setups = [editor_setup(what, term.environ) for what in dict.fromkeys(whats)]
    if as_json:
        term.json([_json(setup) for setup in setups])
        return
    for setup in setups:
        term.note(_introduction(setup))
        term.show(setup.text.rstrip("\n"))


def _introduction(setup: EditorSetup) -> str:
    title = EDITORS[setup.editor]
    if not setup.path:
        return f"To set up {title}, run:"
    needs = f" It needs {setup.needs}." if setup.needs else ""
    return f"To set up {title}, put these lines into {plain(setup.path)}.{needs}"


def _json(setup: EditorSetup) -> dict[str, Any]:
    return {
        "target": setup.editor,
        "settings_file": setup.path or None,
        "set_up_text": setup.text,
        "needs": setup.needs or None,
    }
