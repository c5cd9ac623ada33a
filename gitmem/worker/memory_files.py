"""Operations on agents' memory files, for `git mem native` and the work after a session.

This module gathers the parts, pulls, and writes what a push decides.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitmem.agents.prompt_text import clean
from gitmem.app import SCOPES, App
from gitmem.base.files import Lock
from gitmem.clock import seconds
from gitmem.errors import Busy, GitmemError, UserError
from gitmem.git.code_history import CodeHistory
from gitmem.git.line_authors import LineAuthors, operation
from gitmem.git.object_codec import object_id
from gitmem.git.process import Git, is_object_name
from gitmem.git.worktree import DIFF
from gitmem.install import file_changes
from gitmem.install.disk import Disk, make_private_folder
from gitmem.redaction.mask import scrub
from gitmem.repo.ignore import ignored
from gitmem.repo.location import ignore_text, storable
from gitmem.repo.refs import head
from gitmem.repo.worktree_files import WorkTreeFiles
from gitmem.services.lifecycle.score import FactScores
from gitmem.services.memory_files import managed_block, pull_plan
from gitmem.services.memory_files import pull as native_pull
from gitmem.services.memory_files import push as native_push
from gitmem.services.memory_files.discover import Finder, Memo, MemoryFiles, obstacle
from gitmem.services.memory_files.pull import PullContext, PullPlan
from gitmem.services.memory_files.push import Push, PushTarget
from gitmem.services.memory_files.record_line import Row, text_of
from gitmem.services.records import history
from gitmem.services.records.committers import is_accepted
from gitmem.store.layout import FILE_LIMIT, record_path
from gitmem.store.reader import Stored, load
from gitmem.store.store import Store
from gitmem.text.plural import counted

PATIENCE = 20.0  # seconds that one run waits for another
AGAIN = 5  # times that a file may change under our hands
FIELDS = (
    "store",
    "id",
    "kind",
    "type",
    "status",
    "agent",
    "origin",
    "title",
    "created",
    "updated",
    "importance",
    "severity",
    "resolved",
    "last_seen",
    "workaround",
    "anchors",
    "decay_rate",
    "done",
    "level",
    "unconfirmed",
    "oid",
    "path",
    "author",
    "committer",
    "vouchers",
)


class ChangedMeanwhile(Busy):
    """A file was written after it was read.

    What somebody put into its block meanwhile is to be taken first.
    """


@dataclass
class Run:
    """One look at the memory files of a work tree and at the stores.

    `taken` are the bytes from which blocks were taken into the store, by file.
    """

    app: App
    more: Sequence[str] = ()
    taken: dict[str, bytes] = field(default_factory=dict)
    problems: list[GitmemError] = field(default_factory=list)

    @cached_property
    def finder(self) -> Finder:
        """What finds the files; raises UserError where no agent can work."""
        app = self.app
        if app.location.worktree is None:
            raise UserError(
                "this repository is bare: agents have no memory files in it.",
                "Change to a work tree of it.",
            )
        if not app.env.get("HOME"):
            raise UserError("there is no HOME, where agents keep their memory files.", "Set HOME.")
        allow = app.settings.get("allowSecret")
        hides = ignored([ignore_text(app.location.worktree)], app.settings.get("ignore")).has
        return Finder(app.location, app.env, hides, lambda text: scrub(text, allow).text)

    @cached_property
    def files(self) -> MemoryFiles:
        """The files, as they are now."""
        return self.finder.find(self.more)

    @cached_property
    def rows(self) -> list[Row]:
        """The records of all stores."""
        return list(self.app.rows(fields=FIELDS))

    @cached_property
    def imported(self) -> list[native_pull.ImportedRecord]:
        """The records that came from files, read at once.

        One that is damaged is doctor's to tell of.
        """
        out = []
        for scope in SCOPES:
            wanted = {
                str(row["oid"]): row
                for row in self.rows
                if native_pull.came_from_file(row) and row["store"] == scope
            }
            if not wanted:
                continue
            for oid, data in self.app.store(scope).objects.read_many_small(wanted, FILE_LIMIT):
                stored = load(str(wanted[oid]["path"]), oid, data)
                if isinstance(stored, Stored) and isinstance(
                    stored.record.fields.get("source"), dict
                ):
                    out.append(native_pull.ImportedRecord(scope, stored.record))
        return sorted(out, key=lambda imported: (imported.record.id, imported.scope))

    @cached_property
    def world(self) -> PullContext:
        """What a plan looks at."""
        app = self.app
        git = Git(app.location.gitdir, app.env, timeout=20.0)
        commit = (
            head(app.location)
            or git.run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1, 128)).decode().strip()
        )

        def gone(name: str, tree: str) -> bool:
            path = self.finder.path_of(name, tree)
            if os.path.lexists(path):
                return False
            # a sparse checkout leaves files out that are there all the same
            return bool(tree) or name.startswith(("~", "/")) or not self._left_out(git, name)

        made: dict[str, Store] = {}

        def store(scope: str) -> Store:
            if scope not in made:
                made[scope] = app.store(scope)
            return made[scope]

        root = self.finder.root
        names = [f":(top,literal){memo.name}" for memo in self.files.memos if memo.tracked]
        where = (
            "-C",
            root,
            "--work-tree",
            root,
            *DIFF,
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--name-only",
            "-z",
            "HEAD",
            "--",
        )
        out = git.run(*where, *names, ok=(0, 128)) if names and commit else b""
        dirty = frozenset(storable(os.fsdecode(name)) for name in out.split(b"\0") if name)

        def blob(data: bytes) -> str:
            return object_id("blob", data, app.objects.traits.hash)

        authors = LineAuthors(
            CodeHistory(app.location, app.env),
            app.location.gitdir,
            app.location.commondir,
            app.own_addresses,
        )
        data_of = {memo.blamed: memo.data for memo in self.files.memos if memo.blamed}

        def author(memo: Memo, lines: Sequence[int]) -> str:
            author_names = authors.of_lines(memo.blamed, memo.data)
            if b"\r" in memo.data.replace(b"\r\n", b""):  # git counts its lines otherwise
                lines = range(1, len(author_names) + 1)
            return next(
                (
                    author_names[n - 1]
                    for n in lines
                    if 0 < n <= len(author_names) and author_names[n - 1]
                ),
                "",
            )

        def remover(name: str, since: str, key: str) -> str:
            return authors.of_removal(
                name,
                since,
                data_of.get(name, b""),
                lambda data: key in self.finder.keys_of(name, data),
            )

        return PullContext(
            app.writer(),
            store,
            self.rows,
            self.imported,
            clean,
            commit,
            lambda other: _holding(git, commit, other),
            gone,
            blob,
            dirty,
            author,
            remover,
            operation(app.location.gitdir),
        )

    def _left_out(self, git: Git, name: str) -> bool:
        out = git.run(
            "-C",
            self.finder.root,
            "--work-tree",
            self.finder.root,
            "ls-files",
            "-t",
            "-z",
            "--",
            f":(top,literal){name}",
            ok=(0, 128),
        )
        return out.startswith(b"S")

    def pull(self, *, dry: bool = False, blocks: bool = False) -> PullPlan:
        """Take what the files say into the store.

        With `blocks` only what was changed in blocks of ours. Some of it may wait in the journal.
        """
        plan = pull_plan.plan(self.files, self.world, blocks=blocks)
        self.taken = {os.path.realpath(memo.path): memo.data for memo in self.files.memos}
        if not dry and plan.writes and native_pull.apply(plan, self.world):
            plan.notes.append(
                "another process was writing. The lines that were read are in the journal, and "
                "the next git mem command commits them."
            )
        return plan

    # -- writing

    def targets(
        self, to: Sequence[str], *, held: bool = False, asked: bool = True
    ) -> list[PushTarget]:
        """Return the files to write, or to take the block out of.

        With `held`, where none is named, each that has one, tracked ones if `asked`.
        """
        own = self.files  # git lists before names are looked at
        ignored = self.app.worktree(self.finder.root).ignored(
            native_push.paths(self.finder, to) + [m.name for m in own.memos if m.within]
        )
        return native_push.targets(
            self.finder, own, to, dict.fromkeys(ignored, True), held=held, asked=asked
        )

    @cached_property
    def _disk(self) -> Disk:
        """The writer of files below the work tree.

        No link leads out of the work tree or into git's folder.
        """
        where = self.app.location
        return Disk(WorkTreeFiles(self.finder.root, (where.gitdir, where.commondir)))

    @cached_property
    def writer(self) -> native_push.BlockWriter:
        """What makes the blocks."""
        own = self.app.own_addresses
        accepted = {str(row["id"]) for row in self.rows if is_accepted(row, own)}
        return native_push.BlockWriter(
            self.files,
            self.rows,
            self._scores().of,
            self.imported,
            self.app.namespace,
            clean,
            accepted,
        )

    def _scores(self) -> FactScores:
        """Return the scores at the time of the store's newest change.

        So the same store gives the same order on any day.
        """
        scores = self.app.scores()
        newest = max((str(row["updated"] or row["created"]) for row in self.rows), default="")
        scores.now = seconds(newest) if newest else scores.now
        return scores

    def push(
        self,
        to: Sequence[str],
        *,
        dry: bool = False,
        remove: bool = False,
        held: bool = False,
        asked: bool = True,
    ) -> list[Push]:
        """Write the blocks.

        A file that cannot be written is a problem of its own, and the others are written.
        """
        out = []
        for target in self.targets(to, held=held or remove, asked=asked):
            try:
                out.append(self._push(target, dry=dry, remove=remove))
            except GitmemError as error:
                self.problems.append(error)
        return out

    def _push(self, target: PushTarget, *, dry: bool, remove: bool) -> Push:
        real = self._disk.real(target.path)
        for _ in range(AGAIN):
            data = file_changes.read(real)
            self._require_writable(target, real, data)
            push = self.writer.push(target, data, remove=remove)
            if not push.changes:
                return push
            unknown, reworded = (0, 0) if remove else self._newer(target, data or b"")
            if unknown or reworded:
                return _left(push, unknown, reworded)
            if dry:
                return push
            file_changes.check(real)
            if file_changes.read(real) == push.before:
                self._write(real, push.after)
                return push
        raise Busy(
            f"'{target.name}' changes all the time.",
            "Close the program that writes it, then run this again.",
        )

    def _require_writable(self, target: PushTarget, real: str, data: bytes | None) -> None:
        """Raise UserError for a file that must stay, ChangedMeanwhile for one that was edited."""
        why, hint = obstacle(data or b"")
        if why:
            raise UserError(f"'{target.name}' {why}: nothing is written into it.", hint)
        if data != self.taken.get(real, data):
            raise ChangedMeanwhile(
                f"'{target.name}' changes all the time.",
                "Close the program that writes it, then run this again.",
            )

    def _newer(self, target: PushTarget, data: bytes) -> tuple[int, int]:
        """Return how many records of a block this store lacks, and how many have newer words."""
        if not target.held:
            return 0, 0
        return len(self._foreign(data)), len(self._reworded(data)) if target.tracked else 0

    def _write(self, real: str, data: bytes) -> None:
        """Write a memory file; what agents keep below the user's home is the user's alone."""
        disk = self._disk
        mode = 0o666 if disk.is_in_tree(real) else 0o600
        folder = os.path.dirname(real)
        if disk.is_in_tree(folder):
            disk.make_folders(folder)
        else:
            make_private_folder(folder)
        disk.write(real, data, mode)

    def _foreign(self, data: bytes) -> set[str]:
        """Return the short ids in a file's block of records that no store has or had.

        If there are any, this clone is behind, and would take these records from the others.
        """
        ids = native_push.ids_in(data) - {managed_block.short(str(row["id"])) for row in self.rows}
        for scope in SCOPES:
            if ids:
                store = self.app.store(scope)
                ids = {id for id in ids if history.tombstone(store, id) is None}
                ids -= (
                    {managed_block.short(id) for id in history.removed_ids(store)} if ids else set()
                )
        return ids

    def _reworded(self, data: bytes) -> set[str]:
        """Return the short ids in a file's block whose words this store never had for them.

        The words are from a newer state of the store, in another clone.
        """
        rows = {
            managed_block.short(str(row["id"])): row
            for row in self.rows
            if row["store"] == "shared"
        }
        texts = {
            id: text
            for id, text in native_push.texts_in(data).items()
            if id in rows and text != text_of(rows[id], clean)
        }
        store = self.app.store("shared")
        ids = sorted(str(rows[id]["id"]) for id in texts)
        for step in history.log(store, ids) if ids else ():
            for _, id in step.changes:
                name = managed_block.short(id)
                if name in texts and texts[name] == _text_at(store, step.commit.tree, id):
                    del texts[name]
            if not texts:
                break
        return set(texts)


def _text_at(store: Store, tree: str, id: str) -> str | None:
    """Return what a block says of a record as a tree has it, None where it has none."""
    path = record_path(id)
    entry = store.objects.find(tree, path)
    stored = load(path, entry.oid, store.objects.read(entry.oid)) if entry else None
    return text_of(_row(stored), clean) if isinstance(stored, Stored) else None


def _row(stored: Stored) -> Row:
    record = stored.record
    return {
        "kind": record.kind,
        "title": record.title,
        "status": record.status,
        **{k: record.get(k) for k in ("type", "severity", "workaround")},
    }


def _left(push: Push, unknown: int, reworded: int) -> Push:
    """Return a push that leaves the file as it is: its block is from another state of the store."""
    notes = [
        f"its block has {count} record{'s' if count > 1 else ''} that this store never had{what}: "
        f"git mem sync gets what others have"
        for count, what in ((unknown, ""), (reworded, " in these words"))
        if count
    ]
    notes.append(f"to write the block all the same: git mem native push --to {push.target.name}")
    return replace(
        push,
        what="foreign",
        after=push.before or b"",
        notes=tuple(notes),
        unknown=unknown,
        reworded=reworded,
    )


def with_blocks(app: App) -> list[str]:
    """Return the memory files that have a block of ours, as they are called.

    None where there can be none.
    """
    try:
        return [memo.name for memo in Run(app).files.memos if native_push.has_block(memo.data)]
    except GitmemError:
        return []


@contextmanager
def alone(app: App) -> Iterator[None]:
    """Wait for another run in this repository: two would read the same line as new."""
    app.home.make()
    try:
        lock = Lock(app.home.touch("native.lock"), PATIENCE)
        lock.__enter__()
    except Busy as error:
        raise Busy(
            "another git mem process works on the memory files at the moment.",
            "Try again in a moment.",
        ) from error
    try:
        yield
    finally:
        lock.__exit__()


def pull(app: App, *, dry: bool = False) -> tuple[Run, PullPlan]:
    """Take what the memory files say into the store."""
    if dry:
        run = Run(app)
        return run, run.pull(dry=True)
    with alone(app):
        run = Run(app)
        return run, run.pull()


def pull_some(app: App, paths: Sequence[str], *, dry: bool = False) -> PullPlan:
    """Take what some files of the work tree say into the store, also files of no agent's."""
    names = {os.path.relpath(path, os.path.realpath(app.location.worktree or "")) for path in paths}

    def some(run: Run) -> PullPlan:
        plan = pull_plan.plan(run.files, run.world)
        plan.actions = [action for action in plan.actions if action.file in names]
        if not dry and plan.writes:
            native_pull.apply(plan, run.world)
        return plan

    if dry:
        return some(Run(app, paths))
    with alone(app):
        return some(Run(app, paths))


def push(
    app: App,
    to: Sequence[str],
    *,
    dry: bool = False,
    remove: bool = False,
    held: bool = False,
    asked: bool = True,
) -> tuple[Run, PullPlan, list[Push]]:
    """Write the blocks, or take them out, after taking what somebody changed in them.

    With `held` each that is there, tracked ones if `asked`.
    """
    return _both(app, to, dry=dry, blocks=True, remove=remove, held=held, asked=asked)


def sync(
    app: App, to: Sequence[str], *, dry: bool = False, asked: bool = True
) -> tuple[Run, PullPlan, list[Push]]:
    """Take what the files say, then write the blocks: without names each that is there too.

    In files that git tracks if somebody `asked`.
    """
    return _both(app, to, dry=dry, blocks=False, held=True, asked=asked)


def _both(
    app: App,
    to: Sequence[str],
    *,
    dry: bool,
    blocks: bool,
    remove: bool = False,
    held: bool = False,
    asked: bool = True,
) -> tuple[Run, PullPlan, list[Push]]:
    more = [
        os.path.realpath(os.path.expanduser(name))
        for name in to
        if os.sep in name or name.endswith(".md")
    ]
    if dry:
        first = Run(app, more)
        first.targets(to)  # a wrong name is told before anything else
        return (
            first,
            first.pull(dry=True, blocks=blocks),
            first.push(to, dry=True, remove=remove, held=held, asked=asked),
        )
    with alone(app):
        plan, pushes = PullPlan(), dict[str, Push]()
        for _ in range(AGAIN):
            first = Run(app, more)
            first.targets(to)
            pulled = first.pull(blocks=blocks)
            run = Run(app, more, first.taken) if pulled.writes else first
            pushes |= {
                push.target.path: push
                for push in run.push(to, remove=remove, held=held, asked=asked)
                if push.changes or push.target.path not in pushes
            }
            plan = PullPlan(
                [*plan.writes, *pulled.actions], list(dict.fromkeys([*plan.notes, *pulled.notes]))
            )
            if not any(isinstance(problem, ChangedMeanwhile) for problem in run.problems):
                break
        return run, plan, list(pushes.values())


def keep_in_step(app: App, how: str) -> list[str]:
    """Do what the setting `native` asks for at the start and end of a session.

    Return what was done, for the trace.

    No file that git tracks is written: nobody asked for a change of the work tree now.
    """
    done = []
    pushes: list[Push] = []
    if how == "pull":
        run, plan = pull(app)
    else:
        run, plan, pushes = (
            push(app, (), held=True, asked=False) if how == "push" else sync(app, (), asked=False)
        )
    if plan.writes:
        done.append(f"{counted(len(plan.writes), 'record')} pulled from memory files")
    done += [f"{push.target.name} written" for push in pushes if push.changes]
    done += [str(problem) for problem in run.problems]
    return done


def _holding(git: Git, commit: str, other: str) -> str:
    """Return whether a commit contains another one: `here`; `away` if a ref does, else `lost`."""
    if not is_object_name(other):
        return "lost"
    if not commit:
        return "away"
    code = git.call("merge-base", "--is-ancestor", other, commit, ok=(0, 1, 128))[0]
    if code != 1:
        return "away" if code else "here"
    refs = git.run(
        "for-each-ref",
        "--count=1",
        f"--contains={other}",
        "refs/heads",
        "refs/remotes",
        "refs/tags",
        ok=(0, 128, 129),
    )
    return "away" if refs.strip() else "lost"
