"""Sync a store with a remote: fetch, merge, push without force, again when somebody was quicker.

A push is a compare-and-swap on the server, so correctness needs no lock there. A remote that lost
its ref gets it again; one that was rewritten is merged after a backup. Absence never means
deletion.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
from gitmem.store.tree_merge import (
    ROOT_TIME,
    Report,
    check_bounds,
    merge_commits,
    without_merges,
)

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
    before = store.tip()
    for attempt in range(TRIES):
        fetched = _fetch(store, remote, into, out)
        if fetched is not None and fetched == before:
            break
        with _complete(remote.name):
            joined, report = _joined(store, fetched, out, weighing)
        if out.waiting or not push or joined is None or joined == fetched:
            _take(store, joined, fetched, report, out)
            break
        try:
            remote.push(joined)
        except GitmemError as error:
            if not _is_race(error) or attempt == TRIES - 1:
                # what was fetched is worth having all the same
                _take(store, joined, fetched, report, out)
                raise
            # nothing names the merge of this round, and the next one makes its own
            import random  # few have to wait

            sleep(random.uniform(0.02, 0.1) * 2**attempt)
            continue
        out.pushed = True
        out.sent = count(store.objects, joined, fetched)
        _take(store, joined, fetched, report, out)
        set_ref(store.objects, into, joined)
        break
    _expire_backups(store)
    quarantine.expire(store.home, store.clock.now())
    return out


def _is_race(error: GitmemError) -> bool:
    return isinstance(error, RemoteRefused) and error.kind == "race"


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
    ours = store.tip()
    if before == fetched == ours:
        return fetched  # looked at before
    _check(store.objects, fetched, remote)
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
                f"Remove it there too: git mem forget --purge --remote {remote.name} (the others' "
                f"next sync then follows)."
            )
        else:
            way = (
                f"Something else was purged there on {other['at']}, which is still here. "
                f"Name once more what you purged here, so that it goes there too: git mem forget "
                f"--purge --text SECRET (or ID) --remote {remote.name}"
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


def _check(objects: Objects, fetched: str, remote: Remote) -> None:
    entry = objects.find(objects.commit(fetched).tree, FORMAT_PATH)
    data = objects.read_small(entry.oid, FILE_LIMIT) if entry and not entry.is_tree else None
    check_format(data, f"{remote.name} {remote.ref}")


@contextmanager
def _complete(remote: str) -> Iterator[None]:
    """Turn an object that is missing into an error that says what to do."""
    try:
        yield
    except MissingObject as error:
        raise External(
            f"what {remote} sent is incomplete: {error}",
            "Run 'git mem sync' again; if it stays so, run 'git fsck' on the remote.",
        ) from error


def _joined(
    store: Store, fetched: str | None, out: SyncOutcome, weighing: Weighing
) -> tuple[str | None, Report]:
    """Return a commit that has what is here and what was fetched, and what its merge reports.

    The store's ref moves only to follow a purge. Nothing is built on a merge before it was pushed,
    so that it can be made anew when somebody else was quicker.
    """
    for _ in range(TRIES * 4):
        ours = store.tip()
        if ours is None and fetched is not None:
            check_bounds(store.objects, None, fetched)
        if ours is None or fetched is None or ours == fetched:
            return fetched or ours, Report()
        if not holds(store.objects, ours, fetched):
            return _merge(store.objects, ours, fetched)
        try:
            return _follow(store, ours, fetched, out, weighing)
        except Moved:
            continue
    raise _too_busy()


def _follow(
    store: Store, ours: str, theirs: str, out: SyncOutcome, weighing: Weighing
) -> tuple[str | None, Report]:
    """Follow a purge of the remote's history; raises Moved. None where it waits for consent."""
    followed = carry_over(store.objects, ours, theirs)
    lost, agreed, kept = weighing.weigh(ours, theirs, followed)
    if not agreed:
        out.waiting = lost
        return None, Report()
    out.followed, out.quarantined = lost, kept
    # noted before the ref moves: a sync that is killed in between is ended by the next prune
    doom(store.home, [ours, *followed.doomed])
    received = count(store.objects, theirs, ours)
    store.move(ours, followed.commit, f"sync {out.remote}")
    drop_unclean(store, theirs, [tracking_ref(out.remote)])
    out.abandoned += [ours, *followed.doomed]
    out.replaced += [row["boundary"] for row in purges(store.objects, theirs)]
    out.masked |= followed.masked
    out.warnings.append(
        f"{out.remote}'s history was purged of a secret; yours follows it, with what you had not "
        f"sent."
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
    out.merged = followed.commit not in {ours, theirs}
    return followed.commit, followed.report


def _take(
    store: Store, joined: str | None, fetched: str | None, report: Report, out: SyncOutcome
) -> None:
    """Move the store's ref to a commit, merged with what was written here meanwhile."""
    out.note(report)
    for _ in range(TRIES * 4):
        ours = store.tip()
        if joined is None or ours == joined:
            return
        if ours and holds(store.objects, joined, ours):
            doom(store.home, [joined])
            raise External(
                "something was purged here while memory was exchanged.",
                "Run 'git mem sync' again.",
            )
        made, late = (joined, Report()) if ours is None else _merge(store.objects, ours, joined)
        received = count(store.objects, fetched, ours) if fetched else 0
        try:
            store.move(ours, made, f"sync {out.remote}")
        except Moved:
            continue
        out.received += received
        out.merged = made not in {ours, fetched}
        out.note(late)
        return
    raise _too_busy()


def _merge(objects: Objects, ours: str, theirs: str) -> tuple[str, Report]:
    """Return the merge of two commits, made without unsent merges of ours, and its report."""
    if objects.is_ancestor(theirs, ours):
        return ours, Report()
    return merge_commits(objects, without_merges(objects, ours, theirs), theirs)


def _too_busy() -> External:
    return External("the store was too busy to merge into.", "Run 'git mem sync' again.")


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


def drop_unclean(store: Store, purged: str, keep: Iterable[str] = ()) -> None:
    """Remove backups and fetched refs that hold what a history was purged of, and our reflogs.

    The next prune deletes the objects that only they needed.
    """
    kept = {*keep}
    gone = {
        ref: oid
        for ref, oid in store.objects.refs(NAMESPACE).items()
        if ref.startswith((REMOTES, BACKUP))
        and ref not in kept
        and holds(store.objects, oid, purged)
    }
    if gone:
        doom(store.home, list(gone.values()))
    for ref, oid in gone.items():
        store.objects.delete(ref, oid)
    expire_reflogs(store, [store.ref, *kept, *gone])


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
    if tip == there:
        return 0, ""
    waiting = [c.author.time for c in store.objects.walk([tip], [there] if there else [])]
    # the first commit of every store has a made-up time
    dated = [t for t in waiting if t != ROOT_TIME] or waiting
    return len(waiting), stamp(min(dated)) if dated else ""
