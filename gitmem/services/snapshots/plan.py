"""The plan of a restore: the difference of two trees.

The difference leads from how things are now to how they were. Nothing is changed.
"""

import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.errors import UserError
from gitmem.git.objects import COMMIT, EXEC, LINK, Objects, TreeEntry
from gitmem.git.work_state import Work, file_on_disk
from gitmem.repo.path_rules import named, path_refusal, printable
from gitmem.services.snapshots.saved import (
    SavedSnapshot,
    SnapshotDamaged,
    TreesDamaged,
    differences,
    within,
)

COMPARED = 16 << 20  # bytes of a file that is read to see whether it is as it was


@dataclass(slots=True)
class RestorePlan:
    """What a restore would do. Paths are relative to the work tree's root."""

    write: dict[str, TreeEntry] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    modes: dict[str, int] = field(default_factory=dict)  # files whose permissions alone change
    stage: dict[str, TreeEntry | None] = field(default_factory=dict)  # index entries that change
    # files in the way that nothing has saved -> why
    blocked: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)  # files that are new now and stay -> why
    submodules: dict[str, str] = field(default_factory=dict)  # their commits then
    # whose skip-worktree or assume-unchanged differs
    flags: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Say whether all is as it was."""
        return not (self.write or self.remove or self.modes or self.stage or self.flags)


def plan(
    work: Work,
    objects: Objects,
    now: SavedSnapshot,
    then: SavedSnapshot,
    paths: Sequence[str] = (),
    *,
    force: bool = False,
) -> RestorePlan:
    """Return what would bring the work tree from one snapshot, which is how it is now, to another.

    With paths, of those alone; what the snapshot has is checked as a whole all the same. `force`
    takes away files that it may have been made beside. Raises UserError for paths that must not be
    written, SnapshotDamaged.
    """
    try:
        files = dict(differences(objects, now.worktree, then.worktree))
        entries = dict(differences(objects, now.staged, then.staged))
    except TreesDamaged as error:
        raise SnapshotDamaged(then.id, str(error)) from error
    _check_paths(then, files, entries)
    out = RestorePlan()
    _plan_files(work, out, files, now, then, paths, force=force)
    _plan_bytes(work, objects, out, now, then, paths)
    _plan_modes(objects, out, now, then, paths)
    _plan_entries(objects, out, entries, now, then, paths)
    _plan_room(work, out)
    _plan_blobs(work, out, then)
    out.warnings = list(_warnings(work, now, then))
    return out


def _check_paths(
    then: SavedSnapshot, *trees: dict[str, tuple[TreeEntry | None, TreeEntry | None]]
) -> None:
    """Refuse the snapshot when any of its paths must not be below a work tree."""
    refused = {}
    for tree in trees:
        for path, (_, new) in tree.items():
            if new is not None and (why := path_refusal(path, link=new.mode == LINK)):
                refused[path] = why
    for path in then.state.paths():
        if why := path_refusal(path):
            refused[path] = why
    if refused:
        raise UserError(
            f"this snapshot is refused, nothing was changed: it has {named(refused)}.",
            f"No git mem makes such a snapshot: do not trust who sent it. To remove it: git mem "
            f"snapshot drop {then.id}",
        )


def _plan_files(
    work: Work,
    out: RestorePlan,
    files: dict[str, tuple[TreeEntry | None, TreeEntry | None]],
    now: SavedSnapshot,
    then: SavedSnapshot,
    paths: Sequence[str],
    *,
    force: bool,
) -> None:
    unsaved = _omitted(now)
    left_out = _omitted(then)
    for path in (path for path in files if within(path, paths)):
        old, new = files[path]
        if new is not None and new.mode == COMMIT:
            out.submodules[path] = new.oid
        elif old is not None and old.mode == COMMIT:
            continue
        elif new is None:
            _plan_removal(out, path, then, left_out, force=force)
        else:
            out.write[path] = new
            if old is None and os.path.lexists(os.path.join(work.root, path)):
                out.blocked[path] = unsaved.get(path, "git ignores it, so it was not saved")
    for path in (*out.write, *out.remove):
        if path in unsaved:
            out.blocked[path] = unsaved[path]


def _plan_removal(
    out: RestorePlan,
    path: str,
    then: SavedSnapshot,
    left_out: Container[str],
    *,
    force: bool,
) -> None:
    """Plan what becomes of a file that a snapshot does not have."""
    if path in left_out:
        return  # it was there, and was not saved: nobody knows that it was gone
    if not force and _was_ignored(path, then.state.ignored):
        out.kept[path] = "git ignored it when the snapshot was made"
    else:
        out.remove.append(path)


def _omitted(saved: SavedSnapshot) -> dict[str, str]:
    return {str(entry["path"]): str(entry["reason"]) for entry in saved.state.omitted}


def _was_ignored(path: str, ignored: Sequence[str]) -> bool:
    return any(path == name or (name.endswith("/") and path.startswith(name)) for name in ignored)


def _plan_bytes(
    work: Work,
    objects: Objects,
    out: RestorePlan,
    now: SavedSnapshot,
    then: SavedSnapshot,
    paths: Sequence[str],
) -> None:
    """Plan the files that git takes for equal, but whose bytes on disk were different.

    The filters of git make the difference.
    """
    for path in sorted(set(now.state.raw) ^ set(then.state.raw)):
        if path in out.write or path in out.remove or not within(path, paths):
            continue
        entry = _find(objects, then.worktree, path)
        if entry is None or entry != _find(objects, now.worktree, path) or entry.mode == COMMIT:
            continue
        if path in then.state.raw:
            on_disk = file_on_disk(work.root, path, COMPARED)
            if isinstance(on_disk, tuple) and on_disk[1] == objects.read(entry.oid):
                continue
        elif entry.mode == LINK or _is_as_checked_out(work, path, entry):
            continue
        out.write[path] = entry


def _is_as_checked_out(work: Work, path: str, entry: TreeEntry) -> bool:
    on_disk = file_on_disk(work.root, path, COMPARED)
    if not isinstance(on_disk, tuple):
        return False
    return all(data == on_disk[1] for _, data in work.as_checked_out([(path, entry.oid)]))


def permissions(saved: SavedSnapshot, path: str) -> int | None:
    """Return the permissions of a file that a snapshot keeps.

    None for those that the umask gives.
    """
    text = saved.state.modes.get(path)
    return int(text, 8) if text is not None else None


def _plan_modes(
    objects: Objects,
    out: RestorePlan,
    now: SavedSnapshot,
    then: SavedSnapshot,
    paths: Sequence[str],
) -> None:
    for path in sorted(now.state.modes.keys() | then.state.modes.keys()):
        mode = permissions(then, path)
        if mode == permissions(now, path) or path in out.write or path in out.remove:
            continue
        entry = _find(objects, then.worktree, path)
        if entry is None or entry.mode in {LINK, COMMIT} or not within(path, paths):
            continue
        out.modes[path] = mode if mode is not None else usual_mode(entry)


def usual_mode(entry: TreeEntry) -> int:
    """Return the permissions that the umask leaves a file."""
    umask = os.umask(0)
    os.umask(umask)
    return (0o777 if entry.mode == EXEC else 0o666) & ~umask


def _plan_entries(
    objects: Objects,
    out: RestorePlan,
    entries: dict[str, tuple[TreeEntry | None, TreeEntry | None]],
    now: SavedSnapshot,
    then: SavedSnapshot,
    paths: Sequence[str],
) -> None:
    out.stage = {path: new for path, (_, new) in entries.items() if within(path, paths)}
    listed = (now.state.unmerged, now.state.intended, then.state.unmerged, then.state.intended)
    for path in {path for some in listed for path in some}:
        if _sides(now, path) != _sides(then, path) and within(path, paths):
            out.stage[path] = _find(objects, then.staged, path)
    flagged = now.state.flags.keys() | then.state.flags.keys()
    for path in sorted(flagged):
        if now.state.flags.get(path) != then.state.flags.get(path) and within(path, paths):
            out.flags.append(path)


def _sides(saved: SavedSnapshot, path: str) -> tuple[list[list[str]] | None, str | None]:
    return saved.state.unmerged.get(path), saved.state.intended.get(path)


def _find(objects: Objects, tree: str | None, path: str) -> TreeEntry | None:
    entry = objects.find(tree, path) if tree else None
    return None if entry is None or entry.is_tree else entry


def _plan_room(work: Work, out: RestorePlan) -> None:
    """A file comes where a folder is now: what is in it goes, if it was saved."""
    going = set(out.remove)
    for path in out.write:
        full = os.path.join(work.root, path)
        if not os.path.isdir(full) or os.path.islink(full):
            continue
        out.blocked.pop(path, None)
        for inner in _files_below(work.root, full):
            _check_no_repository(path, inner)
            if inner not in going:
                out.blocked[inner] = "it is in a folder that gives way to a file"


def _check_no_repository(path: str, inner: str) -> None:
    """Refuse to remove another repository: its objects are in no snapshot.

    `--force` changes nothing.
    """
    if path_refusal(inner):
        raise UserError(
            f"nothing was changed: '{printable(path)}' would replace a folder that holds a "
            f"repository.",
            f"Move it away, then run the command again: {printable(inner)}",
        )


def _files_below(root: str, folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(here, name), root)


def _plan_blobs(work: Work, out: RestorePlan, then: SavedSnapshot) -> None:
    """Check that all objects exist and have the right type, before anything is changed."""
    used = [entry.oid for entry in out.write.values()]
    used += [
        entry.oid for entry in out.stage.values() if entry is not None and entry.mode != COMMIT
    ]
    for path, stages in then.state.unmerged.items():
        if path in out.stage:
            used += [oid for mode, oid in stages if mode not in {"000000", "160000"}]
    kinds = work.kinds(used)
    wrong = [oid for oid in used if kinds.get(oid, ("", 0))[0] != "blob"]
    if wrong:
        raise SnapshotDamaged(then.id, f"{wrong[0][:12]} is not there, or is not a file")


def _warnings(work: Work, now: SavedSnapshot, then: SavedSnapshot) -> Iterator[str]:
    if then.state.commit != now.state.commit:
        yield (
            f"the snapshot was made on {_where(then)}, and {_where(now)} is checked out now: what "
            f"the two differ in comes back as changes."
        )
    if then.state.omitted:
        left_out = {str(row["path"]): str(row["reason"]) for row in then.state.omitted}
        yield f"the snapshot was made without {named(left_out)}."
    running = work.under_way()
    for name, commit in sorted(then.state.under_way.items()):
        if running.get(name) != commit:
            about = f" of {commit[:10]}" if commit else ""
            yield (
                f"a {name}{about} was under way then: its files come back, but git is not in the "
                f"middle of it again."
            )
    for name in sorted(running.keys() - then.state.under_way.keys()):
        yield f"a {name} is under way now, and stays so: git status says how to end it."


def _where(saved: SavedSnapshot) -> str:
    commit = saved.state.commit[:10] or "no commit"
    return f"{saved.state.branch} at {commit}" if saved.state.branch else commit
