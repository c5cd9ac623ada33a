"""Rule files of agents and editors. They are read by the bridge of memory files.

Here is only where they are: `gitmem.services.memory_files` knows whose their lines are.
"""

import os
from collections.abc import Iterator, Sequence

from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)

NAME = "rules"
FOLDERS = {".cursor/rules": ".mdc", ".windsurf/rules": ".md", ".github/instructions": ".md"}
FILES = (".github/copilot-instructions.md", ".cursorrules", ".windsurfrules")
# these are read without being named
AGENT_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")


def rule_files(path: str) -> list[str]:
    """Return the rule files that a path names: itself, or those in it."""
    if os.path.isfile(path):
        return [path]
    paths = [os.path.join(path, *name.split("/")) for name in (*FILES, *AGENT_FILES)]
    for folder, suffix in FOLDERS.items():
        paths += _below(os.path.join(path, *folder.split("/")), suffix)
        if os.path.abspath(path).endswith(os.sep + folder.replace("/", os.sep)):
            paths += _below(path, suffix)
    return [name for name in paths if os.path.isfile(name)]


def _below(folder: str, suffix: str) -> list[str]:
    return [
        os.path.join(here, name)
        for here, _, names in sorted(os.walk(folder))
        for name in sorted(names)
        if name.endswith(suffix)
    ]


def _places(here: Surroundings) -> Sequence[str]:
    return [here.root] if here.root else []


def _fits(path: str) -> bool:
    if os.path.isfile(path):
        name = os.path.basename(path)
        return name.endswith(".mdc") or name in {*AGENT_FILES, *map(os.path.basename, FILES)}
    return bool(rule_files(path))


def _read(_: ForeignSource) -> Iterator[ForeignItem]:
    return iter(())


FORMAT = ForeignFormat(NAME, "rule files", _places, _fits, _read)
