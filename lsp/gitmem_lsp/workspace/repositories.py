"""Repositories: found by a document's folder, one `App` each, used by one thread each.

All that touches git or SQLite runs on that thread (`ServedRepository.run`): the server's loop never
waits for a disk, two reads of one repository never meet, and a slow repository delays no other.
Code is read and searched on a second thread (`ServedRepository.read_code`), so that a large file
does not delay an answer. What waits when its asker is cancelled never runs.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gitmem.errors import GitmemError
from gitmem.repo.location import Location, locate, user_repository
from gitmem_lsp.workspace.code_moves import Scout
from gitmem_lsp.workspace.repository_view import RepositoryView, Row

T = TypeVar("T")

# An editor that git started (for a commit message) inherits these, and they name that one
# repository whatever file is open.
MISLEADING = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
    }
)
REMEMBERED = 2000  # files whose repository is known without a look at the disk
# in the common dir: documents that we made for the editor
EDITING = os.path.join("gitmem", "editing")


class ServedRepository:
    """One repository, by its common dir: its threads, and what is kept of it."""

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.location = location
        self.env = env
        self._lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gitmem-repository")
        self._history_lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gitmem-history")
        self._code_lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gitmem-code")
        self._line_lane = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gitmem-line")
        self.view = RepositoryView(location, env, progress)
        self.scout = Scout(self.view.make_follower)
        self.news = asyncio.Event()  # something may have moved
        self.watched = False

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on the repository's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._lane, work, *args)

    async def read_code(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on the thread that reads code."""
        return await asyncio.get_running_loop().run_in_executor(self._code_lane, work, *args)

    async def read_history(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on the thread that asks git for renames."""
        return await asyncio.get_running_loop().run_in_executor(self._history_lane, work, *args)

    async def read_line(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function on the thread that tells of one line: a hover waits for no other work."""
        return await asyncio.get_running_loop().run_in_executor(self._line_lane, work, *args)

    async def search(self, text: str, limit: int, kinds: Sequence[str] = ()) -> list[Row]:
        """Search the records; when the asker goes, the search ends."""
        future = self._lane.submit(self.view.search, text, limit, kinds)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self.view.interrupt()
            raise

    @property
    def editing(self) -> str:
        """The folder of documents that we made for the editor."""
        return os.path.join(self.location.commondir, EDITING)

    @property
    def user(self) -> str:
        """The user's own repository, whether it is there or not; empty where this is it."""
        path = user_repository(self.env)
        return "" if os.path.realpath(path) == os.path.realpath(self.location.commondir) else path

    def close(self) -> "list[Future[None]]":
        """Let the running jobs end, drop the waiting ones, and release files and children."""
        ends = [self._lane.submit(self.view.close)]
        for lane in (self._lane, self._code_lane, self._history_lane, self._line_lane):
            lane.shutdown(wait=False, cancel_futures=lane is not self._lane)
        return ends


@dataclass(frozen=True, slots=True)
class RepositoryPath:
    """A file's repository, the key that its work trees share, and the file's paths in it."""

    location: Location
    key: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Where a document is: its repository, its work tree, its git dir and its path.

    The git dir is that of the work tree. For a link, the path of its target is there too.
    """

    repository: ServedRepository
    gitdir: str
    worktree: str | None
    paths: tuple[str, ...]

    @property
    def location(self) -> Location:
        """The repository as its work tree has it."""
        return Location(self.gitdir, self.repository.location.commondir, self.worktree)


class Repositories:
    """All repositories of open documents.

    `locate` and `enclose` read the disk; the rest is for the loop.
    """

    def __init__(
        self, env: Mapping[str, str], progress: Callable[[Location, int, int], None] | None = None
    ) -> None:
        self.env = {key: value for key, value in env.items() if key not in MISLEADING}
        self._progress = progress
        self._known: dict[str, ServedRepository] = {}
        self._files: OrderedDict[str, DocumentPlace] = OrderedDict()
        self.homes: dict[str, DocumentPlace] = {}  # by folder of the workspace
        self.expected: list[str] = []  # folders whose repositories are being looked for
        self.found = asyncio.Event()

    def all(self) -> list[ServedRepository]:
        """Return the repositories in use."""
        return list(self._known.values())

    def locate(self, path: str) -> RepositoryPath | None:
        """Return a file's repository and its paths there; None outside of any work tree.

        Reads the disk: not on the loop.
        """
        folder, name = os.path.split(path)
        own = os.path.join(os.path.realpath(folder), name)
        target = os.path.realpath(path)
        for candidate in dict.fromkeys((own, target)):
            location = self._location(os.path.dirname(candidate))
            if location is None or location.worktree is None:
                continue
            root = os.path.realpath(location.worktree)
            paths = tuple(
                dict.fromkeys(rel for p in (candidate, target) if (rel := inside(p, root)))
            )
            if paths and not inside(candidate, os.path.realpath(location.gitdir)):
                return RepositoryPath(location, os.path.realpath(location.commondir), paths)
        return None

    def enclose(self, path: str) -> RepositoryPath | None:
        """Return the repository around a file.

        The file may also be in the git dir, as a commit message is. This reads the disk.
        """
        location = self._location(os.path.realpath(os.path.dirname(path)))
        return (
            RepositoryPath(location, os.path.realpath(location.commondir), ()) if location else None
        )

    def _location(self, folder: str) -> Location | None:
        while folder and not os.path.isdir(folder) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)  # a new file in a folder that is not there yet
        try:
            return locate(folder, self.env)
        except (GitmemError, OSError, ValueError):
            return None

    def place(self, repository_path: RepositoryPath, path: str = "") -> DocumentPlace:
        """Return the place of a located file, and remember it; its repository is made once."""
        if repository_path.key not in self._known:
            progress = self._progress
            report = (
                (lambda done, total: progress(repository_path.location, done, total))
                if progress
                else None
            )
            self._known[repository_path.key] = ServedRepository(
                repository_path.location, self.env, report
            )
        made = DocumentPlace(
            self._known[repository_path.key],
            repository_path.location.gitdir,
            repository_path.location.worktree,
            repository_path.paths,
        )
        if path:
            self.remember(path, made)
        return made

    def remember(self, path: str, place: DocumentPlace) -> None:
        """Keep where a file is."""
        self._files[path] = place
        if len(self._files) > REMEMBERED:
            self._files.popitem(last=False)

    def expect_no_more(self, folder: str) -> None:
        """Note that a folder was looked at.

        A folder that is looked for no more keeps nobody waiting.
        """
        self.expected = [path for path in self.expected if path != folder]
        if not self.expected:
            self.found.set()

    def guess(self, path: str) -> DocumentPlace | None:
        """Return where a file was found before, or most likely is, without a look at the disk.

        The file may be a link, or in a repository within: the disk is read afterwards.
        """
        kept = self._files.get(path)
        if kept is not None:
            return kept
        for home in self.homes.values():
            rest = inside(path, home.worktree) if home.worktree else None
            if rest and ".git" not in rest.split("/"):
                return replace(home, paths=(rest,))
        return None

    def forget(self, path: str) -> None:
        """Take a file for one that was never looked for."""
        self._files.pop(path, None)

    def close(self, timeout: float) -> None:
        """Release all repositories, waiting for them no longer than a time."""
        wait([end for repository in self._known.values() for end in repository.close()], timeout)


def inside(path: str, root: str) -> str | None:
    """Return a path relative to a folder, with `/`; None when it is not inside."""
    prefix = root.rstrip(os.sep) + os.sep
    return (
        path[len(prefix) :].replace(os.sep, "/")
        if path.startswith(prefix) and len(path) > len(prefix)
        else None
    )
