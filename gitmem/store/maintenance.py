"""Keep our objects few: pack loose ones, join packs, so that the user's git never has to because of us.

Five loose objects a commit would cross git's own limit (6,700) after 1,340 memories and start a gc in
the user's next command.
"""

import json
import mmap
import os
import subprocess

from gitmem.errors import Busy, External, GitFailed
from gitmem.files import Home, Lock, write_atomic
from gitmem.git.process import DURABLE, Git
from gitmem.store.refs import NAMESPACE

LOOSE_LIMIT = 1500  # estimate of our loose objects that starts a packing
OBJECTS_A_COMMIT = 5  # blob, two or three trees, commit
PACK_LIMIT = 8  # our own packs, joined into one above this
STATE = "packs.json"


def _state(home: Home) -> dict[str, object]:
    try:
        with open(home.join(STATE), encoding="utf-8") as file:
            loaded = json.load(file)
        return loaded if isinstance(loaded, dict) else {}
    except (OSError, ValueError):
        return {}


def after_write(git: Git, home: Home, commits: int) -> bool:
    """Count a write; pack when enough has gathered. Best effort: another process may do it. Returns whether it packed."""
    state = _state(home)
    loose = state.get("loose", 0)
    total = (loose if isinstance(loose, int) else 0) + commits * OBJECTS_A_COMMIT
    if total < LOOSE_LIMIT:
        try:
            write_atomic(home.join(STATE), json.dumps({**state, "loose": total}).encode(), shared=home.shared, durable=False)
        except External:
            pass  # a wrong count only delays the next packing
        return False
    try:
        with Lock(home.touch("maintenance.lock"), 0):
            pack_loose(git, home)
    except (Busy, GitFailed, External, subprocess.SubprocessError):
        return False
    return True


def pack_loose(git: Git, home: Home) -> None:
    """Put what is loose and reachable from our refs into one pack; join our packs when they are many."""
    state = _state(home)
    refs = git.run("for-each-ref", "--format=%(objectname)", NAMESPACE).decode().split()
    known = state.get("tips")
    hide = [t for t in known if isinstance(t, str) and _has(git, t)] if isinstance(known, list) else []
    packs = [p for p in state.get("packs", []) if isinstance(p, str)] if isinstance(state.get("packs"), list) else []  # type: ignore[attr-defined]
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
    if len(packs) > PACK_LIMIT:
        packs = _join(git, packs)
    data = json.dumps({"loose": 0, "tips": refs[:50], "packs": packs}).encode()
    write_atomic(home.join(STATE), data, shared=home.shared, durable=False)


def _has(git: Git, oid: str) -> bool:
    return git.call("cat-file", "-e", oid, ok=(0, 1, 128))[0] == 0


def _join(git: Git, packs: list[str]) -> list[str]:
    """Make one pack of ours out of many; a pack that is gone (the user's gc) is passed over."""
    folder = os.path.join(git.gitdir, "objects", "pack")
    present = [
        p
        for p in packs
        if os.path.exists(os.path.join(folder, f"pack-{p}.idx")) and not os.path.exists(os.path.join(folder, f"pack-{p}.keep"))
    ]
    oids = "".join(line.split()[1].decode() + "\n" for p in present for line in _index(git, os.path.join(folder, f"pack-{p}.idx")))
    if not oids:
        return []
    made = git.run("pack-objects", "-q", os.path.join(folder, "pack"), stdin=oids.encode(), config=DURABLE, timeout=600).decode().split()
    for name in present:
        if name not in made:
            drop_pack(folder, name)
    return made


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
