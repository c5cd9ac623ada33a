"""Git's object bytes: trees, commits and packs, made and read without git.

Pure: both back ends share it, so a draft gives the same oid on each. Formats:
https://git-scm.com/docs/gitformat-pack and Documentation/technical of git.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from gitmem.base.fast import new_hash
from gitmem.errors import InvalidRecord
from gitmem.git.objects import TREE, Commit, Draft, Identity, Raw, TreeEntry

RAW_LENGTH = {"sha1": 20, "sha256": 32}
_PACK_TYPE = {"commit": 1, "tree": 2, "blob": 3}


def object_id(kind: str, data: bytes, algorithm: str) -> str:
    """Return the oid of an object's content."""
    digest = new_hash(algorithm, b"%s %d\0" % (kind.encode(), len(data)))
    digest.update(data)
    return digest.hexdigest()


def parse_tree(data: bytes, algorithm: str) -> tuple[TreeEntry, ...]:
    """Return the entries of a tree's bytes; raises InvalidRecord when they are cut short."""
    length = RAW_LENGTH[algorithm]
    out = []
    at = 0
    try:
        while at < len(data):
            space = data.index(b" ", at)
            zero = data.index(b"\0", space)
            end = zero + 1 + length
            if end > len(data):
                raise ValueError
            # no path names an entry with a slash in it: only a hostile tree has one; as NUL it is
            # refused, and kept as it is
            name = data[space + 1 : zero].decode("utf-8", "surrogateescape").replace("/", "\0")
            out.append(TreeEntry(name, int(data[at:space], 8), data[zero + 1 : end].hex()))
            at = end
    except ValueError as error:
        raise InvalidRecord(
            "a tree object of the store is damaged.", "Run 'git fsck', then 'git mem doctor'."
        ) from error
    return tuple(out)


def ordered_tree(entries: Iterable[TreeEntry]) -> tuple[tuple[TreeEntry, ...], bytes]:
    """Return entries as git sorts them, and the bytes of the tree.

    Folders are sorted as if their names ended in `/`.
    """
    rows = []
    for entry in entries:
        name = entry.name.encode("utf-8", "surrogateescape").replace(b"\0", b"/")
        rows.append(
            (
                name + b"/" if entry.mode == TREE else name,
                b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid)),
                entry,
            )
        )
    rows.sort(key=itemgetter(0))
    return tuple(entry for _, _, entry in rows), b"".join(row for _, row, _ in rows)


def _person(identity: Identity) -> str:
    sign = "-" if identity.offset < 0 else "+"
    hours, minutes = divmod(abs(identity.offset), 60)
    return (
        f"{clean_name(identity.name)} <{clean_name(identity.email)}> {identity.time} "
        f"{sign}{hours:02d}{minutes:02d}"
    )


def clean_name(text: str) -> str:
    """Return a name or address without the characters that git's header cannot carry."""
    kept = "".join(c for c in text if c not in "<>\n\0\r").strip(" .,:;\"'")
    return kept.encode("utf-8", "replace").decode() or "unknown"


def commit_bytes(tree: str, draft: Draft) -> bytes:
    """Return a commit's bytes."""
    lines = [f"tree {tree}", *(f"parent {p}" for p in draft.parents)]
    lines += [
        f"author {_person(draft.author)}",
        f"committer {_person(draft.committer)}",
        "",
        draft.message,
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _parse_person(text: str) -> Identity:
    name, _, rest = text.partition(" <")
    email, _, when = rest.rpartition("> ")
    stamp, _, zone = when.partition(" ")
    try:
        time = int(stamp)
        offset = (int(zone[1:3]) * 60 + int(zone[3:5])) * (-1 if zone.startswith("-") else 1)
    except ValueError:
        time, offset = 0, 0
    return Identity(name, email, time, offset)


def parse_commit(oid: str, data: bytes) -> Commit:
    """Return a commit from its bytes; unknown headers (signatures) are passed over."""
    head, _, message = data.partition(b"\n\n")
    tree, parents = "", []
    author = committer = Identity("unknown", "unknown", 0)
    for line in head.decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "author":
            author = _parse_person(value)
        elif key == "committer":
            committer = _parse_person(value)
    if not tree:
        raise InvalidRecord(
            f"commit {oid[:12]} of the store is damaged.", "Run 'git fsck', then 'git mem doctor'."
        )
    return Commit(oid, tree, tuple(parents), author, committer, message.decode("utf-8", "replace"))


def build(
    draft: Draft,
    read_tree: Callable[[str], tuple[TreeEntry, ...]],
    algorithm: str,
    keep_tree: Callable[[str, tuple[TreeEntry, ...]], None] = lambda *_: None,
) -> tuple[str, str, list[Raw]]:
    """Return (commit oid, tree oid, new objects, children first) for a draft.

    `keep_tree` is told the trees that it made.
    """
    made = _NewObjects(read_tree, algorithm, keep_tree)
    tree = draft.base
    if draft.edits or tree is None:
        edits = made.nested(draft.edits)
        tree = made.tree(draft.base, edits) or made.add("tree", b"")
    commit = made.add("commit", commit_bytes(tree, draft))
    return commit, tree, list(made.objects.values())


@dataclass(slots=True)
class _NewObjects:
    """The objects that a draft needs, children first, by oid."""

    read_tree: Callable[[str], tuple[TreeEntry, ...]]
    algorithm: str
    keep_tree: Callable[[str, tuple[TreeEntry, ...]], None]
    objects: dict[str, Raw] = field(default_factory=dict)

    def add(self, kind: str, data: bytes) -> str:
        """Add an object, and return its oid."""
        oid = object_id(kind, data, self.algorithm)
        self.objects.setdefault(oid, (oid, kind, data))
        return oid

    def nested(self, edits: Mapping[str, bytes | TreeEntry | None]) -> dict[str, Any]:
        """Return edits by path as edits by name, those of a folder in a dict of its own."""
        root: dict[str, Any] = {}
        for path, value in edits.items():
            folder = root
            *names, leaf = path.split("/")
            for name in names:
                folder = folder.setdefault(name, {})
                if not isinstance(folder, dict):
                    raise InvalidRecord(f"path '{path}' runs through a file.")
            folder[leaf] = self._entry(leaf, value) if isinstance(value, bytes) else value
        return root

    def _entry(self, name: str, data: bytes) -> TreeEntry:
        return TreeEntry(name, 0o100644, self.add("blob", data))

    def tree(self, base: str | None, edits: Mapping[str, Any]) -> str | None:
        """Add the tree that edits by name make of another, and return its oid; None if empty."""
        entries = {entry.name: entry for entry in self.read_tree(base)} if base else {}
        for name, value in edits.items():
            entry = self._edited(name, entries.get(name), value)
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        if not entries:
            return None
        ordered, data = ordered_tree(entries.values())
        oid = self.add("tree", data)
        self.keep_tree(oid, ordered)
        return oid

    def _edited(
        self, name: str, old: TreeEntry | None, value: TreeEntry | dict[str, Any] | None
    ) -> TreeEntry | None:
        if isinstance(value, TreeEntry):
            return TreeEntry(name, value.mode, value.oid)
        if value is None:
            return None
        oid = self.tree(old.oid if old and old.mode == TREE else None, value)
        return TreeEntry(name, TREE, oid) if oid else None


def entry_bytes(kind: str, data: bytes, level: int = 1) -> bytes:
    """Return an object as a pack holds it, without a delta.

    This is its type and size, then the compressed data.
    """
    size = len(data)
    byte = (_PACK_TYPE[kind] << 4) | (size & 15)
    size >>= 4
    prefix = bytearray()
    while size:
        prefix.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    prefix.append(byte)
    return bytes(prefix) + zlib.compress(data, level)
