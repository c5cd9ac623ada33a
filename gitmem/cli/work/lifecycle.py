"""Commands that put an epic down, and take it up again: pause, abort, complete, resume, discard."""

import sys
from collections.abc import Iterator

import click

from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.cli.work.epic_view import epic_view, waiting_epic
from gitmem.cli.work.group import TABLE, chosen, did, exclusive_flag, opened
from gitmem.cli.work.show import card
from gitmem.errors import UserError
from gitmem.records import epic as work
from gitmem.services.work import epics
from gitmem.services.work.epics import Epic, EpicServices

note_option = click.option("--note", "-m", metavar="TEXT", help="Why, in a sentence.")
KEYS = {
    "1": "continue",
    "c": "continue",
    "2": "review",
    "v": "review",
    "3": "restart",
    "s": "restart",
    "4": "discard",
    "d": "discard",
}
LEAVE = frozenset({"q", "\x03", "\x04", "\x1b"})


def _rest(
    term: Terminal, act: str, verb: str, name: str | None, note: str | None, as_json: bool
) -> None:
    with opened(term) as (app, desk):
        id = chosen(app, desk, name)
        # what is done stays done, and that is not an error
        if act == "pause" and not work.is_whole(epics.load(desk, id).state):
            epics.insist(desk, id)
        did(term, desk, id, epics.do(desk, id, act, {"note": note}), verb, as_json=as_json)


@click.command("pause", short_help=TABLE["pause"][2])
@click.argument("name", required=False)
@note_option
@options.json_option
@click.pass_obj
def pause_command(term: Terminal, name: str | None, note: str | None, as_json: bool) -> None:
    """Pause an epic.

    Nobody works on it, and it does not count as crashed. Without NAME: the one of this work tree.

    \b
    Example:
      git mem work pause -m "waiting for the API keys"
    """
    _rest(term, "pause", "paused", name, note, as_json)


@click.command("abort", short_help=TABLE["abort"][2])
@click.argument("name", required=False)
@note_option
@options.json_option
@click.pass_obj
def abort_command(term: Terminal, name: str | None, note: str | None, as_json: bool) -> None:
    """Abort an epic. It stays visible and can be resumed.

    \b
    Example:
      git mem work abort checkout-rework -m "the shop is closed"
    """
    _rest(term, "abort", "aborted", name, note, as_json)


@click.command("complete", short_help=TABLE["complete"][2])
@click.argument("name", required=False)
@click.option("--yes", is_flag=True, help="Also when stories are not done.")
@note_option
@options.json_option
@click.pass_obj
def complete_command(
    term: Terminal, name: str | None, yes: bool, note: str | None, as_json: bool
) -> None:
    """Complete an epic. It completes automatically when all stories are done.

    \b
    Example:
      git mem work complete checkout-rework --yes -m "1.4 is not wanted any more"
    """
    with opened(term) as (app, desk):
        id = chosen(app, desk, name)
        facts = epics.load(desk, id).facts
        left = facts["total"] - facts["done"]
        if left and not yes and facts["rest"] != "completed":
            raise UserError(
                f"{left} of {facts['total']} stories of {id[4:]} are not done.",
                f"Close it all the same: git mem work complete {id[4:]} --yes",
            )
        did(
            term,
            desk,
            id,
            epics.do(desk, id, "complete", {"note": note}),
            "completed",
            as_json=as_json,
        )


@click.command("discard", short_help=TABLE["discard"][2])
@click.argument("name", required=False)
@click.option("--force", is_flag=True, help="Even if a session works on it.")
@options.json_option
@click.pass_obj
def discard_command(term: Terminal, name: str | None, force: bool, as_json: bool) -> None:
    """Archive an epic. git mem restore brings it back.

    \b
    Example:
      git mem work discard checkout-rework
    """
    with opened(term) as (app, desk):
        _discard(term, desk, epics.load(desk, chosen(app, desk, name)), force, as_json)


@click.command("resume", short_help=TABLE["resume"][2])
@click.argument("name", required=False)
@click.option("--continue", "go", is_flag=True, help="Go on where it stopped.")
@click.option("--review", is_flag=True, help="See what was done; nothing changes.")
@click.option(
    "--restart", is_flag=True, help="Begin the current story anew; stories that are done stay done."
)
@click.option("--discard", is_flag=True, help="Put the epic aside.")
@click.option("--force", is_flag=True, help="Even if another session works on it.")
@options.json_option
@click.pass_obj
def resume_command(
    term: Terminal,
    name: str | None,
    go: bool,
    review: bool,
    restart: bool,
    discard: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Resume an epic that was paused, left or crashed.

    On a terminal you choose how; elsewhere the ways are listed.

    \b
    Examples:
      git mem work resume
      git mem work resume checkout-rework --continue
    """
    way = exclusive_flag({"continue": go, "review": review, "restart": restart, "discard": discard})
    with opened(term) as (app, desk):
        epic = epics.load(desk, chosen(app, desk, name))
        if way:
            _take(term, desk, epic, way, force, as_json)
        elif as_json:
            term.json({**epic_view(epic), "options": epics.options(epic)})
        else:
            _choose(term, desk, epic, force)


def _choose(term: Terminal, desk: EpicServices, epic: Epic, force: bool) -> None:
    """Show an epic and the ways to resume it; on a terminal, ask which one to take."""
    for line in card(term, epic, desk.clock.now()):
        term.say(line)
    ways = epics.options(epic)
    if not ways:  # put aside: what it says comes next is the one way
        return
    term.say("")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        for way in ways:
            term.say(f"  {plain(way['command']):<50}  {plain(way['label'])}")
        return
    keys = {way: key for key, way in reversed(KEYS.items())}
    for way in ways:
        term.say(f"  [{keys[way['option']]}] {way['option']}: {plain(way['label'])}")
    _ask(term, desk, epic, {way["option"] for way in ways}, force)


def _ask(term: Terminal, desk: EpicServices, epic: Epic, ways: set[str], force: bool) -> None:
    """Do what a key says; a review asks again."""
    numbers = "[1] [2] [3] [4]" if "restart" in ways else "[1] [2] [4]"
    for key in _typed_keys(f"{numbers}, [q]uit ? "):
        if key in LEAVE:
            return
        way = KEYS.get(key, "")
        if way in ways:
            _take(term, desk, epic, way, force, as_json=False)
            if way != "review":
                return


def _typed_keys(prompt: str) -> Iterator[str]:
    """Yield the keys that the user types; who types ahead is read at once."""
    while True:
        click.echo(prompt, nl=False)
        try:
            typed = click.getchar().lower()
        except EOFError:  # Ctrl-D
            typed = "q"
        click.echo(typed if typed.isprintable() else "")
        yield from typed


def _take(
    term: Terminal, desk: EpicServices, epic: Epic, way: str, force: bool, as_json: bool
) -> None:
    id = epic.record.id
    if way == "review":
        if as_json:
            term.json(epic_view(epic))
            return
        for line in card(term, epic, desk.clock.now(), whole=True):
            term.say(line)
    elif way == "discard":
        _discard(term, desk, epic, force, as_json)
    elif way == "continue":
        if _others(desk, epic) and not force:
            term.note(
                f"another session works on it: "
                f"{epic.how['session'] or 'a process of this machine'}. Agree on who does what."
            )
        did(term, desk, id, epics.do(desk, id, "go", {}), "going on", as_json=as_json)
    else:
        _refuse(desk, epic, force, "restart")
        # named here: the story that is begun anew is the one that was seen, though another one may
        # be current by now
        did(
            term,
            desk,
            id,
            epics.do(desk, id, "restart", {"story": epic.facts["story"]}),
            f"story {plain(epic.facts['story'])} begun anew",
            as_json=as_json,
        )


def _discard(term: Terminal, desk: EpicServices, epic: Epic, force: bool, as_json: bool) -> None:
    _refuse(desk, epic, force, "discard")
    written = epics.discard(desk, epic)
    if as_json:
        term.json(waiting_epic(epic.record.id, written))
    elif written.commit is None and not written.journaled:
        term.say(
            f"nothing changed: epic {plain(epic.slug)} was discarded before. It comes back with: "
            f"git mem restore {plain(epic.record.id)}"
        )
    else:
        term.say(
            f"discarded: epic {plain(epic.slug)}{options.journaled(written)}. It comes back with: "
            f"git mem restore {plain(epic.record.id)}"
        )


def _others(desk: EpicServices, epic: Epic) -> bool:
    """Say whether another session, that is surely alive, is at an epic."""
    session = epic.how["session"]
    return bool(
        epic.how["alive"]
        and session
        and session != desk.who.session
        and epic.how["process"] != desk.process
    )


def _refuse(desk: EpicServices, epic: Epic, force: bool, way: str) -> None:
    if _others(desk, epic) and not force:
        raise UserError(
            f"session {epic.how['session']} is at {epic.slug} now.",
            f"Let it finish, or say so: git mem work resume {epic.slug} --{way} --force",
        )
