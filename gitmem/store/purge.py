"""Remove a secret from a store's whole history, and its objects from the disk; then from a remote.

Every commit that holds it, or descends from one that does, is made anew without it; backups and
what was fetched are dropped; objects that only the old history needed are deleted, loose or packed,
and nothing else is: the user's own unreachable objects stay. What a remote has is cleaned in the
same way before it is joined with ours, so nothing that was purged can come back with it.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from gitmem.base.files import Lock
from gitmem.clock import LAST
from gitmem.errors import External, MissingObject, Moved, UserError
from gitmem.git.objects import Draft, Identity, Objects
from gitmem.git.process import Git
from gitmem.git.remote import Remote
from gitmem.repo.refs import BACKUP, NAMESPACE, REMOTES, SNAPSHOTS
from gitmem.store.following import Weighing, nobody
from gitmem.store.history.losses import Losses
from gitmem.store.history.pending import doom
from gitmem.store.history.propagate import carry_over, holds, purged_ids, purges
from gitmem.store.history.prune import Pruned, doom_strays, holders, prune
from gitmem.store.history.redact import Mask, mark_bytes
from gitmem.store.history.rewrite import Cleaner, Rewritten, rewrite
from gitmem.store.history.saved_work import unclean_work
from gitmem.store.layout import PURGES, check_format, tombstone_path
from gitmem.store.store import Store
from gitmem.store.sync import (
    TRIES,
    drop_unclean,
    expire_reflogs,
    set_ref,
    tracking_ref,
)
from gitmem.store.tree_merge import Report, merge_commits

REF_PATIENCE = 10.0  # seconds that git's lock on a ref, as of a packing of refs, is waited for


@dataclass(slots=True)
class Purged:
    """What a purge did to one ref, and which objects it removed from the disk."""

    rewritten: int = 0
    dropped_refs: list[str] = field(default_factory=list)
    # snapshots: those of which only words were masked, and those whose work is gone
    masked_work: list[str] = field(default_factory=list)
    dropped_work: list[str] = field(default_factory=list)
    pruned: Pruned = field(default_factory=Pruned)
    # the user's refs that still need what was purged
    held_by: list[str] = field(default_factory=list)
    foreign: int = 0  # unreachable objects of the user's that hold the text


def purge(
    store: Store,
    git: Git,
    ids: Sequence[str],
    mask: Mask | None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Purged:
    """Rewrite the store without records (by id) and with texts masked; then prune.

    Leaves a tombstone of each record. Raises Busy, Moved when somebody writes at the same time.
    """
    out = Purged()
    store.home.make()
    with Lock(store.home.touch("write.lock"), store.budget):
        boundaries = _rewrite_refs(store, ids, mask, progress, out)
        work = [SNAPSHOTS + id for id in (*out.masked_work, *out.dropped_work)]
        expire_reflogs(store, [store.ref, *out.dropped_refs, *work])
        out.foreign = doom_strays(git, store.home, mask or Mask(), ids)
    store.objects.close()
    out.pruned = prune(git, store.home)
    out.held_by = holders(git, boundaries)
    return out


def _rewrite_refs(
    store: Store,
    ids: Sequence[str],
    mask: Mask | None,
    progress: Callable[[int, int], None],
    out: Purged,
) -> list[str]:
    """Give the store a clean history and drop the refs that hold the old one.

    Return the oldest commits replaced.
    """
    objects = store.objects
    refs = objects.refs(NAMESPACE)
    work = list(unclean_work(objects, ids, mask or Mask()))
    before = {oid for ref, oid in refs.items() if not ref.startswith(SNAPSHOTS)}
    # noted before anything moves: a purge that is killed is ended by the next prune
    doom(store.home, sorted(before | {oid for _, oid, _ in work}))
    boundaries = _replace_history(store, ids, mask, progress, out)
    # what was fetched and what was backed up holds it too
    for ref, oid in refs.items():
        if ref.startswith((REMOTES, BACKUP)) and _replaced(objects, ref, oid, None):
            out.dropped_refs.append(ref)
    for id, oid, clean in work:
        if _replaced(objects, SNAPSHOTS + id, oid, clean):
            (out.masked_work if clean else out.dropped_work).append(id)
    return boundaries


def _replaced(objects: Objects, ref: str, old: str, new: str | None) -> bool:
    """Give a ref another commit, or delete it; say whether it was there."""
    change = (
        partial(objects.move, ref, old, new, "gitmem: purge")
        if new
        else partial(objects.delete, ref, old)
    )
    return _retried(change, partial(objects.tip, ref))


def _replace_history(
    store: Store,
    ids: Sequence[str],
    mask: Mask | None,
    progress: Callable[[int, int], None],
    out: Purged,
) -> list[str]:
    objects = store.objects
    tip = store.tip()
    if tip is None:
        return []
    done = rewrite(objects, tip, Cleaner(objects, ids, mask), progress)
    if done.replaced:
        new = _mark(store, done, ids)
        _retried(lambda: objects.move(store.ref, tip, new, "gitmem: purge"), store.tip)
    out.rewritten = done.replaced
    return done.boundaries


def _retried(change: Callable[[], None], tip: Callable[[], str | None]) -> bool:
    """Change a ref, again while git itself holds its lock.

    Raises Moved when the ref has another value.
    """
    before = tip()
    deadline = time.monotonic() + REF_PATIENCE
    while True:
        try:
            change()
            return True
        except Moved:
            now = tip()
            if now is None:
                return False
            if now != before or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _mark(store: Store, done: Rewritten, ids: Sequence[str]) -> str:
    """Return a commit on a new tip that tells other clones which history was replaced."""
    objects = store.objects
    commit = objects.commit(done.tip)
    entry = objects.find(commit.tree, PURGES)
    old = objects.read(entry.oid) if entry and not entry.is_tree else b""
    at = store.clock.stamp()
    # `purge` tells two purges of one commit apart: either may have taken out something else
    lines = [
        json.dumps({"at": at, "boundary": boundary, "purge": store.clock.ulid()})
        for boundary in done.boundaries
    ]
    edits = {PURGES: old + b"".join(line.encode() + b"\n" for line in lines)}
    for id in ids:
        if objects.find(commit.tree, tombstone_path(id)) is None:
            edits[tombstone_path(id)] = mark_bytes(
                {"at": at, "by": store.author[0], "id": id, "purged": True}
            )
    text = "gitmem: purge\n\nGitmem-Op: purge\n"
    # whose purge it is: other clones ask who took records out before they follow
    when = max(int(store.clock.now()), min(commit.committer.time, LAST))
    who = Identity(*store.author, when)
    return objects.write(Draft(commit.tree, edits, (done.tip,), text, who, who))


@dataclass(slots=True)
class Sent:
    """What replacing a remote's history did.

    `rewritten` counts commits of its that had to be made anew.
    """

    rewritten: int = 0
    pruned: Pruned = field(default_factory=Pruned)
    masked: set[str] = field(default_factory=set)
    # tips that held what was purged: pruned already
    abandoned: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)  # the oldest commits that purges replaced
    left_out: list[str] = field(default_factory=list)
    followed: Losses | None = None  # what a purge there takes out of this clone
    quarantined: int = 0  # records of those that are kept on this machine


def send(
    store: Store,
    git: Git,
    remote: Remote,
    ids: Sequence[str],
    mask: Mask | None,
    consent: Callable[[Losses], bool] = nobody,
) -> Sent | None:
    """Replace a remote's history by ours, with what it had that we had not.

    None when it has no memory.

    What it has is purged first: of these ids and texts, and of the records that were ever purged
    here. Where only the text of an earlier purge would do and was not given, the changes made there
    are compared and masked, or refused with a UserError. A purge that was made there is followed as
    `sync` does, with consent. Goes through only if nobody pushes meanwhile; raises RemoteRefused.
    """
    into = tracking_ref(remote.name)
    if not remote.fetch(into):
        return None
    out = Sent()
    there = store.objects.tip(into)
    if there is None:
        raise External(
            f"what {remote.name} sent cannot be read.", "Run 'git fsck', then try again."
        )
    doomed = [there]
    doom(store.home, doomed)
    try:
        weighing = Weighing(store, remote, consent)
        tip = _joined(store, remote, there, ids, mask, out, doomed, weighing)
        out.replaced = [row["boundary"] for row in purges(store.objects, tip)]
        remote.push(tip, lease=there)
        set_ref(store.objects, into, tip)
    finally:
        if store.objects.tip(into) == there and store.tip() != there:
            store.objects.delete(into, there)
        expire_reflogs(store, [store.ref, into])
        store.objects.close()
        out.abandoned = doomed
        out.pruned = prune(git, store.home, doomed)
    return out


def _joined(
    store: Store,
    remote: Remote,
    there: str,
    ids: Sequence[str],
    mask: Mask | None,
    out: Sent,
    doomed: list[str],
    weighing: Weighing,
) -> str:
    """Bring our ref to a commit that holds both sides and nothing purged; return it."""
    objects = store.objects
    entry = objects.find(objects.commit(there).tree, "gitmem.json")
    check_format(
        objects.read(entry.oid) if entry and not entry.is_tree else None,
        f"{remote.name} {remote.ref}",
    )
    ours = store.tip()
    cleaner = Cleaner(objects, sorted({*ids, *(purged_ids(objects, ours) if ours else ())}), mask)
    done = rewrite(objects, there, cleaner)
    out.rewritten = done.replaced
    theirs = done.tip
    if done.replaced and not (ours and objects.is_ancestor(theirs, ours)):
        theirs = _mark(store, done, cleaner.ids)
    # what it was before stays out: a text of an earlier purge may be in it still
    doomed.append(theirs)
    doom(store.home, doomed)
    for _ in range(TRIES):
        ours = store.tip()
        made, _ = _join(store, remote, ours, theirs, out, doomed, weighing)
        again = rewrite(objects, made, cleaner)
        if again.replaced:  # ours had it too, from a write after the purge
            doomed += [made, *([ours] if ours else [])]
            doom(store.home, doomed)
            made = _mark(store, again, cleaner.ids)
        try:
            if made != ours:
                store.move(ours, made, "purge: keep what the remote had")
            drop_unclean(store, made, [tracking_ref(remote.name)])
            return made
        except Moved:
            continue
    raise External("the store was too busy to merge into.", "Run the command again.")


def _join(
    store: Store,
    remote: Remote,
    ours: str | None,
    theirs: str,
    out: Sent,
    doomed: list[str],
    weighing: Weighing,
) -> tuple[str, Report]:
    objects = store.objects
    if ours is None:
        return theirs, Report()
    kept, lacking = holds(objects, theirs, ours), holds(objects, ours, theirs)
    if kept and lacking:
        raise UserError(
            f"{remote.name} still holds what was purged here on {kept['at']}, and this clone what "
            f"was purged there on {lacking['at']}.",
            f"Name again what you purged here: git mem forget --purge ID or --text SECRET, with "
            f"--remote {remote.name}",
        )
    try:
        if not kept and not lacking:
            return merge_commits(objects, ours, theirs)
        if kept:
            carried = carry_over(objects, theirs, ours)
        else:
            carried = carry_over(objects, ours, theirs)
            out.followed, agreed, out.quarantined = weighing.weigh(ours, theirs, carried)
            if not agreed:
                raise UserError(
                    f"{remote.name} was purged of many records, or of other people's, and this "
                    f"clone does not follow that yet.",
                    "Run it on a terminal, which asks, or with --follow-purge: what goes is kept "
                    "here for 30 days.",
                )
    except MissingObject as error:
        raise External(
            f"what {remote.name} sent is incomplete: {error}", "Run 'git fsck' on the remote."
        ) from error
    new = [*carried.doomed, *([ours] if lacking else [])]
    doomed += new
    doom(store.home, new)
    out.masked |= carried.masked
    out.left_out += carried.left_out
    return carried.commit, carried.report
