"""Write what a command was asked to put into a file."""

import json
import os
import stat
from collections.abc import Mapping

from gitmem.base.files import disk_error, write_atomic
from gitmem.base.regular_files import read_regular
from gitmem.errors import External, UserError
from gitmem.repo.location import Location
from gitmem.repo.worktree_files import WorkTreeFiles

MANIFEST = ".gitmem-export.json"  # the files of an export, so that the next one can replace them
MANIFEST_LIMIT = 64 << 20  # bytes


def write_output(where: Location, path: str, data: bytes, *, private: bool = False) -> None:
    """Write a file that a person named; `private`: for its owner alone. Raises UserError, External.

    Below the work tree no link on the way leads out of it or into git's folder, and a file that is
    a link is replaced.
    """
    full = os.path.abspath(path)
    folder, name = os.path.split(full)
    if not os.path.isdir(folder):
        raise External(f"there is no folder '{folder}'.", "Make it first, or name another file.")
    if os.path.isdir(full):
        raise UserError(f"'{path}' is a folder.", "Name a file in it.")
    try:
        if is_device(full) and not os.path.islink(full):
            with open(full, "wb") as file:
                file.write(data)
        elif where.worktree and _is_below(folder, where.worktree):
            tree = WorkTreeFiles(where.worktree, (where.gitdir, where.commondir))
            at_root = os.path.realpath(folder) == os.path.realpath(where.worktree)
            relative = name if at_root else f"{tree.resolve(folder)}/{name}"
            tree.write(relative, data, mode=0o600 if private else None, keep=not private)
        elif is_device(full):
            with open(full, "wb") as file:
                file.write(data)
        else:
            write_atomic(full, data, keep=not private, mode=0 if private else 0o666)
    except OSError as error:
        raise disk_error(error, path) from error


def _is_below(folder: str, root: str) -> bool:
    """Return whether a folder is the work tree or below it, as written or with links followed."""
    roots = [path.rstrip(os.sep) + os.sep for path in (root, os.path.realpath(root))]
    return any(
        f"{path}{os.sep}".startswith(tuple(roots)) for path in (folder, os.path.realpath(folder))
    )


def is_device(path: str) -> bool:
    """Return whether a path is written into and not replaced: a pipe, a terminal, /dev/null."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode)


def write_folder(
    where: Location, path: str, files: Mapping[str, bytes], *, private: bool = False
) -> None:
    """Write files into a folder that a person named: new, empty, or one of an earlier export.

    What the earlier export wrote, and this one does not, is removed. Raises UserError, External.
    """
    full = os.path.abspath(path)
    try:
        tree, prefix = _tree_of_folder(where, full)
        before = _exported(full)
        _require_ours(full, path, before, files)
        for name in sorted(before - files.keys()):
            tree.remove(prefix + name, prune=True)
        for name, data in files.items():
            tree.write(prefix + name, data, mode=0o600 if private else None)
        tree.write(prefix + MANIFEST, json.dumps(sorted(files), indent=1).encode() + b"\n")
    except OSError as error:
        raise disk_error(error, path) from error


def make_folder_for(where: Location, path: str) -> None:
    """Make a folder that a person named, for `write_output`. Raises UserError, External."""
    full = os.path.abspath(path)
    if os.path.isdir(full):
        return
    try:
        tree, prefix = _tree_of_folder(where, full)
        if prefix:
            tree.make_folder(prefix.rstrip("/"))
    except OSError as error:
        raise disk_error(error, path) from error


def _tree_of_folder(where: Location, full: str) -> tuple[WorkTreeFiles, str]:
    """Return what writes into a folder, and the folder's path in it; the folder may be new.

    Below the work tree no link on the way leads out of it or into git's folder.
    """
    apart = (where.gitdir, where.commondir)
    root = where.worktree
    if root and _is_below(full, root) and os.path.realpath(full) != os.path.realpath(root):
        tree = WorkTreeFiles(root, apart)
        return tree, f"{tree.resolve(full)}/"
    os.makedirs(full, exist_ok=True)
    return WorkTreeFiles(full, apart), ""


def _exported(folder: str) -> set[str]:
    """Return the files that an earlier export wrote into a folder."""
    try:
        names = json.loads(read_regular(os.path.join(folder, MANIFEST), MANIFEST_LIMIT) or b"[]")
    except ValueError:
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _require_ours(folder: str, path: str, before: set[str], files: Mapping[str, bytes]) -> None:
    """Raise UserError for a folder with files in it that no export wrote."""
    if not os.path.lexists(folder):
        return
    is_ours = os.path.isfile(os.path.join(folder, MANIFEST))
    if os.listdir(folder) and not is_ours:
        raise UserError(f"'{path}' is not empty.", "Name a new folder, or empty this one.")
    for name in files:
        if name not in before and os.path.lexists(os.path.join(folder, name)):
            raise UserError(
                f"'{os.path.join(path, name)}' is there, and no export wrote it.",
                "Move it away, or name another folder.",
            )
