"""Bring back the files and the index of a snapshot.

What is on disk now has been saved first, as a snapshot of its own, so the plan is the difference of two trees. A plan is noted before the first
file is touched and its note removed after the last: a restore that was killed can be run again, or undone by restoring the one that was saved first.
"""

import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gitmem.base.files import write_atomic
from gitmem.errors import Busy, External, GitFailed, UserError
from gitmem.git.objects import COMMIT, EXEC, LINK, Entry, Objects
from gitmem.git.work_state import ABSENT, Work
from gitmem.repo.location import RESTORING, Home
from gitmem.services.snapshots.saved import Saved, differences, within


@dataclass(slots=True)
class Plan:
    """What a restore would do. Paths are relative to the work tree's root."""

    write: dict[str, Entry] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    stage: dict[str, Entry | None] = field(default_factory=dict)  # index entries that change
    blocked: dict[str, str] = field(default_factory=dict)  # files in the way that nothing has saved -> why
    submodules: dict[str, str] = field(default_factory=dict)  # their commits then
    flags: list[str] = field(default_factory=list)  # entries whose skip-worktree or assume-unchanged differs
    warnings: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Say whether all is as it was."""
        return not (self.write or self.remove or self.stage or self.flags)


def plan(work: Work, objects: Objects, now: Saved, then: Saved, paths: Sequence[str] = ()) -> Plan:
    """Return what would bring the work tree from one snapshot, which is how it is now, to another; with paths, of those alone."""
    out = Plan()
    unsaved = {str(one["path"]): str(one["why"]) for one in now.state.omitted}
    left = {str(one["path"]) for one in then.state.omitted}
    for path, (old, new) in differences(objects, now.worktree, then.worktree):
        if not within(path, paths):
            continue
        if (new or old) and COMMIT in {new.mode if new else 0, old.mode if old else 0}:
            if new and new.mode == COMMIT:
                out.submodules[path] = new.oid
            continue
        if new is None:
            if path not in left:  # it was there then, too large or secret: it was not saved, so it is not known to be gone
                out.remove.append(path)
            continue
        out.write[path] = new
        if old is None and os.path.lexists(os.path.join(work.root, path)):
            out.blocked[path] = unsaved.get(path, "git ignores it, so it was not saved")
    for path in now.state.raw:  # the same bytes in both trees, but git's filters would make others of them
        if path not in then.state.raw and within(path, paths) and path not in out.write and (entry := _find(objects, then.worktree, path)):
            out.write[path] = entry
    out.stage = {path: new for path, (_, new) in differences(objects, now.staged, then.staged) if within(path, paths)}
    for path in {*now.state.unmerged, *now.state.intended, *then.state.unmerged, *then.state.intended}:
        sides = [(saved.state.unmerged.get(path), path in saved.state.intended) for saved in (now, then)]
        if sides[0] != sides[1] and within(path, paths):
            out.stage[path] = _find(objects, then.staged, path)
    for path in (*out.write, *out.remove):
        if path in unsaved:
            out.blocked[path] = unsaved[path]
    every = now.state.flags.keys() | then.state.flags.keys()
    out.flags = sorted(path for path in every if now.state.flags.get(path) != then.state.flags.get(path) and within(path, paths))
    _folders_in_the_way(work, out)
    if then.state.commit != now.state.commit:
        out.warnings.append(
            f"the snapshot was made on {_where(then)}, and {_where(now)} is checked out now: what the two differ in comes back as changes."
        )
    return out


def _where(saved: Saved) -> str:
    commit = saved.state.commit[:10] or "no commit"
    return f"{saved.state.branch} at {commit}" if saved.state.branch else commit


def _find(objects: Objects, tree: str | None, path: str) -> Entry | None:
    entry = objects.find(tree, path) if tree else None
    return None if entry is None or entry.is_tree else entry


def _folders_in_the_way(work: Work, out: Plan) -> None:
    """A file comes where a folder is now: what is in it goes, if it was saved."""
    going = set(out.remove)
    for path in out.write:
        full = os.path.join(work.root, path)
        if not os.path.isdir(full) or os.path.islink(full):
            continue
        out.blocked.pop(path, None)
        for here, folders, names in os.walk(full):
            inside = [os.path.relpath(os.path.join(here, name), work.root) for name in names]
            inside += [os.path.relpath(os.path.join(here, name), work.root) for name in folders if os.path.islink(os.path.join(here, name))]
            out.blocked |= {one: "it is in a folder that gives way to a file" for one in inside if one not in going}


@dataclass(frozen=True, slots=True)
class Note:
    """A restore that is under way: the snapshot that comes back, what was saved before, the work tree, and the paths asked for."""

    target: str
    safety: str
    root: str
    paths: tuple[str, ...] = ()


def note_of(home: Home) -> Note | None:
    """Return the restore that was stopped before its end, if there is one."""
    try:
        with open(home.join(RESTORING), encoding="utf-8") as file:
            loaded = json.load(file)
        return Note(str(loaded["target"]), str(loaded["safety"]), str(loaded["root"]), tuple(map(str, loaded["paths"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def carry_out(work: Work, objects: Objects, home: Home, what: Plan, then: Saved, note: Note, *, force: bool = False) -> None:
    """Do what a plan says, files first, then the index. Raises UserError for files in the way unless `force`, External, Busy."""
    if what.blocked and not force:
        shown = ", ".join(f"{path} ({why})" for path, why in sorted(what.blocked.items())[:5])
        more = f" and {len(what.blocked) - 5} more" if len(what.blocked) > 5 else ""
        shown = shown.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        raise UserError(
            f"nothing was changed: {len(what.blocked)} file(s) that no snapshot and no commit has would be overwritten: {shown}{more}.",
            "Move them away, name other paths, or give --force.",
        )
    home.make()
    facts = {"target": note.target, "safety": note.safety, "root": note.root, "paths": list(note.paths)}
    write_atomic(home.join(RESTORING), json.dumps(facts).encode(), shared=home.shared)
    index = os.path.join(work.gitdir, f"gitmem-index.{os.getpid()}")
    try:
        work.copy_of_index(index)
        _stage(work, index, what, then, note.paths)
        _files(work, objects, index, what, then)
        _intend(work, index, what, then)
        work.run("update-index", "-q", "--refresh", index=index, ok=(0, 1))
        _install(work, index)
    except (GitFailed, OSError) as error:
        raise External(
            f"the restore stopped on its way: {error}",
            f"Run it again to end it, or take it back: git mem snapshot restore {note.safety[-8:]} --worktree",
        ) from error
    finally:
        for left in (index, index + ".lock"):
            with suppress(FileNotFoundError):
                os.unlink(left)
    with suppress(FileNotFoundError):
        os.unlink(home.join(RESTORING))


def _stage(work: Work, index: str, what: Plan, then: Saved, paths: Sequence[str]) -> None:
    """Bring a copy of the index to what the snapshot has: entries, the sides of conflicts, flags."""
    zero = "0" * (len(then.oid))
    rows = []
    for path, entry in what.stage.items():
        rows.append(f"{ABSENT} {zero}\t{path}")  # all stages go
        if path in then.state.unmerged:
            stages = enumerate(then.state.unmerged[path], 1)
            rows += [f"{mode} {oid} {number}\t{path}" for number, (mode, oid) in stages if mode != ABSENT]
        elif entry is not None and path not in then.state.intended:
            rows.append(f"{entry.mode:06o} {entry.oid}\t{path}")
    if rows:
        work.run("update-index", "-z", "--index-info", stdin=_list(rows), index=index)
    now = dict(work.flags(index))
    for flag, on, off in (("S", "--skip-worktree", "--no-skip-worktree"), ("h", "--assume-unchanged", "--no-assume-unchanged")):
        had = {path for path, letter in now.items() if _has(letter, flag)}
        wanted = {path for path, letter in then.state.flags.items() if _has(letter, flag)}
        for option, some in ((off, had - wanted), (on, wanted - had)):
            chosen = sorted(path for path in some if within(path, paths) and _in_index(work, index, path))
            if chosen:
                work.run("update-index", option, "-z", "--stdin", stdin=_list(chosen), index=index)


def _has(letter: str, flag: str) -> bool:
    return letter.lower() == "s" if flag == "S" else letter.islower()


def _in_index(work: Work, index: str, path: str) -> bool:
    return bool(work.run("ls-files", "-z", "--", path, index=index, config=("--literal-pathspecs",)))


def _list(rows: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(row) + b"\0" for row in rows)


def _files(work: Work, objects: Objects, index: str, what: Plan, then: Saved) -> None:
    """Write and remove files. What the snapshot has as it was on disk is written so; the rest as git checks it out."""
    for path in what.remove:
        _remove(work.root, path)
    raw = set(then.state.raw)
    by_git = []
    for path, entry in what.write.items():
        full = os.path.join(work.root, path)
        _make_room(work.root, path)
        if path in raw:
            _write(full, entry, objects.read(entry.oid))
        else:
            _remove_file(full)
            by_git.append(path)
    if by_git:
        work.run("checkout-index", "-f", "-q", "-z", "--stdin", stdin=_list(by_git), index=index)


def _make_room(root: str, path: str) -> None:
    """Make the folders of a file; a file where a folder has to be goes, and an empty folder where the file has to be."""
    here = root
    for name in path.split("/")[:-1]:
        here = os.path.join(here, name)
        if os.path.islink(here) or (os.path.lexists(here) and not os.path.isdir(here)):
            os.unlink(here)
        if not os.path.isdir(here):
            os.mkdir(here)
    full = os.path.join(root, path)
    if os.path.isdir(full) and not os.path.islink(full):
        for above, folders, names in os.walk(full, topdown=False):
            for name in names:
                os.unlink(os.path.join(above, name))
            for name in folders:
                inner = os.path.join(above, name)
                os.unlink(inner) if os.path.islink(inner) else os.rmdir(inner)
        os.rmdir(full)


def _write(full: str, entry: Entry, data: bytes) -> None:
    if entry.mode == LINK:
        _remove_file(full)
        os.symlink(os.fsdecode(data), full)
        return
    if os.path.islink(full):
        os.unlink(full)
    umask = os.umask(0)
    os.umask(umask)
    mode = (0o777 if entry.mode == EXEC else 0o666) & ~umask
    with suppress(OSError):
        old = stat.S_IMODE(os.lstat(full).st_mode)
        mode = old | (0o111 & ~umask) if entry.mode == EXEC else old & ~0o111
    write_atomic(full, data, mode=mode, durable=False)
    os.chmod(full, mode)


def _remove_file(full: str) -> None:
    with suppress(FileNotFoundError, IsADirectoryError, NotADirectoryError):
        os.unlink(full)


def _remove(root: str, path: str) -> None:
    full = os.path.join(root, path)
    if os.path.isdir(full) and not os.path.islink(full):
        return
    _remove_file(full)
    above = os.path.dirname(full)
    while above != root.rstrip(os.sep):
        try:
            os.rmdir(above)
        except OSError:
            return
        above = os.path.dirname(above)


def _intend(work: Work, index: str, what: Plan, then: Saved) -> None:
    wanted = [path for path in then.state.intended if path in what.stage]
    lent = [path for path in wanted if not os.path.lexists(os.path.join(work.root, path))]  # git intends to add what is there
    try:
        for path in lent:
            _make_room(work.root, path)
            with open(os.path.join(work.root, path), "xb"):
                pass
        if wanted:
            how = ("--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            work.run("add", *how, stdin=_list(wanted), index=index, config=("--literal-pathspecs",))
    finally:
        for path in lent:
            _remove(work.root, path)


def _install(work: Work, index: str) -> None:
    """Put the new index in the place of the user's, under git's own lock."""
    own = os.path.join(work.gitdir, "index")
    try:
        handle = os.open(own + ".lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError as error:
        raise Busy("git is writing to the index.", f"Run the command again in a moment; if nothing runs, delete {own}.lock.") from error
    os.close(handle)
    try:
        os.replace(index, own)
    finally:
        os.unlink(own + ".lock")
