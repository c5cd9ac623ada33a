"""The one place that wires the parts.

The parts are a repository's stores, index and settings, each made on first use.

Edges (commands, hooks, the language server) hold an `App` and call services with what it gives
them.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from gitmem import config
from gitmem.base.detach import detach
from gitmem.base.git_guard import LIST
from gitmem.base.tolerated import BUSY
from gitmem.clock import Clock, stamp
from gitmem.errors import (
    Busy,
    External,
    GitmemError,
    Moved,
    NotARepository,
    RecordChanged,
    UnknownId,
    UserError,
)
from gitmem.git.process import Git, check_owner, child_env
from gitmem.index import joined
from gitmem.index.fresh import FreshIndex
from gitmem.index.reader import Index
from gitmem.repo import identity
from gitmem.repo.caller import BACKGROUND, agent_program
from gitmem.repo.location import (
    COMMITS,
    Location,
    ignore_text,
    locate,
    make_user_folder,
    user_repository,
)
from gitmem.repo.refs import PRIVATE, SHARED, has_reftable, raw_ref
from gitmem.repository import Repository
from gitmem.settings_cache import all_settings
from gitmem.state.database import NAME as STATE
from gitmem.state.database import State
from gitmem.store import journal
from gitmem.store.notices import Notices

# Parts are imported where they are first used: 'git mem list' on a fresh index needs none of them,
# and
# would pay 40 ms. This is the one module where that is the rule.
if TYPE_CHECKING:
    from gitmem.codemap.anchors.tracker import Follower
    from gitmem.codemap.graph.code_map import CodeMap
    from gitmem.git.code_history import CodeHistory
    from gitmem.git.commit_log import CodeCommit
    from gitmem.git.objects import Commit, Objects
    from gitmem.git.remote import Remote
    from gitmem.git.worktree import WorkTree
    from gitmem.llm.provider import Model
    from gitmem.repo.ignore import Ignored
    from gitmem.services.briefing.collect import FactOrder
    from gitmem.services.lifecycle.pairs import ContradictingFacts
    from gitmem.services.lifecycle.score import FactScores
    from gitmem.services.provenance.known import ProvenanceSources
    from gitmem.services.provenance.link import Linker
    from gitmem.services.records.write import Writer
    from gitmem.store.reader import Reader, Stored
    from gitmem.store.store import Batch, Notice, Store, Usage

SCOPES = ("shared", "private", "user")
REFS = (("shared", SHARED), ("private", PRIVATE))
PATIENCE = 0.5  # seconds that a reader waits for what the journal holds


class App(Repository):
    """One repository with its services. Close it, or use it as a context manager.

    Its state is in memory where the disk cannot be written, and its indexes follow the refs
    (`index`, `indexes`); what the base class says of the index on disk is for hooks.
    """

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        clock: Clock,
        prefer: str = "auto",
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        super().__init__(location, env)
        self.clock = clock
        self.progress = progress
        self._prefer = prefer
        self.git = Git(location.commondir, env)
        self.notices = Notices()
        self.fresh_index = FreshIndex(self.home, self._stores, progress)
        self.unsigned = False  # a commit that should have been signed could not be
        self.is_background = False  # a program works here, for nobody who looks on
        self._command = ""  # its ULID is made with its first write
        self.seen: Mapping[str, str] = {}  # blobs of records that the caller looked at, by id
        self._batches: dict[str, Batch] = {}

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release children, files and handles.

        Where agents have hooks, have the index follow what was written.
        """
        if "objects" in self.__dict__ and self.objects.written:  # by a merge, which tells nobody
            self._pack()
        behind = self.fresh_index.behind and os.path.isdir(self.home.join("sessions"))
        # a rebase that was given up has left commits to read
        if "GITMEM_BACKGROUND" not in self.env:
            behind = behind or os.path.exists(self.home.join(COMMITS))
        super().close()
        for name in ("objects", "user", "code_map"):
            part = self.__dict__.pop(name, None)
            if part is not None:
                part.close()
        self.fresh_index.close()
        if behind:
            try:
                detach(["-C", self.location.worktree or self.location.gitdir, "drain"], self.env)
            except OSError:
                pass  # a later reader refreshes it

    # -- settings and people

    def _load_settings(self) -> config.Settings:
        """Return all settings of git's; ours from the cache where no configuration changed."""
        return all_settings(self.home, self.location, self.env, self._ask_settings)

    def _ask_settings(self) -> config.Settings:
        # not the common dir: a linked worktree may have settings of its own
        git = Git(self.location.gitdir, self.env)
        given = config.command_settings(self.env)  # no other git call sees them
        return config.from_listing(git.run(*LIST, env=given))

    @cached_property
    def author(self) -> tuple[str, str]:
        """Name and e-mail of the writer: git's, else the account's; never an error."""
        return identity.author(self.env, self.settings.git)

    def writer(self, agent: str | None = None, session: str | None = None) -> "Writer":
        """Return who writes, for the services."""
        from gitmem.services.records.write import Writer

        return Writer(
            self.clock,
            self.author,
            agent or self.namespace,
            self.env.get("GITMEM_SESSION", "") if session is None else session,
            self.settings.get("allowSecret"),
            self.caller[0],
        )

    def store_of_facts(self, who: "Writer") -> str:
        """Return the scope of the store that gets a fact if the user names none."""
        from gitmem.services.facts import stores

        return stores.scope_of_new(who, shares=self.settings.get("share") != "people")

    @property
    def caller(self) -> tuple[str, str]:
        """The program that runs here, '' for a person; and the session that it runs in."""
        program = BACKGROUND if self.is_background else agent_program(self.env)
        return program, self.env.get("GITMEM_SESSION", "")

    def begin_command(self) -> None:
        """Have what is written from now on belong to another command."""
        self._command = ""

    @property
    def command_id(self) -> str:
        """The ULID of the command that runs; empty as long as it has written nothing."""
        return self._command

    def _command_trailers(self) -> Sequence[tuple[str, str]]:
        """Return the trailers of the command that writes; list it before its first write."""
        from gitmem.store.trailers import command_trailers

        program, session = self.caller
        if not self._command:
            from gitmem.state import commands

            now = self.clock.now()
            self._command = self.clock.ulid()
            command = commands.ListedCommand(self._command, program, session, now)
            try:
                if not self.is_background:
                    commands.note(self.state, command)
            except BUSY:
                pass  # its commits name it all the same
        return command_trailers(self._command, program)

    def model(self) -> "Model | None":
        """Return the model that the settings ask for, None for `offline`.

        One that lacks its key says so at each question (`ModelFailed`).
        """
        if self.settings.get("summariser") == "offline":
            return None
        from gitmem.llm.select import choose

        return choose(self.settings, self.env)

    # -- the code

    @property
    def project(self) -> str:
        """What this project is called: by its remote, else by its folder."""
        remotes = self.remotes()
        url = remotes.get("origin") or (next(iter(remotes.values())) if len(remotes) == 1 else "")
        name = (
            url.rstrip("/")
            .removesuffix(".git")
            .replace("\\", "/")
            .rpartition("/")[2]
            .rpartition(":")[2]
        )
        folder = self.location.commondir.rstrip("/").removesuffix("/.git").removesuffix(".git")
        return name or os.path.basename(folder) or "project"

    @cached_property
    def code_history(self) -> "CodeHistory":
        """What git's history says of the code."""
        from gitmem.git.code_history import CodeHistory

        return CodeHistory(self.location, self.env)

    @cached_property
    def code_map(self) -> "CodeMap":
        """What is known of the code: definitions, imports, who uses what."""
        return self.open_code_map()

    def open_code_map(self) -> "CodeMap":
        """Return what is known of the code, for whoever has a thread of its own: it closes it."""
        import hashlib

        from gitmem.codemap.graph.code_map import CodeMap
        from gitmem.git.code_trees import CodeTrees

        root = str(self.location.worktree) if self.location.worktree else None
        hidden = self.hidden(root)
        salt = (
            hashlib.sha256(
                f"{ignore_text(root)} {self.settings.get('ignore')}".encode()
            ).hexdigest()
            if hidden
            else ""
        )
        try:
            folder = self.home.make()
        except External:  # a read-only disk: what is read is kept for this process
            folder = self.home.path
        return CodeMap(CodeTrees(self.location, self.env), folder, self.env, hidden.has, salt)

    def commits_of_user(self, oids: "Iterable[str]") -> set[str]:
        """Return those of some commits that this user authored and committed."""
        from gitmem.git.commit_messages import CommitMessages

        messages = CommitMessages(self.location, self.env).read(oids)
        return {commit.oid for commit in messages if commit.is_by(self.own_addresses)}

    def commits_of_others(self, commits: "Iterable[CodeCommit]") -> set[str]:
        """Return those of the commits whose author is neither this user nor the committer.

        They are patches that were taken over.
        """
        from gitmem.git.commit_messages import CommitMessages

        some = [
            commit.oid
            for commit in commits
            if not identity.made_by(self.own_addresses, commit.mail)
        ]
        messages = CommitMessages(self.location, self.env).read(some) if some else ()
        return {
            commit.oid
            for commit in messages
            if identity.fold(commit.author.mail) != identity.fold(commit.committer.mail)
        }

    def linker(
        self,
        noted: "Mapping[str, str] | None" = None,
        rewritten: "Mapping[str, Sequence[str]] | None" = None,
    ) -> "Linker":
        """Return what finds out which sessions made commits of the code.

        What hooks of git have noted helps it.
        """
        from gitmem.services.provenance.link import Linker
        from gitmem.services.session_log import reader

        root = str(self.location.worktree) if self.location.worktree else None
        return Linker(
            self.code_history,
            self.state,
            lambda session: reader.rows(self.home, session),
            self.commits_of_user,
            self.commits_of_others,
            self.untold(root),
            noted or {},
            rewritten or {},
        )

    def provenance(self) -> "ProvenanceSources":
        """Return what tells why code is as it is."""
        from gitmem.services.provenance.known import ProvenanceSources
        from gitmem.services.session_log import reader

        return ProvenanceSources(
            self.code_history,
            self.state,
            self.linker,
            self.indexes(),
            lambda name: self.get(name)[1].record,
            lambda session: reader.rows(self.home, session),
        )

    # -- stores

    @cached_property
    def objects(self) -> "Objects":
        """Git's objects."""
        from gitmem.git.backend import open_objects

        return open_objects(self.location, self.env, self._prefer)

    @cached_property
    def follower(self) -> "Follower":
        """What finds anchors again in the code of this work tree."""
        from gitmem.codemap.anchors.tracker import Follower

        return Follower(Git(self.location.gitdir, self.env), self.location.worktree)

    def store(self, scope: str = "shared") -> "Store":
        """Return a store by scope: shared, private or user."""
        from gitmem.store.reader import Reader
        from gitmem.store.store import Store

        if scope == "user":
            store = self.user.store("shared")
            store.command = self._command_trailers  # one command may write to all stores
            store.author = self.author  # as this repository names the user
            return store
        ref = SHARED if scope == "shared" else PRIVATE
        quarantine = "git is receiving objects" if self.env.get("GIT_QUARANTINE_PATH") else ""
        return Store(
            self.objects,
            ref,
            self.home,
            self.clock,
            self.author,
            self._signer,
            self._after_write,
            self.notices.notify,
            quarantine,
            None if scope == "shared" else Reader(self.objects, SHARED),
            self._command_trailers,
            partial(self._due_reads, scope),
            partial(self._batches.get, scope),
        )

    def reader(self, scope: str = "shared") -> "Reader":
        """Return a store by scope for reading alone, which loads less than `store`."""
        from gitmem.store.reader import Reader

        if scope == "user":
            return self.user.reader("shared")
        return Reader(self.objects, SHARED if scope == "shared" else PRIVATE)

    @contextmanager
    def single_commit(self, leading: str, scope: str = "private") -> Iterator[None]:
        """Make one commit of what is written to a store meanwhile, also where that fails half-way.

        Its message is that of the first write of the operation `leading`.
        """
        from gitmem.store.store import Batch

        self._batches[scope] = batch = Batch(leading)
        try:
            yield
        finally:
            del self._batches[scope]
            if batch.writes:
                todo = [op for ops, _ in batch.writes for op in ops]
                try:
                    self.store(scope).write(todo, batch.message())
                except BaseException:
                    for undo in batch.failed:
                        undo()
                    raise

    def subscribe(self, listener: "Callable[[Notice], None]") -> Callable[[], None]:
        """Have a function called for each thing that this process does to the stores.

        Return what ends that. `git mem log` tells of other processes.
        """
        return self.notices.subscribe(listener)

    def notify(self, notice: "Notice") -> None:
        """Tell those who subscribed."""
        self.notices.notify(notice)

    def _signer(self) -> "Callable[[Commit], str | None] | None":
        """Return what signs commits, None when they are not to be signed; git is asked for it."""
        return self._sign if self.settings.get("sign") else None

    def _sign(self, commit: "Commit") -> str | None:
        from gitmem.git.backend import sign

        signed = sign(self.git, commit)
        self.unsigned = self.unsigned or signed is None
        return signed

    def _after_write(self, commits: int) -> None:
        """Have the index follow before the write is acknowledged, and join packs."""
        if commits:
            self.fresh_index.follow()
        self._pack()

    def _pack(self) -> None:
        from gitmem.store import repack

        written, self.objects.written = self.objects.written, 0
        repack.after_write(self.git, self.home, written)

    @cached_property
    def user(self) -> "App":
        """The user's own repository of memories that hold in every project; made on first use."""
        path = user_repository(self.env)
        if not os.path.isdir(os.path.join(path, "objects")):
            make_user_folder(self.env)
            Git(path, self.env).run("init", "-q", "--bare", path)
        env = {
            k: v
            for k, v in self.env.items()
            if k not in {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}
        }
        return App(Location(path, path, None), env, self.clock, self._prefer, self.progress)

    def has_user(self) -> bool:
        """Say whether the user's store exists (reading must not make it)."""
        return user_store(self.env)

    def is_user_store(self) -> bool:
        """Say whether this is the user's own repository."""
        return (
            os.path.basename(self.location.commondir) == "user.git"
            and os.path.basename(os.path.dirname(self.location.commondir)) == "gitmem"
        )

    # -- reading

    def settle(self) -> None:
        """Commit what waits in the journal, if that can be done now."""
        if journal.count(self.home):
            # what became shared meanwhile is passed on by the private store
            for scope in ("private", "shared"):
                store = self.store(scope)
                store.budget = PATIENCE
                try:
                    store.drain()
                except (Busy, Moved, External):
                    continue  # it stays in the journal, for the next command

    def move_facts(self) -> int:
        """Bring each fact into the store that it belongs to; return how many are shared now.

        What a person confirmed leaves the private store, and so do proposals that are shared. It is
        no command of whoever waits for it.
        """
        from gitmem.services.facts import stores

        index = self.index()
        confirmed, copies = stores.to_share(index), index.hidden()
        if not confirmed and not copies:
            return 0
        private, shared = self.store("private"), self.store("shared")
        with self.in_background():
            who = self.writer()
            moved = stores.share_confirmed(private, shared, who, confirmed)
            stores.join_copies(private, shared, who, copies, self.replica())
        return moved

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Have what is written meanwhile belong to no command of the caller."""
        before = self.is_background, self._command
        self.is_background, self._command = True, ""
        try:
            yield
        finally:
            self.is_background, self._command = before

    def conclude(self) -> int:
        """Draw what conclusions wait about commands that failed and came to pass.

        Return how many gotchas changed.
        """
        from gitmem.services.gotchas import outcomes

        def find(pattern: str) -> "list[tuple[Store, str]]":
            return [
                (self.store(row["store"]), row["id"])
                for row in self.index().by_patterns([pattern])
                if row["store"] in {"shared", "private"} and row["kind"] == "gotcha"
            ]

        home = os.path.realpath(self.env.get("HOME") or "/nowhere")
        return len(
            outcomes.settle(
                self.state,
                self.writer(),
                find,
                self.worktree,
                lambda: journal.count(self.home) > 0,
                home,
            )
        )

    def tell_hits(self, until: float) -> int:
        """Write the hits of known errors that were met before a time; return how many errors."""
        from gitmem.services.gotchas import hits

        if not self.settings.get("capture"):
            return 0
        index = self.index()
        return hits.tell(
            self.store,
            self.state,
            lambda name, pattern: [*index.get(name), *index.by_patterns([pattern])],
            until,
        )

    def worktree(self, root: str) -> "WorkTree":
        """Return the work tree of a folder, this repository's where it is there no more.

        What is not to be stored is hidden in it.
        """
        from gitmem.git.worktree import WorkTree

        try:
            where = locate(root, {}) if os.path.isdir(root) else self.location
        except GitmemError:  # a folder in the place of one that was a work tree
            where = self.location
        return WorkTree(
            where, self.env, hides=self.hidden(where.worktree).has, own=self.own_addresses
        )

    def hidden(self, root: "str | None") -> "Ignored":
        """Return what of a work tree is never stored."""
        from gitmem.repo.ignore import ignored

        return ignored([ignore_text(root)], self.settings.get("ignore"))

    def index(self) -> Index:
        """Return the index, fresh: refreshed by tree diff if a ref has moved."""
        self.settle()
        index = self.fresh_index.at({name: tip for name, ref in REFS if (tip := self._tip(ref))})
        index.out_of_date = self.out_of_date
        return index

    def untold(self, root: "str | None") -> Callable[[str], bool]:
        """Return a function that tells whether nothing is stored about a path.

        This is the case when the path is hidden or its name contains a secret.
        """
        from gitmem.redaction.formats import harmless

        hidden = self.hidden(root)

        def is_untold(path: str) -> bool:
            if hidden.has(path) or harmless(path):
                return hidden.has(path)
            from gitmem.redaction.mask import scrub

            return scrub(path, is_name=True).text != path

        return is_untold

    @property
    def stale(self) -> bool:
        """Whether the data that was read may lack the newest records.

        This happens when another process was indexing.
        """
        return self.fresh_index.stale

    def _stores(self) -> "dict[str, Store]":
        return {name: self.store(name) for name, _ in REFS}

    def _tip(self, ref: str) -> str | None:
        # a broken ref raises: taking it for an empty or older store would drop from the index the
        # place that knows where it was
        raw = raw_ref(self.location.commondir, ref)
        return (
            raw
            if raw is not None
            else self.objects.tip(ref)
            if has_reftable(self.location.commondir)
            else None
        )

    def indexes(self, scopes: Sequence[str] = ()) -> list[tuple[str, Index]]:
        """Return (scope prefix, index) of every store that a reader joins.

        This repository's store comes first, then the user's.
        """
        if self.is_user_store():
            return [("user", self.index())]
        out = [("", self.index())]
        if self.has_user() and (not scopes or "user" in scopes):
            out.append(("user", self.user.index()))
        return out

    def rows(self, **filters: Any) -> list[dict[str, Any]]:
        """Return list rows of all stores joined; `scopes` names which."""
        return joined.rows(self.indexes(filters.get("scopes", ())), **filters)

    def search(self, text: str, limit: int, **filters: Any) -> list[dict[str, Any]]:
        """Return the best matches of all stores joined, best first."""
        return joined.search(self.indexes(filters.get("scopes", ())), text, limit, **filters)

    def find(self, text: str) -> str:
        """Return the full id that a text names.

        The text is an id or a unique part of it, as `joined.find_id` reads it. Raises UnknownId.
        """
        from gitmem.records.record import kind_of

        low = text.strip().lower()
        if kind_of(low):
            return low
        try:
            return joined.find_id(self.indexes(), text)
        except UnknownId as error:
            raise self._unknown(text, error) from None

    def get(self, text: str, scopes: Sequence[str] = ()) -> "tuple[str, Stored]":
        """Return (scope, record) by an id as the user types it.

        The private store hides the shared one, unless it has no more than a proposal of the fact;
        the user's own store comes last. Raises RecordChanged for one that is not as it was `seen`,
        until the command writes.
        """
        id = self.find(text)
        last = UnknownId(f"no record has the id {id}.", "List what there is with: git mem list")
        for scope in scopes or (*self._first_scopes(id), "user"):
            if scope == "user" and (not self.has_user() or self.is_user_store()):
                continue
            try:
                stored = self.reader(scope).get(id)
            except UnknownId as error:
                last = error
                continue
            self._require_seen(stored)
            return scope, stored
        raise self._unknown(id, last) from None

    def _require_seen(self, stored: "Stored") -> None:
        id = stored.record.id
        if not self._command and self.seen.get(id, stored.oid) != stored.oid:
            raise RecordChanged(
                f"{id} changed meanwhile: it is not what you saw.",
                "Nothing was done. Look at it again, then decide.",
            )

    def _unknown(self, text: str, error: UnknownId) -> UnknownId:
        """Return why no record has an id: it was forgotten, or its store was not fetched yet."""
        from gitmem.services.records import history

        stores = [self.store(scope) for scope, _ in REFS]
        if self.has_user() and not self.is_user_store():
            stores.append(self.user.store())
        for mark in (history.tombstone(store, text) for store in stores):
            if mark is not None:
                return history.forgotten(mark)
        return UnknownId(str(error), self.unfetched_hint() or error.hint)

    def _first_scopes(self, id: str) -> tuple[str, str]:
        try:
            is_proposal = self.reader("private").get(id).record.unconfirmed
        except GitmemError:
            is_proposal = False
        return ("shared", "private") if is_proposal else ("private", "shared")

    # -- what is counted

    def _open_state(self) -> State:
        """Open the working state; in memory where the disk cannot be written."""
        return State(self.home)

    def count_reads(self, scope: str, ids: Sequence[str], at: float | None = None) -> None:
        """Count reads locally, now or at a time; a later write takes them along.

        Never an error: a count must not cost a read.
        """
        app, name = (self.user, "shared") if scope == "user" else (self, scope)
        try:
            app.state.add_reads(name, ids, stamp(app.clock.now() if at is None else at))
        except Exception:  # noqa: BLE001 - see above
            return

    def _due_reads(self, scope: str) -> "Usage":
        from gitmem.services.records.read_counts import due
        from gitmem.store.store import Usage

        if not os.path.exists(self.home.join(STATE)):  # nothing was read yet
            return Usage()
        return due(self.state, scope, self.replica, self.clock.now())

    def scores(self, ids: Sequence[str] | None = None) -> "FactScores":
        """Return what tells the scores of facts now: of some, or of any."""
        from gitmem.services.lifecycle.score import FactScores

        apps = [self, self.user] if self.has_user() and not self.is_user_store() else [self]
        indexes = [index for _, index in self.indexes()]
        return FactScores(
            indexes,
            lambda: [app.state for app in apps],
            self.clock.now(),
            lambda: self.contradicting().refuted,
            ids,
        )

    def fact_order(self, agents: Sequence[str], now: float | None = None) -> "FactOrder":
        """Return the order in which these agents are told facts, now or at a time; none: all."""
        from gitmem.services.briefing.collect import FactOrder

        scores = self.scores()
        scores.now = scores.now if now is None else now
        return FactOrder(scores.of, self.contradicting(agents).arranged, scores.read_last())

    def contradicting(self, agents: Sequence[str] = ()) -> "ContradictingFacts":
        """Return the facts that contradict each other, of what these agents see; none: all."""
        from gitmem.services.lifecycle.pairs import ContradictingFacts

        indexes = [index for _, index in self.indexes()]
        return ContradictingFacts(indexes, self.state, agents, self.clock.stamp())

    def replica(self) -> str:
        """Return this clone's random id, made on first use."""
        from gitmem.store.replica import replica

        return replica(self.home, self.clock)

    # -- remotes

    def remotes(self) -> dict[str, str]:
        """Return the configured remotes with their URLs."""
        from gitmem.git.remote import urls

        return urls(self.settings.raw)

    @property
    def main_remote(self) -> str:
        """The remote that is enabled for memory, else `origin`, else the first; '' without any."""
        remotes = self.remotes()
        first = "origin" if "origin" in remotes else next(iter(remotes), "")
        return str(self.settings.get("remote") or first)

    def unfetched_hint(self) -> str:
        """Return how to fetch a remote's memory, if the shared store is empty and never was synced.

        Nobody asks the remote whether it has any.
        """
        if self.index().rows(stores=("shared",), limit=1, fields=("id",)):
            return ""
        from gitmem.store.sync import tracking_ref

        name = self.main_remote
        if not name or self.objects.tip(tracking_ref(name)) is not None:
            return ""
        return f"{name} may have memory that was not fetched yet: git mem sync {name}"

    def remote(self, name: str, ref: str = "") -> "Remote":
        """Return a remote for an exchange."""
        from gitmem.git.remote import Remote, is_partial, ssh_command

        chosen = (
            ref
            or (self.settings.get("remoteRef") if name == self.settings.get("remote") else "")
            or SHARED
        )
        return Remote(
            self.git,
            name,
            chosen,
            self.env,
            ssh=ssh_command(self.env, self.settings.git),
            partial=is_partial(self.settings.raw),
        )


def user_store(env: Mapping[str, str]) -> bool:
    """Say whether the user's own store exists (reading must not make it)."""
    return os.path.isdir(os.path.join(user_repository(env), "objects"))


def open_app(
    start: str,
    env: Mapping[str, str],
    clock: Clock | None = None,
    prefer: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> App:
    """Open the repository of a folder; raises NotARepository, UntrustedRepository.

    `prefer="git"` suits a process that ends after one operation, `"libgit2"` one that stays.
    """
    location = locate(start, env)
    check_owner(location, start, env)
    return App(location, env, clock or Clock(), prefer, progress)


def open_user(env: Mapping[str, str], clock: Clock | None = None, prefer: str = "auto") -> App:
    """Open the user's own store, wherever one is."""
    nowhere = Location("/", "/", None)
    app = App(nowhere, child_env(env), clock or Clock(), prefer)
    if not (env.get("XDG_DATA_HOME") or env.get("HOME")):
        raise UserError(
            "there is no HOME to keep the user's store in.", "Set HOME or XDG_DATA_HOME."
        )
    return app.user


__all__ = ["SCOPES", "App", "NotARepository", "open_app", "open_user"]
