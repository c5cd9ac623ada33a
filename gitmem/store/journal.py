"""Writes that wait: one JSON file each, in the common dir.

A hook that must not touch git, and a writer that found the ref busy past its patience, leave their
operations here; the next writer commits them. Standard library only: the hot path imports this.

An entry: `{"v": 1, "key", "ref", "since", "subject", "trailers", "ops", "author", "at"}`. `key`
goes into the commit as `Gitmem-Key`; `since` is the tip when the entry was made, so that a drain
that was killed between the commit and the removal of the entry finds its key and does not commit
twice.
"""

import os

from gitmem.base.fast import loads
from gitmem.base.files import listing, write_atomic
from gitmem.repo.location import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER = "journal"
VERSION = 1


def add(home: Home, entry: "dict[str, Any]", *, durable: bool = True) -> str:
    """Write an entry and return its path.

    It is on the disk when this returns, and comes after all that are there.
    """
    import json  # most hooks leave nothing here

    folder = home.make(FOLDER)
    path = os.path.join(folder, _name(folder, entry["key"]) + ".json")
    write_atomic(
        path,
        json.dumps({"v": VERSION, **entry}, ensure_ascii=False).encode("utf-8", "replace"),
        shared=home.shared,
        durable=durable,
    )
    return path


def _name(folder: str, key: str) -> str:
    """Return the entry's name: its key, whose first part is the time.

    When the clock is behind, one after the last name.

    The key is in it in any case, so two writers at once never take one name.
    """
    try:
        last = max((name[:-5] for name in os.listdir(folder) if name.endswith(".json")), default="")
    except OSError:
        last = ""
    if key > last:
        return key
    base, _, rest = last.partition("~")
    count = rest.partition("~")[0]
    return f"{base}~{int(count) + 1 if count.isdecimal() else 1:06d}~{key}"


def entries(home: Home) -> "Iterator[tuple[str, dict[str, Any] | None]]":
    """Yield (path, entry), oldest first; None for a file that cannot be read as an entry."""
    for path in listing(home.join(FOLDER), ".json"):
        try:
            with open(path, encoding="utf-8") as file:
                entry = loads(file.read())
            good = (
                isinstance(entry, dict)
                and entry.get("v") == VERSION
                and isinstance(entry.get("ops"), list)
                and isinstance(entry.get("ref"), str)
            )
        except (OSError, ValueError, RecursionError):
            entry, good = None, False
        yield path, entry if good else None


def count(home: Home) -> int:
    """Return how many entries wait."""
    return sum(1 for _ in listing(home.join(FOLDER), ".json"))


def remove(path: str) -> None:
    """Remove an entry that has been committed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def set_aside(path: str) -> None:
    """Keep an entry that cannot be applied, under another name: `doctor` lists it."""
    try:
        os.replace(path, path + ".bad")
    except FileNotFoundError:
        pass
