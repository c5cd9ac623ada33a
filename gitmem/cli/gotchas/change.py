"""`git mem gotcha` add, resolve, reopen, snooze, verify: record traps, and say how they stand."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.records.change_report import report_change
from gitmem.cli.records.fields import field_options, resolve_anchor, written_fields, written_text
from gitmem.cli.records.status import every
from gitmem.cli.rows import written_json
from gitmem.cli.terminal import Terminal, short, title_shown
from gitmem.errors import UserError
from gitmem.records.record import Record
from gitmem.records.texts import place_text, titled
from gitmem.repo.refs import head
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.services.records.write import Change
from gitmem.store.store import Store

FOREIGN = ("type", "importance", "project")  # what a gotcha has not
PLAIN_HELP = {
    "category": "What it is about; read from the text when it is not given.",
    "severity": "How bad it is.  [default: warning]",
}


def _own(params: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return the options of a record that apply to a gotcha, with some other help texts.

    They need not say which kind of record they belong to.
    """
    out = [copy.copy(param) for param in params if param.name not in FOREIGN]
    for param in out:
        if isinstance(param, click.Option):
            _, own, text = (param.help or "").partition("Of a gotcha: ")
            param.help = PLAIN_HELP.get(param.name or "") or (
                text[:1].upper() + text[1:] if own else param.help
            )
    return out


@click.command("add", short_help=TABLE["add"][2])
@click.argument("title", nargs=-1, required=True)
@field_options(
    "--agent",
    "--tag",
    "--language",
    "--query",
    "--code",
    "--error",
    "--verify",
    "--anchor",
    "--workaround",
    "--severity",
    "--category",
    "--file",
    "--message",
)
@click.option("--session", metavar="ID", help="The session it comes from.")
@options.fact_scope_options
@options.json_option
@click.pass_obj
def add_command(
    term: Terminal, /, title: tuple[str, ...], scope: str | None, as_json: bool, **o: Any
) -> None:
    """Record a trap: what happens, where, and what helps.

    The category is read from the text when it is not given.

    \b
    Examples:
      git mem gotcha add "Decimal becomes float" --anchor app/api.py#to_json --workaround "str()"
      git mem gotcha add "never edit an old migration" --anchor 'migrations/**'
      make 2>&1 | git mem gotcha add "the linker runs out of memory" --error -
    """
    with term.open_or_user(scope == "user") as app:
        who = app.writer(o["agent"], o["session"])
        scope = scope or app.store_of_facts(who)
        heading, text = titled(" ".join(title).strip(), written_text(o) or "")
        if not heading:
            raise click.UsageError("give a title: the problem in one line.")
        fields = written_fields(app, "gotcha", o, scope=scope)
        from gitmem.fingerprint.category import category

        fields.setdefault("category", category(heading, text, ""))
        fields |= {"first_seen": who.clock.stamp(), "last_seen": who.clock.stamp()}
        new = write.draft(who, "gotcha", heading, text, **fields)
        near = lifecycle.alike([index for _, index in app.indexes()], new)
        change = write.add(app.store(scope), who, new)
        report_change(term, change, "remembered", scope, as_json)
        if near:
            row, shared = near
            old = short(row["id"])
            says = {
                "title": "has nearly the same title",
                "error": "is about the same error",
                "code": "is about the same code",
            }[shared]
            term.note(f"{old} {says}: {title_shown(row['title'])}")
            term.note(
                f"To have one of them: git mem edit {old} ..., then git mem forget "
                f"{short(change.after.id)}"
            )


add_command.params = _own(add_command.params)


def _each(
    term: Terminal,
    ids: tuple[str, ...],
    verb: str,
    as_json: bool,
    act: Callable[[App, Store, Record], Change],
    check: Callable[[App, str, Record], None] | None = None,
) -> None:
    with term.open() as app:
        rows = []
        gotchas = every(app, ids)
        for scope, stored in gotchas:  # all or none: before the first is written
            if check:
                check(app, scope, stored.record)
            else:
                lifecycle.require_gotcha(stored.record, verb)
        for scope, stored in gotchas:
            change = act(app, app.store(scope), stored.record)
            if as_json:
                rows.append(written_json(scope, change))
            else:
                report_change(term, change, verb, scope)
        if as_json:
            term.json(rows)


ids_argument = click.argument("ids", nargs=-1, required=True, metavar="ID...")
note_option = click.option(
    "--message",
    "-m",
    "note",
    default="",
    metavar="TEXT",
    help="How, or why; becomes part of the text.",
)


@click.command("resolve", short_help=TABLE["resolve"][2])
@ids_argument
@note_option
@options.json_option
@click.pass_obj
def resolve_command(term: Terminal, ids: tuple[str, ...], note: str, as_json: bool) -> None:
    """Mark gotchas as resolved, as of the commit that is checked out.

    If the same error comes back, it reopens them.

    \b
    Example:
      git mem gotcha resolve 7k2m9qxa -m "the client retries now"
    """
    _each(
        term,
        ids,
        "resolved",
        as_json,
        lambda app, store, record: lifecycle.resolve(
            store, app.writer(), record, head(app.location) or "", note
        ),
    )


@click.command("reopen", short_help=TABLE["reopen"][2])
@ids_argument
@note_option
@options.json_option
@click.pass_obj
def reopen_command(term: Terminal, ids: tuple[str, ...], note: str, as_json: bool) -> None:
    """Mark resolved gotchas as open again.

    \b
    Example:
      git mem gotcha reopen 7k2m9qxa -m "still happens on macOS"
    """
    _each(
        term,
        ids,
        "reopened",
        as_json,
        lambda app, store, record: lifecycle.reopen(store, app.writer(), record, note),
    )


@click.command("verify", short_help=TABLE["verify"][2])
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--anchor",
    "places",
    multiple=True,
    metavar="PLACE",
    help="Where it belongs now; replaces its places. May be repeated; goes with one ID.",
)
@options.json_option
@click.pass_context
def verify_command(
    ctx: click.Context, ids: tuple[str, ...], places: tuple[str, ...], as_json: bool
) -> None:
    """Confirm that gotchas still hold, as of the commit that is checked out.

    A captured gotcha counts as confirmed from then on, and its anchors are stored anew. If the code
    of one is not found, all are refused: give --anchor, or resolve it.

    Without an ID, list the gotchas whose code has changed, moved or gone. Exit code 1 when there
    are some. Gotchas of your own store are not checked.

    \b
    Examples:
      git mem gotcha verify
      git mem gotcha verify 7k2m9qxa
      git mem gotcha verify 7k2m9qxa --anchor app/pay.py:58
    """
    term: Terminal = ctx.obj
    if not ids:
        from gitmem.cli.gotchas.find import drifted

        if places:
            raise click.UsageError("--anchor needs the ID of the gotcha that belongs there.")
        ctx.exit(drifted(term, as_json))
    if places and len(ids) > 1:
        raise click.UsageError("--anchor goes with one ID.")

    def check(app: App, scope: str, record: Record) -> None:
        lifecycle.require_gotcha(record, "verified")
        lost = None if places or scope == "user" else _lost(app, record)
        if lost:
            raise UserError(
                f"the code of {record.id} is not found: {lost}. Nothing was written.",
                f"If its code moved: git mem gotcha verify {short(record.id)} --anchor PLACE. If "
                f"it is solved: git mem gotcha resolve {short(record.id)}",
            )

    def confirm(app: App, store: Store, record: Record) -> Change:
        commit = head(app.location) or ""
        anchors = (
            [resolve_anchor(app, place) for place in places]
            if places
            else [_again(app, anchor) for anchor in record.anchors]
        )
        return lifecycle.confirm(store, app.writer(), record, commit, anchors)

    _each(term, ids, "confirmed", as_json, confirm, check)


def _lost(app: App, record: Record) -> str:
    """Return a place of a gotcha whose code is not found any more; '' when there is none."""
    for anchor in record.anchors:
        if (
            "glob" not in anchor
            and anchor.get("path")
            and app.follower.now(anchor).state == "adrift"
        ):
            return place_text(anchor)
    return ""


def _again(app: App, anchor: dict[str, Any]) -> dict[str, Any]:
    """Return an anchor at the code where it is now.

    As it is when the code is not found, or the anchor names no line.
    """
    if "glob" in anchor or not anchor.get("path"):
        return anchor
    place = app.follower.now(anchor)
    if place.state == "adrift":
        return anchor
    spec = place.path if place.state == "file" else f"{place.path}:{place.first}-{place.last}"
    made = resolve_anchor(app, spec, from_root=True)
    return (
        {**made, "symbol": anchor["symbol"]}
        if anchor.get("symbol") and not made.get("symbol")
        else made
    )
