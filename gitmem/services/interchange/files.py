"""Read files that other tools wrote: bounded, inside their folder, whatever bytes they have.

What cannot be read is noted in the source, and the rest goes on.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from gitmem.base.regular_files import read_regular
from gitmem.errors import InvalidRecord
from gitmem.records.codec import front_fields
from gitmem.services.interchange.item import ForeignSource
from gitmem.services.interchange.values import map_of

TEXT_LIMIT = 4 << 20  # bytes of a text file
DATA_LIMIT = 256 << 20  # bytes of a file with many entries
LINE_LIMIT = 4 << 20  # characters of a line of such a file
FILES = 100_000  # of a folder
SKIPPED = frozenset({".git", "node_modules", ".venv", ".obsidian", ".trash"})
NOT_READ = "it cannot be read"
_WIDE = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_FENCE = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


def read_bytes(source: ForeignSource, path: str, most: int = TEXT_LIMIT) -> bytes | None:
    """Return the bytes of a file; None, and a note, for one that is not read."""
    name = name_in(source, path)
    if not _is_inside(source, path):
        source.leave_out(name, "it is a link that leads out of the folder")
        return None
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError) as error:
        source.leave_out(name, f"{NOT_READ}: {_reason(error)}")
        return None
    if size > most:
        source.leave_out(name, f"it has {size:,} bytes, more than {most:,}")
        return None
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        source.leave_out(name, NOT_READ)
        return None
    return read_regular(path, most)


def read_text(source: ForeignSource, path: str, most: int = TEXT_LIMIT) -> str | None:
    """Return the text of a file with LF line ends; None, and a note, for one that is not read."""
    data = read_bytes(source, path, most)
    return None if data is None else decoded(source, name_in(source, path), data)


def decoded(source: ForeignSource, name: str, data: bytes) -> str | None:
    """Return bytes as text. Bytes that are not UTF-8 are replaced, and noted."""
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in data[:4096]:
        source.leave_out(name, "it is not a text file")
        return None
    try:
        encoding = next((e for mark, e in _WIDE if data.startswith(mark)), "utf-8-sig")
        text = data.decode(encoding)
    except UnicodeDecodeError:
        source.leave_out(name, "it is not UTF-8: the bytes that are not were replaced")
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(source: ForeignSource, path: str) -> Any:
    """Return what a JSON file holds; None, and a note, where it is not JSON."""
    text = read_text(source, path, DATA_LIMIT)
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        source.leave_out(name_in(source, path), "it is not valid JSON")
        return None


def json_lines(source: ForeignSource, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of each line of a JSON Lines file; a broken line is noted."""
    text = read_text(source, path, DATA_LIMIT)
    name = name_in(source, path)
    for number, line in enumerate((text or "").split("\n"), 1):
        if not line.strip():
            continue
        if len(line) > LINE_LIMIT:
            source.leave_out(f"{name}:{number}", "the line is too long")
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            source.leave_out(f"{name}:{number}", "the line is not valid JSON")
            continue
        if isinstance(entry, dict):
            yield number, map_of(entry)
        else:
            source.leave_out(f"{name}:{number}", "the line is not an object")


def with_front(source: ForeignSource, name: str, text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a Markdown text, and what follows it.

    Front matter that is not plain YAML is noted, and all of the text is returned.
    """
    opening = _FENCE.match(text)
    if not opening:
        return {}, text
    end = _CLOSING.search(text, opening.end())
    if end is None:
        source.leave_out(name, "its front matter does not end")
        return {}, text
    try:
        front = front_fields(text[opening.end() : end.start()])
    except InvalidRecord as error:
        source.leave_out(name, str(error).rstrip("."))
        return {}, text
    return front, text[end.end() :].lstrip("\n")


def files_below(source: ForeignSource, folder: str, *suffixes: str) -> Iterator[str]:
    """Yield the paths of the files below a folder whose name ends so, in the order of names.

    Folders that are links, or that cannot be listed, are noted.
    """
    paths = (path for path in _all_below(source, folder) if path.endswith(suffixes))
    for number, path in enumerate(paths):
        if number >= FILES:
            source.leave_out(name_in(source, folder), f"it has more than {FILES:,} files")
            return
        yield path


def _all_below(source: ForeignSource, folder: str) -> Iterator[str]:
    def note(error: OSError) -> None:
        if os.path.lexists(error.filename):
            source.leave_out(name_in(source, error.filename), f"{NOT_READ}: {_reason(error)}")

    for here, folders, names in os.walk(folder, onerror=note):
        kept = [os.path.join(here, name) for name in sorted(folders) if name not in SKIPPED]
        for path in filter(os.path.islink, kept):
            source.leave_out(name_in(source, path), "it is a link to a folder")
        folders[:] = [os.path.basename(path) for path in kept if not os.path.islink(path)]
        yield from (os.path.join(here, name) for name in sorted(names))


def name_in(source: ForeignSource, path: str) -> str:
    """Return how a file is named to people: from the source's folder."""
    base = source.path if os.path.isdir(source.path) else os.path.dirname(source.path)
    inner = os.path.relpath(path, base)
    name = os.path.basename(path) if inner.startswith("..") else inner
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_inside(source: ForeignSource, path: str) -> bool:
    """Say whether a file is below the source, with all links followed; the source itself is."""
    if path == source.path:
        return True
    base = source.path if os.path.isdir(source.path) else os.path.dirname(source.path)
    return os.path.realpath(path).startswith(os.path.realpath(base).rstrip(os.sep) + os.sep)


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "a bad name"
