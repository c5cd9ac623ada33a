"""The table of workflows that applies in a work tree.

It is what the repository says in `.gitmem/workflows.yaml` (or `.yml`, `.json`), after a preset if
one is chosen: the table of a framework, where that is used.

Hooks load it: a repository's own file, which needs a YAML reader, is compiled by a command or in
the background, and read from our folder.
"""

import os

from gitmem.base.fast import dumps, loads
from gitmem.repo.location import inside
from gitmem.state.workflow import WorkflowTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitmem.repo.location import Home

FILES = ("workflows.yaml", "workflows.yml", "workflows.json")
FOLDER = ".gitmem"
SIZE = 256 << 10  # bytes of a file that are looked at
# folders by which the framework of the preset is seen
SEEN = (".aios-core", ".aiox-core", ".aios", ".aiox")
SHIPPED = os.path.join(os.path.dirname(__file__), "workflows.json")


def preset(root: str) -> "dict[str, Any]":
    """Return the table that is there before the repository's own, as data; mostly an empty one."""
    if is_seen(root):
        return shipped()
    return {"format": 1, "workflows": {}, "tasks": []}


def is_seen(root: str) -> bool:
    """Say whether a work tree has the folders of the framework whose workflows ship."""
    return any(os.path.isdir(os.path.join(root, name)) for name in SEEN) if root else False


def shipped() -> "dict[str, Any]":
    """Return the table that ships, as data."""
    with open(SHIPPED, encoding="utf-8") as file:
        table: dict[str, Any] = loads(file.read())
    return table


def own_file(root: str) -> str:
    """Return the path of the repository's own table, '' when it has none.

    A link that leads out of it is none.
    """
    for name in FILES if root else ():
        path = os.path.join(root, FOLDER, name)
        if os.path.isfile(path) and inside(path, root, root):
            return path
    return ""


def _key(path: str, base: "Mapping[str, Any]") -> "list[Any]":
    # what ships is in the compiled table too, and changes with an upgrade
    versions = [(file, os.stat(file)) for file in (path, SHIPPED)]
    parts = [part for file, about in versions for part in (file, about.st_mtime_ns, about.st_size)]
    return [*parts, len(base["workflows"])]


def _cache(home: "Home", root: str) -> str:
    from binascii import crc32

    return home.join(f"workflows-{crc32(root.encode('utf-8', 'replace')):08x}.json")


def quick(home: "Home", root: str) -> "tuple[WorkflowTable, bool]":
    """Return the table as a hook has it, and whether it is what the repository says now.

    If it is not, it should be compiled by a process that has time.
    """
    path, base = own_file(root), preset(root)
    if not path:
        return WorkflowTable(base), True
    try:
        with open(_cache(home, root), encoding="utf-8") as file:
            kept = loads(file.read())
        return WorkflowTable(kept["data"]), kept["key"] == _key(path, base)
    except (OSError, ValueError, KeyError, TypeError):
        return WorkflowTable(base), False


def keep(
    home: "Home", root: str, path: str, base: "Mapping[str, Any]", data: "Mapping[str, Any]"
) -> None:
    """Put a compiled table where hooks find it; nothing where that cannot be written.

    `base` is the preset that it was made from.
    """
    from gitmem.base.files import write_atomic

    try:
        home.make()
        write_atomic(
            _cache(home, root),
            dumps({"key": _key(path, base), "data": data}).encode(),
            shared=home.shared,
            durable=False,
        )
    except Exception:  # noqa: BLE001 - a read-only disk: the next reader compiles it again
        return
