"""Sessions of agents and people: the group of commands, and which session a command runs in."""

import contextlib
import os
import sqlite3
from collections.abc import Mapping

import click

from gitmem.agents import adapter, events
from gitmem.base import processes
from gitmem.cli.group import Parts
from gitmem.errors import GitmemError
from gitmem.repo.caller import agent_program
from gitmem.repo.location import locate
from gitmem.repository import Repository
from gitmem.services.sessions import current as own
from gitmem.state import sessions
from gitmem.state.database import State

TABLE = {
    "start": ("sessions.run", "start_command", "Start a session of your own"),
    "end": ("sessions.run", "end_command", "End a session, and have its record written"),
    "current": ("sessions.run", "current_command", "Show which session this is"),
    "note": ("sessions.notes", "note_command", "Write something into a session"),
    "mark": ("sessions.notes", "mark_command", "Mark what matters in a session"),
    "list": ("sessions.find", "list_command", "List sessions, the latest first"),
    "show": ("sessions.show", "show_command", "Show a whole session"),
    "export": ("sessions.show", "export_command", "Export a session as JSON"),
    "resume": (
        "sessions.resume",
        "resume_command",
        "Show where a session stopped, and how to continue it",
    ),
    "context": ("sessions.context", "context_command", "Show the work in hand, for the next agent"),
    "task": ("sessions.context", "task_command", "Record that a task is done, or has failed"),
    "handover": ("sessions.handover", "handover_command", "Hand the work over to another agent"),
    "workflows": ("sessions.context", "workflows_command", "List the workflows that are known"),
    "briefing": (
        "sessions.briefing",
        "briefing_command",
        "Show what is known about this project, within a budget",
    ),
    "activate": ("sessions.activate", "activate_command", "Print an agent's greeting"),
    "opening": (
        "sessions.opening",
        "opening_command",
        "Decide how a session opens: greet, ask or say nothing",
    ),
    "forget": ("sessions.forget", "forget_command", "Delete the stored data of a session"),
    "cost": ("sessions.cost", "cost_command", "Show what the hooks of a session cost"),
}


@click.group(
    "session", cls=Parts, table=TABLE, short_help="Sessions: start, end, list, show, hand over"
)
def session_command() -> None:
    """Sessions of agents, recorded by hooks, and of people, started by hand.

    \b
    Examples:
      git mem session list
      git mem session show                   the one that this runs in, else the latest
      git mem session start --title "Invoices of March"
      git mem session context --agent qa     what the next agent has to know
    """


def current(environ: Mapping[str, str]) -> str:
    """Return the id of the session that a command runs in.

    The environment, the process or the terminal tells it. The id is empty when they tell nothing.
    """
    if environ.get("GITMEM_SESSION"):
        return environ["GITMEM_SESSION"]
    return of_agent(environ) or own.here(environ)


def of_agent(environ: Mapping[str, str]) -> str:
    """Return the id of the agent's session that a command runs in; empty when there is none."""
    if not any(key.endswith(("_SESSION_ID", "_THREAD_ID", "_CLI")) for key in environ):
        return ""
    adapters = [adapter.find(agent) for agent in events.ADAPTERS]
    for variable in (variable for each in adapters for variable in each.session):
        if environ.get(variable):
            id = events.name(environ[variable])
            mine = next(each.name for each in adapters if variable in each.session)
            return _shared(environ, id, mine) or id
    return (
        _of_process(environ)
        if any(environ.get(each.mark) for each in adapters if each.mark)
        else ""
    )


def hides_quotes(environ: Mapping[str, str], session: str = "") -> bool:
    """Return whether what was said in a session is not for whoever runs a command: an agent.

    It knows its own session.
    """
    return bool(agent_program(environ)) and not (session and session == current(environ))


def agent_around(environ: Mapping[str, str]) -> str:
    """Return the agent whose CLI a command runs in, as the environment tells.

    Empty when there is none.
    """
    program = agent_program(environ)
    return program if program in events.ADAPTERS else ""


def _shared(environ: Mapping[str, str], id: str, agent: str) -> str:
    """Return how we call an agent's session whose id is another agent's too.

    Empty for any other one.
    """
    try:
        home = Repository(locate(".", environ), environ).home
        other = sessions.shared_id(id, agent)
        # its history tells that there is one: most commands need not ask the database
        if not any(name.endswith(f"_{other}.jsonl") for name in os.listdir(home.join("sessions"))):
            return ""
        with contextlib.closing(State(home)) as state:
            return other if sessions.get(state, other) else ""
    except (GitmemError, OSError, sqlite3.Error):  # who it was is not worth a command that fails
        return ""


def _of_process(environ: Mapping[str, str]) -> str:
    """Return the id of the running session that belongs to the process that started this one.

    That process also started the session's hooks. The id is empty when there is no such session.
    """
    try:
        home = Repository(locate(".", environ), environ).home
        mine = processes.agent()
        if not mine or not os.path.exists(home.join("state.db")):
            return ""
        with contextlib.closing(State(home)) as state:
            running = sessions.some(state, ended=False)
            return next((session.id for session in running if session.process == mine), "")
    except (GitmemError, OSError, sqlite3.Error):  # who it was is not worth a command that fails
        return ""
