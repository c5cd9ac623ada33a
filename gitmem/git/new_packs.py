"""New objects go into a small pack of their own, which git must keep until a ref leads to them.

`git gc --prune=now`, `git prune --expire=now` and `git repack -ad` throw away at once what no ref
leads to. A loose object has no protection from that between its making and the move of the ref. A
pack has: git leaves one with a `.keep` beside it alone. The `.keep` goes when the ref has moved. A
repacking that listed the packs before that does not touch the pack, and one that lists them later
finds the ref moved.

The names of our packs begin with OURS; the rest is random, so no other process has a pack of the
same name. Format: https://git-scm.com/docs/gitformat-pack (pack version 2 without deltas, index
version 2).
"""

import os
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from gitmem.base.fast import new_hash
from gitmem.base.files import listing, sync_dir
from gitmem.base.processes import is_gone, own
from gitmem.base.regular_files import read_regular
from gitmem.base.sharing import shared_mode
from gitmem.git.object_codec import RAW_LENGTH, entry_bytes
from gitmem.git.objects import Raw

OURS = b"gitmem".hex()  # git wants a name of hex digits
# packs of one process that wait for a ref; above it they are joined: a rewritten history has
# thousands of commits
MANY = 16
# a pack that is larger than all smaller ones together by this factor is not written again
APART = 2
STALE = 3600.0  # seconds after which a `.keep` of ours is that of a process that died
_MAGIC = b"\xfftOc\x00\x00\x00\x02"
_LARGE = 1 << 31  # an offset that takes eight bytes


@dataclass(slots=True)
class _Waiting:
    """A pack that waits for its ref: its size in bytes, its commits, the thread that made it."""

    name: str
    size: int
    commits: set[str]
    thread: int


class NewPacks:
    """The packs that one process made and that no ref leads to yet.

    Raises OSError where the disk refuses.
    """

    def __init__(self, objects_folder: str, algorithm: str, shared: int) -> None:
        self.folder = os.path.join(objects_folder, "pack")
        self._algorithm = algorithm
        self._shared = shared
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()

    def write(self, raws: Sequence[Raw]) -> None:
        """Put objects into a new pack; it is on the disk when this returns."""
        commits = {oid for oid, kind, _ in raws if kind == "commit"}
        self._add(((oid, entry_bytes(kind, data)) for oid, kind, data in raws), len(raws), commits)
        mine = [pack for pack in self._waiting if pack.thread == threading.get_ident()]
        if len(mine) > MANY:
            self._join([mine[n] for n in smaller([pack.size for pack in mine])])

    def _add(self, rows: Iterable[tuple[str, bytes]], count: int, commits: set[str]) -> None:
        name = new_name(self._algorithm)
        size = _write(
            os.path.join(self.folder, f"pack-{name}"), rows, count, self._algorithm, self._shared
        )
        with self._lock:
            self._waiting.append(_Waiting(name, size, commits, threading.get_ident()))

    def _join(self, packs: Sequence[_Waiting]) -> None:
        rows: dict[str, bytes] = {}
        for pack in packs:
            rows.update(_entries(os.path.join(self.folder, f"pack-{pack.name}"), self._algorithm))
        self._add(rows.items(), len(rows), set().union(*(pack.commits for pack in packs)))
        with self._lock:
            self._waiting = [pack for pack in self._waiting if pack not in packs]
        for pack in packs:
            remove(self.folder, pack.name)

    def release(self, commit: str) -> None:
        """Let git treat packs as any other, now that a ref names a commit.

        These are the pack of the commit, and those that this thread made before.
        """
        mine = [pack for pack in self._waiting if pack.thread == threading.get_ident()]
        if any(commit in pack.commits for pack in mine):
            self._release(mine)

    def close(self) -> None:
        """Let git treat all packs as any other: what no ref leads to by now is not wanted."""
        self._release(list(self._waiting))

    def _release(self, packs: Sequence[_Waiting]) -> None:
        with self._lock:
            self._waiting = [pack for pack in self._waiting if pack not in packs]
        for pack in packs:
            with suppress(OSError):  # on a disk that became read-only: a later packing removes it
                os.unlink(os.path.join(self.folder, f"pack-{pack.name}.keep"))


def new_name(algorithm: str) -> str:
    """Return a name for a pack, without `pack-`, that no other has."""
    return OURS + os.urandom(RAW_LENGTH[algorithm] - len(OURS) // 2).hex()


def is_kept(folder: str, name: str) -> bool:
    """Return whether git must keep a pack.

    This is the case when it has a `.keep` that no process of ours left behind when it died.
    """
    return os.path.exists(os.path.join(folder, f"pack-{name}.keep")) and not is_abandoned(
        folder, name
    )


def is_abandoned(folder: str, name: str) -> bool:
    """Return whether a process of ours left a `.keep` beside a pack when it died.

    The process is gone, or nobody can tell and it was long ago.
    """
    path = os.path.join(folder, f"pack-{name}.keep")
    try:
        made = os.stat(path).st_mtime
    except OSError:
        return False
    if not name.startswith(OURS):
        return False
    lines = read_regular(path, 1000).decode("utf-8", "replace").split("\n")
    gone = is_gone(lines[1]) if len(lines) > 1 and lines[1] else None
    return made < time.time() - STALE if gone is None else gone


def abandoned(objects_folder: str) -> list[str]:
    """Return the paths of the `.keep` files of writes that were killed."""
    folder = os.path.join(objects_folder, "pack")
    names = (os.path.basename(path) for path in listing(folder, ".keep"))
    return [os.path.join(folder, name) for name in names if is_abandoned(folder, name[5:-5])]


def release_abandoned(objects_folder: str) -> None:
    """Let git treat the packs of writes that were killed as any other."""
    for path in abandoned(objects_folder):
        with suppress(OSError):
            os.unlink(path)


def smaller(sizes: Sequence[int]) -> list[int]:
    """Return which packs, by number, are to be combined into one.

    Packs that outweigh the rest are left out, so that a large one is not written anew each time.
    """
    ordered = sorted(range(len(sizes)), key=lambda n: sizes[n])
    count, below = len(ordered), sum(sizes)
    while count and sizes[ordered[count - 1]] >= APART * (below - sizes[ordered[count - 1]]):
        count -= 1
        below -= sizes[ordered[count]]
    return ordered[:count]


def remove(folder: str, name: str) -> None:
    """Remove a pack, its index first: git ignores a pack without one."""
    for suffix in (".idx", ".rev", ".bitmap", ".mtimes", ".pack", ".keep"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, f"pack-{name}{suffix}"))


def _write(
    stem: str, rows: Iterable[tuple[str, bytes]], count: int, algorithm: str, shared: int
) -> int:
    """Write a pack of `count` (oid, entry) and its index; return its size.

    The index comes last: git sees no pack without one.
    """
    part = stem + ".idx.part"  # not tmp_*: git prunes those
    made: list[str] = []
    try:
        os.makedirs(os.path.dirname(stem), exist_ok=True)
        with _create(stem + ".keep", made, shared) as file:
            file.write(
                b"gitmem: no ref leads to this pack yet\n"
                + own().encode("utf-8", "replace")
                + b"\n"
            )
        table: list[tuple[bytes, int, int]] = []
        with _create(stem + ".pack", made, shared) as file:
            head = b"PACK" + struct.pack(">II", 2, count)
            digest = new_hash(algorithm, head)
            file.write(head)
            at = len(head)
            for oid, entry in rows:
                digest.update(entry)
                file.write(entry)
                table.append((bytes.fromhex(oid), zlib.crc32(entry), at))
                at += len(entry)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        with _create(part, made, shared) as file:
            file.write(_index(table, digest.digest(), algorithm))
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, stem + ".idx")
        made[-1] = stem + ".idx"
        sync_dir(os.path.dirname(stem))
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                os.unlink(path)
        raise
    return at


def _create(path: str, made: list[str], shared: int) -> "IO[bytes]":
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    made.append(path)
    if shared:
        os.fchmod(handle, shared_mode(os.fstat(handle).st_mode, shared) & 0o7777)
    return os.fdopen(handle, "wb")


def _index(table: Sequence[tuple[bytes, int, int]], checksum: bytes, algorithm: str) -> bytes:
    """Return the index of (oid, CRC-32, offset) of a pack with this checksum."""
    ordered = sorted(table)
    counts = [0] * 256
    for oid, _, _ in ordered:
        counts[oid[0]] += 1
    total, fanout = 0, []
    for count in counts:
        total += count
        fanout.append(total)
    large = [at for _, _, at in ordered if at >= _LARGE]
    places = {at: n for n, at in enumerate(large)}
    body = b"".join(
        (
            _MAGIC,
            struct.pack(">256I", *fanout),
            *(oid for oid, _, _ in ordered),
            struct.pack(f">{total}I", *(crc for _, crc, _ in ordered)),
            struct.pack(
                f">{total}I", *(_LARGE | places[at] if at >= _LARGE else at for _, _, at in ordered)
            ),
            struct.pack(f">{len(large)}Q", *large),
            checksum,
        )
    )
    return body + new_hash(algorithm, body).digest()


def read_index(path: str, algorithm: str) -> list[tuple[str, int]]:
    """Return (oid, offset) of each object that a pack's index lists, by oid.

    Raises OSError, ValueError for another version.
    """
    length = RAW_LENGTH[algorithm]
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(_MAGIC):
        raise ValueError(path)
    (count,) = struct.unpack_from(">I", data, 8 + 255 * 4)
    oids = 8 + 1024
    places = oids + count * (length + 4)
    offsets = struct.unpack_from(f">{count}I", data, places)
    large = struct.unpack_from(
        f">{(len(data) - places - 4 * count - 2 * length) // 8}Q", data, places + 4 * count
    )
    return [
        (
            data[oids + n * length : oids + (n + 1) * length].hex(),
            large[at - _LARGE] if at >= _LARGE else at,
        )
        for n, at in enumerate(offsets)
    ]


def _entries(stem: str, algorithm: str) -> Iterator[tuple[str, bytes]]:
    """Yield (oid, entry) of a pack that `_write` made."""
    rows = sorted(read_index(stem + ".idx", algorithm), key=lambda row: row[1])
    with open(stem + ".pack", "rb") as file:
        end = os.fstat(file.fileno()).st_size - RAW_LENGTH[algorithm]
        for (oid, at), (_, stop) in zip(rows, [*rows[1:], ("", end)], strict=True):
            file.seek(at)
            yield oid, file.read(stop - at)
