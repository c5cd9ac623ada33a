"""Bring back the files and the index of a snapshot.

What is on disk now has been saved first, as a snapshot of its own, so the plan is the difference of
two trees. A plan is noted before the first file is touched and its note removed after the last: a
restore that was killed can be run again, or undone by restoring the one that was saved first.
"""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from gitmem.base.files import write_atomic
from gitmem.errors import External, GitFailed, UserError
from gitmem.git.objects import EXEC, LINK, Objects, TreeEntry
from gitmem.git.work_state import ABSENT, Work
from gitmem.repo.location import RESTORING, Home
from gitmem.repo.path_rules import named
from gitmem.repo.worktree_files import PathRefused, WorkTreeFiles
from gitmem.services.snapshots.plan import RestorePlan, permissions, usual_mode
from gitmem.services.snapshots.saved import SavedSnapshot, within
from gitmem.text.plural import counted

FLAGS = (
    ("S", "--skip-worktree", "--no-skip-worktree"),
    ("h", "--assume-unchanged", "--no-assume-unchanged"),
)
ATTRIBUTES = ".gitattributes"


@dataclass(frozen=True, slots=True)
class RestoreNote:
    """A restore in progress.

    It has what is restored, what was saved before, the work tree, and the paths asked for.
    """

    target: str
    safety: str
    root: str
    paths: tuple[str, ...] = ()


def note_of(home: Home) -> RestoreNote | None:
    """Return the restore that was stopped before its end, if there is one."""
    try:
        with open(home.join(RESTORING), encoding="utf-8") as file:
            loaded = json.load(file)
        paths = tuple(map(str, loaded["paths"]))
        return RestoreNote(str(loaded["target"]), str(loaded["safety"]), str(loaded["root"]), paths)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def carry_out(
    work: Work,
    objects: Objects,
    home: Home,
    plan: RestorePlan,
    then: SavedSnapshot,
    note: RestoreNote,
    *,
    force: bool = False,
) -> None:
    """Do what a plan says, files first, then the index.

    Raises UserError for files in the way unless `force`, External, Busy.
    """
    if plan.blocked and not force:
        raise UserError(
            f"nothing was changed: {counted(len(plan.blocked), 'file')} that no snapshot and no "
            f"commit has would be overwritten: {named(plan.blocked)}.",
            "Move them away, name other paths, or give --force.",
        )
    work.check_index_is_free()
    home.make()
    facts = {
        "target": note.target,
        "safety": note.safety,
        "root": note.root,
        "paths": list(note.paths),
    }
    write_atomic(home.join(RESTORING), json.dumps(facts).encode(), shared=home.shared)
    index = ""
    try:
        index = work.scratch_index()
        _stage(work, index, plan, then, note.paths)
        _Files(work, objects, index, plan, then).bring_back()
        work.run("update-index", "-q", "--refresh", index=index, ok=(0, 1))
        work.install_index(index)
    except (GitFailed, PathRefused, OSError) as error:
        raise External(
            f"the restore stopped on its way: {error}",
            f"Run it again to end it, or take it back: git mem snapshot restore {note.safety[-8:]} "
            f"--worktree",
        ) from error
    finally:
        if index:
            work.drop(index)
    with suppress(FileNotFoundError):
        os.unlink(home.join(RESTORING))


def _stage(
    work: Work, index: str, plan: RestorePlan, then: SavedSnapshot, paths: Sequence[str]
) -> None:
    """Bring a copy of the index to the state of the snapshot.

    This covers entries, the sides of conflicts, and flags.
    """
    zero = "0" * len(then.oid)
    rows = []
    for path, entry in plan.stage.items():
        rows.append(f"{ABSENT} {zero}\t{path}")  # all stages go
        if path in then.state.unmerged:
            for number, (mode, oid) in enumerate(then.state.unmerged[path], 1):
                if mode != ABSENT:
                    rows.append(f"{mode} {oid} {number}\t{path}")
        elif entry is not None and path not in then.state.intended:
            rows.append(f"{entry.mode:06o} {entry.oid}\t{path}")
    if rows:
        work.run("update-index", "-z", "--index-info", stdin=_list(rows), index=index)
    _flag(work, index, then, paths)


def _flag(work: Work, index: str, then: SavedSnapshot, paths: Sequence[str]) -> None:
    now = dict(work.flags(index))
    tracked = {path for _, _, path in work.entries(index)} if now or then.state.flags else set()
    for flag, on, off in FLAGS:
        had = {path for path, letter in now.items() if _has(letter, flag)}
        wanted = {path for path, letter in then.state.flags.items() if _has(letter, flag)}
        for option, some in ((off, had - wanted), (on, wanted - had)):
            chosen = sorted(path for path in some & tracked if within(path, paths))
            if chosen:
                work.run("update-index", option, "-z", "--stdin", stdin=_list(chosen), index=index)


def _has(letter: str, flag: str) -> bool:
    return letter.lower() == "s" if flag == "S" else letter.islower()


def _list(rows: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(row) + b"\0" for row in rows)


class _Files:
    """Writes and removes the files of a plan."""

    def __init__(
        self, work: Work, objects: Objects, index: str, plan: RestorePlan, then: SavedSnapshot
    ) -> None:
        self._work = work
        self._objects = objects
        self._index = index
        self._plan = plan
        self._then = then
        self._tree = WorkTreeFiles(work.root, work.git_folders)

    def bring_back(self) -> None:
        """Remove and write files.

        Git asks the attributes on disk how to write the others, so these come first.
        """
        for path in self._plan.remove:
            self._tree.remove(path, prune=True)
        attributes = [path for path in self._plan.write if path.rpartition("/")[2] == ATTRIBUTES]
        self._write_all(attributes)
        self._write_all([path for path in self._plan.write if path not in attributes])
        for path, mode in self._plan.modes.items():
            with suppress(FileNotFoundError, PermissionError):
                self._tree.set_mode(path, mode)
        self._intend()

    def _write_all(self, paths: Sequence[str]) -> None:
        """Write what the snapshot has as it was on disk as it was.

        The rest as git checks it out.
        """
        raw = set(self._then.state.raw)
        by_git: list[tuple[str, str]] = []
        for path in paths:
            entry = self._plan.write[path]
            if path in raw or entry.mode == LINK:
                self._write(path, entry, self._objects.read(entry.oid))
            else:
                by_git.append((path, entry.oid))
        for path, data in self._work.as_checked_out(by_git, self._index):
            self._write(path, self._plan.write[path], data)

    def _write(self, path: str, entry: TreeEntry, data: bytes) -> None:
        self._tree.make_room(path)
        if entry.mode == LINK:
            self._tree.link(path, os.fsdecode(data))
            return
        mode = permissions(self._then, path)
        self._tree.write(path, data, mode=usual_mode(entry) if mode is None else mode)

    def _intend(self) -> None:
        """Intend to add what was intended.

        Git takes the mode of an entry from a file, so empty ones are lent to it in a folder apart.
        """
        wanted = {
            path: mode
            for path, mode in self._then.state.intended.items()
            if path in self._plan.stage
        }
        if not wanted:
            return
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            lent = WorkTreeFiles(folder, ())
            for path, mode in wanted.items():
                if mode == f"{LINK:06o}":
                    lent.link(path, "lent")
                else:
                    lent.write_new(path, mode=0o777 if mode == f"{EXEC:06o}" else 0o666)
            how = ("--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            where = ("--work-tree", folder, "--literal-pathspecs")
            self._work.run("add", *how, stdin=_list(wanted), index=self._index, config=where)
