"""Which sessions there are: the list, its filters, and how one is named."""

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import click

from gitmem.app import App
from gitmem.base import processes
from gitmem.cli import options
from gitmem.cli.screen import cell_count, cut_line
from gitmem.cli.sessions.group import current
from gitmem.cli.terminal import Terminal, age, plain, width
from gitmem.clock import stamp
from gitmem.errors import UserError
from gitmem.git import dates
from gitmem.repo import hook_switch
from gitmem.services.records.committers import marked_title
from gitmem.services.session_log import reader
from gitmem.state import sessions
from gitmem.state.sessions import Session
from gitmem.state.workflow import EXISTING, NEW, WORKFLOW
from gitmem.store.rejected import Rejected, rejected_in
from gitmem.text.greetings import trivial

# characters of what a session was asked, rows of its history that are looked at for it
ASKED, ROWS = 200, 200
# characters of an id that are shown at least, columns that are left for what a session is about
LEAST, ABOUT = 8, 24
RUNNING, ENDED, INTERRUPTED = "running", "ended", "interrupted"
SEE = "See them with: git mem session list"
NONE = (
    "The hooks of agents record sessions. See which hooks are installed: git mem install --list. "
    "To start a session yourself: git mem session start"
)
_LENGTH = re.compile(r"(\d{1,6})\s*([smhdw])")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(app: App, text: str, *, ends: bool = False) -> float:
    """Return the time that a user's text means, in seconds.

    For example, `2d` is two days ago. Other texts may be any date that git takes. With `ends`, a
    bare day means the moment at which it is over, else its first one. Raises UserError.
    """
    length = _LENGTH.fullmatch(text.strip().lower())
    if length:
        return app.clock.now() - int(length[1]) * _UNITS[length[2]]
    if ends and dates.is_bare_day(text):
        return float(dates.until(app.git, text) + 1)
    return float(dates.since(app.git, text))


def of_day(app: App, day: str) -> list[Session]:
    """Return the sessions of a day, as this machine's clock has it, the first first.

    Raises UserError.
    """
    back = {"today": 0, "yesterday": 86400}.get(day.strip().lower())
    if back is not None:
        day = time.strftime("%Y-%m-%d", time.localtime(app.clock.now() - back))
    try:
        parts = time.strptime(day.strip(), "%Y-%m-%d")
        # a day may have 23 hours, or 25
        begin, end = (
            time.mktime((parts.tm_year, parts.tm_mon, parts.tm_mday + n, 0, 0, 0, 0, 0, -1))
            for n in (0, 1)
        )
    except (ValueError, OverflowError) as error:
        raise UserError(
            f"'{plain(day)}' is not a day.", "Write it as 2026-11-21, today or yesterday."
        ) from error
    return sorted(
        (
            mine
            for mine in sessions.some(app.state)
            if mine.started < end and max(mine.last, mine.ended or 0.0) >= begin
        ),
        key=lambda mine: mine.started,
    )


def is_day(text: str) -> bool:
    """Say whether a text is a date, not an id."""
    return bool(_DAY.fullmatch(text.strip())) or text.strip().lower() in {"today", "yesterday"}


def find_session(app: App, text: str | None) -> Session:
    """Return a session by its id or the beginning of it.

    The one that the command runs in, else the latest, without; raises UserError.
    """
    every = sessions.some(app.state)
    if text is None:
        here = current(app.env)
        mine = [each for each in every if each.id == here] or every
        if not mine:
            raise UserError("there are no sessions yet.", NONE)
        return mine[0]
    matches = [each for each in every if each.id == text] or (
        [each for each in every if each.id.startswith(text)] if text else []
    )
    if len(matches) == 1:
        return matches[0]
    near = f" {' | '.join(plain(each.id) for each in matches[:3])}" if matches else ""
    raise UserError(
        f"{len(matches)} sessions begin with '{plain(text)}'."
        if matches
        else f"there is no session '{plain(text)}'.",
        f"Give more of its id:{near}" if matches else SEE,
    )


def state_of(mine: Session) -> str:
    """Return how a session stands: running, ended, or interrupted."""
    if mine.ended is not None:
        return INTERRUPTED if mine.why == sessions.GONE else ENDED
    return INTERRUPTED if mine.process and processes.is_gone(mine.process) else RUNNING


def facts(app: App, mine: Session) -> dict[str, Any]:
    """Return what is known of a session without its history, as JSON has it."""
    return {
        "id": mine.id,
        "agent": mine.agent,
        "state": state_of(mine),
        "kind": mine.kind or None,
        "title": mine.title or None,
        "story": mine.story or None,
        "branch": mine.branch or None,
        "started": stamp(mine.started),
        "last_seen": stamp(mine.last),
        "ended": stamp(mine.ended) if mine.ended is not None else None,
        "end_reason": mine.why or None,
        "work_tree": mine.root or None,
        "transcript_file": mine.transcript or None,
        "history_file": app.home.join("sessions", os.path.basename(mine.history)),
        "hooks_off": hook_switch.reads(
            hook_switch.path_of("session", app.home, app.env, mine.id), app.clock.now()
        )
        is not None,
    }


@click.command("list", short_help="List sessions, the latest first")
@click.option("--agent", metavar="NAME", help="Of one agent: claude, gemini, person, ...")
@click.option(
    "--since", metavar="DATE", help="With a sign of life since then: 2d, yesterday, 2026-11-21."
)
@click.option("--until", metavar="DATE", help="Begun before then.")
@click.option("--branch", metavar="NAME", help="Begun on a branch.")
@click.option(
    "--kind",
    type=click.Choice([NEW, EXISTING, WORKFLOW]),
    help="Only sessions that began as this kind.",
)
@click.option(
    "--state", type=click.Choice([RUNNING, ENDED, INTERRUPTED]), help="Only sessions in this state."
)
@click.option(
    "--limit", "-n", type=click.IntRange(1), default=20, show_default=True, help="How many."
)
@options.json_option
@click.pass_obj
def list_command(
    term: Terminal,
    /,
    since: str | None,
    until: str | None,
    limit: int,
    as_json: bool,
    **wanted: str | None,
) -> None:
    """List sessions, the latest first: agent, state, time and subject.

    \b
    Examples:
      git mem session list --agent claude
      git mem session list --since 2d --state interrupted
      git mem session list --branch main --json
    """
    with term.open() as app:
        every = sessions.some(app.state)
        begin = moment(app, since) if since else None
        end = moment(app, until, ends=True) if until else None
        listed = [
            mine
            for mine in every
            if (begin is None or mine.last >= begin)
            and (end is None or mine.started < end)
            and all(
                value is None or value == (state_of(mine) if key == "state" else getattr(mine, key))
                for key, value in wanted.items()
            )
        ][:limit]
        rejected = rejected_in(app.objects)
        about = subjects(app, listed, rejected)
        rows = [{**facts(app, mine), "subject": about.get(mine.id)} for mine in listed]
        for row in rows:
            row["title"] = unrejected(row["title"], rejected)
        if as_json:
            term.json(rows)
            return
        if every and not listed:
            agent = wanted["agent"]
            others = f"there are some of {', '.join(sorted({plain(mine.agent) for mine in every}))}"
            if agent and not any(mine.agent == agent for mine in every):
                term.say(f"no sessions of {plain(agent)}; {others}.")
            else:
                term.say(
                    f"no session matches; there {'is' if len(every) == 1 else 'are'} {len(every)} "
                    f"in all: git mem session list"
                )
        elif not listed:
            term.say(f"no sessions yet. {NONE}")
        for text in _table(
            term,
            rows,
            [mine.id for mine in every],
        ):
            term.say(text)


def unrejected(text: str | None, rejected: Rejected) -> str | None:
    """Return a text; None for none, and for one that quotes what somebody rejected."""
    return text if text and not rejected.is_quoted(text) else None


def subjects(app: App, listed: Sequence[Session], rejected: Rejected) -> dict[str, str]:
    """Return what sessions are about.

    That is a session's title, else the first question in it, else its story, else the title of its
    record. What quotes something that somebody rejected is passed over.
    """
    out = {mine.id: title for mine in listed if (title := unrejected(mine.title, rejected))}
    for mine in listed:
        if mine.id not in out and (text := _asked(app, mine, rejected) or mine.story):
            out[mine.id] = text
    wanted = tuple(mine.id for mine in listed if mine.id not in out)
    for row in app.rows(kinds=("session",), sessions=wanted) if wanted else ():
        out.setdefault(str(row["session"]), marked_title(row))
    return out


def _asked(app: App, mine: Session, rejected: Rejected) -> str:
    """Return what a session was asked first, a greeting only where there is nothing else."""
    hello = ""
    for n, (_, row) in enumerate(reader.numbered(app.home, mine)):
        text = " ".join(reader.content(row).split())
        if reader.event(row) == "PromptSubmit" and unrejected(text, rejected):
            if not trivial(text):
                return text[:ASKED]
            hello = hello or text
        if n >= ROWS:
            break
    return hello[:ASKED]


def _table(term: Terminal, rows: Sequence[dict[str, Any]], every: Sequence[str]) -> Iterator[str]:
    """Yield sessions as lines in columns.

    On a terminal, lines are no longer than its width and ids are as short as they may be given;
    elsewhere both are whole.
    """
    fits = sys.stdout.isatty()
    least = _least(every) if fits else {}
    cells = [
        [
            plain(row["id"])[: least.get(row["id"])],
            plain(row["agent"]),
            row["state"],
            age(row["last_seen"], term.clock.now()),
            plain(row["branch"] or ""),
        ]
        for row in rows
    ]
    wide = [max((cell_count(row[n]) for row in cells), default=0) for n in range(5)]
    if fits and sum(wide) + 2 * len(wide) + ABOUT > width():
        wide[4] = 0  # what it is about says more than the branch
    for row, cell in zip(rows, cells, strict=True):
        style = {RUNNING: {"fg": "green"}, INTERRUPTED: {"fg": "yellow"}}.get(row["state"], {})
        padded = [
            text + " " * (most - cell_count(text))
            for text, most in zip(cell, wide, strict=True)
            if most
        ]
        padded[2] = term.style(padded[2], **style)
        off = "(hooks are off)  " if row["hooks_off"] else ""
        about = f"{off}{plain(' '.join((row['subject'] or '').split()))}"
        room = width() - sum(most + 2 for most in wide if most)
        yield f"{'  '.join(padded)}  {cut_line(about, room) if fits else about}".rstrip()


def _least(every: Sequence[str]) -> dict[str, int]:
    """Return how many characters of each id identify it.

    In sorted order, the ids that have most of their beginning in common are neighbours.
    """
    out = dict.fromkeys(every, LEAST)
    for a, b in pairwise(sorted(out)):
        alike = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
        for id in (a, b):
            out[id] = max(out[id], alike + 1)
    return out
