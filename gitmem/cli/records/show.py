"""The command that shows a record."""

from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import whole_row_json
from gitmem.cli.records.card import card
from gitmem.cli.records.code_places import code_places
from gitmem.cli.records.past import record_at
from gitmem.cli.rows import as_row
from gitmem.cli.terminal import Terminal, formatted
from gitmem.clock import seconds
from gitmem.records.codec import encode
from gitmem.records.decay import effective_score
from gitmem.records.kinds import LIVE
from gitmem.records.record import SCHEMA, Record
from gitmem.services.records.committers import disputed, writers
from gitmem.store.store import Store


def computed(app: App, record: Record) -> dict[str, Any]:
    """Return what usage adds to a record: reads, the last one, the effective score."""
    reads, last = 0, ""
    for _, index in app.indexes():
        n, at = index.usage([record.id]).get(record.id, (0, ""))
        reads, last = reads + n, max(last, at)
    for name in ("shared", "private"):
        n, at = app.state.reads(name).get(record.id, (0, ""))
        reads, last = reads + n, max(last, at)
    out: dict[str, Any] = {"access_count": reads, "accessed": last or None}
    if record.kind == "memory":
        hours = max(0.0, app.clock.now() - seconds(last or record.created)) / 3600
        out["effective_score"] = round(
            effective_score(
                record.get("importance"),
                record.get("decay_rate"),
                reads,
                hours,
                pinned=record.status == "pinned",
            ),
            2,
        )
    return out


@click.command("show", short_help="Show records")
@click.argument("ids", nargs=-1, required=True, metavar="ID[@{DATE}]...")
@click.option("--at", "at", metavar="REV", help="As it was at a revision: a date, @~3, a commit.")
@click.option("--raw", is_flag=True, help="Print the record as its file, in canonical form.")
@click.option(
    "--format",
    "template",
    metavar="TEXT",
    help="Print '{id} {title}' for each; any field may be named.",
)
@options.json_option
@click.pass_obj
def show_command(
    term: Terminal,
    ids: tuple[str, ...],
    at: str | None,
    raw: bool,
    template: str | None,
    as_json: bool,
) -> None:
    """Show one or more records.

    An ID may be shortened to a unique prefix or suffix of six or more characters.

    Reading is counted. Where somebody else committed the words of a shared record, `Committed by`
    (`committed_by` in --json) names who did; the author is what the record says.

    \b
    Examples:
      git mem show 7k2m9qxa
      git mem show 7k2m9qxa@{yesterday}
      git mem show 7k2m9qxa --json
    """
    with term.open_any() as app:
        found = []
        for text in ids:
            name, _, revision = text.partition("@")
            found.append(
                record_at(app, name, at or f"@{revision}") if at or revision else app.get(name)
            )
        rows = []
        code_notes: dict[str, list[str]] = {}
        for scope, stored in found:
            rows.append({**as_row(scope, stored), **computed(app, stored.record)})
            if stored.record.fields.get("conflict"):
                rows[-1]["other_sides"] = _attic(app.store(scope), stored.record.id)
            if not at:
                app.count_reads(scope, [stored.record.id])
                places, code_notes[stored.record.id] = code_places(app, stored.record)
                rows[-1] |= {"places": places, **_committer(app, scope, stored.record.id)}
        if as_json:
            term.json([whole_row_json(row) for row in rows])
        elif raw:
            for _, stored in found:
                click.echo(encode(stored.record).decode(), nl=False)
        elif template:
            term.page((formatted(template, whole_row_json(row)) for row in rows), app)
        else:
            edges = _edges(app, [str(row["id"]) for row in rows])
            now = app.clock.now()
            term.page(
                (
                    text
                    for row in map(_declared, rows)
                    for text in card(term, row, edges, now, code_notes.get(row["id"], ()))
                ),
                app,
            )


def _declared(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the fields of other kinds: in this one they may hold anything."""
    fields = {key for schema in SCHEMA.values() for key in schema}
    others = fields - SCHEMA[row["kind"]].keys() - {"source"}
    return {key: value for key, value in row.items() if key not in others}


def _edges(app: App, ids: list[str]) -> list[tuple[str, str, str]]:
    """Return the (source, relation, target) that records take part in.

    The relation of a proposal to the live fact it would replace is `proposes`.
    """
    edges = [edge for id in ids for _, index in app.indexes() for edge in index.edges_of(id)]
    ends = {end for source, _, target in edges for end in (source, target)}
    waiting = {row["id"] for row in app.rows(ids=tuple(ends), unconfirmed=True, fields=("id",))}
    live = {row["id"] for row in app.rows(ids=tuple(ends), statuses=LIVE, fields=("id",))}
    out = []
    for source, relation, target in edges:
        waits = relation == "supersedes" and source in waiting and target in live
        out.append((source, "proposes" if waits else relation, target))
    return out


def _attic(store: Store, id: str) -> list[str]:
    """Return where git shows the sides of a record that did not win."""
    objects, tree = store.objects, store.tree()
    entry = objects.find(tree, f"attic/{id}") if tree else None
    return (
        [f"{store.ref}:attic/{id}/{e.name}" for e in objects.tree(entry.oid)]
        if entry and entry.is_tree
        else []
    )


def _committer(app: App, scope: str, id: str) -> dict[str, Any]:
    """Return who committed the words of a record, where that is not the author it names."""
    if scope != "shared":
        return {}
    rows = app.index().rows(ids=[id], stores=[scope], fields=("id", "store", "author", "committer"))
    return {"committed_by": writers(rows[0]["committer"])} if rows and disputed(rows[0]) else {}
