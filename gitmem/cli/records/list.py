"""Commands that list: list, search.

Kept light: on a fresh index they load click, SQLite and little else.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.json_shapes import columns, hit_json, record_json, whole_row_json
from gitmem.cli.records.scored import SCORE, by_score, decay_filters, mark_decayed
from gitmem.cli.template import formatted, names, template_option
from gitmem.cli.terminal import LINE, Terminal, age, line, plain, short_ids
from gitmem.clock import stamp
from gitmem.index import joined
from gitmem.index.filters import FIELDS
from gitmem.index.reader import SORTED_BY
from gitmem.records.kinds import LIVE, PREFIX, STATUSES, TYPES
from gitmem.repo.caller import agent_program
from gitmem.services.sessions.quotes import hit_without_quotes
from gitmem.text.plural import counted

NARROWING = ("kind", "everything", "types", "tags", "files")  # options
# what was said in sessions: git mem search --sessions
SEARCHED = tuple(kind for kind in PREFIX if kind != "session")


resolved_option = click.option(
    "--resolved/--unresolved", default=None, help="Gotchas that are, or are not, resolved."
)


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
@click.option(
    "--all", "-a", "everything", is_flag=True, help="Archived, decayed and expired ones too."
)
@click.option("--decayed", is_flag=True, help="Only what age put away.")
@click.option(
    "--agent",
    metavar="NAME",
    help="As this agent sees it: its own and global; 'all' for every one.",
)
@click.option("--file", "files", multiple=True, metavar="PATH", help="Anchored in this file.")
@resolved_option
@click.option(
    "--conflicts",
    is_flag=True,
    help="Records whose text met in conflict, and facts that supersede the same one.",
)
@click.option("--since", metavar="DATE", help="Created after a date, as git takes it.")
@click.option("--until", metavar="DATE", help="Created before a date.")
@click.option("--at", metavar="DATE|REV", help="The store as it was then.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(["created", "updated", "title", "importance", "severity", SCORE]),
    default="created",
    show_default=True,
    help="In which order.",
)
@click.option("-n", "--limit", type=click.IntRange(min=0), help="At most so many.")
@template_option("list", "{id} {title}")
@options.read_scopes
@options.json_option
@click.pass_obj
def list_command(
    term: Terminal, /, as_json: bool, template: str | None, at: str | None, **o: Any
) -> None:
    """List records, newest first.

    Archived records, and facts that have expired or decayed, need --all or --status, --decayed
    shows the decayed ones alone: their score fell below 3.0. Records and
    snapshots of sessions are left out too, unless --kind, --type, --tag, --file, --all, --json,
    --format or --at is given.

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
        shown = LINE if template is None else columns(names(template))
        fields = FIELDS if as_json else (*SORTED_BY.get(o["order"], ("id",)), *shown)
        is_plain = not as_json and template is None
        rows, left_out = (
            (_past_rows(app, at, scopes, o), 0)
            if at is not None
            else _rows(app, scopes, fields, o, is_plain)
        )
        to_json = whole_row_json if at is not None else record_json
        if as_json:
            term.json([to_json(r) for r in rows])
        elif template:
            term.page((formatted(template, to_json(r)) for r in rows), app)
        else:
            ids = short_ids(r["id"] for r in rows)
            term.rows((line(term, r, cut=True, id=ids[r["id"]]) for r in rows), app)
            _say_rest(term, app, rows, left_out, in_dispute=o["conflicts"])


def _past_rows(
    app: App, at: str, scopes: tuple[str, ...], o: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a state of the past."""
    from gitmem.cli.records.past import listed_at  # the past needs the whole store

    wanted = _filters(app, scopes, o)
    rows = listed_at(app, at, wanted["kinds"], o["types"], wanted["statuses"], o["tags"], scopes)
    return rows[: o["limit"]]


def _rows(
    app: App, scopes: tuple[str, ...], fields: Sequence[str], o: Mapping[str, Any], is_plain: bool
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows that options ask for, and how many of sessions are left out."""
    wanted = _filters(app, scopes, o)
    limit = -1 if o["limit"] is None else o["limit"]
    is_plain = is_plain and not any(o[key] for key in NARROWING)
    by_age, decayed = decay_filters(
        app, shows_all=not wanted["valid_at"], only_decayed=o["decayed"]
    )
    if o["decayed"] and wanted["ids"] is not None:
        by_age["ids"] = set(decayed).intersection(wanted["ids"])
    wanted |= by_age
    if o["order"] == SCORE:
        rows = by_score(app, limit, fields, wanted)
    else:
        how = {"order": o["order"], "limit": limit, "fields": (*fields, "store")}
        rows = app.rows(**wanted, by_hand=is_plain, **how)
    rows = app.contradicting().marked(rows)
    mark_decayed(rows, decayed)
    is_cut = is_plain and limit < 0
    return rows, joined.number(app.indexes(), by_sessions=True, **wanted) if is_cut else 0


def _say_rest(
    term: Terminal, app: App, rows: Sequence[object], left_out: int, *, in_dispute: bool
) -> None:
    """Say what is not shown, and why."""
    if left_out:
        term.note(
            counted(
                left_out,
                "record or snapshot of sessions is not shown",
                "records and snapshots of sessions are not shown",
            )
            + ": add -k session -k snapshot"
        )
    _say_forks(term, app, wanted=in_dispute)
    if not rows:
        empty = not any(index.count() for _, index in app.indexes())
        term.note(
            f"nothing to list. {options.first_step(app)}"
            if empty
            else "no record fits. Without filters: git mem list --all"
        )


def _filters(app: App, scopes: tuple[str, ...], o: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters of `App.rows` that options name."""
    ended_too = o["everything"] or o["statuses"] or o["conflicts"]
    return {
        "scopes": scopes,
        "kinds": options.kinds(o["kind"]),
        "types": o["types"],
        "tags": o["tags"],
        "statuses": o["statuses"] or (() if o["everything"] else LIVE),
        "agents": options.agents(app, o["agent"]),
        "paths": paths_of(app, o["files"]),
        "resolved": o["resolved"],
        "ids": _in_dispute(app, wanted=o["conflicts"]),
        "valid_at": "" if ended_too else app.clock.stamp(),
        "since": _since(app, o["since"]),
        "until": _until(app, o["until"]),
    }


def _in_dispute(app: App, *, wanted: bool) -> list[str] | None:
    """Return the ids of records whose text met in conflict, and of rival successors of one."""
    if not wanted:
        return None
    from gitmem.cli.records.forks import all_forks

    ids = [str(row["id"]) for row in app.rows(conflict=True, fields=("id",))]
    return [*ids, *(id for fork in all_forks(app.indexes()) for id in fork.successors)]


def _say_forks(term: Terminal, app: App, *, wanted: bool) -> None:
    if not wanted:
        return
    from gitmem.cli.records.forks import all_forks, fork_text

    for fork in all_forks(app.indexes()):
        term.note(fork_text(*fork))


def _as_read(app: App, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return hits as whoever asks may read them: what a session quotes is its owner's."""
    if not agent_program(app.env):
        return hits
    return [hit for hit in map(hit_without_quotes, hits) if hit is not None]


def _since(app: App, date: str | None) -> str:
    """Return where a time that the user typed begins, as the index has it; '' for none."""
    if not date:
        return ""
    from gitmem.git.dates import since

    return stamp(since(app.git, date))


def _until(app: App, date: str | None) -> str:
    """Return where a time that the user typed ends, as the index has it; '' for none."""
    if not date:
        return ""
    from gitmem.git.dates import until

    return stamp(until(app.git, date))


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
@click.option(
    "--all", "-a", "everything", is_flag=True, help="Archived, decayed and expired ones too."
)
@click.option("--decayed", is_flag=True, help="Only what age put away.")
@click.option("--agent", metavar="NAME", help="As this agent sees it; 'all' for every one.")
@resolved_option
@template_option("search", "{score} {id} {title}")
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
      git mem search '"timed out"'
      git mem search timeout -k gotcha --unresolved
    """
    scopes = options.scopes(o)
    with term.open_any() as app:
        statuses = () if o["everything"] else LIVE
        by_age, decayed = decay_filters(app, shows_all=o["everything"], only_decayed=o["decayed"])
        hits = app.search(
            " ".join(words),
            limit,
            scopes=scopes,
            kinds=options.kinds(o["kind"]) or SEARCHED,
            types=o["types"],
            statuses=statuses,
            agents=options.agents(app, o["agent"]),
            resolved=o["resolved"],
            valid_at="" if o["everything"] else app.clock.stamp(),
            **by_age,
        )
        hits = app.contradicting().marked(_as_read(app, hits))
        mark_decayed(hits, decayed)
        if as_json:
            term.json([hit_json(hit) for hit in hits])
        elif template:
            term.page((formatted(template, hit_json(hit)) for hit in hits), app)
        else:
            now = app.clock.now()
            ids = short_ids(hit["id"] for hit in hits)
            lines = (hit_lines(term, hit, now, ids[hit["id"]]) for hit in hits)
            term.rows(chain.from_iterable(lines), app)
            if not hits:
                how = "Fewer or other words may; archived, decayed and expired ones need --all."
                term.note(f"no record matches '{' '.join(words)}'. {app.unfetched_hint() or how}")


def hit_lines(term: Terminal, hit: dict[str, Any], now: float, id: str = "") -> list[str]:
    """Return the lines that tell a hit of a search; `id` names it among the others."""
    out = [line(term, hit, cut=True, id=id)]
    if hit["snippet"]:
        parts = plain(hit["snippet"].replace("\x02", "\ue000").replace("\x03", "\ue001"))
        bold = ("\033[1m", "\033[22m") if term.colored else ("", "")
        out.append("    " + parts.replace("\ue000", bold[0]).replace("\ue001", bold[1]))
    why = f"    {age(hit['created'], now)}; {plain(hit['reason'])}"
    return [*out, term.style(why, fg="bright_black")]
