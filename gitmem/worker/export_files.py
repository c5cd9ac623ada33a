"""Write an export: what git mem wrote before is replaced, and nothing else.

A folder has a list of its files in it. The list counts only if its digest is remembered in git
mem's own folder: a list that came with a repository names no file that may be replaced or removed.
"""

import json
import os
from collections.abc import Mapping

from gitmem.app import App
from gitmem.base.regular_files import read_regular
from gitmem.errors import UserError
from gitmem.repo.output_files import is_written_into, write_files, write_output
from gitmem.services.interchange import exported
from gitmem.services.interchange.exported import ExportTarget, FileDigests
from gitmem.services.interchange.values import map_of, texts_of

LIST = ".gitmem-export.json"  # of the files of an exported folder, with their digests


def write_export(
    app: App,
    target: ExportTarget,
    files: Mapping[str, bytes],
    *,
    is_folder: bool,
    force: bool,
) -> list[str]:
    """Write an export and remember it; a single file has the name "".

    Return the files of an earlier export that were changed since, and so stay. Raises UserError
    for what git mem did not write, unless `force` is given; External.
    """
    if is_folder:
        return _write_folder(app, target, files, force=force)
    _write_file(app, target, files[""], force=force)
    return []


def _write_file(app: App, target: ExportTarget, data: bytes, *, force: bool) -> None:
    path = target.path
    if is_written_into(app.location, path):
        write_output(app.location, path, data)
        return
    before = exported.target_at(app.home, path)
    is_ours = before is not None and before.is_as_written("")
    if not (force or is_ours or os.path.isdir(path)) and os.path.lexists(path):
        raise _not_ours(path, was_ours=before is not None)
    unchanged = target._replace(digests=before.digests if before else {})
    exported.remember(app.home, unchanged.with_next({"": data}))
    write_output(app.location, path, data, private=target.private)
    exported.remember(app.home, target._replace(digests={"": (exported.digest(data),)}))


def _write_folder(
    app: App, target: ExportTarget, files: Mapping[str, bytes], *, force: bool
) -> list[str]:
    before = _listed(app, target.path)
    if not force:
        _require_ours(target.path, before, files)
    new = {name: (exported.digest(data),) for name, data in files.items()}
    gone = [name for name in before.keys() - new.keys() if _is_as_written(target, name, before)]
    changed = [name for name in before.keys() - new.keys() if name not in gone]
    # what may be there after a kill: the next export replaces it
    either = {**before, **{name: (*before.get(name, ()), *new[name]) for name in new}}
    lists = [_encoded(either), _encoded(new)]
    old = [exported.digest_of(target.file(LIST))] if before else []
    digests = {LIST: (*old, *map(exported.digest, lists))}
    exported.remember(app.home, target._replace(digests=digests))
    _put(app, target, {LIST: lists[0]})
    write_files(app.location, target.path, files, sorted(gone), private=target.private)
    _put(app, target, {LIST: lists[1]})
    there = (name for name in changed if os.path.lexists(target.file(name)))
    return sorted(map(target.file, there))


def _put(app: App, target: ExportTarget, files: Mapping[str, bytes]) -> None:
    write_files(app.location, target.path, files, private=target.private)


def _listed(app: App, folder: str) -> FileDigests:
    """Return what an earlier export wrote into a folder; nothing by a list that is not ours."""
    before = exported.target_at(app.home, folder)
    data = read_regular(os.path.join(folder, LIST), exported.LARGEST)
    if before is None or exported.digest(data) not in before.digests.get(LIST, ()):
        return {}
    return {name: texts_of(digests) for name, digests in map_of(json.loads(data)).items()}


def _require_ours(folder: str, before: FileDigests, files: Mapping[str, bytes]) -> None:
    """Raise UserError for a folder with files in it that no export wrote, or that were changed."""
    if not os.path.isdir(folder):
        return
    if not before and os.listdir(folder):
        raise UserError(
            f"'{_shown(folder)}' is not empty, and this repository exported nothing to it.",
            "Name a new folder, or write into this one with --force.",
        )
    for name in files:
        path = os.path.join(folder, name)
        if os.path.lexists(path) and exported.digest_of(path) not in before.get(name, ()):
            raise _not_ours(path, was_ours=name in before)


def _is_as_written(target: ExportTarget, name: str, before: FileDigests) -> bool:
    return exported.digest_of(target.file(name)) in before[name]


def _not_ours(path: str, *, was_ours: bool) -> UserError:
    what = "was changed since it was exported" if was_ours else "is there, and no export wrote it"
    return UserError(f"'{_shown(path)}' {what}.", "Name another place, or replace it with --force.")


def _shown(path: str) -> str:
    inner = os.path.relpath(path)
    return path if inner.startswith("..") else inner


def _encoded(digests: FileDigests) -> bytes:
    return json.dumps(digests, indent=1, sort_keys=True).encode() + b"\n"
