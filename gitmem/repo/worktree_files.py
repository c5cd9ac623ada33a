"""Write and delete below a work tree. The only module that does.

Names come from trees, state files and records that others made, and the folders from a repository
that others made. So every path is checked by `path_rules`, and every folder on the way is opened
relative to the one above it without following a symbolic link: a link that somebody puts there
meanwhile makes the call fail instead of leading it elsewhere. Git's own folder is refused by
identity as well as by name.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from gitmem.base.files import sync_handle, take_over
from gitmem.errors import UserError
from gitmem.repo.path_rules import path_refusal, printable

# a folder that may be passed through but not listed is enough to reach what is in it
_PASS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_A_FOLDER = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}
PERMISSIONS = 0o777


class PathRefused(UserError):
    """A path that must not be written or deleted."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"'{printable(path)}' is refused: {why}. Nothing was written there.",
            "Look at where it leads, and who made it.",
        )


class WorkTreeFiles:
    """Writes and deletes below one folder.

    Paths are relative to it, joined by `/`; bytes that are not UTF-8 are surrogates.

    `apart` are folders that are never entered whatever their name: git's own. Methods raise
    PathRefused, and OSError when the disk says no.
    """

    def __init__(self, root: str, apart: Sequence[str] = ()) -> None:
        self.root = root
        self.apart = tuple(apart)
        self._apart = {identity for path in apart if (identity := _identity(path)) is not None}

    # -- files

    def write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int | None = None,
        new_mode: int = 0o666,
        keep: bool = False,
        durable: bool = False,
    ) -> None:
        """Write a file so that a reader sees the old or the new bytes.

        What is there, also a link, is replaced and never followed.

        `mode`: the file gets exactly this one. Without it, it gets what the umask leaves of
        `new_mode`; with `keep`, a file that is there keeps its mode and owner.
        """
        with self._parent(path, make=True) as (folder, name):
            temp = f".gitmem-{os.getpid()}-{time.monotonic_ns()}.tmp"
            old = _regular(folder, name) if keep else None
            handle = os.open(
                temp, _NEW, (new_mode if mode is None else mode) & PERMISSIONS, dir_fd=folder
            )
            try:
                with os.fdopen(handle, "wb", closefd=False) as file:
                    file.write(data)
                if old is not None:
                    take_over(handle, old)
                elif mode is not None:
                    os.fchmod(handle, mode & PERMISSIONS)
                if durable:
                    os.fsync(handle)
                os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temp, dir_fd=folder)
                raise
            finally:
                os.close(handle)
            if durable:
                self._sync(path)

    def write_new(self, path: str, data: bytes = b"", *, mode: int = 0o666) -> None:
        """Write a file where there is nothing; raises FileExistsError."""
        with (
            self._parent(path, make=True) as (folder, name),
            os.fdopen(os.open(name, _NEW, mode, dir_fd=folder), "wb") as file,
        ):
            file.write(data)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link, in the place of a file or a link that is there."""
        if why := path_refusal(path, link=True):
            raise PathRefused(path, why)
        if not target or "\0" in target:
            raise PathRefused(path, "a link has to lead somewhere")
        with self._parent(path, make=True) as (folder, name):
            temp = f".gitmem-{os.getpid()}-{time.monotonic_ns()}.tmp"
            os.symlink(target, temp, dir_fd=folder)
            try:
                os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temp, dir_fd=folder)
                raise

    def remove(self, path: str, *, prune: bool = False) -> bool:
        """Remove a file or a link, not a folder; say whether it was there.

        With `prune`, folders above it that become empty go too.
        """
        try:
            with self._parent(path) as (folder, name):
                if _is_folder(folder, name):
                    return False
                os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if prune:
            self._prune(path)
        return True

    def rename(self, path: str, other: str) -> None:
        """Give a file or a link another name; what has that name is replaced."""
        with self._parent(path) as (folder, name), self._parent(other, make=True) as (into, new):
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=into)

    def add_name(self, path: str, other: str) -> None:
        """Give a file a second name; raises FileExistsError when that is taken."""
        with self._parent(path) as (folder, name), self._parent(other, make=True) as (into, new):
            os.link(name, new, src_dir_fd=folder, dst_dir_fd=into, follow_symlinks=False)

    def set_mode(self, path: str, mode: int) -> None:
        """Give a regular file these permissions; anything else is left as it is."""
        with self._parent(path) as (folder, name):
            if _regular(folder, name) is None:
                return
            handle = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
            )
            try:
                os.fchmod(handle, mode & PERMISSIONS)
            finally:
                os.close(handle)

    # -- folders

    def make_folder(self, path: str) -> list[str]:
        """Make a folder and those above it; return the paths of those that were not there."""
        _check(path)
        made: list[str] = []
        os.close(self._descend(path.split("/"), path, make=True, made=made))
        return made

    def make_room(self, path: str) -> None:
        """Make the folders of a file.

        A file or a link where a folder has to be goes, and a folder where the file has to be, with
        what is in it.
        """
        _check(path)
        *above, name = path.split("/")
        folder = self._descend(above, path, make=True, replace=True)
        try:
            _check_tree(folder, name, self._apart, path)
            _remove_tree(folder, name)
        finally:
            os.close(folder)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder when it is empty; say whether it went."""
        try:
            with self._parent(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)
        except OSError:
            return False
        return True

    # -- names of the caller

    def resolve(self, path: str) -> str:
        """Return the path below the root that a full path means, the user's own links followed.

        Raises PathRefused when it leads out or into git's folder.

        For files whose place a person or a setting chose. A path that came with data is never
        resolved: it goes to the methods as it is.
        """
        root = os.path.realpath(self.root)
        real = os.path.realpath(path)
        if not real.startswith(root.rstrip(os.sep) + os.sep):
            raise PathRefused(
                os.path.relpath(path, self.root),
                f"a link leads it out of the repository, to '{printable(real)}'",
            )
        relative = os.path.relpath(real, root).replace(os.sep, "/")
        if why := path_refusal(relative):
            asked = os.path.relpath(path, self.root)
            raise PathRefused(
                asked,
                why
                if asked == relative
                else f"a link leads it to '{printable(relative)}', and {why}",
            )
        return relative

    # -- the way

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Give the handle of the folder that a path is in, and its name there."""
        _check(path)
        *above, name = path.split("/")
        folder = self._descend(above, path, make=make)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _descend(
        self,
        names: Sequence[str],
        path: str,
        *,
        make: bool = False,
        replace: bool = False,
        made: list[str] | None = None,
    ) -> int:
        """Open the folder that some names lead to, each relative to the one above.

        The caller closes it.
        """
        # the root is the user's: it may be reached by a link
        here = os.open(self.root, _PASS & ~os.O_NOFOLLOW)
        try:
            for at, name in enumerate(names):
                if make and _make(here, name, replace=replace) and made is not None:
                    made.append("/".join(names[: at + 1]))
                below = _step(here, name, path)
                os.close(here)
                here = below
                if _identity_of(here) in self._apart:
                    raise PathRefused(path, "it leads into git's own folder")
        except BaseException:
            os.close(here)
            raise
        return here

    def _prune(self, path: str) -> None:
        above = path.rpartition("/")[0]
        while above and self.remove_folder(above):
            above = above.rpartition("/")[0]

    def _sync(self, path: str) -> None:
        with self._parent(path) as (folder, _):
            handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
            try:
                sync_handle(handle)
            finally:
                os.close(handle)


def _check(path: str) -> None:
    if why := path_refusal(path):
        raise PathRefused(path, why)


def _step(folder: int, name: str, path: str) -> int:
    try:
        return os.open(name, _PASS, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_A_FOLDER and _is_link(folder, name):
            raise PathRefused(
                path, f"'{printable(name)}' on the way to it is a symbolic link"
            ) from error
        raise


def _make(folder: int, name: str, *, replace: bool) -> bool:
    """Make a folder that is not there; with `replace` in the place of a file or a link.

    Say whether it was made.
    """
    if replace and _exists(folder, name) and not _is_folder(folder, name):
        os.unlink(name, dir_fd=folder)
    try:
        os.mkdir(name, 0o777, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _check_tree(folder: int, name: str, apart: set[tuple[int, int]], path: str) -> None:
    """Raise PathRefused for a folder with something in it, at any depth, that is not removed."""
    if not _is_folder(folder, name):
        return
    here = os.open(name, _LIST, dir_fd=folder)
    try:
        if _identity_of(here) in apart:
            raise PathRefused(path, "git's own folder is in the way")
        for inner in os.listdir(here):
            if path_refusal(os.fsdecode(inner)):
                raise PathRefused(path, "a repository is in the way")
            _check_tree(here, inner, apart, path)
    finally:
        os.close(here)


def _remove_tree(folder: int, name: str) -> None:
    """Remove a folder with all that is in it, without following links; anything else is left."""
    if not _is_folder(folder, name):
        return
    here = os.open(name, _LIST, dir_fd=folder)
    try:
        for inner in os.listdir(here):
            if _is_folder(here, inner):
                _remove_tree(here, inner)
            else:
                os.unlink(inner, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=folder)


def _mode(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _exists(folder: int, name: str) -> bool:
    return _mode(folder, name) != 0


def _is_folder(folder: int, name: str) -> bool:
    return stat.S_ISDIR(_mode(folder, name))


def _is_link(folder: int, name: str) -> bool:
    return stat.S_ISLNK(_mode(folder, name))


def _regular(folder: int, name: str) -> os.stat_result | None:
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) else None


def _identity_of(handle: int) -> tuple[int, int]:
    facts = os.fstat(handle)
    return facts.st_dev, facts.st_ino


def _identity(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
