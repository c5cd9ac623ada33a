"""Hooks of agents, turned off and on: for a session, a repository, a machine."""

import re
from typing import Any

import click

from gitmem.cli.sessions.find import find_session
from gitmem.cli.terminal import Terminal, plain
from gitmem.clock import stamp
from gitmem.errors import GitmemError, NotARepository
from gitmem.repo import hook_switch
from gitmem.repo.location import Home
from gitmem.text.plural import counted

SHOWN = 5  # sessions that are named
LONGEST = 10 * 365 * 86400.0  # seconds that hooks may be off for
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS = {"": 60, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def _scopes(term: Terminal, session: str | None, machine: bool) -> tuple[str, Home, str]:
    """Return (scope, our folder, session) of what is to be turned."""
    if session is not None and machine:
        raise click.UsageError("--session and --machine exclude each other.")
    if machine:
        return "machine", Home("/"), ""
    try:
        with term.open() as app:
            if session is None:
                return "repository", app.home, ""
            return "session", app.home, find_session(app, session or None).id
    except NotARepository as error:
        raise NotARepository(
            str(error), "Change to a repository, or turn hooks off everywhere: --machine"
        ) from error


def _seconds(text: str) -> float:
    match = _TIME.fullmatch(text.strip().lower())
    if not match or float(match[1]) <= 0:
        raise click.UsageError(f"'{plain(text)}' is not a length of time. Write 30m, 2h or 1d.")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds > LONGEST:
        raise click.UsageError(
            f"'{plain(text)}' is longer than ten years. Without --for, hooks stay off for good."
        )
    return seconds


def _session_option(command: Any) -> Any:
    return click.option(
        "--session",
        is_flag=False,
        flag_value="",
        default=None,
        metavar="[ID]",
        help="For one session: the one that this runs in, else the latest, or one by its id.",
    )(command)


@click.command("off", short_help="Turn hooks of agents off")
@_session_option
@click.option("--machine", is_flag=True, help="For all repositories of this machine.")
@click.option("--for", "long", metavar="TIME", help="For so long: 30m, 2h, 1d.")
@click.pass_obj
def off_command(term: Terminal, session: str | None, machine: bool, long: str | None) -> None:
    """Turn hooks off: they capture nothing, and agents receive nothing.

    Commands and editors work as before. This is for the repository, unless an option says
    otherwise. GITMEM=0 in the environment turns hooks off for one program.

    \b
    Examples:
      git mem hook off
      git mem hook off --session --for 1h
    """
    until = term.clock.now() + _seconds(long) if long else None
    scope, home, id = _scopes(term, session, machine)
    hook_switch.turn_off(scope, home, term.environ, term.clock.now(), until, id)
    lasts = f" until {stamp(until)}" if until else ""
    term.say(
        f"hooks are off for {_named(scope, id)}{lasts}. On again: git mem hook on{_flag(scope, id)}"
    )


@click.command("on", short_help="Turn hooks of agents on again")
@_session_option
@click.option("--machine", is_flag=True, help="For all repositories of this machine.")
@click.pass_obj
def on_command(term: Terminal, session: str | None, machine: bool) -> None:
    """Turn hooks on again.

    It names what stays off: sessions that were turned off one by one, the machine, GITMEM=0.

    \b
    Example:
      git mem hook on
    """
    scope, home, id = _scopes(term, session, machine)
    was_off = hook_switch.turn_on(scope, home, term.environ, id)
    term.say(f"hooks are on for {_named(scope, id)}{'' if was_off else '; they were not off'}.")
    still = hook_switch.sessions_off(home, term.clock.now()) if scope == "repository" else []
    wider = (
        hook_switch.is_off(home, term.environ, term.clock.now(), id) if scope != "machine" else ""
    )
    if wider:
        term.note(f"they are still off for {_named(wider, id)}: git mem hook on{_flag(wider, id)}")
    for silenced in still[:SHOWN]:
        term.note(
            f"they are still off for {_named('session', silenced)}: git mem "
            f"hook on{_flag('session', silenced)}"
        )
    if len(still) > SHOWN:
        term.note(f"and for {counted(len(still) - SHOWN, 'more session')}: git mem status")
    if scope == "machine":
        try:
            with term.open() as app:
                here = hook_switch.is_off(app.home, term.environ, term.clock.now())
        except GitmemError:
            here = ""
        if here:
            term.note(f"they are still off for {_named(here, '')}: git mem hook on")
    if hook_switch.by_variable(term.environ):
        term.note("GITMEM is set to 0 here: hooks that get this environment stay off.")


def _named(scope: str, id: str) -> str:
    return {"machine": "this machine", "repository": "this repository"}.get(
        scope, f"session {plain(id[:36])}"
    )


def _flag(scope: str, id: str) -> str:
    return {"machine": " --machine", "session": f" --session {plain(id)}"}.get(scope, "")
