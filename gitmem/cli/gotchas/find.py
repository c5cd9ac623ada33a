"""`git mem gotcha list`: what is recorded, and what may not hold any more."""

import time
from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.gotchas.entry import ENTRY, entry
from gitmem.cli.gotchas.group import TABLE
from gitmem.cli.gotchas.places import FOR_PATIENCE
from gitmem.cli.json_shapes import anchor_json, place_json, record_json
from gitmem.cli.records.list import paths_of
from gitmem.cli.terminal import Terminal, path_shown, plain, short, short_ids
from gitmem.index.filters import FIELDS
from gitmem.records.kinds import CATEGORIES, LIVE, SEVERITIES
from gitmem.records.texts import place_text
from gitmem.services.records.committers import marked_title, trust_marks
from gitmem.text.plural import counted


@click.command("list", short_help=TABLE["list"][2])
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice(CATEGORIES),
    help="Of this category. May be repeated.",
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=click.Choice(SEVERITIES),
    help="Of this severity. May be repeated.",
)
@click.option(
    "--resolved/--unresolved", default=None, help="Those that are, or are not, dealt with."
)
@click.option("--unconfirmed", is_flag=True, help="Only unconfirmed gotchas.")
@click.option("--snoozed", is_flag=True, help="Those that you have snoozed, too.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="Anchored in this file.")
@click.option("--all", "-a", "everything", is_flag=True, help="Resolved and archived ones too.")
@click.option("--agent", metavar="NAME", help="As this agent sees it; 'all' for every one.")
@click.option("-n", "--limit", type=click.IntRange(min=0), help="At most so many.")
@options.read_scopes
@options.json_option
@click.pass_obj
def list_command(term: Terminal, /, as_json: bool, limit: int | None, **o: Any) -> None:
    """List open gotchas: critical ones first, then those seen last.

    Snoozed ones are left out, and their number is printed.

    \b
    Examples:
      git mem gotcha list --severity critical
      git mem gotcha list --all --category build --json
    """
    scopes = options.scopes(o)
    with term.open_any() as app:
        resolved = o["resolved"] if o["resolved"] is not None or o["everything"] else False
        hidden = (
            {}
            if o["snoozed"] or o["everything"] or resolved
            else app.state.snoozed(app.clock.now())
        )
        wanted: dict[str, Any] = {
            "scopes": scopes,
            "kinds": ("gotcha",),
            "statuses": () if o["everything"] else LIVE,
            "agents": options.agents(app, o["agent"]),
            "paths": _with_former(app, paths_of(app, o["files"])),
            "resolved": resolved,
            "unconfirmed": True if o["unconfirmed"] else None,
            "categories": o["categories"],
            "severities": o["severities"],
        }
        fields = FIELDS if as_json else ENTRY
        rows = app.rows(
            **wanted,
            without=list(hidden),
            order="severity",
            limit=-1 if limit is None else limit,
            fields=fields,
        )
        if as_json:
            term.json([record_json(row) for row in rows])
            return
        ids, now = short_ids(row["id"] for row in rows), app.clock.now()
        term.rows((entry(term, row, now, ids[row["id"]]) for row in rows), app)
        away = (
            len(app.rows(**wanted, ids=list(hidden), fields=("id",)))
            if hidden and limit is None
            else 0
        )
        if away:
            term.note(f"{away} snoozed; show them with --snoozed.")
        elif not rows:
            how = "With the resolved ones: git mem gotcha list --all"
            term.note(f"no gotcha fits. {app.unfetched_hint() or how}")


def _with_former(app: App, paths: Sequence[str]) -> list[str]:
    """Return files with the names that they had when gotchas were recorded about them."""
    from gitmem.services.gotchas.placement import OPEN, names_of, unsettled

    if not paths or not app.location.worktree:
        return list(paths)
    end = time.monotonic() + FOR_PATIENCE

    def go_on() -> bool:
        return time.monotonic() < end

    indexes = [index for prefix, index in app.indexes() if prefix != "user"]
    apart = {
        path for index in indexes for some in unsettled(index, app.follower, go_on) for path in some
    }
    rows = app.rows(paths=sorted(apart)[:500], **OPEN) if apart else []
    return [
        name
        for path in paths
        for name in (path, *names_of(path, app.follower, apart, lambda: rows, go_on))
    ]


def drifted(term: Terminal, as_json: bool) -> int:
    """List the gotchas whose code has changed, moved or gone; return 1 when there are some."""
    from gitmem.services.gotchas.placement import survey

    with term.open() as app:
        seen = survey(
            [index for prefix, index in app.indexes() if not prefix],
            app.follower,
            step=term.progress("looking at"),
        )
        if as_json:
            term.json(
                [
                    {
                        "id": gotcha.row["id"],
                        "title": gotcha.row["title"],
                        "trust_marks": trust_marks(gotcha.row),
                        "anchor": anchor_json(gotcha.anchor),
                        "place": place_json(gotcha.where),
                    }
                    for gotcha in seen.drifted
                ]
            )
            return 1 if seen.drifted else 0
        said = {
            "approximate": "only its definition is there",
            "adrift": "the code is not found",
            "moved": "the code has moved",
        }
        for gotcha in seen.drifted:
            anchor, where = gotcha.anchor, gotcha.where
            was = place_text(anchor)
            spot = "" if where.state == "adrift" else f": now {where.path}:{where.first}"
            why = said.get(where.state, "the code has changed")
            id = term.style(short(gotcha.row["id"]), fg="yellow")
            term.say(f"{id} {plain(marked_title(gotcha.row))}")
            term.say(f"    {path_shown(f'{was}, {why}{spot}')}")
        if seen.drifted:
            term.note(
                "if a gotcha still holds: git mem gotcha verify ID. If its code moved: git mem "
                "gotcha verify ID --anchor PLACE. If it is solved: git mem gotcha resolve ID."
            )
        else:
            term.note(f"nothing moved: {counted(seen.total, 'gotcha')} looked at.")
        return 1 if seen.drifted else 0
