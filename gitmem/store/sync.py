"""Sync a store with a remote: fetch, merge, push without force, again when somebody was quicker.

A push is a compare-and-swap on the server, so correctness needs no lock there. A remote that lost
its ref gets it again; one that was rewritten is merged after a backup. Absence never means
deletion.
"""

import os
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gitmem.clock import stamp, ulid_time
from gitmem.errors import External, GitmemError, MissingObject, Moved, RemoteRefused
from gitmem.git.objects import Objects
from gitmem.git.remote import Remote
from gitmem.repo.refs import BACKUP, NAMESPACE, REMOTES
from gitmem.store import quarantine
from gitmem.store.following import Weighing, nobody
from gitmem.store.history.losses import Losses
from gitmem.store.history.pending import doom
from gitmem.store.history.propagate import carry_over, holds, purges
from gitmem.store.layout import FILE_LIMIT, FORMAT_PATH, check_format
from gitmem.store.store import Store
from gitmem.store.tree_merge import ROOT_TIME, Report, check_bounds, merge_commits

TRIES = 8
BACKUP_DAYS = 30


@dataclass(slots=True)
class SyncOutcome:
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
    # old tips that held what somebody purged: to be pruned
    abandoned: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)  # the oldest commits that the purge replaced
    # texts that the purge took out, for our own files
    masked: set[str] = field(default_factory=set)
    # a purge that nobody agreed to follow yet; nothing was merged or pushed
    waiting: Losses | None = None
    followed: Losses | None = None  # what a purge that was followed took out of this clone
    quarantined: int = 0  # records of those that are kept on this machine

    def note(self, report: Report) -> None:
        """Add a merge's report."""
        for name in ("conflicts", "damaged", "refused"):
            mine = getattr(self, name)
            mine[:] = dict.fromkeys([*mine, *getattr(report, name)])


def tracking_ref(name: str) -> str:
    """Return the ref that holds what was last fetched from a remote.

    It has the name of the remote, or for a URL a digest.
    """
    import hashlib
    import re

    plain = (
        re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*", name)
        and not name.endswith(".lock")
        and "://" not in name
    )
    folder = name if plain else f"url-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"{REMOTES}{folder}/main"


def sync(
    store: Store,
    remote: Remote,
    *,
    push: bool,
    sleep: Callable[[float], None] = time.sleep,
    consent: Callable[[Losses], bool] = nobody,
) -> SyncOutcome:
    """Bring a store and a remote to the same state; raises RemoteRefused, FormatTooNew.

    With `push=False` the remote is only read. A purge of many records, or of other people's, is
    followed only with consent; without it nothing is merged or pushed. Ends within the remote's
    timeout per exchange, eight rounds at most.
    """
    out = SyncOutcome(remote.name)
    into = tracking_ref(remote.name)
    weighing = Weighing(store, remote, consent)
    for attempt in range(TRIES):
        fetched = _fetch(store, remote, into, out)
        if fetched is not None:
            _join(store, fetched, out, weighing)
        tip = store.tip()
        if out.waiting or not push or tip is None or tip == fetched:
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
        set_ref(store.objects, into, tip)
        break
    _expire_backups(store)
    quarantine.expire(store.home, store.clock.now())
    return out


def _fetch(store: Store, remote: Remote, into: str, out: SyncOutcome) -> str | None:
    before = store.objects.tip(into)
    if not remote.fetch(into):
        if before is not None and not out.warnings:
            out.warnings.append(
                f"{remote.name} no longer has the memory it had; it is published again from here."
            )
        return None
    fetched = store.objects.tip(into)
    if fetched is None:
        raise External(
            f"what {remote.name} sent cannot be read.", "Run 'git fsck', then 'git mem sync' again."
        )
    tree = store.objects.commit(fetched).tree
    entry = store.objects.find(tree, FORMAT_PATH)
    check_format(
        store.objects.read_small(entry.oid, FILE_LIMIT) if entry and not entry.is_tree else None,
        f"{remote.name} {remote.ref}",
    )
    ours = store.tip()
    if ours and (hit := holds(store.objects, fetched, ours)):
        # what was purged here is still there: taking it would bring the secret back
        doom(store.home, [fetched])
        if before is not None:
            set_ref(store.objects, into, before)
        else:
            store.objects.delete(into, fetched)
        expire_reflogs(store, [into])
        other = holds(store.objects, ours, fetched)
        if other is None:
            way = (
                f"Remove it there too: git mem purge --remote {remote.name} (the others' next sync "
                f"then follows)."
            )
        else:
            way = (
                f"Something else was purged there on {other['at']}, which is still here. "
                f"Name once more what you purged here, so that it goes there too: git mem purge "
                f"--text SECRET (or ID) --remote {remote.name}"
            )
        raise RemoteRefused(
            f"{remote.name} still holds what was purged here on {hit['at']}.", way, fetched=fetched
        )
    if before is not None and before != fetched and not store.objects.is_ancestor(before, fetched):
        warning = f"{remote.name}'s memory was rewritten; both histories are kept."
        if ours and warning not in out.warnings and not holds(store.objects, ours, fetched):
            backup(store, ours)
            out.warnings.append(warning)
    return fetched


def _join(store: Store, theirs: str, out: SyncOutcome, weighing: Weighing) -> None:
    """Merge a fetched commit into the store, by compare-and-swap."""
    for _ in range(TRIES * 4):
        ours = store.tip()
        if ours == theirs:
            return
        try:
            if ours is None:
                check_bounds(store.objects, None, theirs)
                store.move(None, theirs, f"sync {out.remote}")
                out.received += count(store.objects, theirs, None)
                return
            followed = None
            if holds(store.objects, ours, theirs):
                followed = carry_over(store.objects, ours, theirs)
                lost, agreed, kept = weighing.weigh(ours, theirs, followed)
                if not agreed:
                    out.waiting = lost
                    return
                out.followed, out.quarantined = lost, kept
                made, report = followed.commit, followed.report
                # noted before the ref moves: a sync that is killed in between is ended by the next
                # prune
                doom(store.home, [ours, *followed.doomed])
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
                f"what {out.remote} sent is incomplete: {error}",
                "Run 'git mem sync' again; if it stays so, run 'git fsck' on the remote.",
            ) from error
        if followed is not None:
            drop_unclean(store, theirs, [tracking_ref(out.remote)])
            out.abandoned += [ours, *followed.doomed]
            out.replaced += [row["boundary"] for row in purges(store.objects, theirs)]
            out.masked |= followed.masked
            out.warnings.append(
                f"{out.remote}'s history was purged of a secret; yours follows it, with what you "
                f"had not sent."
            )
            out.warnings += [
                f"your unsent change of {path} quotes what was purged, and was left out."
                for path in followed.left_out
            ]
            out.warnings += [
                f"your unsent change of {id} went with the record, which was purged."
                for id in followed.unsent
            ]
        out.received += received
        out.merged = made not in {ours, theirs}
        out.note(report)
        return
    raise External("the store was too busy to merge into.", "Run 'git mem sync' again.")


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


def drop_unclean(store: Store, purged: str, keep: Iterable[str] = ()) -> list[str]:
    """Remove backups and fetched refs with purged data, and all our reflogs; return the refs.

    The purged data is what a history was purged of.
    """
    kept = {*keep}
    gone = []
    for ref, oid in store.objects.refs(NAMESPACE).items():
        if (
            ref.startswith((REMOTES, BACKUP))
            and ref not in kept
            and holds(store.objects, oid, purged)
        ):
            store.objects.delete(ref, oid)
            gone.append(ref)
    expire_reflogs(store, [store.ref, *kept, *gone])
    return gone


def expire_reflogs(store: Store, refs: Iterable[str]) -> None:
    """Empty the reflogs of our refs, if the user's settings made git keep any."""
    for name in refs:
        try:
            os.unlink(os.path.join(os.path.dirname(store.home.path), "logs", name))
        except FileNotFoundError:
            continue


def set_ref(objects: Objects, ref: str, oid: str) -> None:
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
    """Return how many commits a remote lacks, and since when the oldest of them waits.

    The time is '' if there are none.
    """
    tip = store.tip()
    if tip is None:
        return 0, ""
    there = store.objects.tip(tracking_ref(remote))
    waiting = [c.author.time for c in store.objects.walk([tip], [there] if there else [])]
    # the first commit of every store has a made-up time
    dated = [t for t in waiting if t != ROOT_TIME] or waiting
    return len(waiting), stamp(min(dated)) if dated else ""
