"""Outputs of tools, in `tools/`: per tool several causes, and the first again with other numbers.

A file has a block per tool. `## NAME` starts it, `$ COMMAND` is what failed. Each cause is a line
`[CATEGORY] CAUSE`, followed by the output; `= ` stands before each but the first. The line
`~ OLD -> NEW | OLD -> NEW` belongs to the first cause: what differs when it happens again. `CAUSE`
is the text by which a reader knows the cause; it must be in the title.
"""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "tools"
ROOT = "/home/ada/shop"


class Cause(NamedTuple):
    """One output: the kind of work that failed, and the text that must be in the title."""

    category: str
    said: str
    output: str


class Tool(NamedTuple):
    """What a tool printed for several causes; `again` is the first cause another time."""

    name: str
    command: str
    causes: list[Cause]
    again: str


def read_tools() -> list[Tool]:
    """Return the tools of all files, in the order of the files."""
    tools: list[Tool] = []
    for file in sorted(FOLDER.glob("*.txt")):
        blocks = file.read_text("utf-8").removeprefix("## ").split("\n## ")
        tools += [_read_block(block) for block in blocks]
    return tools


def _read_block(block: str) -> Tool:
    name, command, *lines = block.split("\n")
    causes: list[Cause] = []
    changes = ""
    for line in lines:
        head = line.removeprefix("= ")
        if line.startswith("~ "):
            changes = line[2:]
        elif head.startswith("[") and (not causes or line.startswith("= [")):
            category, _, said = head[1:].partition("] ")
            causes.append(Cause(category, said, ""))
        else:
            last = causes[-1]
            causes[-1] = last._replace(output=f"{last.output}{line}\n")
    again = causes[0].output
    for change in changes.split(" ; ") if changes else []:
        old, _, new = change.partition(" -> ")
        if old not in again:
            message = f"{name}: {old!r} is not in its first output"
            raise ValueError(message)
        again = again.replace(old, new)
    return Tool(name, command.removeprefix("$ "), causes, again)
