"""Gives the answers that an earlier hook of the session could not give in time.

Part of the hot path.
"""

from gitmem.hooks.context import Hook
from gitmem.state import late_answers


def late_lines(hook: Hook) -> "list[str]":
    """Return the answers that are there by now, each once."""
    owed = late_answers.owed(hook.repo.state, hook.event.context)
    if not owed:
        return []
    due = [kind for kind in owed if _is_ready(hook, kind, owed[kind])]
    lines: list[str] = []
    for kind in late_answers.take(hook.repo.state, hook.event.context, due) if due else ():
        lines += _answer(hook, kind, owed[kind], lines)
    return lines


def _is_ready(hook: Hook, kind: str, text: str) -> bool:
    if kind == late_answers.BEFORE:
        from gitmem.hooks.session_start import to_come

        return to_come(hook) != text
    if hook.repo.is_current():
        return True
    hook.catch_up()  # it may not have been started, or was ended
    return False


def _answer(hook: Hook, kind: str, text: str, shown: "list[str]") -> "list[str]":
    if kind == late_answers.PROMPT:
        from gitmem.hooks.prompt import recalled

        return recalled(hook, text, shown)
    from gitmem.hooks.session_start import late_lines, lines_before

    return lines_before(hook, text) if kind == late_answers.BEFORE else late_lines(hook)
