"""What the hooks of a session cost."""

from collections.abc import Sequence
from typing import Any

import click

from gitmem.agents import events
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.sessions.find import find_session
from gitmem.cli.terminal import Terminal, age, plain
from gitmem.clock import stamp
from gitmem.config import prompt_budget, tool_budget
from gitmem.state import hook_costs, sessions
from gitmem.state.hook_costs import HookCost


@click.command("cost", short_help="Show what the hooks of a session cost")
@click.argument("session", required=False)
@click.option("--all", "every", is_flag=True, help="Of all sessions together.")
@options.json_option
@click.pass_obj
def cost_command(term: Terminal, session: str | None, every: bool, as_json: bool) -> None:
    """Show what the hooks of a session cost: calls, answers, tokens (with their budget) and time.

    Without an id: the current session, else the latest. Time is that of a hook's processes, from
    their start; the last line but one is work that hooks left to the background, where a call is a
    process. Not in it are the shell that calls a hook, and events that are passed over at once, as
    Gemini CLI's PreCompress.

    \b
    Examples:
      git mem session cost
      git mem session cost 3f2a81c0 --json
    """
    if every and session:
        raise click.UsageError("--all takes no session.")
    with term.open() as app:
        chosen = sessions.some(app.state) if every else [find_session(app, session)]
        ids = [mine.id for mine in chosen]
        rows = _sums(hook_costs.costs(app.state, ids), app)
        background = _background(hook_costs.background(app.state, ids))
        total = {
            key: sum(row[key] for row in rows)
            for key in ("call_count", "answer_count", "tokens", "duration_seconds")
        }
        spent = [row["processor_seconds"] for row in [*rows, background]]
        total["processor_seconds"] = round(sum(spent), 6)
        if as_json:
            term.json({"session_ids": ids, "costs": rows, "background": background, "total": total})
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
            f"{'time':>10}{'slowest':>10}{'processor':>12}"
        )
        for row in rows:
            budget = f"{row['budget']:,}" if row["budget"] else "-"
            term.say(
                f"{row['event']:<15}{row['call_count']:>7,}{row['answer_count']:>9,}"
                f"{row['tokens']:>9,}{budget:>13}{row['duration_seconds'] * 1000:>7,.0f} ms"
                f"{row['slowest_seconds'] * 1000:>7,.0f} ms"
                f"{row['processor_seconds'] * 1000:>9,.0f} ms"
            )
        term.say(
            f"{'background':<15}{background['process_count']:>7,}{'':>31}"
            f"{background['duration_seconds'] * 1000:>7,.0f} ms{'':>10}"
            f"{background['processor_seconds'] * 1000:>9,.0f} ms"
        )
        term.say(
            f"{'together':<15}{total['call_count']:>7,}{total['answer_count']:>9,}"
            f"{total['tokens']:>9,}{'':>13}{total['duration_seconds'] * 1000:>7,.0f} ms{'':>10}"
            f"{total['processor_seconds'] * 1000:>9,.0f} ms"
        )


def _background(costs: Sequence[HookCost]) -> dict[str, Any]:
    return {
        "process_count": sum(cost.calls for cost in costs),
        "duration_seconds": round(sum(cost.spent for cost in costs), 6),
        "processor_seconds": round(sum(cost.processor for cost in costs), 6),
    }


def _sums(costs: Sequence[HookCost], app: App) -> list[dict[str, Any]]:
    budgets = {
        events.SESSION_START: int(app.settings.get("injectBudget")),
        events.PROMPT: prompt_budget(app.settings),
        events.BEFORE_TOOL: tool_budget(app.settings),
        events.AFTER_TOOL: tool_budget(app.settings),
        events.TOOL_FAILED: tool_budget(app.settings),
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
        row = out.setdefault(
            each.event,
            {
                "event": each.event,
                "call_count": 0,
                "answer_count": 0,
                "tokens": 0,
                "budget": budgets.get(each.event) or None,
                "duration_seconds": 0.0,
                "slowest_seconds": 0.0,
                "processor_seconds": 0.0,
            },
        )
        row["call_count"] += each.calls
        row["answer_count"] += each.answers
        row["tokens"] += each.tokens
        row["duration_seconds"] = round(row["duration_seconds"] + each.spent, 6)
        row["processor_seconds"] = round(row["processor_seconds"] + each.processor, 6)
        row["slowest_seconds"] = round(max(row["slowest_seconds"], each.most), 6)
    return sorted(
        out.values(),
        key=lambda row: order.index(row["event"]) if row["event"] in order else len(order),
    )
