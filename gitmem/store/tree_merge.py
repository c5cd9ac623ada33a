"""Merge two stores: their trees path by path, and the commit that joins them.

Only what changed since the base is looked at; equal folders are never opened. The merge commit is a
function of its two parents alone (parents sorted, fixed author, their latest time), so two replicas
that merge at once make the same commit. It is never signed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gitmem.clock import LAST, seconds
from gitmem.git.objects import (
    BLOB,
    EXEC,
    Draft,
    Identity,
    Objects,
    TreeDifference,
    TreeEntry,
    diff,
    entries_by_name,
    files,
)
from gitmem.records.active_hours import hours_bytes, joined, parse_hours
from gitmem.records.codec import encode, sane
from gitmem.records.merge import digest, merge_bytes
from gitmem.records.record import Record, kind_of
from gitmem.store.layout import (
    FILE_LIMIT,
    FORMAT_BYTES,
    FORMAT_PATH,
    GITMEM,
    PLAIN_LIMIT,
    PURGES,
    attic_path,
    has_hours,
    id_of_path,
    record_path,
    safe_path,
    tombstone_path,
)
from gitmem.store.supersede_cycles import revived
from gitmem.store.usage_file import parse_usage, usage_bytes

ROOT_TIME = 1577836800  # 2020-01-01: any fixed time; two clones that start apart share one root
UNDONE = 5  # days after which a record that is gone was collected, not undone: few decay sooner
MAX_VIRTUAL = 6  # criss-cross merges nest rarely more than once; deeper than this one base is taken


@dataclass(slots=True)
class Report:
    """What a merge did that somebody may want to look at."""

    conflicts: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


Edits = dict[str, bytes | TreeEntry | None]
_Sides = tuple[TreeEntry | None, TreeEntry | None]  # old and new
_Changes = Mapping[str, _Sides]  # by path
_MERGE = "gitmem: merge\n\nGitmem-Op: merge\n"


def root_draft() -> Draft:
    """Return the deterministic first commit of every store."""
    who = Identity(*GITMEM, ROOT_TIME)
    return Draft(
        None, {FORMAT_PATH: FORMAT_BYTES}, (), "gitmem: init\n\nGitmem-Op: init\n", who, who
    )


def merge_commits(objects: Objects, ours: str, theirs: str, depth: int = 0) -> tuple[str, Report]:
    """Return the commit that holds both sides, and a report.

    If one side already holds the other, it is that side.
    """
    if objects.is_ancestor(theirs, ours):
        return ours, Report()
    if objects.is_ancestor(ours, theirs):
        check_bounds(objects, ours, theirs)
        return theirs, Report()
    # in one order, whoever merges: what a tree of somebody else's may hold beside files (empty
    # folders) must not make a difference
    ours, theirs = sorted((ours, theirs))
    our_commit, their_commit = objects.commit(ours), objects.commit(theirs)
    base = _base_tree(objects, ours, theirs, depth)
    edits, report = merge_trees(objects, base, our_commit.tree, their_commit.tree)
    stamp = min(max(our_commit.committer.time, their_commit.committer.time), LAST)
    who = Identity(*GITMEM, stamp)
    return objects.write(Draft(our_commit.tree, edits, (ours, theirs), _MERGE, who, who)), report


def without_merges(objects: Objects, tip: str, theirs: str) -> str:
    """Return a tip without the merges at its end whose other side a history has by now.

    Such a merge was never sent, or lost its race: a merge of the tip before it with the history
    has the same.
    """
    while True:
        commit = objects.commit(tip)
        if commit.message != _MERGE or len(commit.parents) != 2:
            return tip
        unsent = [parent for parent in commit.parents if not objects.is_ancestor(parent, theirs)]
        if len(unsent) != 1:  # of yet another remote; or both are there
            return tip if unsent else theirs
        tip = unsent[0]


def check_bounds(objects: Objects, ours: str | None, theirs: str) -> None:
    """Raise External if the changes of a commit were made to be endless.

    Such a commit must not become the store.
    """
    for _ in diff(
        objects, objects.commit(ours).tree if ours else None, objects.commit(theirs).tree
    ):
        pass


def _base_tree(objects: Objects, ours: str, theirs: str, depth: int) -> str | None:
    """Return the tree of the common ancestor.

    Of several, their own merge, as git's recursive strategy does.
    """
    bases = objects.bases(ours, theirs)
    if not bases:
        return None
    if len(bases) == 1 or depth >= MAX_VIRTUAL:
        return objects.commit(bases[0]).tree
    virtual = bases[0]
    for other in bases[1:]:
        virtual, _ = merge_commits(objects, virtual, other, depth + 1)
    return objects.commit(virtual).tree


def merge_trees(objects: Objects, base: str | None, ours: str, theirs: str) -> tuple[Edits, Report]:
    """Return the edits that turn `ours` into the merge of both, and what was notable."""
    mine = _by_path(diff(objects, base, ours))
    changes = _by_path(diff(objects, base, theirs))
    # what may not come in is left out on both sides, or the result would depend on who merges
    kept_out = _refused(mine)
    refused = {*kept_out, *_refused(changes)}
    report = Report(refused=sorted(refused))
    merging = _PathMerge(objects, (ours, theirs), report)
    edits: Edits = dict.fromkeys(kept_out)
    for path, (_, theirs_now) in changes.items():
        if path in refused:
            continue
        if path in mine:
            old, ours_now = mine[path]
            if ours_now != theirs_now:
                edits.update(merging.edits(path, old, ours_now, theirs_now))
        else:
            new = theirs_now
            edits[path] = TreeEntry(new.name, BLOB, new.oid) if new else None
    tree = _Tree(objects, ours)
    _bring_back_used(objects, edits, mine, changes)
    _break_cycles(objects, edits, mine, tree)
    _bury(objects, edits, mine, tree)
    _settle_clashes(objects, edits, tree)
    return edits, report


def _by_path(changes: Iterable[TreeDifference]) -> dict[str, _Sides]:
    return {change.path: (change.old, change.new) for change in changes}


class _Tree:
    """Finds many paths in one tree: each folder is looked through once."""

    def __init__(self, objects: Objects, root: str) -> None:
        self._objects = objects
        self._folders = {"": entries_by_name(objects, root)}

    def find(self, path: str) -> TreeEntry | None:
        folder, _, name = path.rpartition("/")
        return self._folder(folder).get(name)

    def _folder(self, path: str) -> dict[str, TreeEntry]:
        merged = self._folders.get(path)
        if merged is None:
            entry = self.find(path)
            tree = entry.oid if entry and entry.is_tree else None
            merged = self._folders[path] = entries_by_name(self._objects, tree)
        return merged


def _refused(changes: _Changes) -> list[str]:
    return [path for path, (_, new) in changes.items() if new and not _acceptable(path, new)]


def _acceptable(path: str, entry: TreeEntry) -> bool:
    """Return whether an entry may be accepted.

    It must be a plain file with a safe path, and must not be inside of what is a record's file.
    """
    if entry.mode not in {BLOB, EXEC} or not safe_path(path):
        return False
    parts = path.split("/")
    return not any(
        part.endswith(".md") and id_of_path("/".join(parts[: n + 1]))
        for n, part in enumerate(parts[:-1])
    )


@dataclass(slots=True)
class _PathMerge:
    """Merges the paths that both sides changed differently."""

    objects: Objects
    trees: tuple[str, str]  # of both sides
    report: Report

    def edits(
        self,
        path: str,
        old: TreeEntry | None,
        our_entry: TreeEntry | None,
        their_entry: TreeEntry | None,
    ) -> Edits:
        """Return the edits of a path, given what the base and each side have there."""
        if our_entry is None or their_entry is None:
            kept = our_entry or their_entry
            assert kept is not None
            return self._removed_by_other(path, kept)
        if our_entry.oid == their_entry.oid:
            return {path: TreeEntry(our_entry.name, BLOB, our_entry.oid)}
        id = id_of_path(path)
        most = FILE_LIMIT if id else PLAIN_LIMIT
        base = self.objects.read_small(old.oid, most) if old else None
        ours, theirs = (
            self.objects.read_small(entry.oid, most) for entry in (our_entry, their_entry)
        )
        if ours is None or theirs is None:
            is_first = ours is not None or (theirs is None and our_entry.oid > their_entry.oid)
            return self._too_large(
                path, *((our_entry, their_entry) if is_first else (their_entry, our_entry))
            )
        if id:
            return self._record(path, id, base, ours, theirs)
        return _plain_file(path, base, ours, theirs)

    def _removed_by_other(self, path: str, kept: TreeEntry) -> Edits:
        """Bring a file back, unless a tombstone says that its record was forgotten."""
        id = id_of_path(path)
        marks = self._marks(id) if id else []
        if not id or not marks:
            return {path: TreeEntry(kept.name, BLOB, kept.oid)}
        if any(_purged(self.objects, mark) for mark in marks):
            return {path: None}
        where, what = _to_attic(self.objects, id, kept)
        return {path: None, where: what}

    def _marks(self, id: str) -> list[TreeEntry]:
        """Return the tombstones of a record."""
        entries = (self.objects.find(tree, tombstone_path(id)) for tree in self.trees)
        return [entry for entry in entries if entry and not entry.is_tree]

    def _too_large(self, path: str, stays: TreeEntry, goes: TreeEntry) -> Edits:
        """Treat a file that is too large to be read as a damaged one, by its oid."""
        id = id_of_path(path)
        if id:
            self.report.damaged.append(path)
        where, what = _to_attic(self.objects, id or "files", goes)
        return {path: TreeEntry(stays.name, BLOB, stays.oid), where: what}

    def _record(self, path: str, id: str, base: bytes | None, ours: bytes, theirs: bytes) -> Edits:
        merged = merge_bytes(id, base, ours, theirs, lambda name: self._from_attic(id, name))
        if merged.conflict:
            self.report.conflicts.append(id)
        if merged.damaged:
            self.report.damaged.append(path)
        return {
            path: merged.data,
            **{attic_path(id, name): data for name, data in merged.attic.items()},
        }

    def _from_attic(self, id: str, name: str) -> bytes | None:
        for tree in self.trees:
            entry = self.objects.find(tree, attic_path(id, name))
            if entry and not entry.is_tree:
                return self.objects.read_small(entry.oid, FILE_LIMIT)
        return None


def _plain_file(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Edits:
    """Merge two contents of a file that is no record."""
    if path.startswith("usage/"):
        return {path: _merge_usage(path, base, ours, theirs)}
    if path == PURGES:  # each line stays: another clone's purge is not ours to forget
        lines = sorted({*ours.split(b"\n"), *theirs.split(b"\n")} - {b""})
        return {path: b"".join(line + b"\n" for line in lines)}
    if path.startswith("tombstones/"):
        return {path: min(ours, theirs, key=lambda mark: (b'"purged": true' not in mark, mark))}
    # a file that no rule knows: one side by its digest, the other in the attic
    stays, goes = (ours, theirs) if digest(ours) > digest(theirs) else (theirs, ours)
    return {path: stays, attic_path("files", digest(goes)): goes}


def _to_attic(
    objects: Objects, folder: str, value: bytes | TreeEntry
) -> tuple[str, bytes | TreeEntry]:
    """Return where a file is kept.

    It is kept under the digest of its bytes, or, if it is too large to read, under its oid's first
    16 characters.
    """
    data = objects.read_small(value.oid, PLAIN_LIMIT) if isinstance(value, TreeEntry) else value
    if data is not None:
        return attic_path(folder, digest(data)), data
    assert isinstance(value, TreeEntry)
    path = attic_path(folder, value.oid[:16])
    return path, TreeEntry(path.rsplit("/", 1)[1], BLOB, value.oid)


def _purged(objects: Objects, mark: bytes | TreeEntry | None) -> bool:
    data = objects.read_small(mark.oid, FILE_LIMIT) if isinstance(mark, TreeEntry) else mark
    return data is not None and b'"purged": true' in data


def _merge_usage(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> bytes:
    if has_hours(path):
        return hours_bytes(joined(map(parse_hours, (ours, theirs))))
    start, our_counts, their_counts = parse_usage(base), parse_usage(ours), parse_usage(theirs)
    out = {}
    for id in {*our_counts, *their_counts}:
        was = start.get(id, {"n": 0, "last": ""})
        a, b = our_counts.get(id, was), their_counts.get(id, was)
        out[id] = {
            "n": was["n"] + max(0, a["n"] - was["n"]) + max(0, b["n"] - was["n"]),
            "last": max(a["last"], b["last"], was["last"]),
        }
    return usage_bytes(out)


def _bring_back_used(objects: Objects, edits: Edits, mine: _Changes, theirs: _Changes) -> None:
    """Bring records back that one side collected while the other side read them.

    A record whose making was undone stays away: it was read when it was new.
    """
    for gone, used in ((mine, theirs), (theirs, mine)):
        removed = _removed_by_either_side(gone, used)
        reads = _late_reads(objects, used) if removed else {}
        for id in removed.keys() & reads.keys():
            path, old = removed[id]
            record = sane(objects.read_small(old.oid, FILE_LIMIT) or b"", id)
            if isinstance(record, Record) and _is_late(record.created, reads[id]):
                edits[path] = TreeEntry(old.name, BLOB, old.oid)


def _removed_by_either_side(gone: _Changes, others: _Changes) -> dict[str, tuple[str, TreeEntry]]:
    """Return (path, what was there) of records that one side removed without a tombstone, by id."""
    removed = {
        id_of_path(path): (path, old)
        for path, (old, new) in gone.items()
        if old and new is None and path not in others
    }
    return {id: row for id, row in removed.items() if id and tombstone_path(id) not in gone}


def _late_reads(objects: Objects, changes: _Changes) -> dict[str, str]:
    """Return when one side read records that it has more reads of than the base, by id."""
    out: dict[str, str] = {}
    for path, (old, new) in changes.items():
        if not path.startswith("usage/") or new is None:
            continue
        before, after = (
            parse_usage(objects.read_small(entry.oid, PLAIN_LIMIT) if entry else None)
            for entry in (old, new)
        )
        for id, reads in after.items():
            if reads["n"] > before.get(id, {"n": 0})["n"]:
                out[id] = max(out.get(id, ""), reads["last"])
    return out


def _is_late(created: str, read: str) -> bool:
    """Return whether a record was read days after it was made."""
    try:
        return seconds(read) - seconds(created) > UNDONE * 86400
    except ValueError:
        return False


def _bury(
    objects: Objects,
    edits: Edits,
    mine: _Changes,
    tree: _Tree,
) -> None:
    """Move a record that one side added to the attic when the other side forgot its id.

    Happens to captured gotchas, whose ids come from their patterns: muted here, learned there.
    """
    touched = {p for p in (*edits, *mine) if p.startswith("tombstones/")}
    records = {p for p in (*edits, *mine) if id_of_path(p)}
    ids = {p.rsplit("/", 1)[1] for p in touched} | {id for p in records if (id := id_of_path(p))}
    for id in sorted(ids):
        if kind_of(id) is None:
            continue
        mark = _result(edits, tombstone_path(id), tree)
        if mark is None:
            continue
        path = record_path(id)
        result = _result(edits, path, tree)
        if result is not None:
            edits[path] = None
            if not _purged(objects, mark):
                where, what = _to_attic(objects, id, result)
                edits[where] = what


def _break_cycles(
    objects: Objects,
    edits: Edits,
    mine: _Changes,
    tree: _Tree,
) -> None:
    """Have the newest of records that supersede one another hold, where both sides changed them."""

    def read(id: str) -> Record | None:
        value = _result(edits, record_path(id), tree) if kind_of(id) else None
        data = objects.read_small(value.oid, FILE_LIMIT) if isinstance(value, TreeEntry) else value
        record = sane(data, id) if data else None
        return record if isinstance(record, Record) else None

    both = [id for path in edits if path in mine and (id := id_of_path(path))]
    for record in revived(both, read):
        edits[record_path(record.id)] = encode(record)


def _result(edits: Edits, path: str, tree: _Tree) -> bytes | TreeEntry | None:
    value = edits[path] if path in edits else tree.find(path)
    return None if isinstance(value, TreeEntry) and value.is_tree else value


def _settle_clashes(objects: Objects, edits: Edits, tree: _Tree) -> None:
    """Where one side has a file and the other a folder of its name, keep the folder.

    The file goes to the attic.
    """
    folders = {
        "/".join(parts[:n])
        for path, value in edits.items()
        if value is not None
        for parts in [path.split("/")]
        for n in range(1, len(parts))
    }
    for folder in sorted(folders):
        _give_way(
            objects, edits, folder, edits.pop(folder) if folder in edits else tree.find(folder)
        )
    for path, value in list(edits.items()):
        entry = tree.find(path) if value is not None else None
        if (
            entry
            and entry.is_tree
            and any(edits.get(p, e) is not None for p, e in files(objects, entry.oid, path + "/"))
        ):
            _give_way(objects, edits, path, edits.pop(path))


def _give_way(objects: Objects, edits: Edits, path: str, value: bytes | TreeEntry | None) -> None:
    if isinstance(value, TreeEntry) and (value.is_tree or not _acceptable(path, value)):
        return
    if value is not None:
        where, what = _to_attic(objects, "files", value)
        edits[where] = what
