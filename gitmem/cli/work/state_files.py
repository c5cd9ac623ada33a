"""`git mem work import`: read state files of other tools."""

import glob
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.cli.work.group import TABLE, opened, rows
from gitmem.errors import UserError
from gitmem.records import epic
from gitmem.records.epic import State
from gitmem.repo.location import inside
from gitmem.services.work import epics as service
from gitmem.services.work import state_files
from gitmem.services.work.epics import EpicServices
from gitmem.services.work.state_files import StateFile
from gitmem.state import epic_holders
from gitmem.store.store import Written
from gitmem.text.slugs import slug


@click.command("import", short_help=TABLE["import"][2])
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--name", metavar="NAME", help="What the epic is called here; its id without it.")
@click.option("--dry-run", is_flag=True, help="Say what would be read, and write nothing.")
@options.json_option
@click.pass_obj
def import_command(
    term: Terminal, files: tuple[str, ...], name: str | None, dry_run: bool, as_json: bool
) -> None:
    """Import state files of other tools: .session-state.yaml, and *-state.yaml of a workflow.

    '-' is stdin. The files are not changed.

    Without FILE: docs/stories/.session-state.yaml and the workflow-state folders of this work tree.
    Importing a file again brings only what is new.

    \b
    Examples:
      git mem work import
      git mem work import old/.session-state.yaml --name checkout
    """
    if name and len(files) != 1:
        raise click.UsageError("--name goes with one FILE.")
    with opened(term) as (app, desk):
        # all is read before the first is written
        files_read = [
            (path, state_files.read(_bytes(path), path)) for path in files or _here(desk.root)
        ]
        out: list[dict[str, Any]] = []
        every = rows(app)
        for path, file in files_read:
            id = _id(every, name or file.name)
            _require_kept(every, id)
            state = _allowed(app, desk.root, file.state)
            takes = len(files_read) == 1 and _at(desk, every) in ("", id)
            written = None
            if not dry_run:
                args = {"state": state}
                written = service.do(desk, id, "import", args, title=file.title, chooses=takes)
            row = {"source": path, "id": id, "title": file.title, **_written_json(written)}
            out.append(row)
            if not as_json:
                _say_imported(term, row, file, written)
        every = rows(app)
        at = _at(desk, every)
        if as_json:
            term.json([{**row, "current": row["id"] == at} for row in out])
        elif desk.root and not dry_run:
            _say_others(term, at, every, dict.fromkeys(row["id"] for row in out))


def _say_imported(
    term: Terminal, row: dict[str, Any], file: StateFile, written: Written | None
) -> None:
    slug = term.style(plain(row["id"][4:]), fg="yellow")
    waits = options.journaled(written) if written else ""
    term.say(f"{_verb(row)} {plain(row['source'])}: epic {slug}, {_far(file)}{waits}")


def _require_kept(every: Sequence[Mapping[str, Any]], id: str) -> None:
    """Raise UserError for an epic that was discarded."""
    if any(row["id"] == id and row["status"] == "archived" for row in every):
        raise UserError(
            f"the epic {id[4:]} was discarded.",
            f"Bring it back: git mem restore {id}. Or import it under another name: --name",
        )


def _say_others(
    term: Terminal, at: str, every: Sequence[Mapping[str, Any]], ids: Iterable[str]
) -> None:
    """Say how to work on what was imported, beside the epic that the work tree is at."""
    unfinished = {row["id"] for row in every if row["rest"] in {epic.ACTIVE, epic.PAUSED}}
    others = [id for id in ids if id != at and id in unfinished]
    if others:
        begin = f"this work tree stays at {plain(at[4:])}" if at else "this work tree is at no epic"
        term.say(
            f"{begin}; to work on {'one of them' if len(others) > 1 else 'it'}: git mem work "
            f"start {plain(others[0][4:])}"
        )


def _written_json(written: Written | None) -> dict[str, bool]:
    """Return what became of an import; None was a dry run."""
    return {
        "changed": written is not None and written.changed,
        "journaled": written is not None and written.journaled,
        "dry_run": written is None,
    }


def _verb(row: dict[str, Any]) -> str:
    if row["dry_run"]:
        return "would import"
    return "imported" if row["changed"] else "nothing new in"


def _at(desk: EpicServices, every: list[dict[str, Any]]) -> str:
    """Return the id of the open epic that this work tree is at; '' when it is at none."""
    here = epic_holders.chosen(desk.state, desk.root)
    return (
        here
        if any(
            row["id"] == here
            and row["status"] != "archived"
            and row["rest"] in {epic.ACTIVE, epic.PAUSED}
            for row in every
        )
        else ""
    )


def _id(every: list[dict[str, Any]], name: str) -> str:
    """Return the id for a name.

    It is the id of an epic that has the name as its id elsewhere, else an id made from the name.
    """
    ids = [str(row["id"]) for row in every if str(row["ref"]).lower() == name.lower()]
    return ids[0] if len(ids) == 1 else f"wrk-{slug(name)}"


def _allowed(app: App, root: str, state: State) -> State:
    """Return a state without the files that this work tree wants in no record."""
    if not root or "files" not in state:
        return state
    tree = app.worktree(root)
    return {
        **state,
        "files": {path: at for path, at in state["files"].items() if not tree.hides(path)},
    }


def _far(file: StateFile) -> str:
    facts = epic.facts(file.state)
    return f"{facts['done']} of {facts['total']} stories done ({facts['percent']}%)"


def _here(root: str) -> list[str]:
    """Return the state files of a work tree."""
    files = [os.path.join(root, state_files.SESSION_FILE)] if root else []
    for folder in state_files.FOLDERS if root else ():
        files += sorted(
            glob.glob(
                os.path.join(glob.escape(os.path.join(root, folder)), f"*{state_files.SUFFIX}")
            )
        )
    # no link leads out of it
    there = [path for path in files if os.path.isfile(path) and inside(path, root, root)]
    if not there:
        raise UserError(
            f"there is no {state_files.SESSION_FILE}, and no workflow-state folder.",
            "Name a file: git mem work import FILE",
        )
    return [os.path.relpath(path) for path in there]


def _bytes(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read(state_files.LARGEST + 1)
        with open(path, "rb") as file:
            return file.read(state_files.LARGEST + 1)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {os.strerror(error.errno or 0)}.",
            "Name a state file, or '-' for stdin.",
        ) from error
