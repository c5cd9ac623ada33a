"""Remove a secret from a store's whole history, and its objects from the disk.

Every commit that holds it, or descends from one that does, is made anew without it; backups and what was
fetched are dropped; objects that only the old history needed are deleted, loose or packed, and nothing
else is: the user's own unreachable objects stay.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gitmem.files import Home, Lock
from gitmem.git.objects import Draft, Entry, Objects
from gitmem.git.process import DURABLE, Git
from gitmem.store.layout import record_path
from gitmem.store.maintenance import drop_pack, index_oids
from gitmem.store.pending import PENDING, doom, pending, remember
from gitmem.store.records import Store
from gitmem.store.refs import BACKUP, NAMESPACE, REMOTES
from gitmem.store.sync import PURGES


@dataclass(slots=True)
class Purged:
    """What a purge did to one ref, and which objects it removed from the disk."""

    rewritten: int = 0
    dropped_refs: list[str] = field(default_factory=list)
    removed_objects: int = 0
    kept_objects: list[str] = field(default_factory=list)


def purge(
    store: Store,
    git: Git,
    ids: Sequence[str],
    mask: Callable[[bytes], bytes] | None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Purged:
    """Rewrite the store without records (by id) and with texts masked; then prune.

    `mask` returns a file's bytes with the secret replaced (the same bytes when it is not in there). The
    caller has made the tombstones. Raises Busy, Moved when somebody writes at the same time.
    """
    out = Purged()
    objects = store.objects
    before = sorted(set(objects.refs(NAMESPACE).values()))
    with Lock(store.home.touch("write.lock"), store.budget):
        tip = store.tip()
        if tip is not None:
            new, out.rewritten, boundary = _rewrite(store, tip, ids, mask, progress)
            if boundary is not None:
                doom(store.home, before)
                objects.move(store.ref, tip, _mark(store, new, boundary), "gitmem: purge")
        # what was fetched and what was backed up holds it too
        for ref, oid in objects.refs(NAMESPACE).items():
            if ref.startswith((REMOTES, BACKUP)):
                objects.delete(ref, oid)
                out.dropped_refs.append(ref)
        _expire_reflogs(git, store.ref, out.dropped_refs)
    objects.close()
    out.removed_objects, out.kept_objects = prune(git, store.home, before)
    return out


def _rewrite(
    store: Store, tip: str, ids: Sequence[str], mask: Callable[[bytes], bytes] | None, progress: Callable[[int, int], None]
) -> tuple[str, int, str | None]:
    """Return (new tip, commits made anew, the oldest old commit that was replaced)."""
    objects = store.objects
    commits = list(objects.walk([tip]))
    commits.reverse()
    new: dict[str, str] = {}
    boundary: str | None = None
    replaced = 0
    cleaner = _Cleaner(objects, ids, mask)
    for number, commit in enumerate(commits):
        progress(number + 1, len(commits))
        edits = cleaner.edits(commit.tree)
        parents = tuple(new.get(p, p) for p in commit.parents)
        message = _clean_message(commit.message, ids, mask)
        if not edits and parents == commit.parents and message == commit.message:
            new[commit.oid] = commit.oid
            continue
        new[commit.oid] = objects.write(Draft(commit.tree, edits, parents, message, commit.author, commit.committer))
        boundary = boundary or commit.oid
        replaced += 1
    return new[tip], replaced, boundary


def _clean_message(message: str, ids: Sequence[str], mask: Callable[[bytes], bytes] | None) -> str:
    if any(f"Gitmem-Id: {id}\n" in message for id in ids):
        _, _, rest = message.partition("\n")
        message = "gitmem: purged\n" + rest
    return mask(message.encode()).decode("utf-8", "replace") if mask else message


class _Cleaner:
    """Finds what has to go from a tree; remembers folders and files by oid, so history costs its changes."""

    def __init__(self, objects: Objects, ids: Sequence[str], mask: Callable[[bytes], bytes] | None) -> None:
        self._objects = objects
        self._paths = [p for id in ids for p in (record_path(id), f"attic/{id}")]
        self._mask = mask
        self._trees: dict[str, dict[str, bytes]] = {}
        self._blobs: dict[str, bytes | None] = {}

    def edits(self, tree: str) -> dict[str, "bytes | Entry | None"]:
        out: dict[str, bytes | Entry | None] = dict(self._masked(tree)) if self._mask else {}
        for path in self._paths:
            if self._objects.find(tree, path) is not None:
                out = {p: v for p, v in out.items() if p != path and not p.startswith(path + "/")}
                out[path] = None
        return out

    def _masked(self, tree: str) -> dict[str, bytes]:
        known = self._trees.get(tree)
        if known is not None:
            return known
        out: dict[str, bytes] = {}
        for entry in self._objects.tree(tree):
            if entry.is_tree:
                out.update({f"{entry.name}/{p}": v for p, v in self._masked(entry.oid).items()})
            elif entry.mode in {0o100644, 0o100755}:
                if entry.oid not in self._blobs:
                    data = self._objects.read(entry.oid)
                    assert self._mask is not None
                    clean = self._mask(data)
                    self._blobs[entry.oid] = None if clean == data else clean
                clean_blob = self._blobs[entry.oid]
                if clean_blob is not None:
                    out[entry.name] = clean_blob
        self._trees[tree] = out
        return out


def _mark(store: Store, tip: str, boundary: str) -> str:
    """Return a commit on the new tip that tells other clones which history was replaced."""
    commit = store.objects.commit(tip)
    old = store.read_file(PURGES, tip) or b""
    line = json.dumps({"at": store.clock.stamp(), "boundary": boundary}).encode() + b"\n"
    text = "gitmem: purge\n\nGitmem-Op: purge\n"
    return store.objects.write(Draft(commit.tree, {PURGES: old + line}, (tip,), text, commit.committer, commit.committer))


def _expire_reflogs(git: Git, ref: str, dropped: Sequence[str]) -> None:
    """Empty the reflogs of our refs, if the user's settings made git keep any."""
    for name in (ref, *dropped):
        path = os.path.join(git.gitdir, "logs", name)
        if os.path.exists(path):
            os.unlink(path)


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


def _renew_commit_graph(git: Git) -> None:
    """Write git's commit-graph anew, if there is one: it would name commits that are gone, and `git fsck` complain."""
    info = os.path.join(git.gitdir, "objects", "info")
    chain = os.path.isdir(os.path.join(info, "commit-graphs"))
    if chain or os.path.exists(os.path.join(info, "commit-graph")):
        git.run(
            "commit-graph",
            "write",
            "--reachable",
            *(["--split=replace"] if chain else []),
            config=("-c", "core.commitGraph=true"),
            timeout=600,
        )


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
        if os.path.exists(os.path.join(folder, f"pack-{name}.keep")):
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
