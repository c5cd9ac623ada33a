"""`git mem timeline`, `git mem timeline --trends`, `git mem event`: what happened, in one order."""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options, places
from gitmem.cli.group import Parts
from gitmem.cli.terminal import (
    BARS,
    Terminal,
    path_shown,
    path_text,
    plain,
    short,
    title_shown,
    width,
)
from gitmem.clock import LAST, stamp
from gitmem.git import dates
from gitmem.services.timeline import events
from gitmem.services.timeline.events import (
    SOURCES,
    TimelineEvent,
    TimelineSources,
    Wanted,
    timeline,
)
from gitmem.text.plural import counted

NARROW = 72  # columns below which the graph has one column
COMMIT_ID, SESSION_ID = 10, 13  # characters of ids that are shown
COLORS = {
    "commit": "yellow",
    "memory": "green",
    "gotcha": "red",
    "snapshot": "blue",
    "session": "cyan",
    "work": "magenta",
    "event": "white",
}
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@click.command("timeline", cls=options.CountedCommand)
@click.option(
    "--since", metavar="DATE", help="Not before this: yesterday, '2 weeks ago', 2026-11-21."
)
@click.option("--until", metavar="DATE", help="Not after this.")
@click.option(
    "--source",
    "-s",
    "sources",
    multiple=True,
    type=click.Choice(SOURCES),
    help="Only from here. May be repeated.",
)
@click.option("--file", "file", metavar="PATH", help="Only what is about this file.")
@click.option("--agent", metavar="NAME", help="Only of this agent.")
@click.option("--session", metavar="ID", help="Only of this session.")
@click.option("--story", metavar="ID", help="Only of this story.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many, the newest.")
@click.option("--reverse", is_flag=True, help="Oldest first.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@options.json_option
@click.pass_obj
def timeline_command(
    term: Terminal,
    since: str | None,
    until: str | None,
    sources: tuple[str, ...],
    file: str | None,
    agent: str | None,
    session: str | None,
    story: str | None,
    limit: int | None,
    reverse: bool,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Show commits, memory changes, gotchas, snapshots, sessions, work and events, newest first.

    All are shown in one order.

    \b
    Examples:
      git mem timeline -20
      git mem timeline --since "1 week ago" --source gotcha --source commit
      git mem timeline --file src/pay.py --json
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other.")
    with term.open() as app:
        app.settle()
        wanted = Wanted(
            _since(app, since),
            _until(app, until, float(LAST)),
            sources,
            places.parse(app, file).path if file else "",
            agent or "",
            session or "",
            story or "",
            limit,
        )
        listed: Iterable[TimelineEvent] = timeline(_sources(app), wanted)
        if reverse:
            listed = list(listed)[::-1]
        if as_json:
            # clocks that were far out are in their place here
            rows = sorted(listed, key=lambda event: event.at if reverse else -event.at)
            term.json([_event_json(event) for event in rows])
        elif as_csv:
            term.page(_csv(listed), app)
        else:
            term.rows(_graph(term, listed, sources or SOURCES), app)


def _event_json(event: TimelineEvent) -> dict[str, Any]:
    return {
        "at": stamp(event.at),
        "source": event.source,
        "action": event.what,
        "id": event.id or None,
        "title": event.title,
        "trust_marks": list(event.trust),
        "author": event.author or None,
        "agent": event.agent or None,
        "session": event.session or None,
        "story": event.story or None,
        "paths": list(map(path_text, event.files)),
    }


def _sources(app: App) -> TimelineSources:
    return TimelineSources(
        app.code_history, app.state, app.indexes(), lambda id_: app.get(id_)[1].record
    )


def _since(app: App, text: str | None) -> float:
    return float(dates.since(app.git, text)) if text else 0.0


def _until(app: App, text: str | None, otherwise: float) -> float:
    return float(dates.until(app.git, text)) if text else otherwise


def _csv(listed: Iterable[TimelineEvent]) -> Iterator[str]:
    import csv
    import io

    def line(values: Iterable[str]) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow([plain(value) for value in values])
        return out.getvalue()

    yield line(events.COLUMNS)
    for event in listed:
        yield line(events.csv_row(event).values())


def _marked(event: TimelineEvent) -> str:
    return f"{event.title} ({', '.join(event.trust)})" if event.trust else event.title


def _graph(
    term: Terminal, listed: Iterable[TimelineEvent], sources: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each event, with a column for each source."""
    shown = [source for source in SOURCES if source in set(sources)]
    is_narrow = sys.stdout.isatty() and width() < NARROW
    most = SESSION_ID if "session" in shown and not is_narrow else COMMIT_ID
    day = ""
    for event in listed:
        local = datetime.fromtimestamp(max(0.0, min(event.at, float(LAST) - 86400))).astimezone()
        if local.strftime("%Y-%m-%d") != day:
            day = local.strftime("%Y-%m-%d")
            yield term.style(day, bold=True)
        columns = [event.source] if is_narrow else shown
        graph = " ".join(
            term.style("●", fg=COLORS[source])
            if source == event.source
            else term.style("│", fg="bright_black")
            for source in columns
        )
        id = _shown_id(event)[:most]
        what = (
            event.source
            if event.what in {event.source, "event"}
            else f"{event.source} {event.what}"
        )
        who = ", ".join(
            dict.fromkeys(
                x
                for x in (
                    event.author_name if event.source in {"commit", "event"} else "",
                    event.agent,
                )
                if x
            )
        )
        yield (
            f"{local:%H:%M} {graph} {term.style(f'{plain(what):<16}', fg=COLORS[event.source])} "
            f"{term.style(f'{plain(id):<{most}}', fg='yellow')} "
            f"{plain(_marked(event))}{f' ({plain(who)})' if who else ''}"
        )
    if not day:
        term.note("nothing happened that fits.")


def _shown_id(event: TimelineEvent) -> str:
    """Return as much of an id as names the event."""
    if event.source == "commit":
        return event.id[:COMMIT_ID]
    return event.id[:SESSION_ID] if event.source == "session" else short(event.id)


TABLE = {
    "add": ("code.timeline", "event_add_command", "Note an event"),
    "list": ("code.timeline", "event_list_command", "List the events that were noted"),
}


@click.group("event", cls=Parts, table=TABLE)
def event_command() -> None:
    """Note what happened outside of git: a release, an outage, a decision of a meeting.

    The timeline shows it.

    \b
    Examples:
      git mem event add "Released 2.0"
      git mem event list
    """


@click.command("add", short_help=TABLE["add"][2])
@click.argument("title", nargs=-1, required=True)
@click.option(
    "--at", metavar="DATE", help="When it happened: yesterday, '2026-11-21 14:00'. Default: now."
)
@click.option("-m", "--message", default="", metavar="TEXT", help="More about it.")
@click.option(
    "--file",
    "files",
    metavar="PATH",
    multiple=True,
    help="A file that it is about. May be repeated.",
)
@options.scope_options
@options.json_option
@click.pass_obj
def event_add_command(
    term: Terminal,
    title: tuple[str, ...],
    at: str | None,
    message: str,
    files: tuple[str, ...],
    scope: str,
    as_json: bool,
) -> None:
    """Note an event.

    \b
    Examples:
      git mem event add "Payment provider was down" --at "yesterday 14:00"
      git mem event add "Released 2.0" --file CHANGELOG.md
    """
    with term.open_or_user(scope == "user") as app:
        from gitmem.services.records import write

        happened = stamp(float(dates.when(app.git, at)) if at else app.clock.now())
        anchors = [{"path": places.parse(app, path).path} for path in files]
        record = write.draft(
            app.writer(), "event", " ".join(title), message, at=happened, anchors=anchors or None
        )
        change = write.add(app.store(scope), app.writer(), record)
        if as_json:
            from gitmem.cli.rows import written_json

            term.json(written_json(scope, change))
            return
        term.say(
            f"noted {term.style(short(record.id), fg='yellow')} {title_shown(record.title)} at "
            f"{happened}{options.journaled(change.written)}"
        )


@click.command("list", short_help=TABLE["list"][2])
@options.json_option
@click.pass_obj
def event_list_command(term: Terminal, as_json: bool) -> None:
    """List the events that were noted, the newest first.

    \b
    Example:
      git mem event list --json
    """
    with term.open() as app:
        listed = list(timeline(_sources(app), Wanted(sources=("event",))))
        if as_json:
            term.json([_event_json(event) for event in listed])
            return
        for each in listed:
            term.say(
                f"{term.style(short(each.id), fg='yellow')} "
                f"{stamp(each.at)[:16].replace('T', ' ')} {plain(_marked(each))}"
            )
        if not listed:
            term.note("no event was noted. Note one: git mem event add 'title'")


@click.command("timeline --trends")
@click.option(
    "--since", metavar="DATE", default="90 days ago", show_default=True, help="Not before this."
)
@click.option("--until", metavar="DATE", help="Not after this.")
@options.json_option
@click.pass_obj
def trends_command(term: Terminal, since: str, until: str | None, as_json: bool) -> None:
    """Show trends: hot files, active agents, working hours, tool failure rates and learning.

    Hours are in local time. What was learned is shown week by week.

    \b
    Examples:
      git mem timeline --trends
      git mem timeline --trends --since "30 days ago" --json
    """
    from gitmem.services.timeline.trends import trends

    with term.open() as app:
        app.settle()
        hidden = app.hidden(str(app.location.worktree) if app.location.worktree else None)
        until_ = _until(app, until, app.clock.now())
        report = trends(
            app.code_history,
            app.state,
            app.indexes(),
            _since(app, since),
            until_,
            _local,
            lambda path: not hidden.has(path),
        )
        if as_json:
            term.json(
                {
                    **report,
                    "hot_files": [
                        {**row, "path": path_text(row["path"])} for row in report["hot_files"]
                    ],
                }
            )
            return
        for text in _trends(term, report):
            term.say(text)


def _local(at: float) -> tuple[int, int, str]:
    when = datetime.fromtimestamp(max(0.0, min(at, float(LAST) - 86400))).astimezone()
    return when.hour, when.weekday(), (when - timedelta(days=when.weekday())).strftime("%Y-%m-%d")


def _counted(counts: dict[str, Any], what: str) -> str:
    return counted(counts[f"{what}_count"], what)


def _trends(term: Terminal, report: dict[str, Any]) -> Iterator[str]:
    yield f"{_counted(report, 'commit')}, {_counted(report, 'session')}"
    if report["hot_files"]:
        yield term.style("\nHot files", bold=True) + "  commits, edits of sessions"
        for row in report["hot_files"]:
            yield f"  {row['commit_count']:>5} {row['edit_count']:>5}  {path_shown(row['path'])}"
    if report["agents"]:
        yield term.style("\nAgents", bold=True)
        for row in report["agents"]:
            failed = (
                f", {row['failed_count']} of {row['tool_call_count']} tool calls failed"
                if row["tool_call_count"]
                else ""
            )
            yield f"  {row['session_count']:>5}  {plain(row['agent'])}{failed}"
    if any(report["hours"]):
        peak = max(range(24), key=lambda hour: report["hours"][hour])
        yield term.style("\nHours", bold=True) + "  commits and session starts, local time"
        yield f"  0 {_bars(report['hours'])} 23   most at {peak}:00"
        yield "  " + "  ".join(
            f"{day} {count}" for day, count in zip(DAYS, report["weekdays"], strict=True)
        )
    calls = report["tool_calls"]
    if calls["failure_rate"] is not None:
        yield (
            term.style("\nErrors", bold=True)
            + f"  {calls['failure_rate']:.1%} of {calls['count']:,} tool calls failed"
        )
    if report["learned_weeks"]:
        yield term.style("\nLearned", bold=True) + "  week of, memories, gotchas"
        for row in report["learned_weeks"][-12:]:
            yield f"  {row['week']}  {row['memory_count']:>4} {row['gotcha_count']:>4}"


def _bars(counts: list[int]) -> str:
    most = max(counts) or 1
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] if count else " " for count in counts)
