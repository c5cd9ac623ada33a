"""ctxmem: notes, decisions and tasks in JSON Lines."""

import os
from collections.abc import Iterator, Sequence

from gitmem.services.interchange.files import json_lines, name_in
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import headline, text_of, texts_of, time_of

NAME = "ctxmem"
FILE = ".ctxmem/memory.jsonl"
TYPES = {"note": "fact", "decision": "decision", "todo": "task"}
_MAPPED = frozenset({"id", "ts", "type", "path", "title", "content", "tags", "supersedes"})


def _file(path: str) -> str:
    """Return the file, of the path, of its folder, or of the folder above."""
    for inner in ("memory.jsonl", FILE):
        if os.path.isfile(os.path.join(path, *inner.split("/"))):
            return os.path.join(path, *inner.split("/"))
    return path


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(FILE)


def _fits(path: str) -> bool:
    file = _file(path)
    return os.path.isfile(file) and os.path.basename(os.path.dirname(file)) == ".ctxmem"


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    source.path = file = _file(source.path)
    for number, row in json_lines(source, file):
        place = f"{name_in(source, file)}:{number}"
        kind, content = text_of(row.get("type")), text_of(row.get("content"))
        id, title = text_of(row.get("id")), text_of(row.get("title"))
        if kind == "session":
            source.leave_out(place, "a session is no fact")
            continue
        if not title:
            title, content = headline(content)
        if not id or not title:
            source.leave_out(place, "it has no id or no text")
            continue
        at = time_of(row.get("ts"))
        yield ForeignItem(
            NAME,
            id,
            title,
            type=TYPES.get(kind, "fact"),
            body=content,
            created=at,
            updated=at,
            tags=texts_of(row.get("tags")),
            files=texts_of(row.get("path")),
            supersedes=texts_of(row.get("supersedes")),
            extra={key: value for key, value in row.items() if key not in _MAPPED and value},
        )


FORMAT = ForeignFormat(NAME, "ctxmem", _places, _fits, _read)
