"""What an import needs besides the entries: who imports, and what is in the stores."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from gitmem.records.record import Record
from gitmem.services.records.write import Writer
from gitmem.store.rejected import Rejected

StoredIn = tuple[str, Record]  # (scope, record)


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What a plan needs besides the items.

    `scope` is the store of what is new, `now` the time, RFC 3339 in UTC. `existing` returns the
    records with some ids, `titled` the live facts whose title has some normal words. `author_of`
    returns who else wrote a file of the work tree: "" for this user, None for a file that git does
    not track. `place_of` returns the path of a file of the code from the root, "" for one that gets
    no anchor.
    """

    who: Writer
    scope: str
    is_scope_chosen: bool
    now: str
    existing: Callable[[Collection[str]], Mapping[str, StoredIn]]
    titled: Callable[[Collection[str]], Mapping[str, StoredIn]]
    forgotten: Collection[str]
    rejected: Rejected
    author_of: Callable[[str], str | None] = lambda _: None
    place_of: Callable[[str], str] = lambda _: ""
