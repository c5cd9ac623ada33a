"""`git mem code evolution`: how a file or a symbol came to be."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options, places
from gitmem.cli.json_shapes import commit_json, mention_json, session_part_json
from gitmem.cli.terminal import Terminal, path_shown, path_text, plain, short
from gitmem.clock import LAST, stamp
from gitmem.errors import UserError
from gitmem.git import dates
from gitmem.git.commit_log import FileChange
from gitmem.services.records.committers import marked_title
from gitmem.services.timeline.evolution import EvolutionStep, changes, evolution
from gitmem.state.links import AI, COMMITTED, Link

WORDS = {
    "A": "added",
    "M": "changed",
    "D": "deleted",
    "R": "renamed",
    "C": "copied",
    "T": "changed its type",
}


@click.command("evolution", cls=options.CountedCommand)
@click.argument("place", metavar="FILE[:SYMBOL]")
@click.option("--since", metavar="DATE", help="Not before this.")
@click.option("--until", metavar="DATE", help="Not after this.")
@click.option("--agent", metavar="NAME", help="Only what sessions of this agent had a part in.")
@click.option("--session", metavar="ID", help="Only what this session had a part in.")
@click.option("--story", metavar="ID", help="Only what belongs to this story.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many, the newest.")
@options.json_option
@click.pass_obj
def evolution_command(
    term: Terminal,
    place: str,
    since: str | None,
    until: str | None,
    agent: str | None,
    session: str | None,
    story: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show who changed a file or a symbol, when and why, newest first.

    Changes are followed through renames and on all branches. What was learned at the time is shown
    too.

    A symbol is followed from the commit that is checked out.

    \b
    Examples:
      git mem code evolution src/pay.py
      git mem code evolution src/pay.py:Cart.total
      git mem code evolution src/pay.py --agent claude --since "1 month ago"
    """
    with term.open() as app:
        history, name = _changes(app, place)
        first = float(dates.since(app.git, since)) if since else 0.0
        last = float(dates.until(app.git, until)) if until else float(LAST)

        def fits(step: EvolutionStep) -> bool:
            links = [*step.links, *step.others]
            return (
                first <= step.change.commit.at <= last
                and (not agent or any(link.agent == agent for link in links))
                and (not session or any(link.session.startswith(session) for link in links))
                and (not story or story in step.stories)
            )

        steps = evolution(app.provenance(), app.indexes(), history, fits, limit)
        if as_json:
            term.json([_json(step) for step in steps])
            return
        term.page(_lines(term, steps, name), app, wraps=True)


def _changes(app: App, given: str) -> tuple[Iterable[FileChange], str]:
    """Return the changes of what the user named, and its name; raises UserError."""
    place = places.parse_symbol(app, given)
    if not place.symbol and not place.first:
        history = changes(app.code_history, app.home, place.path)
        first = next(history, None)
        if first is None:
            raise UserError(
                f"git has no history of '{place.path}'.", "Is it committed? See: git log -- FILE"
            )
        return chain([first], history), place.path
    data = app.code_history.text(place.path, "HEAD")
    if data is None:
        raise UserError(
            f"the commit that is checked out has no '{place.path}'.",
            "A symbol is followed from there: commit it, or leave the symbol out.",
        )
    start, end, name = place.first, place.last, ""
    if place.symbol:
        start, end, name = places.span(data.decode("utf-8", "replace"), place)
    return app.code_history.symbol_changes(
        place.path, start, end, "HEAD"
    ), f"{place.path}:{name or f'{start}-{end}'}"


def _json(step: EvolutionStep) -> dict[str, Any]:
    change = step.change
    return {
        **commit_json(change.commit),
        "change": WORDS.get(change.what, change.what),
        "path": path_text(change.path),
        "former_path": path_text(change.was) or None,
        "sessions": list(map(session_part_json, step.links)),
        "other_sessions": list(map(session_part_json, step.others)),
        "story_ids": list(step.stories),
        "records": list(map(mention_json, step.records)),
    }


@cache
def _day(number: int) -> str:
    return stamp(number * 86400)[:10]


def _named(term: Terminal, link: Link) -> str:
    who = ", ".join(
        word for word in (link.agent, link.model, "" if link.kind == AI else link.kind) if word
    )
    return (
        f"session "
        f"{term.style(plain(link.session[:13]), fg='cyan')}{f' ({plain(who)})' if who else ''}"
    )


def _lines(term: Terminal, steps: Iterable[EvolutionStep], name: str) -> Iterator[str]:
    step = None
    for step in steps:
        change, commit = step.change, step.change.commit
        named = f" from {path_shown(change.was)} to {path_shown(change.path)}" if change.was else ""
        what = "" if change.what == "M" else f" [{WORDS.get(change.what, change.what)}{named}]"
        yield (
            f"{term.style(commit.oid[:10], fg='yellow')} {_day(commit.authored // 86400)} "
            f"{plain(commit.author)}: {plain(commit.subject)}{term.style(what, fg='cyan')}"
        )
        for link in step.links:
            yield (
                f"    {_named(term, link)} "
                f"{'wrote and committed' if link.how == COMMITTED else 'wrote'}"
            )
        for link in step.others:
            yield f"    {_named(term, link)} had a part in this commit"
        for story in step.stories:
            yield f"    story {plain(story)}"
        for row in step.records:
            kind = f"gotcha {row['severity']}" if row["kind"] == "gotcha" else row["type"]
            id = term.style(short(row["id"]), fg="yellow")
            yield f"    {kind}: {id} {plain(marked_title(row))}"
    if step is None:
        term.note(f"no change of {path_shown(name)} fits.")
