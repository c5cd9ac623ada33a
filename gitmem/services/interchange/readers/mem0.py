"""mem0: an export, a list of memories in JSON."""

import os
from collections.abc import Iterator, Sequence

from gitmem.base.regular_files import read_regular
from gitmem.services.interchange.files import name_in, read_json
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import (
    headline,
    map_of,
    maps_of,
    text_of,
    texts_of,
    time_of,
)

NAME = "mem0"
HEAD = 4096  # bytes that tell the format
_MAPPED = frozenset({"id", "memory", "created_at", "updated_at", "agent_id", "hash", "categories"})


def _places(_: Surroundings) -> Sequence[str]:
    return []


def _fits(path: str) -> bool:
    head = read_regular(path, HEAD) if os.path.isfile(path) else b""
    return b'"memory"' in head and b'"id"' in head and b'"hash"' in head


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    whole = read_json(source, source.path)
    rows = maps_of(whole if isinstance(whole, list) else map_of(whole).get("results"))
    for number, row in enumerate(rows, 1):
        id, said = text_of(row.get("id")), text_of(row.get("memory"))
        if not id or not said:
            place = f"{name_in(source, source.path)} {number}"
            source.leave_out(place, "it has no id or no text")
            continue
        title, rest = headline(said)
        created = time_of(row.get("created_at"))
        yield ForeignItem(
            NAME,
            id,
            title,
            body=rest,
            created=created,
            updated=time_of(row.get("updated_at")) or created,
            session=text_of(row.get("run_id")),
            tags=texts_of(row.get("categories")),
            extra={key: value for key, value in row.items() if key not in _MAPPED and value},
        )


FORMAT = ForeignFormat(NAME, "a mem0 export", _places, _fits, _read)
