"""A snapshot in git: one commit under `refs/gitmem/snapshots/`.

Its parent is the commit that was checked out.

Its tree has `staged` (the index), `worktree` (the files as they were on disk, tracked and new),
`conflicts/1` to `3` (the sides of an entry in conflict) and `state.json` (what trees cannot say,
and the record's text, for whoever gets the snapshot from elsewhere). `staged` and `worktree` share
all that did not change with the code's own trees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.errors import External, GitmemError, UnknownId
from gitmem.git.objects import BLOB, COMMIT, EXEC, LINK, TREE, Objects, TreeEntry
from gitmem.repo.refs import SNAPSHOTS
from gitmem.services.snapshots.state import SnapshotState, StateDamaged, StateTooNew, decode

STAGED, WORKTREE, CONFLICTS, STATE = "staged", "worktree", "conflicts", "state.json"
STATE_LIMIT = 64 << 20  # bytes of a state.json
DEEPEST = 300  # folders in one another; a path of the operating system has fewer
# of two trees that are compared: a tree of equal folders stands for any number
MOST_ENTRIES = 5_000_000
_OLD_BLOB = 0o100664  # of very old gits
MODES = frozenset({BLOB, EXEC, LINK, TREE, COMMIT, _OLD_BLOB})


class SnapshotDamaged(External):
    """A snapshot that no git mem made so."""

    def __init__(self, id: str, why: str) -> None:
        super().__init__(
            f"this snapshot is damaged: {why}. Nothing was changed.",
            f"See what is in it: git show {ref_of(id)}; to remove it: git mem snapshot drop {id}",
        )


@dataclass(frozen=True, slots=True)
class SavedSnapshot:
    """A snapshot that was read."""

    id: str
    oid: str
    staged: str | None  # trees
    worktree: str | None
    state: SnapshotState


def ref_of(id: str) -> str:
    """Return the ref of a snapshot."""
    return SNAPSHOTS + id


def read(objects: Objects, id: str) -> SavedSnapshot:
    """Return a snapshot.

    Raises UnknownId when its work was not saved, External when it cannot be read.
    """
    oid = objects.tip(ref_of(id))
    if oid is None:
        raise UnknownId(
            f"the work of {id} was not saved, or was dropped.",
            "See what there is: git mem snapshot list",
        )
    return read_commit(objects, id, oid)


def read_commit(objects: Objects, id: str, oid: str) -> SavedSnapshot:
    """Return a snapshot by its commit.

    Raises SnapshotDamaged when it is none, External when it is too new.
    """
    try:
        entries = {entry.name: entry for entry in objects.tree(objects.commit(oid).tree)}
        facts = entries.get(STATE)
        data = objects.read_small(facts.oid, STATE_LIMIT) if facts and facts.mode == BLOB else None
        if data is None:
            raise SnapshotDamaged(id, f"it has no {STATE}")
        state = decode(data)
        trees = {}
        for name in (STAGED, WORKTREE):
            entry = entries.get(name)
            if entry is not None and not entry.is_tree:
                raise SnapshotDamaged(id, f"'{name}' is not a folder in it")
            trees[name] = entry.oid if entry is not None else None
    except StateTooNew as error:
        hint = "Upgrade: pip install --upgrade git-mem"
        raise External(f"snapshot {id} was made by a newer git mem.", hint) from error
    except StateDamaged as error:
        raise SnapshotDamaged(id, str(error)) from error
    except SnapshotDamaged:
        raise
    except (GitmemError, ValueError) as error:
        raise SnapshotDamaged(id, str(error).rstrip(".")) from error
    return SavedSnapshot(id, oid, trees[STAGED], trees[WORKTREE], state)


Pair = tuple[TreeEntry | None, TreeEntry | None]


class TreesDamaged(ValueError):
    """Trees that git would not have made: the text says why."""


class _Comparison:
    """Walks two trees at once.

    Counts what it reads, as trees of others may be built to have no end.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._left = MOST_ENTRIES

    def _entries(self, tree: str | None) -> dict[str, TreeEntry]:
        if tree is None:
            return {}
        rows = self._objects.tree(tree)
        self._left -= len(rows)
        if self._left < 0:
            raise TreesDamaged("its folders have too many entries")
        entries = {entry.name: entry for entry in rows}
        if len(entries) != len(rows):
            raise TreesDamaged("a folder has two entries of one name")
        for entry in rows:
            if entry.mode not in MODES:
                raise TreesDamaged(
                    f"{entry.name!r} has a mode that git does not have: {entry.mode:o}"
                )
        return entries

    def walk(
        self, old: str | None, new: str | None, prefix: str, depth: int
    ) -> Iterator[tuple[str, Pair]]:
        """Yield (path, (entry before, entry after)); equal folders are not opened."""
        if old == new:
            return
        if depth > DEEPEST:
            raise TreesDamaged("its folders are too deep")
        before, after = self._entries(old), self._entries(new)
        for name in sorted(before.keys() | after.keys()):
            a, b = before.get(name), after.get(name)
            if a == b:
                continue
            path = prefix + name
            folders = _folder_of(a), _folder_of(b)
            if folders != (None, None):
                yield from self.walk(*folders, path + "/", depth + 1)
            pair = _file_of(a), _file_of(b)
            if pair[0] != pair[1]:
                yield path, pair


def _folder_of(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry is not None and entry.is_tree else None


def _file_of(entry: TreeEntry | None) -> TreeEntry | None:
    if entry is None or entry.is_tree:
        return None
    return TreeEntry(entry.name, BLOB, entry.oid) if entry.mode == _OLD_BLOB else entry


def differences(objects: Objects, old: str | None, new: str | None) -> Iterator[tuple[str, Pair]]:
    """Yield (path, (entry before, entry after)) of what differs between two trees.

    Equal folders are not opened. Raises TreesDamaged for trees that git does not make,
    MissingObject.
    """
    yield from _Comparison(objects).walk(old, new, "", 0)


def within(path: str, wanted: Sequence[str]) -> bool:
    """Say whether a path is one of some, or below one; with none, all are."""
    return not wanted or any(
        path == prefix or path.startswith(prefix.rstrip("/") + "/") or prefix in {"", "."}
        for prefix in wanted
    )
