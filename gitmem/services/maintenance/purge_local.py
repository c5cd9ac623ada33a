"""Our own files outside the store.

These are caches, the working state, what sessions left, writes set aside, and logs.

Every file below our folder is looked at, whatever its name: a cache is removed and made again by
the next reader, the others are masked. Each can be repeated: a file is replaced in one step.
"""

import contextlib
import gzip
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO

from gitmem.base.files import sync_dir
from gitmem.base.open_files import processes_with
from gitmem.base.regular_files import open_regular
from gitmem.codemap.graph.cache import NAME as CODE_MAP
from gitmem.codemap.search.index import NAME as CODE_SEARCH
from gitmem.index.health_cache import NAME as HEALTH
from gitmem.index.reader import NAME as INDEX
from gitmem.repo.location import Home
from gitmem.services.maintenance.purge_places import CLEAN, HELD, REMOVED, PurgePlace
from gitmem.services.maintenance.purge_state import PATIENCE, count_in_state, erase_state
from gitmem.services.session_log.reader import FOLDER as SESSIONS
from gitmem.services.session_log.reader import LIVE, PACKED
from gitmem.services.session_log.rotation import locked
from gitmem.services.timeline.evolution import FOLDER as EVOLUTION
from gitmem.state.database import NAME as STATE
from gitmem.state.database import is_aside
from gitmem.store.history.json_mask import OVERLAP, PIECE, mask_json, mask_lines, mask_plain
from gitmem.store.history.pending import PENDING
from gitmem.store.history.redact import SHORTEST, Mask
from gitmem.store.journal import FOLDER as JOURNAL
from gitmem.store.quarantine import FOLDER as QUARANTINE

DATABASE_PARTS = ("", "-wal", "-shm", "-journal")
WHOLE = 64 << 20  # bytes of one JSON document that are masked value by value
SETTLING = (0.0, 0.02, 0.05)  # seconds between looks at a file that hooks may still write to
FOLDERS = {SESSIONS: "session histories", JOURNAL: "journal", QUARANTINE: "quarantine"}
LOG = "hook.log"
OTHERS = "other files of gitmem"
_DELETED = " (deleted)"  # behind the path of an open file that was removed, in /proc
# What a killed process wrote beside a database, and databases that were set aside.
_BINARY = (".damaged", ".db", "-wal", "-shm", "-journal")


def erase(
    home: Home,
    mask: Mask,
    ids: Sequence[str] = (),
    *,
    quarantine: bool = True,
    stood_in_store: bool = True,
) -> list[PurgePlace]:
    """Remove texts, and what is said of records, from our files; return what was in each place.

    `quarantine` says whether that is one of them: only a purge that was made here empties it.
    `stood_in_store` says whether the caches, which are made of the stores, may hold any of it.
    Nobody in this process may have the index or the state open.
    """
    caches = (INDEX, HEALTH, CODE_MAP, CODE_SEARCH) if mask else (INDEX, HEALTH)
    out = _drop_databases(home, caches, mask, ids, stood_in_store)
    out.append(erase_state(home, mask, ids))
    tally = _Tally()
    with locked(home):  # what is being compressed would come back as it was
        for path, place in _files(home):
            if place == FOLDERS[QUARANTINE] and not quarantine:
                continue
            tally.add(place, path, partial(_clean_file, path, mask, ids))
    return [*out, *tally.places()]


def count_places(home: Home, mask: Mask) -> int:
    """Return how many files and rows of ours hold one of the texts."""
    count = count_in_state(home, mask)
    for path, _ in _files(home):
        with contextlib.suppress(OSError), _opened(path) as file:
            count += _count(file, mask)
    return count


class _Tally:
    """Adds up what was in the files of each place."""

    def __init__(self) -> None:
        self._changed = dict.fromkeys((*FOLDERS.values(), LOG, OTHERS), 0)
        self._failed: dict[str, str] = {}

    def add(self, place: str, path: str, clean: Callable[[], bool]) -> None:
        try:
            self._changed[place] += clean()
        except FileNotFoundError:
            return
        except OSError as error:
            self._failed[place] = f"{path}: {error.strerror or error}"

    def places(self) -> Iterator[PurgePlace]:
        for name, count in self._changed.items():
            if name in self._failed:
                yield PurgePlace(name, HELD, count, self._failed[name])
            else:
                yield PurgePlace(name, REMOVED if count else CLEAN, count)


def _drop_databases(
    home: Home, names: Sequence[str], mask: Mask, ids: Sequence[str], may_hold: bool
) -> list[PurgePlace]:
    real = {name: os.path.realpath(home.join(name)) for name in names}
    opened = [path for *_, paths in processes_with(*real.values()) for path in paths]
    out = {name: PurgePlace(name) for name in names}
    dropped = {}
    for name, path in real.items():
        here = [other for other in opened if other.startswith(path)]
        # one that was removed before was removed by a purge
        may = may_hold or any(other.endswith(_DELETED) for other in here)
        if not here or may or _is_concerned(home, name, mask, ids):
            _remove_database(home, name)
            dropped[name] = path
    held = _wait_for_holders(dropped)
    for name in dropped:
        out[name] = PurgePlace(name, CLEAN, 0, "made anew by the next reader")
        if name in held:
            why = f"its old bytes are open in {', '.join(held[name])}: end it, or restart it"
            out[name] = PurgePlace(name, HELD, 0, why)
    return list(out.values())


def _remove_database(home: Home, name: str) -> None:
    for suffix in DATABASE_PARTS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(home.join(name + suffix))


def _wait_for_holders(removed: Mapping[str, str]) -> dict[str, list[str]]:
    """Wait for the processes that read removed databases, {name: path}.

    Return, by name and in words, those that go on. Most are commands and background work of this
    moment.
    """
    deadline = time.monotonic() + PATIENCE
    holders = _holders(removed) if removed else {}
    while holders and time.monotonic() <= deadline:
        time.sleep(0.05)
        holders = _holders(removed)
    return holders


def _holders(removed: Mapping[str, str]) -> dict[str, list[str]]:
    """Return by name, in words, the processes that have removed databases open."""
    out: dict[str, list[str]] = {}
    for pid, command, paths in processes_with(*removed.values()):
        gone = [path for path in paths if path.endswith(_DELETED)]
        for name, path in removed.items():
            if any(other.startswith(path) for other in gone):
                out.setdefault(name, []).append(f"process {pid} ({' '.join(command)[:60]})")
    return out


def _is_concerned(home: Home, name: str, mask: Mask, ids: Sequence[str]) -> bool:
    named = [id.encode() for id in ids]
    for suffix in DATABASE_PARTS:
        with contextlib.suppress(FileNotFoundError), _opened(home.join(name + suffix)) as file:
            if _concerns(file, mask, named):
                return True
    return False


def _files(home: Home) -> Iterator[tuple[str, str]]:
    """Yield (path, place) of our regular files, without the databases.

    Links and pipes are nobody's text.
    """
    skipped = {
        name + part
        for name in (INDEX, HEALTH, CODE_MAP, CODE_SEARCH, STATE)
        for part in DATABASE_PARTS
    }
    for folder, below, names in os.walk(home.path):
        below.sort()
        top = os.path.relpath(folder, home.path).split(os.sep)[0]
        for name in sorted(names):
            path = os.path.join(folder, name)
            is_database = top == "." and (name in skipped or is_aside(name))
            if is_database or name == PENDING or name.endswith(".lock"):
                continue
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path, FOLDERS.get(top, LOG if name == LOG else OTHERS)


def _clean_file(path: str, mask: Mask, ids: Sequence[str]) -> bool:
    """Mask one file; say whether it held anything."""
    named = [id.encode() for id in ids] if _has_rows(path) else []
    with _opened(path) as file:
        if not _concerns(file, mask, named):
            return False
        if path.endswith(_BINARY) or os.sep + EVOLUTION + os.sep in path:
            os.unlink(path)
        else:
            file.seek(0)
            _replace(path, file, mask, named)
    return True


def _has_rows(path: str) -> bool:
    """Return whether each line of a file is a row that is removed with the record it names."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) in FOLDERS or name.startswith("errors.jsonl")


@contextlib.contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    with open_regular(path, os.O_NOFOLLOW) as file:
        if not path.endswith(PACKED):
            yield file
            return
        with gzip.open(file) as packed:
            yield packed  # type: ignore[misc]


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces; of a damaged segment, what can be read of it."""
    try:
        while piece := file.read(PIECE):
            yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    try:
        while line := file.readline(WHOLE):
            yield line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return


def _concerns(file: IO[bytes], mask: Mask, named: Sequence[bytes]) -> bool:
    rest = b""
    for piece in _pieces(file):
        window = rest + piece
        if mask.holds(window) or any(name in window for name in named):
            return True
        rest = window[-OVERLAP:]
    last = rest.rpartition(b"\n")[2]
    return bool(last) and any(_ends_with_part(last, text) for text in mask.texts)


def _ends_with_part(data: bytes, text: str) -> bool:
    encoded = text.encode("utf-8", "surrogateescape")
    return data.endswith(encoded[: max(SHORTEST, len(encoded) // 2)]) or any(
        data.endswith(encoded[:length]) for length in range(len(encoded) - 1, len(encoded) // 2, -1)
    )


def _count(file: IO[bytes], mask: Mask) -> int:
    return sum(1 for line in _lines(file) if mask.holds(line))


def _replace(path: str, file: IO[bytes], mask: Mask, named: Sequence[bytes]) -> None:
    """Put a masked copy in a file's place.

    What a hook writes to the old one meanwhile goes on with it.
    """
    about = os.fstat(file.fileno())
    temp = f"{path}.{os.getpid()}.tmp"
    size = 0
    try:
        with open(
            os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb"
        ) as raw:
            out = gzip.GzipFile("", "wb", 6, raw, mtime=0) if path.endswith(PACKED) else raw
            for clean in _masked(path, file, mask, named):
                size += len(clean)
                out.write(clean)
            if out is not raw:
                out.close()
            raw.flush()
            os.fchmod(raw.fileno(), stat.S_IMODE(about.st_mode))
            os.fsync(raw.fileno())
        if not size and not path.endswith(LIVE):
            os.unlink(path)
            os.unlink(temp)
            return
        os.utime(temp, (about.st_atime, about.st_mtime))
        os.replace(temp, path)
        sync_dir(os.path.dirname(path))
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp)
        raise
    if path.endswith(LIVE):
        _carry_on(path, file, mask, named)


def _carry_on(path: str, old: IO[bytes], mask: Mask, named: Sequence[bytes]) -> None:
    """Append what came to the old file after it was read: a hook may have had it open."""
    for pause in SETTLING:
        time.sleep(pause)
        late = b"".join(_rows(old, named))
        if late:
            with open(path, "ab") as file:
                file.write(b"".join(mask_lines(mask, late.splitlines(keepends=True))))


def _rows(file: IO[bytes], named: Sequence[bytes]) -> Iterator[bytes]:
    return (line for line in _lines(file) if not any(name in line for name in named))


def _masked(path: str, file: IO[bytes], mask: Mask, named: Sequence[bytes]) -> Iterator[bytes]:
    if path.endswith(".json") or ".json." in path:
        data = b"".join(_rows(file, named))
        clean = mask_json(mask, data) if len(data) < WHOLE else None
        yield from (
            [clean] if clean is not None else mask_lines(mask, data.splitlines(keepends=True))
        )
    elif _has_rows(path):
        yield from mask_lines(mask, _rows(file, named))
    else:
        yield from mask_plain(mask, _pieces(file))
