"""Work that one agent hands over to another."""

import sys
from collections import Counter
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.sessions.context import agent_name, agent_of
from gitmem.cli.sessions.group import of_agent
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.clock import stamp
from gitmem.errors import UnknownId, UserError
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.redaction.mask import SecretFinding, scrub
from gitmem.repo.refs import head
from gitmem.services.records.committers import marked_title
from gitmem.services.session_log import reader
from gitmem.services.work import context, handover
from gitmem.services.work.context import HANDOVER
from gitmem.state import sessions
from gitmem.state.workflow import NEW

EACH = 10  # decisions, tasks and files that are named
TEXTS = 60_000  # characters of standard input


@click.command("handover", short_help="Hand the work over to another agent")
@click.argument("to", metavar="AGENT")
@click.option(
    "--message",
    "-m",
    "messages",
    multiple=True,
    metavar="TEXT",
    help="What the other agent has to know; '-' reads standard input.",
)
@click.option(
    "--from",
    "sender",
    metavar="NAME",
    help="Who hands over.  [default: GITMEM_AGENT, the setting, or who was at it last]",
)
@click.option(
    "--decision",
    "decided",
    multiple=True,
    metavar="TEXT",
    help="Something decided, beside what was recorded since the work began. May be repeated.",
)
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="TEXT",
    help="Something still to do, beside the open tasks. May be repeated.",
)
@click.option(
    "--evidence",
    "shown",
    multiple=True,
    metavar="TEXT",
    help="What shows it: a file, a commit, a record's id. May be repeated.",
)
@options.scope_flags(
    ("private", "Keep it in the private store, never pushed by git mem."),
    ("shared", "The shared store (default)."),
)
@options.json_option
@click.pass_obj
def handover_command(
    term: Terminal,
    /,
    to: str,
    messages: tuple[str, ...],
    sender: str | None,
    scope: str,
    as_json: bool,
    **given: tuple[str, ...],
) -> None:
    """Hand the work over to another agent: its state, decisions and open questions, with evidence.

    The other agent receives it when it starts, and by 'git mem session context --agent AGENT', also
    in other clones after a sync. A newer hand-over by the same agent replaces this one. To archive
    a hand-over: git mem archive ID.

    \b
    Examples:
      git mem session handover qa -m "Ready for review; the retry is the risky part"
      git mem session handover dev --from qa --open "Cover the timeout" --evidence tests/test_pay.py
    """
    receiver = agent_name(to)
    with term.open() as app:
        who = agent_of(app, sender)
        on = context.load(app, who, session=of_agent(app.env))
        if not who:
            who = next(
                (str(each["agent"]) for each in reversed(on.agents) if each["agent"] != receiver),
                "",
            )
        if who == receiver:
            raise UserError(
                f"@{who} cannot hand over to itself.", "Say who hands over: --from NAME"
            )
        masked: dict[str, None] = {}

        def clean(text: str) -> str:
            scrubbed = scrub(text.strip(), app.writer().allow)
            masked.update(dict.fromkeys(_masked(finding) for finding in scrubbed.findings))
            return scrubbed.text

        message = clean(_message(messages))
        given = {
            key: tuple(clean(text) for text in texts if text.strip())
            for key, texts in given.items()
        }
        what = _gather(app, who, receiver, message, on, given)
        if on.kind == NEW and not (message or any(given.values())):
            raise UserError(
                "there is nothing to hand over: nothing is in hand here.",
                f"Say it yourself: git mem session handover {receiver} -m TEXT",
            )
        change = handover.write(
            app.store(scope), app.writer(), what, on, _open(app, (who, receiver), scope)
        )
        app.index()  # hooks of the other agent answer from it, and do not wait for long
        for line in masked | dict.fromkeys(_masked(finding) for finding in change.findings):
            term.note(line)
        if as_json:
            term.json(
                {
                    "id": change.after.id,
                    "title": change.after.title,
                    **what.facts(on),
                    "changed": change.written.changed,
                    "store_commit": change.written.commit,
                    "journaled": change.written.journaled,
                }
            )
            return
        term.say(
            f"handed over {term.style(short(change.after.id), fg='yellow')} "
            f"{title_shown(change.after.title)}{options.journaled(change.written)}"
        )


def _masked(finding: SecretFinding) -> str:
    return f"masked a secret: {finding.kind} in line {finding.line} ({finding.preview})."


def _message(messages: tuple[str, ...]) -> str:
    try:
        texts = [(sys.stdin.read(TEXTS) if text == "-" else text).strip() for text in messages]
    except UnicodeDecodeError as error:
        raise UserError(
            "standard input is not UTF-8.", "Convert it first, as with: iconv -f latin1 -t utf-8"
        ) from error
    return "\n\n".join(filter(None, texts))


def _gather(
    app: App,
    sender: str,
    to: str,
    message: str,
    on: context.WorkContext,
    given: dict[str, tuple[str, ...]],
) -> handover.Handover:
    """Return the content of a handover.

    It holds what was said, and what was recorded and changed since the work began.
    """
    decisions, tasks = _facts_since(app, stamp(on.began) if on.began else "9", given)
    tree = app.worktree(app.location.worktree or "")
    evidence = [_shown(app, text) for text in given["shown"]]
    if on.began:
        evidence += [
            ("", f"commit {id} {subject}")
            for id, subject in tree.commits(on.began, app.clock.now())[:EACH]
        ]
        evidence += [("", path) for path in _changed(app, on.began)[:EACH]]
    dirty = tree.status() if app.location.worktree else []
    return handover.Handover(
        sender, to, message, decisions, tasks, evidence, head(app.location) or "", dirty
    )


def _facts_since(
    app: App, since: str, given: dict[str, tuple[str, ...]]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the decisions since the work began, and all open tasks; what was said comes first."""
    decisions: list[tuple[str, str]] = [("", text) for text in given["decided"]]
    tasks: list[tuple[str, str]] = [("", text) for text in given["opened"]]
    for row in app.rows(kinds=("memory",), statuses=LIVE, scopes=("shared",), order="created"):
        if HANDOVER in row["tags"]:
            continue
        is_decision = row["type"] in {"decision", "rule"} and row["created"] >= since
        if is_decision and len(decisions) < EACH:
            decisions.append((row["id"], marked_title(row)))
        elif row["type"] == "task" and len(tasks) < EACH:
            tasks.append((row["id"], marked_title(row)))
    return decisions, tasks


def _shown(app: App, text: str) -> tuple[str, str]:
    """Return evidence: a record by its id and title, else what was said."""
    try:
        _, stored = app.get(text)
    except UnknownId:
        return "", text
    return stored.record.id, stored.record.title


def _changed(app: App, since: float) -> list[str]:
    """Return the files that sessions of this work tree changed since the work began.

    The most changed file comes first.
    """
    root = context.root_of(app.location.worktree)
    begun = stamp(since)[:19]
    counts: Counter[str] = Counter()
    for session in sessions.some(app.state):
        if session.root != root or session.last < since:
            continue
        for row in reader.rows(app.home, session):
            if reader.facts(row).get("action") == "write" and str(row.get("timestamp")) >= begun:
                counts.update(reader.files(row))
    return sorted(counts, key=lambda path: (-counts[path], path))


def _open(app: App, agents: tuple[str, ...], scope: str) -> list[Record]:
    """Return the hand-overs that are open to these agents, the latest first."""
    wanted: dict[str, Any] = {
        "kinds": ("memory",),
        "statuses": LIVE,
        "tags": (HANDOVER,),
        "order": "created",
    }
    rows = app.rows(agents=tuple(name for name in agents if name), scopes=(scope,), **wanted)
    return [app.store(scope).get(row["id"]).record for row in rows]
