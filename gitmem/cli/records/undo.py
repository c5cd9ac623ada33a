"""Commands that take a command back, and that do again what was taken back."""

import re
from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UnknownId, UserError
from gitmem.records.kinds import PREFIX
from gitmem.services.records import history, undo
from gitmem.services.records.revert import Reverted, revert
from gitmem.services.records.undo import CommandCommits, CommandHistory
from gitmem.state import commands
from gitmem.state.commands import ListedCommand
from gitmem.store.store import Store, Written

# what commits call an operation that has another name on the command line
COMMANDS = {
    "confirm": "accept",
    "combine": "merge",
    "reanchor": "verify",
    "unlink": "link --remove",
    "unpin": "pin --remove",
}
_ID = re.compile(rf"\b(?:{'|'.join(PREFIX.values())})-\w{{18}}(\w{{8}})\b")


@click.command("undo", short_help="Take back your last command")
@click.argument("what", required=False, metavar="[COMMAND|COMMIT]")
@options.json_option
@click.pass_obj
def undo_command(term: Terminal, what: str | None, as_json: bool) -> None:
    """Take back your last command that changed something; again, the one before it.

    All that the command wrote is taken back, in each store. Later changes are kept. Your commands
    are those that you ran in this clone; inside an agent, those of its session. What hooks and the
    background wrote, and what came by sync, is taken back only when you name it.

    To name a command, give its id or one of its commits, as git mem log shows them. A proposal
    whose acceptance is taken back waits in the inbox again. An agent cannot take back what a person
    did. What was purged, or belongs to a session that was forgotten, stays away.

    \b
    Examples:
      git mem undo
      git mem undo 3f2a91c
      git mem undo --redo
    """
    with term.open_any() as app:
        stores = _stores(app)
        if what:
            target = _named(app, stores, what)
            _report(term, target, revert(app.writer(), target, stores), as_json)
            return
        listed = _listed(app)
        past = CommandHistory(stores, _since(listed))
        for target in past.to_undo(listed, _waiting(app)):
            done = revert(app.writer(), target, stores)
            if done.writes:
                _report(term, target, done, as_json)
                return
            _note_gone(term, done)
            term.note(
                f"nothing is left to take back of {_words(target.subject)}. This took back "
                f"the command before it:"
            )
        raise _nothing_listed(app, stores, listed)


@click.command("undo --redo", short_help="Do again what you took back last")
@options.json_option
@click.pass_obj
def redo_command(term: Terminal, as_json: bool) -> None:
    """Revert your last undo; again, the undo before it.

    After another command that changes something, there is nothing to redo.

    \b
    Example:
      git mem undo --redo
    """
    with term.open_any() as app:
        listed = _listed(app)
        stores = _stores(app)
        past = CommandHistory(stores, _since(listed))
        target = past.to_redo(listed, _waiting(app))
        if target is None:
            raise UserError(
                "there is nothing to redo: your last command that changed something was not 'git "
                "mem undo'.",
                "To take back any commit, an undo too: git mem log --oneline, then git mem undo "
                "COMMIT",
            )
        _report(term, target, revert(app.writer(), target, stores), as_json)


def _stores(app: App) -> list[Store]:
    """Return the stores that commands write to, those without a commit left out."""
    app.settle()
    scopes = ["shared"] if app.is_user_store() else ["shared", "private"]
    if app.has_user() and not app.is_user_store():
        app.user.settle()
        scopes.append("user")
    return [store for store in map(app.store, scopes) if store.tip() is not None]


def _listed(app: App) -> list[ListedCommand]:
    """Return this caller's commands in this clone, newest first.

    Raises UserError for an agent that does not say which session it is in.
    """
    program, session = app.caller
    if program and not session:
        raise UserError(
            f"{program} does not say which of its sessions this is.",
            "Name the command: git mem log --oneline, then git mem undo COMMIT",
        )
    return [command for command in commands.listed(app.state) if command.is_of(*app.caller)]


def _since(listed: Sequence[ListedCommand]) -> float:
    return min((command.at for command in listed), default=float("inf"))


def _waiting(app: App) -> set[str]:
    homes = [app.home, *([app.user.home] if app.has_user() else [])]
    return set().union(*map(undo.waiting_commands, homes))


def _named(app: App, stores: Sequence[Store], text: str) -> CommandCommits:
    """Return the command that an id of its own, or one of its commits, names."""
    if undo.is_command(text):
        return undo.named_command(stores, text)
    if not stores:
        raise _nothing(app)
    try:
        oid = history.resolve(stores[0], app.git, text)
    except UnknownId:
        if not app.has_user() or stores[-1].home.path == app.home.path:
            raise
        oid = history.resolve(stores[-1], app.user.git, text)
    return undo.command_with(stores, oid)


def _nothing_listed(
    app: App, stores: Sequence[Store], listed: Sequence[ListedCommand]
) -> UserError:
    """Return what to say when no listed command is left: the list may be shorter than history."""
    older = CommandHistory(stores).unlisted(listed, *app.caller, app.author[1])
    if older is None:
        return _nothing(app)
    return UserError(
        "there is no other command of yours in this clone's list.",
        f"Its commits name one more: {_words(older.subject)}. To take it back: git mem undo "
        f"{older.id}",
    )


def _nothing(app: App) -> UserError:
    whose = "of this session " if app.caller[0] else ""
    return UserError(
        f"no command {whose}is left to take back.",
        "To take back any other change: git mem log --oneline, then git mem undo COMMIT",
    )


def _note_gone(term: Terminal, done: Reverted) -> None:
    for id, why in done.gone.items():
        term.note(f"{id} stays away: {why}.")


def _report(term: Terminal, target: CommandCommits, done: Reverted, as_json: bool) -> None:
    _note_gone(term, done)
    if as_json:
        term.json(_as_json(target, done))
        return
    words = _words(target.subject)
    if not done.writes:
        term.say(f"nothing left to take back of {words}")
        return
    count = f"({len(done.ids)} record{'s' if len(done.ids) != 1 else ''})"
    waits = options.journaled(Written(None, done.journaled))
    if target.is_undo:
        term.say(f"did it again: {words} {count}{waits}")
        term.note("to take it back again: git mem undo")
        return
    term.say(f"took back: {words} {count}{waits}")
    if target.confirms:
        term.note("records that are unconfirmed now wait in the inbox: git mem inbox")
    term.note("to take that back: git mem undo --redo")


def _words(subject: str) -> str:
    """Return the subject of a commit as its command and what that was given, with short ids."""
    text = subject.removeprefix("undo: ").removeprefix("redo: ")
    kind, _, rest = text.partition(": ")
    verb, space, given = (rest if kind in PREFIX else text).partition(" ")
    return plain(_ID.sub(r"\1", f"{COMMANDS.get(verb, verb)}{space}{given}"))


def _as_json(target: CommandCommits, done: Reverted) -> dict[str, Any]:
    return {
        "command": target.id if undo.is_command(target.id) else None,
        "undone": [commit.oid for _, commit in target.commits],
        "made": done.commits,
        "ids": list(done.ids),
        "changed": bool(done.writes),
        "journaled": done.journaled,
    }
