"""`git mem import`: read what another tool remembers."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.interchange import past_sessions
from gitmem.cli.terminal import Terminal, plain, short, title_shown
from gitmem.services.interchange import formats
from gitmem.services.interchange.importing import (
    NEW,
    UNCHANGED,
    UPDATED,
    ImportOutcome,
    ImportPlan,
    is_waiting,
)
from gitmem.services.interchange.item import ForeignSource, Surroundings
from gitmem.services.interchange.values import counted
from gitmem.services.sessions.past_choice import PastChoice
from gitmem.services.sessions.past_transcripts import AGENTS
from gitmem.worker import interchange
from gitmem.worker.surroundings import surroundings

SHOWN = 20  # rows of a table, and remarks, unless all are asked for
Plans = Sequence[tuple[ForeignSource, ImportPlan]]
TAKEN = (NEW, UPDATED, UNCHANGED)


@click.command("import", short_help="Read what another tool remembers")
@click.argument("path", required=False, metavar="[SOURCE]")
@click.option(
    "--from",
    "name",
    type=click.Choice(list(formats.BY_NAME)),
    metavar="FORMAT",
    help=f"The format: {', '.join(formats.BY_NAME)}. Without it, it is found out.",
)
@click.option("--project", metavar="NAME", help="Take what the source files under this project.")
@click.option("--dry-run", is_flag=True, help="Say what would be imported, and write nothing.")
@click.option("--verbose", "-v", is_flag=True, help="List every item and every remark.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Of past sessions: read at most N, the newest. Default: {past_sessions.LIMIT}.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice(tuple(AGENTS)),
    help="Of past sessions: only those of this agent. May be repeated.",
)
@options.scope_flags(
    ("shared", "Write to the shared store."),
    ("private", "Write to the private store (default, but for decisions that git tracks)."),
    default=None,
)
@options.json_option
@click.pass_obj
def import_command(
    term: Terminal,
    path: str | None,
    name: str | None,
    project: str | None,
    dry_run: bool,
    verbose: bool,
    limit: int | None,
    agents: tuple[str, ...],
    scope: str | None,
    as_json: bool,
) -> None:
    """Read what another tool remembers into records.

    SOURCE is a file or a folder of that tool. Without SOURCE, the usual places are looked at. The
    files of the tool are not changed.

    The word 'sessions' as SOURCE means past sessions in this repository: the transcripts that
    Claude Code, Gemini CLI and Codex keep on this machine. What they taught waits in the inbox,
    with the time when it was said. A folder of that name is ./sessions.

    What a tool or an agent wrote waits in the inbox, in the private store. A decision record that
    git tracks and that you wrote yourself goes to the shared store. Secrets are masked, and what
    was forgotten here does not come back. Importing again brings what is new and what changed
    there; a record that was changed here stays as it is. git mem undo takes an import back.

    \b
    Examples:
      git mem import
      git mem import --from claude-mem --dry-run
      git mem import docs/adr --shared
      git mem import sessions --limit 5
    """
    of_stores = {
        "--from": name,
        "--project": project,
        "--verbose": verbose,
        f"--{scope}": scope,
    }
    if past_sessions.check_options(path, of_stores, limit, agents):
        past_sessions.import_sessions(term, limit, agents, dry_run=dry_run, as_json=as_json)
        return
    with term.open() as app:
        plans = [
            (source, _planned(term, app, source, scope))
            for source in _sources(surroundings(app), path, name, project)
        ]
        is_search = not (path or name)
        writes = not dry_run and (not is_search or _agrees(term, plans, as_json=as_json))
        waits = False
        if writes:
            plans, waits = _write_all(term, app, plans, scope)
        past = past_sessions.waiting(app) if is_search else PastChoice([], [])
        if as_json:
            data = _json(plans, is_dry_run=not writes, journaled=waits)
            term.json({**data, **past_sessions.counts_json(past)})
            return
        if not plans:
            term.note("no store of another tool was found here. Name one: git mem import PATH")
        elif writes or dry_run:
            _report(term, plans, writes, waits, verbose=verbose)
        past_sessions.name_sessions(term, past)


def _sources(
    here: Surroundings, path: str | None, name: str | None, project: str | None
) -> list[ForeignSource]:
    """Return the stores that are meant: the one that is named, or all in their usual places."""
    if project:
        here = here._replace(projects=frozenset({project}))
    if path:
        return [formats.source_at(path, name or "", here)]
    if name:
        return [formats.default_source(name, here)]
    return list(formats.detected(here))


def _planned(term: Terminal, app: App, source: ForeignSource, scope: str | None) -> ImportPlan:
    return interchange.plan_import(app, source, scope, term.progress("reading"))


def _write_all(
    term: Terminal, app: App, plans: Plans, scope: str | None
) -> tuple[list[tuple[ForeignSource, ImportPlan]], bool]:
    """Write all plans; return them as they were written, and whether a part is in the journal.

    What one store has brought, the next one does not say again.
    """
    out, waits = list[tuple[ForeignSource, ImportPlan]](), False
    for number, (source, first_plan) in enumerate(plans):
        plan = first_plan
        if number:
            source.unmapped.clear()
            plan = _planned(term, app, source, scope)
        waits |= interchange.apply_import(app, source, plan, term.progress("writing"))
        out.append((source, plan))
    return out, waits


def _report(term: Terminal, plans: Plans, wrote: bool, waits: bool, *, verbose: bool) -> None:
    """Say what was, or in a dry run would be, imported."""
    for source, plan in plans:
        _show(term, source, plan, wrote=wrote, verbose=verbose)
    if wrote and any(plan.writes for _, plan in plans):
        _say_next(term, plans, waits)


def _agrees(term: Terminal, plans: Plans, *, as_json: bool) -> bool:
    """Say what was found, and ask whether to import it. Nobody is asked but on a terminal."""
    if not plans or as_json:
        return False
    fresh = [(source, plan) for source, plan in plans if plan.writes]
    if not fresh:
        term.say("all that was found here is imported already.")
        return False
    sentence = f"found {', and '.join(_description(source, plan) for source, plan in fresh)}"
    if not (os.isatty(0) and sys.stdout.isatty()):
        term.say(f"{sentence}.")
        commands = [f"git mem import --from {source.format}" for source, _ in fresh]
        term.say(f"To import one: {', or '.join(commands)}")
        return False
    return click.confirm(f"{sentence}: import?", default=False, err=True)


def _description(source: ForeignSource, plan: ImportPlan) -> str:
    """Return what a store is and how much it has, for this project if it tells projects apart."""
    entries = counted(len(plan.writes), "new entry")
    form = formats.BY_NAME[source.format]
    return f"{form.title} with {entries}{'' if form.is_for_all else ' for this project'}"


def _show(
    term: Terminal, source: ForeignSource, plan: ImportPlan, *, wrote: bool, verbose: bool
) -> None:
    """Print what was or would be imported."""
    most = sys.maxsize if verbose else SHOWN
    counts = plan.count()
    term.say(f"{formats.BY_NAME[source.format].title}, {plain(source.path)}")
    for what in TAKEN:
        term.say(f"  {what + ':':<11}{counts[what]:>7,}")
    left = [row for row in plan.outcomes if row.what not in TAKEN]
    term.say(f"  {'left out:':<11}{len(left) + len(source.unmapped):>7,}")
    shown = [row for row in plan.outcomes if verbose or (not wrote and row.what != UNCHANGED)]
    for row in shown[:most]:
        term.say(f"    {_row(row)}")
    if len(shown) > most:
        term.say(f"    … and {len(shown) - most:,} more: --verbose lists them")
    reasons = [f"{title_shown(row.title)}: {_reason(row)}" for row in left]
    reasons += [f"{plain(place)}: {plain(reason)}" for place, reason in source.unmapped]
    for text in reasons[:most]:
        term.note(f"left out: {text}")
    if len(reasons) > most:
        term.note(f"left out: {len(reasons) - most:,} more; --verbose lists them")


def _row(row: ImportOutcome) -> str:
    store = f"  ({row.scope})" if row.scope else ""
    return f"{row.what:<10} {short(row.id)} {title_shown(row.title)}{store}"


def _reason(row: ImportOutcome) -> str:
    return f"{row.what}, {plain(row.detail)}" if row.detail else row.what


def _say_next(term: Terminal, plans: Plans, waits: bool) -> None:
    """Say what to do with what was written."""
    writes = [row for _, plan in plans for row in plan.writes]
    waiting = sum(row.after is not None and is_waiting(row.after) for row in writes)
    if waits:
        term.note("a part waits in the journal: the next git mem command commits it.")
    if waiting:
        term.note(f"{waiting:,} wait for you: git mem inbox")
    term.note("to take this back: git mem undo")


def _json(plans: Plans, *, is_dry_run: bool, journaled: bool) -> dict[str, Any]:
    """Return what an import did as JSON."""
    return {
        "is_dry_run": is_dry_run,
        "journaled": journaled,
        "imports": [
            {
                "foreign_format": source.format,
                "source": source.path,
                "foreign_items": [
                    {
                        "id": row.id,
                        "title": row.title,
                        "outcome": row.what,
                        "store": row.scope or None,
                        "detail": row.detail,
                    }
                    for row in plan.outcomes
                ],
                "unmapped_entries": [
                    {"entry": place, "reason": reason} for place, reason in source.unmapped
                ],
            }
            for source, plan in plans
        ],
    }
