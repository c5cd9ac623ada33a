"""Where facts were exported to, so that `forget` and `purge` can name the copies.

One JSON file in git mem's own folder: a list of {path, how}, the newest last.
"""

import json
import os
from typing import NamedTuple

from gitmem.base.files import write_atomic
from gitmem.base.regular_files import read_regular
from gitmem.repo.location import Home
from gitmem.services.interchange.files import FILES
from gitmem.services.interchange.values import maps_of, text_of

NAME = "exports.json"
KEPT = 50  # exports that are remembered
SIZE = 1 << 20  # bytes of the list


class ExportTarget(NamedTuple):
    """A file or folder that facts were exported to, absolute, and the command that does it."""

    path: str
    how: str


def targets(home: Home) -> list[ExportTarget]:
    """Return the exports that are still there."""
    try:
        rows = maps_of(json.loads(read_regular(home.join(NAME), SIZE) or b"[]"))
    except (ValueError, RecursionError):
        return []
    every = [ExportTarget(text_of(row.get("path")), text_of(row.get("how"))) for row in rows]
    return [
        target for target in every if os.path.isabs(target.path) and os.path.exists(target.path)
    ]


def remember(home: Home, path: str, how: str) -> None:
    """Note an export. Raises External."""
    full = os.path.abspath(path)
    kept = [target for target in targets(home) if target.path != full][1 - KEPT :]
    rows = [target._asdict() for target in (*kept, ExportTarget(full, how))]
    home.make()
    write_atomic(home.join(NAME), json.dumps(rows, indent=1).encode() + b"\n")


def files_of(target: ExportTarget) -> list[str]:
    """Return the files of an export."""
    if os.path.isfile(target.path):
        return [target.path]
    paths = [
        os.path.join(here, name)
        for here, _, names in os.walk(target.path)
        for name in sorted(names)
    ]
    return paths[:FILES]
