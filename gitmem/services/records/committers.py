"""Whose words a record has, by the store's history as the index keeps it. Part of the hot path.

`author` and `confirmed` are text that anybody may write into a record. What this user is told as
their own, or as settled, goes by who committed it: see `gitmem.index.committers`.
"""

from gitmem.repo.identity import made_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Row = Mapping[str, Any]

OWN_NAME = "git-mem"  # as author of what was captured: it names nobody
NEVER_FETCHED = frozenset({"private", "user"})  # stores that nobody else writes


def persons(text: object) -> list[str]:
    """Return the persons of a column of the index, each as `Name <address>`."""
    return [part for part in str(text or "").split("\n") if part]


def address(person: str) -> str:
    """Return the e-mail address of `Name <address>`."""
    return person.rpartition("<")[2].rstrip(">")


def is_own(committer: object, own: frozenset[str]) -> bool:
    """Say whether all persons of a column are this user, by their addresses."""
    return made_by(own, *map(address, persons(committer)))


def is_accepted(row: "Row", own: frozenset[str]) -> bool:
    """Return whether this user wrote, confirmed or pinned the present words of a record."""
    if row.get("store") in NEVER_FETCHED or is_own(row.get("committer"), own):
        return True
    return any(is_own(person, own) for person in persons(row.get("vouchers")))


def is_foreign(row: "Row", own: frozenset[str]) -> bool:
    """Say whether somebody else committed the words of a record, or of a summary's entry."""
    return row.get("store") not in NEVER_FETCHED and not is_own(row.get("committer"), own)


def writers(committer: object) -> str:
    """Return the persons of a column as one text, with their addresses: a name is free to take."""
    some = []
    for person in persons(committer):
        name = person.rpartition("<")[0].strip()
        some.append(f"{name} ({address(person)})" if name else address(person))
    return ", ".join(some) or "an unknown committer"


def disputed(row: "Row") -> bool:
    """Say whether a record names another author than whoever committed its words."""
    if str(row.get("author") or "").strip() == OWN_NAME:
        return False
    claimed = address(str(row.get("author") or "")).strip().casefold()
    made = {address(person).strip().casefold() for person in persons(row.get("committer"))}
    return row.get("store") not in NEVER_FETCHED and bool(made) and made != {claimed}
