"""What `git mem export --format json` wrote: all facts with all of their fields."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.base.regular_files import read_regular
from gitmem.services.interchange.files import name_in, read_json
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.own_fields import is_fact_id, taken_over
from gitmem.services.interchange.values import map_of, maps_of, text_of, texts_of, time_of

NAME = "json"
MARK = b'"gitmem_export"'  # what the first bytes of the file hold
HEAD = 256


def _places(_: Surroundings) -> Sequence[str]:
    return []


def _fits(path: str) -> bool:
    return os.path.isfile(path) and MARK in read_regular(path, HEAD)


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    rows = maps_of(map_of(read_json(source, source.path)).get("facts"))
    for number, row in enumerate(rows, 1):
        id, kind = text_of(row.get("id")), text_of(row.get("kind"))
        if is_fact_id(id, kind) and text_of(row.get("title")):
            yield _item(id, kind, row)
        else:
            place = f"{name_in(source, source.path)} {number}"
            source.leave_out(place, "it has no id of a fact, or no title")


def _item(id: str, kind: str, row: dict[str, Any]) -> ForeignItem:
    body = row.get("body")
    return ForeignItem(
        NAME,
        id,
        text_of(row.get("title")),
        kind=kind,
        type=text_of(row.get("type")) or "fact",
        body=body if isinstance(body, str) else "",
        created=time_of(row.get("created")),
        updated=time_of(row.get("updated")),
        author=text_of(row.get("author")),
        agent=text_of(row.get("agent")),
        tags=texts_of(row.get("tags")),
        links=texts_of(row.get("links")),
        supersedes=texts_of(row.get("supersedes")),
        status=text_of(row.get("status")) or "active",
        done=time_of(map_of(row.get("done")).get("at")),
        expires=text_of(row.get("expires")),
        id=id,
        fields=taken_over(row, kind),
    )


FORMAT = ForeignFormat(NAME, "an export of git mem", _places, _fits, _read)
