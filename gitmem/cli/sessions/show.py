"""A whole session: shown to people, and exported as JSON."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_output import json_text
from gitmem.cli.sessions.find import facts, find_session, is_day, of_day
from gitmem.cli.sessions.group import hides_quotes
from gitmem.cli.sessions.notes import MARK, NOTE
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.errors import UnknownId, UserError
from gitmem.records.kinds import session_record_id
from gitmem.repo.output_files import write_output
from gitmem.services.session_log import reader
from gitmem.services.sessions.quotes import LEFT_OUT, rows_without_quotes
from gitmem.state import hook_costs, sessions
from gitmem.state.sessions import Session
from gitmem.text.plural import counted

FILES = 40  # files that are listed


class Whole:
    """What a session's history holds, gathered in one reading.

    Its rows are read again when they are shown.
    """

    def __init__(self, app: App, mine: Session) -> None:
        self.changed: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.marked: dict[int, str] = {}  # line -> what is marked
        # lines of tools that were about to be used, and were: one line says both
        self.answered: set[int] = set()
        self._begun: dict[str, int] = {}
        self.notes = self.asked = self.tools = self.failed = self.rows = 0
        self.branches: list[str] = []
        for number, row in reader.numbered(app.home, mine):
            self._add(number, row)
        try:
            record = app.get(session_record_id(mine.id), ("private", "shared"))
            self.session_record = record[1].record.id
        except UnknownId:
            self.session_record = ""

    def _add(self, number: int, row: dict[str, Any]) -> None:
        about = reader.facts(row)
        event = about.get("event")
        self.rows += 1
        self.asked += event == "PromptSubmit"
        self.tools += event in {"AfterTool", "ToolFailed"}
        self.failed += event == "ToolFailed"
        self.notes += event == NOTE
        if event == "BeforeTool":
            self._begun[_use(row)] = number
        elif event in {"AfterTool", "ToolFailed"} and (begun := self._begun.pop(_use(row), 0)):
            self.answered.add(begun)
        if event == MARK:
            line = about.get("line")
            self.marked[line if isinstance(line, int) else number] = reader.content(row)
        for path in reader.files(row) if event == "AfterTool" else ():
            where = self.read if about.get("action") == "read" else self.changed
            where[path] = where.get(path, 0) + 1
        state = row.get("state")
        name = state.get("branch") if isinstance(state, dict) else None
        if isinstance(name, str) and name not in self.branches:
            self.branches.append(name)


def _use(row: dict[str, Any]) -> str:
    """Return what names one use of a tool: its id, else which tool it was, on what, for whom."""
    about = reader.facts(row)
    call = about.get("call")
    facts = [
        about.get("tool"),
        about.get("agent_id"),
        reader.files(row),
        reader.content(row).partition("\n")[0],
    ]
    return f"call {call}" if call else json.dumps(facts)


def _named(app: App, session: str | None, date: str | None) -> tuple[list[Session], bool]:
    """Return the sessions that are meant, and whether a date was given; raises UserError."""
    day = date or (
        session
        if session and is_day(session) and sessions.get(app.state, session) is None
        else None
    )
    if day is None:
        return [find_session(app, session)], False
    if date and session:
        raise click.UsageError("--date takes no session.")
    listed = of_day(app, day)
    if not listed:
        raise UserError(
            f"no session of {plain(day)} is known.",
            "Histories are kept for 30 days. See them with: git mem session list --since 30d",
        )
    return listed, True


@click.command("show", short_help="Show a whole session")
@click.argument("session", required=False, metavar="[SESSION|DATE]")
@click.option("--date", metavar="DATE", help="All sessions of a day: 2026-11-21, yesterday.")
@click.option("--turns", is_flag=True, help="Only what was said: no tools.")
@options.json_option
@click.pass_obj
def show_command(
    term: Terminal, session: str | None, date: str | None, turns: bool, as_json: bool
) -> None:
    """Show one session: its files, costs, events with line numbers, marks and record.

    Without an id: the current session, else the latest. A date shows all of that day.

    \b
    Examples:
      git mem session show
      git mem session show 3f2a81c0 --turns
      git mem session show 2026-11-21
    """
    with term.open() as app:
        listed, _ = _named(app, session, date)
        if as_json:
            term.json([_json(app, mine) for mine in listed])
            return
        term.page(_lines(term, app, listed, turns=turns), app, wraps=True)


def _json(app: App, mine: Session) -> dict[str, Any]:
    whole = Whole(app, mine)
    return {
        **facts(app, mine),
        "branches": whole.branches,
        "changed_files": _counted(whole.changed),
        "read_files": _counted(whole.read),
        "session_record": whole.session_record or None,
        "marks": [{"line": line, "text": text} for line, text in whole.marked.items()],
        "costs": [
            {
                "event": each.event,
                "call_count": each.calls,
                "answer_count": each.answers,
                "tokens": each.tokens,
                "duration_seconds": round(each.spent, 6),
            }
            for each in hook_costs.costs(app.state, [mine.id])
        ],
        "events": [{"line": number, **row} for number, row in _rows(app, mine)],
    }


def _rows(app: App, mine: Session) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return a history's rows with their numbers, as far as whoever asks may read them."""
    rows = reader.numbered(app.home, mine)
    return rows_without_quotes(rows) if hides_quotes(app.env, mine.id) else rows


def _counted(files: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"path": path, "count": count} for path, count in files.items()]


def _lines(term: Terminal, app: App, listed: Sequence[Session], *, turns: bool) -> Iterator[str]:
    for n, mine in enumerate(listed):
        if n:
            yield ""
        yield from _session_lines(term, app, mine, turns=turns)


def _session_lines(term: Terminal, app: App, mine: Session, *, turns: bool) -> Iterator[str]:
    whole = Whole(app, mine)
    yield from _head(term, app, mine, whole)
    if whole.rows:
        yield ""
        yield from _history(term, app, mine, whole, turns=turns)
    elif mine.ended is not None:
        yield "its history was deleted. Histories are kept for 30 days."
    else:
        yield ""


def _head(term: Terminal, app: App, mine: Session, whole: Whole) -> Iterator[str]:
    """Yield which session it is, and what was done in it."""
    title = f"  {plain(mine.title)}" if mine.title else ""
    yield term.style(f"session {plain(mine.id)}", fg="yellow") + title
    yield _when(mine, facts(app, mine), whole)
    if mine.story:
        yield f"story: {plain(mine.story)}"
    yield _counts(whole) or "nothing happened in it yet"
    cost = hook_costs.costs(app.state, [mine.id])
    if cost:
        yield (
            f"hooks: {counted(sum(c.calls for c in cost), 'call')}, "
            f"{counted(sum(c.tokens for c in cost), 'token')} sent, "
            f"{sum(c.spent for c in cost) * 1000:,.0f} ms: git mem session cost "
            f"{plain(mine.id[:12])}"
        )
    for name, counts in (("changed", whole.changed), ("read", whole.read)):
        if counts:
            ranked = sorted(counts, key=lambda path: (-counts[path], path))
            more = f" and {len(ranked) - FILES} more" if len(ranked) > FILES else ""
            yield f"{name}: {', '.join(map(plain, ranked[:FILES]))}{more}"
    if whole.session_record:
        yield f"record: git mem show {short(whole.session_record)}"


def _when(mine: Session, row: dict[str, Any], whole: Whole) -> str:
    """Return whose session it is, when it was, and on what."""
    start, until = (at[:16].replace("T", " ") for at in (row["started"], _last(row)))
    if until[:10] == start[:10]:
        until = until[11:]
    parts = [plain(mine.agent), row["state"], f"{start} to {until} UTC"]
    on = ", ".join(map(plain, whole.branches or filter(None, [mine.branch])))
    parts += [f"on {on}"] if on else []
    parts += [mine.kind] if mine.kind else []
    return ", ".join(parts)


def _last(row: dict[str, Any]) -> str:
    return str(row["ended"] or row["last_seen"])


def _counts(whole: Whole) -> str:
    counts = [
        (whole.asked, "prompt"),
        (whole.tools, "tool call"),
        (whole.notes, "note"),
        (len(whole.marked), "mark"),
    ]
    said = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n)
    return said + (f", {whole.failed} failed" if whole.failed else "")


def _history(
    term: Terminal, app: App, mine: Session, whole: Whole, *, turns: bool
) -> Iterator[str]:
    """Yield the rows of a session by day, with their numbers."""
    width = len(str(whole.rows))
    blank = " " * (width + 3 + 8 + 2 + 9 + 2)
    day = ""
    yield from [LEFT_OUT] * hides_quotes(app.env, mine.id)
    for number, event in _rows(app, mine):
        lines = _event(event, turns=turns) if _is_shown(number, event, whole) else []
        if not lines:
            continue
        at = str(event.get("timestamp") or "")
        if at[:10] != day:
            day = at[:10]
            yield term.style(plain(day), bold=True)
        mark = term.style("*", fg="yellow") if number in whole.marked else " "
        who = plain(str(event.get("role") or ""))
        style = {"user": {"fg": "green"}, "assistant": {"fg": "cyan"}}.get(who, {})
        lead = f"{number:>{width}} {mark} {plain(at[11:19])}  "
        yield f"{lead}{term.style(f'{who:<9}', **style)}  {lines[0]}"
        yield from (f"{blank}{line}" for line in lines[1:])


def _is_shown(number: int, event: dict[str, Any], whole: Whole) -> bool:
    """Return whether a row has a line of its own."""
    if reader.facts(event).get("event") == MARK and reader.facts(event).get("line"):
        return False  # it is shown where it points
    # an answer says it; but a mark is shown where it points
    return number not in whole.answered or number in whole.marked


def _event(row: dict[str, Any], *, turns: bool) -> list[str]:
    """Return an event as lines for people; none for one that says nothing to them."""
    about, content = reader.facts(row), plain(reader.content(row))
    event = str(about.get("event") or "")
    lines = content.splitlines()
    by = f" ({plain(str(about['agent_id']))})" if about.get("agent_id") else ""
    if row.get("role") == "tool":
        if turns:
            return []
        what = plain(str(about.get("tool") or event))
        files = ", ".join(map(plain, reader.files(row)))
        failed = "failed: " if event == "ToolFailed" else ""
        first = "  ".join(x for x in (f"{what}{by}", failed + (lines[0] if lines else files)) if x)
        return [first.rstrip(), *lines[1:]]
    if row.get("role") == "system":
        if turns:
            return []
        source = f": {plain(str(about['source']))}" if about.get("source") else ""
        return [f"{plain(event)}{source}{by}", *lines]
    lead = {NOTE: "note: ", MARK: "marked: "}.get(event, "")
    return [lead + lines[0] + by, *lines[1:]] if lines else []


@click.command("export", short_help="Export a session as JSON")
@click.argument("session", required=False, metavar="[SESSION|DATE]")
@click.option("--date", metavar="DATE", help="All sessions of a day.")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to a file that only you read; '-' is standard output.",
)
@click.option("--force", "-f", is_flag=True, help="Write over a file that is there.")
@click.pass_obj
def export_command(
    term: Terminal, session: str | None, date: str | None, output: str | None, force: bool
) -> None:
    """Export a session as JSON.

    The output has id, agent, times, branch, and each interaction with timestamp, role, content,
    metadata and agent state.

    Without an id: the current session, else the latest. A date exports all of that day, as a list.

    \b
    Examples:
      git mem session export > session.json
      git mem session export 3f2a81c0 --output session.json
    """
    with term.open() as app:
        listed, by_date = _named(app, session, date)
        each = [_exported(app, mine) for mine in listed]
        value: Any = each if by_date else each[0]
        if output is None or output == "-":
            click.echo(json_text(value))
            return
        path = os.path.abspath(output)
        if os.path.isdir(path):
            raise UserError(f"'{plain(output)}' is a folder.", "Name a file in it.")
        if os.path.lexists(path) and not force:
            raise UserError(
                f"'{plain(output)}' is there already.",
                "Take another name, or write over it: --force",
            )
        write_output(
            app.location,
            path,
            json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n",
            private=True,
        )
        count = sum(len(exported["interactions"]) for exported in each)
        click.echo(
            f"wrote {plain(output)}: {len(each)} session{'' if len(each) == 1 else 's'}, {count} "
            f"interactions",
            file=sys.stderr,
        )


def _exported(app: App, mine: Session) -> dict[str, Any]:
    """Return a session in the form of an export.

    Each interaction has the state that held when it happened.
    """
    interactions = []
    state: dict[str, Any] = {}
    for _, row in _rows(app, mine):
        if isinstance(row.get("state"), dict):
            state = row["state"]
        interactions.append(
            {
                "timestamp": row.get("timestamp"),
                "role": row.get("role"),
                "content": reader.content(row),
                "metadata": reader.facts(row),
                "state": state,
            }
        )
    about = facts(app, mine)
    return {
        "session_id": mine.id,
        "agent": mine.agent,
        "started": about["started"],
        "ended": about["ended"],
        "state": about["state"],
        "branch": str(state.get("branch") or mine.branch) or None,
        "kind": about["kind"],
        "title": about["title"],
        "story": about["story"],
        "interactions": interactions,
    }
