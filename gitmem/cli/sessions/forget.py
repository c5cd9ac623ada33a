"""Forget a session: the command that removes what was kept of it."""

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.consent import require_yes
from gitmem.cli.exports import update_exports
from gitmem.cli.sessions.find import RUNNING, SEE, state_of
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.repo import hook_switch
from gitmem.services.records import write
from gitmem.services.records.gone import ITS_SESSION
from gitmem.services.session_log import reader
from gitmem.services.sessions import forgetting
from gitmem.services.sessions.forgetting import ForgottenSession
from gitmem.services.snapshots import keep
from gitmem.state import sessions
from gitmem.text.plural import counted


@click.command("forget", short_help="Delete the stored data of a session")
@click.argument("session")
@click.option("--force", is_flag=True, help="Also one that is open. It ends without a record.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@options.json_option
@click.pass_obj
def forget_command(term: Terminal, session: str, *, force: bool, yes: bool, as_json: bool) -> None:
    """Remove a session: its history, its record, and the working state about it.

    Facts that nobody confirmed and that come from this session alone are removed; others lose it as
    a source. Confirmed facts stay, without its quotes. Snapshots that it made by itself, at its end
    or before a compaction, are removed; those that somebody asked for stay.

    Nothing makes it again: its hooks stay off, and its transcript is not read any more. The
    transcript itself is the agent's, and stays. So does git's history of the private store: git mem
    forget --purge removes a text from there.

    It asks first; without a terminal it needs --yes.

    \b
    Examples:
      git mem session forget 7k2m9q
      git mem session forget 7k2m9q --yes --json
    """
    with term.open() as app:
        write.require_person(app.writer(), "forget", "sessions", f"session forget {session}")
        app.settle()
        id = _resolve(app, session)
        mine = sessions.get(app.state, id)
        if mine is not None and state_of(mine) == RUNNING and not force:
            raise UserError(
                f"session {plain(id)} is still open.",
                f"End it first: git mem session end {plain(id)}. Or give --force.",
            )
        require_yes(f"Delete the stored data of session {plain(id)}?", yes=yes)
        done = _forget(app, id)
        transcript = mine.transcript if mine else ""
        if as_json:
            term.json(
                {
                    "session": id,
                    "record_ids": done.records,
                    "removed_fact_ids": [fact.id for fact in done.facts],
                    "changed_fact_ids": done.changed,
                    "snapshot_ids": done.snapshots,
                    "history_file_count": done.files,
                    "state_row_count": done.rows,
                    "transcript_file": transcript or None,
                }
            )
        else:
            _say(term, id, done, transcript)
        update_exports(term, app, done.facts)


def _forget(app: App, id: str) -> ForgottenSession:
    private, who = app.store("private"), app.writer(session="")
    hook_switch.turn_off_for_good(app.home, app.clock.now(), id)
    snapshots = forgetting.automatic_snapshots(private, id)
    dropped = keep.drop(app.objects, private, who, snapshots, ITS_SESSION)
    stores = [app.store("shared"), private]
    if app.has_user() and not app.is_user_store():
        stores.append(app.store("user"))
    done = forgetting.forget_session(stores, who, app.home, app.state, id)
    done.snapshots = dropped
    return done


def _resolve(app: App, text: str) -> str:
    """Return the id of the one session that a text names: open, ended, or known by what it left.

    Raises UserError.
    """
    ids = {mine.id for mine in sessions.some(app.state)}
    ids |= {reader.stem_of(name)[reader.HEAD :] for name in reader.names(app.home)}
    ids |= {str(row["session"]) for row in app.rows(kinds=("session",), fields=("session",))}
    named = [id for id in ids - {""} if id == text] or [
        id for id in ids - {""} if text and id.startswith(text)
    ]
    if len(named) == 1:
        return named[0]
    if named:
        near = " | ".join(plain(id) for id in sorted(named)[:3])
        raise UserError(
            f"{len(named)} sessions begin with '{plain(text)}'.", f"Give more of its id: {near}"
        )
    if forgetting.is_forgotten(app.store("private"), text):
        raise UserError(f"session {plain(text)} was forgotten before; nothing is left of it.", SEE)
    raise UserError(f"there is no session '{plain(text)}'.", SEE)


def _say(term: Terminal, id: str, done: ForgottenSession, transcript: str) -> None:
    parts = (
        ("history file", "history files", done.files),
        ("session record", "session records", len(done.records)),
        ("fact", "facts", len(done.facts)),
        ("snapshot", "snapshots", len(done.snapshots)),
        ("row of state.db", "rows of state.db", done.rows),
    )
    removed = ", ".join(
        counted(number, singular, many) for singular, many, number in parts if number
    )
    term.say(f"forgot session {plain(id)}: {removed or 'nothing was left of it'}.")
    if done.changed:
        stay = counted(len(done.changed), "fact stays", "facts stay")
        term.say(f"{stay}, without what they had from it.")
    purged = " ".join([*done.records, *(fact.id for fact in done.facts)][:4])
    term.note(
        "git's history of the private store still has the texts; to remove them: git mem forget "
        f"--purge {purged or '--text TEXT'}"
    )
    if transcript:
        term.note(f"its agent's own transcript stays: {plain(transcript)}")
