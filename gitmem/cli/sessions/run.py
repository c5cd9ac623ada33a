"""A session that a person opens and closes, or an agent without hooks: start, end, current."""

import os
import shlex
from dataclasses import dataclass
from typing import Any

import click

from gitmem.agents import events
from gitmem.app import App
from gitmem.base.detach import detach, wait
from gitmem.base.files import Lock, disk_error
from gitmem.cli import options
from gitmem.cli.sessions.context import agent_name
from gitmem.cli.sessions.find import RUNNING, facts, find_session, state_of
from gitmem.cli.sessions.group import agent_around, current, of_agent
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.clock import stamp
from gitmem.errors import External, UnknownId, UserError
from gitmem.hooks.session_log import FOLDER, append, kept
from gitmem.records.kinds import session_record_id
from gitmem.redaction.formats import public
from gitmem.repo.refs import branch
from gitmem.services.sessions import current as own
from gitmem.services.work import context
from gitmem.state import activity, attempts, session_ends, sessions
from gitmem.state.sessions import Session
from gitmem.state.workflow import AGENT, Act

LOCKED = 10.0  # seconds that a start waits for another one
PATIENCE = 5.0  # seconds that the end of a session waits for its record
TITLE = 200  # characters


def moment_of(app: App) -> str:
    """Return the current time as rows of a history have it."""
    now = app.clock.now()
    return f"{stamp(now)[:-1]}.{int(now * 1000) % 1000:03d}Z"


def write(
    app: App, mine: Session, role: str, content: str, *, stated: bool = False, **about: Any
) -> None:
    """Append a row to a session's history; raises External when the disk says no."""
    row: dict[str, Any] = {
        "timestamp": moment_of(app),
        "role": role,
        "content": content,
        "metadata": {k: v for k, v in about.items() if v},
    }
    if stated:
        root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
        folder = os.path.relpath(os.path.realpath("."), root) if root else ""
        state = {"agent": mine.agent, "folder": folder, "branch": branch(app.location)}
        row["state"] = {k: v for k, v in state.items() if v}
    folder = app.home.make(FOLDER)
    path = os.path.join(folder, os.path.basename(mine.history))
    try:
        append(path, row)
    except OSError as error:
        raise disk_error(error, path) from error


def sign(app: App, mine: Session, *, opens: bool = False) -> None:
    """Give a sign of life for a session; raises External when it would be lost."""
    if app.state.in_memory:
        raise External(
            "state.db cannot be written.",
            "Check the disk, and the rights of .git/gitmem; see: git mem doctor",
        )
    mine.last = app.clock.now()
    mine.history = os.path.basename(sessions.sign(app.state, mine, opens=opens))


def running(app: App) -> Session | None:
    """Return the session that this command runs in, if it is open."""
    here = current(app.env)
    mine = sessions.get(app.state, here) if here else None
    # one that was only taken for dead goes on with its next sign of life
    return mine if mine is not None and (mine.ended is None or mine.why == sessions.GONE) else None


def open_session(app: App, agent: str, title: str, story: str, id: str = "") -> Session:
    """Open a session of a person, or of an agent without hooks, and write its beginning.

    Under its own id where it has one.
    """
    now = app.clock.now()
    made = stamp(now)
    # the random part alone: ids that begin alike could not be named by their beginning
    id = id or app.clock.ulid()[10:]
    name = f"history_{made[:10].replace('-', '')}_{made[11:19].replace(':', '')}_{id}.jsonl"
    root, process = context.root_of(app.location.worktree), own.terminal()
    mine = Session(id, agent, now, now, name, None, "", root, "", process)
    on = context.load(app, agent if agent != own.PERSON else "")
    sign(app, mine, opens=True)
    write(app, mine, "system", "", stated=True, event="SessionStart", source="hand")
    if title:
        write(app, mine, "user", title, event="PromptSubmit", source="title")
    sessions.describe(
        app.state, id, kind=on.kind, branch=branch(app.location), story=story, title=title
    )
    came = [Act(AGENT, agent, agent=agent, session=id)] if agent != own.PERSON else []
    activity.note(app.state, root, now, came, asked=int(bool(title)), story=story, once=True)
    _forget_closed(app)
    own.opened(
        app.home,
        os.path.realpath(app.location.worktree) if app.location.worktree else "",
        process,
        id,
    )
    return mine


def _forget_closed(app: App) -> None:
    """Forget what closed terminals had open.

    A terminal that is closed does not report it.
    """
    for id in own.named(app.home):
        mine = sessions.get(app.state, id)
        if mine is None or mine.ended is not None or state_of(mine) != RUNNING:
            own.closed(app.home, id)


def _title_of(mine: Session, wish: str) -> str:
    """Say which title an open session has when one was asked for."""
    verb = "is" if wish == mine.title else "stays"
    other = "TITLE" if wish == mine.title else shlex.quote(plain(wish))
    return (
        f"its title {verb} '{plain(mine.title)}'; to end it and start another one: git mem "
        f"session start --new --title {other}"
    )


def _own_id(app: App) -> tuple[str, str]:
    """Return (id, agent) under which the environment knows a new session here.

    They come from an agent whose hooks are not installed, or from a variable.
    """
    here = events.name(current(app.env))
    if not here or sessions.get(app.state, here) is not None:
        return "", ""
    return here, agent_around(app.env)


@click.command("start", short_help="Start a session of your own")
@click.option(
    "--agent",
    metavar="NAME",
    help="Whose session it is, for an agent without hooks.  [default: person]",
)
@click.option("--title", metavar="TEXT", help="What it is for.")
@click.option(
    "--story", metavar="TEXT", help="The story in progress, for workflows: a path or a name."
)
@click.option(
    "--new",
    "anew",
    is_flag=True,
    help="Another one: the one that this terminal has open ends, and its record is written.",
)
@options.json_option
@click.pass_obj
def start_command(
    term: Terminal,
    agent: str | None,
    title: str | None,
    story: str | None,
    anew: bool,
    as_json: bool,
) -> None:
    """Start a session by hand. Its history is kept, and its record is written when it ends.

    If one is open in this terminal and work tree, it continues and keeps its title; --new ends it
    first. Records that you write meanwhile belong to it. Another terminal joins it with
    GITMEM_SESSION in its environment.

    An agent whose hooks are not installed gets a session under the id that its CLI sets in the
    environment. In --json, `previous_session` names the session that --new ended, or that goes on
    beside this one.

    \b
    Examples:
      git mem session start --title "Invoices of March"
      git mem session start --new --title "Invoices of April"
      git mem session start --agent aider --story docs/stories/4.2.md
    """
    title, story = _word(title, "--title"), _word(story, "--story")
    agent = agent_name(agent) if agent is not None else ""
    with term.open() as app:
        app.home.make()
        start = _start(app, agent, title, story, anew)
        if start.ended is not None:
            drain(app)
        start.mine = sessions.get(app.state, start.mine.id) or start.mine
        own_record = _record_id(app, start.ended) if start.ended is not None else ""
        if as_json:
            previous = _previous_json(start, own_record)
            row = {"started_now": start.is_new, "previous_session": previous}
            term.json({**facts(app, start.mine), **row})
            return
        _say_previous(term, start, own_record)
        if start.is_new:
            _say_started(term, start.mine, title)
        else:
            _say_open(term, app, start.mine, title, agent)


@dataclass(slots=True)
class _Start:
    """The session that goes on or begins.

    `before` is another one that this terminal had open, and `ended` the same if it ended now.
    """

    mine: Session
    is_new: bool
    before: Session | None = None
    ended: Session | None = None


def _start(app: App, agent: str, title: str, story: str, anew: bool) -> _Start:
    """Continue the session that is open here, or open one."""
    # two that start at once in one terminal are one
    with Lock(app.home.touch("own.lock"), LOCKED):
        mine, before = running(app), _opened_here(app)
        if mine is None or anew:
            before = before or mine
            ended = before if anew and before is not None and _end_own(app, before) else None
            id, around = _own_id(app)
            mine = open_session(app, agent or around or own.PERSON, title, story, id)
            return _Start(mine, True, before, ended)
    title = "" if mine.title else title  # one that is open keeps its own
    if title or story:
        sign(app, mine)
        sessions.describe(app.state, mine.id, title=title, story=story)
        root = context.root_of(app.location.worktree)
        activity.note(app.state, root, app.clock.now(), story=story)
    if title:
        write(app, mine, "user", title, event="PromptSubmit", source="title")
    return _Start(mine, False)


def _end_own(app: App, session: Session) -> bool:
    """End a session, unless it is one of an agent, or of another terminal."""
    is_own = own.here(app.env) == session.id and of_agent(app.env) != session.id
    return is_own and _end(app, session)


def _previous_json(start: _Start, own_record: str) -> dict[str, Any] | None:
    if start.before is None:
        return None
    return {
        "id": start.before.id,
        "ended_now": start.ended is not None,
        "session_record": own_record or None,
    }


def _say_previous(term: Terminal, start: _Start, own_record: str) -> None:
    if start.ended is not None:
        term.say(f"ended session {_named(start.ended)}.{_where(own_record)}")
    elif start.before is not None:
        before = start.before
        whose = "" if before.agent == own.PERSON else f" of {plain(before.agent)}"
        term.note(
            f"session {plain(before.id)}{whose} goes on; to end it: git mem session end "
            f"{plain(before.id[:12])}"
        )


def _say_open(term: Terminal, app: App, mine: Session, title: str, agent: str) -> None:
    """Say that a session was open, and what of the wishes it keeps as it is."""
    whose = (
        "the hooks of its agent record it"
        if of_agent(app.env) == mine.id
        else f"begun {age(stamp(mine.started), app.clock.now())}"
    )
    term.say(f"session {mine.id} of {plain(mine.agent)} is open here: {whose}.")
    if title:
        term.note(_title_of(mine, title))
    if agent and agent != mine.agent:
        term.note(
            f"it stays a session of {mine.agent}. To start a session of {agent}: git mem session "
            f"start --new --agent {agent}"
        )


def _say_started(term: Terminal, mine: Session, title: str) -> None:
    about = f": {plain(title)}" if title else ""
    term.say(f"started session {term.style(mine.id, fg='yellow')}{about}")
    # as it was given: that of a command names the session that it was found in
    other = os.environ.get("GITMEM_SESSION", "")
    if other and other != mine.id:
        term.note(
            f"GITMEM_SESSION names session {other} here; for this one: export "
            f"GITMEM_SESSION={mine.id}"
        )
    elif other:
        term.note(
            f"its id is that of GITMEM_SESSION; if that is a slip: unset GITMEM_SESSION, then git "
            f"mem session end {mine.id}"
        )
    else:
        term.note(f"to work on it from another terminal too: export GITMEM_SESSION={mine.id}")
    term.note("write into it with 'git mem session note TEXT'; end it with 'git mem session end'.")


def _named(session: Session) -> str:
    """Return a session's id, and its title if it has one."""
    return f"{plain(session.id)}: {plain(session.title)}" if session.title else plain(session.id)


def _word(value: str | None, what: str) -> str:
    """Return what an option gives as one line without secrets; raises UsageError for nothing."""
    if value is None:
        return ""
    text = kept(" ".join(public(value).split()), TITLE)
    if not text:
        raise click.UsageError(f"{what} is empty.")
    return text


@click.command("end", short_help="End a session, and have its record written")
@click.argument("session", required=False)
@options.json_option
@click.pass_obj
def end_command(term: Terminal, session: str | None, as_json: bool) -> None:
    """End the open session, or one by its id. Its record is written.

    Ending a session twice has no further effect.

    \b
    Examples:
      git mem session end
      git mem session end 7k2m9q
    """
    with term.open() as app:
        mine = find_session(app, session) if session else _ending(app)
        ended = _end(app, mine)
        if ended:
            drain(app)
        mine = sessions.get(app.state, mine.id) or mine
        own_record = _record_id(app, mine)
        if as_json:
            term.json(
                {**facts(app, mine), "ended_now": ended, "session_record": own_record or None}
            )
            return
        if not ended:
            when = f" {age(stamp(mine.ended), app.clock.now())}" if mine.ended is not None else ""
            term.say(
                f"session {plain(mine.id)} had ended{when}; nothing changed.{_where(own_record)}"
            )
            return
        term.say(f"ended session {plain(mine.id)}.{_where(own_record)}")
        if not own_record and not app.settings.get("recordSessions"):
            term.note("the setting 'recordSessions' is off: no session record is written.")
        elif not own_record:
            term.note(
                f"its record is written in the background, if anything happened in it: git mem "
                f"session show {plain(mine.id[:12])}"
            )


def _end(app: App, mine: Session) -> bool:
    """End a session, and ask for its record; say whether it was open.

    Raises External when that would be lost.
    """
    ended = mine.ended is None
    if ended:
        if app.state.in_memory:
            raise External(
                "state.db cannot be written.",
                "Check the disk, and the rights of .git/gitmem; see: git mem doctor",
            )
        write(app, mine, "system", "", event="SessionEnd", source="hand")
        ended = session_ends.end(app.state, mine.id, app.clock.now(), "hand")
        attempts.forget(app.state, mine.id)
    own.closed(app.home, mine.id)
    return ended


def _opened_here(app: App) -> Session | None:
    """Return the session that this terminal has open, whatever a variable names."""
    id = own.here(app.env)
    mine = sessions.get(app.state, id) if id else None
    return mine if mine is not None and mine.ended is None else None


def _where(own_record: str) -> str:
    """Return the words that say where a session record is, '' for none."""
    return f" Its record: git mem show {short(own_record)}" if own_record else ""


def _ending(app: App) -> Session:
    """Return the session that is open here; one that this terminal ended last, if there is none.

    Raises UserError.
    """
    here = current(app.env)
    mine = sessions.get(app.state, here) if here else None
    if mine is not None:
        return mine
    process, root = own.terminal(), context.root_of(app.location.worktree)
    last = next(
        (
            ended
            for ended in sessions.some(app.state, ended=True)
            if ended.why == "hand" and ended.process == process and ended.root == root
        ),
        None,
    )
    if last is None:
        raise UserError(
            "no session is open here.",
            "Name one: git mem session end ID. See them with: git mem session list --state running",
        )
    return last


def drain(app: App) -> None:
    """Have what a session asks for be done, as hooks do, and wait for it a while."""
    try:
        folder = app.location.worktree or app.location.gitdir
        pid = detach(["-C", folder, "drain"], app.env, awaited=True)
    except OSError:  # no room for a process: the next command or hook does it
        return
    if pid:
        wait(pid, PATIENCE)


def _record_id(app: App, mine: Session) -> str:
    """Return the id of a session's record, '' where there is none."""
    try:
        return app.get(session_record_id(mine.id), ("private", "shared"))[1].record.id
    except UnknownId:
        return ""


@click.command("current", short_help="Show which session this is")
@options.json_option
@click.pass_obj
def current_command(term: Terminal, as_json: bool) -> None:
    """Show the current session.

    It is the session of GITMEM_SESSION, else of the agent around this command, else of this
    terminal.

    Exit code 1 when there is none.

    \b
    Examples:
      git mem session current
      id=$(git mem session current --json | jq -r .data.id)
    """
    with term.open() as app:
        mine = running(app)
        if mine is None:
            here = current(app.env)
            before = sessions.get(app.state, here) if here else None
            if before is not None:
                raise UserError(
                    f"session {plain(here)} has ended.",
                    f"To continue it: git mem session resume {plain(here[:12])}",
                )
            raise UserError(
                f"no session '{plain(here)}' is known." if here else "no session is open here.",
                "Start one: git mem session start",
            )
        row = facts(app, mine)
        if as_json:
            term.json(row)
            return
        about = row["title"] or row["story"]
        term.say(
            f"{term.style(plain(mine.id), fg='yellow')}  {plain(mine.agent)}  {row['state']}  "
            f"begun {age(row['started'], app.clock.now())}{f'  {plain(about)}' if about else ''}"
        )
