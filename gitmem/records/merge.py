"""Three-way merge of one record: commutative, idempotent, associative for a common base.

A scalar that both sides changed goes to the higher stamp `(rev, updated, digest of the side)`. So
that a third side finds the same winner whatever the order of merges, the merged record keeps the
stamps of what was changed in `stamps`, and the attic keeps the sides whose bodies were joined: a
body is a function of the set of its sides, never of the order in which they met. Rules:
`docs/format.md`.
"""

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gitmem.errors import InvalidRecord
from gitmem.records import epic
from gitmem.records.codec import encode_canonical, limit, sane
from gitmem.records.record import SCHEMA, Record, canonical, sort_key
from gitmem.text.line_merge import merge3

Stamp = tuple[int, str, str]

EARLIEST = frozenset({"created", "first_seen"})
LATEST = frozenset({"rev", "updated", "last_seen"})
WHOLE = frozenset(
    {"resolved", "confirmed", "done"}
)  # maps that mean one thing: never mixed from two sides
SUMMED = frozenset({"occurrences"})
MOST = 2**53 - 1  # of a count: a whole number that every reader of JSON keeps


class MergedRecord(NamedTuple):
    """The bytes that win a path, and what the attic keeps, by digest."""

    data: bytes
    attic: Mapping[str, bytes] = MappingProxyType({})
    conflict: bool = False
    damaged: bool = False


class _Side(NamedTuple):
    record: Record
    data: bytes
    digest: str

    @property
    def own(self) -> Stamp:
        return (self.record.rev, self.record.updated, self.digest)

    def stamp(self, key: str) -> Stamp:
        text = self.record.get("stamps").get(key)
        if key == "title" and isinstance(text, list) and text:
            text = str(text[0]).rpartition(" ")[0]  # what tells the titles apart is not of it
        return _parse(text, self.own) if isinstance(text, str) else self.own


def digest(data: bytes) -> str:
    """Return the name of a side: 16 hex characters of the SHA-256 of its bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def _parse(text: str, default: Stamp) -> Stamp:
    rev, _, rest = text.partition(" ")
    updated, _, name = rest.partition(" ")
    return (int(rev), updated, name) if rev.isdigit() and len(rev) < 17 and name else default


def _write(stamp: Stamp) -> str:
    return f"{stamp[0]} {stamp[1]} {stamp[2]}"


def merge_bytes(
    id: str, base: bytes | None, ours: bytes, theirs: bytes, attic: Callable[[str], bytes | None]
) -> MergedRecord:
    """Merge two versions of a record's file.

    `attic` finds a side of an earlier merge by its digest.

    A file that is damaged keeps its bytes in the attic; when both are, the greater digest stays.
    """
    if ours == theirs or theirs == base:
        return MergedRecord(ours)
    if ours == base:
        return MergedRecord(theirs)
    one, two = sane(ours, id), sane(theirs, id)
    if isinstance(one, str) or isinstance(two, str):
        keep, lose = (ours, theirs) if isinstance(two, str) else (theirs, ours)
        if isinstance(one, str) and isinstance(two, str):
            keep, lose = (ours, theirs) if digest(ours) > digest(theirs) else (theirs, ours)
        return MergedRecord(keep, {digest(lose): lose}, damaged=True)
    root = sane(base, id) if base is not None else None
    origin = (
        root
        if isinstance(root, Record)
        else Record(
            id, one.kind, "", "", MappingProxyType({k: 0 for k in SUMMED if k in SCHEMA[one.kind]})
        )
    )
    a, b = _Side(one, ours, digest(ours)), _Side(two, theirs, digest(theirs))
    return _merge(origin, a, b, attic)


def _merge(base: Record, a: _Side, b: _Side, attic: Callable[[str], bytes | None]) -> MergedRecord:
    schema = SCHEMA[a.record.kind]
    stamps: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    joined = _work(base, a, b, stamps) if a.record.kind == "work" else {}
    keys = {*a.record.fields, *b.record.fields, *base.fields} - {"stamps", "conflict", *joined}
    for key in sorted(keys):
        o, x, y = base.fields.get(key), a.record.fields.get(key), b.record.fields.get(key)
        kind = schema.get(key, "")
        if key in EARLIEST:
            value: Any = min(v for v in (x, y, o) if v) if x or y else None
        elif key in LATEST:
            value = max(v for v in (x, y, o) if v) if x or y else None
        elif key in SUMMED:
            value = _sum(key, base, a, b, stamps)
        elif kind in {"set", "maps"}:
            value = _union(o, x, y)
        elif kind == "map" and key not in WHOLE:
            value = _map(key, o or {}, x or {}, y or {}, a, b, stamps)
        else:
            value = _scalar(key, o, x, y, a, b, stamps)
        if value is not None:
            fields[key] = value
    title, lost, is_disputed = _title(base, a, b, stamps)
    body, kept, conflict = _body(base, a, b, attic, stamps)
    if not kept:
        conflict = bool(
            _scalar(
                "conflict",
                base.get("conflict"),
                a.record.get("conflict"),
                b.record.get("conflict"),
                a,
                b,
                {},
            )
        )
    for key in (
        {*a.record.get("stamps"), *b.record.get("stamps")}
        - stamps.keys()
        - {"body", *SUMMED, *joined}
    ):
        stamps[key] = _write(max(a.stamp(key), b.stamp(key)))
    fields |= {key: value for key, value in joined.items() if value}
    fields["stamps"] = stamps
    conflict = conflict or is_disputed
    fields["conflict"] = conflict or None
    merged = _fit(Record(a.record.id, a.record.kind, title, body, MappingProxyType(fields)), kept)
    saved = {k: v[1] for k, v in kept.items()} if len(kept) > 1 else {}
    return MergedRecord(merged, {**saved, **{side.digest: side.data for side in lost}}, conflict)


def _fit(record: Record, kept: Mapping[str, tuple[Stamp, bytes, str]]) -> bytes:
    """Return the bytes; when joining made it too large, the newest side's body alone."""
    data = encode_canonical(canonical(record))
    if len(data) <= limit(record.kind) or not kept:
        return data
    newest = max(kept.values(), key=lambda v: v[0])
    return encode_canonical(canonical(record.change(body=newest[2], conflict=True)))


def _scalar(key: str, o: Any, x: Any, y: Any, a: _Side, b: _Side, stamps: dict[str, Any]) -> Any:
    """Return the side that changed.

    Of two, the one with the higher stamp (`decayed` loses to any choice).
    """
    if x == o and y == o:
        return o
    votes = [(v, side.stamp(key)) for v, side in ((x, a), (y, b)) if v != o]
    value, _ = max(
        votes, key=lambda v: (key != "status" or v[0] != "decayed", v[1], sort_key(v[0]))
    )
    stamps[key] = _write(max(s for v, s in votes if v == value))
    return value


def _title(
    base: Record, a: _Side, b: _Side, stamps: dict[str, Any]
) -> tuple[str, list[_Side], bool]:
    """Return the later of two titles, the sides whose title gave way, and whether any ever did.

    `stamps.title` lists a stamp for each title that was given, the newest first, with what tells
    the titles apart: a third side finds the same conflict in any order.
    """
    changed = [side for side in (a, b) if side.record.title != base.title]
    given: dict[str, Stamp] = {}
    for side in changed:
        for name, stamp in _titles(side):
            given[name] = max(stamp, given.get(name, stamp))
    if not given:
        return base.title, [], False
    ordered = sorted(given, key=lambda name: given[name], reverse=True)
    winner = max(changed, key=lambda side: (side.stamp("title"), side.record.title))
    stamps["title"] = _write(given[ordered[0]])
    if len(ordered) == 1:
        return winner.record.title, [], False
    stamps["title"] = [f"{_write(given[name])} {name}" for name in ordered]
    lost = [side for side in changed if side.record.title != winner.record.title]
    return winner.record.title, lost, True


def _titles(side: _Side) -> list[tuple[str, Stamp]]:
    """Return what tells each title that a side was given from others, and its stamp."""
    listed = side.record.get("stamps").get("title")
    name = digest(side.record.title.encode())
    if not isinstance(listed, list):
        return [(name, side.stamp("title"))]
    out = []
    for text in map(str, listed):
        stamp, _, other = text.rpartition(" ")
        out.append((other, _parse(stamp, side.own)))
    return out or [(name, side.own)]


def _sum(key: str, base: Record, a: _Side, b: _Side, stamps: dict[str, Any]) -> int:
    """Return the base's count and what each side added, each addition once.

    Additions have names, whose counts only grow: of two, the greater holds. What a side added
    without a name gets the side's digest. A side that names what the base had already says so by
    having less than its names add.
    """
    start, known = base.get(key), _named(base, key)
    named = dict(known)
    again = 0
    for side in (a, b):
        listed = _named(side.record, key)
        rest = (
            side.record.get(key)
            - start
            - sum(max(0, n - known.get(name, 0)) for name, n in listed.items())
        )
        if rest > 0:
            listed[side.digest] = max(rest, listed.get(side.digest, 0))
        again = min(again, rest)
        for name, n in listed.items():
            named[name] = max(n, named.get(name, 0))
    if named:
        stamps[key] = {name: named[name] for name in sorted(named)}
    added = sum(n - known.get(name, 0) for name, n in named.items())
    return int(min(start + again + added, MOST))


def _named(record: Record, key: str) -> dict[str, int]:
    listed = record.get("stamps").get(key)
    return (
        {k: v for k, v in listed.items() if type(v) is int and v > 0}
        if isinstance(listed, dict)
        else {}
    )


def counted(record: Record, key: str, times: int, name: str) -> Record:
    """Return a record with `times` more in a count, known by the name of who counted."""
    named = _named(record, key)
    more = {name: named.get(name, 0) + times} if name and times > 0 else {}
    stamps = (
        {**record.get("stamps"), key: {**named, **more}} if named or more else record.get("stamps")
    )
    return record.change(**{key: min(record.get(key) + times, MOST)}, stamps=stamps or None)


def hits_of(record: Record, name: str) -> int:
    """Return how many of a gotcha's occurrences were counted under a name."""
    return _named(record, "occurrences").get(name, 0)


def _union(o: Any, x: Any, y: Any) -> list[Any]:
    """Return both sides' additions; what either removed from the base stays removed."""
    base, one, two = ({sort_key(v): v for v in side or []} for side in (o, x, y))
    gone = (base.keys() - one.keys()) | (base.keys() - two.keys())
    every = {**base, **one, **two}
    return [every[k] for k in sorted(every.keys() - gone)]


def _map(
    key: str,
    o: Mapping[str, Any],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    a: _Side,
    b: _Side,
    stamps: dict[str, Any],
) -> Any:
    out = {}
    for name in sorted({*o, *x, *y}):
        values = (o.get(name), x.get(name), y.get(name))
        if any(isinstance(v, list) for v in values) and all(
            v is None or isinstance(v, str | list) for v in values
        ):
            # one of something, or several
            value: Any = _union(*([v] if isinstance(v, str) else v for v in values)) or None
        else:
            value = _scalar(f"{key}/{name}", *values, a, b, stamps)
        if value is not None:
            out[name] = value
    return out or None


def _work(base: Record, a: _Side, b: _Side, stamps: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an epic that two sides make together, and its phase.

    Nothing when neither has one.

    What this version knows of a state is joined without a base. Keys that it does not know are
    scalars, each for itself.
    """
    given = [side.record.fields.get("state") for side in (a, b)]
    if not any(isinstance(state, dict) for state in given):
        return {}
    before = base.fields.get("state")
    o = before if isinstance(before, dict) else {}
    x, y = (
        state if isinstance(state, dict) else {key: o[key] for key in o.keys() - epic.KNOWN}
        for state in given
    )
    state = epic.join(x, y)
    phase = epic.phase(state)
    for key in sorted({*o, *x, *y} - epic.KNOWN):
        value = _scalar(f"state/{key}", o.get(key), x.get(key), y.get(key), a, b, stamps)
        if value is not None:
            state[key] = value
    return {"state": state, "phase": phase}


def _body(
    base: Record, a: _Side, b: _Side, attic: Callable[[str], bytes | None], stamps: dict[str, Any]
) -> tuple[str, dict[str, tuple[Stamp, bytes, str]], bool]:
    """Return the joined body, the sides it was joined from, and whether one had to give way."""
    sides: dict[str, tuple[Stamp, bytes, str]] = {}
    for side in (a, b):
        if side.record.body != base.body:
            sides.update(_variants(side, attic))
    if not sides:
        return base.body, {}, False
    ordered = sorted(sides.values(), key=lambda v: v[0], reverse=True)
    text = ordered[0][2]
    # it is read from code: the later one is right as it stands, and the other can be read again
    if a.record.kind == "dna":
        stamps["body"] = [_write(ordered[0][0])]
        return text, {}, False
    lost = False
    for _, _, other in ordered[1:]:
        joined = merge3(base.body, text, other)
        if joined is None:
            lost = True
        else:
            text = joined
    stamps["body"] = [_write(v[0]) for v in ordered]
    return text, sides, lost


def _variants(
    side: _Side, attic: Callable[[str], bytes | None]
) -> dict[str, tuple[Stamp, bytes, str]]:
    """Return the sides that a body was joined from; the side itself when it was not joined."""
    listed = side.record.get("stamps").get("body")
    if isinstance(listed, list) and listed:
        stamps = [_parse(str(text), side.own) for text in listed]
        if len(stamps) == 1:
            return {stamps[0][2]: (stamps[0], side.data, side.record.body)}
        found = {}
        for stamp in stamps:
            data = attic(stamp[2])
            record = sane(data, side.record.id) if data is not None else ""
            if data is None or isinstance(record, str):
                break
            found[stamp[2]] = (stamp, data, record.body)
        else:
            return found
    return {side.digest: (side.own, side.data, side.record.body)}


def restamp(before: Record, after: Record) -> Record:
    """Return an edited record without the stamps of the fields that the edit changed.

    Who counted what stays known.
    """
    stamps = before.get("stamps")
    if not stamps:
        return after
    kept = {}
    for key, value in stamps.items():
        name, _, sub = key.partition("/")
        if key in SUMMED:
            same = True
        elif name in {"title", "body"}:
            same = getattr(before, name) == getattr(after, name)
        elif sub:
            was, now = before.get(name) or {}, after.get(name) or {}
            same = (
                isinstance(was, Mapping)
                and isinstance(now, Mapping)
                and was.get(sub) == now.get(sub)
            )
        else:
            same = before.fields.get(name) == after.fields.get(name)
        if same:
            kept[key] = value
    # a title that is disputed is settled by another title, a body by another body
    disputed = isinstance(stamps.get("title"), list)
    resolved = before.title != after.title if disputed else before.body != after.body
    return after.change(
        stamps=kept or None, conflict=None if resolved else after.fields.get("conflict")
    )


def settled(record: Record) -> Record:
    """Return a record whose conflict is settled: a person has seen what it says, and it holds."""
    stamps = {k: v for k, v in record.get("stamps").items() if k not in {"title", "body"}}
    return record.change(stamps=stamps or None, conflict=None)


def check(id: str, data: bytes) -> Record:
    """Return the record of a file; raises InvalidRecord."""
    record = sane(data, id)
    if isinstance(record, str):
        raise InvalidRecord(
            f"the file of {id} is damaged: {record}",
            "Run 'git mem doctor' to see all damaged files.",
        )
    return record
