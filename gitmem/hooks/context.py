"""One call of a hook: its event, its repository, and what is opened on first use.

Part of the hot path: standard library's cheap modules, and ours that keep to them.
"""

import os
import time

from gitmem import config
from gitmem.agents import events
from gitmem.agents.prompt_text import LIMIT, OVERHEAD, units
from gitmem.base.detach import detach, wait
from gitmem.base.fast import sqlite
from gitmem.base.files import is_locked as is_locked_file
from gitmem.base.sharing import sharing_of
from gitmem.base.sqlite import is_damage
from gitmem.base.tolerated import BUSY
from gitmem.errors import External, GitmemError, NotARepository
from gitmem.redaction.formats import harmless, public
from gitmem.repo.location import (
    Home,
    Location,
    ignore_text,
    inside,
    is_embedded,
    is_own,
    locate,
    storable,
    user_repository,
)
from gitmem.repo.refs import PRIVATE, SHARED, code_state, has_reftable, raw_ref
from gitmem.state import drains, injections, moved_code
from gitmem.state.database import State
from gitmem.store import journal
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.repo.ignore import Ignored
    from gitmem.services.records.attribution import Shares

    Row = dict[str, Any]

LOOKS = 200_000  # comparisons of names with patterns that a hook has time for
SHORT = 8000  # characters of an output that may be seen to be harmless at once
FILES = 20  # files of one tool call that are looked at
# seconds to wait for another process that writes state.db; and once it was waited for in vain
WAIT, HURRY = 0.5, 0.1
LOCK = "index.lock"  # see `index.builder`
FOLLOWING = 0.06  # seconds that a writer may still be indexing what it wrote
REFRESH = 1.0  # seconds that a prompt or a start may take to bring the index up to date
DRAIN_GAP, RETRY_GAP = 2.0, 60.0  # seconds between two drains, and between two for the same reason


class Hook:
    """One call: the event, the repository, and what is opened on first use. Times are read once."""

    def __init__(
        self,
        event: events.HookEvent,
        env: "Mapping[str, str]",
        now: float,
        *,
        hears: bool = True,
        hears_after_compact: bool = True,
        loads: "frozenset[str]" = frozenset(),
    ) -> None:
        self.event = event
        self.loads = loads  # memory files that the model has read already
        self.hears = hears  # whether the model reads what is told beside this event
        self.hears_after_compact = hears_after_compact
        self.folder = _folder(event.cwd)
        self.env = env
        self.now = now
        self.where: Location = locate(self.folder, env)
        if is_embedded(self.where.gitdir):  # that GIT_DIR names
            raise NotARepository(f"'{self.where.gitdir}' lies in another repository.")
        self.root = os.path.realpath(self.where.worktree) if self.where.worktree else ""
        # the two as they are stored
        self.tree, self.spot = storable(self.root), storable(self.folder)
        self.home = Home(self.where.home, shared=sharing_of(self.where.commondir))
        self._settings: config.Settings | None = None
        self._state: State | None = None
        self._own: frozenset[str] | None = None
        # why state.db cannot be opened: tried once, for it takes long to fail
        self._lost: Exception | None = None
        self._index: Index | None = None
        self._looked = False
        self._ignored: Ignored | None = None
        self._has_ignored = False  # whether it was looked for
        self._shares: Shares | None = None  # of other people, in what this call tells
        self.paths: list[str] = []  # of the files that a tool uses, from the work tree's root

    def look(self) -> None:
        """Find the files of the event, and remove from the event what must not be stored.

        This is what is ignored, private or secret.
        """
        event = self.event
        within = {
            given: storable(inside(given, self.root, self.folder)) for given in event.paths[:FILES]
        }
        hidden = self.ignored
        if hidden:
            roots = [root for root in dict.fromkeys((self.root, self.where.worktree)) if root]
            shown = {given: path for given, path in within.items() if not hidden.has(path)}
            if hidden.used_by(event.command, roots, self.folder) or (within and not shown):
                event.action = event.command = event.error = ""
            if hidden.without(event.error, roots, self.folder) != event.error:
                # what it says may quote them: the lines that name them are not all
                event.error = ""
            within = shown
        event.changes = [change for change in event.changes if within.get(change.path)]
        for change in event.changes:
            change.path = within[change.path]
        event.paths = tuple(within)
        event.path = event.paths[0] if event.paths else ""
        self.paths = [path for path in within.values() if path]
        if event.command:
            event.command = masked(public(event.command))
        if event.error:
            event.error = known_masked(event.error)

    @property
    def ignored(self) -> "Ignored | None":
        """What is never stored; None where nothing is said.

        All of a call shares its comparisons.
        """
        if not self._has_ignored:
            self._has_ignored = True
            text = ignore_text(self.root)
            patterns = self.settings.get("ignore")
            if text or patterns:
                from gitmem.repo.ignore import ignored

                self._ignored = ignored([text], patterns, LOOKS) or None
        return self._ignored

    def trusted(self) -> bool:
        """Say whether git would use this repository: all of it is the user's, or git says so."""
        if is_own(self.where):
            return True
        from gitmem.base import quick_git

        return quick_git.accepts(self._git_env(), self.where.worktree or self.where.gitdir)

    @property
    def settings(self) -> config.Settings:
        """The settings, from the cache; from git when a configuration file has changed."""
        if self._settings is None:
            try:
                if config.one_off(self.env):
                    self._settings = self._ask()
                else:
                    self._settings = config.cached(
                        self.home, config.sources(self.where, self.env), self._ask
                    )
            except GitmemError:  # no git to ask: what is known of the repository still holds
                self._settings = config.Settings({})
        return self._settings

    def _ask(self) -> config.Settings:
        from gitmem.base import quick_git
        from gitmem.base.git_guard import LIST

        output = quick_git.read(self._git_env(), self.where.gitdir, *LIST)
        if output is None:
            raise GitmemError("git did not tell its configuration")
        return config.from_scopes(output)

    def spawn_git(self, *args: str) -> "tuple[int, int]":
        """Start git.

        Return its process id and the pipe of what it prints, or (0, 0) when there is no git.
        """
        from gitmem.base import quick_git

        return quick_git.spawn(self._git_env(), self.where.gitdir, *args)

    def _git_env(self) -> "dict[str, str]":
        return {
            k: v
            for k, v in self.env.items()
            if not k.startswith("GIT_") or k.startswith("GIT_CONFIG_") or k == "GIT_EXEC_PATH"
        }

    @property
    def state(self) -> State:
        """The working state.

        Raises GitmemError when it would be lost, on a disk that cannot be written; what SQLite says
        of a busy file when it is busy.
        """
        if self._lost is not None:
            raise self._lost
        if self._state is None:
            self.home.make()
            started = time.monotonic()
            state = State(self.home, timeout=WAIT)
            # many hooks that make the file at once get in one another's way; a moment later it is
            # there
            while (
                state.in_memory
                and time.monotonic() - started < WAIT / 2
                and os.access(self.home.path, os.W_OK)
            ):
                time.sleep(0.02)
                state = State(self.home, timeout=WAIT)
            if state.in_memory:
                self._lost = (
                    sqlite.OperationalError("state.db is locked")
                    if state.busy
                    else GitmemError("state.db cannot be written")
                )
                raise self._lost
            self._state = state
        return self._state

    def hurry(self) -> None:
        """Wait no longer for state.db, which another process has held for long.

        Each further wait would add up to the deadline.
        """
        if self._state is not None:
            self._state.db.execute(f"PRAGMA busy_timeout = {int(HURRY * 1000)}")

    @property
    def index(self) -> "Index | None":
        """The index as it is, None when there is none."""
        if not self._looked:
            self._looked = True
            path = self.home.join("index.db")
            if os.path.exists(path):
                # compiles patterns: most tool calls do without
                from gitmem.index.reader import open_index

                self._index = open_index(path)
        return self._index

    def look_again(self) -> None:
        """Have the index opened anew: another process has brought it up to date."""
        self._index, self._looked = None, False

    @property
    def indexes(self) -> "list[Index]":
        """The indexes that a reader joins: this repository's, then the user's own."""
        found = [self.index] if self.index else []
        path = os.path.join(user_repository(self.env), "gitmem", "index.db")
        if os.path.exists(path) and path != self.home.join("index.db"):
            from gitmem.index.reader import open_index

            user = open_index(path)
            found += [user] if user else []
        return found

    @property
    def own_addresses(self) -> "frozenset[str]":
        """The e-mail addresses of this user."""
        if self._own is None:
            from gitmem.repo.identity import own_addresses

            self._own = own_addresses(self.env, self.settings.every)
        return self._own

    @property
    def agents(self) -> "tuple[str, ...]":
        """The namespaces that this reader sees."""
        return tuple(dict.fromkeys(("global", self.namespace)))

    @property
    def namespace(self) -> str:
        """The reader's own namespace."""
        return str(self.env.get("GITMEM_AGENT") or self.settings.get("agent") or "global")

    @property
    def who(self) -> str:
        """The name of the agent.

        It is the agent's namespace, what it was started as, or else its CLI.
        """
        return self.namespace if self.namespace != "global" else self.event.role or self.event.agent

    # -- what was told

    def tell(
        self,
        rows: "Sequence[Row]",
        budget: int,
        lines: "Callable[[Row], str]",
        told: "Sequence[str]" = (),
    ) -> "list[str]":
        """Return the lines of the rows that are new to this context and fit.

        It is recorded that they were injected.

        `budget` is in tokens, of which the fence and what is `told` in this answer already take
        their part.
        """
        if not self.hears or not rows:
            return []  # and nothing is noted: else it would not be told where it is heard
        from gitmem.services.records.attribution import Shares, attributed, in_order

        shares = self._shares = self._shares or Shares()
        context = self.event.context
        room = budget - OVERHEAD // 4 - sum(map(tokens, told))
        length = LIMIT - OVERHEAD - sum(map(units, told))
        known = injections.injected(self.state, context)
        chosen: dict[str, tuple[str, str]] = {}
        own = self.own_addresses
        for row in in_order(rows, own):
            form = _form(row)
            if (
                row["id"] in chosen
                or known.get(row["id"]) == form
                or row.get("source") in self.loads
            ):
                continue
            line = shares.fitted(row, lines(attributed(row, own)), budget, own)
            if not line or tokens(line) > room or units(line) > length:
                continue
            room -= tokens(line)
            length -= units(line)
            chosen[row["id"]] = form, line
            shares.note(row, line, own)
        # hooks of one event run in parallel: only what this process was first to tell
        fresh = (
            injections.claim(self.state, context, [(id, form) for id, (form, _) in chosen.items()])
            if chosen
            else ()
        )
        return [chosen[id][1] for id in fresh]

    def heard(self, rows: "Sequence[Row]") -> None:
        """Note that rows are told to this context, in other words."""
        if rows and self.hears:
            injections.claim(
                self.state, self.event.context, [(row["id"], _form(row)) for row in rows]
            )

    def mend(self, error: sqlite.DatabaseError) -> None:
        """Have an index that turned out to be damaged built anew, for the next call.

        state.db heals itself.
        """
        if not is_damage(error):
            return
        for path in (
            self.home.join("index.db"),
            os.path.join(user_repository(self.env), "gitmem", "index.db"),
        ):
            for suffix in ("", "-wal", "-shm"):
                try:
                    os.unlink(path + suffix)
                except OSError:
                    continue
        self.drain("damage", sure=True)

    def spend(self, words: int, seconds: float) -> None:
        """Add this call to what the session's hooks cost; a busy database costs the count."""
        from gitmem.state import hook_costs

        try:
            hook_costs.add(self.state, self.event.session, self.event.name, words, seconds)
        except BUSY:
            pass

    # -- work for later

    def tips(self) -> "dict[str, str]":
        """Return the stores' commits as the refs have them now.

        Where a ref is broken, as the index has them.
        """
        pairs = (("shared", SHARED), ("private", PRIVATE))
        try:
            return {name: tip for name, ref in pairs if (tip := raw_ref(self.where.commondir, ref))}
        except External:  # nothing can follow it before it is repaired
            return self.index.tips() if self.index else {}

    def waiting(self) -> "Sequence[str]":
        """Return the names of the writes that wait in the journal."""
        try:
            return [
                name
                for name in os.listdir(self.home.join(journal.FOLDER))
                if name.endswith(".json")
            ]
        except OSError:
            return ()

    def is_current(self) -> bool:
        """Return whether everything that was written is in the index.

        Only files are checked: where a reftable's refs are, only git knows.
        """
        if self.waiting():
            return False
        return has_reftable(self.where.commondir) or self.tips() == (
            self.index.tips() if self.index else {}
        )

    def refresh(self, *, asks_git: bool = False) -> bool:
        """Bring the index up to date, as far as that is soon done.

        Say whether all that was written is in it.

        Who writes has the index follow. Left are refs that git or another program moved, an index
        that is gone, and writes that wait in the journal: those are for a drain. `asks_git` also
        where files cannot tell.
        """
        if not self.is_current() or (asks_git and has_reftable(self.where.commondir)):
            self._await_writer()
            if not self.is_current() or asks_git:
                from gitmem.index.quick_refresh import quick_refresh

                quick_refresh(self.where, self.home, self.env, REFRESH)
            self.look_again()
        return self.is_current()

    def _await_writer(self) -> None:
        """Wait a moment for a writer that moved its ref and is updating the index.

        This costs less than to load the code that indexes.
        """
        path = self.home.join(LOCK)
        until = time.monotonic() + FOLLOWING
        while is_locked_file(path) and time.monotonic() < until:
            time.sleep(0.005)
        self.look_again()

    def catch_up(self, *, insists: bool = False, sure: bool = False) -> None:
        """Start a drain when writes wait or the index is behind its refs; nobody waits for it.

        None is started when there was one a moment ago, lately for the same reason, unless the
        caller `insists`; `sure` starts one anyway.
        """
        if sure:
            self.drain("asked", sure=True)
        else:
            self._catch_up(sure=insists)

    def code_moved(self, patience: float) -> bool:
        """Have code that may have moved to another file searched for.

        This is done once for each commit that is checked out. Returns whether it was done in time.
        """
        key = code_state(self.where, self.tips())
        if not self.tree or not self.index or moved_code.searched(self.state, self.tree)[0] == key:
            return False
        pid = self.drain(f"moved {key}")
        return bool(pid) and wait(pid, patience)

    def _catch_up(self, *, sure: bool) -> None:
        waiting = self.waiting()
        if waiting:
            self.drain(f"journal {max(waiting)}", sure=sure)
            return
        tips = self.tips()
        if has_reftable(self.where.commondir):
            if sure:
                self.drain("reftable")  # only git can tell where the refs are
        elif tips != (self.index.tips() if self.index else {}):
            self.drain("stale " + " ".join(sorted(tips.values())), sure=sure)

    def drain(self, why: str, *, sure: bool = False) -> int:
        """Start a detached drain and return its process id, or 0.

        None is started if one was started a moment ago, or lately for the same reason.
        """
        if not drains.claim(self.state, why, self.now, DRAIN_GAP, RETRY_GAP, sure=sure):
            return 0
        pid = detach(["-C", self.where.worktree or self.where.gitdir, "drain"], self.env)
        try:
            drains.note_started(self.state, why, self.now, pid)
        except BUSY:
            pass  # busy: another one may be started too
        return pid


def _folder(cwd: str) -> str:
    return cwd if os.path.isabs(cwd) and "\0" not in cwd and os.path.isdir(cwd) else os.getcwd()


def masked(text: str) -> str:
    """Return a command without secrets.

    What stands for one is a single word, so that the rest still reads as a command.
    """
    if harmless(text):
        return text
    import re

    from gitmem.redaction.formats import MARKER
    from gitmem.redaction.mask import scrub

    found = scrub(text, quick=True)
    return re.sub(MARKER, lambda mark: mark[0].replace(": ", ":").replace(" ", "-"), found.text)


def known_masked(text: str) -> str:
    """Return as much of an output as is looked at, without secrets."""
    if len(text) <= SHORT and harmless(text):
        return text
    from gitmem.fingerprint.fingerprint import bounded
    from gitmem.redaction.mask import scrub

    return scrub(bounded(text), quick=True).text


def _form(row: "Row") -> str:
    """Return what changes when a record says something new; counting a gotcha's hits does not."""
    if row["kind"] != "gotcha":
        return str(row["oid"])
    return fingerprint(
        repr((row["title"], row["workaround"], row["severity"], bool(row.get("fix"))))
    )


def fingerprint(text: str) -> str:
    """Return what tells a text from another one, and nothing of what it says."""
    from binascii import crc32

    return f"{crc32(text.encode('utf-8', 'replace')):08x}"
