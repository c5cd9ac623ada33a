"""What the server knows of one repository: its `App`, the gotchas of a file, settings, snoozes.

Used by the repository's threads only.

A state is the tips of the stores, what is snoozed, what work trees refute, and the settings; it has
a number.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gitmem.clock import Clock, stamp
from gitmem.errors import GitmemError
from gitmem.git.process import Git, check_owner
from gitmem.index.reader import sort_rows, unpack
from gitmem.records.kinds import LIVE
from gitmem.repo.location import Location, locate
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.services.gotchas.placement import MOVED_ROWS
from gitmem.settings_cache import sources
from gitmem.text.globs import glob_match
from gitmem_lsp.settings import DEFAULTS, KEYS, Options, from_git
from gitmem_lsp.workspace.tree_marks import TreeMarks, read_marks

if TYPE_CHECKING:
    from sqlite3 import Connection

    from gitmem.app import App
    from gitmem.codemap.anchors.tracker import Follower
    from gitmem.records.record import Record

Row = dict[str, Any]
HIDES = {"user": 0, "shared": 1, "private": 2}  # of one id in several stores the last is shown
FILES = 500  # paths that are asked for at once
PAST = 20  # resolved gotchas of a file that can be reopened from it
WIDE = 500  # gotchas with a pattern or a trigger that are looked at
RECENT = 300  # records, the newest, whose titles are looked at for what is half typed
AHEAD = 20_000  # gotchas that are read for files that were not opened yet
FOLLOWERS = 8  # work trees of one repository whose history is kept


@dataclass(frozen=True, slots=True)
class Rows:
    """The gotchas that may be about a file.

    These are open ones, those that a trigger may bring there, resolved and snoozed ones; among the
    open ones are memories that the code refutes. `version` names the state.
    """

    open: tuple[Row, ...] = ()
    triggered: tuple[Row, ...] = ()
    past: tuple[Row, ...] = ()
    snoozed: tuple[Row, ...] = ()
    version: int = -1


NO_ROWS = Rows()


class RepositoryView:
    """One repository's parts.

    Made on any thread, used on the repository's own; `follower` on the one that reads code.
    """

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.location = location
        self._env = env
        self._progress = progress
        self._opened: App | None = None
        self._seen: tuple[Any, ...] | None = None
        self._key: tuple[Any, ...] = ()
        self._globs: list[Row] = []
        self._triggered: list[Row] = []
        self.marks = TreeMarks({})
        self._refuted_memories: list[Row] = []
        self._followers: OrderedDict[str, Follower] = OrderedDict()
        self.heads = 0  # how often HEAD has moved
        self._head: tuple[Any, ...] = ()
        self._busy: Connection | None = None
        self._snoozed: dict[str, float] = {}
        self._config: tuple[Any, ...] = ()
        self._config_files: list[str] = []
        self._of_state: dict[Any, Any] = {}  # what was read of the present state
        self.version = 0
        self.until: float | None = None  # when the next snooze ends
        self.options: Options = DEFAULTS
        self.problems: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether the repository's parts are made."""
        return self._opened is not None

    @property
    def app(self) -> "App":
        """The repository's parts; raises GitmemError."""
        if self._opened is None:
            from gitmem.app import App  # the editor's first request need not wait for it

            check_owner(self.location, self.location.worktree or self.location.gitdir, self._env)
            # `auto` is libgit2, and git where libgit2 cannot open the repository: slower is better
            # than silent
            self._opened = App(
                self.location, self._env, Clock(), prefer="auto", progress=self._progress
            )
            self.configure()
        return self._opened

    def configure(self) -> None:
        """Read git's configuration anew."""
        assert self._opened is not None
        before = dict(self._config_state())
        self._opened.forget_settings()
        settings = self._opened.settings
        app = self._opened
        self._config_files = sources(app.home, app.location, app.env)
        # of before they were read, so that no change falls between the two
        self._config = tuple(
            (path, before.get(path, state)) for path, state in self._config_state()
        )
        keys = [key for _, key in KEYS.values()]
        self.options = from_git(
            {key: settings.get(key) for key in keys if f"gitmem.{key.lower()}" in settings.raw}
        )
        self.problems = tuple(settings.problems)

    def all_gotchas(self) -> Iterator[tuple[str, Callable[[], Rows]]]:
        """Yield each file that gotchas are about, and what unpacks them; none if there are many."""
        packed: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
        for scope, index in self.app.indexes():
            for path, gotchas in index.packed(AHEAD).items():
                packed.setdefault(path, []).extend((scope, row) for row in gotchas)
        for path, pairs in packed.items():
            yield path, partial(self._unpacked, path, pairs)

    def _unpacked(self, path: str, pairs: Sequence[tuple[str, tuple[Any, ...]]]) -> Rows:
        rows = unpack(row for _, row in pairs)
        for (scope, _), row in zip(pairs, rows, strict=True):
            row["store"] = scope or row["store"]
        sort_rows(rows, "severity")
        return self._arranged((path,), rows)

    def gotchas(self, paths: tuple[str, ...]) -> Rows:
        """Return the gotchas about a file by any of its paths.

        Those with a pattern that matches and those with triggers are included.
        """
        self.refresh()
        return self._arranged(paths, self._read(self.app, paths=paths))

    def memories(self, paths: tuple[str, ...]) -> list[Row]:
        """Return the memories that are anchored in a file by any of its paths."""
        wanted = {
            "kinds": ("memory",),
            "statuses": LIVE,
            "valid_at": self.app.clock.stamp(),
            "limit": WIDE,
        }
        rows = [
            row
            for row in (*self.app.rows(paths=paths, **wanted), *self.app.rows(globs=True, **wanted))
            if any(applies(anchor, paths) for anchor in row["anchors"])
        ]
        rows.sort(key=lambda row: HIDES.get(row["store"], 0))
        return list({row["id"]: row for row in rows}.values())

    def _arranged(self, paths: tuple[str, ...], anchored: Sequence[Row]) -> Rows:
        """Return the rows for a file, given those that are anchored in it."""
        apart = (*self._globs, *self._refuted_memories)
        matching = [
            row for row in apart if any(applies(anchor, paths) for anchor in row["anchors"])
        ]
        arranged = sorted([*anchored, *matching], key=lambda row: HIDES.get(row["store"], 0))
        rows = list({row["id"]: row for row in arranged}.values())
        live = tuple(row for row in rows if not row["resolved"] and row["id"] not in self._snoozed)
        past = sorted(
            (row for row in rows if row["resolved"]),
            key=lambda row: str(row["updated"]),
            reverse=True,
        )
        here = {row["id"] for row in live}
        snoozed = tuple(
            {**row, "snoozed_until": stamp(self._snoozed[row["id"]])}
            for row in rows
            if row["id"] in self._snoozed and not row["resolved"]
        )
        return Rows(
            live,
            tuple(row for row in self._triggered if row["id"] not in here),
            tuple(past[:PAST]),
            snoozed,
            self.version,
        )

    def refresh(self, *, anyway: bool = False) -> None:
        """Bring the state up to date.

        Nothing is read, unless it has to be done `anyway`, when no file has changed that the state
        is read from: that takes a few calls of stat.
        """
        app = self.app
        now = app.clock.now()
        seen = self._files_state()  # before they are read, so that no change falls between the two
        if seen == self._seen and not anyway and (self.until is None or now < self.until):
            return
        heads = tuple(
            _state(os.path.join(self.location.gitdir, name)) for name in ("HEAD", "logs/HEAD")
        )
        if heads != self._head:
            self._head, self.heads = heads, self.heads + 1
        snoozed = self.snoozed(now)
        marks = read_marks(app)
        if self._config != self._config_state():
            self.configure()
        key = (
            tuple((scope, *sorted(index.tips().items())) for scope, index in app.indexes()),
            tuple(sorted(snoozed.items())),
            marks.key,
            self._config,
        )
        if key != self._key:
            self._read_state(snoozed, marks)
            self._key = key
            self.version += 1
        self._seen = seen

    def _config_state(self) -> tuple[Any, ...]:
        return tuple((path, _state(path)) for path in self._config_files)

    def _files_state(self) -> tuple[Any, ...]:
        """Return what changes with a memory ref, HEAD, the snoozes or the settings."""
        common, gitdir = self.location.commondir, self.location.gitdir
        refs = (SHARED, "packed-refs", "reftable/tables.list")
        files = [
            *(os.path.join(common, name) for name in (*refs, PRIVATE, "HEAD")),
            *(os.path.join(common, "gitmem", name) for name in ("state.db", "state.db-wal")),
            *(os.path.join(gitdir, name) for name in ("HEAD", "logs/HEAD")),
            *self._config_files,
        ]
        if self.app.has_user():
            files += [os.path.join(self.app.user.location.commondir, name) for name in refs]
        return tuple(map(_state, files))

    def _read_state(self, snoozed: dict[str, float], marks: TreeMarks) -> None:
        """Read what is not read for each file anew."""
        self._snoozed, self.until = snoozed, min(snoozed.values(), default=None)
        self.marks = marks
        self._refuted_memories = self._read_refuted(self.app)
        self._globs = [
            row
            for row in self._read(self.app, globs=True, limit=WIDE)
            if any(isinstance(a.get("glob"), str) for a in row["anchors"])
        ]
        wide = self._read(self.app, resolved=False, triggered=True, limit=WIDE)
        self._triggered = [row for row in wide if not row["anchors"] and row["id"] not in snoozed]
        self._of_state.clear()

    def bases(self) -> tuple[int, dict[str, set[str]]]:
        """Return the version, and {path: blobs} that gotchas of this repository have places in.

        The blobs are as `Index.bases` has them.
        """
        out = self._of_state.get("bases")
        if out is None:
            out = self._of_state["bases"] = {}
            for scope, index in self.app.indexes():
                if scope != "user":
                    for path, blobs in index.bases().items():
                        out.setdefault(path, set()).update(blobs)
        return self.version, out

    def about(self, paths: frozenset[str]) -> list[Row]:
        """Return the worst of the gotchas that are about some files."""
        worst: list[Row] | None = self._of_state.get(paths)
        if worst is None:
            by_id: dict[str, Row] = {}
            names = sorted(paths)
            for start in range(0, len(names), FILES):
                part = names[start : start + FILES]
                rows = self.app.rows(
                    kinds=("gotcha",),
                    statuses=LIVE,
                    resolved=False,
                    order="severity",
                    paths=part,
                    limit=MOVED_ROWS,
                )
                by_id |= {row["id"]: row for row in rows if row["id"] not in self._snoozed}
            worst = list(by_id.values())
            sort_rows(worst, "severity")
            worst = self._of_state[paths] = worst[:MOVED_ROWS]
        return worst

    def again(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the present state of rows that came from other files.

        Those that are resolved, snoozed, anchored anew or gone are left out.
        """
        out = []
        for row in rows:
            fresh = self.named([row["id"]]).get(row["id"])
            live = (
                fresh
                and fresh["status"] in LIVE
                and not fresh["resolved"]
                and row["id"] not in self._snoozed
            )
            if fresh and live and row["came"] in fresh["anchors"]:
                out.append({**fresh, "anchors": row["anchors"], "came": row["came"]})
        return tuple(out)

    def snoozed(self, now: float) -> dict[str, float]:
        """Return {id: until} of what this user does not want to see.

        Nothing where that cannot be read.
        """
        try:
            return (
                self.app.state.snoozed(now)
                if os.path.exists(self.app.home.join("state.db"))
                else {}
            )
        except Exception:  # noqa: BLE001 - a read-only or damaged file: everything is shown
            return {}

    def _read(self, app: "App", **filters: Any) -> list[Row]:
        rows: list[Row] = app.rows(kinds=("gotcha",), statuses=LIVE, order="severity", **filters)
        return rows

    def _read_refuted(self, app: "App") -> list[Row]:
        """Return the memories that some work tree refutes: with an anchor, they are shown there."""
        ids = self.marks.ids
        if not ids:
            return []
        rows = app.rows(kinds=("memory",), statuses=LIVE, ids=ids, valid_at=app.clock.stamp())
        return [row for row in rows if self.marks.is_refuted(row)]

    def record(self, id: str, scope: str = "") -> "Record":
        """Return a record as it stands in a store; raises GitmemError."""
        return self.app.get(id, (scope,) if scope else ())[1].record

    def named(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the row of each text that names one record, by that text."""
        out: dict[str, Row] = {}
        for text in ids:
            try:
                id = self.app.find(text)
            except GitmemError:
                continue
            rows = [
                {**row, "store": prefix or row["store"]}
                for prefix, index in self.app.indexes()
                for row in index.get(id)
            ]
            if rows:
                out[text] = max(rows, key=lambda row: HIDES.get(row["store"], 0))
        return out

    def search(self, text: str, limit: int, kinds: Sequence[str] = ()) -> list[Row]:
        """Return the best matches of all stores, then new records with matching titles.

        Such a title has the words as far as they are typed.

        An empty text finds the newest. Its queries end early when its asker goes.
        """
        out: list[Row] = []
        late: list[Row] = []
        words = text.lower().split()
        for prefix, index in self.app.indexes():
            with self._interruptible(index.db):
                rows = index.search(text, limit=limit, kinds=kinds, snippets=False) if words else []
                recent = index.rows(
                    kinds=kinds, statuses=LIVE, order="updated", limit=RECENT if words else limit
                )
            out += [{**row, "store": prefix or row["store"]} for row in rows]
            late += [
                {**row, "store": prefix or row["store"]}
                for row in recent
                if all(word in str(row["title"]).lower() for word in words)
            ]
        return list({row["id"]: row for row in [*out, *late]}.values())[:limit]

    def beginning(self, text: str, kinds: Sequence[str], limit: int) -> list[Row]:
        """Return records of some kinds whose ids begin or end with a text."""
        ids = list(
            dict.fromkeys(
                id for _, index in self.app.indexes() for id in index.match_ids(text, limit)
            )
        )
        return [row for row in self.named(ids).values() if row["kind"] in kinds][:limit]

    @contextmanager
    def _interruptible(self, db: "Connection") -> Iterator[None]:
        self._busy = db
        try:
            yield
        finally:
            self._busy = None

    def interrupt(self) -> None:
        """End a running search. On any thread."""
        busy = self._busy
        if busy is not None:
            busy.interrupt()

    def close(self) -> None:
        """Release files and children."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    # -- on the thread that reads code

    def follower(self, worktree: str | None) -> "Follower":
        """Return what places anchors in a work tree."""
        key = worktree or ""
        if key not in self._followers:
            self._followers[key] = self.make_follower(worktree)
            if len(self._followers) > FOLLOWERS:
                self._followers.popitem(last=False)
        return self._followers[key]

    def make_follower(self, worktree: str | None) -> "Follower":
        """Return what finds code in a work tree, a new one."""
        from gitmem.codemap.anchors.tracker import Follower

        # to git a work tree is not a git dir
        gitdir = locate(worktree, {}).gitdir if worktree else self.location.commondir
        return Follower(Git(gitdir, self._env), worktree)


def applies(anchor: Mapping[str, Any], paths: Sequence[str]) -> bool:
    """Say whether an anchor is in a file that has these paths."""
    if isinstance(anchor.get("path"), str):
        return anchor["path"] in paths
    glob = anchor.get("glob")
    if not isinstance(glob, str):
        return False
    return any(glob_match(glob, path) for path in paths)


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        file_facts = os.stat(path)
    except OSError:
        return None
    return file_facts.st_ino, file_facts.st_mtime_ns, file_facts.st_size
