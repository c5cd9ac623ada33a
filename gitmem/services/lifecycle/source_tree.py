"""The files of a work tree, or of a commit, as checks look at them.

Reads are bounded and follow no links.
"""

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from gitmem.base.regular_files import read_regular
from gitmem.git.code_trees import CodeTrees
from gitmem.repo.ignore import ignored
from gitmem.repo.path_rules import path_refusal

LARGEST = 1 << 20  # bytes of a file that is looked at


class SourceTree(Protocol):
    """One state of the code."""

    @property
    def paths(self) -> Iterable[str]:
        """Return the files."""

    def has(self, path: str) -> bool:
        """Return whether there is a file or a folder of this name."""

    def read(self, path: str) -> bytes | None:
        """Return a file; None for none, for a link, and for one that is too large."""

    def absences(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return why it says nothing that paths are not there, of those where it says nothing.

        What git ignores is no part of the project, and neither is what is in a submodule, or
        behind a link.
        """


class WorkTreeSource:
    """The files of a work tree as they are on disk.

    `listed` are those that git does not ignore; no other is read, and none that `hides` names.
    What a sparse checkout leaves out (`skipped`) is there, and cannot be read. `ignored`
    returns the files and folders of a list that git ignores, be they there or not.
    """

    def __init__(
        self,
        root: str,
        listed: frozenset[str],
        skipped: frozenset[str],
        hides: Callable[[str], bool],
        ignored: Callable[[Sequence[str]], set[str]],
        submodules: Callable[[], frozenset[str]],
    ) -> None:
        self._root = root
        self._listed = listed
        self._skipped = skipped
        self._hides = hides
        self._ignored = ignored
        self._find_submodules = submodules

    @cached_property
    def paths(self) -> Iterable[str]:
        """Return the files that are there."""
        return frozenset(path for path in self._listed if self.has(path)) | self._skipped

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return self._skipped | folders_of(self._skipped)

    def has(self, path: str) -> bool:
        """Return whether there is a file or a folder of this name, not by way of a link."""
        return self._full(path) != "" or path.rstrip("/") in self._left_out

    def read(self, path: str) -> bytes | None:
        """Return a file; None for none, for a link, and for one that is too large."""
        is_open = path in self._listed and not self._hides(path)
        full = self._full(path) if is_open else ""
        try:
            if not full or os.path.islink(full) or not os.path.isfile(full):
                return None
            if os.path.getsize(full) > LARGEST:
                return None
        except OSError:
            return None
        return read_regular(full, LARGEST)

    def absences(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return why it says nothing that paths are not there, of those where it says nothing."""
        reasons = {path: self._why_outside(path.rstrip("/")) for path in paths}
        open_paths = [path for path, why in reasons.items() if not why]
        reasons.update(dict.fromkeys(self._ignored(open_paths), "git ignores it"))
        return {path: why for path, why in reasons.items() if why}

    def _why_outside(self, name: str) -> str:
        """Return why a path is no part of the project; '' where it is one, or is ignored."""
        if self._hides(name):
            return "git mem keeps nothing of it"
        for folder in [*reversed(list(parents(name))), name]:
            full = os.path.join(self._root, folder)
            if os.path.islink(full):
                return f"{folder} is a link"
            if folder in self._submodules or os.path.lexists(os.path.join(full, ".git")):
                return f"{folder} is another repository"
        try:
            os.lstat(os.path.join(self._root, name))
        except PermissionError:
            return "it cannot be looked at"
        except (OSError, ValueError):
            pass
        return ""

    @cached_property
    def _submodules(self) -> frozenset[str]:
        return self._find_submodules()

    def _full(self, path: str) -> str:
        """Return where a path is on disk; '' for none, and where a link is on the way."""
        name = path.rstrip("/")
        if path_refusal(name):
            return ""
        if any(os.path.islink(os.path.join(self._root, folder)) for folder in parents(name)):
            return ""
        full = os.path.join(self._root, name)
        return full if os.path.lexists(full) else ""


class CommitSource:
    """The files of a commit."""

    def __init__(self, trees: CodeTrees, commit: str) -> None:
        self._trees = trees
        self._tree = trees.resolve(commit)[1]
        self._listing = trees.listing(self._tree)

    @property
    def paths(self) -> Iterable[str]:
        """Return the files."""
        return self._listing.keys()

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folders_of(self._listing))

    def has(self, path: str) -> bool:
        """Return whether there is a file or a folder of this name."""
        name = path.rstrip("/")
        return name in self._listing or name in self._folders or name in self._others

    @cached_property
    def _others(self) -> dict[str, str]:
        return self._trees.no_files(self._tree)

    def read(self, path: str) -> bytes | None:
        """Return a file; None for none, for a link, and for one that is too large."""
        oid = self._listing.get(path)
        data = next(iter(self._trees.blobs([oid])))[1] if oid else None
        return None if data is None or len(data) > LARGEST else data

    def absences(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return why it says nothing that paths are not there, of those where it says nothing."""
        reasons = {path: self._absence(path.rstrip("/")) for path in paths}
        return {path: why for path, why in reasons.items() if why}

    def _absence(self, name: str) -> str:
        for folder in parents(name):
            if folder in self._others:
                return f"{folder} is a {self._others[folder]}"
        return "git ignores it" if self._is_ignored(name) else ""

    def _is_ignored(self, name: str) -> bool:
        """Return whether a `.gitignore` of the commit leaves a file or folder out."""
        for folder in [*parents(name), ""]:
            text = self.read(posixpath.join(folder, ".gitignore"))
            rules = ignored([text.decode("utf-8", "replace")], ()) if text else None
            inner = name[len(folder) :].lstrip("/")
            if rules and (rules.has(inner) or rules.has(f"{inner}/")):
                return True
        return False


def parents(path: str) -> Iterable[str]:
    """Yield the folders that a path is in, the innermost first."""
    while path := posixpath.dirname(path):
        yield path


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return the folders that files are in."""
    out: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in out:
            out.add(folder)
            folder = posixpath.dirname(folder)
    return out
