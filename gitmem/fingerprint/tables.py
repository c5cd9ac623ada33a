"""What is known of tools and of the words for errors.

`tool_lines.json` has a row for each tool whose lines say something, `error_words.json` the words
that belong to no tool, `tools.json` the kinds of work that tools do. Their schemas say what each
list is for. Read by hooks, after a command has failed.
"""

import os
import re

from gitmem.base.fast import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def read_table(name: str) -> "dict[str, Any]":
    """Return a table of this package."""
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, "rb") as file:
        table: dict[str, Any] = loads(file.read().decode())
        return table


_LINES = read_table("tool_lines.json")
_WORDS = read_table("error_words.json")
CATEGORY_WORDS: "dict[str, list[str]]" = _WORDS["categories"]
LINE_WORDS: "dict[str, list[str]]" = _WORDS["lines"]
NAME_WORDS: "dict[str, list[str]]" = _WORDS["names"]
REPORTS: "list[dict[str, str]]" = _LINES["reports"]
EXTENSIONS = frozenset(_LINES["extensions"])
HEADERS = frozenset(_LINES["headers"])
_NEVER = "(?!)"  # an expression that nothing fits


def lines_of_tools(field: str) -> "tuple[str, ...]":
    """Return what a field of `tool_lines.json` has for all tools."""
    entries: list[str] = []
    for tool in _LINES["tools"]:
        if field in tool:
            entries += tool[field]
    return tuple(entries)


def any_of(words: "Iterable[str]") -> str:
    """Return an expression for any of the words, as a group."""
    texts = [word if word.isalnum() else re.escape(word) for word in words]
    return f"(?:{'|'.join(texts) or _NEVER})"


def any_pattern(patterns: "Iterable[str]") -> str:
    """Return an expression for any of the expressions, as a group."""
    return f"(?:{'|'.join(patterns) or _NEVER})"
