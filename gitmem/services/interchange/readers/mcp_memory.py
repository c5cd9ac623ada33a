"""The official MCP memory server: a knowledge graph, as JSON Lines or, before, as one object."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.base.regular_files import read_regular
from gitmem.services.interchange.files import DATA_LIMIT, json_lines, name_in, read_text
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import (
    bullets,
    headline,
    joined,
    map_of,
    maps_of,
    text_of,
    texts_of,
)

NAME = "mcp-memory"
FILES = ("memory.jsonl", "memory.json")
HEAD = 4096  # bytes that tell the format
_RELATION = ("from", "relationType", "to")
Entry = tuple[str, dict[str, Any]]


def _places(here: Surroundings) -> Sequence[str]:
    named = here.env.get("MEMORY_FILE_PATH")
    return [named] if named else here.below_root(*FILES)


def _fits(path: str) -> bool:
    head = read_regular(path, HEAD)
    return b'"entityType"' in head or b'"relationType"' in head


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    entities: dict[str, dict[str, Any]] = {}
    relations: list[tuple[str, str, str]] = []
    for place, entry in _entries(source):
        kind = text_of(entry.get("type"))
        if kind == "relation":
            begin, relation, end = (text_of(entry.get(key)) for key in _RELATION)
            if begin and relation and end:
                relations.append((begin, relation, end))
            else:
                source.leave_out(place, "a relation without its ends")
        elif kind == "entity" and text_of(entry.get("name")):
            entities[text_of(entry["name"])] = entry
        else:
            source.leave_out(place, "it is neither an entity nor a relation")
    yield from _items(source, entities, relations)


def _entries(source: ForeignSource) -> Iterator[Entry]:
    """Yield (place, entry) of either form of the file."""
    name = name_in(source, source.path)
    if source.path.endswith(".json") and (whole := _object(source)) is not None:
        for part, kind in (("entities", "entity"), ("relations", "relation")):
            for number, entry in enumerate(maps_of(whole.get(part)), 1):
                yield f"{name} {part} {number}", {"type": kind, **entry}
        return
    for number, line in json_lines(source, source.path):
        yield f"{name}:{number}", line


def _object(source: ForeignSource) -> dict[str, Any] | None:
    """Return the one object that an older file holds; None for lines of objects."""
    text = read_text(ForeignSource(NAME, source.path), source.path, DATA_LIMIT)
    try:
        whole = map_of(json.loads(text or ""))
    except (ValueError, RecursionError):
        return None
    return whole if "entities" in whole or "relations" in whole else None


def _items(
    source: ForeignSource,
    entities: dict[str, dict[str, Any]],
    relations: Sequence[tuple[str, str, str]],
) -> Iterator[ForeignItem]:
    outgoing: dict[str, list[tuple[str, str]]] = {}
    for begin, relation, end in relations:
        if begin in entities:
            outgoing.setdefault(begin, []).append((relation, end))
        else:
            source.leave_out(f"{begin} {relation} {end}", "its entity is not there")
    for name, entity in entities.items():
        observations, own = texts_of(entity.get("observations")), outgoing.get(name, [])
        if not observations and not own:
            source.leave_out(name, "it says nothing of the entity")
            continue
        said = f"{name}: {observations[0]}" if observations else f"{name} {own[0][0]} {own[0][1]}"
        title, cut = headline(said)
        rest = observations if cut else observations[1:]
        related = [f"{relation} {end}" for relation, end in own]
        yield ForeignItem(
            NAME,
            name,
            title,
            body=joined(bullets(rest), bullets(related)),
            tags=texts_of(entity.get("entityType")),
            links=_others(name, own),
            extra={
                "relations": [list(pair) for pair in own],
                **{
                    key: value
                    for key, value in entity.items()
                    if key not in {"type", "name", "entityType", "observations"}
                },
            },
        )


def _others(name: str, relations: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the entities that an entity has relations to, but for itself."""
    ends = dict.fromkeys(end for _, end in relations)
    ends.pop(name, None)
    return tuple(ends)


FORMAT = ForeignFormat(NAME, "the MCP memory server", _places, _fits, _read)
