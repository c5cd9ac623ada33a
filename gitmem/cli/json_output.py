"""The envelope of `--json`, as docs/json.md describes it."""

import json
from typing import Any

import click

from gitmem.base.fast import Lazy

JSON_FORMAT = 1  # a greater number when a field changes its meaning or goes away
# What JSON leaves as it is could still steer a terminal: it is escaped, which means the same.
_STEERING = Lazy("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def envelope(context: click.Context, data: Any) -> dict[str, Any]:
    """Return what a command prints with `--json`."""
    return {"command": command_name(context), "format": JSON_FORMAT, "data": data}


def command_name(context: click.Context) -> str:
    """Return a command's name below `git mem`: 'gotcha list'."""
    names: list[str] = []
    while context.parent is not None:
        names.append(str(context.command.name))
        context = context.parent
    return " ".join(reversed(names))


def json_text(value: Any) -> str:
    """Return a value as JSON without a character that could steer a terminal."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return str(_STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", text))
