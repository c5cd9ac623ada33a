"""`git mem consolidate`: collect what faded, merge what is said twice."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.base.detach import detach
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import Busy, UserError
from gitmem.services.lifecycle.consolidation import STEPS
from gitmem.services.lifecycle.health import range_of
from gitmem.services.records.write import require_person
from gitmem.text.echo import echo
from gitmem.text.plural import counted
from gitmem.worker.consolidation import SCOPES, Consolidation, StepReport
from gitmem.worker.one_consolidation import alone

SHOWN = 20  # facts, or pages, that a step lists
LISTED = frozenset({"collect", "merge", "pages"})  # steps that list what they changed


@click.command("consolidate", short_help="Remove faded facts, merge duplicates")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@click.option(
    "--steps",
    "names",
    metavar="STEP,...",
    help=f"Only these: {', '.join(STEPS)}.",
)
@click.option("--background", is_flag=True, help="Do it in the background.")
@options.json_option
@click.pass_obj
def consolidate_command(
    term: Terminal, dry_run: bool, names: str | None, background: bool, as_json: bool
) -> None:
    """Tidy the memory of this repository, step by step.

    \b
    collect  remove unconfirmed facts whose score fell below 1, and proposals that nobody
             looked at for 90 days; git mem restore brings them back
    check    count the facts that contradict each other or the code
    merge    merge facts that say the same: one stays, the others are archived
    code     read what changed of the code
    index    bring the index up to date
    summary  have the model, if one is set, write a paragraph for each section of the summary
    pages    make pages anew that git mem page wrote; those that you edited are left
    health   compute how healthy the memory is

    What is pinned, what a person wrote or confirmed, decisions, rules, patterns, preferences and
    gotchas are never collected. Each step that changes facts is one commit of each store; git mem
    undo takes all of it back. A second run changes nothing. Sessions of agents do the same in the
    background, at most once a day (setting consolidate).

    \b
    Examples:
      git mem consolidate --dry-run
      git mem consolidate
      git mem consolidate --steps merge,health
    """
    steps = _steps(names)
    if background and (dry_run or as_json):
        raise click.UsageError("--background shows no outcome: leave out --dry-run and --json.")
    with term.open() as app:
        if not dry_run:
            require_person(app.writer(), "consolidate", command="consolidate")
        if background:
            _detach(term, app, steps)
            return
        reports = []
        with alone(app, () if dry_run else steps):
            for report in _reports(term, app, steps, dry_run):
                reports.append(report)
                if not as_json:
                    _show(term, report, dry_run)
        if as_json:
            term.json({"is_dry_run": dry_run, "steps": [_step_json(step) for step in reports]})
        elif not dry_run and any(report.changed for report in reports):
            term.note("to take this back: git mem undo")


def _detach(term: Terminal, app: App, steps: Sequence[str]) -> None:
    """Start steps in the background. Raises GitmemError where they could do nothing."""
    trees = [app.store(scope).tree() for scope in SCOPES]
    if not any(trees):
        term.note("there are no facts yet, so nothing was started: git mem add 'title'")
        return
    try:
        with alone(app, STEPS, wait=0):
            pass
    except Busy:
        term.note("another consolidation is running, so nothing was started.")
        return
    folder = app.location.worktree or app.location.gitdir
    try:
        started = detach(["-C", folder, "consolidate", "--steps", ",".join(steps)], app.env)
    except OSError:
        started = 0
    if not started:
        raise UserError("no process could be started.", "Run it without --background.")
    term.note("consolidating in the background; see later: git mem check --health")


def _reports(term: Terminal, app: App, steps: Sequence[str], dry_run: bool) -> Iterator[StepReport]:
    work = Consolidation(app, dry_run=dry_run, progress=_progress(term))
    yield from map(work.run, steps)


def _steps(names: str | None) -> Sequence[str]:
    """Return the steps that were asked for, in the order they run. Raises click.UsageError."""
    wanted = [name.strip() for name in (names or "").split(",") if name.strip()]
    unknown = [name for name in wanted if name not in STEPS]
    if unknown or (names is not None and not wanted):
        wrong = echo(", ".join(unknown) or names or "")
        raise click.UsageError(f"--steps: {wrong} is no step; they are {', '.join(STEPS)}.")
    return [step for step in STEPS if step in wanted or not wanted]


def _progress(term: Terminal) -> Any:
    """Return what shows how far a step is; on a terminal alone."""
    shows = {step: term.progress(step) for step in STEPS}

    def show(step: str, done: int, total: int) -> None:
        if (line := shows[step]) is not None:
            line(done, total)

    return show


def _show(term: Terminal, report: StepReport, dry_run: bool) -> None:
    """Say what a step did."""
    term.say(f"{report.step + ':':<9}{_outcome(report, dry_run)}")
    if report.step not in LISTED:
        return
    for line in report.lines[:SHOWN]:
        term.say(f"    {plain(line)}")
    if len(report.lines) > SHOWN:
        term.say(f"    … and {len(report.lines) - SHOWN:,} more")


def _outcome(report: StepReport, dry_run: bool) -> str:
    """Return what became of a step, in a few words."""
    number, would = report.changed, "would be " if dry_run else ""
    facts = counted(number, "fact")
    match report.step:
        case "collect":
            return f"{facts} {would}removed" if number else "nothing to remove"
        case "merge":
            return f"{facts} {would}merged into others" if number else "no duplicates"
        case "check":
            open_ones = len(report.lines)
            return f"{open_ones:,} open: git mem check" if open_ones else "no contradictions"
        case "pages":
            return _pages_outcome(report, dry_run)
        case "summary":
            return _summary_outcome(report, dry_run)
        case "health":
            return f"{report.lines[0]}, {range_of(float(report.lines[0]))}"
    return "not in a dry run" if dry_run and report.step == "code" else "up to date"


def _pages_outcome(report: StepReport, dry_run: bool) -> str:
    if dry_run:
        return "not in a dry run"
    return counted(len(report.lines), "file") if report.lines else "up to date"


def _summary_outcome(report: StepReport, dry_run: bool) -> str:
    if dry_run:
        return "not in a dry run"
    return "; ".join(map(plain, report.lines)) or "no model is set"


def _step_json(report: StepReport) -> dict[str, Any]:
    """Return what a step did as JSON."""
    is_health = report.step == "health"
    return {
        "step": report.step,
        "changed_ids": list(report.ids) if report.step in {"collect", "merge"} else [],
        "finding_count": len(report.lines) if report.step == "check" else None,
        "health": float(report.lines[0]) if is_health else None,
    }
