"""Long histories are put aside and told in short, in the background.

And what a session is to know of itself is written ahead.

Files of a history: `services.session_log.reader`. Rules of the short form:
`services.session_log.condense`. How rows are put aside: `services.session_log.rotation`.
"""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gitmem.base.files import write_atomic
from gitmem.clock import stamp
from gitmem.records.items import Item
from gitmem.repo.location import Home
from gitmem.services.session_log import condense, reader, rotation
from gitmem.services.session_log.overview import overview_lines, overview_of
from gitmem.services.session_log.reader import FOLDER, LIVE, SHORT, Segment
from gitmem.state import context_flags, sessions
from gitmem.text.plural import counted

PART = 512 << 10  # bytes that extraction reads at once
WHOLE = 0  # the number that stands for a history as a whole in the name of what is to be told of it


def run(home: Home, state: Any, now: float) -> list[str]:
    """Maintain the histories of sessions, and return what was done.

    A history that has grown past its limit is put aside. What was put aside before is compressed,
    and what sessions asked for is written.
    """
    limit, live = sessions.HISTORY_LIMIT, sessions.some(state, ended=False)
    grown = [stem for session in live for stem in reader.stems(home, session.id)]
    moved = rotation.each(lambda stem: rotation.put_aside(home, stem, limit) is not None, grown)
    overviews = rotation.each(
        lambda asked: _write_asked_overview(home, state, *asked, now),
        context_flags.asked_condensing(state).items(),
    )
    packed = rotation.each(
        lambda part: rotation.compress(home, part, shorten), rotation.waiting(home.join(FOLDER))
    )
    words = ((moved, "put aside"), (packed, "condensed"))
    return [
        f"{counted(number, 'part')} of histories {what}" for number, what in words if number
    ] + ([f"state of {counted(overviews, 'session')}"] if overviews else [])


def _write_asked_overview(home: Home, state: Any, id: str, asked: float, now: float) -> bool:
    write_overview(home, id, now)
    context_flags.note_condensed(state, id, asked)
    return True


def shorten(lines: Iterable[bytes], first: int) -> dict[str, Any]:
    """Return lines of a history in short; `first` is the number of the first one."""
    some = list(lines)
    items = [_moved(item, first - 1) for item in extracted(some)]
    rows = (
        (number, row)
        for number, line in enumerate(some, first)
        if (row := reader.parse(line)) is not None
    )
    return {**condense.shorten(rows, items), "lines": len(some)}


def _moved(item: Item, by: int) -> Item:
    from dataclasses import replace

    return replace(item, lines=(item.lines[0] + by, item.lines[1] + by)) if item.lines[0] else item


def extracted(lines: Sequence[bytes]) -> Sequence[Item]:
    """Return what lines of a history say of decisions, errors, tasks.

    Nothing where that fails: the lines themselves stay.
    """
    from gitmem.extraction import extractor
    from gitmem.transcripts.formats.history import history

    items: list[Item] = []
    first = 0
    for part in _parts(lines):
        try:
            some = extractor.extract(list(history(io.BytesIO(b"".join(part))))).items
        except Exception:  # noqa: BLE001 - a short form without it is worth more than a history that grows for ever
            some = ()
        items += [_moved(item, first) for item in some]
        first += len(part)
    return items


def _parts(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield lines in parts of a bounded size.

    The cost of extraction grows faster than what it reads.
    """
    begin = size = 0
    for number, line in enumerate(lines):
        size += len(line)
        if size > PART:
            yield lines[begin : number + 1]
            begin, size = number + 1, 0
    if begin < len(lines):
        yield lines[begin:]


def shorts(home: Home, id: str) -> Iterator[dict[str, Any]]:
    """Yield the short forms of a session's whole history, the oldest first.

    They are used as they were kept, else made now.
    """
    first = 1
    for stem in reader.stems(home, id):
        for segment in reader.segments(stem):
            short = rotation.short_of(segment) or shorten(reader.of_segment(segment), first)
            yield short
            first += int(short.get("lines", 0))
        try:
            with open(stem + LIVE, "rb") as live:
                short = shorten(live, first)
        except OSError:
            continue
        yield short
        first += int(short.get("lines", 0))


def overview(home: Home, id: str, now: float) -> dict[str, Any]:
    """Return what a session should know of itself (`overview.overview_of`).

    The result includes the `lines` that say it.
    """
    text = overview_of(list(shorts(home, id)), stamp(now))
    return {**text, "told": list(overview_lines(text))}


def write_overview(home: Home, id: str, now: float) -> None:
    """Write it where the hook that comes after a compaction finds it."""
    stems = reader.stems(home, id)
    if stems:
        path = Segment(stems[-1], WHOLE).path(SHORT)
        text = overview(home, id, now)
        write_atomic(
            path, json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"), durable=False
        )


__all__ = ["overview", "run", "shorten", "shorts", "write_overview"]
