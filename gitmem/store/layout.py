"""Where things are in a store: paths in the tree, the format gate.

The same in words: `docs/format.md`.
"""

import json
import re

from gitmem.errors import FormatTooNew, InvalidRecord
from gitmem.records.codec import LARGE_LIMIT
from gitmem.records.kinds import NAMED
from gitmem.records.record import kind_of

FORMAT = 1
FORMAT_PATH = "gitmem.json"
FORMAT_BYTES = b'{"format": 1}\n'
PURGES = "purges.jsonl"
HOURS = "hours"
TOMBSTONES = "tombstones/"
# who commits a merge: its commit depends on its parents alone
GITMEM = ("gitmem", "gitmem@localhost")

# bytes of a file in a folder of records that are read: the largest record
FILE_LIMIT = LARGE_LIMIT
PLAIN_LIMIT = 16 * 1024 * 1024  # and of any other file

FOLDER = {
    "memory": "memories",
    "gotcha": "gotchas",
    "session": "sessions",
    "snapshot": "snapshots",
    "work": "work",
    "dna": "dna",
    "event": "events",
}
KIND_OF_FOLDER = {folder: kind for kind, folder in FOLDER.items()}

_BAD_NAME = re.compile(r"[\x00-\x1f\x7f\\:*?\"<>|]")
_RECORD_PATH = re.compile(r"([a-z]+)/(?:[0-9a-z]{2}/)?([a-z0-9._-]+)\.md")


def record_path(id: str) -> str:
    """Return the path of a record's file in the tree."""
    kind = kind_of(id)
    if kind is None:
        raise InvalidRecord(f"'{id}' is not a record id.")
    folder = FOLDER[kind]
    return f"{folder}/{id[4:]}.md" if kind in NAMED else f"{folder}/{id[-2:]}/{id}.md"


def id_of_path(path: str) -> str | None:
    """Return the id of the record that belongs at a path; None when no record does."""
    match = _RECORD_PATH.fullmatch(path)
    kind = KIND_OF_FOLDER.get(match[1]) if match else None
    if match is None or kind is None:
        return None
    id = f"{'wrk' if kind == 'work' else 'dna'}-{match[2]}" if kind in NAMED else match[2]
    return id if kind_of(id) == kind and record_path(id) == path else None


def in_record_folder(path: str) -> bool:
    """Say whether a path is where records are, so that what is there must be one."""
    return path.split("/", 1)[0] in KIND_OF_FOLDER


def tombstone_path(id: str) -> str:
    """Return the path of the mark that an id was forgotten on purpose."""
    return f"{TOMBSTONES}{id[-2:]}/{id}"


def attic_path(id: str, digest: str) -> str:
    """Return where the side of a merge is kept that did not win."""
    return f"attic/{id}/{digest}.md"


def usage_path(replica: str, shard: str) -> str:
    """Return the file of one replica's read counts for one shard."""
    return f"usage/{replica}/{shard}.jsonl"


def hours_path(replica: str) -> str:
    """Return the file of the hours in which one replica was worked in."""
    return f"usage/{replica}/{HOURS}"


def has_hours(path: str) -> bool:
    """Say whether a path is of a file of active hours."""
    return path.startswith("usage/") and path.endswith(f"/{HOURS}")


def safe_path(path: str) -> bool:
    """Return whether a path from elsewhere may be accepted.

    It must not lead out of the tree, must have no control characters, and must be bounded.
    """
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    parts = path.split("/")
    if len(encoded) > 512 or len(parts) > 8 or _BAD_NAME.search(path):
        return False
    return all(
        p not in {"", ".", ".."}
        and p.lower() not in {".git", "git~1"}
        and not p.endswith((" ", "."))
        and len(p) <= 200
        for p in parts
    )


def check_format(data: bytes | None, ref: str) -> None:
    """Check the format of a store.

    Raise FormatTooNew for a store of a newer format, InvalidRecord for a tree that is not a store.
    """
    if data == FORMAT_BYTES:
        return
    try:
        number = json.loads(data or b"")["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidRecord(
            f"{ref} does not hold a gitmem store ({FORMAT_PATH} is missing or damaged).",
            "Run 'git mem doctor' to see what is there.",
        ) from error
    if type(number) is not int or number < 1:  # true is not a number, 1.0 is not how one is written
        raise InvalidRecord(
            f"{ref} does not hold a gitmem store: the format in {FORMAT_PATH} is not a whole "
            f"number above 0.",
            "Run 'git mem doctor' to see what is there.",
        )
    if number > FORMAT:
        raise FormatTooNew(
            f"the store has format {number}; this git mem knows up to {FORMAT}.",
            "Upgrade: pip install --upgrade git-mem",
        )
