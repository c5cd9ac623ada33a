"""Repositories: found by a document's folder, one `App` each, used by one thread each.

All that touches git or SQLite runs on that thread (`Repository.run`): the server's loop never waits for a disk, two reads of one
repository never meet, and a slow repository delays no other.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from gitmem.clock import Clock
from gitmem.errors import GitmemError
from gitmem.files import Location, locate
from gitmem.git.process import check_owner
from gitmem.store.refs import PRIVATE, SHARED
from gitmem_lsp.diagnostics import Row, applies

if TYPE_CHECKING:
    from gitmem.app import App
    from gitmem.model.record import Record

T = TypeVar("T")

# An editor that git started (for a commit message) inherits these, and they name that one repository whatever file is open.
MISLEADING = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE", "GIT_PREFIX", "GIT_QUARANTINE_PATH",
})  # fmt: skip
STATUSES = ("active", "pinned")
HIDES = {"user": 0, "shared": 1, "private": 2}  # of one id in several stores the last is shown


class Repository:
    """One repository, by its common dir. Methods marked so run on its own thread only."""

    def __init__(self, location: Location, env: Mapping[str, str]) -> None:
        self.location = location
        self._env = env
        self._lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gitmem-repository")
        self._opened: App | None = None
        self._seen: tuple[Any, ...] | None = None
        self._key: tuple[Any, ...] = ()
        self._rows: dict[tuple[str, ...], list[Row]] = {}
        self._globs: list[Row] = []

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on the repository's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._lane, work, *args)

    # -- on the repository's thread

    @property
    def app(self) -> "App":
        """The repository's parts; raises GitmemError. On its thread."""
        if self._opened is None:
            from gitmem.app import App  # the editor's first request need not wait for it

            check_owner(self.location, self.location.worktree or self.location.gitdir, self._env)
            # `auto` is libgit2, and git where libgit2 cannot open the repository: slower is better than silent
            self._opened = App(self.location, self._env, Clock(), prefer="auto")
        return self._opened

    def gotchas(self, paths: tuple[str, ...]) -> list[Row]:
        """Return the unresolved gotchas about a file by any of its paths, and those with a pattern. On its thread."""
        app = self.app
        if self._seen is None:
            self.moved()  # before the first read, so that no move falls between the two
        key = tuple((scope, *sorted(index.tips().items())) for scope, index in app.indexes())
        if key != self._key:
            self._rows.clear()
            self._globs = [row for row in self._read(globs=True) if any(isinstance(a.get("glob"), str) for a in row["anchors"])]
            self._key = key
        if paths not in self._rows:
            matching = [row for row in self._globs if any(applies(anchor, paths) for anchor in row["anchors"])]
            found = sorted([*self._read(paths=paths), *matching], key=lambda row: HIDES.get(row["store"], 0))
            self._rows[paths] = list({row["id"]: row for row in found}.values())
        return self._rows[paths]

    def warm(self) -> None:
        """Open the repository and bring its index up to date. On its thread."""
        self.app.indexes()

    def _read(self, **filters: Any) -> list[Row]:
        rows: list[Row] = self.app.rows(kinds=("gotcha",), statuses=STATUSES, resolved=False, order="severity", **filters)
        return rows

    def record(self, id: str, scope: str) -> "Record":
        """Return a record as it stands in a store; raises GitmemError. On its thread."""
        return self.app.get(id, (scope,))[1].record

    def moved(self) -> bool:
        """Say whether any ref that holds memories may have moved since the last call: eight calls of stat. On its thread."""
        if self._opened is None:
            return False
        common = self.location.commondir
        files = [os.path.join(common, name) for name in (SHARED, PRIVATE, "packed-refs", "reftable/tables.list")]
        if self.app.has_user():
            user = self.app.user.location.commondir
            files += [os.path.join(user, name) for name in (SHARED, "packed-refs", "reftable/tables.list")]
        now = tuple(_state(path) for path in files)
        before, self._seen = self._seen, now
        return before is not None and before != now

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    # -- anywhere

    def close(self) -> "Future[None]":
        """Let the running job end, drop the waiting ones, and release files and children."""
        last = self._lane.submit(self._close)
        self._lane.shutdown(wait=False)
        return last


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@dataclass(frozen=True, slots=True)
class Found:
    """A file's repository, the key that its work trees share, and the file's paths in it."""

    location: Location
    key: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document is: its repository, the git dir of its work tree, its path there (and its target's, for a link)."""

    repository: Repository
    gitdir: str
    paths: tuple[str, ...]


class Repositories:
    """All repositories of open documents."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = {key: value for key, value in env.items() if key not in MISLEADING}
        self._known: dict[str, Repository] = {}

    def all(self) -> list[Repository]:
        """Return the repositories in use."""
        return list(self._known.values())

    def locate(self, path: str) -> Found | None:
        """Return a file's repository and its paths there; None outside of any work tree. Reads the disk: not on the loop."""
        folder, name = os.path.split(path)
        own = os.path.join(os.path.realpath(folder), name)
        target = os.path.realpath(path)
        for candidate in dict.fromkeys((own, target)):
            found = self._location(os.path.dirname(candidate))
            if found is None or found.worktree is None:
                continue
            root = os.path.realpath(found.worktree)
            paths = tuple(dict.fromkeys(rel for p in (candidate, target) if (rel := _inside(p, root))))
            if paths and not _inside(candidate, os.path.realpath(found.gitdir)):
                return Found(found, os.path.realpath(found.commondir), paths)
        return None

    def _location(self, folder: str) -> Location | None:
        while folder and not os.path.isdir(folder) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)  # a new file in a folder that is not there yet
        try:
            return locate(folder, self.env)
        except (GitmemError, OSError, ValueError):
            return None

    def place(self, found: Found) -> Place:
        """Return the place of a located file; its repository is made once. On the loop."""
        if found.key not in self._known:
            self._known[found.key] = Repository(found.location, self.env)
        return Place(self._known[found.key], found.location.gitdir, found.paths)

    def close(self, timeout: float) -> None:
        """Release all repositories, waiting for them no longer than a time."""
        wait([repository.close() for repository in self._known.values()], timeout)


def _inside(path: str, root: str) -> str | None:
    """Return a path relative to a folder, with `/`; None when it is not inside."""
    prefix = root.rstrip(os.sep) + os.sep
    return path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) and len(path) > len(prefix) else None
