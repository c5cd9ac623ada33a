"""What `--mcp` does in `git mem install` and `uninstall`: entries for our server."""

from collections.abc import Sequence
from functools import partial

import click

from gitmem.agents.events import ADAPTERS
from gitmem.cli.setup.install_steps import Step, carry_out
from gitmem.cli.terminal import plain
from gitmem.errors import UserError
from gitmem.install import git_hooks, mcp_entry
from gitmem.install.editors import EDITORS
from gitmem.install.file_changes import SettingsChange
from gitmem.install.mcp_clients import CLIENTS, is_here
from gitmem.install.plan import InstallContext

ALL = "all"
PART = mcp_entry.PART
DEFAULT_SCOPE = "user"
NO_CLIENT = "Say for which client: {names}. Found here: {here}."


def clients_here(world: InstallContext) -> list[str]:
    """Return the clients that are found on this machine."""
    return [name for name, client in CLIENTS.items() if is_here(client, world.home, world.env)]


def _chosen(whats: Sequence[str], world: InstallContext, *, remove: bool) -> list[str]:
    """Return the clients that are named; `all` is each one, or to install each that is here.

    Raises UsageError where none is named, or one that reads no such settings.
    """
    here = clients_here(world)
    if not whats:
        clients = ", ".join((*CLIENTS, ALL))
        raise click.UsageError(NO_CLIENT.format(names=clients, here=", ".join(here) or "none"))
    other = next((what for what in whats if what not in {*CLIENTS, ALL}), None)
    if other:
        has = "which is an editor" if other in EDITORS else "which has hooks"
        raise click.UsageError(f"--mcp is for {', '.join(CLIENTS)}; not for {other}, {has}.")
    if ALL not in whats:
        return list(dict.fromkeys(whats))
    names = list(CLIENTS) if remove else here
    if not names:
        raise UserError(
            "no client is found on this machine.",
            f"Name it: git mem install {next(iter(CLIENTS))} --mcp",
        )
    return names


def install(
    world: InstallContext, whats: Sequence[str], scope: str | None, *, dry_run: bool
) -> list[SettingsChange]:
    """Have the clients that are named start our server; raises External where it cannot run."""
    names = _chosen(whats, world, remove=False)
    mcp_entry.require_server()
    return carry_out(world, names, scope or DEFAULT_SCOPE, dry_run=dry_run, steps_of=_steps)


def remove(
    world: InstallContext, whats: Sequence[str], scope: str | None, *, dry_run: bool
) -> tuple[list[str], list[SettingsChange]]:
    """Take our server out of the settings of the clients that are named.

    Return their names and the changes; of `all`, without those that had nothing of ours.
    """
    names, has_all = _chosen(whats, world, remove=True), ALL in whats
    done = carry_out(
        world,
        names,
        scope or DEFAULT_SCOPE,
        remove=True,
        lenient=has_all,
        dry_run=dry_run,
        steps_of=_steps,
    )
    return names, [change for change in done if not (has_all and change.action == "absent")]


def require_hooks(whats: Sequence[str]) -> None:
    """Raise UsageError for a client that has no hooks, only MCP."""
    has_hooks = {*ADAPTERS, git_hooks.WHAT, ALL}
    other = next((what for what in whats if what not in has_hooks), None)
    if other:
        title = CLIENTS[other].title if other in CLIENTS else EDITORS[other]
        hint = f"; for its MCP settings: {other} --mcp" if other in CLIENTS else "."
        raise click.UsageError(f"{title} has no hooks{hint}")


def _steps(world: InstallContext, name: str, scope: str, remove: bool) -> list[Step]:
    """Return what makes the changes for a client."""
    goal = mcp_entry.target(name, scope, world)
    return [(scope, partial(mcp_entry.remove if remove else mcp_entry.install, goal, world))]


def lines(world: InstallContext, change: SettingsChange, words: str) -> list[str]:
    """Return what was done to a client's settings."""
    place = plain(world.shown(change.path))
    title = CLIENTS[change.what].title
    return [
        f"the MCP settings of {title}: {words} ({place})",
        *(f"  {plain(note)}" for note in change.notes),
    ]
