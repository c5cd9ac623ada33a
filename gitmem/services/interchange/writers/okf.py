"""Open Knowledge Format 0.2: one file a fact, indexes, and a log.

A concept that was imported and that nobody changed since keeps its front matter, its text and its
path. So a bundle that came from here is the same when it is exported again.
"""

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitmem.records.kinds import IMPORTED, MACHINE
from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter
from gitmem.services.interchange.importing import is_untouched
from gitmem.services.interchange.okf import (
    GOTCHA,
    KEYS,
    MADE,
    NAME,
    NAMES,
    OWN_KEY,
    RESERVED,
    VERSION,
)
from gitmem.services.interchange.values import bullets, counted, joined, map_of, section, text_of
from gitmem.text.slugs import slug_words

LEFT_OUT = frozenset({"rev", "stamps", "conflict", "tags"})  # of what only git mem knows
UNKNOWN = "unknown"
NAME_LIMIT = 255  # bytes of a file's name on most disks
SUMMARY = 160  # characters of a description
# a text that every YAML reader takes for the same text
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+() -]*[A-Za-z0-9_./@+()]|[A-Za-z]")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "none"})
_SENTENCE = re.compile(r"(?<=[.!?])\s")


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the files of a bundle, by path."""
    paths = _paths(facts)
    out: dict[str, str] = {}
    titles: dict[str, tuple[str, str]] = {}
    for fact in facts:
        path = paths[fact.record.id]
        front = _front(fact)
        titles[path] = (_title(fact.record, front), text_of(front.get("description")))
        out[path] = _document(front, _body(fact.record, paths, facts))
    out |= _indexes(titles)
    out["log.md"] = _log(facts, paths)
    return dict(sorted(out.items()))


def _paths(facts: Sequence[ExportedFact]) -> dict[str, str]:
    """Return the path of each fact, by id: the one that it came with, or one by its title."""
    out: dict[str, str] = {}
    taken, above = set[str](), set[str]()  # files, and the folders that they are in
    for fact in facts:
        path = text_of(map_of(fact.record.fields.get("imported")).get("path"))
        folders = {path[:at] for at in _slashes(path)}
        is_free = path not in taken | above and taken.isdisjoint(folders)
        if _kept(fact.record) and _is_path(path) and is_free:
            out[fact.record.id] = path
            taken.add(path)
            above |= folders
    for fact in facts:
        if fact.record.id not in out:
            out[fact.record.id] = path = _free(_own_path(fact.record), taken | above)
            taken.add(path)
    return out


def _slashes(path: str) -> Iterator[int]:
    return (at for at, letter in enumerate(path) if letter == "/")


def _free(path: str, taken: Collection[str]) -> str:
    """Return a path, with a number where another concept has it."""
    stem, number = path.removesuffix(".md"), 2
    while path in taken:
        path, number = f"{stem}-{number}.md", number + 1
    return path


def _is_path(path: str) -> bool:
    """Say whether a path that a bundle gave may be written."""
    return path.endswith(".md") and all(map(_is_name, path.split("/")))


def _is_name(part: str) -> bool:
    """Say whether a file or a folder of a bundle may have a name."""
    return (
        part not in {"", *RESERVED}
        and not part.startswith(".")
        and "\\" not in part
        and part.isprintable()
        and len(part.encode("utf-8", "surrogatepass")) <= NAME_LIMIT
    )


def _own_path(record: Record) -> str:
    folder = "gotchas" if record.kind == "gotcha" else "memories"
    group = str(record.get("category" if record.kind == "gotcha" else "type") or "other")
    return f"{folder}/{group}/{slug_words(record.title) or 'untitled'}.md"


def _kept(record: Record) -> dict[str, Any]:
    """Return what an import kept of a concept: its front matter and its path."""
    imported = map_of(record.fields.get("imported"))
    return map_of(imported.get("extra")) if imported.get("format") == NAME else {}


def _front(fact: ExportedFact) -> dict[str, Any]:
    record = fact.record
    kept = map_of(_kept(record).get("front"))
    if kept and is_untouched(record):
        return kept
    made = _made_front(fact)
    foreign = {key: value for key, value in kept.items() if key not in KEYS}
    type = text_of(kept.get("type"))
    is_same_type = type and type.casefold() not in {*map(str.casefold, NAMES.values())}
    if is_same_type:
        made["type"] = type
    return {**foreign, **made}


def _made_front(fact: ExportedFact) -> dict[str, Any]:
    """Return the front matter of a fact by its fields."""
    record = fact.record
    own = {key: value for key, value in record.fields.items() if key not in LEFT_OUT}
    own.pop("imported", None)
    if record.kind == "memory":
        own["type"] = record.get("type")
    front = {
        "type": GOTCHA if record.kind == "gotcha" else NAMES.get(str(record.get("type")), "Fact"),
        "title": record.title,
        "description": _description(record),
        "tags": list(record.tags),
        "generated": {"by": _maker(record), "at": record.created},
        "verified": _verified(fact),
        "status": _status(fact),
        "stale_after": str(record.get("expires") or "")[:10],
        "sources": list(_sources(record)),
        OWN_KEY: {"id": record.id, "kind": record.kind, **own},
    }
    return {key: value for key, value in front.items() if value}


def _status(fact: ExportedFact) -> str:
    if fact.record.status == "archived":
        return "deprecated"
    return "stable" if fact.is_vouched else "draft"


def _description(record: Record) -> str:
    """Return one sentence about a fact."""
    for line in record.body.split("\n"):
        plain = line.strip().lstrip("#>*- ").strip()
        if plain and not line.startswith(("    ", "```")):
            sentence = _SENTENCE.split(plain, maxsplit=1)[0]
            return sentence if len(sentence) <= SUMMARY else f"{sentence[: SUMMARY - 1].rstrip()}…"
    return record.title


def _maker(record: Record) -> str:
    """Return who made a fact, as an actor of the format."""
    if record.get("origin") in {"manual", IMPORTED}:
        return f"human:{record.get('author') or UNKNOWN}"
    for source in record.get("sources") or []:
        if program := text_of(source.get("program")):
            return f"{program}/{UNKNOWN}"
    return f"process:{MACHINE}"


def _verified(fact: ExportedFact) -> list[dict[str, str]]:
    record = fact.record
    if not fact.is_vouched:
        return []
    confirmed = map_of(record.fields.get("confirmed"))
    by = text_of(confirmed.get("by")) or str(record.get("author") or UNKNOWN)
    return [{"by": f"human:{by}", "at": text_of(confirmed.get("at")) or record.updated}]


def _sources(record: Record) -> Iterator[dict[str, str]]:
    for number, source in enumerate(record.get("sources") or [], 1):
        session, commit = text_of(source.get("session")), text_of(source.get("commit"))
        if session or commit:
            name = f"urn:gitmem:session:{session}" if session else f"urn:git:commit:{commit}"
            entry = {"id": f"s{number}", "resource": name, "last_modified": source.get("at")}
            yield {key: str(value) for key, value in entry.items() if value}


def _title(record: Record, front: Mapping[str, Any]) -> str:
    return text_of(front.get("title")) or record.title


def _body(record: Record, paths: Mapping[str, str], facts: Sequence[ExportedFact]) -> str:
    """Return the text of a concept; for a fact of ours, what its keys say stands below it."""
    if _kept(record) and OWN_KEY not in map_of(_kept(record).get("front")):
        return record.body
    titles = {fact.record.id: fact.record.title for fact in facts}
    parts = [section("Workaround", str(record.fields.get("workaround") or ""))]
    for heading, key in (("Supersedes", "supersedes"), ("Related", "links")):
        ids = [id for id in record.get(key) or [] if id in paths]
        parts.append(section(heading, bullets(_link(titles[id], paths[id]) for id in ids)))
    made = joined(*parts)
    return joined(record.body, f"{MADE}\n\n{made}" if made else "") + "\n"


def _link(title: str, path: str) -> str:
    plain = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return f"[{plain}](/{path.replace(' ', '%20')})"


def _document(front: Mapping[str, Any], body: str) -> str:
    names = [key for key in KEYS if key in front]
    names += sorted(key for key in front if key not in KEYS)
    lines = [line for name in names for line in _yaml(name, front[name])]
    text = body.strip("\n")
    return "\n".join(["---", *lines, "---", "", text]) + ("\n" if text else "")


def _yaml(name: str, value: Any) -> Iterator[str]:
    """Yield the lines of one key; what is nested is JSON, which is YAML."""
    key = _scalar(name)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        yield f"{key}:"
        yield from (f"  - {_json(row)}" for row in value)
    elif isinstance(value, dict) and value:
        yield f"{key}:"
        yield from (f"  {_scalar(inner)}: {_scalar(value[inner])}" for inner in sorted(value))
    else:
        yield f"{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return str(value) if is_plain else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _indexes(titles: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the index of each folder: its concepts, then the folders in it."""
    folders: dict[str, list[str]] = {"": []}
    for path in sorted(titles):
        folder = posixpath.dirname(path)
        folders.setdefault(folder, []).append(path)
        while folder:
            folder = posixpath.dirname(folder)
            folders.setdefault(folder, [])
    out = {}
    for folder, paths in folders.items():
        lines = [f"# {posixpath.basename(folder) or 'Knowledge'}", ""]
        lines += [_entry(*titles[path], path) for path in paths]
        below = sorted(name for name in folders if name and posixpath.dirname(name) == folder)
        lines += [
            f"* [{posixpath.basename(name)}](/{name}/index.md) - {_size(name, titles)}"
            for name in below
        ]
        head = "" if folder else f'---\nokf_version: "{VERSION}"\n---\n\n'
        out[posixpath.join(folder, "index.md")] = head + "\n".join(lines) + "\n"
    return out


def _entry(title: str, description: str, path: str) -> str:
    return f"* {_link(' '.join(title.split()), path)} - {' '.join((description or title).split())}"


def _size(folder: str, titles: Iterable[str]) -> str:
    count = sum(path.startswith(f"{folder}/") for path in titles)
    return counted(count, "concept")


def _log(facts: Sequence[ExportedFact], paths: Mapping[str, str]) -> str:
    """Return what happened to the facts, by day, the newest first."""
    days: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: paths[fact.record.id]):
        record = fact.record
        link = _link(record.title, paths[record.id])
        events = [(record.created, "Creation")]
        if record.status == "archived":
            events.append((record.updated, "Deprecation"))
        elif record.updated[:10] != record.created[:10]:
            events.append((record.updated, "Update"))
        for at, what in events:
            days.setdefault(at[:10], []).append(f"* **{what}**: {link}")
    lines = ["# Log", ""]
    for day in sorted(days, reverse=True):
        lines += [f"## {day}", "", *days[day], ""]
    return "\n".join(lines).rstrip("\n") + "\n"


WRITER = ForeignWriter(NAME, is_folder=True, files=files)
