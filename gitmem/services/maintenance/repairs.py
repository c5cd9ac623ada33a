"""Repairs that `git mem doctor --fix` makes for findings.

Each function returns a repair, which says what it did.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from gitmem.base.files import Lock, disk_error, sync_dir
from gitmem.base.sharing import shared_mode
from gitmem.errors import Busy, External
from gitmem.git.process import Git
from gitmem.index.reader import Index
from gitmem.repo.location import Home
from gitmem.repo.refs import BACKUP, REMOTES, SHARED, packed_ref, raw_ref
from gitmem.state.database import NAME as STATE
from gitmem.store.history import prune
from gitmem.text.plural import counted


def index_tips(index: Index | None) -> dict[str, str]:
    """Return the commits that an index was made from, {} when it cannot be read."""
    try:
        return index.tips() if index else {}
    except sqlite3.Error:
        return {}


def is_commit(git: Git, oid: str) -> bool:
    """Tell whether an object is there and is a commit."""
    return git.call("cat-file", "-e", f"{oid}^{{commit}}", ok=(0, 1, 128))[0] == 0


def set_ref(git: Git, home: Home, commondir: str, ref: str, commit: str) -> Callable[[], str]:
    """Return what gives a broken ref its last commit again."""

    def repair() -> str:
        home.make()
        with Lock(home.touch("write.lock"), 5.0):
            try:
                raw_ref(commondir, ref)
            except External:
                tip = _newest(git, commit)
                _replace_ref(os.path.join(commondir, ref), tip, home.shared)
                return f"set {ref} to {tip[:12]}, its last commit that is here"
        return f"{ref} is in order again"

    return repair


def last_good(git: Git, commondir: str, ref: str, index: Index | None, name: str) -> list[str]:
    """Return candidates for a store's last commit if the one that its ref names is gone.

    The best candidate comes first.
    """
    tips = [tip for tip in (index_tips(index).get(name), packed_ref(commondir, ref)) if tip]
    with contextlib.suppress(OSError):
        lines = (
            Path(commondir, "logs", ref).read_text(encoding="utf-8", errors="replace").splitlines()
        )
        tips += [oid for line in reversed(lines[-50:]) for oid in line.split(" ", 2)[1::-1]]
    kept = (
        git.run("for-each-ref", "--sort=-committerdate", "--format=%(objectname)", BACKUP, REMOTES)
        .decode()
        .split()
    )
    tips += kept if ref == SHARED else []
    good = [oid for oid in dict.fromkeys(tips) if is_commit(git, oid)]
    return list(dict.fromkeys([*(_newest(git, oid) for oid in good[:1]), *good]))


def _newest(git: Git, commit: str) -> str:
    """Return the end of the longest chain of unreferenced commits that follows a known one.

    These commits are writes that the known commit had not seen.
    """
    # a broken ref makes git itself end with an error; the answer is there all the same
    _, out, _ = git.call(
        "fsck",
        "--connectivity-only",
        "--dangling",
        "--no-reflogs",
        "--no-progress",
        ok=range(256),
        timeout=600,
    )
    lost = [
        line.split()[2].decode()
        for line in out.splitlines()
        if line.startswith(b"dangling commit ")
    ]
    best = (0, commit)
    for oid in sorted(lost):
        if git.call("merge-base", "--is-ancestor", commit, oid, ok=(0, 1, 128))[0] == 0:
            best = max(best, (int(git.run("rev-list", "--count", f"{commit}..{oid}")), oid))
    return best[1]


def _replace_ref(path: str, oid: str, shared: int) -> None:
    """Write a loose ref as git does, git's own lock included; raises Busy, External."""
    try:
        handle = os.open(path + ".lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if shared:
            os.fchmod(handle, shared_mode(os.fstat(handle).st_mode, shared) & 0o7777)
    except FileExistsError as error:
        raise Busy(
            "git is writing to this ref.",
            f"Try again in a moment; if nothing runs, delete {path}.lock.",
        ) from error
    except OSError as error:
        raise disk_error(error, path) from error
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(oid + "\n")
            file.flush()
            os.fsync(handle)
        os.replace(path + ".lock", path)
        sync_dir(os.path.dirname(path))
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(path + ".lock")
        raise disk_error(error, path) from error


def unlink(path: str) -> Callable[[], str]:
    """Return what removes a file."""

    def repair() -> str:
        with contextlib.suppress(FileNotFoundError):  # who works in the background was quicker
            os.unlink(path)
        return f"removed {os.path.basename(path)}"

    return repair


def prune_objects(git: Git, home: Home) -> Callable[[], str]:
    """Return what removes the objects that a purge left; it raises Busy."""

    def repair() -> str:
        done = prune.prune(git, home)
        if done.busy:
            raise Busy(
                f"git packs the old objects at the moment ({', '.join(done.busy[:3])}).",
                "Try again when it has ended.",
            )
        return f"removed {counted(done.removed, 'old object')}"

    return repair


def drop_state(path: str) -> Callable[[], str]:
    """Return what sets a damaged state database aside."""

    def repair() -> str:
        os.replace(path, path + ".damaged")
        for suffix in ("-wal", "-shm"):  # SQLite would play the old log into the new file
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + suffix)
        return f"set the damaged {STATE} aside; counts begin anew"

    return repair


def drop_index(path: str) -> Callable[[], str]:
    """Return what removes an index."""

    def repair() -> str:
        _remove_database(path)
        return "removed the index; the next command builds it"

    return repair


def drop_cache(path: str) -> Callable[[], str]:
    """Return what removes a cache that is made from git."""

    def repair() -> str:
        _remove_database(path)
        return f"removed {os.path.basename(path)}; the next command that needs it builds it"

    return repair


def _remove_database(path: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)
