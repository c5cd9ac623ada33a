"""agentmemory: one JSON file with all memories, also those that were replaced."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.base.regular_files import read_regular
from gitmem.records.kinds import TYPES
from gitmem.services.interchange.files import read_json
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import headline, map_of, text_of, texts_of, time_of

NAME = "agentmemory"
FILE = "standalone.json"
KEY = "mem:memories"
HEAD = 1 << 16  # bytes that tell the format
_MAPPED = frozenset({"type", "title", "content", "concepts", "files", "createdAt", "updatedAt"})


def _places(here: Surroundings) -> Sequence[str]:
    return [os.path.join(here.home, ".agentmemory", FILE)]


def _fits(path: str) -> bool:
    return os.path.isfile(path) and f'"{KEY}"'.encode() in read_regular(path, HEAD)


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    for id, entry in map_of(map_of(read_json(source, source.path)).get(KEY)).items():
        row = map_of(entry)
        title, content = text_of(row.get("title")), text_of(row.get("content"))
        if not title:
            title, content = headline(content)
        if not title:
            source.leave_out(id, "it has no text")
        elif row.get("isLatest") is False:
            source.leave_out(id, "a newer version took its place")
        else:
            yield _item(id, title, content, row)


def _item(id: str, title: str, content: str, row: dict[str, Any]) -> ForeignItem:
    type = text_of(row.get("type")).casefold()
    created = time_of(row.get("createdAt"))
    return ForeignItem(
        NAME,
        id,
        title,
        type=type if type in TYPES else "fact",
        body=content,
        created=created,
        updated=time_of(row.get("updatedAt")) or created,
        session=next(iter(texts_of(row.get("sessionIds"))), ""),
        tags=texts_of(row.get("concepts")),
        files=texts_of(row.get("files")),
        extra={key: value for key, value in row.items() if key not in _MAPPED and value},
    )


FORMAT = ForeignFormat(NAME, "agentmemory", _places, _fits, _read, is_for_all=True)
