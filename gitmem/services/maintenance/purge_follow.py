"""Follow a purge that another person made: what is removed from this disk, what still waits."""

from collections.abc import Callable, Iterable, Iterator

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
from gitmem.store.history.propagate import holds, purged_ids
from gitmem.store.history.redact import Mask
from gitmem.store.store import Store


def finish(
    store: Store,
    git: Git,
    home: Home,
    out: FollowedPurge,
    close: Callable[[], None],
    texts: Iterable[str] = (),
) -> list[PurgePlace]:
    """Remove from this disk what a purge elsewhere took out of the history that was followed.

    `texts` are what is purged here as well. Returns what was in each place. Never touches the
    quarantine: whoever purges elsewhere must not empty it.
    """
    mask = Mask([*out.masked, *texts])
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
        *purge_local.erase(
            home, mask, ids, quarantine=False, stood_in_store=out.followed is not None
        ),
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
