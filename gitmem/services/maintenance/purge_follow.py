"""Follow a purge that another person made.

This covers who has to agree, what is shown to the user, and what is removed from this disk.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from gitmem.base.files import Lock
from gitmem.errors import GitmemError
from gitmem.git.objects import Objects
from gitmem.git.process import Git
from gitmem.repo.location import Home
from gitmem.repo.refs import REMOTES
from gitmem.services.maintenance import purge_local
from gitmem.services.maintenance.doctor import HealthFinding
from gitmem.services.maintenance.purge_one import HOLDS, foreign_objects, object_places
from gitmem.services.maintenance.purge_places import YOURS, PurgePlace
from gitmem.store.following import FollowedPurge
from gitmem.store.history import prune
from gitmem.store.history.losses import Losses
from gitmem.store.history.propagate import holds, purged_ids
from gitmem.store.history.redact import Mask
from gitmem.store.quarantine import KEPT_DAYS
from gitmem.store.store import Store

NAMED = 3  # writers that are named


def summary(lost: Losses, remote: str) -> str:
    """Say in one sentence who purged what."""
    who = ", ".join(lost.purgers) or "somebody"
    count = len(lost.ids) - len(lost.masked)
    parts = []
    if count:
        parts.append(f"{_records(count)} of {lost.total} removed")
    if lost.masked:
        parts.append(f"{_records(len(lost.masked))} with a text masked")
    more = (
        f" {_records(len(lost.before))} more went in the last {KEPT_DAYS} days."
        if lost.before
        else ""
    )
    return f"{who} purged {remote}'s history: {', '.join(parts)}{_written_by(lost)}.{more}"


def _written_by(lost: Losses) -> str:
    if not lost.writers:
        return ""
    most = sorted(lost.writers.items(), key=lambda row: (-row[1], row[0]))
    named = ", ".join(f"{who}: {count}" for who, count in islice(most, NAMED))
    more = f" and {len(most) - NAMED} more" if len(most) > NAMED else ""
    return f" (written by {named}{more})"


def _records(count: int) -> str:
    return f"{count} record{'s' if count != 1 else ''}"


def how_to_follow(remote: str) -> str:
    """Say what to type when a purge waits."""
    return (
        f"To follow it, run 'git mem sync {remote}' on a terminal, or with --follow-purge: what "
        f"goes is kept on this machine for {KEPT_DAYS} days (git mem purge --quarantine-list). "
        "Until then nothing is merged or pushed. A copy of all you have: git mem sync --bundle "
        "FILE"
    )


def quarantined(count: int) -> str:
    """Say what was kept, and how to have it back or be rid of it."""
    return (
        f"{_records(count)} kept on this machine for {KEPT_DAYS} days. Look: git mem purge "
        "--quarantine-list; bring back: git mem purge --quarantine-restore ID; if it was a "
        "secret: git mem purge --quarantine-drop"
    )


def finish(
    store: Store,
    git: Git,
    home: Home,
    out: FollowedPurge,
    close: Callable[[], None],
) -> list[PurgePlace]:
    """Remove from this disk what a purge elsewhere took out of the history that was followed.

    Returns what was in each place. Never touches the quarantine: whoever purges elsewhere must not
    empty it.
    """
    mask = Mask(out.masked)
    tip = store.tip()
    ids = purged_ids(store.objects, tip) if tip else []
    with Lock(home.touch("write.lock"), store.budget):
        foreign = prune.doom_strays(git, home, mask, ids)
    store.objects.close()
    pruned = prune.prune(git, home, out.abandoned)
    held_by = prune.holders(git, out.replaced)
    close()
    return [
        *object_places("shared", pruned),
        *(PurgePlace(ref, YOURS, 0, HOLDS) for ref in held_by),
        *foreign_objects(foreign),
        *purge_local.erase(home, mask, ids, quarantine=False),
    ]


def check_waiting(objects: Objects, ref: str) -> Iterator[HealthFinding]:
    """Does a purge that was fetched wait for somebody to agree?"""
    try:
        ours = objects.tip(ref)
        tracking = objects.refs(REMOTES)
    except GitmemError:
        return  # a broken ref is another finding
    if ours is None:
        return
    for name, fetched in tracking.items():
        remote = name.removeprefix(REMOTES).removesuffix("/main")
        try:
            waits = holds(objects, ours, fetched) is not None
        except GitmemError:
            continue  # what is broken there is another finding
        if waits:
            yield HealthFinding(
                "warning",
                f"{remote}'s history was purged, and this clone does not follow it yet: nothing is "
                f"merged or pushed.",
                f"See what would go, and decide: git mem sync {remote}",
            )
