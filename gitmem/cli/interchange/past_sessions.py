"""`git mem import sessions`: read what agents' CLIs kept of past sessions in this repository."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App
from gitmem.cli.terminal import Terminal, path_shown, title_shown
from gitmem.clock import stamp
from gitmem.services.interchange.values import counted
from gitmem.services.sessions import past_choice
from gitmem.services.sessions.past_choice import PastChoice
from gitmem.services.sessions.past_transcripts import AGENTS, PastTranscript
from gitmem.worker import past_sessions

if TYPE_CHECKING:
    from gitmem.worker.past_reading import SessionRow

SOURCE = "sessions"  # the word for them
COMMAND = f"git mem import {SOURCE}"
LIMIT = 20  # sessions at one time, unless another number is given
ALL = 1 << 31
SIZES = ((1 << 20, "MiB"), (1 << 10, "KiB"))
# why a session is left out, in words
REASONS = {
    past_choice.RECORDED: "recorded by hooks",
    past_choice.READ: "read before and unchanged",
    past_choice.RUNNING: "at work now, or written to in the last minutes",
    past_choice.FORGOTTEN: "forgotten here",
}


def check_options(
    path: str | None, given: Mapping[str, object], limit: int | None, agents: Sequence[str]
) -> bool:
    """Return whether past sessions are meant; raise UsageError for options that do not fit.

    `given` are options that are for stores alone, by their names.
    """
    if path == SOURCE:
        unfit = [name for name, value in given.items() if value]
        if unfit:
            raise click.UsageError(
                f"{unfit[0]} makes no sense with '{SOURCE}'. A folder of that name is ./{SOURCE}."
            )
        return True
    if limit is not None or agents:
        name = "--agent" if agents else "--limit"
        raise click.UsageError(f"{name} is for past sessions: {COMMAND} {name} …")
    return False


def import_sessions(
    term: Terminal, limit: int | None, agents: Sequence[str], *, dry_run: bool, as_json: bool
) -> None:
    """Read past sessions and say what came of it; with `dry_run` say what would."""
    from gitmem.worker import past_reading  # heavier than all the rest of an import

    names = tuple(agents) or tuple(AGENTS)
    with term.open() as app:
        choice = past_sessions.choose_sessions(app, limit or LIMIT, names)
        rows = past_reading.read_sessions(
            app, choice, dry=dry_run, progress=term.progress("reading session")
        )
        if as_json:
            term.json(data_of(rows, choice, is_dry_run=dry_run))
        elif not rows:
            _say_nothing(term, app, choice, names)
        elif dry_run:
            _list(term, rows, choice)
        else:
            _report(term, rows, choice)


def waiting(app: App) -> PastChoice:
    """Return the past sessions that are still to be read, without reading one."""
    return past_sessions.choose_sessions(app, ALL)


def name_sessions(term: Terminal, choice: PastChoice) -> None:
    """Say that there are past sessions, and how to read them."""
    if choice.chosen:
        term.say(f"and {named(choice.chosen)}: {COMMAND}")


def by_agent(transcripts: Iterable[PastTranscript]) -> str:
    """Return how many sessions of which agents there are: `3 of Claude Code and 1 of Codex`."""
    counts = Counter(transcript.agent for transcript in transcripts)
    parts = [f"{counts[agent]:,} of {AGENTS[agent]}" for agent in AGENTS if counts[agent]]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def named(transcripts: Sequence[PastTranscript]) -> str:
    """Return past sessions in words: `4 past sessions (3 of Claude Code and 1 of Codex)`."""
    return f"{counted(len(transcripts), 'past session')} ({by_agent(transcripts)})"


def _say_nothing(term: Terminal, app: App, choice: PastChoice, names: Sequence[str]) -> None:
    """Say why nothing was read."""
    if choice.others:
        term.say("no past session is left to read here.")
        _say_others(term, choice)
        return
    looked = ", ".join(map(path_shown, past_sessions.folders_looked_at(app, names)))
    term.say("no past session in this repository was found.")
    term.note(f"looked in: {looked}")


def _say_others(term: Terminal, choice: PastChoice) -> None:
    for standing, reason in REASONS.items():
        number = choice.others[standing]
        if number:
            term.note(f"left out: {counted(number, 'session')}, {reason}")


def _list(term: Terminal, rows: "Sequence[SessionRow]", choice: PastChoice) -> None:
    """Say what an import would read, the newest first."""
    for row in reversed(rows):
        agent, size = row.transcript.agent, _size(row.transcript.size)
        when = stamp(row.started)[:16].replace("T", " ")
        number = row.failure or counted(len(row.proposals), "proposal")
        term.say(f"{agent:<6} {when} {size:>9}  {number:<12} {title_shown(row.title)}".rstrip())
    total = sum(len(row.proposals) for row in rows)
    sessions = counted(len(rows), "session")
    term.say(f"{sessions} would bring at most {counted(total, 'proposal')}: {COMMAND}")
    _say_left(term, choice)


def _size(size: int) -> str:
    for unit, name in SIZES:
        if size >= unit:
            return f"{size / unit:,.0f} {name}"
    return f"{size} B"


def _report(term: Terminal, rows: "Sequence[SessionRow]", choice: PastChoice) -> None:
    """Say what an import has brought, and what to do next."""
    for row in rows:
        if row.failure:
            term.note(f"left out: {path_shown(row.transcript.path)}: {row.failure}")
    read = [row for row in rows if not row.failure]
    fruitful = [row for row in read if row.proposals]
    total = sum(len(row.proposals) for row in fruitful)
    term.say(f"read {counted(len(read), 'past session')}.")
    if total:
        of_sessions = counted(len(fruitful), "session")
        verb = "waits" if total == 1 else "wait"
        term.say(f"{counted(total, 'proposal')} of {of_sessions} {verb} for you: git mem inbox")
    else:
        term.say("nothing new for the inbox was said in them.")
    _say_left(term, choice)
    if read:
        term.note("to take all of this back: git mem undo")


def _say_left(term: Terminal, choice: PastChoice) -> None:
    """Say which sessions are left, and why."""
    if choice.later:
        older = counted(len(choice.later), "older session")
        verb = "is" if len(choice.later) == 1 else "are"
        term.note(f"{older} {verb} left: run this again, or with --limit {len(choice.later)}")
    _say_others(term, choice)


def data_of(
    rows: "Sequence[SessionRow]", choice: PastChoice, *, is_dry_run: bool
) -> dict[str, Any]:
    """Return what an import of sessions did as JSON."""
    return {
        "is_dry_run": is_dry_run,
        "journaled": False,
        "imports": [],
        "past_sessions": [
            {
                "agent": row.transcript.agent,
                "session": row.transcript.session,
                "started": stamp(row.started),
                "title": row.title,
                "size_bytes": row.transcript.size,
                "proposal_ids": list(row.proposals),
                "detail": row.failure,
            }
            for row in rows
        ],
        "session_counts": _counts(choice, len(choice.later)),
    }


def counts_json(choice: PastChoice) -> dict[str, Any]:
    """Return the part of an import's JSON that is about past sessions, where none is read."""
    return {"past_sessions": [], "session_counts": _counts(choice, len(choice.chosen))}


def _counts(choice: PastChoice, still_open: int) -> dict[str, int]:
    """Return how many sessions there are, by their standing."""
    counts = {past_choice.OPEN: still_open, **{name: choice.others[name] for name in REASONS}}
    return {f"{name}_count": number for name, number in counts.items()}
