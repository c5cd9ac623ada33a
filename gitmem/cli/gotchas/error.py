"""`git mem error`: count an error, and see what is counted."""

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gitmem.agents.prompt_text import fix_text, without_fences
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.terminal import Terminal, age, plain, short
from gitmem.clock import stamp
from gitmem.errors import UserError
from gitmem.records.kinds import LIVE, error_patterns, gotcha_id
from gitmem.redaction.mask import scrub
from gitmem.repo.refs import head
from gitmem.services.gotchas.capture import Rule, rule_of
from gitmem.store.layout import record_path, tombstone_path

if TYPE_CHECKING:
    from gitmem.fingerprint.fingerprint import Fingerprint

TABLE = {
    "record": ("gotchas.error", "record_command", "Count an error that happened"),
    "list": ("gotchas.error", "list_command", "List the errors that are counted"),
}


@click.group("error", cls=Parts, table=TABLE, short_help="Count an error, and see what is counted")
def error_command() -> None:
    """Count errors by their message, without paths, numbers and times.

    An error that repeats becomes a gotcha.

    Agent hooks do this automatically.

    \b
    Examples:
      make 2>&1 | git mem error record --command make
      git mem error list
    """


@click.command("record", short_help=TABLE["record"][2])
@click.argument("message", nargs=-1)
@click.option(
    "--command",
    default="",
    metavar="TEXT",
    help="The command that printed it: it helps to name the category.",
)
@click.option("--session", metavar="ID", help="The session that it happened in.")
@options.json_option
@click.pass_obj
def record_command(
    term: Terminal, message: tuple[str, ...], command: str, session: str | None, as_json: bool
) -> None:
    """Count an error: MESSAGE, or the text on standard input.

    The third one within 24 hours makes a gotcha (setting captureThreshold).

    What you type is an error because you say so. A text without words, a text that says that all
    went well ("ok", "5 passed"), and a text from standard input without an error in it are not
    counted: exit code 1.

    \b
    Examples:
      pytest 2>&1 | git mem error record --command pytest
      git mem error record "TypeError: unsupported operand type(s)"
    """
    from gitmem.fingerprint.fingerprint import bounded
    from gitmem.repo.source_frames import anchors
    from gitmem.services.gotchas import count

    text = " ".join(message) or _piped_text()
    with term.open() as app:
        root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
        allow = app.settings.get("allowSecret")
        # before anything is counted
        text, command = scrub(bounded(without_fences(text)), allow).text, scrub(command, allow).text
        mark = _fingerprint(text, root, command, is_typed=bool(message))
        who = app.writer(session=session)
        rule = rule_of(app.settings)
        gotchas = [
            row
            for _, index in app.indexes()
            for row in index.by_patterns([mark.pattern])
            if row["status"] in LIVE
        ]
        if app.state.in_memory:
            raise UserError(
                "the error cannot be counted: the repository's folder cannot be written.",
                "Check its permissions and the disk.",
            )
        places = anchors(mark.locations, root, os.getcwd(), head(app.location))
        out = count.record(
            app.store, app.state, who, rule, mark, gotchas, places, text, command, root
        )
        fix = next((row["fix"] for row in gotchas if row["fix"]), "")
        row = {
            "pattern": mark.pattern,
            "title": scrub(mark.title, who.allow).text,
            "category": mark.category,
            "severity": mark.severity,
            "count": out.hits,
            "threshold": rule.threshold,
            "gotcha": out.gotcha,
            "workaround": next((row["workaround"] for row in gotchas if row["workaround"]), None),
            "last_fix": json.loads(fix) if fix else None,
        }
        if as_json:
            term.json(row)
        elif out.gotcha:
            _say_gotcha(term, row, fix)
        else:
            term.say(_counted(row, rule, is_kept_away=out.written is not None))


def _piped_text() -> str:
    """Return the text on standard input; raises UsageError when nobody pipes one in."""
    if sys.stdin.isatty():
        raise click.UsageError(
            "give the error's text, or pipe it in: make 2>&1 | git mem error record"
        )
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _fingerprint(text: str, root: str, command: str, *, is_typed: bool) -> "Fingerprint":
    """Return the fingerprint of an error; raises UserError for a text that is none."""
    # forty tools' rules, and `error list` needs none
    from gitmem.fingerprint.error_line import is_success
    from gitmem.fingerprint.fingerprint import fingerprint

    mark = fingerprint(text, root, command, failed=False)
    # whoever types it says that it is one
    if mark is None and is_typed and text.strip() and not is_success(text):
        mark = fingerprint(text, root, command, failed=True) or fingerprint(
            f"Error: {text}", root, command, failed=True
        )
    if mark is None:
        raise UserError(
            "no error was found in this; nothing was counted.",
            "Pipe in the lines that the tool printed, or type the error yourself: git mem error "
            "record TEXT",
        )
    return mark


def _say_gotcha(term: Terminal, row: Mapping[str, Any], fix: str) -> None:
    id = term.style(short(row["gotcha"]), fg="yellow")
    term.say(f"gotcha {id} {plain(row['title'])} (seen {row['count']}× lately)")
    if row["workaround"]:
        term.say(f"    {plain(row['workaround'])}")
    if fix:
        term.say(f"    {plain(fix_text(fix))}")


def _counted(row: Mapping[str, Any], rule: Rule, *, is_kept_away: bool) -> str:
    """Return what to say of an error that is no gotcha; `is_kept_away` if somebody decided so."""
    title, hits = plain(row["title"]), row["count"]
    if is_kept_away:
        return (
            f"counted {title} (seen {hits}× lately); its gotcha was rejected or archived, and "
            f"stays closed."
        )
    if hits >= rule.threshold and not rule.on:
        return f"counted {title} (seen {hits}× lately); it becomes no gotcha: capture is off."
    return f"counted {title}: {hits} of {rule.threshold}"


@click.command("list", short_help=TABLE["list"][2])
@click.option(
    "--all",
    "-a",
    "everything",
    is_flag=True,
    help="All that is remembered (7 days), not only the window.",
)
@options.json_option
@click.pass_obj
def list_command(term: Terminal, everything: bool, as_json: bool) -> None:
    """List the errors that this clone has counted, the most frequent first.

    \b
    Example:
      git mem error list --json
    """
    with term.open() as app:
        now = app.clock.now()
        rule = rule_of(app.settings)
        since = 0.0 if everything else now - rule.window
        rows: list[dict[str, Any]] = []
        for pattern, hits, last in app.state.errors(since):
            sessions, first = app.state.sessions_of(pattern, since)
            recent = app.state.hits(pattern, now, rule.window)  # what counts towards the threshold
            gotchas = [
                row
                for _, index in app.indexes()
                for row in index.by_patterns([pattern])
                if row["status"] in LIVE and pattern in error_patterns(row["triggers"])
            ]
            rows.append(
                {
                    "pattern": pattern,
                    "count": hits,
                    "recent_count": recent,
                    "session_count": sessions,
                    "first_seen": stamp(first),
                    "last_seen": stamp(last),
                    "gotcha": gotchas[0]["id"] if gotchas else None,
                    "muted": not gotchas and recent >= rule.threshold and _is_muted(app, pattern),
                }
            )
        if as_json:
            term.json(rows)
            return
        for row in rows:
            tail = _state(row, rule)
            term.say(
                f"{row['count']:>4}×  {age(row['last_seen'], now):<14} {plain(row['pattern'])}  "
                f"({tail})"
            )
        if not rows:
            term.note(
                "no error was counted"
                + ("." if everything else f" in the last {rule.window / 3600:g} hours.")
            )


def _state(row: dict[str, Any], rule: Rule) -> str:
    """Return what became of a counted error, as the list shows it."""
    if row["gotcha"]:
        return f"gotcha {short(row['gotcha'])}"
    if row["muted"]:
        return "muted: it was forgotten"
    within = "" if row["recent_count"] == row["count"] else f" in {rule.window / 3600:g} hours"
    return f"{row['recent_count']} of {rule.threshold}{within}"


def _is_muted(app: App, pattern: str) -> bool:
    """Say whether the gotcha of an error was forgotten, or put aside: it is not captured again."""
    id = gotcha_id(pattern)
    stores = [store for store in map(app.store, ("shared", "private")) if store.tip() is not None]
    paths = (tombstone_path(id), record_path(id))
    return any(store.read_file(path) is not None for store in stores for path in paths)
