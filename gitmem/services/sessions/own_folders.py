"""Which folders belong to a repository: those of its work trees, other repositories left out."""

import os
from collections.abc import Iterator

from gitmem.base.regular_files import read_regular
from gitmem.errors import GitmemError
from gitmem.repo.location import Location, locate

LONGEST = 4096  # bytes of a path in git's files


class OwnFolders:
    """The work trees of one repository, linked ones too, as they are on the disk now."""

    def __init__(self, location: Location) -> None:
        self._common = os.path.realpath(location.commondir)
        # as they are named, and where they really are
        self.names = tuple(dict.fromkeys(_work_trees(location)))
        self.roots = tuple(dict.fromkeys(map(os.path.realpath, self.names)))
        self._owners: dict[str, str] = {}

    def root_of(self, folder: str) -> str:
        """Return the root of the work tree that a folder is in, "" for one of none of them.

        The folder may be gone: then what is left above it decides.
        """
        if folder not in self._owners:
            self._owners[folder] = self._root_of(folder)
        return self._owners[folder]

    def _root_of(self, folder: str) -> str:
        if not os.path.isabs(folder) or "\0" in folder:
            return ""
        real = os.path.realpath(folder)
        if not any(f"{real}/".startswith(f"{root.rstrip('/')}/") for root in self.roots):
            return ""
        while not os.path.isdir(real):
            real = os.path.dirname(real)
        try:
            where = locate(real, {})
        except GitmemError:
            return ""
        is_own = os.path.realpath(where.commondir) == self._common
        return os.path.realpath(where.worktree) if is_own and where.worktree else ""


def _work_trees(location: Location) -> Iterator[str]:
    """Yield the roots of the work trees that a repository names."""
    if location.worktree:
        yield os.path.abspath(location.worktree)
    if os.path.basename(location.commondir) == ".git":
        yield os.path.dirname(location.commondir)
    linked = os.path.join(location.commondir, "worktrees")
    try:
        names = sorted(os.listdir(linked))
    except OSError:
        return
    for name in names:
        text = read_regular(os.path.join(linked, name, "gitdir"), LONGEST)
        path = os.fsdecode(text).strip("\r\n")
        if path:
            yield os.path.dirname(os.path.abspath(os.path.join(linked, name, path)))
