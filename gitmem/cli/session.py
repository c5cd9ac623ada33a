"""Commands about sessions of agents: list them, and see what their hooks cost; turn hooks off and on."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import click

from gitmem import processes, switch
from gitmem.agents import adapter, events
from gitmem.app import App
from gitmem.cli import options as opt
from gitmem.cli.group import Parts
from gitmem.cli.render import Terminal, age, plain
from gitmem.clock import stamp
from gitmem.errors import GitmemError, NotARepository, UserError
from gitmem.files import Home, is_shared, locate
from gitmem.index import sessions
from gitmem.index.sessions import Cost, Session
from gitmem.index.state import State

TABLE = {
    "list": ("session", "list_command", "List sessions, the latest first"),
    "cost": ("session", "cost_command", "Show what the hooks of a session cost"),
}
LIVES = {True: "interrupted", False: "running", None: "running"}
LONGEST = 10 * 365 * 86400.0  # seconds that hooks may be off for
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS = {"": 60, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@click.group("session", cls=Parts, table=TABLE, short_help="Sessions of agents, and what they cost")
def session_command() -> None:
    """Sessions of agents, as their hooks tell of them.

    \b
    Examples:
      git mem session list
      git mem session cost            of the latest one
    """


def current(environ: Mapping[str, str]) -> str:
    """Return the id of the session that a command runs in, as the environment or the process tells; empty when they tell nothing."""
    if environ.get("GITMEM_SESSION"):
        return environ["GITMEM_SESSION"]
    if not any(key.endswith(("_SESSION_ID", "_THREAD_ID", "_CLI")) for key in environ):
        return ""
    known = [adapter.find(agent) for agent in events.ADAPTERS]
    for variable in (variable for one in known for variable in one.session):
        if environ.get(variable):
            return events.name(environ[variable])
    return _of_process(environ) if any(environ.get(one.mark) for one in known if one.mark) else ""


def _of_process(environ: Mapping[str, str]) -> str:
    """Return the id of the running session whose hooks were started by the process that started this one; empty when there is none."""
    try:
        where = locate(".", environ)
        home = Home(where.home, shared=is_shared(where.commondir))
        if not os.path.exists(home.join("state.db")):
            return ""
        with contextlib.closing(State(home)) as state:
            mine = processes.agent()
            return next((one.id for one in sessions.some(state, ended=False) if mine and one.process == mine), "")
    except (GitmemError, OSError, sqlite3.Error):  # who it was is not worth a command that fails
        return ""


@click.command("list", short_help=TABLE["list"][2])
@click.option("--agent", metavar="NAME", help="Of one agent: claude, gemini, ...")
@click.option("--limit", "-n", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@opt.json_option
@click.pass_obj
def list_command(term: Terminal, agent: str | None, limit: int, as_json: bool) -> None:
    """List sessions, the latest first: when, which agent, how it stands.

    \b
    Example:
      git mem session list --agent claude
    """
    with term.open() as app:
        every = sessions.some(app.state)
        found = [one for one in every if agent in {None, one.agent}][:limit]
        if as_json:
            term.json([_facts(app, one) for one in found])
            return
        if every and not found:
            term.say(f"no sessions of {plain(str(agent))}; there are some of {', '.join(sorted({one.agent for one in every}))}.")
        elif not found:
            term.say("no sessions yet. They are told by hooks of agents: git mem install --list")
        for one in found:
            row = _facts(app, one)
            style = {"running": {"fg": "green"}, "interrupted": {"fg": "yellow"}}.get(row["state"], {})
            state = term.style(f"{row['state']:<11}", **style)
            term.say(
                f"{plain(one.id[:36]):<36}  {plain(one.agent):<8}  {state}  {age(row['last'], term.clock.now())}{'  (hooks are off)' if row['off'] else ''}"
            )


def _facts(app: App, one: Session) -> dict[str, Any]:
    gone = processes.is_gone(one.process) if one.process else None
    state = "ended" if one.ended is not None else LIVES[gone]
    if one.ended is not None and one.why == sessions.GONE:
        state = "interrupted"
    return {
        "id": one.id, "agent": one.agent, "state": state, "started": stamp(one.started), "last": stamp(one.last),
        "ended": stamp(one.ended) if one.ended is not None else None, "why": one.why, "worktree": one.root, "transcript": one.transcript,
        "history": app.home.join("sessions", os.path.basename(one.history)), "off": switch.reads(switch.path_of("session", app.home, app.env, one.id), app.clock.now()) is not None,
    }  # fmt: skip


def _one(app: App, text: str | None) -> Session:
    """Return a session by its id or the beginning of it; the one that the command runs in, else the latest, without."""
    known = sessions.some(app.state)
    if text is None:
        here = current(app.env)
        mine = [one for one in known if one.id == here] or known
        if not mine:
            raise UserError("there are no sessions yet.", "They are told by hooks of agents: git mem install --list")
        return mine[0]
    found = [one for one in known if one.id == text] or [one for one in known if one.id.startswith(text)]
    if len(found) == 1:
        return found[0]
    raise UserError(
        f"{len(found)} sessions begin with '{plain(text)}'." if found else f"there is no session '{plain(text)}'.",
        "See them with: git mem session list",
    )


@click.command("cost", short_help=TABLE["cost"][2])
@click.argument("session", required=False)
@click.option("--all", "every", is_flag=True, help="Of all sessions together.")
@opt.json_option
@click.pass_obj
def cost_command(term: Terminal, session: str | None, every: bool, as_json: bool) -> None:
    """Show what the hooks of a session cost: calls, answers, tokens told to the model beside their budget, time.

    Without an id: the session that this runs in, else the latest. Time is that of our own work in a hook, without the start of its process.

    \b
    Examples:
      git mem session cost
      git mem session cost 3f2a81c0 --json
    """
    if every and session:
        raise click.UsageError("--all takes no session.")
    with term.open() as app:
        chosen = sessions.some(app.state) if every else [_one(app, session)]
        rows = _sums(sessions.costs(app.state, [one.id for one in chosen]), app)
        total = {key: sum(row[key] for row in rows) for key in ("calls", "answers", "tokens", "seconds")}
        if as_json:
            term.json({"sessions": [one.id for one in chosen], "events": rows, "total": total})
            return
        if not rows:
            term.say("no hook has run in it." if chosen else "no sessions yet.")
            return
        if not every:
            term.say(f"session {plain(chosen[0].id)}, {plain(chosen[0].agent)}, begun {age(stamp(chosen[0].started), term.clock.now())}\n")
        term.say(f"{'event':<15}{'calls':>7}{'answers':>9}{'tokens':>9}{'budget each':>13}{'time':>10}{'slowest':>10}")
        for row in rows:
            budget = f"{row['budget']:,}" if row["budget"] else "-"
            term.say(
                f"{row['event']:<15}{row['calls']:>7,}{row['answers']:>9,}{row['tokens']:>9,}{budget:>13}{row['seconds'] * 1000:>7,.0f} ms{row['slowest'] * 1000:>7,.0f} ms"
            )
        term.say(
            f"{'together':<15}{total['calls']:>7,}{total['answers']:>9,}{total['tokens']:>9,}{'':>13}{total['seconds'] * 1000:>7,.0f} ms"
        )


def _sums(costs: Sequence[Cost], app: App) -> list[dict[str, Any]]:
    budgets = {events.SESSION_START: "startBudget", events.PROMPT: "promptBudget", events.BEFORE_TOOL: "fileBudget", events.AFTER_TOOL: "fileBudget", events.TOOL_FAILED: "fileBudget"}  # fmt: skip
    order = [*budgets, events.BEFORE_COMPACT, events.AFTER_COMPACT, events.TURN_END, events.SESSION_END]
    out: dict[str, dict[str, Any]] = {}
    for one in costs:
        budget = app.settings.get(budgets[one.event]) if one.event in budgets else 0
        row = out.setdefault(
            one.event, {"event": one.event, "calls": 0, "answers": 0, "tokens": 0, "budget": budget, "seconds": 0.0, "slowest": 0.0}
        )
        row["calls"] += one.calls
        row["answers"] += one.answers
        row["tokens"] += one.tokens
        row["seconds"] = round(row["seconds"] + one.spent, 6)
        row["slowest"] = round(max(row["slowest"], one.most), 6)
    return sorted(out.values(), key=lambda row: order.index(row["event"]) if row["event"] in order else len(order))


# -- off and on


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
            return "session", app.home, _one(app, session or None).id
    except NotARepository as error:
        raise NotARepository(str(error), "Change to a repository, or turn hooks off everywhere: --machine") from error


def _seconds(text: str) -> float:
    found = _TIME.fullmatch(text.strip().lower())
    if not found or float(found[1]) <= 0:
        raise click.UsageError(f"'{plain(text)}' is no length of time. Write 30m, 2h or 1d.")
    seconds = float(found[1]) * _UNITS[found[2]]
    if seconds > LONGEST:
        raise click.UsageError(f"'{plain(text)}' is longer than ten years. Without --for, hooks stay off for good.")
    return seconds


def _session_option(command: Any) -> Any:
    return click.option(
        "--session",
        is_flag=False,
        flag_value="",
        default=None,
        metavar="[ID]",
        help="For one session: the one that this runs in, or one by its id.",
    )(command)


@click.command("off", short_help="Turn hooks of agents off")
@_session_option
@click.option("--machine", is_flag=True, help="For all repositories of this machine.")
@click.option("--for", "long", metavar="TIME", help="For so long: 30m, 2h, 1d.")
@click.pass_obj
def off_command(term: Terminal, session: str | None, machine: bool, long: str | None) -> None:
    """Turn hooks off: nothing is captured, nothing is told. Commands and editors work as before.

    For this repository, unless you say otherwise. GITMEM=0 in the environment does it for one program.

    \b
    Examples:
      git mem off
      git mem off --session --for 1h
    """
    until = term.clock.now() + _seconds(long) if long else None
    scope, home, id = _scopes(term, session, machine)
    switch.turn_off(scope, home, term.environ, term.clock.now(), until, id)
    lasts = f" until {stamp(until)}" if until else ""
    term.say(f"hooks are off for {_named(scope, id)}{lasts}. On again: git mem on{_flag(scope, id)}")


@click.command("on", short_help="Turn hooks of agents on again")
@_session_option
@click.option("--machine", is_flag=True, help="For all repositories of this machine.")
@click.pass_obj
def on_command(term: Terminal, session: str | None, machine: bool) -> None:
    """Turn hooks on again.

    \b
    Example:
      git mem on
    """
    scope, home, id = _scopes(term, session, machine)
    was_off = switch.turn_on(scope, home, term.environ, id)
    term.say(f"hooks are on for {_named(scope, id)}{'' if was_off else '; they were not off'}.")
    wider = switch.is_off(home, term.environ, term.clock.now(), id) if scope != "machine" else ""
    if wider:
        term.note(f"they are still off for {_named(wider, id)}: git mem on{_flag(wider, id)}")
    if scope == "machine":
        try:
            with term.open() as app:
                here = switch.is_off(app.home, term.environ, term.clock.now())
        except GitmemError:
            here = ""
        if here:
            term.note(f"they are still off for {_named(here, '')}: git mem on")
    if switch.by_variable(term.environ):
        term.note("GITMEM is set to 0 here: hooks that get this environment stay off.")


def _named(scope: str, id: str) -> str:
    return {"machine": "this machine", "repository": "this repository"}.get(scope, f"session {plain(id[:36])}")


def _flag(scope: str, id: str) -> str:
    return {"machine": " --machine", "session": f" --session {plain(id)}"}.get(scope, "")
