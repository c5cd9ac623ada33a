"""`git mem gotcha snooze`: hide a gotcha from yourself for a while."""

import re

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.records.status import every
from gitmem.cli.terminal import Terminal, plain, short, title_shown
from gitmem.errors import UserError
from gitmem.records.record import Record
from gitmem.services.gotchas import lifecycle
from gitmem.services.records.committers import marked_title
from gitmem.services.records.write import require_person

_SPAN = re.compile(r"(\d{1,6})\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)")


LONGEST = 10 * 366 * 86400.0  # seconds: for good is what `resolve` and `forget` are for


_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}


def span(text: str) -> float:
    """Return the seconds of `30m`, `12h`, `7d`, `2w`; raises BadParameter."""
    match = _SPAN.fullmatch(text.strip().lower())
    if not match or not int(match[1]):
        raise click.BadParameter(f"'{text}' is not a span of time. Write 30m, 12h, 7d or 2w.")
    return min(float(int(match[1]) * _SECONDS[match[2][0]]), LONGEST)


@click.command("snooze", short_help=TABLE["snooze"][2])
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--for",
    "span_",
    default="7d",
    show_default=True,
    metavar="SPAN",
    help="How long: 30m, 12h, 7d, 2w.",
)
@click.option("--off", is_flag=True, help="Show them again.")
@options.json_option
@click.pass_obj
def snooze_command(
    term: Terminal, ids: tuple[str, ...], span_: str, off: bool, as_json: bool
) -> None:
    """Hide gotchas from yourself, in this clone, for a while.

    Your editor and your agents do not show them. Nobody else is affected.

    Without an ID, list what is snoozed.

    \b
    Examples:
      git mem gotcha snooze 7k2m9qxa --for 2w
      git mem gotcha snooze --off 7k2m9qxa
    """
    seconds = span(span_)
    if off and not ids:
        raise click.UsageError("--off needs the ID of what is to be shown again.")
    with term.open() as app:
        now = app.clock.now()
        if not ids:
            _snoozed(term, app, now, as_json)
            return
        require_person(app.writer(), "snooze", "gotchas", f"gotcha snooze {ids[0]}")
        rows = []
        for _, stored in every(app, ids):
            record = stored.record
            lifecycle.require_gotcha(record, "snoozed")
            if app.state.in_memory:
                raise UserError(
                    "this cannot be noted: the repository's folder cannot be written.",
                    "Check its permissions and the disk.",
                )
            until = None if off else _stamp(now + seconds)
            if until:
                app.state.snooze(record.id, now + seconds)
                text = f"snoozed until {until[:16].replace('T', ' ')} UTC: {_name(term, record)}"
            elif app.state.unsnooze(record.id):
                text = f"shown again: {_name(term, record)}"
            else:
                text = f"{short(record.id)} was not snoozed; nothing changed."
            rows.append({"id": record.id, "title": record.title, "snoozed_until": until})
            if not as_json:
                term.say(text)
        if as_json:
            term.json(rows)


def _name(term: Terminal, record: Record) -> str:
    return f"{term.style(short(record.id), fg='yellow')} {title_shown(record.title)}"


def _stamp(at: float) -> str:
    from gitmem.clock import stamp

    return stamp(at)


def _snoozed(term: Terminal, app: App, now: float, as_json: bool) -> None:
    hidden = app.state.snoozed(now)
    rows = [row for _, index in app.indexes() for id in hidden for row in index.get(id)]
    out = [
        {"id": row["id"], "title": marked_title(row), "snoozed_until": _stamp(hidden[row["id"]])}
        for row in rows
    ]
    if as_json:
        term.json(out)
        return
    for row in out:
        term.say(
            f"{term.style(short(row['id']), fg='yellow')} until "
            f"{row['snoozed_until'][:16].replace('T', ' ')} UTC  {plain(row['title'])}"
        )
    if not out:
        term.note("nothing is snoozed.")
