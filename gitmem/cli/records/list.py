"""Commands that list: list, search.

Kept light: on a fresh index they load click, SQLite and little else.
"""

import os
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import columns, hit_json, record_json, whole_row_json
from gitmem.cli.terminal import LINE, Terminal, age, formatted, line, names, plain, width
from gitmem.clock import stamp
from gitmem.index.reader import FIELDS, SORTED_BY
from gitmem.records.kinds import LIVE, PREFIX, STATUSES, TYPES

# what was said in sessions: git mem recall
SEARCHED = tuple(kind for kind in PREFIX if kind != "session")


@click.command("list", short_help="List records")
@click.option(
    "--kind",
    "-k",
    "kind",
    multiple=True,
    metavar="KIND",
    help="memory, gotcha, session, snapshot, work, dna or event. May be repeated.",
)
@click.option(
    "--type", "-t", "types", multiple=True, type=click.Choice(TYPES), help="Type of memory."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="With this tag.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(STATUSES),
    help="Default: active and pinned.",
)
@click.option("--all", "-a", "everything", is_flag=True, help="Archived and decayed ones too.")
@click.option(
    "--agent",
    metavar="NAME",
    help="As this agent sees it: its own and global; 'all' for every one.",
)
@click.option("--file", "files", multiple=True, metavar="PATH", help="Anchored in this file.")
@click.option(
    "--resolved/--unresolved", default=None, help="Gotchas that are, or are not, resolved."
)
@click.option("--conflicts", is_flag=True, help="Records whose text met in conflict.")
@click.option("--since", metavar="DATE", help="Created after a date, as git takes it.")
@click.option("--until", metavar="DATE", help="Created before a date.")
@click.option("--at", metavar="DATE|REV", help="The store as it was then.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(["created", "updated", "title", "importance", "severity"]),
    default="created",
    show_default=True,
    help="In which order.",
)
@click.option("-n", "--limit", type=click.IntRange(min=0), help="At most so many.")
@click.option("--format", "template", metavar="TEXT", help="Print '{id} {title}' for each.")
@options.read_scopes
@options.json_option
@click.pass_obj
def list_command(
    term: Terminal, /, as_json: bool, template: str | None, at: str | None, **o: Any
) -> None:
    """List records, newest first.

    Archived and decayed records need --all or --status. Digests and snapshots of sessions are left
    out too, unless --kind, --type, --tag, --file, --all, --json, --format or --at is given.

    Filters of different kinds must all hold. Of a filter that is repeated, one must hold; of --tag,
    all.

    \b
    Examples:
      git mem list --kind gotcha --unresolved
      git mem list --tag payments --format '{id}\\t{title}'
      git mem list --at '2 weeks ago' --json
    """
    scopes = options.scopes(o)
    with term.open_any() as app:
        statuses = o["statuses"] or (() if o["everything"] else LIVE)
        bounds = {name: _bound(app, o[name]) for name in ("since", "until")}
        limit = -1 if o["limit"] is None else o["limit"]
        fields = (
            FIELDS
            if as_json
            else (*SORTED_BY[o["order"]], *(columns(names(template)) if template else LINE))
        )
        to_json = record_json
        if at:
            from gitmem.cli.records.past import listed_at  # the past needs the whole store

            to_json = whole_row_json
            rows = listed_at(
                app, at, options.kinds(o["kind"]), o["types"], statuses, o["tags"], scopes
            )[: limit if limit >= 0 else None]
        else:
            plain_list = not (
                o["kind"]
                or o["everything"]
                or o["types"]
                or o["tags"]
                or o["files"]
                or as_json
                or template
            )
            rows = app.rows(
                by_hand=plain_list,
                scopes=scopes,
                kinds=options.kinds(o["kind"]),
                types=o["types"],
                tags=o["tags"],
                statuses=statuses,
                agents=options.agents(app, o["agent"]),
                paths=paths_of(app, o["files"]),
                resolved=o["resolved"],
                conflict=True if o["conflicts"] else None,
                order=o["order"],
                limit=limit,
                fields=(*fields, "store"),
                **bounds,
            )
        if as_json:
            term.json([to_json(r) for r in rows])
        elif template:
            term.page((formatted(template, to_json(r)) for r in rows), app)
        else:
            term.page((line(term, r, cut=True) for r in rows), app)
            if (
                not at
                and plain_list
                and limit < 0
                and (left := sum(index.number(by_sessions=True) for _, index in app.indexes()))
            ):
                term.note(
                    f"{left:,} record(s) and snapshot(s) of sessions are not shown: git mem list "
                    f"-k session -k snapshot"
                )
            if not rows:
                empty = not any(index.count() for _, index in app.indexes())
                term.note(
                    "nothing to list. Remember something with: git mem add 'title'"
                    if empty
                    else "no record fits. Without filters: git mem list --all"
                )


def _bound(app: App, date: str | None) -> str:
    """Return a date that the user typed as the index has it; '' for none."""
    if not date:
        return ""
    from gitmem.git.dates import when

    return stamp(when(app.git, date))


def paths_of(app: App, files: tuple[str, ...]) -> list[str]:
    """Return paths from the root for what the user named from the current folder."""
    root = app.location.worktree
    out = []
    for name in files:
        full = os.path.abspath(name)
        inside = root and os.path.commonpath([root, full]) == root
        out.append(os.path.relpath(full, root).replace(os.sep, "/") if root and inside else name)
    return out


@click.command("search", short_help="Find records by their words")
@click.argument("words", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="At most so many.",
)
@click.option(
    "--kind",
    "-k",
    "kind",
    multiple=True,
    metavar="KIND",
    help="memory, gotcha, ... May be repeated.",
)
@click.option(
    "--type", "-t", "types", multiple=True, type=click.Choice(TYPES), help="Type of memory."
)
@click.option("--all", "-a", "everything", is_flag=True, help="Archived and decayed ones too.")
@click.option("--agent", metavar="NAME", help="As this agent sees it; 'all' for every one.")
@click.option("--format", "template", metavar="TEXT", help="Print '{score} {id} {title}' for each.")
@options.read_scopes
@options.json_option
@click.pass_obj
def search_command(
    term: Terminal,
    /,
    words: tuple[str, ...],
    limit: int,
    as_json: bool,
    template: str | None,
    **o: Any,
) -> None:
    """Find the records that match some words best.

    Any word may match. "Quoted words" match as a phrase, word* as a prefix.

    \b
    Examples:
      git mem search payment isolation
      git mem search '"connection refused"' --kind gotcha
    """
    scopes = options.scopes(o)
    with term.open_any() as app:
        statuses = () if o["everything"] else LIVE
        hits = app.search(
            " ".join(words),
            limit,
            scopes=scopes,
            kinds=options.kinds(o["kind"]) or SEARCHED,
            types=o["types"],
            statuses=statuses,
            agents=options.agents(app, o["agent"]),
        )
        if as_json:
            term.json([hit_json(hit) for hit in hits])
        elif template:
            term.page((formatted(template, hit_json(hit)) for hit in hits), app)
        else:
            now = app.clock.now()
            term.page((text for h in hits for text in hit_lines(term, h, now)), app)
            if not hits:
                term.note(
                    f"no record matches '{' '.join(words)}'. Fewer or other words may; archived "
                    f"ones need --all."
                )


def hit_lines(term: Terminal, hit: dict[str, Any], now: float) -> list[str]:
    """Return the lines that tell a hit of a search."""
    out = [line(term, hit, cut=True)]
    if hit["snippet"]:
        parts = plain(hit["snippet"].replace("\x02", "\ue000").replace("\x03", "\ue001"))
        bold = ("\033[1m", "\033[22m") if term.colored else ("", "")
        out.append("    " + parts.replace("\ue000", bold[0]).replace("\ue001", bold[1]))
    why = f"    {age(hit['created'], now)}; {plain(hit['reason'])}"
    return [*out, term.style(why[: width() * 2], fg="bright_black")]
