"""What a store may ask of git: blobs, trees, commits, guarded refs.

Two implementations keep this promise: `objects_pygit2` (libgit2) and `objects_cli` (the git
command). One contract suite runs on both.

An object id is lower-case hex, 40 or 64 characters. A path is a `/`-joined str; bytes that are
not UTF-8 are carried as surrogates (`surrogateescape`), a slash inside one name as NUL.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gitmem.errors import External, MissingObject

if TYPE_CHECKING:
    from gitmem.git.process import Git

BLOB, EXEC, LINK, TREE, COMMIT = 0o100644, 0o100755, 0o120000, 0o040000, 0o160000
Raw = tuple[str, str, bytes]  # oid, type, content
# Folders nested deeper than this are one entry, unopened: a store needs 2, a path that may come in
# has at most 7.
MAX_DEPTH = 7
# Entries of folders that were opened before under other names. A store has next to none, for names
# hold the shard or the id;
# a few bytes of ten equal folders in ten equal folders stand for any number of files.
MAX_REPEATS = 10_000
# Bytes of a tree or a commit that is parsed: some 250,000 names in one folder.
MAX_PARSED = 16 * 1024 * 1024


class TreeEntry(NamedTuple):
    """One entry of a tree."""

    name: str
    mode: int
    oid: str

    @property
    def is_tree(self) -> bool:
        """Whether the entry is a folder."""
        return self.mode == TREE


class Identity(NamedTuple):
    """Who wrote a commit, and when (seconds since the epoch, minutes east of UTC)."""

    name: str
    email: str
    time: int
    offset: int = 0


class Commit(NamedTuple):
    """A commit as git has it."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Identity
    committer: Identity
    message: str


class Draft(NamedTuple):
    """A commit to be made: edits on top of a base tree.

    `edits` maps a path to new bytes, to an `Entry` that already exists (a blob or a whole
    folder), or to None to remove it. `base` is the oid of the tree that they change, or None.
    """

    base: str | None
    edits: Mapping[str, "bytes | TreeEntry | None"]
    parents: tuple[str, ...]
    message: str
    author: Identity
    committer: Identity


class TreeDifference(NamedTuple):
    """A path that differs between two trees; a side that lacks it is None."""

    path: str
    old: TreeEntry | None
    new: TreeEntry | None


class Traits(NamedTuple):
    """What an implementation is and can do."""

    name: str
    hash: str  # sha1 or sha256
    signs: bool = False


class TreeCache:
    """The trees read and written last: the next write starts from the trees that this one made."""

    def __init__(self, read: Callable[[str], tuple[TreeEntry, ...]], size: int = 2048) -> None:
        self._read = read
        self._size = size
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}

    def __call__(self, oid: str) -> tuple[TreeEntry, ...]:
        """Return a tree's entries, in git's order; raises what reading it raises."""
        tree = self._trees.pop(oid, None)
        if tree is None:
            tree = self._read(oid)
        self.put(oid, tree)
        return tree

    def put(self, oid: str, entries: tuple[TreeEntry, ...]) -> None:
        """Keep a tree, as the one used last."""
        self._trees[oid] = entries
        if len(self._trees) > self._size:
            self._trees.pop(next(iter(self._trees)), None)


class Objects(Protocol):
    """Git's objects and refs. Reads raise MissingObject for what is not there."""

    git: "Git"  # what asks git itself about the repository
    traits: Traits
    written: int  # how many packs were made

    def tip(self, ref: str) -> str | None:
        """Return the commit that a ref names, or None; raises External when the ref is broken."""

    def refs(self, prefix: str) -> dict[str, str]:
        """Return all refs below a prefix with their oids."""

    def read(self, oid: str) -> bytes:
        """Return a blob's bytes."""

    def read_small(self, oid: str, most: int) -> bytes | None:
        """Return a blob's bytes; None, unread, for more than `most` of them."""

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (oid, bytes) for blobs, in order; far cheaper than single reads."""

    def read_many_small(self, oids: Iterable[str], most: int) -> Iterator[tuple[str, bytes | None]]:
        """Yield (oid, bytes) for blobs, in order.

        Blobs of more than `most` bytes are not read, and have None.
        """

    def tree(self, oid: str) -> tuple[TreeEntry, ...]:
        """Return a tree's entries in git's order."""

    def commit(self, oid: str) -> Commit:
        """Return a commit."""

    def find(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry at a path below a tree, or None."""

    def write(self, draft: Draft) -> str:
        """Make the blobs, trees and the commit of a draft; return its oid. Moves no ref.

        Until `move` has a ref name the commit, or `close`, git throws none of them away, whatever
        is collected beside us.
        """

    def store(self, raws: Sequence[Raw]) -> None:
        """Put objects into the database that something names already.

        Kept as those of `write` are.
        """

    def adopt(self, oid: str) -> None:
        """Keep a commit that git itself made as `write` keeps one."""

    def move(self, ref: str, old: str | None, new: str, message: str) -> None:
        """Set a ref from `old` to `new`, durably; `old=None` means it must not exist.

        Raises Moved.
        """

    def delete(self, ref: str, old: str) -> None:
        """Delete a ref whose value is `old`; raises Moved."""

    def walk(self, tips: Iterable[str], hide: Iterable[str] = ()) -> Iterator[Commit]:
        """Yield commits reachable from `tips` but not from `hide`, newest first.

        Children come before parents.
        """

    def bases(self, first: str, second: str) -> tuple[str, ...]:
        """Return the best common ancestors of two commits, sorted by oid; empty if unrelated."""

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Say whether the first commit is reachable from the second (or is it)."""

    def close(self) -> None:
        """Release children and handles."""


class _Opened:
    """The folders opened in one go; raises External when equal ones make it endless."""

    def __init__(self) -> None:
        self._seen: set[object] = set()
        self._again = 0

    def note(self, folder: object, entries: int) -> None:
        if folder in self._seen:
            self._again += entries
            if self._again > MAX_REPEATS:
                raise External(
                    "the store's tree repeats equal folders without end: it was made to exhaust "
                    "memory.",
                    "Nothing was changed. Somebody with write access to the remote made this "
                    "tree: reset the ref there.",
                )
        else:
            self._seen.add(folder)


Lost = Callable[[str, str], None]  # told the path and the oid of a folder that cannot be read


def diff(
    objects: Objects, old: str | None, new: str | None, prefix: str = "", lost: Lost | None = None
) -> Iterator[TreeDifference]:
    """Yield what differs between two trees, blob by blob.

    Equal folders are not opened, nor those below MAX_DEPTH.

    Raises External for a tree that was made to be endless, MissingObject unless there is somebody
    to be told: then a folder that is gone has no changes.
    """
    return _diff(objects, old, new, prefix, _Opened(), lost)


def _diff(
    objects: Objects,
    old: str | None,
    new: str | None,
    prefix: str,
    opened: _Opened,
    lost: Lost | None,
) -> Iterator[TreeDifference]:
    if old == new:
        return
    try:
        before, after = entries_by_name(objects, old), entries_by_name(objects, new)
    except MissingObject:
        if lost is None:
            raise
        lost(prefix, new or "")
        return
    opened.note((old, new), len(before) + len(after))
    closed = prefix.count("/") >= MAX_DEPTH
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        if a == b:
            continue
        path = prefix + name
        below_a, leaf_a = _split(a, closed)
        below_b, leaf_b = _split(b, closed)
        if below_a or below_b:
            yield from _diff(objects, below_a, below_b, path + "/", opened, lost)
        if leaf_a or leaf_b:
            yield TreeDifference(path, leaf_a, leaf_b)


def entries_by_name(objects: Objects, tree: str | None) -> dict[str, TreeEntry]:
    """Return the entries of a tree by name; none without a tree."""
    return {entry.name: entry for entry in objects.tree(tree)} if tree else {}


def _split(entry: TreeEntry | None, closed: bool) -> tuple[str | None, TreeEntry | None]:
    """Return (oid of a folder to open, what stays closed)."""
    if closed or entry is None or not entry.is_tree:
        return None, entry
    return entry.oid, None


def files(
    objects: Objects,
    tree: str | None,
    prefix: str = "",
    depth: int = MAX_DEPTH,
    lost: Lost | None = None,
) -> Iterator[tuple[str, TreeEntry]]:
    """Yield (path, entry) for everything below a tree that is not a folder.

    Folders below `depth` others are yielded too, unopened.

    Raises External for a tree that was made to be endless, MissingObject unless there is somebody
    to be told.
    """
    return _files(objects, tree, prefix, depth, _Opened(), lost) if tree else iter(())


def _files(
    objects: Objects, tree: str, prefix: str, depth: int, opened: _Opened, lost: Lost | None
) -> Iterator[tuple[str, TreeEntry]]:
    try:
        entries = objects.tree(tree)
    except MissingObject:
        if lost is None:
            raise
        lost(prefix, tree)
        return
    opened.note(tree, len(entries))
    closed = prefix.count("/") >= depth
    for entry in entries:
        if entry.is_tree and not closed:
            yield from _files(objects, entry.oid, prefix + entry.name + "/", depth, opened, lost)
        else:
            yield prefix + entry.name, entry


def unparsed(oid: str, size: int) -> External:
    """Return the error for a tree or a commit that is too large to be one of a store."""
    return External(
        f"object {oid[:12]} has {size:,} bytes, more than a folder of a store may have.",
        "Run 'git mem doctor' to see what is there.",
    )


# What the operating system says through git, and what to do about it.
DISK_HINTS = (
    ("No space left", "Free some disk space and run the command again; nothing was half-written."),
    ("Disk quota", "Your disk quota is used up; free some space and run the command again."),
    (
        "Read-only file system",
        "The repository is on a read-only disk; reading works, writing needs a writable copy.",
    ),
    ("Permission denied", "You may not write there; check the owner and mode of the .git folder."),
    (
        "insufficient permission",
        "You may not write there; check the owner and mode of the .git folder.",
    ),
    (
        "unable to write",
        "Check that the disk has space and is writable, then run the command again.",
    ),
)


def refused(text: str) -> External:
    """Return the error for an object or a ref that could not be written, with what to do."""
    hint = next(
        (hint for part, hint in DISK_HINTS if part in text),
        "Run 'git mem doctor' to see what is wrong.",
    )
    return External(f"cannot write to the repository: {text}.", hint)
