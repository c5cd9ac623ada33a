"""A prompt is given: it is told what it calls for. Part of the hot path."""

import os

from gitmem.agents.prompt_text import fix_text, record_line
from gitmem.config import prompt_budget
from gitmem.hooks.context import Hook
from gitmem.hooks.gotcha_lines import Spots
from gitmem.hooks.injection import inject
from gitmem.services.retrieval.prompt import MOST, recall
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TASK = 50  # characters of a prompt that may describe a task


def prompt(hook: Hook) -> "list[str]":
    """Return the records that a prompt is surely about, one a line; none is the usual answer."""
    if not hook.event.prompt.strip() or not hook.repo.settings.get("inject"):
        hook.catch_up()
        return []
    if not hook.repo.is_current():
        _refresh(hook)
    lines = recalled(hook, hook.event.prompt, [])
    if len(hook.event.prompt) > TASK and os.path.exists(hook.repo.home.join("codesearch.db")):
        from gitmem.hooks.scout import task_files

        lines += task_files(hook, lines)
    return lines


def _refresh(hook: Hook) -> None:
    """Bring the index up to date.

    The answer is owed until then, also where this process is ended over it.
    """
    from gitmem.hooks.session_log import TEXT, kept
    from gitmem.state import late_answers

    late_answers.owe(
        hook.repo.state,
        hook.event.context,
        late_answers.PROMPT,
        kept(hook.event.prompt, TEXT),
    )
    if hook.repo.refresh():
        late_answers.take(hook.repo.state, hook.event.context, (late_answers.PROMPT,))
    else:
        hook.catch_up()


def recalled(hook: Hook, text: str, shown: "list[str]") -> "list[str]":
    """Return the records that a text is surely about.

    What is `shown` in this answer is of another budget.
    """
    recalled_rows: list[dict[str, Any]] = []
    indexes = hook.repo.stored_indexes
    hidden = hook.repo.state.snoozed(hook.now) if indexes else {}
    sure = bool(hook.repo.settings.get("unconfirmed"))
    for index in indexes:
        recalled_rows += recall(
            index,
            text,
            hook.repo.root,
            hook.folder,
            hook.repo.namespaces,
            hook.now,
            hidden,
            unconfirmed=sure,
        )
    if not recalled_rows:
        return []
    from gitmem.hooks.fact_order import scores

    is_decayed = scores(hook).is_decayed
    recalled_rows = [row for row in recalled_rows if not is_decayed(row)]
    spots = Spots(hook)
    budget = prompt_budget(hook.repo.settings) + sum(map(tokens, shown))
    return inject(
        hook,
        recalled_rows[:MOST],
        budget,
        lambda row: record_line(
            row,
            body=row.get("body", ""),
            spot=spots.of(row),
            fix=fix_text(row["fix"]) if row["resolved"] else "",
        ),
        shown,
    )
