"""claude-mem: a SQLite database in WAL mode, with observations and summaries of sessions.

A process may be writing to it. So its three files are copied, and the copy is read.
"""

import json
import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import (
    bullets,
    counted,
    headline,
    joined,
    section,
    text_of,
    texts_of,
    time_of,
)

NAME = "claude-mem"
DATABASE = "claude-mem.db"
LIMIT = 4 << 30  # bytes of a database
BY_HAND = "manual-"  # how the session begins of what somebody had saved
TYPES = {
    "decision": "decision",
    "bugfix": "bug",
    "discovery": "insight",
    "feature": "context",
    "refactor": "context",
    "change": "context",
}
PARTS = (
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
)
Row = Mapping[str, Any]


def _places(here: Surroundings) -> Sequence[str]:
    folder = here.env.get("CLAUDE_MEM_DATA_DIR") or os.path.join(here.home, ".claude-mem")
    return [os.path.join(folder, DATABASE)]


def _database(path: str) -> str:
    return os.path.join(path, DATABASE) if os.path.isdir(path) else path


def _fits(path: str) -> bool:
    return os.path.basename(_database(path)) == DATABASE and os.path.isfile(_database(path))


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    path = _database(source.path)
    try:
        if os.path.getsize(path) > LIMIT:
            source.leave_out(DATABASE, f"it has more than {LIMIT:,} bytes")
            return
        with tempfile.TemporaryDirectory(prefix="gitmem-") as scratch:
            copy = os.path.join(scratch, "copy.db")
            for end in ("", "-wal", "-shm"):
                if os.path.isfile(path + end):
                    shutil.copyfile(path + end, copy + end)
            yield from _rows(source, copy)
    except (sqlite3.Error, OSError) as error:
        source.leave_out(DATABASE, f"it cannot be read: {error}")


def _rows(source: ForeignSource, path: str) -> Iterator[ForeignItem]:
    """Yield what the tables hold, the oldest first."""
    others: Counter[str] = Counter()
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        has = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in filter(has.__contains__, TABLES):
            rows = db.execute(f"SELECT * FROM {table} ORDER BY created_at_epoch, id")
            for row in map(dict, rows):
                project = _project(row)
                if source.projects and project not in source.projects:
                    others[project or "no project"] += 1
                    continue
                item = TABLES[table](row)
                if item is None:
                    source.leave_out(f"{table} {row.get('id')}", "it has no text")
                else:
                    yield item
        if "user_prompts" in has:
            _leave_out_prompts(source, db)
    for project, count in sorted(others.items()):
        source.leave_out(counted(count, "entry"), f"they are of the project {project}")


def _project(row: Row) -> str:
    return text_of(row.get("merged_into_project")) or text_of(row.get("project"))


def _leave_out_prompts(source: ForeignSource, db: sqlite3.Connection) -> None:
    count = db.execute("SELECT COUNT(*) FROM user_prompts").fetchone()[0]
    if count:
        source.leave_out(counted(count, "prompt"), "quotes of sessions are no facts")


def _observation(row: Row) -> ForeignItem | None:
    narrative = text_of(row.get("narrative")) or text_of(row.get("text"))
    facts, subtitle = _list(row.get("facts")), text_of(row.get("subtitle"))
    title = text_of(row.get("title"))
    if not title:
        title, narrative = headline(subtitle or narrative or " ".join(facts))
    if not title:
        return None
    session, kind = text_of(row.get("memory_session_id")), text_of(row.get("type"))
    by_hand = session.startswith(BY_HAND)
    created = time_of(row.get("created_at_epoch")) or time_of(row.get("created_at"))
    return ForeignItem(
        NAME,
        _id("observation", row),
        title,
        type="fact" if by_hand else TYPES.get(kind, "insight"),
        body=joined("" if subtitle == title else subtitle, narrative, bullets(facts)),
        created=created,
        updated=created,
        session="" if by_hand else session,
        tags=_list(row.get("concepts")),
        files=_list(row.get("files_modified")),
        extra=_extra(row, "type", "project", "prompt_number", files_read="files_read"),
    )


def _summary(row: Row) -> ForeignItem | None:
    body = joined(*(section(title, text_of(row.get(key))) for key, title in PARTS))
    title, rest = headline(text_of(row.get("request")) or text_of(row.get("learned")))
    if not title or not body:
        return None
    created = time_of(row.get("created_at_epoch")) or time_of(row.get("created_at"))
    return ForeignItem(
        NAME,
        _id("summary", row),
        title,
        type="context",
        body=joined(rest, body),
        created=created,
        updated=created,
        session=text_of(row.get("memory_session_id")),
        tags=("session-summary",),
        files=_list(row.get("files_edited")),
        extra=_extra(row, "project", "prompt_number", files_read="files_read"),
    )


def _id(kind: str, row: Row) -> str:
    """Return the id of a row; its time tells it from one of an earlier database."""
    return f"{kind} {row.get('id')} {row.get('created_at_epoch')}"


def _list(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds a list as JSON, or a text."""
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        return texts_of(json.loads(value))
    except (ValueError, RecursionError):
        return texts_of(value)


def _extra(row: Row, *names: str, **lists: str) -> dict[str, Any]:
    """Return the columns that a record has no field for, as far as they say something."""
    out: dict[str, Any] = {name: row[name] for name in names if row.get(name) not in (None, "")}
    out |= {name: list(_list(row.get(column))) for name, column in lists.items()}
    return {name: value for name, value in out.items() if value not in ("", [])}


TABLES: Mapping[str, Callable[[Row], ForeignItem | None]] = {
    "observations": _observation,
    "session_summaries": _summary,
}
FORMAT = ForeignFormat(NAME, "claude-mem", _places, _fits, _read)
