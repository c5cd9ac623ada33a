"""The table of workflows that applies in a work tree.

It is the shipped table, with what the repository says in `.gitmem/workflows.yaml` (or `.yml`,
`.json`).

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
SHIPPED = os.path.join(os.path.dirname(__file__), "workflows.json")


def shipped() -> "dict[str, Any]":
    """Return the table that ships, as data."""
    with open(SHIPPED, encoding="utf-8") as file:
        found: dict[str, Any] = loads(file.read())
    return found


def own_file(root: str) -> str:
    """Return the path of the repository's own table, '' when it has none.

    A link that leads out of it is none.
    """
    for name in FILES if root else ():
        path = os.path.join(root, FOLDER, name)
        if os.path.isfile(path) and inside(path, root, root):
            return path
    return ""


def _key(path: str) -> "list[Any]":
    # what ships is in the compiled table too, and changes with an upgrade
    found = [(one, os.stat(one)) for one in (path, SHIPPED)]
    return [part for one, about in found for part in (one, about.st_mtime_ns, about.st_size)]


def _cache(home: "Home", root: str) -> str:
    from binascii import crc32

    return home.join(f"workflows-{crc32(root.encode('utf-8', 'replace')):08x}.json")


def quick(home: "Home", root: str) -> "tuple[WorkflowTable, bool]":
    """Return the table as a hook has it, and whether it is what the repository says now.

    If it is not, it should be compiled by a process that has time.
    """
    path = own_file(root)
    if not path:
        return WorkflowTable(shipped()), True
    try:
        with open(_cache(home, root), encoding="utf-8") as file:
            kept = loads(file.read())
        return WorkflowTable(kept["data"]), kept["key"] == _key(path)
    except (OSError, ValueError, KeyError, TypeError):
        return WorkflowTable(shipped()), False


def keep(home: "Home", root: str, path: str, data: "Mapping[str, Any]") -> None:
    """Put a compiled table where hooks find it; nothing where that cannot be written."""
    from gitmem.base.files import write_atomic

    try:
        home.make()
        write_atomic(
            _cache(home, root),
            dumps({"key": _key(path), "data": data}).encode(),
            shared=home.shared,
            durable=False,
        )
    except Exception:  # noqa: BLE001 - a read-only disk: the next reader compiles it again
        return
