"""Where facts were written to: exports, which are named when a fact goes, and pages, made anew.

One JSON file in git mem's own folder: a list of `ExportTarget`s, the newest last.
"""

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitmem.base.files import write_atomic
from gitmem.base.regular_files import read_regular
from gitmem.repo.location import Home
from gitmem.services.interchange.files import FILES
from gitmem.services.interchange.values import map_of, maps_of, text_of

NAME = "exports.json"
KEPT = 50  # exports that are remembered
SIZE = 1 << 20  # bytes of the list


class ExportTarget(NamedTuple):
    """A file or folder that facts were written to, absolute, and the command that does it.

    `page` is the name of a page, "" for an export for other tools; `private` tells whether it may
    show what is private, `root` is the work tree that it was made in. `digests` are those of the
    files as they were written, by their path below a folder; a file alone is "". Of an exported
    folder they are those of its list of files.
    """

    path: str
    how: str
    page: str = ""
    private: bool = False
    root: str = ""
    digests: Mapping[str, str] = {}

    def file(self, name: str) -> str:
        """Return the full path of one of its files."""
        return os.path.join(self.path, name) if name else self.path


def targets(home: Home) -> list[ExportTarget]:
    """Return the exports and pages that are still there."""
    try:
        rows = maps_of(json.loads(read_regular(home.join(NAME), SIZE) or b"[]"))
    except (ValueError, RecursionError):
        return []
    every = map(_target, rows)
    return [
        target for target in every if os.path.isabs(target.path) and os.path.exists(target.path)
    ]


def _target(row: Mapping[str, Any]) -> ExportTarget:
    digests = {name: text_of(digest) for name, digest in map_of(row.get("digests")).items()}
    return ExportTarget(
        text_of(row.get("path")),
        text_of(row.get("how")),
        text_of(row.get("page")),
        row.get("private") is True,
        text_of(row.get("root")),
        digests,
    )


def target_at(home: Home, path: str) -> ExportTarget | None:
    """Return what was written to a path last."""
    return next((target for target in targets(home) if target.path == path), None)


def remember(home: Home, target: ExportTarget) -> None:
    """Note an export or a page in the place of an earlier one of its path. Raises External."""
    kept = [other for other in targets(home) if other.path != target.path][1 - KEPT :]
    rows = [other._asdict() for other in (*kept, target)]
    home.make()
    write_atomic(home.join(NAME), json.dumps(rows, indent=1).encode() + b"\n")


def files_of(target: ExportTarget) -> list[str]:
    """Return the files of an export; of a page those that were written."""
    if target.page:
        return [target.file(name) for name in target.digests]
    if os.path.isfile(target.path):
        return [target.path]
    paths = [
        os.path.join(here, name)
        for here, _, names in os.walk(target.path)
        for name in sorted(names)
    ]
    return paths[:FILES]
