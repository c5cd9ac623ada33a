"""The command that makes the store, and offers hooks for agents."""

import contextlib
import os

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.setup import install
from gitmem.cli.terminal import Terminal, plain
from gitmem.repo.location import WIPING
from gitmem.repo.refs import SHARED


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
            _name_other_tools(term, app)
        install.offer(term, names)


def _name_other_tools(term: Terminal, app: App) -> None:
    """Say which other tools remember something of this project, and how to import it."""
    from gitmem.services.interchange.formats import BY_NAME, detected
    from gitmem.services.interchange.readers.rule_files import NAME as RULES
    from gitmem.worker.interchange import surroundings

    titles = [BY_NAME[source.format].title for source in detected(surroundings(app))]
    some = [title for title in titles if title != BY_NAME[RULES].title]
    if some:
        term.say(f"  git mem import    to read what is here already: {', '.join(some)}")
