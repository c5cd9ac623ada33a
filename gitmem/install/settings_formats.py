"""The content of each CLI's settings.

There is one function for each form of file, named by an adapter's `Settings.shape`.

A form says what of ours a file holds; how it gets there without touching the rest is `merge`'s
business. To add one, write a function from an adapter and a command to a `Form`, and name it in
`SHAPES`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.agents.adapter import Adapter
from gitmem.base.resources import read_text
from gitmem.install.hook_command import HookCommand

_COMMAND = "const COMMAND = "  # where the plugin for opencode has its command
SECONDS = 5  # that a hook may take; it ends itself after two


@dataclass(frozen=True, slots=True)
class Form:
    """What of ours is in a file.

    Either lists below the key `hooks`, by event: of handlers, or, when `grouped`, of groups
    `{"matcher", "hooks": [handler]}`, several of them where matchers differ; `fields` are the keys
    of a handler that may hold its command, `defaults` settings that are written where there are
    none. Or a file that is ours alone: its `text`, known again by `mark`.
    """

    events: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    grouped: bool = True
    fields: tuple[str, ...] = ("command",)
    defaults: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    text: str = ""
    mark: str = ""


def claude(adapter: Adapter, command: HookCommand) -> Form:
    """Return the form that Claude Code began and Codex took over."""
    handler = {"type": "command", "command": command.hook(adapter.name)}
    return Form({event: _groups(adapter, event, handler) for event in _asked(adapter)})


def gemini(adapter: Adapter, command: HookCommand) -> Form:
    """Return Gemini CLI's form: a handler has a name, and hooks are switched on."""
    handler = {"type": "command", "name": "git-mem", "command": command.hook(adapter.name)}
    events = {event: _groups(adapter, event, handler) for event in _asked(adapter)}
    return Form(events, defaults={("hooksConfig", "enabled"): True})


def cursor(adapter: Adapter, command: HookCommand) -> Form:
    """Return Cursor's form: a list of handlers for each event, below a version."""
    matchers = adapter.settings.matchers
    handler = {"command": command.hook(adapter.name), "timeout": SECONDS * adapter.settings.unit}
    events = {
        event: [{**handler, **({"matcher": matchers[event]} if event in matchers else {})}]
        for event in _asked(adapter)
    }
    return Form(events, grouped=False, defaults={("version",): 1})


def copilot(adapter: Adapter, command: HookCommand) -> Form:
    """Return GitHub Copilot CLI's form: a file of ours among others."""
    handler = {
        "type": "command",
        "bash": command.hook(adapter.name),
        "timeoutSec": SECONDS * adapter.settings.unit,
    }
    matchers = adapter.settings.matchers
    events = {
        event: [{"matcher": matchers[event], **handler} if event in matchers else handler]
        for event in _asked(adapter)
    }
    text = json.dumps(
        {"version": 1, "hooks": events},
        ensure_ascii=False,
        indent=2,
    )
    return Form(text=text + "\n", mark=f"hook {adapter.name}")


def opencode(adapter: Adapter, command: HookCommand) -> Form:
    """Return opencode's form: a plugin, which holds the command that it calls."""
    text = read_text("agent-hooks", "opencode/git-mem.js")
    start = text.index(_COMMAND)
    end = text.index("\n", start)
    line = _COMMAND + json.dumps(command.hook(adapter.name), ensure_ascii=False)
    return Form(text=text[:start] + line + text[end:], mark="// git-mem for opencode")


def _asked(adapter: Adapter) -> list[str]:
    """Return the events for which a hook is written."""
    return [event for event in adapter.events if event not in adapter.settings.unasked]


def _groups(adapter: Adapter, event: str, handler: dict[str, Any]) -> list[dict[str, Any]]:
    matcher, behind = adapter.settings.matchers.get(event), adapter.settings.behind.get(event)
    handler = {
        **handler,
        "timeout": min(SECONDS, adapter.settings.most.get(event, SECONDS)) * adapter.settings.unit,
    }
    waited = {"matcher": matcher, "hooks": [handler]} if matcher else {"hooks": [handler]}
    return (
        [waited, {"matcher": behind, "hooks": [{**handler, "async": True}]}] if behind else [waited]
    )


SHAPES: dict[str, Callable[[Adapter, HookCommand], Form]] = {
    "claude": claude,
    "gemini": gemini,
    "cursor": cursor,
    "copilot": copilot,
    "opencode": opencode,
}
