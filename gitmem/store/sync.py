"""Sync a store with a remote: fetch, merge, push without force, again when somebody was quicker.

A push is a compare-and-swap on the server, so correctness needs no lock there. A remote that lost its
ref gets it again; one that was rewritten is merged after a backup. Absence never means deletion.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gitmem.clock import stamp, ulid_time
from gitmem.errors import External, GitmemError, MissingObject, Moved, RemoteRefused
from gitmem.git.objects import Draft, Identity, Objects
from gitmem.git.remote import Remote
from gitmem.store.layout import check_format
from gitmem.store.pending import doom
from gitmem.store.records import Store
from gitmem.store.refs import BACKUP, REMOTES
from gitmem.store.treemerge import GITMEM, ROOT_TIME, Report, merge_commits, merge_trees

TRIES = 8
BACKUP_DAYS = 30
PURGES = "purges.jsonl"


@dataclass(slots=True)
class Outcome:
    """What one sync did."""

    remote: str
    received: int = 0
    sent: int = 0
    pushed: bool = False
    merged: bool = False
    warnings: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    abandoned: list[str] = field(default_factory=list)  # old tips that held what somebody purged: to be pruned

    def note(self, report: Report) -> None:
        """Add a merge's report."""
        for name in ("conflicts", "damaged", "refused"):
            mine = getattr(self, name)
            mine += [x for x in getattr(report, name) if x not in mine]


def tracking_ref(name: str) -> str:
    """Return the ref that holds what was last fetched from a remote: its name, or for a URL a digest."""
    import hashlib
    import re

    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*", name) and not name.endswith(".lock") and "://" not in name
    return f"{REMOTES}{name if plain else 'url-' + hashlib.sha256(name.encode()).hexdigest()[:12]}/main"


def sync(store: Store, remote: Remote, *, push: bool, sleep: Callable[[float], None] = time.sleep) -> Outcome:
    """Bring a store and a remote to the same state; raises RemoteRefused, FormatTooNew.

    With `push=False` the remote is only read. Ends within the remote's timeout per exchange, eight rounds at most.
    """
    out = Outcome(remote.name)
    into = tracking_ref(remote.name)
    for attempt in range(TRIES):
        fetched = _fetch(store, remote, into, out)
        if fetched is not None:
            _join(store, fetched, out)
        tip = store.tip()
        if not push or tip is None or tip == fetched:
            break
        try:
            remote.push(tip)
        except RemoteRefused as error:
            if error.kind != "race" or attempt == TRIES - 1:
                raise
            sleep(random.uniform(0.02, 0.1) * 2**attempt)
            continue
        out.pushed = True
        out.sent = count(store.objects, tip, fetched)
        _set(store.objects, into, tip)
        break
    _expire_backups(store)
    return out


def _fetch(store: Store, remote: Remote, into: str, out: Outcome) -> str | None:
    before = store.objects.tip(into)
    if not remote.fetch(into):
        if before is not None and not out.warnings:
            out.warnings.append(f"{remote.name} no longer has the memory it had; it is published again from here.")
        return None
    fetched = store.objects.tip(into)
    if fetched is None:
        raise External(f"what {remote.name} sent cannot be read.", "Run 'git fsck', then 'git mem sync' again.")
    tree = store.objects.commit(fetched).tree
    entry = store.objects.find(tree, "gitmem.json")
    check_format(store.objects.read(entry.oid) if entry and not entry.is_tree else None, f"{remote.name} {remote.ref}")
    ours = store.tip()
    if ours and (hit := _tainted(store.objects, ours, fetched)):
        # what was purged here is still there: taking it would bring the secret back
        doom(store.home, [fetched])
        if before is not None:
            _set(store.objects, into, before)
        else:
            store.objects.delete(into, fetched)
        raise RemoteRefused(
            f"{remote.name} still holds what was purged here on {hit['at']}.",
            f"Remove it there too: git mem purge --remote {remote.name} (the others' next sync then follows).",
            fetched=fetched,
        )
    if before is not None and before != fetched and not store.objects.is_ancestor(before, fetched):
        warning = f"{remote.name}'s memory was rewritten; both histories are kept."
        if ours and warning not in out.warnings and not _tainted(store.objects, fetched, ours):
            backup(store, ours)
            out.warnings.append(warning)
    return fetched


def _join(store: Store, theirs: str, out: Outcome) -> None:
    """Merge a fetched commit into the store, by compare-and-swap."""
    for _ in range(TRIES * 4):
        ours = store.tip()
        if ours == theirs:
            return
        try:
            if ours is None:
                store.move(None, theirs, f"sync {out.remote}")
                out.received += count(store.objects, theirs, None)
                return
            if _tainted(store.objects, theirs, ours):
                made, report = carry_over(store.objects, ours, theirs)
                doom(store.home, [ours])
                _drop_backups(store)
                out.abandoned.append(ours)
                out.warnings.append(f"{out.remote}'s history was purged of a secret; yours follows it, with what you had not sent.")
            else:
                made, report = merge_commits(store.objects, ours, theirs)
            if made == ours:
                return
            received = count(store.objects, theirs, ours)
            store.move(ours, made, f"sync {out.remote}")
        except Moved:
            continue
        except MissingObject as error:
            raise External(
                f"what {out.remote} sent is incomplete: {error}", "Run 'git mem sync' again; if it stays so, run 'git fsck' on the remote."
            ) from error
        out.received += received
        out.merged = made not in {ours, theirs}
        out.note(report)
        return
    raise External("the store was too busy to merge into.", "Run 'git mem sync' again.")


def purges(objects: Objects, commit: str) -> Iterator[dict[str, str]]:
    """Yield what a store's purges wrote: `{"at", "boundary"}`, the boundary being the oldest commit that was replaced."""
    entry = objects.find(objects.commit(commit).tree, PURGES)
    if entry is None or entry.is_tree:
        return
    for line in objects.read(entry.oid).split(b"\n"):
        try:
            row = json.loads(line)
            if isinstance(row, dict) and isinstance(row.get("boundary"), str):
                yield row
        except (ValueError, RecursionError):
            continue


def _tainted(objects: Objects, purged: str, other: str) -> dict[str, str] | None:
    """Return the purge of one history whose replaced commits the other still has."""
    for row in purges(objects, purged):
        if objects.is_ancestor(row["boundary"], other):
            return row
    return None


def carry_over(objects: Objects, ours: str, theirs: str) -> tuple[str, Report]:
    """Return a commit on top of a purged history that holds our changes, without our history."""
    one, two = objects.commit(ours), objects.commit(theirs)
    base = _last_shared(objects, ours, theirs)
    edits, report = merge_trees(objects, base, two.tree, one.tree)
    edits = {path: value for path, value in edits.items() if path != PURGES}
    if not edits:
        return theirs, report
    who = Identity(*GITMEM, max(one.committer.time, two.committer.time))
    return objects.write(Draft(two.tree, edits, (theirs,), "gitmem: carry over\n\nGitmem-Op: merge\n", who, who)), report


def _last_shared(objects: Objects, ours: str, theirs: str) -> str | None:
    """Return the tree that both descend from: the newest of ours that the purged history has in its own form.

    A purge keeps author, time and (but for what it removed) content, so the first commit of ours with a
    twin there, by author time and subject, is where the two part.
    """
    twins = {(c.author.time, c.author.name, c.message) for c in objects.walk([theirs])}
    for commit in objects.walk([ours]):
        if (commit.author.time, commit.author.name, commit.message) in twins:
            return commit.tree
    return None


def backup(store: Store, tip: str) -> str:
    """Keep a tip under `refs/gitmem/backup/` before the ref leaves it; return the ref."""
    ref = BACKUP + store.clock.ulid()
    store.objects.move(ref, None, tip, "gitmem: backup")
    return ref


def _expire_backups(store: Store) -> None:
    limit = store.clock.now() - BACKUP_DAYS * 86400
    for ref, oid in store.objects.refs(BACKUP).items():
        try:
            if ulid_time(ref.removeprefix(BACKUP)) < limit:
                store.objects.delete(ref, oid)
        except (ValueError, Moved):
            continue


def _drop_backups(store: Store) -> None:
    """Remove all backups: they may hold what was purged."""
    for ref, oid in store.objects.refs(BACKUP).items():
        store.objects.delete(ref, oid)


def _set(objects: Objects, ref: str, oid: str) -> None:
    """Set a tracking ref, whoever else does so too."""
    for _ in range(TRIES):
        old = objects.tip(ref)
        if old == oid:
            return
        try:
            objects.move(ref, old, oid, "gitmem: sync")
            return
        except Moved:
            continue


def count(objects: Objects, tip: str, hide: str | None) -> int:
    """Return how many commits a tip has that another lacks."""
    try:
        return sum(1 for _ in objects.walk([tip], [hide] if hide else []))
    except GitmemError:
        return 0


def unpushed(store: Store, remote: str) -> tuple[int, str]:
    """Return how many commits a remote lacks, and since when the oldest of them waits ('' if none)."""
    tip = store.tip()
    if tip is None:
        return 0, ""
    there = store.objects.tip(tracking_ref(remote))
    waiting = [c.committer.time for c in store.objects.walk([tip], [there] if there else [])]
    dated = [t for t in waiting if t != ROOT_TIME] or waiting  # the first commit of every store has a made-up time
    return len(waiting), stamp(min(dated)) if dated else ""
