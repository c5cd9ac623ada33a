"""A prompt is given: it is told what it calls for. Part of the hot path."""

import os

from gitmem.agents.prompt_text import record_line
from gitmem.hooks.context import Hook
from gitmem.hooks.gotcha_lines import LATE, Spots
from gitmem.services.retrieval.prompt import MOST, recall
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TASK = 50  # characters of a prompt that may describe a task
PATIENCE = 0.4  # seconds that a prompt waits for an index that is behind


def prompt(hook: Hook) -> "list[str]":
    """Return the records that a prompt is surely about, one a line; none is the usual answer. Before them what the start had no time to wait for."""
    wanted = bool(hook.event.prompt.strip()) and hook.settings.get("inject")
    before = hook.state.marked(f"{LATE} {hook.event.context}") if wanted else None
    lines: list[str] = []
    if before is None:
        hook.catch_up(PATIENCE if wanted else 0.0)
    else:
        from gitmem.hooks.session_start import late

        lines = late(hook, before)
    if not wanted:
        return []
    lines += _recalled(hook, lines)
    if len(hook.event.prompt) > TASK and os.path.exists(hook.home.join("codesearch.db")):
        from gitmem.hooks.scout import task_files

        lines += task_files(hook, lines)
    return lines


def _recalled(hook: Hook, told: "list[str]") -> "list[str]":
    found: list[dict[str, Any]] = []
    indexes = hook.indexes
    hidden = hook.state.snoozed(hook.now) if indexes else {}
    sure = bool(hook.settings.get("injectUnconfirmed"))
    for index in indexes:
        found += recall(index, hook.event.prompt, hook.root, hook.folder, hook.agents, hook.now, hidden, unconfirmed=sure)
    if not found:
        return []
    spots = Spots(hook)
    budget = int(hook.settings.get("promptBudget")) + sum(map(tokens, told))  # what was late is of another budget
    return hook.tell(found[:MOST], budget, lambda row: record_line(row, body=row["body"], spot=spots.of(row)), told)
