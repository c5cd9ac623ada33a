"""The history of a session as it is on disk, read from its first event to its last.

`hooks.session_log` writes it, `services.session_log.condense` puts parts aside.

What is there of a session, in the order of its events:

    history_DATE_TIME_ID.0001.jsonl.gz   a segment: rows that were put aside, compressed
    history_DATE_TIME_ID.0001.json       its short form (`session_log/condense.py`); not read here
    history_DATE_TIME_ID.0002.part       a segment that waits to be compressed; it comes before one
                                         of its number
    history_DATE_TIME_ID.jsonl           the live file, to which hooks append

Reading is tolerant: half a line, a row of another kind, bytes that are not UTF-8, a damaged segment
cost themselves alone. Lines are counted through all segments, so that the number of a line stays
when it is put aside. Cheap imports only: hooks may read.
"""

import os

from gitmem.base.fast import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from gzip import GzipFile
    from typing import IO, Any

    from gitmem.repo.location import Home
    from gitmem.state.sessions import Session

    Row = dict[str, Any]

FOLDER = "sessions"
LIVE, PART, PACKED, SHORT = ".jsonl", ".part", ".jsonl.gz", ".json"
HEAD = len("history_YYYYMMDD_HHMMSS_")  # of a name, before the session's id
NUMBER = 5  # a dot and four digits
BATCH = 1 << 20  # bytes of a line that are read at once; what is longer is not a row of ours
TRIES = 20  # listings that a reader makes while segments are put aside under its eyes


class Segment:
    """A part of a history that was put aside: where its files are, whatever of them is there."""

    __slots__ = ("number", "stem")

    def __init__(self, stem: str, number: int) -> None:
        self.stem = stem  # the path of the live file, without its ending
        self.number = number

    def path(self, ending: str) -> str:
        """Return the path of one of its files."""
        return f"{self.stem}.{self.number:04d}{ending}"


def stems(home: "Home", id: str, names: "Iterable[str] | None" = None) -> "list[str]":
    """Return the paths, without extension, of a session's live files, the oldest first.

    There is more than one if the database was lost in between.
    """
    folder = home.join(FOLDER)
    stems_in_folder = {
        stem_of(name)
        for name in (_listed(folder) if names is None else names)
        if name.startswith(id, HEAD)
    }
    return [
        os.path.join(folder, stem) for stem in sorted(stems_in_folder) if stem[HEAD:] == id and id
    ]


def stem_of(name: str) -> str:
    """Return what the names of all files of a history have in common, for one of them.

    Empty for another file.
    """
    if not name.startswith("history_") or len(name) <= HEAD:
        return ""
    for ending in (PACKED, PART, SHORT):  # a live file ends with `.jsonl`, which none of these is
        if name.endswith(ending):
            stem, number = name[: -len(ending) - NUMBER], name[-len(ending) - NUMBER : -len(ending)]
            return stem if number[:1] == "." and number[1:].isdigit() else ""
    return name[: -len(LIVE)] if name.endswith(LIVE) else ""


def segments(stem: str, names: "Iterable[str] | None" = None) -> "list[Segment]":
    """Return what was put aside of a history, the oldest first."""
    folder, base = os.path.split(stem)
    numbers = set()
    for name in _listed(folder) if names is None else names:
        if (
            name.startswith(base + ".")
            and stem_of(name) == base
            and not name.endswith((LIVE, SHORT))
        ):
            numbers.add(int(name[len(base) + 1 : len(base) + NUMBER]))
    return [Segment(stem, number) for number in sorted(numbers)]


def rows(home: "Home", session: "Session | str") -> "Iterator[Row]":
    """Yield a session's rows in their order, one at a time: what was put aside, then what is live.

    A session is told by itself or its id.
    """
    for _, row in numbered(home, session):
        yield row


def numbered(home: "Home", session: "Session | str") -> "Iterator[tuple[int, Row]]":
    """Yield (line, row) of a session's history.

    Lines are counted from 1 through the whole history, including lines that are not rows.
    """
    for number, line in enumerate(lines(home, session), 1):
        row = parse(line)
        if row is not None:
            yield number, row


def lines(home: "Home", session: "Session | str") -> "Iterator[bytes]":
    """Yield a session's lines as they are.

    What is put aside while this reads is neither missed nor read twice.
    """
    id = session if isinstance(session, str) else session.id
    for stem in stems(home, id):
        live, parts = snapshot(stem)
        try:
            for part in parts:
                yield from of_segment(part)
            if live is not None:
                yield from of_file(live)
        finally:
            if live is not None:
                live.close()


def of_segment(segment: Segment) -> "Iterator[bytes]":
    """Yield the lines of what was put aside: of what waits to be compressed, else of what is."""
    for ending in (PART, PACKED):
        try:
            file = open(segment.path(ending), "rb")
        except OSError:
            continue
        with file:
            yield from of_file(file) if ending == PART else unpacked(file)
        return


def unpacked(file: "IO[bytes]") -> "Iterator[bytes]":
    """Yield the lines of a compressed segment; of a damaged one those that can be read."""
    import gzip
    import zlib

    with gzip.open(file) as packed:
        try:
            yield from of_file(packed)
        except (OSError, EOFError, zlib.error):
            return


def parse(line: bytes) -> "Row | None":
    """Return a line as a row, None when it is none."""
    try:
        row = loads(line.decode("utf-8", "replace"))
        if b"\\ud" in line.lower():  # half of a pair, which no output takes, can only be written so
            row = _whole(row)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _whole(value: "Any") -> "Any":
    """Return JSON whose texts can all be written."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(entry) for key, entry in value.items()}
    return [_whole(entry) for entry in value] if isinstance(value, list) else value


def parsed(lines: "Iterable[bytes]") -> "Iterator[Row]":
    """Yield the rows of lines; what is not a row is passed over."""
    for line in lines:
        row = parse(line)
        if row is not None:
            yield row


def facts(row: "Mapping[str, Any]") -> "Row":
    """Return a row's metadata, empty when it has none."""
    metadata = row.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def content(row: "Mapping[str, Any]") -> str:
    """Return a row's text, empty when it has none."""
    text = row.get("content")
    return text if isinstance(text, str) else ""


def event(row: "Mapping[str, Any]") -> str:
    """Return the name of a row's event, empty when it has none."""
    name = facts(row).get("event")
    return name if isinstance(name, str) else ""


def files(row: "Mapping[str, Any]") -> "list[str]":
    """Return the files that a row is about."""
    paths = facts(row).get("files")
    return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def marked(row: "Mapping[str, Any]") -> bool:
    """Say whether somebody said that a row matters."""
    about = facts(row)
    return bool(about.get("marked")) or event(row) in {"Mark", "Note"}


def snapshot(stem: str) -> "tuple[IO[bytes] | None, list[Segment]]":
    """Return the live file, open, and the segments before it, as they were at one moment."""
    before = segments(stem)
    marks = _marks(before)
    for attempt in range(TRIES):
        try:
            live: IO[bytes] | None = open(stem + LIVE, "rb")
        except OSError:
            live = None
        after = segments(stem)
        now = _marks(after)
        if now == marks or attempt == TRIES - 1:
            break
        if live is not None:
            live.close()
        before, marks = after, now
    return live, before


def _marks(some: "list[Segment]") -> "list[tuple[int, int]]":
    """Return (number, file) of segments.

    The place of a segment is taken before the live file is moved into it.
    """
    out = []
    for segment in some:
        try:
            out.append((segment.number, os.stat(segment.path(PART)).st_ino))
        except OSError:
            out.append((segment.number, 0))
    return out


def of_file(file: "IO[bytes] | GzipFile") -> "Iterator[bytes]":
    """Yield the lines of an open file."""
    while line := file.readline(BATCH):
        yield line


def names(home: "Home") -> "list[str]":
    """Return the names of all files of histories: who looks at many sessions lists them once."""
    return _listed(home.join(FOLDER))


def _listed(folder: str) -> "list[str]":
    try:
        return os.listdir(folder)
    except OSError:
        return []
