"""Read one store: its records at a commit.

Writing is `store.store`, which costs ten times as much to load.

A hook that brings the index up to date reads with this.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from gitmem.errors import InvalidRecord, MissingObject, UnknownId
from gitmem.git.objects import Lost, Objects, TreeEntry, files
from gitmem.records.codec import sane
from gitmem.records.record import Record
from gitmem.store.layout import (
    FILE_LIMIT,
    FOLDER,
    FORMAT_PATH,
    check_format,
    id_of_path,
    in_record_folder,
    record_path,
)

T = TypeVar("T")
GONE = "it is missing from the repository: run 'git mem doctor --fix'."


class Stored(NamedTuple):
    """A record as it stands at a commit."""

    record: Record
    oid: str
    path: str


class Damaged(NamedTuple):
    """A file where a record should be, that is none; kept byte for byte."""

    path: str
    oid: str
    reason: str


@dataclass(slots=True, eq=False, repr=False)
class Reader:
    """One ref with records, for reading."""

    objects: Objects
    ref: str
    _checked: set[str] = field(default_factory=set, kw_only=True)

    def tip(self) -> str | None:
        """Return the commit that the ref names; None when the store does not exist yet."""
        return self.objects.tip(self.ref)

    def tree(self, at: str | None = None) -> str | None:
        """Return the tree of a commit (default: the tip) after checking its format."""
        commit = at or self.tip()
        if commit is None:
            return None
        tree = self.objects.commit(commit).tree
        if tree not in self._checked:
            entry = self.objects.find(tree, FORMAT_PATH)
            check_format(
                self.objects.read_small(entry.oid, FILE_LIMIT)
                if entry and not entry.is_tree
                else None,
                self.ref,
            )
            self._checked.add(tree)
        return tree

    def read_file(self, path: str, at: str | None = None) -> bytes | None:
        """Return the bytes of any file of the store, or None."""
        tree = self.tree(at)
        entry = self.objects.find(tree, path) if tree else None
        return self.objects.read(entry.oid) if entry and not entry.is_tree else None

    def get(self, id: str, at: str | None = None) -> Stored:
        """Return a record by its full id.

        Raises UnknownId, InvalidRecord when its file is damaged.
        """
        path = record_path(id)
        tree = self.tree(at)
        entry = self.objects.find(tree, path) if tree else None
        if entry is None or entry.is_tree:
            raise UnknownId(
                f"no record has the id {id}{' at that time' if at else ''}.",
                "List what there is with: git mem list",
            )
        loaded = load(path, entry.oid, self.objects.read_small(entry.oid, FILE_LIMIT))
        if isinstance(loaded, Damaged):
            raise InvalidRecord(
                f"the file of {id} is damaged: {loaded.reason}",
                "Run 'git mem doctor' to see all damaged files.",
            )
        return loaded

    def entries(
        self, at: str | None = None, lost: Lost | None = None
    ) -> Iterator[tuple[str, TreeEntry]]:
        """Yield (path, entry) of every file in the folders of records.

        `lost` is told of folders that are gone, else MissingObject is raised.
        """
        tree = self.tree(at)
        for top in self.objects.tree(tree) if tree else ():
            if top.is_tree and top.name in FOLDER.values():
                yield from files(self.objects, top.oid, top.name + "/", lost=lost)

    def records(self, at: str | None = None) -> Iterator[Stored | Damaged]:
        """Yield every record, and every file that should be one and is not, or is gone."""
        lost: list[Damaged] = []
        listed = list(self.entries(at, lambda path, oid: lost.append(Damaged(path, oid, GONE))))
        yield from lost
        yield from (
            Damaged(p, e.oid, "it is not a regular file.")
            for p, e in listed
            if e.mode not in {0o100644, 0o100755}
        )
        yield from self.load((p, e.oid) for p, e in listed if e.mode in {0o100644, 0o100755})

    def load(self, rows: Iterable[tuple[str, str]], size: int = 500) -> Iterator[Stored | Damaged]:
        """Yield what files of records hold, by (path, oid)."""
        for some in batched(rows, size):
            try:
                loaded = dict(
                    self.objects.read_many_small(dict.fromkeys(oid for _, oid in some), FILE_LIMIT)
                )
            except MissingObject:
                yield from (self._load_record(path, oid) for path, oid in some)
            else:
                yield from (load(path, oid, loaded[oid]) for path, oid in some)

    def _load_record(self, path: str, oid: str) -> Stored | Damaged:
        try:
            return load(path, oid, self.objects.read_small(oid, FILE_LIMIT))
        except MissingObject:
            return Damaged(path, oid, GONE)


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most `size` rows."""
    some: list[T] = []
    for row in rows:
        some.append(row)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


def load(path: str, oid: str, data: bytes | None) -> Stored | Damaged:
    """Return what a file in the folders of records holds.

    No data stands for one that is too large to read.
    """
    if data is None:
        return Damaged(
            path, oid, f"it has more than {FILE_LIMIT:,} bytes, more than a record may have."
        )
    id = id_of_path(path)
    if id is None:
        return Damaged(
            path,
            oid,
            "its name is not that of a record."
            if in_record_folder(path)
            else "it is not a record.",
        )
    record = sane(data, id)
    return Damaged(path, oid, record) if isinstance(record, str) else Stored(record, oid, path)
