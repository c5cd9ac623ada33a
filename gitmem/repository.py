"""One repository, as every process needs it. Part of the hot path.

`App` adds the services of commands, the server and the worker; hooks of agents and of git work with
this alone. Each part is opened on first use.
"""

import os
import time

from gitmem import config
from gitmem.base.detach import detach
from gitmem.base.fast import sqlite
from gitmem.base.files import is_locked as is_locked_file
from gitmem.base.sharing import sharing_of
from gitmem.base.tolerated import BUSY
from gitmem.errors import External, GitmemError, NotARepository
from gitmem.repo.location import (
    Home,
    Location,
    is_embedded,
    is_own,
    locate,
    storable,
    user_repository,
)
from gitmem.repo.refs import PRIVATE, SHARED, has_reftable, raw_ref
from gitmem.settings_cache import our_settings
from gitmem.state.database import NAME as STATE
from gitmem.state.database import State
from gitmem.store import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitmem.index.reader import Index

# seconds to wait for another process that writes state.db; and once it was waited for in vain
WAIT, HURRY = 0.5, 0.1
REFTABLE = "reftable"  # the reason to drain where only git can tell whether to
LOCK = "index.lock"  # see `index.builder`
FOLLOWING = 0.06  # seconds that a writer may still be indexing what it wrote
REFRESH = 1.0  # seconds that a hook may take to bring the index up to date
DRAIN_GAP, RETRY_GAP = 2.0, 60.0  # seconds between two drains, and between two for the same reason


class Repository:
    """Location, settings, state, index, namespace, trust and refs of one repository.

    `root` is the work tree without links, '' for a bare repository; `stored_root` is the same as
    `state.db` has it.
    """

    def __init__(self, location: Location, env: "Mapping[str, str]") -> None:
        self.location = location
        self.env = env
        self.cost_of = ""  # the session for which work goes to the background
        self.home = Home(location.home, shared=sharing_of(location.commondir))
        self.root = os.path.realpath(location.worktree) if location.worktree else ""
        self.stored_root = storable(self.root)
        self._settings: config.Settings | None = None
        self._own_addresses: frozenset[str] | None = None
        self._state: State | None = None
        # why state.db cannot be opened: tried once, for it takes long to fail
        self._state_failure: Exception | None = None
        self._indexes: dict[str, Index | None] = {}

    def close(self) -> None:
        """Release the files that were opened."""
        for index in self._indexes.values():
            if index is not None:
                index.db.close()
        self._indexes.clear()
        if self._state is not None:
            self._state.close()
            self._state = None

    # -- trust, settings, people

    def is_trusted(self) -> bool:
        """Say whether git would use this repository: all of it is the user's, or git says so."""
        if is_own(self.location):
            return True
        from gitmem.base import quick_git

        folder = self.location.worktree or self.location.gitdir
        return quick_git.accepts(self.git_environment(), folder)

    @property
    def settings(self) -> config.Settings:
        """The settings: `_load_settings`, once."""
        if self._settings is None:
            self._settings = self._load_settings()
        return self._settings

    def forget_settings(self) -> None:
        """Have the settings read anew: they were changed."""
        self._settings = None

    def adopt_settings(self, settings: config.Settings) -> None:
        """Use settings that were read elsewhere."""
        self._settings = settings

    def _load_settings(self) -> config.Settings:
        """Return our settings, from the cache; from git when a configuration file has changed.

        Defaults where there is no git to ask: what is known of the repository still holds.
        """
        try:
            return self.read_settings()
        except GitmemError:
            return config.Settings({})

    def read_settings(self) -> config.Settings:
        """Return our settings as `settings` does; raises GitmemError where git does not answer."""
        return our_settings(self.home, self.location, self.env, self._ask_settings)

    def _ask_settings(self) -> config.Settings:
        from gitmem.base.git_guard import LIST

        output = self.read_git(*LIST)
        if output is None:
            raise GitmemError("git did not tell its configuration")
        return config.from_listing(output)

    @property
    def namespace(self) -> str:
        """The namespace of this reader: GITMEM_AGENT, else the setting, else `global`."""
        return str(self.env.get("GITMEM_AGENT") or self.settings.get("agent") or "global")

    @property
    def namespaces(self) -> "tuple[str, ...]":
        """The namespaces that this reader sees."""
        return tuple(dict.fromkeys(("global", self.namespace)))

    @property
    def own_addresses(self) -> "frozenset[str]":
        """The e-mail addresses of this user, for `identity.made_by`."""
        if self._own_addresses is None:
            from gitmem.repo.identity import own_addresses

            self._own_addresses = own_addresses(self.env, self.settings.every)
        return self._own_addresses

    # -- git, without the cost of `gitmem.git`

    def git_environment(self, *kept: str) -> "dict[str, str]":
        """Return the environment for a call of git.

        Of what git passed to its hook, only configuration and the variables `kept` stay.
        """
        allowed = {"GIT_EXEC_PATH", *kept}
        return {
            name: value
            for name, value in self.env.items()
            if not name.startswith("GIT_") or name.startswith("GIT_CONFIG_") or name in allowed
        }

    def read_git(self, *args: str, kept: "Sequence[str]" = ()) -> bytes | None:
        """Return what a git command prints; None when it fails, or when there is no git."""
        from gitmem.base import quick_git

        return quick_git.read(self.git_environment(*kept), self.location.gitdir, *args)

    def spawn_git(self, *args: str) -> "tuple[int, int]":
        """Start git.

        Return its process id and the pipe of what it prints, or (0, 0) when there is no git.
        """
        from gitmem.base import quick_git

        return quick_git.spawn(self.git_environment(), self.location.gitdir, *args)

    # -- working state

    @property
    def state(self) -> State:
        """The working state.

        Raises GitmemError when it would be lost, on a disk that cannot be written; what SQLite says
        of a busy file when it is busy.
        """
        if self._state_failure is not None:
            raise self._state_failure
        if self._state is None:
            self._state = self._open_state()
        return self._state

    def _open_state(self) -> State:
        self.home.make()
        started = time.monotonic()
        state = State(self.home, timeout=WAIT)
        # many hooks that make the file at once get in one another's way; a moment later it is there
        while (
            state.in_memory
            and time.monotonic() - started < WAIT / 2
            and os.access(self.home.path, os.W_OK)
        ):
            time.sleep(0.02)
            state = State(self.home, timeout=WAIT)
        if state.in_memory:
            self._state_failure = (
                sqlite.OperationalError("state.db is locked")
                if state.busy
                else GitmemError("state.db cannot be written")
            )
            raise self._state_failure
        return state

    def hurry(self) -> None:
        """Wait no longer for state.db, which another process has held for long.

        Each further wait would add up to the deadline.
        """
        if self._state is not None:
            self._state.db.execute(f"PRAGMA busy_timeout = {int(HURRY * 1000)}")

    # -- the index as it is on disk

    @property
    def stored_index(self) -> "Index | None":
        """The index of this repository as it is, None when there is none."""
        return self._stored(self.home.join("index.db"))

    @property
    def stored_indexes(self) -> "list[Index]":
        """The indexes that a reader joins: this repository's, then the user's own."""
        own = os.path.join(user_repository(self.env), "gitmem", "index.db")
        paths = dict.fromkeys((self.home.join("index.db"), own))
        indexes = [self._stored(path) for path in paths]
        return [index for index in indexes if index is not None]

    def _stored(self, path: str) -> "Index | None":
        if path not in self._indexes:
            index = None
            if os.path.exists(path):
                # compiles patterns: most tool calls do without
                from gitmem.index.reader import open_index

                index = open_index(path)
                if index is not None and path == self.home.join("index.db"):
                    index.out_of_date = self.out_of_date
            self._indexes[path] = index
        return self._indexes[path]

    def reopen_indexes(self) -> None:
        """Have the indexes opened anew: another process has brought them up to date."""
        self._indexes.clear()

    def discard_indexes(self) -> None:
        """Remove indexes that turned out to be damaged; the next drain builds them anew."""
        for folder in (self.home.path, os.path.join(user_repository(self.env), "gitmem")):
            for suffix in ("", "-wal", "-shm"):
                try:
                    os.unlink(os.path.join(folder, "index.db" + suffix))
                except OSError:
                    continue
        self.reopen_indexes()

    def out_of_date(self) -> "Mapping[str, tuple[str, str]]":
        """Return {id: (oid of its file, reason)} of facts that this work tree refutes."""
        if not os.path.exists(self.home.join(STATE)):
            return {}  # nothing was looked at, and reading must not make the file
        from gitmem.state import out_of_date

        try:
            return out_of_date.reasons(self.state, self.stored_root)
        except (*BUSY, GitmemError):
            return {}  # a mark that is missing costs less than the view

    # -- whether it has all that was written

    def tips(self) -> "dict[str, str]":
        """Return the stores' commits as the refs have them now.

        Where a ref is broken, as the index has them. Only files are read: of a reftable, only git
        knows (`tips_by_git`).
        """
        try:
            return self._tips_by_files()
        except External:  # nothing can follow it before it is repaired
            return self.indexed_tips()

    def _tips_by_files(self) -> "dict[str, str]":
        pairs = (("shared", SHARED), ("private", PRIVATE))
        tips = {name: raw_ref(self.location.commondir, ref) for name, ref in pairs}
        return {name: tip for name, tip in tips.items() if tip}

    def tips_by_git(self) -> "dict[str, str]":
        """Return the stores' commits; git is asked where the refs are no files.

        Raises External for a ref that is broken.
        """
        if not has_reftable(self.location.commondir):
            return self._tips_by_files()
        names = {SHARED: "shared", PRIVATE: "private"}
        output = self.read_git("for-each-ref", "--format=%(refname) %(objectname)", *names)
        pairs = [line.split(" ") for line in (output or b"").decode().splitlines()]
        return {names[ref]: tip for ref, tip in pairs}

    def indexed_tips(self) -> "dict[str, str]":
        """Return the stores' commits that the index was built from."""
        index = self.stored_index
        return index.tips() if index else {}

    def waiting_writes(self) -> "Sequence[str]":
        """Return the names of the writes that wait in the journal."""
        try:
            names = os.listdir(self.home.join(journal.FOLDER))
        except OSError:
            return ()
        return [name for name in names if name.endswith(".json")]

    def is_current(self) -> bool:
        """Return whether everything that was written is in the index, as far as files tell."""
        if self.waiting_writes():
            return False
        return has_reftable(self.location.commondir) or self.tips() == self.indexed_tips()

    def refresh(self, *, asks_git: bool = False) -> bool:
        """Bring the index up to date, as far as that is soon done.

        Say whether all that was written is in it.

        Who writes has the index follow. Left are refs that git or another program moved, an index
        that is gone, and writes that wait in the journal: those are for a drain. `asks_git` also
        where files cannot tell.
        """
        if not self.is_current() or (asks_git and has_reftable(self.location.commondir)):
            self._await_writer()
            if not self.is_current() or asks_git:
                from gitmem.index.quick_refresh import quick_refresh

                quick_refresh(self.location, self.home, self.env, REFRESH)
            self.reopen_indexes()
        return self.is_current()

    def _await_writer(self) -> None:
        """Wait a moment for a writer that moved its ref and is updating the index.

        This costs less than to load the code that indexes.
        """
        path = self.home.join(LOCK)
        until = time.monotonic() + FOLLOWING
        while is_locked_file(path) and time.monotonic() < until:
            time.sleep(0.005)
        self.reopen_indexes()

    # -- work for later

    def catch_up(self, now: float, *, insists: bool = False) -> None:
        """Start a drain when writes wait or the index is behind its refs; nobody waits for it.

        None is started when there was one a moment ago, or lately for the same reason, unless the
        caller `insists`.
        """
        reason = self._reason_to_drain(asks_git=insists)
        if reason:
            self.start_drain(reason, now, sure=insists and reason != REFTABLE)

    def _reason_to_drain(self, *, asks_git: bool) -> str:
        waiting = self.waiting_writes()
        if waiting:
            return f"journal {max(waiting)}"
        if has_reftable(self.location.commondir):
            return REFTABLE if asks_git else ""  # only git can tell where the refs are
        tips = self.tips()
        return "" if tips == self.indexed_tips() else "stale " + " ".join(sorted(tips.values()))

    def start_drain(self, reason: str, now: float, *, sure: bool = False) -> int:
        """Start a detached drain and return its process id, or 0.

        None is started if one was started a moment ago, or lately for the same reason.
        """
        from gitmem.state import drains

        if not drains.claim(self.state, reason, now, DRAIN_GAP, RETRY_GAP, sure=sure):
            return 0
        folder = self.location.worktree or self.location.gitdir
        pid = self.work_later(folder, "drain")
        try:
            drains.note_started(self.state, reason, now, pid)
        except BUSY:
            pass  # busy: another one may be started too
        return pid

    def work_later(self, folder: str, work: str) -> int:
        """Start a process for work in the background; return its id, or 0.

        What it takes is added to what the session cost whose hook leaves it the work.
        """
        from gitmem.state.hook_costs import SESSION

        env = {**self.env, SESSION: self.cost_of} if self.cost_of else self.env
        return detach(["-C", folder, work], env)


def find_repository(folder: str, env: "Mapping[str, str]") -> Repository:
    """Return the repository of a folder.

    Raises NotARepository, also for one that lies among the files of another repository.
    """
    location = locate(folder, env)
    if is_embedded(location.gitdir):  # that GIT_DIR names
        raise NotARepository(f"'{location.gitdir}' lies in another repository.")
    return Repository(location, env)
