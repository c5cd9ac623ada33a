"""Sinapse: one Markdown file a memory, by agent; what is put aside is in a folder of its own."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter
from gitmem.text.slugs import slug_words

NAME = "sinapse"
FOLDER = "memory/sinapse"
KEYS = ("importance", "project", "status", "decay_rate", "tags", "links", "supersedes", "expires")


def takes(record: Record) -> bool:
    """Return whether the format has a place for a fact."""
    return record.kind == "memory"


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the files, by path."""
    return {_path(fact.record): "\n".join(_lines(fact.record)) for fact in facts}


def _path(record: Record) -> str:
    agent = slug_words(str(record.get("agent"))) or "global"
    folder = f"hot/{agent}" if record.status in LIVE else "archived"
    return f"{FOLDER}/{folder}/{record.id}.md"


def _lines(record: Record) -> Iterator[str]:
    yield "---"
    for key, value in _front(record):
        yield f"{key}: {json.dumps(value, ensure_ascii=True)}"
    yield from ("---", f"# {record.title}", "", record.body)


def _front(record: Record) -> Iterator[tuple[str, object]]:
    yield from (("id", record.id), ("type", record.get("type")), ("title", record.title))
    yield from (("agent", record.get("agent")), ("created", record.created))
    yield ("updated", record.updated)
    for key in KEYS:
        if (value := record.get(key)) not in (None, "", []):
            yield key, value


WRITER = ForeignWriter(NAME, is_folder=True, files=files, takes=takes)
