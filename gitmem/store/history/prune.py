"""Delete the objects that only a replaced history needed, loose or packed; nothing else of the user's."""

import contextlib
import glob
import os
from collections.abc import Sequence

from gitmem.errors import GitFailed, MissingObject
from gitmem.git.new_packs import is_kept
from gitmem.git.objects_cli import CliObjects
from gitmem.git.process import DURABLE, Git
from gitmem.records.codec import SUMMARY_LIMIT
from gitmem.repo.location import Home
from gitmem.store.history.pending import PENDING, doom, pending, remember
from gitmem.store.history.redact import Mask
from gitmem.store.repack import drop_pack, index_oids


def prune(git: Git, home: Home, old_tips: Sequence[str] = ()) -> tuple[int, list[str]]:
    """Delete the objects that only these tips needed; return how many, and those in packs marked `.keep`.

    What any ref, HEAD, index or reflog of any worktree reaches is kept. Ends what a prune that was killed began.
    """
    left = pending(home)
    doomed = set(left["oids"])
    tips = "".join(f"{t}\n" for t in {*old_tips, *left["tips"]}).encode()
    if tips:
        out = git.run("rev-list", "--objects", "--ignore-missing", "--stdin", stdin=tips, timeout=600)
        doomed |= {line.split(b" ", 1)[0].decode() for line in out.splitlines() if not line.startswith(b"-")}
    if not doomed:
        if any(left.values()):
            os.unlink(home.join(PENDING))
        return 0, []
    doomed -= _reachable(git)
    # by name: once the first is gone, the old tips no longer lead to the others
    remember(home, {"oids": sorted(doomed)})
    _renew_commit_graph(git)
    removed = 0
    for oid in doomed:
        path = os.path.join(git.gitdir, "objects", oid[:2], oid[2:])
        try:
            os.chmod(path, 0o644)
            os.unlink(path)
            removed += 1
        except FileNotFoundError:
            continue
    packed, kept = _unpack_doomed(git, doomed)
    os.unlink(home.join(PENDING))
    return removed + packed, kept


def holders(git: Git, commits: Sequence[str]) -> list[str]:
    """Return the refs that still reach any of these commits; `a reflog` when none does and they are still there."""
    found: list[str] = []
    for oid in commits:
        if git.call("cat-file", "-e", oid, ok=(0, 1, 128))[0]:
            continue
        refs = git.run("for-each-ref", "--format=%(refname)", "--contains", oid, timeout=600).decode("utf-8", "replace").split()
        found += [ref for ref in refs or ["a reflog"] if ref not in found]
    return found


def doom_strays(git: Git, home: Home, mask: Mask, ids: Sequence[str]) -> None:
    """Note what no ref ever reached but holds the texts or records: left by a write that lost a race or was killed, or made for a merge.

    Only records and commits of ours; another unreachable object is the user's. Hold the write lock: what a writer is about to
    commit is not reached yet.
    """
    if not mask and not ids:
        return
    listing = git.run("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)", timeout=600)
    known = _reachable(git)
    rows = (line.split() for line in listing.decode().splitlines())
    loose = [oid for oid, kind in rows if kind in {"blob", "commit"} and oid not in known]
    if not loose:
        return
    names = [id.encode() for id in ids]
    found = []
    with contextlib.closing(CliObjects(git)) as objects, contextlib.suppress(MissingObject):  # the user's git may prune as well
        for oid, data in objects.read_many_small(loose, 2 * SUMMARY_LIMIT):
            ours = data is not None and (data.startswith(b"---\nid: ") or b"\nGitmem-Op: " in data)
            if data and ours and (mask.holds(data) or any(name in data for name in names)):
                found.append(oid)
    if found:
        doom(home, [], found)


def _renew_commit_graph(git: Git) -> None:
    """Write git's commit-graph anew, if there is one: it would name commits that are gone, and `git fsck` complain.

    Where another process has it locked, or died over it, it is removed: it is a cache, which the next `git gc` writes again.
    """
    info = os.path.join(git.gitdir, "objects", "info")
    chain, single = os.path.join(info, "commit-graphs"), os.path.join(info, "commit-graph")
    split = os.path.isdir(chain)
    if not split and not os.path.exists(single):
        return
    how = ["--split=replace"] if split else []
    try:
        git.run("commit-graph", "write", "--reachable", *how, config=("-c", "core.commitGraph=true"), timeout=600)
    except GitFailed as error:
        if ".lock'" not in error.stderr:
            raise
        # the list of the chain first: without it, git does not look for its parts
        for path in (single, os.path.join(chain, "commit-graph-chain"), *glob.glob(os.path.join(glob.escape(chain), "*.graph"))):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _reachable(git: Git) -> set[str]:
    """Return every object that refs, HEADs, indexes and reflogs reach."""
    out = git.run("rev-list", "--objects", "--all", "--reflog", "--indexed-objects", "--ignore-missing", timeout=600)
    return {line.split(b" ", 1)[0].decode() for line in out.splitlines()}


def _unpack_doomed(git: Git, doomed: set[str]) -> tuple[int, list[str]]:
    """Write each pack that holds a doomed object anew without it."""
    folder = os.path.join(git.gitdir, "objects", "pack")
    removed, kept = 0, []
    names = [n[5:-4] for n in sorted(os.listdir(folder)) if n.startswith("pack-") and n.endswith(".idx")] if os.path.isdir(folder) else []
    for name in names:
        oids = index_oids(git, os.path.join(folder, f"pack-{name}.idx"))
        hit = doomed.intersection(oids)
        if not hit:
            continue
        if is_kept(folder, name):
            kept += sorted(hit)
            continue
        rest = [oid for oid in oids if oid not in doomed]
        made: list[str] = []
        if rest:
            listing = "".join(f"{oid}\n" for oid in rest).encode()
            made = git.run("pack-objects", "-q", os.path.join(folder, "pack"), stdin=listing, config=DURABLE, timeout=600).decode().split()
            if os.path.exists(os.path.join(folder, f"pack-{name}.promisor")):
                for new in made:
                    with open(os.path.join(folder, f"pack-{new}.promisor"), "w", encoding="utf-8"):
                        pass
        if name not in made:
            drop_pack(folder, name)
            for suffix in (".promisor",):
                try:
                    os.unlink(os.path.join(folder, f"pack-{name}{suffix}"))
                except FileNotFoundError:
                    pass
        removed += len(hit)
    return removed, kept
