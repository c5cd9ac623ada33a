"""The command that makes the store, and offers hooks for agents."""

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.setup import install
from gitmem.cli.terminal import Terminal, plain
from gitmem.repo.location import WIPING
from gitmem.repo.refs import SHARED

if TYPE_CHECKING:
    from gitmem.worker.importables import Importable


@click.command("init", short_help="Make the store of this repository")
@click.option(
    "--no-remote", is_flag=True, help="Do not ask the remote whether it has memory already."
)
@click.option(
    "--agents",
    metavar="NAMES",
    help="Install hooks for these agents too, for you, in this repository: 'claude,gemini', 'all' "
    "or 'none'.",
)
@options.json_option
@click.pass_obj
def init_command(term: Terminal, no_remote: bool, agents: str | None, as_json: bool) -> None:
    """Create the store. Can be run again; commands that write do it automatically.

    On a terminal it asks for which agents to install hooks, unless --agents names them. Elsewhere
    only the agents that --agents names get hooks. The remote is asked for three seconds at most.
    Two clones that start apart can be merged later.

    \b
    Examples:
      git mem init
      git mem init --agents claude,gemini
    """
    names = install.wanted(term, agents)
    with term.open() as app:
        store = app.store()
        existed = store.tip() is not None
        # of a wipe that was stopped: the user has chosen otherwise
        with contextlib.suppress(FileNotFoundError):
            os.unlink(app.home.join(WIPING))
        tip = store.create()
        replica = app.replica()
        has = None
        if not no_remote and not existed:
            name = app.main_remote
            has = name if name and app.remote(name).has(timeout=3) else None
        importables = _importables(app, existed)
        if as_json:
            term.json(
                {
                    "ref": SHARED,
                    "commit": tip,
                    "is_new": not existed,
                    "replica": replica,
                    "folder": app.home.path,
                    "remote_with_memory": has,
                    "hook_changes": install.installed(term, names),
                    "importables": [_importable_json(row) for row in importables],
                }
            )
            return
        if existed:
            term.say(f"the store is there already ({SHARED}, {tip[:10]}); nothing was changed.")
        else:
            term.say(f"made the store: the ref {SHARED}, and {app.home.path} for its index.")
            term.say(
                "your files, index, branches, configuration and hooks were not touched; nothing is "
                "pushed anywhere."
            )
        if has:
            term.say(f"{plain(has)} has memory already. Get it with: git mem sync")
        elif not existed:
            term.say(
                "\nNext:\n  git mem add 'what I learned' -m 'why'\n  git mem search WORDS\n  git "
                "mem remote enable origin && git mem sync    to share it"
            )
        _say_importables(term, importables)
        install.offer(term, names)


def _importables(app: App, existed: bool) -> "list[Importable]":
    """Return what can be imported here, for a store that has no facts."""
    from gitmem.worker import importables

    try:
        if existed and importables.has_facts(app):
            return []
        return importables.importables(app)
    except Exception:  # noqa: BLE001 - the store is made: what other tools wrote must not fail that
        return []


def _say_importables(term: Terminal, rows: "Sequence[Importable]") -> None:
    """Say what is here already, and how to import it."""
    if rows:
        term.say("\nFound here:")
    for command in dict.fromkeys(row.command for row in rows):
        for row in rows:
            if row.command == command:
                number = "" if row.number is None else f": {row.number:,}"
                term.say(f"  {row.title}{number}")
        term.say(f"    {command}")


def _importable_json(row: "Importable") -> dict[str, Any]:
    return {
        "title": row.title,
        "count": row.number,
        "command": row.command,
        "agent": row.agent,
    }
