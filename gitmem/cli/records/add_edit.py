"""Commands that write what a record says: add, edit, supersede."""

import sys
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.editor import edit
from gitmem.cli.records.change_report import report_change
from gitmem.cli.records.fields import field_options, written_fields, written_text
from gitmem.cli.terminal import Terminal, short
from gitmem.errors import GitmemError, UnknownId, UserError
from gitmem.records.codec import decode, encode
from gitmem.records.record import Record, kind_of
from gitmem.records.texts import clean_body, titled
from gitmem.services.records import write

TEMPLATE = """

# Write a title in the first line and the text below it.
# Lines that start with '# ' here at the end are left out; nothing is saved when the title is empty.
"""


@click.command("add", short_help="Remember something")
@click.argument("title", nargs=-1)
@click.option(
    "--kind",
    "-k",
    "kind",
    default="memory",
    show_default=True,
    metavar="KIND",
    help="memory, gotcha, event, ...",
)
@field_options()
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="ID",
    help="Link it to another record. May be repeated.",
)
@click.option("--session", metavar="ID", help="The session it comes from.")
@options.fact_scope_options
@options.json_option
@click.pass_obj
def add_command(
    term: Terminal, /, title: tuple[str, ...], kind: str, scope: str | None, as_json: bool, **o: Any
) -> None:
    """Add a record: a decision, a pattern, a trap.

    Without TITLE your editor opens. Secrets in title, text and fields are masked before anything is
    stored; each is named on standard error.

    \b
    Examples:
      git mem add "Use SERIALIZABLE for payments" -m "Two runs lost updates." -t decision
      git mem add -k gotcha "pytest hangs without -p no:cacheprovider" --anchor conftest.py:12
      git log -1 --format=%B | git mem add "Why we moved to asyncpg" -m -
    """
    (name,) = options.kinds((kind,))
    with term.open_or_user(scope == "user") as app:
        text = written_text(o)
        heading = " ".join(title).strip()
        if not heading:
            if not sys.stdin.isatty() or text is not None:
                raise click.UsageError("give a title: git mem add 'title' [-m TEXT]")
            heading, text = _edited(term, app)
        who = app.writer(o["agent"], o["session"])
        scope = scope or app.store_of_facts(who)
        fields = written_fields(app, name, o, scope=scope)
        if o["links"]:
            fields["links"] = [app.find(i) for i in o["links"]]
        if name == "event":
            fields.setdefault("at", term.clock.stamp())
        if name == "gotcha":
            fields |= {"first_seen": term.clock.stamp(), "last_seen": term.clock.stamp()}
        heading, text = titled(heading, text or "")
        record = write.draft(who, name, heading, text, **fields)
        change = write.add(app.store(scope), who, record)
        report_change(term, change, "remembered", scope, as_json)


def _edited(term: Terminal, app: App) -> tuple[str, str]:
    """Open the user's editor; return title and body.

    Raises UserError when the title is left empty.
    """
    result = edit(term, app, TEMPLATE, "Give the title: git mem add 'title' -m TEXT")
    lines = (result or "").rstrip().split("\n")
    while lines and lines[-1].startswith("# "):
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines or not lines[0].strip():
        raise UserError(
            "nothing was saved: the title is empty.",
            "Write a title in the first line, or give it on the command line.",
        )
    return lines[0].removeprefix("# ").strip(), "\n".join(lines[1:])


@click.command("edit", short_help="Change a record in your editor or by flags")
@click.argument("id")
@click.option("--title", metavar="TEXT", help="A new title.")
@field_options(changes=True)
@click.option(
    "--untag", "untags", multiple=True, metavar="TAG", help="Remove a tag. May be repeated."
)
@click.option("--unanchor", is_flag=True, help="Remove all anchors.")
@click.option("--unverify", is_flag=True, help="Remove all checks.")
@options.json_option
@click.pass_obj
def edit_command(
    term: Terminal,
    /,
    id: str,
    title: str | None,
    as_json: bool,
    untags: tuple[str, ...],
    unanchor: bool,
    unverify: bool,
    **o: Any,
) -> None:
    """Change a record. Without options, your editor opens the whole file.

    A change that somebody else made meanwhile is merged, not overwritten. Fields that are not named
    stay as they are. --tag, --anchor and --verify add to what is there. Without a terminal, an
    editor that needs one, such as vi, is not started, and the command fails; a script as editor
    works.

    \b
    Examples:
      git mem edit 7k2m9qxa
      git mem edit 7k2m9qxa --importance 9 --tag payments --untag draft
      git mem edit 7k2m9qxa --verify 'dependency=django version=>=4.2'
    """
    with term.open() as app:
        scope, stored = app.get(id)
        record = stored.record
        text = written_text(o)
        fields = written_fields(app, record.kind, o, record.get("triggers"), scope)
        if "tags" in fields or untags:
            fields["tags"] = sorted({*record.tags, *fields.get("tags", [])} - set(untags))
        if "anchors" in fields or unanchor:
            fields["anchors"] = [*([] if unanchor else record.anchors), *fields.get("anchors", [])]
        if "verify" in fields or unverify:
            kept = [] if unverify else record.get("verify")
            fields["verify"] = [*kept, *fields.get("verify", [])]
        if o["agent"]:
            fields["agent"] = o["agent"]
        if title is None and text is None and not fields:
            after = edited_record(term, app, record)
        else:
            after = record.change(
                title=title, body=None if text is None else clean_body(text), **fields
            )
        after = decode(encode(after))
        change = write.revise(app.store(scope), app.writer(), record, after)
        verb = "changed" if change.before else f"{short(record.id)} stays as it is; proposed"
        report_change(term, change, verb, scope, as_json)


def edited_record(term: Terminal, app: App, record: Record) -> Record:
    """Return what the user's editor makes of a record; raises what its parser raises."""
    text = encode(record).decode()
    while True:
        result = edit(
            term,
            app,
            text,
            "Say by flags what to change, such as --title or -m: git mem edit --help",
        )
        if result is None or result == encode(record).decode():
            return record
        try:
            after = decode(result.encode())
        except GitmemError as error:
            if not sys.stdin.isatty() or not click.confirm(
                f"{error} Edit again?", default=True, err=True
            ):
                raise
            text = result
            continue
        if after.id != record.id or after.kind != record.kind:
            raise UserError(
                "the id and the kind of a record cannot change.", "Add a new one: git mem supersede"
            )
        return after


@click.command("supersede", short_help="Replace a record by a newer one")
@click.argument("old")
@click.argument("title", nargs=-1, required=True)
@field_options(changes=True)
@options.json_option
@click.pass_obj
def supersede_command(
    term: Terminal, /, old: str, title: tuple[str, ...], as_json: bool, **o: Any
) -> None:
    """Write a new record that replaces OLD. OLD is archived, and the chain is kept.

    If TITLE is the id of an existing record, that record becomes the successor.

    The new record inherits from OLD what you do not give: agent, type, importance, project, tags,
    anchors, triggers, category and severity. It does not inherit the text and the workaround.

    \b
    Examples:
      git mem supersede 7k2m9qxa "Use READ COMMITTED and a lock" -m "Too many retries."
      git mem log 7k2m9qxa          the whole chain
    """
    with term.open() as app:
        scope, stored = app.get(old)
        before = stored.record
        edges = _edges_of(app, before.id)
        # the successor is in the namespace of what it replaces
        who = app.writer(o["agent"] or before.get("agent"))
        existing = _existing_id(app, title[0]) if len(title) == 1 else None
        if existing:
            where, successor = app.get(existing)
            if where != scope:
                raise UserError(
                    f"{before.id} is in the {scope} store, {successor.record.id} in the {where} "
                    f"store.",
                    "Write the successor beside it: git mem supersede OLD 'new title' -m TEXT",
                )
            change = write.supersede(
                app.store(scope), who, before, successor.record, successor.record
            )
        else:
            fields = write.fields_of(before, write.INHERITED)
            fields |= written_fields(app, before.kind, o, scope=scope)
            heading, text = titled(" ".join(title), written_text(o) or "")
            new = write.draft(who, before.kind, heading, text, **fields)
            change = write.supersede(app.store(scope), who, before, new)
        from gitmem.services.records import history

        is_gone = write.may_replace(who, before)
        verb = "is superseded by" if is_gone else "stays until a person accepts"
        report_change(term, change, f"{short(before.id)} {verb}", scope, as_json)
        others = [id for id in history.successors(edges, before.id) if id != change.after.id]
        _tell_fork(term, before.id, change.after.id, others)


def _edges_of(app: App, id: str) -> list[tuple[str, str, str]]:
    return [edge for _, index in app.indexes() for edge in index.edges_of(id)]


def _tell_fork(term: Terminal, old: str, new: str, others: list[str]) -> None:
    """Remark on a record that others have superseded already."""
    if others:
        from gitmem.cli.records.forks import fork_text

        term.note(fork_text(old, [*others, new]))


def _existing_id(app: App, text: str) -> str | None:
    if " " in text or (len(text) < 6 and not kind_of(text)):
        return None
    try:
        return app.find(text)
    except UnknownId:
        return None
