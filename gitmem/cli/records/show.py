"""The command that shows a record."""

from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import whole_row_json
from gitmem.cli.records.card import card
from gitmem.cli.records.code_places import code_places
from gitmem.cli.rows import as_row
from gitmem.cli.template import filled
from gitmem.cli.terminal import Terminal
from gitmem.records.codec import encode
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.promotion import seen_in
from gitmem.records.record import SCHEMA, Record
from gitmem.records.said import said_to_be
from gitmem.records.score import row_of
from gitmem.repo.caller import agent_program
from gitmem.services.records.committers import TRUST_FIELDS, disputed, trust_marks, writers
from gitmem.services.sessions.quotes import LEFT_OUT, without_quotes
from gitmem.services.views import inbox
from gitmem.store.reader import Reader, Stored


def computed(app: App, record: Record, at: str | None) -> dict[str, Any]:
    """Return what usage and sources add to a record: reads, the last one, the score."""
    scores = app.scores([record.id])
    reads, last = scores.reads.get(record.id, (0, ""))
    out: dict[str, Any] = {"access_count": reads, "accessed": last or None}
    if record.kind not in FACTS:
        return out
    row = {"id": record.id, **row_of(record)}
    # what the store's history says of who vouches for it, an index knows
    levels = [entry["level"] for _, index in app.indexes() for entry in index.get(record.id)]
    score = scores.of({**row, "level": levels[0]} if levels and not at else row)
    return {
        **out,
        "effective_score": round(score.value, 2),
        "decayed": score.decayed or None,
        "decay": {
            "importance": score.importance,
            "bonus": score.bonus,
            "rate": round(score.rate, 6),
            "decay_hours": round(score.hours, 1),
            "half_life_hours": score.half_life and round(score.half_life, 1),
        },
        "promotion": {
            "level": score.promotion,
            "counted_sources": seen_in(record.get("sources")),
            "is_refuted": record.id in scores.refuted,
        },
    }


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

    An ID, or what lists show of it, may be shortened to a unique prefix or suffix of four or more
    characters.

    Reading is counted. Where somebody else committed the words of a shared record, `Committed by`
    (`committed_by` in --json) names who did; the author is what the record says.

    \b
    Examples:
      git mem show 7k2m9qxa
      git mem show 7k2m9qxa@{yesterday}
      git mem show 7k2m9qxa --json
    """
    with term.open_any() as app:
        records = _load_records(term, app, ids, at)
        rows = []
        code_notes: dict[str, list[str]] = {}
        marks: dict[str, list[str]] = {}
        for scope, stored in records:
            rows.append({**as_row(scope, stored), **computed(app, stored.record, at)})
            if stored.record.fields.get("conflict"):
                rows[-1]["other_sides"] = _attic(app.reader(scope), stored.record.id)
            if not at:
                app.count_reads(scope, [stored.record.id])
                places, code_notes[stored.record.id] = code_places(app, stored.record)
                credit = _credit(app, scope, stored.record.id)
                rows[-1] |= {"places": places, **_attribution(credit)}
                marks[stored.record.id] = trust_marks(credit) if credit else []
        if as_json:
            term.json([whole_row_json(row) for row in rows])
        elif raw:
            for _, stored in records:
                click.echo(encode(stored.record).decode(), nl=False)
        elif template:
            term.page(filled(template, [whole_row_json(row) for row in rows], "show"), app)
        else:
            said = _said(app)
            edges = _edges(app, [str(row["id"]) for row in rows])
            now = app.clock.now()
            term.page(
                (
                    text
                    for row in map(_declared, rows)
                    for text in card(
                        term,
                        {
                            **row,
                            "said": said.get(row["id"]),
                            "trust": marks.get(row["id"], trust_marks(row)),
                        },
                        edges,
                        now,
                        code_notes.get(row["id"], ()),
                    )
                ),
                app,
            )


def _load_records(
    term: Terminal, app: App, ids: tuple[str, ...], at: str | None
) -> list[tuple[str, Stored]]:
    """Return the records that ids name, as whoever asks may read them."""
    records = []
    for text in ids:
        name, _, revision = text.partition("@")
        then = at if at is not None else f"@{revision}"
        is_past = at is not None or revision
        records.append(_past(app, name, then) if is_past else app.get(name))
    if not agent_program(app.env):
        return records
    shown = [
        (scope, Stored(without_quotes(stored.record), stored.oid, stored.path))
        for scope, stored in records
    ]
    if shown != records:
        term.note(LEFT_OUT)
    return shown


def _past(app: App, name: str, revision: str) -> tuple[str, Stored]:
    from gitmem.cli.records.past import record_at

    return record_at(app, name, revision)


def _said(app: App) -> dict[str, str]:
    """Return what sessions say of facts that nobody answered, by id."""
    every = inbox.statements(app.indexes())
    return {id: f"{said_to_be(said[-1])}: git mem inbox" for id, said in every.items()}


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


def _attic(store: Reader, id: str) -> list[str]:
    """Return where git shows the sides of a record that did not win."""
    objects, tree = store.objects, store.tree()
    entry = objects.find(tree, f"attic/{id}") if tree else None
    return (
        [f"{store.ref}:attic/{id}/{e.name}" for e in objects.tree(entry.oid)]
        if entry and entry.is_tree
        else []
    )


def _credit(app: App, scope: str, id: str) -> dict[str, Any] | None:
    """Return what the index knows of whose words a record has."""
    rows = app.rows(ids=[id], scopes=(scope,), fields=TRUST_FIELDS)
    return next(iter(app.contradicting().marked(rows)), None)


def _attribution(row: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the store's history says of a record: who committed its words, if not its author.

    And whether it counts as unconfirmed, where the record itself says otherwise.
    """
    out: dict[str, Any] = {}
    if row is not None:
        out |= {"unconfirmed": True} if row["unconfirmed"] else {}
        marks = ("contradicts", "out_of_date")
        out |= {name: row[name] for name in marks if row.get(name)}
        out |= {"committed_by": writers(row["committer"])} if disputed(row) else {}
    return out
