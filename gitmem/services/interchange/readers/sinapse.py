"""Sinapse: memories in Markdown with front matter, by agent and by project."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.records.kinds import TYPES
from gitmem.services.interchange.files import files_below, read_text, with_front
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import headline, text_of, texts_of, time_of

NAME = "sinapse"
FOLDER = "memory/sinapse"
PARTS = ("hot", "projects", "archived")
DERIVED = {"dna.md": "the page of a project is made from its code", "index.md": "it is an index"}
_MAPPED = frozenset(
    {
        *("id", "type", "title", "agent", "project", "status", "tags", "links", "supersedes"),
        *("created", "updated", "importance", "decay_rate", "expires"),
    }
)


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(FOLDER)


def _fits(path: str) -> bool:
    return os.path.isdir(os.path.join(path, "hot"))


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    for part in PARTS:
        for path in files_below(source, os.path.join(source.path, part), ".md"):
            name = os.path.relpath(path, source.path)
            if os.path.basename(name) in DERIVED:
                source.leave_out(name, DERIVED[os.path.basename(name)])
                continue
            text = read_text(source, path)
            if text is None:
                continue
            front, body = with_front(source, name, text)
            title, rest = _titled(front, body)
            if title:
                yield _item(name, title, rest, front)
            else:
                source.leave_out(name, "it has no text")
    if os.path.exists(os.path.join(source.path, "graph", "index.json")):
        source.leave_out("graph/index.json", "it is made from the links of the memories")


def _titled(front: dict[str, Any], body: str) -> tuple[str, str]:
    """Return title and text; a title in the front matter leaves the text whole."""
    if title := text_of(front.get("title")):
        first, _, rest = body.partition("\n")
        return title, rest if first.lstrip("# ").strip() == title else body
    return headline(body)


def _item(name: str, title: str, body: str, front: dict[str, Any]) -> ForeignItem:
    parts = name.split(os.sep)
    agent = text_of(front.get("agent")) or (
        parts[1] if parts[0] == "hot" and len(parts) > 2 else ""
    )
    project = text_of(front.get("project"))
    if not project and parts[0] == "projects":
        project = parts[1]
    type = text_of(front.get("type")).casefold()
    status = "archived" if parts[0] == "archived" else text_of(front.get("status")).casefold()
    created = time_of(front.get("created"))
    fields = {
        "importance": _number(front.get("importance"), 10),
        "decay_rate": _number(front.get("decay_rate"), 1),
        "project": project or None,
    }
    return ForeignItem(
        NAME,
        text_of(front.get("id")) or name,
        title,
        type=type if type in TYPES else "fact",
        body=body,
        created=created,
        updated=time_of(front.get("updated")) or created,
        agent="" if agent == "global" else agent,
        tags=texts_of(front.get("tags")),
        links=texts_of(front.get("links")),
        supersedes=texts_of(front.get("supersedes")),
        status=status if status in {"archived", "pinned"} else "active",
        expires=text_of(front.get("expires")),
        place=name,
        fields={key: value for key, value in fields.items() if value is not None},
        extra={key: value for key, value in front.items() if key not in _MAPPED},
    )


def _number(value: Any, most: float) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= most else None


FORMAT = ForeignFormat(NAME, "Sinapse", _places, _fits, _read)
