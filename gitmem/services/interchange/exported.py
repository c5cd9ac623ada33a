"""Where facts were written to: exports, which are named when a fact goes, and pages, made anew.

One JSON file in git mem's own folder: a list of `ExportTarget`s, the newest last.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from gitmem.base.files import Lock, write_atomic
from gitmem.base.regular_files import read_regular
from gitmem.repo.location import Home
from gitmem.services.interchange.files import FILES
from gitmem.services.interchange.values import map_of, maps_of, text_of, texts_of

NAME = "exports.json"
LOCK = "exports.lock"
PATIENCE = 10.0  # seconds that another process which notes one is waited for
KEPT = 50  # exports that are remembered, and all pages
SIZE = 16 << 20  # bytes of the list
TEXTS = 4  # of a file that are remembered, the newest
LARGEST = 1 << 30  # bytes of a file that are looked at
FileDigests = Mapping[str, tuple[str, ...]]  # by file


class ExportTarget(NamedTuple):
    """A file or folder that facts were written to, absolute, and the command that does it.

    `page` is the name of a page, "" for an export for other tools; `private` tells whether it may
    show what is private, `root` is the work tree that it was made in. `digests` are those of each
    text that a file was given or was about to be given, by its path below a folder; a file alone is
    "". Of an exported folder they are those of its list of files.
    """

    path: str
    how: str
    page: str = ""
    private: bool = False
    root: str = ""
    digests: Mapping[str, tuple[str, ...]] = {}

    def file(self, name: str) -> str:
        """Return the full path of one of its files."""
        return os.path.join(self.path, name) if name else self.path

    def is_as_written(self, name: str) -> bool:
        """Return whether a file has a text that it was given here."""
        return digest_of(self.file(name)) in self.digests.get(name, ())

    def with_next(self, files: Mapping[str, bytes]) -> "ExportTarget":
        """Return what is remembered before files are written: a kill leaves the old or the new."""
        digests = dict(self.digests)
        for name, data in files.items():
            digests[name] = (*self.digests.get(name, ())[1 - TEXTS :], digest(data))
        return self._replace(digests=digests)


def digest(data: bytes) -> str:
    """Return what tells the bytes of a file from any other: 64 hex characters."""
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str) -> str:
    """Return the digest of a file; "" for what is no file."""
    is_file = os.path.isfile(path) and not os.path.islink(path)
    return digest(read_regular(path, LARGEST)) if is_file else ""


def targets(home: Home) -> list[ExportTarget]:
    """Return the exports and pages that are there."""
    return [target for target in _remembered(home) if os.path.exists(target.path)]


def _remembered(home: Home) -> list[ExportTarget]:
    """Return all exports and pages; one may be away, as a page that another branch has."""
    try:
        rows = maps_of(json.loads(read_regular(home.join(NAME), SIZE) or b"[]"))
    except (ValueError, RecursionError):
        return []
    return [target for target in map(_target, rows) if os.path.isabs(target.path)]


def _target(row: Mapping[str, Any]) -> ExportTarget:
    digests = {name: texts_of(rows) for name, rows in map_of(row.get("digests")).items()}
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
    home.make()
    with Lock(home.touch(LOCK), PATIENCE):
        others = [other for other in _remembered(home) if other.path != target.path]
        kept = {other.path for other in [row for row in others if not row.page][1 - KEPT :]}
        rows = [row._asdict() for row in others if row.page or row.path in kept]
        data = json.dumps([*rows, target._asdict()], indent=1).encode() + b"\n"
        write_atomic(home.join(NAME), data)


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
