"""What a session that starts now would be told: each line with its reason and its tokens."""

from collections.abc import Mapping
from typing import Any

from gitmem.agents.events import SESSION_START, HookEvent
from gitmem.agents.prompt_text import OVERHEAD
from gitmem.cli.json_shapes import mention_json
from gitmem.clock import seconds
from gitmem.dashboard.place import DashboardPlace
from gitmem.hooks.context import Hook
from gitmem.hooks.session_start import StartPreview, preview
from gitmem.services.lifecycle.score import FactScores
from gitmem.text.tokens import tokens

LEFT_OUT = 100  # facts without room that are listed
NOBODY = "dashboard-preview"  # the session that is imagined


def today(place: DashboardPlace, agent: str, file: str) -> dict[str, Any]:
    """Return what the start of a session tells `agent`, and what an edit of `file` tells."""
    here = place.as_agent(agent)
    event = HookEvent(SESSION_START, "", agent or "person", NOBODY, here.folder)
    event.source = "startup"
    with here.open() as app:
        app.index()  # bring the indexes up to date: the hook reads them as they are
        now, scores = app.clock.now(), app.scores()
        hook = Hook(event, here.environ, now)
        try:
            start_preview = preview(hook)
        finally:
            hook.repo.close()
        lines = [
            _line_json(start_preview, line, row, now, scores) for line, row in start_preview.lines
        ]
    used = OVERHEAD // 4 + sum(line["tokens"] for line in lines)
    return {
        "agent": agent or None,
        "budget": start_preview.budget,
        "used": used if lines else 0,
        "lines": lines,
        "left_out": [_fact_json(row, now) for row in start_preview.left_out[:LEFT_OUT]],
        "left_out_count": len(start_preview.left_out),
        "path": file or None,
        "about_file": here.data("gotcha", "for", "--", file) if file else [],
    }


def _line_json(
    start_preview: StartPreview,
    line: str,
    row: Mapping[str, Any] | None,
    now: float,
    scores: FactScores,
) -> dict[str, Any]:
    out: dict[str, Any] = {"text": line, "tokens": tokens(line), "fact": None}
    if row is None:
        return {**out, "reason": "work in hand"}
    if row["kind"] == "entry":
        return {**out, "reason": "what the code is made of"}
    return {**out, "reason": _reason(start_preview, row, scores), "fact": _fact_json(row, now)}


def _fact_json(row: Mapping[str, Any], now: float) -> dict[str, Any]:
    days = max(0.0, now - seconds(str(row["created"]))) / 86400
    author = str(row.get("author") or "").partition(" <")[0]
    return {**mention_json(row), "age_days": round(days, 2), "author": author}


def _reason(start_preview: StartPreview, row: Mapping[str, Any], scores: FactScores) -> str:
    """Return in a few words why a fact is told."""
    if row["id"] in start_preview.near:
        return "about a file you changed"
    if row.get("status") == "pinned":
        return "pinned"
    if row["kind"] == "session":
        return "the session before"
    if row["kind"] == "gotcha":
        return "critical" if row["severity"] == "critical" else "open error"
    if row.get("type") == "task":
        return "open task"
    return f"score {scores.of(row).value:.1f}"
