"""What is known of tools and of the words for errors.

`tools.json` has a row for each tool: what it writes around an error, where its error stands, and
what kind of work it does. `error_words.json` has the words that belong to no tool. Their schemas
say what each list is for. Read by hooks, after a command has failed.
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


_TOOLS = read_table("tools.json")
_WORDS = read_table("error_words.json")
TASK_WORDS: "dict[str, list[str]]" = _TOOLS["task_words"]
CATEGORY_WORDS: "dict[str, list[str]]" = _WORDS["categories"]
LINE_WORDS: "dict[str, list[str]]" = _WORDS["lines"]
NAME_WORDS: "dict[str, list[str]]" = _WORDS["names"]
SLIPS: "dict[str, list[str]]" = _WORDS["slips"]
EXTENSIONS = frozenset(NAME_WORDS["extensions"])
HEADERS = frozenset(NAME_WORDS["headers"])
_NEVER = "(?!)"  # an expression that nothing fits


def of_tools(field: str) -> "tuple[Any, ...]":
    """Return the entries that a field of `tools.json` has for all tools."""
    entries: list[Any] = []
    for tool in _TOOLS["tools"]:
        if field in tool:
            entries += tool[field]
    return tuple(entries)


def of_work(field: str, kind: str) -> "list[str]":
    """Return the entries that a field has for all work of a kind."""
    entries: list[str] = []
    for work in of_tools("work"):
        if work["kind"] == kind and field in work:
            entries += work[field]
    return entries


def any_of(words: "Iterable[str]") -> str:
    """Return an expression for any of the words, as a group."""
    texts = [word if word.isalnum() else re.escape(word) for word in words]
    return f"(?:{'|'.join(texts) or _NEVER})"


def any_pattern(patterns: "Iterable[str]") -> str:
    """Return an expression for any of the expressions, as a group."""
    return f"(?:{'|'.join(patterns) or _NEVER})"


def at_start(pattern: str) -> str:
    """Return an expression that fits at the start of a text alone, however it is asked."""
    return rf"\A(?:{pattern})"


def literal_start(pattern: str) -> str:
    """Return the plain text with which everything starts that an expression fits.

    It is cheap to ask for, and most lines do not have it: the expression need not be compiled.
    """
    if _has_choice(pattern):
        return ""
    plain = re.match(r"(?:[^\\.^$*+?{}\[\]|()]|\\[^\w\s])*", pattern)
    text = plain[0] if plain else ""
    if pattern[len(text) : len(text) + 1] in {"?", "*", "{"}:
        text = text[:-1].removesuffix("\\")
    return text.replace("\\", "")


def _has_choice(pattern: str) -> bool:
    """Tell whether an expression is a choice of several, outside of any group."""
    depth = 0
    for before, sign in zip(" " + pattern, pattern, strict=False):
        if before != "\\":
            depth += (sign in "([") - (sign in ")]")
        if sign == "|" and depth == 0:
            return True
    return False
