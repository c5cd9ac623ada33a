"""Keep our objects few: pack loose ones, join packs, so that the user's git never has to because of us.

Five loose objects a commit would cross git's own limit (6,700) after 1,340 memories and start a gc in
the user's next command.
"""

import contextlib
import json
import mmap
import os
import re
import subprocess
from collections.abc import Sequence

from gitmem.base.files import Lock, write_atomic
from gitmem.errors import Busy, External, GitFailed
from gitmem.git.objects import Made
from gitmem.git.process import DURABLE, Git
from gitmem.repo.location import Home
from gitmem.repo.refs import NAMESPACE

_NAME = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
LOOSE_LIMIT = 1500  # loose objects of ours that start a packing
PACK_LIMIT = 8  # our own packs, joined above this
KEEP_APART = 2  # a pack that is larger than all smaller ones together by this factor is not written again
STATE = "packs.json"  # under the lock: our packs, and the tips that they hold
LOOSE = "loose"  # loose objects since the last packing
FRESH = "packs.new"  # packs of batches that are not in the state yet, a line each
TAKEN = "packs.taken"  # those that are on their way into it


def _state(home: Home) -> dict[str, list[str]]:
    try:
        with open(home.join(STATE), encoding="utf-8") as file:
            loaded = json.load(file)
    except (OSError, ValueError, RecursionError):
        loaded = None
    lists = {key: loaded.get(key) if isinstance(loaded, dict) else None for key in ("tips", "packs")}
    return {k: [x for x in v if isinstance(x, str) and _NAME.fullmatch(x)] if isinstance(v, list) else [] for k, v in lists.items()}


def _lines(home: Home, name: str) -> list[str]:
    try:
        with open(home.join(name), encoding="ascii", errors="replace") as file:
            return [line for line in file.read().split("\n") if _NAME.fullmatch(line)]
    except OSError:
        return []


def _loose(home: Home) -> int:
    try:
        with open(home.join(LOOSE), encoding="ascii", errors="replace") as file:
            return max(0, int(file.read(20)))
    except (OSError, ValueError):
        return 0


def after_write(git: Git, home: Home, made: Made) -> bool:
    """Count what was written; pack when enough has gathered. Best effort: another process may do it. Returns whether it packed."""
    loose = _loose(home) + made.loose
    try:
        if made.packs:
            _append(home, made.packs)
        many = bool(made.packs) and len({*_state(home)["packs"], *_lines(home, TAKEN), *_lines(home, FRESH)}) > PACK_LIMIT
        if loose < LOOSE_LIMIT and not many:
            if made.loose:
                write_atomic(home.join(LOOSE), b"%d\n" % loose, shared=home.shared, durable=False)
            return False
        with Lock(home.touch("maintenance.lock"), 0):
            pack_loose(git, home)
    except (Busy, GitFailed, External, OSError, subprocess.SubprocessError):
        return False  # a wrong count only delays the next packing
    return True


def _append(home: Home, names: Sequence[str]) -> None:
    """Note packs: appended in one call, so that none is lost among processes."""
    handle = os.open(home.touch(FRESH), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o664)
    try:
        os.write(handle, "".join(f"{name}\n" for name in names).encode())
    finally:
        os.close(handle)


def pack_loose(git: Git, home: Home) -> None:
    """Put what is loose and reachable from our refs into one pack; join our packs when they are many. Under the lock."""
    state = _state(home)
    refs = git.run("for-each-ref", "--format=%(objectname)", NAMESPACE).decode().split()
    hide = [t for t in state["tips"] if _has(git, t)]
    packs = [*state["packs"], *_lines(home, TAKEN)]  # a packing was killed
    with contextlib.suppress(FileNotFoundError):
        os.replace(home.join(FRESH), home.join(TAKEN))
        packs += _lines(home, TAKEN)
    stdin = "".join(f"{r}\n" for r in refs) + "".join(f"^{h}\n" for h in hide)
    if refs:
        base = os.path.join(git.gitdir, "objects", "pack", "pack")
        out = git.run(
            "pack-objects", "--revs", "--unpacked", "--incremental", "-q", base, stdin=stdin.encode(), config=DURABLE, timeout=600
        )
        made = out.decode().split()
        packs += made
        for name in made:
            _drop_loose(git, name)
    folder = os.path.join(git.gitdir, "objects", "pack")
    packs = [p for p in dict.fromkeys(packs) if _is_ours(folder, p)]
    if len(packs) > PACK_LIMIT:
        packs = _join(git, folder, packs)
    write_atomic(home.join(STATE), json.dumps({"tips": refs[:50], "packs": packs}).encode(), shared=home.shared, durable=False)
    for name in (TAKEN, LOOSE):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(home.join(name))


def _is_ours(folder: str, name: str) -> bool:
    """Say whether a pack is there still (the user's gc may have taken it) and may be removed."""
    return os.path.exists(os.path.join(folder, f"pack-{name}.idx")) and not os.path.exists(os.path.join(folder, f"pack-{name}.keep"))


def _has(git: Git, oid: str) -> bool:
    return git.call("cat-file", "-e", oid, ok=(0, 1, 128))[0] == 0


def _join(git: Git, folder: str, packs: list[str]) -> list[str]:
    """Make one pack of the smaller ones; return those that are there then.

    A pack that outweighs all smaller ones is left: a large store is not written anew for each few batches.
    """
    sizes = {p: os.path.getsize(os.path.join(folder, f"pack-{p}.pack")) for p in packs}
    ordered = sorted(packs, key=lambda p: sizes[p])
    count = len(ordered)
    while count and sizes[ordered[count - 1]] >= KEEP_APART * sum(sizes[p] for p in ordered[: count - 1]):
        count -= 1
    if len(ordered) - count > PACK_LIMIT // 2:
        count = len(ordered)
    joined, apart = ordered[:count], ordered[count:]
    oids = "".join(line.split()[1].decode() + "\n" for p in joined for line in _index(git, os.path.join(folder, f"pack-{p}.idx")))
    if not oids:
        return ordered
    made = git.run("pack-objects", "-q", os.path.join(folder, "pack"), stdin=oids.encode(), config=DURABLE, timeout=600).decode().split()
    for name in joined:
        if name not in made:
            drop_pack(folder, name)
    return [*made, *apart]


def _index(git: Git, path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return git.run("show-index", stdin=file.read(), timeout=600).splitlines()


def index_oids(git: Git, path: str) -> list[str]:
    """Return the oids that a pack's index lists."""
    return [line.split()[1].decode() for line in _index(git, path)]


def _drop_loose(git: Git, name: str) -> None:
    """Remove the loose copies of what a pack holds, but no folder.

    `git prune-packed` removes folders that it emptied, and a git command that has just made one fails to write into it.
    """
    folder = os.path.join(git.gitdir, "objects")
    for oid in index_oids(git, os.path.join(folder, "pack", f"pack-{name}.idx")):
        try:
            os.unlink(os.path.join(folder, oid[:2], oid[2:]))
        except FileNotFoundError:
            continue


def drop_pack(folder: str, name: str) -> None:
    """Remove a pack, its index first: git ignores a pack without one."""
    _drop_joint_index(folder, f"pack-{name}.idx".encode())
    for suffix in (".idx", ".rev", ".bitmap", ".mtimes", ".pack"):
        try:
            os.unlink(os.path.join(folder, f"pack-{name}{suffix}"))
        except FileNotFoundError:
            continue


def _drop_joint_index(folder: str, index: bytes) -> None:
    """Remove git's index over several packs when it names one that goes, as `git repack` does: git would look in vain."""
    try:
        with open(os.path.join(folder, "multi-pack-index"), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data.find(index) < 0:
                return
    except (FileNotFoundError, ValueError):
        return
    # its bitmap and reverse index carry its name and a checksum
    for name in sorted(os.listdir(folder)):
        if name == "multi-pack-index" or name.startswith("multi-pack-index-"):
            try:
                os.unlink(os.path.join(folder, name))
            except FileNotFoundError:
                continue
