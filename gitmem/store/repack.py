"""Keep our packs few, so that the user's git never starts a gc because of them.

Git starts a gc of its own at 50 packs.

Each write makes a pack (`gitmem.git.new_packs`); those of many writes become one, with deltas.
"""

import contextlib
import glob
import mmap
import os
import re
import subprocess
import time
from collections.abc import Iterator

from gitmem.base.files import Lock, sync_dir
from gitmem.errors import Busy, External, GitFailed
from gitmem.git.new_packs import OURS, STALE, new_name, read_index, remove, smaller
from gitmem.git.object_codec import RAW_LENGTH
from gitmem.git.process import DURABLE, Git
from gitmem.repo.location import Home

PACK_LIMIT = 12  # our own packs, joined above this


def after_write(git: Git, home: Home, written: int) -> bool:
    """Join our packs when many have gathered.

    Best effort: another process may do it. Returns whether it did.
    """
    if not written or len(_ours(git)) <= PACK_LIMIT:
        return False
    try:
        with Lock(home.touch("maintenance.lock"), 0):
            _clear(git)
            return _join(git, home)
    except (Busy, GitFailed, External, OSError, ValueError, subprocess.SubprocessError):
        return False


def _folder(git: Git) -> str:
    return os.path.join(git.gitdir, "objects", "pack")


def _ours(git: Git) -> list[str]:
    """Return the packs of ours that nobody keeps."""
    try:
        names = os.listdir(_folder(git))
    except OSError:
        return []
    start = f"pack-{OURS}"
    kept = {name[5:-5] for name in names if name.startswith(start) and name.endswith(".keep")}
    return [
        name[5:-4]
        for name in names
        if name.startswith(start) and name.endswith(".idx") and name[5:-4] not in kept
    ]


def _clear(git: Git) -> None:
    """Remove what processes left that died: a `.keep`, and a pack that has no index yet."""
    folder = _folder(git)
    for file in os.listdir(folder):
        if not file.startswith(f"pack-{OURS}"):
            continue
        name = file[5:].partition(".")[0]
        path = os.path.join(folder, file)
        with contextlib.suppress(FileNotFoundError):
            old = os.stat(path).st_mtime < time.time() - STALE
            if old and (
                file.endswith(".keep")
                or not os.path.exists(os.path.join(folder, f"pack-{name}.idx"))
            ):
                os.unlink(path)


def _join(git: Git, home: Home) -> bool:
    """Make one pack of the smaller ones of ours."""
    import shutil  # 3 ms, which most writes need not pay

    folder = _folder(git)
    packs = _ours(git)
    sizes = [os.path.getsize(os.path.join(folder, f"pack-{name}.pack")) for name in packs]
    joined = [packs[n] for n in smaller(sizes)]
    if len(packs) - len(joined) > PACK_LIMIT // 2:
        joined = packs
    algorithm = "sha256" if packs and len(packs[0]) == 2 * RAW_LENGTH["sha256"] else "sha1"
    oids = dict.fromkeys(
        oid
        for name in joined
        for oid, _ in read_index(os.path.join(folder, f"pack-{name}.idx"), algorithm)
    )
    if not oids:
        return False
    # made in a folder of our own, on the same disk: git's names for packs are not ours
    place = home.join("packing")
    shutil.rmtree(place, ignore_errors=True)
    home.make("packing")
    listing = "".join(f"{oid}\n" for oid in oids).encode()
    made = (
        git.run(
            "pack-objects",
            "-q",
            os.path.join(place, "pack"),
            stdin=listing,
            config=DURABLE,
            timeout=600,
        )
        .decode()
        .split()
    )
    for old in made:
        name = new_name(algorithm)
        for suffix in (".pack", ".rev", ".idx"):  # the index last: git sees no pack without one
            with contextlib.suppress(FileNotFoundError):
                os.rename(
                    os.path.join(place, f"pack-{old}{suffix}"),
                    os.path.join(folder, f"pack-{name}{suffix}"),
                )
    sync_dir(folder)
    shutil.rmtree(place, ignore_errors=True)
    for name in joined:
        drop_pack(folder, name)
    return True


def _index(git: Git, path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return git.run("show-index", stdin=file.read(), timeout=600).splitlines()


def index_oids(git: Git, path: str) -> list[str]:
    """Return the oids that the index of any pack lists."""
    return [line.split()[1].decode() for line in _index(git, path)]


def drop_pack(folder: str, name: str) -> None:
    """Remove a pack, its index first: git ignores a pack without one."""
    _drop_joint_index(folder, f"pack-{name}.idx".encode())
    remove(folder, name)


def _drop_joint_index(folder: str, index: bytes) -> None:
    """Remove git's multi-pack index if it names a pack that is about to be removed.

    `git repack` does so too; otherwise git would look for the pack in vain.
    """
    if any(data.find(index) >= 0 for data in _joint_indexes(folder)):
        _remove_joint_indexes(folder)


def drop_stale_joint_index(folder: str) -> None:
    """Remove git's multi-pack index if it names a pack that is gone.

    Another process may have written it meanwhile.
    """
    there = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    for data in _joint_indexes(folder):
        named = {name.decode() for name in re.findall(rb"pack-[0-9a-f]{40,64}\.idx", data)}
        if not named <= there:
            _remove_joint_indexes(folder)
            return


def _joint_indexes(folder: str) -> Iterator[mmap.mmap]:
    """Yield what each index over several packs holds.

    Newer git keeps a chain of them in a folder.
    """
    chain = os.path.join(glob.escape(folder), "multi-pack-index.d", "*.midx")
    for path in (os.path.join(folder, "multi-pack-index"), *glob.glob(chain)):
        with (
            contextlib.suppress(OSError, ValueError),
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            yield data


def _remove_joint_indexes(folder: str) -> None:
    # its bitmap and reverse index carry its name and a checksum
    for name in sorted(os.listdir(folder)):
        if name == "multi-pack-index" or name.startswith("multi-pack-index-"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
    # the list of the chain first: without it, git does not look for its parts
    chain = os.path.join(folder, "multi-pack-index.d")
    parts = sorted(os.listdir(chain), reverse=True) if os.path.isdir(chain) else []
    for name in sorted(parts, key=lambda part: part != "multi-pack-index-chain"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(chain, name))
