"""What our own files beside the store hold of a text: the index, what sessions left, errors seen, writes set aside."""

import contextlib
import gzip
import os
from collections.abc import Iterator, Sequence

from gitmem.index.reader import NAME as INDEX
from gitmem.repo.location import Home
from gitmem.services.session_log.reader import PACKED, unpacked
from gitmem.services.session_log.rotation import locked
from gitmem.state.database import NAME as STATE
from gitmem.state.database import State, is_aside
from gitmem.store.history.redact import Mask
from gitmem.store.journal import FOLDER as JOURNAL


def erase(home: Home, mask: Mask, ids: Sequence[str] = ()) -> int:
    """Remove texts, and what is said of records, from our files; return how many held one.

    The index goes as a whole: the next reader makes it anew. Nobody in this process may have the index or the state open.
    """
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(home.join(INDEX + suffix))
    found = 0
    named = [id.encode() for id in ids]
    with locked(home):  # what is being compressed would come back as it was
        for path in _files(home):
            with contextlib.suppress(FileNotFoundError):
                data = _read(path)
                clean = mask.raw(b"".join(line for line in data.splitlines(keepends=True) if not any(id in line for id in named)))
                if clean != data:
                    found += 1
                    if clean:
                        with open(path, "wb") as file:  # in place: it keeps its mode
                            file.write(gzip.compress(clean, mtime=0) if path.endswith(PACKED) else clean)
                    else:
                        os.unlink(path)
    if mask and os.path.exists(home.join(STATE)):
        with contextlib.closing(State(home)) as state:
            held = any(mask.holds(pattern.encode()) for pattern, _, _ in state.errors(0.0))
            found += held
            state.purge_errors(mask.texts)
    return found


def _read(path: str) -> bytes:
    """Return what a file says. A segment of a history that is damaged says what can be read of it, and loses the rest."""
    with open(path, "rb") as file:
        return b"".join(unpacked(file)) if path.endswith(PACKED) else file.read()


def _files(home: Home) -> Iterator[str]:
    """Yield the files that may quote what people and agents wrote; databases and notes of our own are not among them."""
    for folder in ("sessions", JOURNAL):
        for path, _, names in os.walk(home.join(folder)):
            yield from (full for name in names if not os.path.islink(full := os.path.join(path, name)))
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(home.path)):
            if name.startswith("errors.jsonl") or (name.endswith((".tmp", ".damaged")) and not is_aside(name)):
                yield home.join(name)
