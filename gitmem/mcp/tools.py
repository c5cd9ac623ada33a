"""The tools of the MCP server: their names, descriptions and arguments, as data.

An agent reads all of this in each session, so the whole list has at most `TOKENS` tokens and a
description at most `DESCRIPTION`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitmem.records.kinds import TYPES

TOKENS = 1000
DESCRIPTION = 50
GOTCHA = "gotcha"

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: a text, a number within bounds (`least` to `most`), or a list of texts.

    `names` says that its texts name something, a file or a record, and have no control characters.
    """

    kind: str = "string"
    description: str = ""
    default: int = 0
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    names: bool = False

    @property
    def schema(self) -> Schema:
        """The argument as JSON Schema."""
        out: Schema = {"type": self.kind}
        if self.kind == "array":
            out["items"] = {"type": "string"}
        if self.choices:
            out["enum"] = list(self.choices)
        if self.default:
            out["default"] = self.default
        if self.description:
            out["description"] = self.description
        return out


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; `required` names the arguments that have to be given."""

    name: str
    description: str
    arguments: Mapping[str, Argument]
    required: tuple[str, ...] = ()
    writes: bool = False

    @property
    def schema(self) -> Schema:
        """The arguments as JSON Schema."""
        properties = {name: argument.schema for name, argument in self.arguments.items()}
        out: Schema = {"type": "object", "properties": properties}
        return {**out, "required": list(self.required)} if self.required else out

    @property
    def hints(self) -> dict[str, bool]:
        """What a client may rely on, as MCP names it."""
        if self.writes:
            return {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
        return {"readOnlyHint": True, "openWorldHint": False}


def _budget(default: int) -> Argument:
    return Argument("integer", "tokens", default=default, least=50, most=10_000)


_TEXT = Argument()
_NAME = Argument(names=True)
_PLACE = "path, path:12-20 or path#Symbol"

TOOLS = (
    ToolSpec(
        "search",
        "Find what is remembered of this repository by words: decisions, rules, gotchas, tasks. "
        "Returns one line each, with an id for get.",
        {
            "query": _TEXT,
            "limit": Argument("integer", default=10, least=1, most=100),
            "budget": _budget(1000),
        },
        ("query",),
    ),
    ToolSpec(
        "get",
        "Read whole records by the ids that other tools return.",
        {"ids": Argument("array", names=True), "budget": _budget(3000)},
        ("ids",),
    ),
    ToolSpec(
        "context",
        "What to know before work: for a task, a file, or, without both, for the session. Call it "
        "before you edit.",
        {"task": _TEXT, "file": _NAME, "budget": _budget(1500)},
    ),
    ToolSpec(
        "remember",
        "Keep a fact for later sessions, with its reason. It counts as unconfirmed until the user "
        "accepts it.",
        {
            "title": Argument(description="the fact in one line"),
            "text": Argument(description="why"),
            "type": Argument(choices=(*TYPES, GOTCHA)),
            "workaround": Argument(description="for a gotcha"),
            "places": Argument("array", _PLACE, names=True),
        },
        ("title",),
        writes=True,
    ),
    ToolSpec(
        "why",
        "Why code is as it is: the commits and sessions that made it, and what is known of it.",
        {"place": Argument(description=_PLACE, names=True), "budget": _budget(1000)},
        ("place",),
    ),
    ToolSpec(
        "scout",
        "Find the files and definitions that a task is about, and what is remembered of them.",
        {
            "task": _TEXT,
            "limit": Argument("integer", "files", default=8, least=1, most=50),
            "budget": _budget(800),
        },
        ("task",),
    ),
    ToolSpec(
        "done",
        "Say that a task is done, or that a gotcha no longer happens.",
        {"id": _NAME, "note": Argument(description="how a gotcha was resolved")},
        ("id",),
        writes=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
