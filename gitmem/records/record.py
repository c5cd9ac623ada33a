"""What a record is: its kinds, its fields, their types and order.

A record is a frozen value. Fields of the front matter are plain JSON values in `fields`; a change
makes a new record. The table below is the format's: `docs/format.md` says the same in words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from gitmem.errors import InvalidRecord
from gitmem.records import trust
from gitmem.records.field_types import FIELD_TYPES, is_stamp, plain_value, sort_key
from gitmem.records.kinds import (
    CATEGORIES,
    FACTS,
    KIND,
    NAMED,
    PREFIX,
    SEVERITIES,
    STATUSES,
    TYPES,
)
from gitmem.records.texts import clean_body, clean_title

MOST = 2**53 - 1  # of a number: what every reader of JSON keeps
ULID_ID = re.compile(r"[a-z]{3}-[0-7][0-9a-hjkmnp-tv-z]{25}")
NAMED_ID = re.compile(r"(?:wrk|dna)-[a-z0-9][a-z0-9._-]{0,62}[a-z0-9]|(?:wrk|dna)-[a-z0-9]")

# (key, type); the order is the canonical order of the front matter. A `set` is a list without
# duplicates, sorted; `maps` a list of objects; `any` whatever JSON holds.
COMMON: tuple[tuple[str, str], ...] = (
    ("id", "str"),
    ("kind", "str"),
    ("created", "time"),
    ("updated", "time"),
    ("rev", "int"),
    ("author", "str"),
    ("agent", "str"),
    ("session", "str"),
    ("tags", "set"),
    ("origin", "str"),
)
OWN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "memory": (
        ("type", "str"),
        ("importance", "number"),
        ("project", "str"),
        ("status", "str"),
        ("links", "set"),
        ("supersedes", "set"),
        ("decay_rate", "number"),
        ("anchors", "maps"),
        ("triggers", "map"),
        ("sources", "maps"),
        ("confirmed", "map"),
        ("done", "map"),
        ("expires", "str"),
        ("verify", "maps"),
        ("settled", "maps"),
    ),
    "gotcha": (
        ("category", "str"),
        ("severity", "str"),
        ("workaround", "str"),
        ("status", "str"),
        ("links", "set"),
        ("supersedes", "set"),
        ("anchors", "maps"),
        ("triggers", "map"),
        ("occurrences", "int"),
        ("first_seen", "time"),
        ("last_seen", "time"),
        ("resolved", "map"),
        ("fixes", "maps"),
        ("source", "str"),
        ("sources", "maps"),
        ("confirmed", "map"),
        ("verify", "maps"),
        ("settled", "maps"),
    ),
    "session": (
        ("program", "str"),
        ("model", "str"),
        ("branch", "str"),
        ("started", "time"),
        ("ended", "time"),
        ("status", "str"),
        ("links", "set"),
        ("by", "str"),
        ("tokens", "int"),
        ("topics", "any"),
        ("commits", "maps"),
        ("facts", "maps"),
    ),
    "snapshot": (
        ("branch", "str"),
        ("commit", "str"),
        ("dirty", "maps"),
        ("story", "str"),
        ("subtask", "str"),
        ("cwd", "str"),
        ("worktree", "str"),
        ("state", "str"),
        ("note", "str"),
        ("status", "str"),
        ("links", "set"),
    ),
    "work": (
        ("status", "str"),
        ("phase", "str"),
        ("project", "str"),
        ("links", "set"),
        ("state", "any"),
    ),
    "dna": (("project", "str"), ("status", "str"), ("links", "set"), ("sources", "any")),
    "event": (
        ("at", "time"),
        ("what", "str"),
        ("status", "str"),
        ("links", "set"),
        ("anchors", "maps"),
    ),
}
MARKS: tuple[tuple[str, str], ...] = (("conflict", "bool"), ("stamps", "map"))
SCHEMA: Mapping[str, Mapping[str, str]] = {
    kind: dict(COMMON + own + MARKS) for kind, own in OWN.items()
}

ENUMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("memory", "type"): TYPES,
    ("memory", "status"): STATUSES,
    ("gotcha", "category"): CATEGORIES,
    ("gotcha", "severity"): SEVERITIES,
    ("gotcha", "status"): STATUSES,
    ("gotcha", "source"): ("manual", "auto_detected"),
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "memory": {"type": "fact", "importance": 5, "status": "active", "decay_rate": 0.995},
    "gotcha": {
        "category": "general",
        "severity": "warning",
        "status": "active",
        "occurrences": 1,
        "source": "manual",
    },
}
SHARED_DEFAULTS: Mapping[str, Any] = {
    "agent": "global",
    "origin": "manual",
    "status": "active",
    "rev": 1,
    "author": "",
    "session": "",
    "updated": "",
}

SOURCES, FIRST_SOURCES = 20, 3  # of a fact, that are kept: the first of them, else the latest

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    `fields` holds the front matter but `id` and `kind`; what is absent has its default.
    """

    id: str
    kind: str
    title: str
    body: str = ""
    fields: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)

    def get(self, key: str) -> Any:
        """Return a field, or its default (None, or an empty list or map, where there is none).

        What a kind does not know may hold anything, and is not given.
        """
        value = self.fields.get(key)
        if value is not None and key in SCHEMA[self.kind]:
            return value
        default = DEFAULTS.get(self.kind, _EMPTY).get(key, SHARED_DEFAULTS.get(key))
        if default is not None:
            return default
        kind = SCHEMA[self.kind].get(key)
        return [] if kind in {"set", "maps"} else {} if kind == "map" else None

    @property
    def created(self) -> str:
        """When it was made: RFC 3339 UTC."""
        return str(self.fields.get("created", ""))

    @property
    def updated(self) -> str:
        """When it last changed: RFC 3339 UTC."""
        return str(self.fields.get("updated") or self.created)

    @property
    def rev(self) -> int:
        """Its Lamport counter: 1 + the highest its writer had seen."""
        return int(self.get("rev"))

    @property
    def status(self) -> str:
        """`active`, `decayed`, `archived` or `pinned`."""
        return str(self.get("status"))

    @property
    def tags(self) -> list[str]:
        """Its tags, sorted."""
        return list(self.get("tags"))

    @property
    def anchors(self) -> list[dict[str, Any]]:
        """Where in the code it applies."""
        return list(self.get("anchors") or [])

    @property
    def resolved(self) -> bool:
        """Whether a gotcha has been resolved."""
        return bool(self.fields.get("resolved"))

    @property
    def unconfirmed(self) -> bool:
        """Whether nobody vouches for the words that a fact has."""
        return trust.is_unconfirmed(self)

    def change(
        self, *, title: str | None = None, body: str | None = None, **fields: Any
    ) -> "Record":
        """Return a record with other values; a field set to None goes back to its default."""
        merged = {**self.fields, **fields}
        return replace(
            self,
            title=self.title if title is None else title,
            body=self.body if body is None else body,
            fields=MappingProxyType({k: v for k, v in merged.items() if v is not None}),
        )

    def touched(self, now: str) -> "Record":
        """Return it with the next revision and the time of the change."""
        return self.change(rev=min(self.rev + 1, MOST), updated=now)


def make(kind: str, id: str, title: str, body: str = "", **fields: Any) -> Record:
    """Return a validated record in canonical form; raises InvalidRecord."""
    return canonical(
        Record(
            id,
            kind,
            title,
            body,
            MappingProxyType({k: v for k, v in fields.items() if v is not None}),
        )
    )


def kind_of(id: str) -> str | None:
    """Return the kind that an id's prefix names, if the id is well formed."""
    if ULID_ID.fullmatch(id):
        kind = KIND.get(id[:3])
        return None if kind in NAMED else kind
    return KIND[id[:3]] if NAMED_ID.fullmatch(id) else None


def is_expiry(text: str) -> bool:
    """Say whether a text is a day, a time in UTC, or nothing."""
    return not text or is_stamp(text) or is_stamp(f"{text}T00:00:00Z")


def has_expired(expires: str, now: str) -> bool:
    """Say whether a day or time has passed; a day ends at 24:00 UTC, without one nothing ends."""
    end = expires if "T" in expires else f"{expires}T24:00:00Z"
    return bool(expires) and end <= now


def _check_expiry(fields: Mapping[str, Any]) -> None:
    if not is_expiry(str(fields.get("expires", ""))):
        raise InvalidRecord(
            f"expires cannot be '{fields['expires']}'.",
            "It is a day, such as 2026-12-31, or a time, such as 2026-12-31T18:00:00Z.",
        )


def _bounded(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    sources = fields.get("sources")
    return {"sources": bounded_sources(sources)} if sources and kind in FACTS else {}


def bounded_sources(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return where a fact was seen: the first three and the latest seventeen, in their order."""
    ordered = sorted(
        map(dict, sources), key=lambda source: (str(source.get("at")), sort_key(source))
    )
    if len(ordered) > SOURCES:
        ordered = ordered[:FIRST_SOURCES] + ordered[FIRST_SOURCES - SOURCES :]
    return ordered


def canonical(record: Record) -> Record:
    """Return the record with every field checked and in its one canonical form.

    Raises InvalidRecord.
    """
    schema = SCHEMA.get(record.kind)
    if schema is None:
        raise InvalidRecord(f"unknown kind '{record.kind}'.", "Kinds: " + ", ".join(PREFIX) + ".")
    if kind_of(record.id) != record.kind:
        raise InvalidRecord(f"'{record.id}' is not an id of a {record.kind}.")
    title = clean_title(record.title)
    if not title:
        raise InvalidRecord("a record needs a title.", "Give one line that says what it is about.")
    fields = _fields_of_kind(record, schema)
    importance = fields.get("importance")
    if importance is not None and not 0 <= importance <= 10:
        raise InvalidRecord(f"importance cannot be {importance}.", "It goes from 0 to 10.")
    _check_expiry(fields)
    fields |= _bounded(record.kind, fields)
    if "created" not in fields:
        raise InvalidRecord("a record needs the time it was created.")
    fields |= _other_fields(record, schema)
    return Record(record.id, record.kind, title, clean_body(record.body), MappingProxyType(fields))


def _fields_of_kind(record: Record, schema: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that a kind has, in its order and without the empty ones."""
    fields: dict[str, Any] = {}
    for key, kind in schema.items():
        if key in {"id", "kind"} or record.fields.get(key) is None:
            continue
        value = _typed(key, kind, record.fields[key])
        allowed = ENUMS.get((record.kind, key))
        if allowed and value not in allowed:
            raise InvalidRecord(
                f"{key} cannot be '{value}'.", "Allowed: " + ", ".join(allowed) + "."
            )
        if value not in ("", [], {}):
            fields[key] = value
    return fields


def _other_fields(record: Record, schema: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that no kind has: another version's, or somebody's own."""
    fields: dict[str, Any] = {}
    for key in sorted(record.fields.keys() - schema.keys() - {"id", "kind"}):
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", key):
            raise InvalidRecord(f"'{str(key)[:40]}' is not a name for a field.")
        fields[key] = plain_value(record.fields[key])
    return fields


def _typed(key: str, kind: str, value: Any) -> Any:
    """Return a value in the canonical form of its type; raises InvalidRecord."""
    field_type = FIELD_TYPES[kind]
    typed = field_type.read(value)
    if typed is None:
        raise InvalidRecord(f"{key} has the wrong type.", f"It should be {field_type.name}.")
    return typed
