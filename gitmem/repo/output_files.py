"""Write what a command was asked to put into a file."""

import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence

from gitmem.base.files import disk_error, write_atomic
from gitmem.errors import External, UserError
from gitmem.repo.location import Location
from gitmem.repo.worktree_files import WorkTreeFiles

_OPEN_FILES = {"/dev/stdin": "0", "/dev/stdout": "1", "/dev/stderr": "2"}
_OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/(\d{1,4})")


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
        if is_written_into(where, full):
            _write_into(full, data)
        elif where.worktree and _is_below(folder, where.worktree):
            tree = WorkTreeFiles(where.worktree, (where.gitdir, where.commondir))
            at_root = os.path.realpath(folder) == os.path.realpath(where.worktree)
            relative = name if at_root else f"{tree.resolve(folder)}/{name}"
            tree.write(relative, data, mode=0o600 if private else None, keep=not private)
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


def _write_into(full: str, data: bytes) -> None:
    """Write to a device, or to a file that this process has open already, where it stands."""
    number = _OPEN_FILES.get(full) or (match[1] if (match := _OPEN_FILE.fullmatch(full)) else "")
    if not number:
        with open(full, "wb") as file:
            file.write(data)
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with open(os.dup(int(number)), "wb") as file:
        file.write(data)


def is_written_into(where: Location, path: str) -> bool:
    """Return whether a path is written into and not replaced: a pipe, a terminal, /dev/stdout.

    A link below the work tree is replaced, whatever it leads to.
    """
    full = os.path.abspath(path)
    if os.path.isdir(full):
        return False
    folder = os.path.dirname(full)
    if os.path.islink(full) and where.worktree and _is_below(folder, where.worktree):
        return False
    place = os.path.realpath(folder)
    if os.path.exists(full) and (place == "/dev" or place.startswith("/proc/")):
        return True  # /dev/stdout may lead to a regular file
    try:
        mode = os.stat(full).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode)


def write_files(
    where: Location,
    folder: str,
    files: Mapping[str, bytes],
    gone: Sequence[str] = (),
    *,
    private: bool = False,
) -> None:
    """Write files into a folder that a person named, and remove others from it.

    Names are paths from the folder, which may be new. Raises UserError, External.
    """
    try:
        tree, prefix = _tree_of_folder(where, os.path.abspath(folder))
        for name in gone:
            tree.remove(prefix + name, prune=True)
        for name, data in files.items():
            tree.write(prefix + name, data, mode=0o600 if private else None)
    except OSError as error:
        raise disk_error(error, folder) from error


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
