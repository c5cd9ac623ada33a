"""Take objects out of the packs of a repository in which git may pack at the same time.

A pack that holds one is written anew without it, under a name that no other process knows. Packs
may go or come at any moment: what is not there any more needs no work, and what came is looked at
again.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from gitmem.base.files import disk_error, sync_dir
from gitmem.base.open_files import can_tell, is_running, processes_with
from gitmem.errors import GitFailed
from gitmem.git.new_packs import OURS, is_kept, new_name
from gitmem.git.object_codec import RAW_LENGTH
from gitmem.git.process import DURABLE, Git
from gitmem.store.repack import drop_pack, index_oids

OWN_FOLDER = "gitmem-purge"  # below the objects; only the holder of the maintenance lock uses it
# seconds that a temporary pack may be there that nobody has open: before its renaming
CLOSING = 2.0
ABANDONED = 600.0  # and where the system does not tell who has it open
_PARTS = ("tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_mtimes_", ".tmp-")
_REPACKED = re.compile(r"\.tmp-(\d{1,9})-")
_PACKERS = frozenset(
    {
        "gc",
        "repack",
        "pack-objects",
        "index-pack",
        "unpack-objects",
        "maintenance",
        "fetch-pack",
    }
)


@dataclass(slots=True)
class Sweep:
    """The result of one look at all packs: what was taken out, what a `.keep` holds back."""

    removed: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)  # in packs that the user marked
    unfinished: set[str] = field(default_factory=set)  # in packs that another process works on
    error: GitFailed | None = None  # why a pack could not be written anew


def sweep(git: Git, doomed: set[str]) -> Sweep:
    """Write each pack that holds a doomed object anew without it.

    Raises External on the disk's refusal.
    """
    folder = pack_folder(git)
    out = Sweep()
    shutil.rmtree(_own_folder(git), ignore_errors=True)
    for name in pack_names(folder):
        path = os.path.join(folder, f"pack-{name}.idx")
        try:
            oids = index_oids(git, path)
        except (FileNotFoundError, GitFailed) as error:
            if os.path.exists(path) and isinstance(error, GitFailed):
                out.error = error
            continue
        hit = doomed.intersection(oids)
        if not hit:
            continue
        if is_kept(folder, name):
            (out.unfinished if name.startswith(OURS) else out.kept).update(hit)
            continue
        try:
            _write_without(git, folder, name, [oid for oid in oids if oid not in doomed])
        except GitFailed as error:
            if os.path.exists(path):
                out.error = error
                out.unfinished |= hit
            continue
        except OSError as error:
            raise disk_error(error, folder) from error
        out.removed |= hit
    shutil.rmtree(_own_folder(git), ignore_errors=True)
    return out


def pack_folder(git: Git) -> str:
    """Return the folder of a repository's own packs."""
    return os.path.join(git.gitdir, "objects", "pack")


def pack_names(folder: str) -> list[str]:
    """Return the names of the packs that git sees, without `pack-` and ending."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [n[5:-4] for n in names if n.startswith("pack-") and n.endswith(".idx")]


def _write_without(git: Git, folder: str, name: str, rest: list[str]) -> None:
    """Put the rest of a pack's objects into a new one, and remove the pack.

    The new one has a `.keep` until the old one is gone: a repacking that sees both would otherwise
    take the new one for redundant. It is made in a folder where git does not look.
    """
    made: list[str] = []
    if rest:
        place = _own_folder(git)
        os.makedirs(place, mode=0o700, exist_ok=True)
        listing = "".join(f"{oid}\n" for oid in rest).encode()
        base = os.path.join(place, "pack")
        done = git.run("pack-objects", "-q", base, stdin=listing, config=DURABLE, timeout=600)
        promisor = os.path.exists(os.path.join(folder, f"pack-{name}.promisor"))
        algorithm = "sha256" if len(rest[0]) == 2 * RAW_LENGTH["sha256"] else "sha1"
        for pack in done.decode().split():
            made.append(new_name(algorithm))
            _put_in_place(place, pack, folder, made[-1], promisor)
        sync_dir(folder)
    drop_pack(folder, name)
    for ending in (f"{name}.promisor", *(f"{pack}.keep" for pack in made)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, f"pack-{ending}"))


def _put_in_place(place: str, made: str, folder: str, name: str, promisor: bool) -> None:
    stem = os.path.join(folder, f"pack-{name}")
    for ending in (".keep", ".promisor") if promisor else (".keep",):
        with open(stem + ending, "w", encoding="utf-8"):
            pass
    reverse = os.path.join(place, f"pack-{made}.rev")  # not every git writes one
    if os.path.exists(reverse):
        os.rename(reverse, stem + ".rev")
    for ending in (".pack", ".idx"):  # the index last: git sees no pack without one
        os.rename(os.path.join(place, f"pack-{made}{ending}"), stem + ending)


def _own_folder(git: Git) -> str:
    """Return where packs are made: on the disk of the objects, where git does not look for any."""
    return os.path.join(git.gitdir, "objects", OWN_FOLDER)


# -- who may still put back what was removed


def packers(git: Git) -> dict[str, str]:
    """Return what is being packed here now.

    The result has temporary files and processes of git, each with its name for people.

    Such a process may have read what was removed a moment ago, and write it again.
    """
    out, opened = {}, set()
    folder = os.path.realpath(os.path.join(git.gitdir, "objects")) + os.sep
    for pid, command, paths in processes_with(folder):
        opened.update(paths)
        if command and _is_packing(command):
            out[f"process {pid}"] = f"process {pid} ({' '.join(command)[:60]})"
    for path, about in _parts(pack_folder(git)):
        if _is_alive(path, about, opened):
            out[path] = f"the file {path}"
    return out


def remove_abandoned_parts(git: Git) -> list[str]:
    """Remove the temporary packs of processes that were killed; return those that stay.

    They may hold anything, and git itself removes only some of them. While a git packs here, all
    stay: one of them may be its own.
    """
    alive = packers(git)
    if alive:
        return []
    stay = []
    for path, _ in _parts(pack_folder(git)):
        if path in alive:
            continue
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError:
            stay.append(path)
    return stay


def _is_alive(path: str, about: os.stat_result, opened: set[str]) -> bool:
    """Say whether somebody still writes a temporary file, as far as can be told."""
    age = time.time() - about.st_mtime
    if age < CLOSING or os.path.realpath(path) in opened:
        return True
    # git repack closes its packs before it renames them; it names them after itself
    owner = _REPACKED.match(os.path.basename(path))
    if owner and is_running(int(owner[1])):
        return True
    is_visible = can_tell() and about.st_uid == os.geteuid()
    return not is_visible and age < ABANDONED


def _parts(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith(_PARTS):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                yield path, os.stat(path)


def _is_packing(command: list[str]) -> bool:
    program = os.path.basename(command[0])
    words = {program.removeprefix("git-"), *command[1:]}
    return program.startswith("git") and bool(words & _PACKERS)
