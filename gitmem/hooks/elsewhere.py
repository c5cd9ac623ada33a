"""What an agent is told of code that others change at the same time. Part of the hot path."""

from gitmem.agents.prompt_text import clean
from gitmem.hooks.context import Hook
from gitmem.hooks.injection import fingerprint
from gitmem.repo.refs import branch
from gitmem.state import elsewhere, injections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.state.elsewhere import Elsewhere

AT_START, AT_FILE = 3, 2  # that are told


def start_lines(hook: Hook) -> "list[str]":
    """Return the lines for the start of a session about files that clash.

    This branch or work tree changes them, and another one too.
    """
    return [_line(warning) for warning in elsewhere.worst(hook.repo.state, _mine(hook), AT_START)]


def file_lines(hook: Hook) -> "list[str]":
    """Return what is told before a file is edited, once a context."""
    if not hook.paths or not hook.hears:
        return []
    warnings = elsewhere.of_paths(hook.repo.state, _mine(hook), hook.paths, AT_FILE)
    by_id: dict[str, Elsewhere] = {}
    for warning in warnings:  # the worst first; the same file may be on both sides of this one
        by_id.setdefault(f"drift {fingerprint(f'{warning.path} {warning.other}')}", warning)
    if not by_id:
        return []
    forms = [(id, warning.level) for id, warning in by_id.items()]
    fresh = injections.claim(
        hook.repo.state, hook.event.context, forms, hook.now, is_kept=hook.is_kept
    )
    return [_line(by_id[id]) for id in fresh]


def _mine(hook: Hook) -> "list[str]":
    return [hook.repo.stored_root, elsewhere.branch_key(branch(hook.repo.location))]


def _line(warning: "Elsewhere") -> str:
    where, who = clean(warning.other, 80), f" by {clean(warning.who, 60)}" if warning.who else ""
    path = clean(warning.path, 120)
    what = f" ({clean(warning.what, 80)})" if warning.what else ""
    if warning.level == "critical":
        return (
            f"- [drift] {path}: {clean(warning.what, 80) or 'the same code'} is "
            f"changed on {where}{who} too, differently. Look first: git mem code drift"
        )
    if warning.level == "high":
        return (
            f"- [drift] {path}{what} is changed on {where}{who} too; a merge would "
            f"conflict. Look first: git mem code drift"
        )
    return f"- [drift] {path} is being changed on {where}{who} too: git mem code drift"
