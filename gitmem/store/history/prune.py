"""Delete the objects that only a replaced history needed, loose or packed.

Nothing else of the user's.

Another git process may collect garbage, repack or fetch at the same time. So what was removed is
looked for again, until it is gone and nobody is left who had read it before.
"""

import contextlib
import glob
import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from gitmem.base.files import Lock, disk_error
from gitmem.base.open_files import is_running
from gitmem.errors import GitFailed, MissingObject
from gitmem.git.objects_cli import CliObjects
from gitmem.git.process import Git
from gitmem.records.codec import LARGE_LIMIT
from gitmem.repo.location import Home
from gitmem.store.history.doomed_packs import (
    pack_folder,
    pack_names,
    packers,
    remove_abandoned_parts,
    sweep,
)
from gitmem.store.history.pending import PENDING, doom, pending, remember
from gitmem.store.history.redact import Mask
from gitmem.store.repack import drop_stale_joint_index, index_oids
from gitmem.text.plural import counted

PATIENCE = 30.0  # seconds that other packing processes are waited for
ASK_AGAIN = 0.5  # seconds after which it is asked anew who packs
TRIES = 5  # runs of git that another process may disturb


class Pruned(NamedTuple):
    """What became of the objects that had to go."""

    removed: int = 0
    kept: Sequence[str] = ()  # objects in packs that the user marked `.keep`
    # objects that are in another repository, from which this one borrows
    borrowed: Sequence[str] = ()
    busy: Sequence[str] = ()  # processes and files that may still hold some; then a note stays
    # temporary packs of processes that were killed, which cannot be removed
    abandoned: Sequence[str] = ()


def prune(git: Git, home: Home, old_tips: Sequence[str] = (), patience: float = PATIENCE) -> Pruned:
    """Delete the objects that only these tips needed.

    What any ref, HEAD, index or reflog of any worktree reaches is kept. Ends what a prune that was
    killed began.
    """
    waiting = pending(home)
    if not old_tips and not any(waiting.values()):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(home.join(PENDING))
        return Pruned()
    home.make()
    with Lock(home.touch("maintenance.lock"), patience):  # our own packing would carry them on
        doomed = _doomed(git, {*old_tips, *waiting["tips"]}) | set(waiting["oids"])
        doomed -= _reachable(git)
        # by name: once the first is gone, the old tips no longer lead to the others
        remember(home, {"oids": sorted(doomed)})
        out = _remove(git, doomed, patience) if doomed else Pruned()
        if not out.busy:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(home.join(PENDING))
    return out


def _remove(git: Git, doomed: set[str], patience: float) -> Pruned:
    """Remove objects until they are gone for good, or the patience is at its end."""
    deadline = time.monotonic() + patience
    removed: set[str] = set()
    _renew_commit_graph(git)
    while True:
        loose = _remove_loose(git, doomed)
        swept = sweep(git, doomed)
        removed |= loose | swept.removed
        # whoever begins to pack from now on cannot find them; whoever had begun may still write
        # them
        busy = _wait_for_packers(git, deadline)
        there = _present(git, doomed) - swept.kept
        ours = there & _own_objects(git) if there and _borrows(git) else there
        if not ours and not busy:
            break
        if time.monotonic() > deadline:
            if swept.error and not busy:
                raise swept.error
            busy = busy or [
                f"{counted(len(ours), 'object')} that came back while another git process packed"
            ]
            break
        time.sleep(0.05)
    drop_stale_joint_index(pack_folder(git))
    if _graph_names(git, doomed):
        _renew_commit_graph(git)
    # asked once more: one may have gone between two looks
    borrowed = sorted(_present(git, there - ours)) if there - ours else []
    return Pruned(len(removed), sorted(swept.kept), borrowed, busy, remove_abandoned_parts(git))


def _wait_for_packers(git: Git, deadline: float) -> list[str]:
    """Wait until packing that was under way has ended; return what has not.

    Who packs is asked again now and then: a process that was killed leaves its file behind.
    """
    watched = packers(git)
    asked = time.monotonic()
    while watched and time.monotonic() <= deadline:
        time.sleep(0.02)
        watched = {key: name for key, name in watched.items() if _is_there(key)}
        if watched and time.monotonic() - asked > ASK_AGAIN:
            now = packers(git)
            watched = {key: name for key, name in watched.items() if key in now}
            asked = time.monotonic()
    return sorted(watched.values())


def _is_there(key: str) -> bool:
    if key.startswith("process "):
        return is_running(int(key.split()[1]))
    return os.path.exists(key)


def _remove_loose(git: Git, doomed: set[str]) -> set[str]:
    removed = set()
    for oid in doomed:
        path = _loose_path(git, oid)
        try:
            os.unlink(path)
            removed.add(oid)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise disk_error(error, path) from error
    return removed


def _loose_path(git: Git, oid: str) -> str:
    return os.path.join(git.gitdir, "objects", oid[:2], oid[2:])


def _present(git: Git, oids: set[str]) -> set[str]:
    """Return which objects git can still read."""
    listing = "".join(f"{oid}\n" for oid in oids).encode()
    out = _undisturbed(git, "cat-file", "--batch-check=%(objectname)", stdin=listing)
    return {line.decode() for line in out.splitlines() if not line.endswith(b" missing")}


def _borrows(git: Git) -> bool:
    """Say whether the repository reads objects of another one."""
    return os.path.exists(os.path.join(git.gitdir, "objects", "info", "alternates"))


def _own_objects(git: Git) -> set[str]:
    """Return the objects that are loose or packed in this repository.

    Those of a repository that it borrows from are left out.
    """
    listing = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
    out = _undisturbed(git, *listing).decode().split()
    own = {oid for oid in out if os.path.exists(_loose_path(git, oid))}
    folder = pack_folder(git)
    for name in pack_names(folder):
        with contextlib.suppress(FileNotFoundError, GitFailed):
            own.update(index_oids(git, os.path.join(folder, f"pack-{name}.idx")))
    return own


def _undisturbed(git: Git, *args: str, stdin: bytes | None = None) -> bytes:
    """Run git, again when a pack or a ref went under its hands."""
    for attempt in range(TRIES):
        try:
            return git.run(*args, stdin=stdin, timeout=600)
        except GitFailed:
            if attempt == TRIES - 1:
                raise
            time.sleep(0.1 * (attempt + 1))
    raise AssertionError


def holders(git: Git, commits: Sequence[str]) -> list[str]:
    """Return the refs that still reach any of these commits.

    `a reflog` when none does and they are still there.
    """
    holding: list[str] = []
    for oid in commits:
        if git.call("cat-file", "-e", oid, ok=(0, 1, 128))[0]:
            continue
        try:
            listing = _undisturbed(git, "for-each-ref", "--format=%(refname)", "--contains", oid)
        except GitFailed:  # it has gone meanwhile
            continue
        refs = listing.decode("utf-8", "replace").split()
        holding += [ref for ref in refs or ["a reflog"] if ref not in holding]
    return holding


def doom_strays(git: Git, home: Home, mask: Mask, ids: Sequence[str]) -> int:
    """Note what no ref ever reached but holds the texts or records.

    Return how many objects of the user's hold them.

    Left by a write that lost a race or was killed, or made for a merge. Only records and commits of
    ours are noted; another unreachable object is the user's. Hold the write lock: what a writer is
    about to commit is not reached yet.
    """
    if not mask and not ids:
        return 0
    form = "--batch-check=%(objectname) %(objecttype)"
    listing = _undisturbed(git, "cat-file", "--batch-all-objects", "--unordered", form)
    # what only the history needs that was replaced just now goes with it
    reached = _reachable(git) | _doomed(git, set(pending(home)["tips"]))
    rows = (line.split() for line in listing.decode().splitlines())
    loose = [oid for oid, kind in rows if kind in {"blob", "commit"} and oid not in reached]
    names = [id.encode() for id in ids]
    ours, foreign = [], 0
    with contextlib.closing(CliObjects(git)) as objects:
        for oid in loose:
            try:
                data = objects.read_small(oid, 2 * LARGE_LIMIT)
            except MissingObject:  # the user's git may prune as well
                continue
            if data is None or not (mask.holds(data) or any(name in data for name in names)):
                continue
            if data.startswith((b"---\nid: ", b'{"at": "')) or b"\nGitmem-Op: " in data:
                ours.append(oid)
            else:
                foreign += mask.holds(data)
    if ours:
        doom(home, [], ours)
    return foreign


def _renew_commit_graph(git: Git) -> None:
    """Rewrite git's commit-graph, if there is one.

    Otherwise it would name commits that are gone, and `git fsck` would complain.

    Where another process has it locked, or died over it, it is removed: it is a cache, which the
    next `git gc` writes again.
    """
    info = os.path.join(git.gitdir, "objects", "info")
    chain, single = os.path.join(info, "commit-graphs"), os.path.join(info, "commit-graph")
    split = os.path.isdir(chain)
    if not split and not os.path.exists(single):
        return
    how = ["--split=replace"] if split else []
    try:
        git.run(
            "commit-graph",
            "write",
            "--reachable",
            *how,
            config=("-c", "core.commitGraph=true"),
            timeout=600,
        )
    except GitFailed:
        # the list of the chain first: without it, git does not look for its parts
        for path in (single, os.path.join(chain, "commit-graph-chain"), *_graphs(chain)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _graphs(chain: str) -> list[str]:
    return glob.glob(os.path.join(glob.escape(chain), "*.graph"))


def _graph_names(git: Git, doomed: set[str]) -> bool:
    """Return whether a commit-graph names a commit that is gone.

    Another process may have written it meanwhile.
    """
    info = os.path.join(git.gitdir, "objects", "info")
    for path in (os.path.join(info, "commit-graph"), *_graphs(os.path.join(info, "commit-graphs"))):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        if any(bytes.fromhex(oid) in data for oid in doomed):
            return True
    return False


def _doomed(git: Git, tips: set[str]) -> set[str]:
    """Return what some tips reach, as far as it is there."""
    if not tips:
        return set()
    names = "".join(f"{tip}\n" for tip in tips).encode()
    out = _listed(git, "--stdin", stdin=names)
    return {oid for oid in out if not oid.startswith("-")}


def _reachable(git: Git) -> set[str]:
    """Return every object that refs, HEADs, indexes and reflogs reach."""
    return _listed(git, "--all", "--reflog", "--indexed-objects")


def _listed(git: Git, *what: str, stdin: bytes | None = None) -> set[str]:
    args = ("rev-list", "--objects", "--ignore-missing", *what)
    out = _undisturbed(git, *args, stdin=stdin)
    return {line.split(b" ", 1)[0].decode() for line in out.splitlines()}
