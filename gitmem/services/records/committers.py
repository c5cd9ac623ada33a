"""Whose words a record has, by the store's history as the index keeps it. Part of the hot path.

`author` and `confirmed` are text that anybody may write into a record. What this user is told as
their own, or as settled, goes by who committed it: see `gitmem.index.committers`.
"""

from gitmem.records.kinds import FACTS, MACHINE, short_id
from gitmem.repo.identity import made_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Row = Mapping[str, Any]

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
    """Return whether this user wrote or confirmed the present words of a record."""
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
    if str(row.get("author") or "").strip() == MACHINE:
        return False
    claimed = address(str(row.get("author") or "")).strip().casefold()
    made = {address(person).strip().casefold() for person in persons(row.get("committer"))}
    return row.get("store") not in NEVER_FETCHED and bool(made) and made != {claimed}


def claim(row: "Row") -> str:
    """Return what a record claims that its store's history denies, in words; "" for nothing.

    Nobody vouches for such a fact. The words of an epic are everybody's who works on it.
    """
    kind = row.get("kind", "memory")
    if kind == "work" or (kind in FACTS and not row.get("unconfirmed")):
        return ""
    if not row.get("author") or not disputed(row):
        return ""
    author = str(row.get("author") or "").partition("<")[0].strip()
    return f"claims to be by {author}, written by {writers(row['committer'])}"


UNCONFIRMED = "unconfirmed"
# the columns of the index that `trust_marks` and `marked_title` look at
TRUST_FIELDS = (
    "id",
    "kind",
    "title",
    "store",
    "author",
    "committer",
    "unconfirmed",
    "resolved",
)


def trust_marks(row: "Row") -> list[str]:
    """Return what every view says beside a record's words.

    That is whether nobody vouches for them, which other fact contradicts them, and whether the code
    says otherwise.
    """
    unsure = UNCONFIRMED if row["unconfirmed"] and not row.get("resolved") else ""
    against = [f"contradicts {short_id(id)}" for id in row.get("contradicts", ())]
    return [mark for mark in (unsure, claim(row), *against, out_of_date(row)) if mark]


def out_of_date(row: "Row") -> str:
    """Return that the code of this work tree refutes a fact, and why; "" where it does not."""
    reason = row.get("out_of_date")
    return f"may be out of date: {reason}" if reason else ""


def marked(text: str, row: "Row") -> str:
    """Return a text of a record with its marks."""
    marks = trust_marks(row)
    return f"{text} ({', '.join(marks)})" if marks else text


def marked_title(row: "Row") -> str:
    """Return the title of a record with its marks."""
    return marked(str(row["title"]), row)


def credit_marks(row: "Row", own: frozenset[str]) -> list[str]:
    """Return by whom a record is, if that is not this user, and its marks."""
    by = "" if claim(row) else author_if_foreign(row, own)
    return [*([f"by {by}"] if by else []), *trust_marks(row)]


def author_if_foreign(row: "Row", own: frozenset[str]) -> str:
    """Return who wrote the words of a record, if that is somebody else than this user."""
    return writers(row.get("committer")) if is_foreign(row, own) else ""
