"""The arguments of a call, checked against what the tool takes."""

import re
from collections.abc import Mapping
from typing import Any

from gitmem.errors import UserError
from gitmem.mcp.tools import BY_NAME, Argument, ToolSpec

LONG = 200_000  # characters of a text
MANY = 50  # entries of a list
SHOWN = 60  # characters of a value that an error repeats
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def tool_named(name: str) -> ToolSpec:
    """Return a tool; raises UserError for one that is not there."""
    tool = BY_NAME.get(name)
    if tool is None:
        raise UserError(f"there is no tool {_shown(name)}.", f"Tools: {', '.join(BY_NAME)}.")
    return tool


def checked(tool: ToolSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a call: what is not given is its default, '' or an empty list.

    Raises UserError for one that the tool does not take, lacks or cannot use.
    """
    for name in given:
        if name not in tool.arguments:
            raise UserError(
                f"{tool.name} takes no {_shown(name)}.",
                f"It takes: {', '.join(tool.arguments)}.",
            )
    out = {}
    for name, argument in tool.arguments.items():
        value = _value(name, argument, given.get(name))
        if name in tool.required and not value:
            raise UserError(f"{tool.name} needs '{name}'.", f"Call {tool.name} again with it.")
        out[name] = value
    return out


def _value(name: str, argument: Argument, value: Any) -> Any:
    if argument.kind == "integer":
        return _number(name, argument, value)
    if argument.kind == "array":
        return _texts(name, argument, value)
    return _text(name, argument, value)


def _number(name: str, argument: Argument, value: Any) -> int:
    if value is None:
        return argument.default
    is_whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    if not is_whole or not argument.least <= value <= argument.most:
        raise UserError(
            f"'{name}' cannot be {_shown(value)}.",
            f"Give a whole number from {argument.least} to {argument.most:,}.",
        )
    return int(value)


def _text(name: str, argument: Argument, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UserError(f"'{name}' is not a text.", "Give it as a JSON string.")
    if len(value) > LONG:
        raise UserError(f"'{name}' has more than {LONG:,} characters.", "Give less.")
    text = value.encode("utf-8", "replace").decode().strip()  # no half of a surrogate pair
    if "\0" in text or (argument.names and _CONTROL.search(text)):
        raise UserError(
            f"'{name}' holds a control character: {_shown(text)}.", "Give it without one."
        )
    if text and argument.choices and text not in argument.choices:
        raise UserError(
            f"'{name}' cannot be {_shown(text)}.", f"Give one of: {', '.join(argument.choices)}."
        )
    return text


def _texts(name: str, argument: Argument, value: Any) -> list[str]:
    entries = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(entries, list) or len(entries) > MANY:
        raise UserError(
            f"'{name}' is not a list of at most {MANY} texts.", "Give a JSON list of strings."
        )
    texts = (_text(name, argument, entry) for entry in entries)
    return [text for text in texts if text]


def _shown(value: object) -> str:
    text = repr(value if not isinstance(value, str) else value[:SHOWN])
    return text if len(text) <= SHOWN + 2 else text[:SHOWN] + "…"
