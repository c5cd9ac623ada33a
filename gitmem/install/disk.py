"""The disk as an installation changes it.

Below the work tree, only `WorkTreeFiles` changes it; elsewhere it is changed directly.

Settings of the user's, in the home folder, and git's own hooks may be links; whoever made them is
the user. A link in a repository may be anybody's: one that leads out of the work tree or into git's
folder is refused and named.
"""

import os
from collections.abc import Sequence

from gitmem.base.files import disk_error, write_atomic
from gitmem.repo.worktree_files import WorkTreeFiles


class Disk:
    """Changes files by their full paths; `tree` is the work tree, None outside of a repository."""

    def __init__(self, tree: WorkTreeFiles | None = None) -> None:
        self._tree = tree
        roots = {tree.root, os.path.realpath(tree.root)} if tree else set()
        self._roots = tuple(root.rstrip(os.sep) + os.sep for root in roots)
        git = tree.apart if tree else ()
        self._git = tuple(
            path + os.sep for folder in git for path in {folder, os.path.realpath(folder)}
        )

    def is_in_tree(self, path: str) -> bool:
        """Say whether a path is below the work tree as it is written, and not in git's folder."""
        return path.startswith(self._roots) and not path.startswith(self._git)

    def real(self, path: str, *, follow: bool = True) -> str:
        """Return the file that a path means; without `follow` the link itself.

        Raises PathRefused.
        """
        if not self.is_in_tree(path):
            return _real(path, follow=follow)
        assert self._tree is not None
        checked = (
            path
            if follow
            else os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        )
        if follow:
            relative = self._tree.resolve(checked)
        else:
            above = os.path.dirname(checked)
            at_root = above == os.path.realpath(self._tree.root)
            name = os.path.basename(checked)
            relative = name if at_root else f"{self._tree.resolve(above)}/{name}"
        return os.path.join(os.path.realpath(self._tree.root), relative)

    def _relative(self, real: str) -> str:
        root = next(root for root in self._roots if real.startswith(root))
        return real[len(root) :].replace(os.sep, "/")

    def write(self, real: str, data: bytes, mode: int) -> None:
        """Write a file; one that is there keeps its mode and owner."""
        if not self.is_in_tree(real):
            write_atomic(real, data, keep=True, mode=mode)
            return
        assert self._tree is not None
        try:
            self._tree.write(self._relative(real), data, new_mode=mode, keep=True, durable=True)
        except OSError as error:
            raise disk_error(error, real) from error

    def remove(self, real: str) -> None:
        """Remove a file."""
        if self.is_in_tree(real):
            assert self._tree is not None
            self._tree.remove(self._relative(real))
        else:
            os.unlink(real)

    def rename(self, real: str, other: str) -> None:
        """Give a file another name; what has that name is replaced."""
        if self.is_in_tree(real):
            assert self._tree is not None
            self._tree.rename(self._relative(real), self._relative(other))
        else:
            os.replace(real, other)

    def set_aside(self, real: str, other: str) -> None:
        """Give a file a second name, so that it is there until ours takes its place.

        Where that cannot be, another one.
        """
        try:
            if self.is_in_tree(real):
                assert self._tree is not None
                self._tree.add_name(self._relative(real), self._relative(other))
                return
        except OSError:
            self.rename(real, other)
            return
        try:
            os.link(real, other, follow_symlinks=False)
        except OSError:
            os.rename(real, other)

    def put_back(self, real: str, other: str) -> None:
        """Undo `set_aside`, when ours could not take the file's place.

        Where it has, both stay: the other is the only copy.
        """
        if not os.path.lexists(real):
            self.rename(other, real)
        elif os.path.samestat(os.lstat(real), os.lstat(other)):
            self.remove(other)

    def make_folders(self, path: str) -> list[str]:
        """Make a folder and those above it; return those that were not there."""
        try:
            if self.is_in_tree(path):
                assert self._tree is not None
                root = os.path.realpath(self._tree.root)
                made = self._tree.make_folder(self._relative(path))
                return [os.path.join(root, name) for name in reversed(made)]
            return _make_folders(path)
        except OSError as error:
            raise disk_error(error, path) from error

    def remove_folders(self, folders: Sequence[str]) -> None:
        """Remove folders that we made, the innermost first, as long as they are empty."""
        for folder in sorted(folders, key=len, reverse=True):
            if self.is_in_tree(folder):
                assert self._tree is not None
                if not self._tree.remove_folder(self._relative(folder)):
                    return
                continue
            try:
                os.rmdir(folder)
            except OSError:
                return


def _real(path: str, *, follow: bool) -> str:
    if follow:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _make_folders(path: str) -> list[str]:
    missing = []
    at = path
    while not os.path.isdir(at) and at != os.path.dirname(at):
        missing.append(at)
        at = os.path.dirname(at)
    os.makedirs(path, exist_ok=True)
    return missing


def make_private_folder(path: str) -> None:
    """Make a folder in the user's home, for the user alone; raises External."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path) from error
