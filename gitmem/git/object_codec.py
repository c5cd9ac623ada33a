"""Git's object bytes: trees, commits and packs, made and read without git.

Pure: both back ends share it, so a draft gives the same oid on each. Formats:
https://git-scm.com/docs/gitformat-pack and Documentation/technical of git.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from gitmem.errors import InvalidRecord
from gitmem.git.objects import TREE, Commit, Draft, Identity, Raw, TreeEntry

RAW_LENGTH = {"sha1": 20, "sha256": 32}
_PACK_TYPE = {"commit": 1, "tree": 2, "blob": 3}


def object_id(kind: str, data: bytes, algorithm: str) -> str:
    """Return the oid of an object's content."""
    digest = hashlib.new(algorithm, b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
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


def tree_bytes(entries: Iterable[TreeEntry]) -> bytes:
    """Return a tree's bytes."""
    return ordered_tree(entries)[1]


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


def build(  # noqa: C901
    draft: Draft,
    read_tree: Callable[[str], tuple[TreeEntry, ...]],
    algorithm: str,
    keep_tree: Callable[[str, tuple[TreeEntry, ...]], None] = lambda *_: None,
) -> tuple[str, str, list[Raw]]:
    """Return (commit oid, tree oid, new objects, children first) for a draft.

    `keep_tree` is told the trees that it made.
    """
    new: dict[str, Raw] = {}

    def add(kind: str, data: bytes) -> str:
        oid = object_id(kind, data, algorithm)
        new.setdefault(oid, (oid, kind, data))
        return oid

    nested: dict[str, object] = {}
    for path, value in draft.edits.items():
        here = nested
        *folders, leaf = path.split("/")
        for folder in folders:
            step = here.setdefault(folder, {})
            if not isinstance(step, dict):
                raise InvalidRecord(f"path '{path}' runs through a file.")
            here = step
        here[leaf] = (
            TreeEntry(leaf, 0o100644, add("blob", value)) if isinstance(value, bytes) else value
        )

    def level(base: str | None, edits: Mapping[str, object]) -> str | None:
        entries = {e.name: e for e in read_tree(base)} if base else {}
        for name, value in edits.items():
            if isinstance(value, dict):
                old = entries.get(name)
                oid = level(old.oid if old and old.mode == TREE else None, value)
                if oid is None:
                    entries.pop(name, None)
                else:
                    entries[name] = TreeEntry(name, TREE, oid)
            elif isinstance(value, TreeEntry):
                entries[name] = TreeEntry(name, value.mode, value.oid)
            else:
                entries.pop(name, None)
        if not entries:
            return None
        ordered, data = ordered_tree(entries.values())
        oid = add("tree", data)
        keep_tree(oid, ordered)
        return oid

    if nested or draft.base is None:
        tree = level(draft.base, nested) or add("tree", b"")
    else:
        tree = draft.base
    commit = add("commit", commit_bytes(tree, draft))
    return commit, tree, list(new.values())


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
