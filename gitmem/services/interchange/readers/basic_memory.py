"""basic-memory: a folder of notes with observations and relations in Markdown."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gitmem.base.regular_files import read_regular
from gitmem.records.kinds import TYPES
from gitmem.services.interchange.files import files_below, read_text, with_front
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import map_of, text_of, texts_of, time_of

NAME = "basic-memory"
HEAD = 2048  # bytes that may have a permalink
LOOKED_AT = 50  # notes that may have one
CONFIG = 1 << 20  # bytes
_OBSERVATION = re.compile(
    r"^[ \t]*[-*][ \t]+\[([^\]\[xX \n][^\]\[\n]*)\][ \t]+(\S.*)$", re.MULTILINE
)
_TARGET = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_MAPPED = frozenset({"title", "type", "tags", "permalink", "created", "modified"})


class Note(NamedTuple):
    """A note: its id, its title, its path, its front matter and its text."""

    id: str
    title: str
    path: str
    front: dict[str, Any]
    body: str


def _places(here: Surroundings) -> Sequence[str]:
    """Return the folders that basic-memory's settings have for a project of this name."""
    data = read_regular(os.path.join(here.home, ".basic-memory", "config.json"), CONFIG)
    try:
        projects = map_of(map_of(json.loads(data or b"{}")).get("projects"))
    except (ValueError, RecursionError):
        return []
    paths = []
    for name, given in projects.items():
        path = text_of(given) or text_of(map_of(given).get("path"))
        if name in here.projects and path:
            paths.append(os.path.expanduser(path))
    return paths


def _fits(path: str) -> bool:
    if not os.path.isdir(path):
        return False
    source = ForeignSource(NAME, path)
    for number, name in enumerate(files_below(source, path, ".md")):
        if b"\npermalink:" in read_regular(name, HEAD):
            return True
        if number > LOOKED_AT:
            break
    return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    notes = list(_notes(source))
    ids = {name.casefold(): note.id for note in notes for name in (note.title, note.id)}
    ids |= {note.path.removesuffix(".md").casefold(): note.id for note in notes}
    for note in notes:
        yield _item(note, ids)


def _notes(source: ForeignSource) -> Iterator[Note]:
    for path in files_below(source, source.path, ".md"):
        name = os.path.relpath(path, source.path)
        text = read_text(source, path)
        if text is None:
            continue
        front, body = with_front(source, name, text)
        title = text_of(front.get("title")) or os.path.basename(name).removesuffix(".md")
        if body.strip():
            yield Note(text_of(front.get("permalink")) or name, title, name, front, body)
        else:
            source.leave_out(name, "it has no text")


def _item(note: Note, ids: dict[str, str]) -> ForeignItem:
    front, body = note.front, note.body
    observations = _OBSERVATION.findall(body)
    categories = {category.strip().casefold() for category, _ in observations}
    kind = text_of(front.get("type")).casefold()
    type = categories.pop() if len(categories) == 1 else kind
    targets = [name.strip().casefold() for name in _TARGET.findall(body)]
    links = [ids.get(name, name) for name in targets]
    created = time_of(front.get("created"), local=True)
    tags = [tag for _, text in observations for tag in _TAG.findall(text)]
    return ForeignItem(
        NAME,
        note.id,
        note.title,
        type=type if type in TYPES else "fact",
        body=body,
        created=created,
        updated=time_of(front.get("modified"), local=True) or created,
        tags=tuple(dict.fromkeys((*_tags(front.get("tags")), *tags))),
        links=tuple(dict.fromkeys(link for link in links if link != note.id)),
        place=note.path,
        extra={key: value for key, value in front.items() if key not in _MAPPED},
    )


def _tags(value: Any) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else texts_of(value)
    return tuple(tag.strip().lstrip("#") for tag in given if tag.strip())


FORMAT = ForeignFormat(NAME, "basic-memory", _places, _fits, _read)
