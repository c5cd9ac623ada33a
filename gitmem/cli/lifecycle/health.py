"""`git mem check --health`: how healthy the memory is, and what to do about it."""

from collections.abc import Sequence
from contextlib import closing
from math import floor
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.terminal import BARS, Terminal, plain, short
from gitmem.clock import stamp
from gitmem.errors import UserError
from gitmem.index.health_cache import HealthCache
from gitmem.records.kinds import FACTS, LIVE
from gitmem.services.lifecycle import metrics
from gitmem.services.lifecycle.health import ADVICE, HealthCounts, range_of
from gitmem.services.lifecycle.health_history import (
    HealthAt,
    commits_of_history,
    health_at,
    health_points,
)
from gitmem.services.records import history
from gitmem.state import injections
from gitmem.text.echo import echo
from gitmem.text.plural import counted
from gitmem.worker.consolidation import health_of

WIDTH = 40  # characters of a sparkline
COLORS = {"healthy": "green", "attention": "yellow", "alert": "yellow", "critical": "red"}
LABELS = {
    "unread": "not read for 7 days",
    "duplicates": "said twice",
    "age": "mean age in days",
    "low": "with a low score",
    "pinned": "pinned",
    "links": "links",
}
COMMITS = 20_000  # that are looked at for gaps


class Health(click.ParamType[float]):
    """A number from 0 to 100."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number. Fails for any other text."""
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 100:
            self.fail(f"{echo(str(value))} is no number from 0 to 100, such as 60.", param, ctx)
        return number


@click.command("check --health", short_help="Show how healthy the memory is")
@click.option("--at", "revision", metavar="REV", help="As it was: a date, @~3, a commit.")
@click.option("--history", "with_history", is_flag=True, help="One line for each day, with trend.")
@click.option("--raw", is_flag=True, help="Count each fact in full, however many there are.")
@click.option("--all", "with_metrics", is_flag=True, help="Totals, most linked, use and gaps too.")
@click.option(
    "--fail-under",
    type=Health(),
    metavar="N",
    help="Exit with 1 if the health is below N.",
)
@options.json_option
@click.pass_obj
def health_command(
    term: Terminal,
    revision: str | None,
    with_history: bool,
    raw: bool,
    with_metrics: bool,
    fail_under: float | None,
    as_json: bool,
) -> None:
    """Show how healthy the shared memory is, from 0 to 100, and what moves that.

    From 100 are taken 2 for each fact that nobody read for 7 days, 5 for each that is said twice,
    0.5 for each day of the mean age and 1 for each with a low score; 2 are added for each pinned
    fact, and 0.5 for each link. Counts are scaled to a memory of 20 facts, --raw does not scale
    them. Days are those of the clock by which facts fade.

    \b
    80 to 100  healthy        60 to 79  attention: tidy up
    40 to 59   alert: consolidate     0 to 39  critical

    \b
    Examples:
      git mem check --health
      git mem check --health --at 2026-06-01
      git mem check --health --history
      git mem check --health --fail-under 60
    """
    if revision is not None and (with_history or with_metrics):
        raise click.UsageError("--at shows one state: leave out --history and --all.")
    if with_history and with_metrics:
        raise click.UsageError("--history and --all show different things: choose one.")
    with term.open() as app:
        with closing(HealthCache(app.home.path)) as cache:
            now = _state(app, cache, revision)
            points = [] if revision is not None else _points(app, cache)
        numbers = _metrics(app) if with_metrics else None
        if as_json:
            listed = points if with_history else []
            term.json(_health_json(now, listed, numbers, raw=raw))
        elif with_history:
            _show_history(term, points, raw=raw)
        else:
            trend = [point.counts.health(raw=raw) for point in points]
            _show(term, now.counts, trend, numbers, raw=raw)
        _require(now.counts.health(raw=raw), fail_under)


def _require(value: float, least: float | None) -> None:
    """Raise UserError for a health that a script does not accept."""
    if least is not None and not value >= least:
        shown = floor(value * 10) / 10  # never the limit itself
        raise UserError(f"the health is {shown:g}, below {least:g}.", "See: git mem check --health")


def _state(app: App, cache: HealthCache, revision: str | None) -> HealthAt:
    """Return the health now, or at a revision of the shared store."""
    store = app.store("shared")
    if revision is not None:
        commit = history.resolve(store, app.git, revision)
        return health_at(store, cache, app.scores().clock, commit)
    return HealthAt(store.tip() or "", app.clock.now(), health_of(app, cache))


def _points(app: App, cache: HealthCache) -> list[HealthAt]:
    store = app.store("shared")
    return list(health_points(store, cache, app.scores().clock, commits_of_history(store)))


def _show(
    term: Terminal,
    counts: HealthCounts,
    trend: Sequence[float],
    numbers: dict[str, Any] | None,
    *,
    raw: bool,
) -> None:
    value = counts.health(raw=raw)
    state = range_of(value)
    line = f"  {sparkline(trend)}" if len(trend) > 1 else ""
    term.say(term.style(f"{value:.0f} {state}", fg=COLORS[state], bold=True) + line)
    if not counts.facts:
        term.note("there are no shared facts yet: git mem add 'title'")
        return
    term.say(f"  {'facts':<20} {counts.facts:>8,}")
    for name, points in counts.points(raw=raw).items():
        number = getattr(counts, name)
        shown = f"{number:,.1f}" if name == "age" else f"{number:,}"
        term.say(f"  {LABELS[name]:<20} {shown:>8} {_signed(points):>8}")
    worst = counts.worst
    if worst:
        term.say(f"the largest loss: {LABELS[worst]}. {ADVICE[worst]}")
    if numbers:
        _show_metrics(term, numbers)


def _signed(points: float) -> str:
    return f"{points:+.1f}" if abs(points) >= 0.05 else "0"


def _show_history(term: Terminal, points: Sequence[HealthAt], *, raw: bool) -> None:
    values = [point.counts.health(raw=raw) for point in points]
    if not points:
        term.note("the shared store has no history yet.")
        return
    term.say(sparkline(values))
    for point, value in zip(points, values, strict=True):
        day, state = stamp(point.at)[:10], range_of(value)
        noun = "fact" if point.counts.facts == 1 else "facts"
        term.say(f"{day}  {value:>3.0f} {state:<9} {point.counts.facts:>7,} {noun}")


def sparkline(values: Sequence[float]) -> str:
    """Return numbers from 0 to 100 as a row of bars, the last of each part where they are many."""
    many = len(values)
    shown = [values[(n + 1) * many // WIDTH - 1] for n in range(WIDTH)] if many > WIDTH else values
    return "".join(BARS[min(len(BARS) - 1, int(value * len(BARS) / 100))] for value in shown)


# -- metrics


def _metrics(app: App) -> dict[str, Any]:
    """Return the numbers of `--all`, as JSON has them."""
    rows = app.rows(
        kinds=tuple(sorted(FACTS)), statuses=LIVE, resolved=False, valid_at=app.clock.stamp()
    )
    scores, now = app.scores(), app.clock.now()
    since = now - metrics.GAP_DAYS * 86400
    touched = app.code_history.touched(since, now, COMMITS) if app.location.worktree else ()
    gaps = metrics.gaps((paths for _, paths in touched), metrics.places_since(rows, stamp(since)))
    given = injections.every(app.state) & {row["id"] for row in rows}
    return {
        "totals": metrics.totals(rows),
        "mean_decay": round(metrics.mean_decay(map(scores.of, rows)), 3),
        "most_linked_facts": [
            {"id": fact.id, "title": fact.title, "link_count": fact.links}
            for fact in metrics.most_linked(app.indexes(), rows)
        ],
        "injected_count": len(given),
        "used_count": len(given & scores.reads.keys()),
        "gaps": [{"path": gap.path, "commit_count": gap.commits} for gap in gaps],
    }


def _show_metrics(term: Terminal, numbers: dict[str, Any]) -> None:
    for name, counts in numbers["totals"].items():
        listed = ", ".join(f"{plain(key)} {count:,}" for key, count in counts.items())
        term.say(f"by {name + ':':<9} {listed}")
    term.say(f"left of their importance: {numbers['mean_decay']:.0%} on average")
    term.say(
        f"given to agents: {counted(numbers['injected_count'], 'fact')}, "
        f"read or used of them: {numbers['used_count']:,}"
    )
    for linked in numbers["most_linked_facts"]:
        title = plain(linked["title"])
        links = counted(linked["link_count"], "link")
        term.say(f"  {short(linked['id'])} {links:>9}  {title}")
    for gap in numbers["gaps"]:
        commits = counted(gap["commit_count"], "commit")
        term.say(f"  {plain(gap['path'])}/: {commits} in 90 days and no new fact")


def _health_json(
    state: HealthAt, points: Sequence[HealthAt], numbers: dict[str, Any] | None, *, raw: bool
) -> dict[str, Any]:
    counts, value = state.counts, state.counts.health(raw=raw)
    terms = [
        {"term": name, "number": round(getattr(counts, name), 3), "points": round(points_, 3)}
        for name, points_ in counts.points(raw=raw).items()
    ]
    return {
        "health": round(value, 2),
        "level": range_of(value),
        "at": stamp(state.at),
        "commit": state.commit or None,
        "fact_count": counts.facts,
        "mean_score": round(counts.mean_score, 3),
        "terms": terms,
        "worst_term": counts.worst or None,
        "advice": ADVICE.get(counts.worst),
        "states": [
            {
                "at": stamp(point.at),
                "commit": point.commit,
                "health": round(point.counts.health(raw=raw), 2),
                "fact_count": point.counts.facts,
            }
            for point in points
        ],
        "metrics": numbers,
    }
