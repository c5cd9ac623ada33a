"""What a snapshot is in git: one commit under `refs/gitmem/snapshots/`, whose parent is the commit that was checked out.

Its tree has `staged` (the index), `worktree` (the files as they were on disk, tracked and new), `conflicts/1` to `3` (the sides of an entry in
conflict) and `state.json` (what trees cannot say, and the record's text, for whoever gets the snapshot from elsewhere). `staged` and `worktree` share
all that did not change with the code's own trees.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.errors import External, UnknownId
from gitmem.git.objects import Entry, Objects
from gitmem.repo.refs import SNAPSHOTS

STAGED, WORKTREE, CONFLICTS, STATE = "staged", "worktree", "conflicts", "state.json"
VERSION = 1


@dataclass(slots=True)
class State:
    """What the trees of a snapshot cannot say. Paths are str with surrogates."""

    commit: str = ""
    branch: str = ""
    raw: list[str] = field(
        default_factory=list
    )  # files of `worktree` that are as on disk; the others are as git has them, before its filters
    flags: dict[str, str] = field(default_factory=dict)  # 'S' skip-worktree, 'h' assumed unchanged, 's' both
    intended: list[str] = field(default_factory=list)  # `git add -N`
    unmerged: dict[str, list[list[str]]] = field(default_factory=dict)  # path -> (mode, oid) of the three stages
    omitted: list[dict[str, Any]] = field(default_factory=list)  # path, why
    record: str = ""

    def encode(self) -> bytes:
        """Return it as JSON."""
        return json.dumps({"v": VERSION, **{name: getattr(self, name) for name in self.__slots__}}, indent=1).encode()


@dataclass(frozen=True, slots=True)
class Saved:
    """A snapshot that was read."""

    id: str
    oid: str
    staged: str | None  # trees
    worktree: str | None
    state: State


def ref_of(id: str) -> str:
    """Return the ref of a snapshot."""
    return SNAPSHOTS + id


def read(objects: Objects, id: str) -> Saved:
    """Return a snapshot; raises UnknownId when its work was not saved, External when it cannot be read."""
    oid = objects.tip(ref_of(id))
    if oid is None:
        raise UnknownId(f"the work of {id} was not saved, or was dropped.", "See what there is: git mem snapshot list")
    return read_commit(objects, id, oid)


def read_commit(objects: Objects, id: str, oid: str) -> Saved:
    """Return a snapshot by its commit; raises External when it is none."""
    entries = {entry.name: entry for entry in objects.tree(objects.commit(oid).tree)}
    try:
        loaded = json.loads(objects.read(entries[STATE].oid))
        if loaded["v"] != VERSION:
            raise External(f"snapshot {id} was made by a newer git mem.", "Upgrade: pip install --upgrade git-mem")
        state = State(**{name: loaded[name] for name in State.__slots__ if name in loaded})
    except (KeyError, ValueError, TypeError) as error:
        raise External(f"snapshot {id} cannot be read: {error}", "See what is in it: git show " + ref_of(id)) from error
    trees = {name: entries[name].oid if name in entries else None for name in (STAGED, WORKTREE)}
    return Saved(id, oid, trees[STAGED], trees[WORKTREE], state)


def files_of(objects: Objects, tree: str | None, prefix: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield (path, entry) of all files, links and submodules of a tree."""
    for entry in objects.tree(tree) if tree else ():
        if entry.is_tree:
            yield from files_of(objects, entry.oid, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry


Pair = tuple[Entry | None, Entry | None]


def differences(objects: Objects, old: str | None, new: str | None, prefix: str = "") -> Iterator[tuple[str, Pair]]:
    """Yield (path, (entry before, entry after)) of what differs between two trees; equal folders are not opened."""
    if old == new:
        return
    before = {e.name: e for e in objects.tree(old)} if old else {}
    after = {e.name: e for e in objects.tree(new)} if new else {}
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        if a == b:
            continue
        path = prefix + name
        if (a and a.is_tree) or (b and b.is_tree):
            yield from differences(objects, a.oid if a and a.is_tree else None, b.oid if b and b.is_tree else None, path + "/")
        a, b = (a if a and not a.is_tree else None), (b if b and not b.is_tree else None)
        if a != b:
            yield path, (a, b)


def within(path: str, wanted: Sequence[str]) -> bool:
    """Say whether a path is one of some, or below one; with none, all are."""
    return not wanted or any(path == one or path.startswith(one.rstrip("/") + "/") or one in {"", "."} for one in wanted)
