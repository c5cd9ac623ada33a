"""Resuming a session: where it stood, what has changed since, and what is open.

It also tells how the session's agent resumes it.
"""

import os
import shlex
from collections.abc import Iterator
from typing import Any

import click

from gitmem.agents import adapter, events
from gitmem.app import App
from gitmem.base import processes
from gitmem.cli import options
from gitmem.cli.json_shapes import epic_json
from gitmem.cli.sessions.find import NONE, RUNNING, facts, find_session, state_of, unrejected
from gitmem.cli.sessions.group import hides_quotes
from gitmem.cli.sessions.run import running, sign, write
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.index import epics
from gitmem.records.kinds import LIVE
from gitmem.repo.location import locate, storable
from gitmem.repo.refs import branch
from gitmem.services.briefing.session_opening import LOOKED, is_small
from gitmem.services.records.committers import author_if_foreign, marked_title
from gitmem.services.session_log import reader
from gitmem.services.sessions import current as own
from gitmem.services.sessions.session_record import SessionAccount, line
from gitmem.services.work import context
from gitmem.state import sessions
from gitmem.state.sessions import Session
from gitmem.store.rejected import rejected_in

FILES, ITEMS, EPICS = 20, 8, 3  # of files, of tasks and failures, of epics that are shown
WORDS = 300  # characters of the last answer


@click.command("resume", short_help="Show where a session stopped, and how to continue it")
@click.argument("session", required=False)
@click.option(
    "--show", is_flag=True, help="Only show it: a session of a person is not opened again."
)
@options.json_option
@click.pass_obj
def resume_command(term: Terminal, session: str | None, show: bool, as_json: bool) -> None:
    """Show where a session stopped, which files were committed since, what failed, what is open.

    Adds to 'git mem status': one session in detail. Without an id: the latest session of this work
    tree that does not run, else of another one. A person's session is opened again; for an agent's
    session the last line is the command of its CLI.

    \b
    Examples:
      git mem session resume
      git mem session resume 3f2a81c0 --json
    """
    with term.open() as app:
        mine = find_session(app, session) if session else _latest(app)
        stood = _stood(app, mine)
        opened = False
        if mine.agent not in events.ADAPTERS and not show:
            opened = _open(app, mine)
        stood = {
            **facts(app, sessions.get(app.state, mine.id) or mine),
            **stood,
            "opened_now": opened,
        }
        if as_json:
            term.json(stood)
            return
        for text in _lines(term, app, stood):
            term.say(text)


def _latest(app: App) -> Session:
    """Return the latest session of this work tree that is not running.

    If there is none, return one of another work tree. Raises UserError.
    """
    here = running(app)
    every = [each for each in sessions.some(app.state) if here is None or each.id != here.id]
    root = context.root_of(app.location.worktree)
    still = [each for each in every if state_of(each) != RUNNING]
    candidates = [each for each in still if each.root == root] or still or every
    # one in which somebody only said hello is nothing to go on with, as long as there is another
    # one
    names = reader.names(app.home)
    candidates = [
        each for each in candidates[:LOOKED] if not is_small(app.home, each.id, names)
    ] or candidates
    if not candidates and here is not None:
        raise UserError(
            f"session {plain(here.id)} is open here, and there is no other session to continue.",
            "To add to the open session: git mem session note TEXT",
        )
    if not candidates:
        raise UserError("there is no session to continue.", NONE)
    return candidates[0]


def _stood(app: App, mine: Session) -> dict[str, Any]:
    """Return where a session stood, beside what is so now."""
    rejected = rejected_in(app.objects)
    account = SessionAccount(mine.root)
    marked, noted = dict[str, None](), dict[str, None]()
    for row in reader.rows(app.home, mine):
        account.add(row)
        if reader.marked(row) and unrejected(reader.content(row), rejected):
            (noted if reader.event(row) == "Note" else marked)[line(reader.content(row))] = None
    account.leave_out(rejected.is_quoted)
    _leave_out_quotes(app, mine, account)
    tree = context.root_of(app.location.worktree)
    snapshot = _snapshot(app, mine)
    unfinished = epics.unfinished(app.index(), app.state, app.clock.now(), processes.is_gone)
    return {
        "title": unrejected(mine.title, rejected),
        "branch_then": account.branch or mine.branch or None,
        "branch_now": _branch(mine) or None,
        "cwd": account.folder or None,
        "commit_then": snapshot.get("commit"),
        "last_prompt": account.asked[-1] if account.asked else None,
        "last_answer": _short(account.answer) or None,
        **_files(app, mine, account, snapshot),
        "failed_commands": [
            {"command": command, "message": said or None}
            for command, said in account.failed.items()
            if command and command not in account.passed
        ][-ITEMS:],
        "pending_tasks": _pending(app),
        "mark_texts": list(marked)[-ITEMS:],
        "note_texts": [text for text in noted if text not in marked][-ITEMS:],
        "workflow_position": _position(app) if mine.root == tree else None,
        "epics": [
            epic_json(epic, author_if_foreign(epic, app.own_addresses)) for epic in unfinished
        ][:EPICS],
        "resume_command": _command(mine),
        "in_this_work_tree": mine.root == tree,
    }


def _files(
    app: App, mine: Session, account: SessionAccount, snapshot: dict[str, Any]
) -> dict[str, Any]:
    """Return the files of a session as they were and are, and what else is not committed now."""
    is_there = mine.root and os.path.isdir(mine.root)
    now = dict(app.worktree(mine.root).status()) if is_there else {}
    then = {
        storable(str(each.get("path"))): str(each.get("status") or "")
        for each in snapshot.get("dirty") or []
        if isinstance(each, dict)
    }
    changed = sorted(account.changed, key=lambda path: (-account.changed[path], path))
    files = dict.fromkeys([*then, *changed])
    return {
        "files": [
            {
                "path": path,
                "status_then": then.get(path) or ("changed" if path in account.changed else None),
                "status_now": now.get(path),
                "exists": os.path.lexists(os.path.join(mine.root, path)),
            }
            for path in files
        ],
        "other_changed_paths": sorted(set(map(storable, now)) - files.keys()),
    }


def _position(app: App) -> dict[str, Any] | None:
    """Return where the workflow of this work tree is, None where there is none."""
    on = context.load(app)
    if not on.workflow:
        return None
    return {
        "workflow": on.workflow,
        "state": on.state,
        "next_steps": on.next,
        "story": on.story or None,
    }


def _leave_out_quotes(app: App, mine: Session, account: SessionAccount) -> None:
    if hides_quotes(app.env, mine.id):
        account.asked.clear()
        account.answer = ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WORDS else text[: WORDS - 1].rstrip() + "…"


def _branch(mine: Session) -> str:
    """Return what is checked out now where the session was."""
    try:
        return branch(locate(mine.root, {})) if mine.root and os.path.isdir(mine.root) else ""
    except GitmemError:
        return ""


def _snapshot(app: App, mine: Session) -> dict[str, Any]:
    """Return the fields of the last snapshot of a session, empty where there is none."""
    rows = app.rows(kinds=("snapshot",), sessions=(mine.id,), order="created", limit=1)
    if not rows:
        return {}
    try:
        return dict(app.get(rows[0]["id"])[1].record.fields)
    except UnknownId:
        return {}


def _pending(app: App) -> list[dict[str, Any]]:
    """Return the open tasks."""
    rows = app.rows(what="task", statuses=LIVE, order="created", limit=2 * ITEMS)
    return [{"id": row["id"], "text": marked_title(row)} for row in rows]


def _command(mine: Session) -> str | None:
    """Return what to type to go on with an agent's session, None for one that has no CLI."""
    if mine.agent not in events.ADAPTERS:
        return None
    words = adapter.find(mine.agent).resume
    return f"{words} {shlex.quote(sessions.given_id(mine))}" if words else None


def _open(app: App, mine: Session) -> bool:
    """Open a person's session again in this terminal; say whether that was done.

    Raises UserError where another one is open.
    """
    here = running(app)
    if here is not None and here.id != mine.id:
        raise UserError(
            f"session {plain(here.id)} is open here.",
            f"End it first: git mem session end. Or look only: git mem session resume "
            f"{plain(mine.id[:12])} --show",
        )
    process, root = own.terminal(), context.root_of(app.location.worktree)
    if (
        mine.ended is None
        and mine.process
        and mine.process != process
        and processes.is_gone(mine.process) is False
    ):
        return False  # it is open in another terminal
    if mine.ended is None and mine.process == process and own.here(app.env) == mine.id:
        return False
    mine.process, mine.root = process, root
    sign(app, mine, opens=True)
    write(app, mine, "system", "", stated=True, event="SessionStart", source="resume")
    own.opened(
        app.home,
        os.path.realpath(app.location.worktree) if app.location.worktree else "",
        process,
        mine.id,
    )
    return True


def _lines(term: Terminal, app: App, stood: dict[str, Any]) -> list[str]:
    files, others = stood["files"], stood["other_changed_paths"]
    failed = [
        ": ".join(filter(None, (each["command"], each["message"])))
        for each in stood["failed_commands"]
    ]
    tasks = [
        plain(each["text"]) + (f" ({short(each['id'])})" if each.get("id") else "")
        for each in stood["pending_tasks"]
    ]
    epics = [
        f"{plain(each['title'])}{_by(each)}: git mem show {plain(each['id'])}"
        for each in stood["epics"]
    ]
    return [
        *_place_lines(term, app, stood),
        *_section(
            "files, then and now", [_file(each) for each in files[:FILES]], len(files) - FILES
        ),
        *_section(
            "not committed now, of others", list(map(plain, others[:FILES])), len(others) - FILES
        ),
        *_section("still failing", list(map(plain, failed))),
        *_section("still to do", tasks),
        *_section("marked", list(map(plain, stood["mark_texts"]))),
        *_section("noted", list(map(plain, stood["note_texts"]))),
        *_workflow_lines(stood["workflow_position"]),
        *_section("work state", epics),
        *_next_lines(stood),
    ]


def _place_lines(term: Terminal, app: App, stood: dict[str, Any]) -> Iterator[str]:
    """Yield which session it is, and where it stood."""
    id = term.style(plain(stood["id"]), fg="yellow")
    about = stood["title"] or stood["story"]
    state = "opened again" if stood["opened_now"] else stood["state"]
    yield (
        f"session {id}, {plain(stood['agent'])}, {state}, last active "
        f"{age(stood['last_seen'], app.clock.now())}{f': {plain(about)}' if about else ''}"
    )
    then, here = stood["branch_then"], stood["branch_now"]
    if then:
        switch = f"git switch {shlex.quote(plain(then))}"
        moved = f"; {plain(here)} is checked out now: {switch}" if here and here != then else ""
        yield f"branch: {plain(then)}{moved}"
    if not stood["in_this_work_tree"] and stood["work_tree"]:
        gone = "" if os.path.isdir(stood["work_tree"]) else " (it no longer exists)"
        yield f"work tree: {plain(stood['work_tree'])}{gone}"
    if stood["cwd"] != ".":
        yield from _named("folder", stood["cwd"])
    yield from _named("last asked", stood["last_prompt"])
    yield from _named("last answer", stood["last_answer"])


def _named(name: str, text: str | None) -> list[str]:
    return [f"{name}: {plain(text)}"] if text else []


def _workflow_lines(position: dict[str, Any] | None) -> list[str]:
    if not position:
        return []
    steps = ", ".join(context.spoken(each) for each in position["next_steps"])
    then = f"; next: {steps}" if steps else ""
    return [plain(f"workflow: {position['workflow']}, {position['state']}{then}")]


def _next_lines(stood: dict[str, Any]) -> Iterator[str]:
    """Yield how to go on with the session."""
    id = plain(stood["id"])
    if stood["resume_command"]:
        is_elsewhere = stood["work_tree"] and not stood["in_this_work_tree"]
        where = f"cd {shlex.quote(plain(stood['work_tree']))} && " if is_elsewhere else ""
        yield f"to continue: {where}{plain(stood['resume_command'])}"
    elif stood["opened_now"]:
        yield f"it is open again here. From another terminal too: export GITMEM_SESSION={id}"
    elif stood["state"] == RUNNING:
        yield f"it is open. To write into it from here: export GITMEM_SESSION={id}"


def _by(epic: dict[str, Any]) -> str:
    return f" (by {plain(epic['committed_by'])})" if epic["committed_by"] else ""


def _section(name: str, items: list[str], more: int = 0) -> list[str]:
    if not items:
        return []
    return [
        f"{name}:",
        *(f"  {item}" for item in items),
        *([f"  and {more} more"] if more > 0 else []),
    ]


def _file(each: dict[str, Any]) -> str:
    now = (
        f"not committed ({each['status_now']})"
        if each["status_now"]
        else "committed or taken back"
        if each["exists"]
        else "deleted"
    )
    return f"{plain(each['path'])}: {plain(each['status_then'] or 'changed')} then, {now} now"
