"""One store: read its records, write them by compare-and-swap.

A write is a list of operations (`store.operations`). Under a lock that the kernel frees when we
die, they
are applied to the tip's tree, committed, and the ref is moved from the tip that was read. When
somebody else moved it, everything is built again; when that does not end in time, the operations go
to the journal.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from gitmem.base.files import Lock
from gitmem.clock import LAST, Clock, seconds
from gitmem.errors import Busy, GitmemError, MissingObject, Moved, UserError
from gitmem.git.objects import Draft, Identity
from gitmem.repo.location import Home
from gitmem.store import journal
from gitmem.store.layout import FILE_LIMIT, PLAIN_LIMIT, in_record_folder
from gitmem.store.operations import Op, View, apply
from gitmem.store.reader import Reader
from gitmem.store.replica import replica
from gitmem.store.trailers import BOOKKEEPING

T = TypeVar("T")
PACK_EVERY = 32  # writes out of the journal, between two joinings of packs
BUDGET = 5.0  # seconds of trying before a write is left in the journal


class Message(NamedTuple):
    """A commit's subject and trailers."""

    subject: str
    op: str
    ids: tuple[str, ...] = ()
    agent: str = ""
    session: str = ""
    extra: tuple[tuple[str, str], ...] = ()

    def text(self, key: str = "") -> str:
        """Return the commit message."""
        rows = [("Gitmem-Op", self.op), *(("Gitmem-Id", i) for i in self.ids[:20])]
        rows += [
            ("Gitmem-Agent", self.agent),
            ("Gitmem-Session", self.session),
            *self.extra,
            ("Gitmem-Key", key),
        ]
        return (
            " ".join(self.subject.split())[:200]
            + "\n\n"
            + "".join(f"{k}: {' '.join(v.split())}\n" for k, v in rows if v)
        )


class Written(NamedTuple):
    """What became of a write: the commit, None when nothing had to change, or `journaled`.

    What a batch took is `journaled` too.
    """

    commit: str | None
    journaled: bool = False

    @property
    def changed(self) -> bool:
        """Whether something was written, also where it waits in the journal."""
        return self.commit is not None or self.journaled


class Notice(NamedTuple):
    """Something that happened in a store.

    It is a commit with its operation (`add`, `resolve`, `forget`, `capture`, ...) and the records
    that it is about.

    What is not a commit is told in the same form, without one: `track` (an error was counted),
    `inject` (gotchas were given to a task).
    """

    op: str
    ids: tuple[str, ...] = ()
    commit: str | None = None
    ref: str = ""
    facts: Mapping[str, Any] = MappingProxyType({})


class Usage(NamedTuple):
    """Read counts that go along with a commit; `committed` is called when they are in it."""

    ops: tuple[Op, ...] = ()
    committed: Callable[[], None] = lambda: None


@dataclass(slots=True, eq=False, repr=False)
class Batch:
    """Writes that become one commit; what is read meanwhile lacks them.

    Its message is that of the first write of the operation `leading`, with the ids of all.
    """

    leading: str
    writes: list[tuple[Sequence[Op], Message]] = field(default_factory=list)
    failed: list[Callable[[], object]] = field(default_factory=list)  # called if it is not made

    def message(self) -> Message:
        """Return the message of the commit."""
        messages = [message for _, message in self.writes]
        first = next((message for message in messages if message.op == self.leading), messages[0])
        ids = dict.fromkeys(id for message in (first, *messages) for id in message.ids)
        return first._replace(ids=tuple(ids))


@dataclass(slots=True, eq=False, repr=False)
class Store(Reader):
    """One ref with records. Reading never writes; a write is durable when it returns."""

    home: Home
    clock: Clock
    author: tuple[str, str]
    signer: Callable[[], Callable[[Any], str | None] | None] | None = None  # asked at each write
    after_write: Callable[[int], None] | None = (
        # told how many commits were made or taken in, outside the lock; 0: inside, of new packs
        # alone
        None
    )
    listener: Callable[[Notice], None] | None = None  # told of each commit, outside the lock
    # why this process must not touch git now (a receive quarantine): everything is journaled
    no_write: str = ""
    beside: Reader | None = None  # the store that comes first
    command: Callable[[], Sequence[tuple[str, str]]] = (
        # the trailers of the command that writes; asked before its commit is made
        tuple
    )
    usage: Callable[[], Usage] = Usage  # read counts that are due
    batch: Callable[[], Batch | None] = lambda: None  # takes what is written, for a later commit
    budget: float = BUDGET
    sleep: Callable[[float], None] = time.sleep
    _notices: list[Notice] = field(default_factory=list)

    def write(
        self, ops: Sequence[Op], message: Message, author: tuple[str, str] | None = None
    ) -> Written:
        """Apply operations as one commit.

        Raises UserError when one makes no sense, External on a full disk.

        Applied again from scratch whenever another writer was quicker. What does not get through
        within the budget waits in the journal, and is acknowledged all the same: it is on the disk.
        """
        batch = self.batch()
        if batch is not None and author is None:
            batch.writes.append((ops, message))
            return Written(None, journaled=True)
        key = self.clock.ulid()
        command = () if message.op in BOOKKEEPING else self.command()
        entry = {
            "key": key,
            "ref": self.ref,
            "since": self.tip(),
            "ops": list(ops),
            "author": list(author or self.author),
            "at": self.clock.stamp(),
            "subject": message.subject,
            "trailers": [
                message.op,
                list(message.ids),
                message.agent,
                message.session,
                [list(e) for e in (*message.extra, *command)],
            ],
        }
        if self.no_write:
            journal.add(self.home, entry)
            return Written(None, journaled=True)
        try:
            made = self._locked(entry)
        except (Busy, Moved):
            journal.add(self.home, entry)
            return Written(None, journaled=True)
        return Written(made)

    def drain(self) -> int:
        """Commit what waits in the journal; return how many entries were done. Raises Busy."""
        if self.no_write or journal.count(self.home) == 0:
            return 0
        self.home.make()
        with Lock(self.home.touch("write.lock"), self.budget, self.sleep):
            done = self._drain()
        self._tell(done)
        return done

    def create(self) -> str:
        """Make the store if it is not there; return its tip."""
        self.home.make()
        with Lock(self.home.touch("write.lock"), self.budget, self.sleep):
            tip, made = self._retry(self._ensure)
        if made and self.after_write:
            self.after_write(1)
        return tip

    def move(self, old: str | None, new: str, why: str) -> None:
        """Move the ref outside of a write (a merge, a fast-forward); raises Moved."""
        self.home.make()
        with Lock(self.home.touch("write.lock"), self.budget, self.sleep):
            self.objects.move(self.ref, old, new, f"gitmem: {why}")
        if self.after_write:
            self.after_write(1)

    def _locked(self, entry: dict[str, Any]) -> str | None:
        self.home.make()
        done = 0
        try:
            with Lock(self.home.touch("write.lock"), self.budget, self.sleep):
                done = self._drain()
                made = self._retry(lambda: self._commit(entry, ""))
                done += made is not None
        finally:
            self._tell(done)
        return made

    def _read_beside(self, path: str) -> bytes | None:
        return self.beside.read_file(path) if self.beside else None

    def _tell(self, done: int) -> None:
        notices, self._notices = self._notices, []
        if done and self.after_write:
            self.after_write(done)
        for notice in notices:
            self.say(notice)

    def say(self, notice: Notice) -> None:
        """Tell the listener, if there is one."""
        if self.listener:
            self.listener(notice)

    def _drain(self) -> int:
        done = 0
        for path, entry in journal.entries(self.home):
            self.tree()  # a store that cannot be read is not the entry's fault: it waits
            if entry is None:
                journal.set_aside(path)
                continue
            if entry["ref"] != self.ref:
                continue
            try:
                done += self._retry(lambda e=entry: self._commit(e, str(e["key"]))) is not None  # type: ignore[misc]
            except MissingObject:
                # what it changes is gone; it waits for what mends the store, and holds up no other
                continue
            except (UserError, LookupError, TypeError, ValueError, AttributeError):
                journal.set_aside(path)  # kept for doctor; one bad entry must not block the others
                continue
            journal.remove(path)
            if self.after_write and done % PACK_EVERY == PACK_EVERY - 1:
                self.after_write(0)  # each write is a pack: a long journal must not become as many
        return done

    def _applied(self, entry: dict[str, Any], tip: str) -> bool:
        """Say whether a commit up to `tip`, since the entry was made, carries its key."""
        since = entry.get("since")
        if tip == since:
            return False
        needle = f"\nGitmem-Key: {entry['key']}\n"
        hide = [since] if since and self._has_commit(since) else []
        for steps, commit in enumerate(self.objects.walk([tip], hide)):
            if needle in commit.message:
                return True
            if steps > 5000:
                break
        return False

    def _has_commit(self, oid: str) -> bool:
        try:
            self.objects.commit(oid)
        except GitmemError:
            return False
        return True

    def _retry(self, attempt: Callable[[], T]) -> T:
        deadline = time.monotonic() + self.budget
        pause = 0.001
        while True:
            try:
                return attempt()
            except Moved:
                if time.monotonic() > deadline:
                    raise
                import random  # few writes have to wait

                self.sleep(pause * (0.5 + random.random()))
                pause = min(pause * 2, 0.05)

    def _ensure(self) -> tuple[str, bool]:
        tip = self.tip()
        if tip is not None:
            return tip, False
        from gitmem.store.tree_merge import root_draft  # once in a store's life

        root = self.objects.write(root_draft())
        self.objects.move(self.ref, None, root, "gitmem: init")
        return root, True

    def _commit(self, entry: dict[str, Any], key: str) -> str | None:
        parent, _ = self._ensure()
        # asked of the very parent that is built on: git may outlive the drainer that started it,
        # and move the ref late
        if key and self._applied(entry, parent):
            return None
        tree = self.tree(parent)
        assert tree is not None

        view = View(
            lambda path: self._text_in(tree, path),
            lambda: replica(self.home, self.clock),
            self._read_beside,
            self._is_rejected,
        )
        for op in entry["ops"]:
            apply(op, view)
        if not view.edits:
            self._pass_on(entry, view.passed_on)
            return None
        usage = self.usage()
        for op in usage.ops:
            apply(op, view)
        op_name, ids, agent, session, extra = entry["trailers"]
        text = Message(
            entry["subject"], op_name, tuple(ids), agent, session, tuple((k, v) for k, v in extra)
        ).text(key)
        at = int(seconds(entry["at"]))
        # a hook does not know the user's name
        name, mail = entry["author"] if entry["author"][0] else self.author
        # git orders by the committer's time: never earlier than the parent's, whatever the clock
        # says. The author's is what people read
        ordered = max(at, min(self.objects.commit(parent).committer.time, LAST))
        made = self.objects.write(
            Draft(
                tree,
                dict(view.edits),
                (parent,),
                text,
                Identity(name, mail, at),
                Identity(name, mail, ordered),
            )
        )
        sign = self.signer() if self.signer else None
        if sign:
            made = self._signed(sign, made) or made
        self.objects.move(self.ref, parent, made, entry["subject"][:100])
        self._pass_on(entry, view.passed_on)
        usage.committed()
        self._notices.append(Notice(op_name, tuple(ids), made, self.ref))
        return made

    def _text_in(self, tree: str, path: str) -> bytes | None:
        """Return a file of a tree; of one that is too large, a text that names it."""
        entry = self.objects.find(tree, path)
        if entry is None or entry.is_tree:
            return None
        limit = FILE_LIMIT if in_record_folder(path) else PLAIN_LIMIT
        data = self.objects.read_small(entry.oid, limit)
        if data is not None:
            return data
        # damaged like any other: it can be removed, and what takes its place leaves its name in
        # the attic
        return b"A file that was too large to read: git cat-file blob %s\n" % entry.oid.encode()

    def _pass_on(self, entry: dict[str, Any], ops: Sequence[Op]) -> None:
        """Have the store that comes first apply operations: it has their records now.

        The entry keeps its key, so that it is applied once, whatever is killed between.
        """
        if ops and self.beside is not None:
            passed = {**entry, "ref": self.beside.ref, "since": None, "ops": list(ops)}
            journal.add(self.home, passed)

    def _is_rejected(self, title: str, pattern: str) -> bool:
        """Say whether an error was forgotten, in this store or the other one of the repository."""
        from gitmem.store.rejected import rejected_in  # the first capture of an error alone

        return rejected_in(self.objects).has_error(title, pattern)

    def _signed(self, sign: Callable[[Any], str | None], commit: str) -> str | None:
        signed = sign(self.objects.commit(commit))
        try:
            if signed:
                self.objects.adopt(signed)  # git's own commit-tree left it loose
        except MissingObject:  # and the user's git has thrown it away by now
            return None
        return signed
