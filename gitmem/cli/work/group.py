"""`git mem work`: epics and their stories: begin, go on, put down, take up again."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from gitmem.app import App
from gitmem.base import processes
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.terminal import Terminal, plain
from gitmem.cli.work.epic_view import epic_view, waiting_epic, written_epic
from gitmem.errors import UserError
from gitmem.index import epics as works
from gitmem.records.kinds import LIVE
from gitmem.repo.location import storable
from gitmem.repo.refs import branch, head
from gitmem.services.facts import answers
from gitmem.services.records.committers import author_if_foreign
from gitmem.services.records.decisions import is_decided
from gitmem.services.work import epics as service
from gitmem.services.work.epics import Epic, EpicServices
from gitmem.state import epic_holders
from gitmem.store.operations import BY
from gitmem.store.store import Written
from gitmem.text.replacement import DONE, closes
from gitmem.text.slugs import slug

TABLE = {
    "start": ("work.group", "start_command", "Begin an epic, or choose one"),
    "story": ("work.group", "story_command", "Begin a story, complete one, or list them"),
    "phase": ("work.steps", "phase_command", "Enter a phase of a story, or record its result"),
    "checkpoint": ("work.steps", "checkpoint_command", "Reach a checkpoint, or answer it"),
    "error": ("work.steps", "error_command", "Say that something went wrong"),
    "override": (
        "work.steps",
        "override_command",
        "Set, show or clear what this epic does otherwise",
    ),
    "pause": ("work.lifecycle", "pause_command", "Put an epic down for now"),
    "abort": ("work.lifecycle", "abort_command", "Give an epic up"),
    "complete": ("work.lifecycle", "complete_command", "Close an epic"),
    "resume": ("work.lifecycle", "resume_command", "Go on: continue, review, restart or discard"),
    "discard": ("work.lifecycle", "discard_command", "Put an epic aside"),
    "show": ("work.show", "show_command", "Show an epic, and what comes next"),
    "list": ("work.show", "list_command", "List epics"),
    "import": ("work.state_files", "import_command", "Read state files of other tools"),
}
CHANGED = 100  # files of the work tree that are noted, the first

epic_option = click.option(
    "--epic", "-e", metavar="NAME", help="Of this epic; the one of this work tree without it."
)
executor_option = click.option(
    "--executor", metavar="NAME", help="Who does it: an agent, a person."
)


@click.group(
    "work", cls=Parts, table=TABLE, short_help="Epics and stories: begin, go on, take up again"
)
def work_command() -> None:
    """Track epics: stories, phase, attempts, and who works on them.

    Epics are shared, so another session, machine or colleague can go on.

    NAME is the name of an epic, the beginning of it, or its id elsewhere. --json prints the epic,
    and in `changed` whether the command changed it.

    \b
    Examples:
      git mem work start "Checkout rework" --story 1.1 --story "1.2=Pay by card"
      git mem work phase development --executor dev
      git mem work story 1.1 --done
      git mem work resume
    """


# -- what the commands share


@contextmanager
def opened(term: Terminal) -> Iterator[tuple[App, EpicServices]]:
    """Open the repository, and the desk that work is done at."""
    with term.open() as app:
        who = app.writer()
        root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
        # a person without a session is known by the terminal, a program by the process that calls
        # it
        process = (
            processes.terminal() if not who.session and sys.stdin.isatty() else processes.agent()
        )
        yield (
            app,
            EpicServices(
                app.store(),
                app.state,
                who,
                app.replica()[-BY:],
                root,
                process,
                branch(app.location),
                partial(_author, app),
            ),
        )


def _author(app: App, id: str) -> str:
    records = app.rows(ids=(id,), scopes=("shared",), fields=("store", "committer"))
    return author_if_foreign(records[0], app.own_addresses) if records else ""


def rows(app: App, *, archived: bool = True) -> list[dict[str, Any]]:
    """Return the epics, as the index has them."""
    return works.epics(app.index(), archived=archived)


def chosen(app: App, desk: EpicServices, name: str | None) -> str:
    """Return the id of the epic that a command is about; raises UserError."""
    every = rows(app)
    return service.find(every, name) if name else service.current(desk, every)


def changed_files(app: App, desk: EpicServices, given: Sequence[str] = ()) -> list[str]:
    """Return the files of the work tree that differ from the last commit, and the named ones."""
    if not desk.root:
        return list(given)
    tree = app.worktree(desk.root)
    return [
        *(path for path in given if not tree.hides(path)),
        *(storable(path) for path, _ in tree.status()[:CHANGED]),
    ]


def did(
    term: Terminal,
    desk: EpicServices,
    id: str,
    written: Written,
    verb: str,
    *,
    as_json: bool,
    same: str = "nothing changed",
    quiet_step: bool = False,
) -> None:
    """Tell what came of an operation, and what comes next."""
    if written.journaled:
        if as_json:
            term.json(waiting_epic(id, written))
        else:
            term.say(f"{verb}: epic {plain(id[4:])}{options.journaled(written)}")
        return
    epic = service.load(desk, id)
    changed = written.commit is not None
    if as_json:
        term.json(written_epic(epic, written))
        return
    facts = epic.facts
    where = f"; {facts['done']} of {facts['total']} stories done ({facts['percent']}%)"
    term.say(
        f"{verb if changed else same}: epic {term.style(plain(epic.slug), fg='yellow')}{where}"
    )
    if not quiet_step:
        term.say(f"next: {plain(service.next_step(epic))}")


def exclusive_flag(flags: Mapping[str, bool]) -> str:
    """Return which of some flags is given, '' for none; raises UsageError when several are."""
    given = [name for name, on in flags.items() if on]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in given)} exclude each other.")
    return given[0] if given else ""


def stories_of(given: Sequence[str]) -> dict[str, Any]:
    """Return stories that are given as ID or ID=TITLE, as arguments of an operation."""
    pairs = [text.partition("=") for text in given]
    return {
        "stories": [sid.strip() for sid, _, _ in pairs],
        "titles": {sid.strip(): title.strip() for sid, _, title in pairs if title.strip()},
    }


# -- begin


@click.command("start", short_help=TABLE["start"][2])
@click.argument("name")
@click.option(
    "--story",
    "-s",
    "stories",
    multiple=True,
    metavar="ID[=TITLE]",
    help="A story, in their order; once for each.",
)
@click.option("--title", metavar="TEXT", help="The epic's title; the name without it.")
@click.option("--id", "ref", metavar="ID", help="Its id elsewhere: EPIC-12.")
@click.option(
    "--total",
    type=click.IntRange(0, 100_000),
    metavar="N",
    help="How many stories it will have, if not all are known yet.",
)
@executor_option
@options.json_option
@click.pass_obj
def start_command(
    term: Terminal,
    name: str,
    stories: tuple[str, ...],
    title: str | None,
    ref: str | None,
    total: int | None,
    executor: str | None,
    as_json: bool,
) -> None:
    """Start an epic with NAME and choose it for this work tree.

    If it exists, it gets the stories that it lacks.

    \b
    Examples:
      git mem work start "Checkout rework" --story 1.1 --story "1.2=Pay by card"
      git mem work start EPIC-12 --title "Checkout rework" --total 8
    """
    if not name.strip():
        raise click.UsageError("give a name.")
    with opened(term) as (app, desk):
        every = rows(app)
        existing = next(
            (
                row
                for row in every
                if name.strip().lower() in {row["id"], row["id"][4:], row["ref"].lower()}
            ),
            None,
        )
        id = existing["id"] if existing else f"wrk-{slug(name)}"
        there = existing or next((row for row in every if row["id"] == id), None)
        if there and there["status"] == "archived":
            raise UserError(
                f"the epic {id[4:]} was discarded.",
                f"Bring it back: git mem restore {id}. Or begin another one under another name.",
            )
        if there and title and title != there["title"]:
            term.note(
                f"it is there, with the title it has; to change that: git mem edit {id} --title "
                f"TEXT"
            )
        args = {**stories_of(stories), "ref": ref, "total": total, "executor": executor}
        same = "nothing changed" if epic_holders.chosen(desk.state, desk.root) == id else "chosen"
        written = service.do(desk, id, "start", args, title=title or name, holds=not there)
        did(
            term,
            desk,
            id,
            written,
            "chosen, with what is new" if there else "begun",
            same=same,
            as_json=as_json,
        )


@click.command("story", short_help=TABLE["story"][2])
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--done", is_flag=True, help="It is done; the next one is current.")
@click.option("--reopen", is_flag=True, help="It is not done after all.")
@click.option("--add", is_flag=True, help="Add stories behind the others: ID or ID=TITLE.")
@click.option(
    "--next",
    "following",
    metavar="ID",
    help="With --done: the story that comes next; the first pending one without it.",
)
@click.option("--title", metavar="TEXT", help="Its title.")
@executor_option
@epic_option
@options.json_option
@click.pass_obj
def story_command(
    term: Terminal,
    ids: tuple[str, ...],
    done: bool,
    reopen: bool,
    add: bool,
    following: str | None,
    title: str | None,
    executor: str | None,
    epic: str | None,
    as_json: bool,
) -> None:
    """Start a story, or complete it with --done.

    Without an ID, list the stories. A story that the epic does not have needs --add.

    \b
    Examples:
      git mem work story 1.2
      git mem work story 1.2 --done --next 1.4
      git mem work story --add 1.5 "1.6=Refunds"
    """
    act = exclusive_flag({"done": done, "reopen": reopen, "add": add})
    _check_story(ids, act, following, title)
    with opened(term) as (app, desk):
        id = chosen(app, desk, epic)
        if not ids:
            _list_stories(term, service.load(desk, id), as_json)
            return
        if not act:
            named = str(service.clean({"story": ids[0]}, desk.who.allow).get("story", ""))
            service.require_story(service.load(desk, id), named)
        if not act or (act == "done" and not service.is_done(desk, id, ids[0])):  # twice is done
            service.insist(desk, id)
        args: dict[str, Any] = (
            stories_of(ids)
            if act == "add"
            else {"story": ids[0], "next": following, "title": title, "executor": executor}
        )
        if act == "done":
            args["files"] = changed_files(app, desk)
        verb = "added" if act == "add" else f"story {ids[0]} {STORY_VERBS[act]}"
        written = service.do(desk, id, act or "story", args)
        did(term, desk, id, written, plain(verb), as_json=as_json)
        if act == "done":
            _close_tasks(term, app, service.load(desk, id), ids[0], as_json)


def _close_tasks(term: Terminal, app: App, epic: Epic, story: str, as_json: bool) -> None:
    """Finish the open tasks that a story was about, and say so."""
    titles = [row["title"] for row in epic_view(epic)["stories"] if row["id"] == story]
    for text in _finish_tasks(app, next(filter(None, titles), story)):
        if not as_json:
            term.note(f"closed the open task: {plain(text)}. To take it back: git mem undo")


STORY_VERBS = {"": "begun", "done": "done", "reopen": "reopened"}


def _check_story(ids: Sequence[str], act: str, following: str | None, title: str | None) -> None:
    """Raise UsageError for options of `story` that do not go together."""
    if following and act != "done":
        raise click.UsageError("--next goes with --done.")
    if title and act:
        raise click.UsageError(
            "--title goes with a story that is begun; with --add write ID=TITLE."
        )
    if not ids and act:
        raise click.UsageError(f"name the story: git mem work story ID --{act}")
    if len(ids) > 1 and act != "add":
        raise click.UsageError("one story at a time; --add takes several.")


def _list_stories(term: Terminal, epic: Epic, as_json: bool) -> None:
    if as_json:
        term.json(epic_view(epic)["stories"])
        return
    for line in _stories(term, epic):
        term.say(line)
    if not epic.facts["total"]:
        term.note(f"the epic {epic.slug} has no stories yet: git mem work story --add ID")


def _finish_tasks(app: App, title: str) -> list[str]:
    """Finish the open tasks that ask for what a story was about; return their titles."""
    rows = app.rows(what="task", statuses=LIVE, fields=("id", "title"))
    ids = [row["id"] for row in rows if closes(title, str(row["title"])) == DONE]
    finished = []
    for scope, stored in map(app.get, ids):
        if is_decided(app.store(scope), app.writer().program, stored.record, "done"):
            continue
        change = answers.finish(
            app.store(scope), app.writer(), stored.record, head(app.location) or ""
        )
        finished.append(change.after.title)
    return finished


def _stories(term: Terminal, epic: Epic) -> Iterator[str]:
    for story in epic_view(epic)["stories"]:
        mark = "[x]" if story["done"] else "[>]" if story["current"] else "[ ]"
        color = {"fg": "green"} if story["done"] else {"bold": True} if story["current"] else {}
        yield term.style(
            f"{mark} {plain(story['id'])}{'  ' + plain(story['title']) if story['title'] else ''}",
            **color,
        )
