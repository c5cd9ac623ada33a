"""Whether a clone follows a purge that was not made in it, and what it keeps of what then goes.

A committer's name can be set by anybody, so it decides only whether somebody is asked. What a purge
takes out of a clone that did not make it is kept in the quarantine, whoever is named as the purger.
"""

from collections.abc import Callable
from typing import Protocol

from gitmem.git.remote import Remote
from gitmem.store import quarantine
from gitmem.store.history.losses import Losses, last_bytes, losses
from gitmem.store.history.propagate import Carried
from gitmem.store.store import Store


class FollowedPurge(Protocol):
    """What an exchange with a remote found out about a purge that it followed."""

    masked: set[str]  # texts that the purge took out, for our own files
    abandoned: list[str]  # old tips that held what was purged: to be pruned
    replaced: list[str]  # the oldest commits that the purge replaced
    followed: Losses | None  # what it takes out of this clone


def nobody(_: Losses) -> bool:
    """Agree to no purge that needs a person's consent."""
    return False


class Weighing:
    """Weighs the purges of one exchange with a remote.

    An exchange repeats a merge when another writer was quicker. A person is asked once about each
    history that was fetched, and it gets one file in the quarantine.
    """

    def __init__(self, store: Store, remote: Remote, consent: Callable[[Losses], bool]) -> None:
        self._store = store
        self._remote = remote
        self._consent = consent
        self._lost_before: set[str] | None = None
        self._answers: dict[str, bool] = {}
        self._files: dict[str, str] = {}

    def weigh(self, ours: str, theirs: str, carried: Carried) -> tuple[Losses, bool, int]:
        """Return what following removes, whether it is done, and how many records are kept.

        The number is of the records that following removes.

        They are on the disk when this returns.
        """
        store = self._store
        lost = losses(store.objects, self._remote.git, ours, theirs, carried)
        if self._lost_before is None:
            self._lost_before = quarantine.followed_unasked(store.home, store.clock.now())
        lost.before = self._lost_before - set(lost.ids)
        if lost.need_consent and theirs not in self._answers:
            self._answers[theirs] = self._consent(lost)
        if lost.need_consent and not self._answers[theirs]:
            return lost, False, 0
        return lost, True, self._keep(ours, theirs, lost)

    def _keep(self, ours: str, theirs: str, lost: Losses) -> int:
        store = self._store
        records = last_bytes(store.objects, self._remote.git, ours, lost.ids)
        if not records:
            return 0
        about = {
            "at": store.clock.stamp(),
            "purger": ", ".join(lost.purgers),
            "remote": self._remote.name,
            "theirs": theirs,
        }
        name = self._files.setdefault(theirs, store.clock.ulid())
        asked = self._answers.get(theirs, False)
        quarantine.keep(store.home, name, about | {"asked": "yes" if asked else "no"}, records)
        return len(records)
