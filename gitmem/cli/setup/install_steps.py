"""Plan and make the changes of `git mem install` and `uninstall`."""

from collections.abc import Callable, Sequence
from functools import partial

from gitmem.agents import adapter
from gitmem.agents.events import ADAPTERS
from gitmem.cli.terminal import Terminal
from gitmem.errors import GitmemError, NotARepository, UserError
from gitmem.git.process import check_owner
from gitmem.install import file_changes, git_hooks, plan
from gitmem.install.file_changes import SettingsChange
from gitmem.install.plan import InstallContext
from gitmem.repo.location import locate

# for which scope's ledger, and what makes the change
Step = tuple[str, Callable[[], SettingsChange]]


def world_of(term: Terminal) -> InstallContext:
    """Return where things are; outside of a repository too."""
    try:
        where = locate(term.folder, term.environ)
    except NotARepository:
        return InstallContext(None, term.environ)
    check_owner(where, term.folder, term.environ)
    return InstallContext(where, term.environ)


def here(world: InstallContext) -> list[str]:
    """Return the agents that are found on this machine."""
    return [name for name in ADAPTERS if plan.is_agent_installed(adapter.find(name), world)]


def chosen(whats: Sequence[str], world: InstallContext, scope: str) -> list[str]:
    """Return what is named.

    `all` stands for the agents that are found here, and git's hooks where a scope has them.
    """
    if "all" not in whats:
        return list(dict.fromkeys(whats))
    hooks = []
    try:
        if git_hooks.target(world, scope):
            hooks.append(git_hooks.WHAT)
    except GitmemError:
        pass  # none here, or theirs are in a folder for others
    targets = list(
        dict.fromkeys([*here(world), *hooks, *(what for what in whats if what != "all")])
    )
    if not targets:
        raise UserError(
            "no agent's CLI is found on this machine.",
            f"Name it: git mem install {next(iter(ADAPTERS))} --user",
        )
    return targets


def carry_out(
    world: InstallContext,
    names: Sequence[str],
    scope: str,
    *,
    remove: bool = False,
    lenient: bool = False,
    dry_run: bool = False,
    steps_of: Callable[[InstallContext, str, str, bool], list[Step]] | None = None,
) -> list[SettingsChange]:
    """Plan all changes, so that one that cannot be made stops the others; then make them.

    `steps_of` makes the changes of one name, those of hooks if it is not given.
    """
    steps: list[Step] = []
    for name in names:
        try:
            steps += _checked((steps_of or _steps)(world, name, scope, remove), dry_run=dry_run)
        except UserError:
            if not lenient:  # `uninstall all`: what a scope does not have need not go
                raise
    if dry_run:
        return [step() for _, step in steps]
    return [
        file_changes.apply(world.ledger(where), step, world.disk(where)) for where, step in steps
    ]


def _checked(steps: Sequence[Step], *, dry_run: bool) -> list[Step]:
    """Return steps once each was planned; of a dry run, those that give what was planned."""
    planned = [(where, step()) for where, step in steps]
    if not dry_run:
        return list(steps)
    return [(where, partial(_same, change)) for where, change in planned]


def _same(change: SettingsChange) -> SettingsChange:
    return change


def _steps(world: InstallContext, name: str, scope: str, remove: bool) -> list[Step]:
    if name != git_hooks.WHAT:
        goal = plan.target(name, scope, world)
        return [(scope, partial(plan.remove if remove else plan.install, goal, world))]
    path = git_hooks.target(world, scope)
    if remove:
        return [
            (scope, partial(git_hooks.remove, world, scope, path, hook)) for hook in git_hooks.NAMES
        ]
    return [
        (scope, partial(git_hooks.install, world, scope, path, hook))
        for hook in git_hooks.wanted(world, path)
    ]
