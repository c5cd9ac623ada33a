"""The command that shows a record, and states of the past for `list`."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import whole_row_json
from gitmem.cli.records.code_places import code_places
from gitmem.cli.rows import as_row, source_line
from gitmem.cli.terminal import COLORS, Terminal, age, formatted, path_shown, plain, short
from gitmem.clock import seconds
from gitmem.errors import UnknownId
from gitmem.records.codec import encode
from gitmem.records.decay import effective_score
from gitmem.records.epic import facts as facts_of_work
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import SCHEMA, Record
from gitmem.services.records import history
from gitmem.services.records.committers import disputed, writers
from gitmem.store.reader import Damaged, Stored
from gitmem.store.store import Store

_NOTHING = ("",) * 64
DIRTY = 12  # changed files of a snapshot that are named

SOURCES = 3  # places where a fact was seen that are shown


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
            found.append(_at(app, name, at or f"@{revision}") if at or revision else app.get(name))
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
                    for text in _card(term, row, edges, now, code_notes.get(row["id"], ()))
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


def _at(app: App, name: str, revision: str) -> tuple[str, Stored]:
    """Return a record at a revision, from the first store that had it then."""
    from gitmem.records.record import kind_of

    last: Exception | None = None
    for scope in ("private", "shared"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        try:
            commit = history.resolve(store, app.git, revision)
            low = name.lower()
            id = low if kind_of(low) else _past_id(app, store, low, commit)
            return scope, store.get(id, commit)
        except UnknownId as error:
            last = error
    raise last or UnknownId(f"no record matches '{name}'.", "List what there is with: git mem list")


def _past_id(app: App, store: Any, text: str, commit: str) -> str:
    try:
        return app.find(text)
    except UnknownId:
        from gitmem.store.layout import id_of_path

        ids = [
            i
            for p, _ in store.entries(commit)
            if (i := id_of_path(p))
            and (i.startswith(text) or i[4:].startswith(text) or i.endswith(text))
        ]
        if len(ids) != 1:
            raise
        return ids[0]


def _sources(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where a fact was seen, the first few times."""
    sources = row.get("sources") if row["kind"] in FACTS else None
    return sources[:SOURCES] if isinstance(sources, list) else []


def _card(
    term: Terminal,
    row: dict[str, Any],
    edges: list[tuple[str, str, str]],
    now: float,
    code_notes: Sequence[str],
) -> list[str]:
    kind = row.get("severity") or row.get("type") or row["kind"]
    out = [term.style(f"{row['kind']} {row['id']}", fg="yellow")]
    facts = [
        ("Title", row["title"]),
        ("Kind", f"{row['kind']}, {kind}" if kind != row["kind"] else kind),
        ("Status", row.get("status")),
    ]
    if row["kind"] == "gotcha":
        facts += [
            (
                "Seen",
                f"{row.get('occurrences')}×, last {age(row['last_seen'], now)}"
                if row.get("last_seen")
                else None,
            )
        ]
        if row.get("resolved"):
            facts.append(
                ("Resolved", f"{row['resolved'].get('at', '')} by {row['resolved'].get('by', '')}")
            )
    if row.get("confirmed") and not row.get("unconfirmed"):
        vouched = row["confirmed"]
        facts.append(("Confirmed", f"{vouched.get('at', '')} by {vouched.get('by', '')}"))
    facts += [("Seen", plain(source_line(source))) for source in _sources(row)]
    if row["kind"] == "snapshot":
        facts += _snapshot(row)
    if row["kind"] == "work":
        facts.append(("Work", _work(row)))
    facts += [
        ("Author", row.get("author")),
        ("Committed by", row.get("committed_by")),
        ("Date", f"{row['created']} ({age(row['created'], now)})"),
        (
            "Changed",
            f"{row['updated']} (revision {row['rev']})"
            if row["updated"] != row["created"]
            else None,
        ),
        ("Agent", row.get("agent") if row.get("agent") != "global" else None),
        ("Origin", _origin(row)),
        ("From", _file(row)),
        ("Tags", ", ".join(row.get("tags") or [])),
        (
            "Code",
            ", ".join(
                path_shown(_place(a)) + since
                for a, since in zip(row.get("anchors") or [], code_notes or _NOTHING, strict=False)
            ),
        ),
        (
            "Importance",
            f"{row['importance']}, now {row['effective_score']}"
            if row.get("importance") is not None
            else None,
        ),
        ("Read", f"{row['access_count']}×" if row.get("access_count") else None),
        ("Store", row["store"] if row["store"] != "shared" else None),
    ]
    facts += _relations(str(row["id"]), edges)
    if row.get("conflict"):
        facts.append(
            (
                "Conflict",
                f"two edits met; the newer stayed. To settle it: git mem edit {short(row['id'])}",
            )
        )
        facts += [("Other side", f"git show {where}") for where in row.get("other_sides", ())]
    out += [
        f"{name + ':':<13} {term.style(plain(str(value)), fg=COLORS.get(str(value)))}"
        for name, value in facts
        if value
    ]
    if row.get("workaround"):
        out += ["", "    Workaround: " + plain(row["workaround"]).replace("\n", "\n    ")]
    if row["body"]:
        out += ["", *("    " + plain(text) for text in row["body"].rstrip("\n").split("\n"))]
    return [*out, ""]


def _relations(id: str, edges: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return what a record says of others, and they of it: (label, their ids)."""
    out = []
    for relation, this, other in (
        ("supersedes", "Supersedes", "Superseded by"),
        ("proposes", "Would replace", "Proposed successor"),
        ("links", "Links", "Linked from"),
    ):
        targets = [dst for src, name, dst in edges if (src, name) == (id, relation)]
        sources = [src for src, name, dst in edges if (name, dst) == (relation, id)]
        for label, ids in ((this, targets), (other, sources)):
            out.append((label, ", ".join(map(short, dict.fromkeys(ids)))))
    return out


def _snapshot(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return where the work stood."""
    dirty = [
        f"{one.get('status', '')} {one.get('path', '')}".strip() for one in row.get("dirty") or []
    ]
    shown = ", ".join(dirty[:DIRTY]) + (
        f" and {len(dirty) - DIRTY} more" if len(dirty) > DIRTY else ""
    )
    where = [str(row.get(key)) for key in ("worktree", "cwd") if row.get(key)]
    return [
        ("Branch", row.get("branch")),
        ("Commit", row.get("commit")),
        ("Not committed", shown),
        ("Folder", "/".join(where)),
        ("Story", row.get("story")),
        ("Note", row.get("note")),
    ]


def _work(row: dict[str, Any]) -> str:
    """Return how far an epic is, and which command tells the rest."""
    known = facts_of_work(row.get("state"))
    where = (
        f", story {known['story']}{' in ' + known['phase'] if known['phase'] else ''}"
        if known["story"]
        else ""
    )
    return (
        f"{known['done']} of {known['total']} stories done ({known['percent']}%){where}; git mem "
        f"work show {row['id'][4:]}"
    )


def _committer(app: App, scope: str, id: str) -> dict[str, Any]:
    """Return who committed the words of a record, where that is not the author it names."""
    if scope != "shared":
        return {}
    rows = app.index().rows(ids=[id], stores=[scope], fields=("id", "store", "author", "committer"))
    return {"committed_by": writers(rows[0]["committer"])} if rows and disputed(rows[0]) else {}


def _file(row: dict[str, Any]) -> str | None:
    """Return the file and line that a record was read from, where its places do not tell."""
    source = row.get("source")
    if not isinstance(source, dict) or any(
        a.get("path") == source.get("file") for a in row.get("anchors") or []
    ):
        return None
    return plain(f"{source.get('file')}:{source.get('line')}")


def _origin(row: dict[str, Any]) -> str | None:
    origin = row.get("origin")
    if origin in {None, "manual"}:
        return None
    return (
        f"{origin}, unconfirmed (git mem inbox)"
        if row.get("unconfirmed") and not row.get("resolved")
        else origin
    )


def _place(anchor: dict[str, Any]) -> str:
    if anchor.get("glob"):
        return str(anchor["glob"])
    lines = anchor.get("lines")
    where = (
        f":{lines[0]}" + (f"-{lines[1]}" if lines[1] != lines[0] else "")
        if isinstance(lines, list) and len(lines) == 2
        else ""
    )
    symbol = f"#{anchor['symbol']}" if anchor.get("symbol") else ""
    return f"{anchor.get('path', '')}{where}{symbol}"


def listed_at(
    app: App,
    at: str,
    kinds: tuple[str, ...],
    types: tuple[str, ...],
    statuses: tuple[str, ...],
    tags: tuple[str, ...],
    scopes: tuple[str, ...],
) -> list[dict[str, Any]]:
    """Return the rows of `list` for a state of the past, read from git."""
    rows = []
    for scope in scopes or ("shared", "private"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        commit = history.resolve(store, app.git, at)
        for stored in store.records(commit):
            if isinstance(stored, Damaged):
                continue
            row = as_row(scope, stored)
            if (
                (not kinds or row["kind"] in kinds)
                and (not statuses or stored.record.status in statuses)
                and (not types or row.get("type") in types)
                and set(tags) <= set(stored.record.tags)
            ):
                rows.append(row)
    return sorted(rows, key=lambda r: (r["created"], r["id"]), reverse=True)
