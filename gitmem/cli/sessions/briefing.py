"""The command that briefs: what is known of this project, within a budget.

Kept light: answered from the index.
"""

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from gitmem.agents.prompt_text import clean
from gitmem.app import App
from gitmem.base.processes import is_gone
from gitmem.base.regular_files import read_regular
from gitmem.cli import options
from gitmem.cli.terminal import Terminal
from gitmem.clock import seconds, stamp
from gitmem.index import epics
from gitmem.repo.location import ignore_text
from gitmem.repo.refs import branch, head
from gitmem.services.briefing import collect, layout
from gitmem.services.briefing.layout import LINES, Fitted, ProjectState
from gitmem.services.records.committers import author_if_foreign
from gitmem.text.tokens import tokens

if TYPE_CHECKING:
    from gitmem.transcripts.formats.plan_files import PlanProgress

BRIEFING = "BRIEFING.md"  # the page: not work in hand
PLANS = frozenset({"plan.md", "progress.md", "state.json"})  # at the root
PLAN, OPEN = 1 << 20, 10  # bytes of one that are read; of its open tasks that are told
LEAST_LINES, LEAST_TOKENS = 10, 150  # below, not even what is pinned has room


@click.command("briefing", short_help="Show what is known of this project, within a budget")
@click.option(
    "--budget",
    metavar="LINES|Nt",
    help=f"At most so many lines, or tokens: 60, 1500t.  [default: {LINES}]",
)
@click.option(
    "--tokens",
    "most",
    type=click.IntRange(LEAST_TOKENS),
    metavar="N",
    help="At most so many tokens.",
)
@click.option(
    "--agent",
    metavar="NAME",
    help="As this agent sees it: its own and global; 'all' for every one.",
)
@options.json_option
@click.pass_obj
def briefing_command(
    term: Terminal,
    budget: str | None,
    most: int | None,
    agent: str | None,
    *,
    as_json: bool,
) -> None:
    """Show the known state, decisions, patterns, errors, progress and context of this project.

    Adds to 'git mem status': the content. Each part has a share of the budget and passes on what it
    does not need. Pinned entries and high scores come first. What is left out is counted, with the
    command that shows it. The same store gives the same text all day. To a file: git mem page.

    \b
    Examples:
      git mem session briefing
      git mem session briefing --budget 60
      git mem session briefing --budget 1500t --json
    """
    size, unit = _budget(budget, most)
    with term.open() as app:
        parts = layout.sections(_gather_facts(app, agent), _place(app), clean)
        top = layout.head(_named(app))
        made = layout.fit(top, parts, size, _cost(unit))
        if as_json:
            term.json(
                {
                    "day": _day(app),
                    "budget": size,
                    "unit": unit,
                    "used": made.cost,
                    "parts": layout.sections_json(parts, made),
                }
            )
        else:
            term.page(_shown(term, made), app, wraps=True)
        remark = app.unfetched_hint() if any(made.kept) else options.first_step(app)
        if remark and not as_json:
            term.note(remark)


def _shown(term: Terminal, made: Fitted) -> Iterator[str]:
    return (term.style(line, bold=True) if line.startswith("#") else line for line in made.lines)


def _budget(budget: str | None, most: int | None) -> tuple[int, str]:
    """Return a budget and its unit, `lines` or `tokens`."""
    if budget is not None and most is not None:
        raise click.UsageError(
            "--budget and --tokens are two names for one thing: give one of them."
        )
    if most is not None:
        return most, "tokens"
    if budget is None:
        return LINES, "lines"
    match = re.fullmatch(r"(\d{1,7})(t?)", budget.strip())
    if not match:
        raise click.BadParameter(
            f"'{budget}' is not a budget: give lines, such as 60, or tokens, such as 1500t.",
            param_hint="'--budget'",
        )
    size, unit, least = (
        int(match[1]),
        "tokens" if match[2] else "lines",
        LEAST_TOKENS if match[2] else LEAST_LINES,
    )
    if size < least:
        raise click.BadParameter(
            f"'{budget}' is too small: at least {least} {unit}.", param_hint="'--budget'"
        )
    return size, unit


def _cost(unit: str) -> layout.Cost:
    return (lambda line: tokens(line + "\n")) if unit == "tokens" else (lambda _: 1)


def _gather_facts(app: App, agent: str | None) -> collect.BriefingFacts:
    chosen = agent or app.namespace
    agents = () if chosen == "all" else tuple(dict.fromkeys(("global", chosen)))
    since = stamp(app.clock.now() - collect.DAYS * 86400)[:10]
    unsure = bool(app.settings.get("unconfirmed"))
    return collect.gather(
        [index for _, index in app.indexes()],
        agents,
        since,
        unsure=unsure,
        totals=True,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=app.fact_order(agents, seconds(f"{_day(app)}T00:00:00Z")),  # the same all day
    )


def _day(app: App) -> str:
    return app.clock.stamp()[:10]


def _named(app: App) -> ProjectState:
    root = app.location.worktree or app.location.commondir
    return ProjectState(
        name=clean(os.path.basename(root.rstrip(os.sep)).removesuffix(".git") or root, 100),
        day=_day(app),
    )


def _place(app: App) -> ProjectState:
    """Return where the project stands: branch, changed files, epics, plans."""
    name, commit = branch(app.location), head(app.location)
    where = f"Branch {name}" if name else f"Detached at {commit[:10]}" if commit else ""
    root = app.location.worktree
    work = tuple(
        _epic(app, epic)
        for _, index in app.indexes()
        for epic in epics.epics(index)
        if epic["rest"] in {"active", "paused"}
    )
    if not root:
        return ProjectState(head=where, work=work)
    names = (path.encode("utf-8", "replace").decode() for path, _ in app.worktree(root).status())
    plans = [(file, how) for file in _plans(root) if (how := _progress(app, root, file))]
    return ProjectState(
        head=where,
        changed=tuple(sorted(name for name in names if name != BRIEFING)),
        work=work,
        plan=tuple(_plan(file, how) for file, how in plans),
        tasks=tuple((text, file) for file, how in plans for text in how.pending[:OPEN]),
    )


def _epic(app: App, epic: dict[str, Any]) -> str:
    """Return an epic as one line: how it stands, and where it is."""
    at = [f"{name} {epic[name]}" for name in ("story", "phase") if epic[name]]
    state = epics.condition(app.state, epic, app.clock.now(), is_gone)["standing"]
    other = author_if_foreign(epic, app.own_addresses)
    by = f" (by {other})" if other else ""
    return (
        f"Epic {epic['id'][4:]} ({state}): {epic['title']}; "
        f"{', '.join(at)}{', ' * bool(at)}{epic['done']} of {epic['total']} stories done{by}"
    )


def _plans(root: str) -> list[str]:
    """Return the files at the root in which a project keeps its plan."""
    try:
        return sorted(name for name in os.listdir(root) if name.lower() in PLANS)
    except OSError:
        return []


def _progress(app: App, root: str, file: str) -> "PlanProgress | None":
    """Return how far a plan is; None when nothing is to be seen of it."""
    data = read_regular(os.path.join(root, file), PLAN)
    if not data:
        return None
    import io

    from gitmem.repo.ignore import ignored
    from gitmem.transcripts.formats import plan_files

    if ignored([ignore_text(root)], app.settings.get("ignore")).has(file):
        return None
    read = plan_files.state if file.endswith(".json") else plan_files.plan
    progress = plan_files.progress(read(io.BytesIO(data)))
    return progress if progress.phase or progress.total else None


def _plan(file: str, how: "PlanProgress") -> str:
    facts = [f"phase {how.phase}"] if how.phase else []
    return (
        f"{file}: "
        f"{', '.join([*facts, *([f'{how.done} of {how.total} tasks done'] if how.total else [])])}"
    )
