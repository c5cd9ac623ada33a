"""What the hooks of a session cost."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.agents import events
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.sessions.find import one
from gitmem.cli.terminal import Terminal, age, plain
from gitmem.clock import stamp
from gitmem.state import hook_costs, sessions
from gitmem.state.hook_costs import HookCost


@click.command("cost", short_help="Show what the hooks of a session cost")
@click.argument("session", required=False)
@click.option("--all", "every", is_flag=True, help="Of all sessions together.")
@options.json_option
@click.pass_obj
def cost_command(term: Terminal, session: str | None, every: bool, as_json: bool) -> None:
    """Show what the hooks of a session cost: calls, answers, tokens (with their budget) and time.

    Without an id: the current session, else the latest. Time is our own work in a hook, without the
    start of its process.

    \b
    Examples:
      git mem session cost
      git mem session cost 3f2a81c0 --json
    """
    if every and session:
        raise click.UsageError("--all takes no session.")
    with term.open() as app:
        chosen = sessions.some(app.state) if every else [one(app, session)]
        rows = _sums(hook_costs.costs(app.state, [one.id for one in chosen]), app)
        total = {
            key: sum(row[key] for row in rows)
            for key in ("call_count", "answer_count", "tokens", "duration_seconds")
        }
        if as_json:
            term.json({"session_ids": [one.id for one in chosen], "costs": rows, "total": total})
            return
        if not rows:
            term.say(
                f"no hook has run in {'it' if len(chosen) == 1 else 'them'}."
                if chosen
                else "no sessions yet."
            )
            return
        if not every:
            term.say(
                f"session {plain(chosen[0].id)}, {plain(chosen[0].agent)}, begun "
                f"{age(stamp(chosen[0].started), term.clock.now())}\n"
            )
        term.say(
            f"{'event':<15}{'calls':>7}{'answers':>9}{'tokens':>9}{'budget each':>13}"
            f"{'time':>10}{'slowest':>10}"
        )
        for row in rows:
            budget = f"{row['budget']:,}" if row["budget"] else "-"
            term.say(
                f"{row['event']:<15}{row['call_count']:>7,}{row['answer_count']:>9,}"
                f"{row['tokens']:>9,}{budget:>13}{row['duration_seconds'] * 1000:>7,.0f} ms"
                f"{row['slowest_seconds'] * 1000:>7,.0f} ms"
            )
        term.say(
            f"{'together':<15}{total['call_count']:>7,}{total['answer_count']:>9,}"
            f"{total['tokens']:>9,}{'':>13}{total['duration_seconds'] * 1000:>7,.0f} ms"
        )


def _sums(costs: Sequence[HookCost], app: App) -> list[dict[str, Any]]:
    budgets = {
        events.SESSION_START: "startBudget",
        events.PROMPT: "promptBudget",
        events.BEFORE_TOOL: "fileBudget",
        events.AFTER_TOOL: "fileBudget",
        events.TOOL_FAILED: "fileBudget",
    }
    order = [
        *budgets,
        events.BEFORE_COMPACT,
        events.AFTER_COMPACT,
        events.TURN_END,
        events.SESSION_END,
    ]
    out: dict[str, dict[str, Any]] = {}
    for each in costs:
        budget = app.settings.get(budgets[each.event]) if each.event in budgets else 0
        row = out.setdefault(
            each.event,
            {
                "event": each.event,
                "call_count": 0,
                "answer_count": 0,
                "tokens": 0,
                "budget": budget or None,
                "duration_seconds": 0.0,
                "slowest_seconds": 0.0,
            },
        )
        row["call_count"] += each.calls
        row["answer_count"] += each.answers
        row["tokens"] += each.tokens
        row["duration_seconds"] = round(row["duration_seconds"] + each.spent, 6)
        row["slowest_seconds"] = round(max(row["slowest_seconds"], each.most), 6)
    return sorted(
        out.values(),
        key=lambda row: order.index(row["event"]) if row["event"] in order else len(order),
    )
