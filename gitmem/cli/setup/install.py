"""Commands that put hooks into the settings of agents' CLIs and into git, and take them out."""

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import click

from gitmem import githooks as running
from gitmem.agents import adapter
from gitmem.agents.events import ADAPTERS
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.setup import install_editor, install_mcp
from gitmem.cli.setup.install_steps import carry_out, chosen, here, world_of
from gitmem.cli.terminal import Terminal, plain
from gitmem.install import git_hooks
from gitmem.install.editors import EDITORS
from gitmem.install.file_changes import DONE, SettingsChange
from gitmem.install.mcp_clients import CLIENTS
from gitmem.install.plan import InstallContext
from gitmem.install.status import Row, survey
from gitmem.llm.provider import MODEL_BUDGET

F = TypeVar("F", bound=Callable[..., Any])
GIT = "the hooks of git"
HOOKS = "hooks"  # the part of a change or a place that is no MCP entry
READERS = ("claude", "gemini", "codex")  # agents whose CLI can read sessions
COLORS = {
    "current": "green",
    "outdated": "yellow",
    "broken": "red",
    "unreadable": "red",
    "custom": "blue",
}


def scopes(command: F) -> F:
    """Add the options that say for whom hooks are installed."""
    return options.scope_flags(
        ("local", "For you, in this repository: in a file that git ignores (default)."),
        ("user", "For you, in all repositories."),
        ("project", "For everybody who uses this repository: a file that git tracks."),
        default=None,
        what="places",
    )(command)


def arguments(command: F) -> F:
    """Add what `install` and `uninstall` have in common."""
    command = options.json_option(command)
    command = click.option(
        "--mcp",
        "as_mcp",
        is_flag=True,
        help="The entry for our MCP server in a client's settings, not hooks. Default: --user.",
    )(command)
    command = click.option(
        "--dry-run", is_flag=True, help="Print the change as a diff, and write nothing."
    )(command)
    return click.argument(
        "whats",
        metavar="[AGENT|EDITOR|CLIENT|git-hooks|all]...",
        nargs=-1,
        type=click.Choice(
            tuple(dict.fromkeys((*ADAPTERS, git_hooks.WHAT, *EDITORS, *CLIENTS, "all")))
        ),
    )(scopes(command))


@click.command("install", short_help="Put hooks, or an MCP server, into an agent's settings")
@arguments
@click.option(
    "--list", "listed", is_flag=True, help="List what is installed where, and whether it works."
)
@click.pass_obj
def install_command(
    term: Terminal,
    whats: tuple[str, ...],
    scope: str | None,
    dry_run: bool,
    as_mcp: bool,
    as_json: bool,
    listed: bool,
) -> None:
    """Install hooks into an agent's settings, or into git.

    For an editor (nvim, vim, emacs, vscode) print the lines that have it start the language server.
    With --mcp, have a client (cursor, vscode, claude-desktop, zed, windsurf) start git mem mcp.

    Everything else in the file stays as it is. 'all' is each agent that is found here, and git's
    hooks.

    The default is --local: for you, in this repository. If an agent has no such file, its project
    file is used and hidden from git in this clone. A file that git tracks is written with --project
    only. Run it again to update the hooks.

    In --list, `current` works and is what this version writes; `outdated` works, and is brought up
    to date by installing again; `broken` names a program that is not there; `custom` calls git mem
    by a command of your own, which is left alone; `unreadable` is a file that is broken.

    \b
    Examples:
      git mem install claude
      git mem install gemini codex --user
      git mem install all --project --dry-run
      git mem install vim >~/.vim/after/plugin/gitmem.vim
      git mem install vscode zed --mcp
      git mem install --list
    """
    world = world_of(term)
    if listed:
        _list(term, world, as_json)
        return
    if not as_mcp and install_editor.is_for_editors(whats):
        install_editor.explain(term, whats, as_json=as_json)
        return
    make = install_mcp.install if as_mcp else _install_hooks
    done = make(world, whats, scope, dry_run=dry_run)
    if as_json:
        term.json([row(change, dry_run) for change in done])
        return
    report(term, world, done, dry_run=dry_run)
    if as_mcp:
        return
    _remark_doubles(term, world, {change.what for change in done})
    if not dry_run:
        _offer_reader(term, world, [name for name in READERS if name in whats])


def _install_hooks(
    world: InstallContext, whats: Sequence[str], scope: str | None, *, dry_run: bool
) -> list[SettingsChange]:
    """Install the hooks that are named; raises UsageError where none is."""
    if not whats:
        raise click.UsageError(
            f"Say for what: {', '.join(ADAPTERS)}, {git_hooks.WHAT}, or all. Found here: "
            f"{', '.join(here(world)) or 'none'}."
        )
    install_mcp.require_hooks(whats)
    names = chosen(whats, world, scope or "local")
    return carry_out(world, names, scope or "local", dry_run=dry_run)


def _offer_reader(term: Terminal, world: InstallContext, names: Sequence[str]) -> None:
    """Say how an agent's own CLI can read sessions, and what that costs; on a terminal, ask."""
    if not names or world.where is None:
        return
    with term.open() as app:
        if app.settings.get("summariser") != "offline":
            return
        name, cost = names[0], f"{MODEL_BUDGET:,}"
        term.note(
            f"Sessions are read offline. This finds only some of the facts, and most of those are "
            f"correct. {ADAPTERS[name]} can read sessions instead and finds more.\n"
            f"It then receives the text of each session that ends, with secrets masked: at most "
            f"{cost} tokens a session, on your account there."
        )
        command = f"git mem config --global summariser {name}"
        is_asked = app.writer().is_person and sys.stdin.isatty() and sys.stdout.isatty()
        if not is_asked:
            term.note(f"To turn this on: {command}")
        elif click.confirm(
            f"Have {ADAPTERS[name]} read sessions, in all repositories?", default=False, err=True
        ):
            app.git.run("config", "--global", "gitmem.summariser", name)
            term.say(
                f"summariser is now '{name}'; try it with: git mem model check. Not in this "
                f"repository: git mem config summariser offline"
            )
        else:
            term.note(f"To turn it on later: {command}")


def _remark_doubles(term: Terminal, world: InstallContext, names: Collection[str]) -> None:
    """Say where an agent has our hooks twice: it runs them all, and one of them counts."""
    rows = [
        entry
        for entry in survey(world)
        if entry.what in names and entry.state != "unreadable" and entry.part == HOOKS
    ]
    for name in sorted(names):
        places = [entry for entry in rows if entry.what == name and name != git_hooks.WHAT]
        if len(places) > 1:
            other = next((entry for entry in places if entry.scope == "user"), places[-1])
            term.note(
                f"the hooks of {other.title} are in {len(places)} files now; where their commands "
                f"differ, each runs. Keep one: git mem uninstall {name} --{other.scope}"
            )


@click.command("uninstall", short_help="Take hooks out of the settings of an agent's CLI")
@arguments
@click.pass_obj
def uninstall_command(
    term: Terminal,
    whats: tuple[str, ...],
    scope: str | None,
    dry_run: bool,
    as_mcp: bool,
    as_json: bool,
) -> None:
    """Remove our hooks, or with --mcp the entry for our MCP server.

    If nothing else changed, the file gets its old bytes back; else only our part is removed. 'all'
    is everything in one scope, MCP entries too; what is left in another scope is named. Blocks of
    records in agents' memory files stay, and are named too: `git mem native push --remove` takes
    them out.

    \b
    Examples:
      git mem uninstall claude
      git mem uninstall all --user
      git mem uninstall zed --mcp
    """
    world = world_of(term)
    take_out = install_mcp.remove if as_mcp else _remove_hooks
    names, done = take_out(world, whats, scope, dry_run=dry_run)
    if as_json:
        term.json([row(change, dry_run) for change in done])
        return
    report(term, world, done, dry_run=dry_run)
    if dry_run:
        return
    parts = {HOOKS, install_mcp.PART} if "all" in whats else {done[0].part}
    _remark_leftovers(term, world, names, parts)
    if world.where is not None and not as_mcp:
        with term.open() as app:
            remark_blocks(term, app)


def _remove_hooks(
    world: InstallContext, whats: Sequence[str], scope: str | None, *, dry_run: bool
) -> tuple[list[str], list[SettingsChange]]:
    """Remove hooks; with `all`, what else of ours is in a scope. Return the names and changes."""
    if not whats:
        raise click.UsageError(f"Say for what: {', '.join(ADAPTERS)}, {git_hooks.WHAT}, or all.")
    install_mcp.require_hooks(whats)
    place = scope or "local"
    if "all" not in whats:
        names = list(dict.fromkeys(whats))
        return names, carry_out(world, names, place, remove=True, dry_run=dry_run)
    names = [*ADAPTERS, git_hooks.WHAT]
    done = carry_out(world, names, place, remove=True, lenient=True, dry_run=dry_run)
    clients, servers = install_mcp.remove(world, ["all"], place, dry_run=dry_run)
    return [*names, *clients], [*done, *servers]


def _remark_leftovers(
    term: Terminal, world: InstallContext, names: Collection[str], parts: Collection[str]
) -> None:
    """Name the places of other scopes in which something of ours still is."""
    for left in survey(world):
        if left.what in names and left.part in parts and left.state != "custom":
            term.note(
                f"still installed in {world.shown(left.path)}: git mem uninstall {left.arguments}"
            )


def remark_blocks(term: Terminal, app: App) -> None:
    """Say in which memory files of agents records stay, and how they go."""
    from gitmem.worker.memory_files import with_blocks

    if names := with_blocks(app):
        them = f"{', '.join(plain(name) for name in names)} {'has' if len(names) == 1 else 'have'}"
        term.note(
            f"{them} a block of records, which stays; to take it out: git mem native push --remove"
        )


@click.command("git-hook", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def git_hook_command(words: tuple[str, ...]) -> int:
    """Answer a hook of git: start what nobody waits for."""
    return running.main(words)


def report(
    term: Terminal, world: InstallContext, done: Sequence[SettingsChange], *, dry_run: bool = False
) -> None:
    """Report what was done, or what would be done.

    The changes are printed as data, and their effect as a remark.
    """
    for change in done if dry_run else ():
        click.echo(plain(change.diff()), nl=False)
    for line in _lines(world, done, dry_run):
        (term.note if dry_run else term.say)(line)


def row(change: SettingsChange, dry_run: bool = False) -> dict[str, Any]:
    """Return a change as `--json` gives it."""
    return {
        "target": change.what,
        "part": change.part,
        "scope": change.scope,
        "settings_file": change.path,
        "action": change.action,
        "notes": _notes(change),
        "diff": change.diff() if dry_run else None,
    }


def _notes(change: SettingsChange) -> list[str]:
    note = (
        adapter.find(change.what).settings.note
        if change.what in ADAPTERS
        and change.part == HOOKS
        and change.action in {"installed", "updated"}
        else ""
    )
    return [*change.notes, *([note] if note else [])]


def _lines(world: InstallContext, done: Sequence[SettingsChange], dry_run: bool) -> list[str]:
    """Return what was done, a line for each agent, and one for git's hooks."""
    would = "would be " if dry_run else ""
    words = {
        "installed": f"{would}installed",
        "updated": f"{would}brought up to date",
        "removed": f"{would}removed",
        "unchanged": "already installed, nothing changed",
        "absent": "not installed, nothing changed",
    }
    lines = []
    for change in done:
        if change.part == install_mcp.PART:
            lines += install_mcp.lines(world, change, words[change.action])
        elif change.what in ADAPTERS:
            lines += _agent_lines(world, change, words[change.action])
    hooks = [change for change in done if change.what == git_hooks.WHAT]
    return lines + _git_lines(world, hooks, words)


def _agent_lines(world: InstallContext, change: SettingsChange, words: str) -> list[str]:
    place = plain(world.shown(change.path))
    return [
        f"the hooks of {ADAPTERS[change.what]}: {words} ({place})",
        *(f"  {plain(note)}" for note in _notes(change)),
    ]


def _git_lines(
    world: InstallContext, hooks: Sequence[SettingsChange], words: Mapping[str, str]
) -> list[str]:
    lines = []
    for action in dict.fromkeys(change.action for change in hooks):
        names = ", ".join(
            os.path.basename(change.path) for change in hooks if change.action == action
        )
        lines.append(
            f"{GIT}: {words[action]} in {plain(world.shown(os.path.dirname(hooks[0].path)))}: "
            f"{names}"
        )
    if any(
        DONE[change.action] and "husky" in change.path and os.sep + "_" + os.sep in change.path
        for change in hooks
    ):
        lines.append(
            "  husky writes this folder anew when it is installed: run this again then, or say "
            "--project to write to .husky itself."
        )
    return lines


def _list(term: Terminal, world: InstallContext, as_json: bool) -> None:
    rows = survey(world)
    if as_json:
        installed = [
            {
                "target": place.what,
                "part": place.part,
                "scope": place.scope,
                "settings_file": place.path,
                "state": place.state,
                "reason": place.why or None,
                "program": place.program or None,
                "version": place.version or None,
            }
            for place in rows
        ]
        term.json({"installations": installed, "detected_agents": here(world)})
        return
    for place in rows:
        version = f", version {place.version}" if place.version else ""
        why = f": {plain(place.why)}" if place.why else ""
        state = term.style(f"{place.state:<10}", fg=COLORS[place.state])
        term.say(
            f"{_title(place):<20} {place.scope:<8} {state} "
            f"{plain(world.shown(place.path))}{version}{why}"
        )
    if not rows:
        term.say("nothing is installed.")
    there = _with_hooks(rows)
    rest = [name for name in here(world) if name not in there]
    if rest:
        term.note(
            f"found here, without hooks: {', '.join(rest)}. Install them with: git mem install "
            f"{rest[0]}"
        )


def _with_hooks(rows: Sequence[Row]) -> set[str]:
    return {place.what for place in rows if place.part == HOOKS}


def _title(place: Row) -> str:
    return f"{place.title} (MCP)" if place.part == install_mcp.PART else place.title


def wanted(term: Terminal, names: str | None) -> list[str] | None:
    """Return the agents that `init --agents` names, None when it was not given.

    Raises UsageError for one that is not known.
    """
    if names is None:
        return None
    targets = _named(names)
    unknown = next((name for name in targets if name not in {*ADAPTERS, "all", "none"}), None)
    if unknown:
        raise click.UsageError(
            f"there is no agent '{unknown}'; known: {', '.join(ADAPTERS)}, all, none."
        )
    return (
        here(world_of(term)) if "all" in targets else [name for name in targets if name != "none"]
    )


def installed(term: Terminal, names: Sequence[str] | None) -> list[dict[str, Any]]:
    """Install hooks for agents in this repository; return the changes as `--json` gives them."""
    return [row(change) for change in carry_out(world_of(term), names or (), "local")]


def offer(term: Terminal, names: Sequence[str] | None) -> None:
    """Install hooks for the agents that were named; on a terminal, when none were, ask."""
    world = world_of(term)
    report(term, world, carry_out(world, _asked(term, world) if names is None else names, "local"))


def _asked(term: Terminal, world: InstallContext) -> list[str]:
    """Return which of the agents found here without hooks the user wants hooks for."""
    if (
        not (sys.stdin.isatty() and sys.stdout.isatty())
        or world.where is None
        or world.where.worktree is None
    ):
        return []
    there = _with_hooks(survey(world))
    agents = [name for name in here(world) if name not in there]
    if not agents:
        return []
    term.note(f"\nfound here: {', '.join(f'{name} ({ADAPTERS[name]})' for name in agents)}.")
    while True:
        answer = click.prompt(
            "Install hooks for which, for you, in this repository? (names, all, none)",
            default="none",
            err=True,
        )
        said = answer.strip().lower()
        names = (
            agents
            if said in {"all", "y", "yes"}
            else []
            if said in {"none", "n", "no"}
            else _named(answer)
        )
        unknown = [name for name in names if name not in ADAPTERS]
        if not unknown:
            return names
        term.note(
            f"there is no agent '{plain(unknown[0])}'. Known: {', '.join(ADAPTERS)}, all, none."
        )


def _named(text: str) -> list[str]:
    """Return the names in a list such as `claude,gemini`."""
    return list(dict.fromkeys(text.replace(",", " ").split()))
