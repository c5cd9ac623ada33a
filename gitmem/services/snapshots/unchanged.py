"""Files that are as the index has them, but not on disk as git would write them.

They differ in line ends, filters or permissions.

Git calls such a file unchanged, so nothing of it would be saved, and it would come back with other
bytes. Files are read only where git may convert them: by `core.autocrlf`, or by attributes.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.git.conversions import CHECKED_OUT_AS_STORED, FILTERED, Conversions
from gitmem.git.object_codec import object_id
from gitmem.git.work_state import Work, file_on_disk

USUAL = frozenset({0o644, 0o664, 0o755, 0o775})


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file that comes back as it was only when its bytes on disk are kept.

    None when they are the blob's own.
    """

    path: str
    mode: int
    data: bytes | None


def unusual_permissions(root: str, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (path, three octal digits) of regular files with unusual permissions.

    Permissions are unusual if the umask would not give them.
    """
    for path in paths:
        try:
            mode = os.lstat(os.path.join(root, path)).st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) and mode & 0o777 not in USUAL:
            yield path, f"{mode & 0o777:03o}"


def converted(
    work: Work, entries: Sequence[tuple[str, str, str]], limit: int, algorithm: str
) -> Iterator[Unchanged]:
    """Yield the files among index entries that a checkout would write differently.

    An index entry is (mode, oid, path).
    """
    conversions = Conversions(work, [path for _, _, path in entries])
    if not conversions.possible:
        return
    kinds = conversions.of_paths()
    chosen = [entry for entry in entries if entry[2] in kinds]
    sizes = {oid: size for oid, (_, size) in work.kinds([oid for _, oid, _ in chosen]).items()}
    doubtful: dict[str, tuple[int, str, bytes]] = {}
    for mode, oid, path in chosen:
        kind, blob_size = kinds[path], sizes.get(oid, -1)
        data = _read(work.root, path, kind, blob_size, limit)
        if data is None:
            continue
        is_stored = kind == CHECKED_OUT_AS_STORED
        is_blob = object_id("blob", data, algorithm) == oid
        if is_stored != is_blob:
            yield Unchanged(path, int(mode, 8), None if is_blob else data)
        elif not is_blob and kind != FILTERED and not _has_plain_crlf(data, blob_size):
            doubtful[path] = int(mode, 8), oid, data
    for path, data in work.as_checked_out([(path, oid) for path, (_, oid, _) in doubtful.items()]):
        mode_on_disk, _, kept = doubtful[path]
        if data != kept:
            yield Unchanged(path, mode_on_disk, kept)


def _read(root: str, path: str, kind: str, blob_size: int, limit: int) -> bytes | None:
    """Return a file that may differ from its blob; None for others and for what is no file."""
    if not _may_differ(root, path, kind, blob_size):
        return None
    on_disk = file_on_disk(root, path, limit)
    return on_disk[1] if isinstance(on_disk, tuple) else None


def _may_differ(root: str, path: str, kind: str, blob_size: int) -> bool:
    """Say by a file's size whether it has to be read."""
    try:
        size = os.lstat(os.path.join(root, path)).st_size
    except OSError:
        return False
    if kind == CHECKED_OUT_AS_STORED:
        return size != blob_size
    return kind != FILTERED or size == blob_size


def _has_plain_crlf(data: bytes, blob_size: int) -> bool:
    """Return whether all line ends are CRLF and the blob has the same text with LF.

    This is what a checkout writes.
    """
    ends = data.count(b"\n")
    return (
        data.count(b"\r\n") == ends and data.count(b"\r") == ends and len(data) - ends == blob_size
    )
