"""Records that a purge by somebody else removed from this clone.

They are kept for a while, on this machine only.

A file for each purge that was followed, below our folder and for its owner only: a line about the
purge, then a line for each record with the bytes that it had here. It is never pushed, indexed or
read for agents. After `KEPT_DAYS` it is removed.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.base.files import disk_error, write_atomic
from gitmem.clock import ulid_time
from gitmem.records.record import kind_of
from gitmem.repo.location import Home

FOLDER = "quarantine"
KEPT_DAYS = 30  # as long as a backup before a rewritten history
_ENDING = ".jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """One record in the quarantine: its bytes as they were, who took it out, where and when."""

    id: str
    data: str
    at: str
    purger: str
    remote: str


def keep(
    home: Home, name: str, about: dict[str, str], records: Sequence[tuple[str, bytes]]
) -> None:
    """Keep records under a name (a ULID); on the disk when this returns. Raises External."""
    folder = home.join(FOLDER)
    home.make()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from error
    rows = [
        about,
        *({"id": id, "data": data.decode("utf-8", "surrogateescape")} for id, data in records),
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    write_atomic(os.path.join(folder, name + _ENDING), text.encode())


def kept(home: Home) -> Iterator[Kept]:
    """Yield what is kept, the newest first; a line that cannot be read is passed over."""
    for path in reversed(_paths(home)):
        about: dict[str, str] = {}
        for row in _rows(path):
            id, data = row.get("id"), row.get("data")
            if "purger" in row:
                about = {key: str(row.get(key, "")) for key in ("at", "purger", "remote")}
            elif isinstance(id, str) and kind_of(id) and isinstance(data, str):
                yield Kept(
                    id, data, about.get("at", ""), about.get("purger", ""), about.get("remote", "")
                )


def followed_unasked(home: Home, now: float) -> set[str]:
    """Return the ids of records removed lately by purges that were followed without asking."""
    ids: set[str] = set()
    for path in _paths(home):
        if _is_old(path, now):
            continue
        unasked = False
        for row in _rows(path):
            if "purger" in row:
                unasked = row.get("asked") == "no"
            elif unasked and isinstance(row.get("id"), str):
                ids.add(str(row["id"]))
    return ids


def expire(home: Home, now: float) -> None:
    """Remove what was kept long enough."""
    for path in _paths(home):
        if _is_old(path, now):
            _unlink(path)


def drop(home: Home) -> int:
    """Remove all that is kept; return how many records that were."""
    count = sum(1 for _ in kept(home))
    for path in _paths(home):
        _unlink(path)
    return count


def _paths(home: Home) -> list[str]:
    folder = home.join(FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(_ENDING)]


def _is_old(path: str, now: float) -> bool:
    try:
        made = ulid_time(os.path.basename(path).removesuffix(_ENDING))
    except ValueError:
        return False
    return made < now - KEPT_DAYS * 86400


def _rows(path: str) -> Iterator[dict[str, object]]:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return
        with open(path, "rb") as file:
            for line in file:
                row = _parsed(line)
                if row is not None:
                    yield row
    except OSError:
        return


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(error, path) from error
