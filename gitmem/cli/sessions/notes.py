"""What is written into a session by hand: notes, and marks of what matters."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.sessions.find import find_session
from gitmem.cli.sessions.group import current
from gitmem.cli.sessions.run import drain, running, sign, write
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.hooks.session_log import TEXT, kept
from gitmem.redaction.formats import public
from gitmem.services.session_log import reader
from gitmem.services.work import context
from gitmem.state import activity, requests, sessions
from gitmem.state.sessions import Session

NOTE, MARK = "Note", "Mark"
SPOKEN = frozenset(
    {"PromptSubmit", "Said", "TurnEnd", NOTE}
)  # events that are a turn of somebody's
TEXTS = 1 << 20  # characters of standard input
NO_SESSION = "Start one: git mem session start. Or name one: --session ID"


def chosen(app: App, session: str | None) -> Session:
    """Return the session to write into: the one that is named, else the one that this runs in.

    Raises UserError.
    """
    if session:
        return find_session(app, session)
    mine = running(app)
    if mine is None:
        here = current(app.env)
        raise UserError(
            f"session '{plain(here)}' "
            f"{'has ended' if sessions.get(app.state, here) else 'is not known here'}."
            if here
            else "no session is open here.",
            NO_SESSION,
        )
    return mine


def _given(term: Terminal, words: Sequence[str]) -> str:
    """Return a text from the command line, or from standard input for `-`.

    Without what is private, and without secrets. A cut is said.
    """
    text = " ".join(words)
    if text == "-":
        try:
            text = sys.stdin.read(TEXTS)
        except UnicodeDecodeError as error:
            raise UserError(
                "standard input is not UTF-8.",
                "Convert it first, as with: iconv -f latin1 -t utf-8",
            ) from error
    whole = public(text).strip()
    text = kept(whole, TEXT)
    if not text:
        raise click.UsageError("the text is empty.")
    if len(whole) > TEXT:
        term.note(f"only the first {TEXT:,} characters are kept, of {len(whole):,}.")
    return text


def _session_option(command: Any) -> Any:
    return click.option(
        "--session", metavar="ID", help="Of another session than the one that this runs in."
    )(command)


def _write_record_anew(term: Terminal, app: App, mine: Session) -> None:
    """Have the record of a session that has ended take in what was just written into it."""
    if mine.ended is None or mine.why == sessions.GONE or not app.settings.get("recordSessions"):
        return
    requests.ask_record(app.state, mine.id, app.clock.now())
    drain(app)
    term.note(
        f"session {plain(mine.id[:12])} has ended; its record is written anew: git mem session "
        f"show {plain(mine.id[:12])}"
    )


@click.command("note", short_help="Write something into a session")
@click.argument("text", nargs=-1, required=True)
@_session_option
@options.json_option
@click.pass_obj
def note_command(term: Terminal, text: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Write a note into the session's history, and so into its record. '-' reads standard input.

    \b
    Examples:
      git mem session note "The export must keep the old column order"
      make test 2>&1 | tail -5 | git mem session note -
    """
    content = _given(term, text)
    with term.open() as app:
        mine = chosen(app, session)
        sign(app, mine)
        write(app, mine, "user", content, event=NOTE)
        activity.note(app.state, context.root_of(app.location.worktree), app.clock.now(), asked=1)
        _write_record_anew(term, app, mine)
        if as_json:
            term.json({"session": mine.id, "text": content})
            return
        term.say(f"noted in session {plain(mine.id[:12])}: {plain(content.splitlines()[0])}")


@click.command("mark", short_help="Mark what matters in a session")
@click.argument("text", nargs=-1)
@click.option("--last", is_flag=True, help="The last turn (what is meant without anything).")
@click.option(
    "--line",
    type=click.IntRange(1),
    metavar="N",
    help="The line with this number, as 'git mem session show' has it.",
)
@_session_option
@options.json_option
@click.pass_obj
def mark_command(
    term: Terminal,
    text: tuple[str, ...],
    last: bool,
    line: int | None,
    session: str | None,
    as_json: bool,
) -> None:
    """Mark a turn as important, or add a new marked line.

    It is kept when a long history is condensed, and goes into the record.

    Without arguments, the last turn is marked. '-' reads standard input.

    \b
    Examples:
      git mem session mark
      git mem session mark "Never retry a payment without its key"
      git mem session mark --line 42
    """
    if sum((bool(text), last, line is not None)) > 1:
        raise click.UsageError("give a text, --last or --line: one of them.")
    content = _given(term, text) if text else ""
    with term.open() as app:
        mine = chosen(app, session)
        about: dict[str, Any] = {}
        if not content:
            number, row, is_marked = _turn(app, mine, line)
            content, about = reader.content(row), {"line": number, "of": row.get("role")}
            if is_marked:
                _marked(term, mine, content, number, as_json, new=False)
                return
        sign(app, mine)
        write(app, mine, "user", content, event=MARK, **about)
        _write_record_anew(term, app, mine)
        _marked(term, mine, content, about.get("line", 0), as_json, new=True)


def _turn(app: App, mine: Session, line: int | None) -> tuple[int, dict[str, Any], bool]:
    """Return (line, row, whether it is marked) of a turn: of a line, else of the last one.

    Raises UserError.
    """
    turn: tuple[int, dict[str, Any]] | None = None
    marked = set()
    for number, row in reader.numbered(app.home, mine):
        event = reader.facts(row).get("event")
        if event == MARK:
            marked.add(reader.facts(row).get("line"))
        elif reader.content(row) and (number == line if line else event in SPOKEN):
            turn = number, row
    if turn is None:
        if line:
            raise UserError(
                f"there is nothing to mark in line {line} of session {plain(mine.id[:12])}.",
                f"See its lines: git mem session show {plain(mine.id[:12])}",
            )
        raise UserError(
            f"nobody has said anything in session {plain(mine.id[:12])} yet.",
            "Mark something new: git mem session mark TEXT",
        )
    return *turn, turn[0] in marked


def _marked(
    term: Terminal, mine: Session, content: str, line: int, as_json: bool, *, new: bool
) -> None:
    if as_json:
        term.json({"session": mine.id, "line": line or None, "text": content, "is_new": new})
        return
    first = plain(content.splitlines()[0][:100])
    term.say(
        f"marked in session {plain(mine.id[:12])}: {first}"
        if new
        else f"line {line} is marked already: {first}"
    )
