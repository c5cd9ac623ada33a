"""Three-way merge of one record: commutative, idempotent, associative for a common base.

A scalar that both sides changed goes to the higher stamp `(rev, updated, digest of the side)`. So
that a third side finds the same winner whatever the order of merges, the merged record keeps the
stamps of what was changed in `stamps`, and the attic keeps the sides whose bodies were joined: a
body is a function of the set of its sides, never of the order in which they met. Rules:
`docs/format.md`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gitmem.base.fast import new_hash
from gitmem.errors import InvalidRecord
from gitmem.records import epic
from gitmem.records.codec import encode_canonical, limit, sane
from gitmem.records.field_types import sort_key
from gitmem.records.record import SCHEMA, Record, canonical
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


class _Variant(NamedTuple):
    """A side that a body was joined from."""

    stamp: Stamp
    data: bytes
    body: str


def digest(data: bytes) -> str:
    """Return the name of a side: 16 hex characters of the SHA-256 of its bytes."""
    return new_hash("sha256", data).hexdigest()[:16]


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
    our_record, their_record = sane(ours, id), sane(theirs, id)
    if isinstance(our_record, str) or isinstance(their_record, str):
        keeps_ours = isinstance(their_record, str)
        if isinstance(our_record, str) and keeps_ours:
            keeps_ours = digest(ours) > digest(theirs)
        keep, lose = (ours, theirs) if keeps_ours else (theirs, ours)
        return MergedRecord(keep, {digest(lose): lose}, damaged=True)
    origin = sane(base, id) if base is not None else ""
    if isinstance(origin, str):
        counts = MappingProxyType({key: 0 for key in SUMMED if key in SCHEMA[our_record.kind]})
        origin = Record(id, our_record.kind, "", "", counts)
    a, b = _Side(our_record, ours, digest(ours)), _Side(their_record, theirs, digest(theirs))
    return _RecordMerge(origin, a, b, attic).merged()


class _RecordMerge:
    """Merges two sides of a record; `stamps` gathers those of what was changed."""

    def __init__(
        self, base: Record, a: _Side, b: _Side, attic: Callable[[str], bytes | None]
    ) -> None:
        self.base = base
        self.a = a
        self.b = b
        self.attic = attic
        self.stamps: dict[str, Any] = {}

    def merged(self) -> MergedRecord:
        """Return the merged record, and what the attic keeps."""
        record = self.a.record
        joined = self._work() if record.kind == "work" else {}
        fields = self._fields(joined)
        title, lost, is_disputed = self._title()
        body, variants, conflict = self._body()
        conflict = is_disputed or (conflict if variants else self._has_conflict())
        self._keep_stamps({"body", *SUMMED, *joined})
        fields |= {key: value for key, value in joined.items() if value}
        fields |= {"stamps": self.stamps, "conflict": conflict or None}
        merged = Record(record.id, record.kind, title, body, MappingProxyType(fields))
        kept = variants if len(variants) > 1 else {}
        attic = {name: variant.data for name, variant in kept.items()}
        attic |= {side.digest: side.data for side in lost}
        return MergedRecord(_fit(merged, variants), attic, conflict)

    def _fields(self, joined: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of both, but those that are `joined` already."""
        records = (self.a.record, self.b.record, self.base)
        keys = {key for record in records for key in record.fields}
        merged = {key: self._field(key) for key in sorted(keys - {"stamps", "conflict", *joined})}
        return {key: value for key, value in merged.items() if value is not None}

    def _field(self, key: str) -> Any:
        records = (self.base, self.a.record, self.b.record)
        o, x, y = (record.fields.get(key) for record in records)
        kind = SCHEMA[self.a.record.kind].get(key, "")
        if key in EARLIEST or key in LATEST:
            choose = min if key in EARLIEST else max
            return choose(filter(None, (x, y, o))) if x or y else None
        if key in SUMMED:
            return self._sum(key)
        if kind in {"set", "maps"}:
            return _union(o, x, y)
        if kind == "map" and key not in WHOLE:
            return self._map(key, o or {}, x or {}, y or {})
        return self._scalar(key, o, x, y)

    def _has_conflict(self) -> bool:
        o, x, y = (record.get("conflict") for record in (self.base, self.a.record, self.b.record))
        return bool(self._vote("conflict", o, x, y)[0])

    def _keep_stamps(self, others: set[str]) -> None:
        """Keep the later stamp of what neither side changed."""
        listed = {*self.a.record.get("stamps"), *self.b.record.get("stamps")}
        for key in listed - self.stamps.keys() - others:
            self.stamps[key] = _write(max(self.a.stamp(key), self.b.stamp(key)))

    def _scalar(self, key: str, o: Any, x: Any, y: Any) -> Any:
        """Return the value of the side that changed, and keep its stamp."""
        value, stamp = self._vote(key, o, x, y)
        if stamp is not None:
            self.stamps[key] = _write(stamp)
        return value

    def _vote(self, key: str, o: Any, x: Any, y: Any) -> tuple[Any, Stamp | None]:
        """Return the value of the side that changed, and its stamp.

        Of two, the one with the higher stamp (`decayed` loses to any choice).
        """
        if x == o and y == o:
            return o, None
        votes = [(v, side.stamp(key)) for v, side in ((x, self.a), (y, self.b)) if v != o]
        value, _ = max(
            votes, key=lambda v: (key != "status" or v[0] != "decayed", v[1], sort_key(v[0]))
        )
        return value, max(stamp for v, stamp in votes if v == value)

    def _title(self) -> tuple[str, list[_Side], bool]:
        """Return the later of two titles, the sides whose title gave way, and whether any ever did.

        `stamps.title` lists a stamp for each title that was given, the newest first, with what
        tells the titles apart: a third side finds the same conflict in any order.
        """
        changed = [side for side in (self.a, self.b) if side.record.title != self.base.title]
        given: dict[str, Stamp] = {}
        for side in changed:
            for name, stamp in _titles(side):
                given[name] = max(stamp, given.get(name, stamp))
        if not given:
            return self.base.title, [], False
        ordered = sorted(given, key=lambda name: given[name], reverse=True)
        winner = max(changed, key=lambda side: (side.stamp("title"), side.record.title))
        self.stamps["title"] = _write(given[ordered[0]])
        if len(ordered) == 1:
            return winner.record.title, [], False
        self.stamps["title"] = [f"{_write(given[name])} {name}" for name in ordered]
        lost = [side for side in changed if side.record.title != winner.record.title]
        return winner.record.title, lost, True

    def _sum(self, key: str) -> int:
        """Return the base's count and what each side added, each addition once.

        Additions have names, whose counts only grow: of two, the greater holds. What a side added
        without a name gets the side's digest. A side that names what the base had already says so
        by having less than its names add.
        """
        start, before = self.base.get(key), _named(self.base, key)
        named = dict(before)
        again = 0
        for side in (self.a, self.b):
            listed = _named(side.record, key)
            rest = (
                side.record.get(key)
                - start
                - sum(max(0, n - before.get(name, 0)) for name, n in listed.items())
            )
            if rest > 0:
                listed[side.digest] = max(rest, listed.get(side.digest, 0))
            again = min(again, rest)
            for name, n in listed.items():
                named[name] = max(n, named.get(name, 0))
        if named:
            self.stamps[key] = {name: named[name] for name in sorted(named)}
        added = sum(n - before.get(name, 0) for name, n in named.items())
        return int(min(start + again + added, MOST))

    def _map(
        self, key: str, o: Mapping[str, Any], x: Mapping[str, Any], y: Mapping[str, Any]
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
                value = self._scalar(f"{key}/{name}", *values)
            if value is not None:
                out[name] = value
        return out or None

    def _work(self) -> dict[str, Any]:
        """Return the state of an epic that two sides make together, and its phase.

        Nothing when neither has one.

        What this version knows of a state is joined without a base. Keys that it does not know are
        scalars, each for itself.
        """
        given = [side.record.fields.get("state") for side in (self.a, self.b)]
        if not any(isinstance(state, dict) for state in given):
            return {}
        before = self.base.fields.get("state")
        o = before if isinstance(before, dict) else {}
        x, y = (
            state
            if isinstance(state, dict)
            else {key: o[key] for key in o.keys() - epic.STATE_FIELDS}
            for state in given
        )
        state = epic.join(x, y)
        phase = epic.phase(state)
        for key in sorted({*o, *x, *y} - epic.STATE_FIELDS):
            value = self._scalar(f"state/{key}", o.get(key), x.get(key), y.get(key))
            if value is not None:
                state[key] = value
        return {"state": state, "phase": phase}

    def _body(self) -> tuple[str, dict[str, _Variant], bool]:
        """Return the joined body, the sides it was joined from, and whether one had to give way."""
        sides: dict[str, _Variant] = {}
        for side in (self.a, self.b):
            if side.record.body != self.base.body:
                sides.update(_variants(side, self.attic))
        if not sides:
            return self.base.body, {}, False
        ordered = sorted(sides.values(), key=lambda variant: variant.stamp, reverse=True)
        text = ordered[0].body
        # it is read from code: the later one is right as it stands, and the other can be read again
        if self.a.record.kind == "dna":
            self.stamps["body"] = [_write(ordered[0].stamp)]
            return text, {}, False
        lost = False
        for variant in ordered[1:]:
            joined = merge3(self.base.body, text, variant.body)
            if joined is None:
                lost = True
            else:
                text = joined
        self.stamps["body"] = [_write(variant.stamp) for variant in ordered]
        return text, sides, lost


def _fit(record: Record, kept: Mapping[str, _Variant]) -> bytes:
    """Return the bytes; when joining made it too large, the newest side's body alone."""
    data = encode_canonical(canonical(record))
    if len(data) <= limit(record.kind) or not kept:
        return data
    newest = max(kept.values(), key=lambda variant: variant.stamp)
    return encode_canonical(canonical(record.change(body=newest.body, conflict=True)))


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
    base, ours, theirs = ({sort_key(v): v for v in side or []} for side in (o, x, y))
    gone = (base.keys() - ours.keys()) | (base.keys() - theirs.keys())
    every = {**base, **ours, **theirs}
    return [every[k] for k in sorted(every.keys() - gone)]


def _variants(side: _Side, attic: Callable[[str], bytes | None]) -> dict[str, _Variant]:
    """Return the sides that a body was joined from; the side itself when it was not joined."""
    listed = side.record.get("stamps").get("body")
    if isinstance(listed, list) and listed:
        stamps = [_parse(str(text), side.own) for text in listed]
        if len(stamps) == 1:
            return {stamps[0][2]: _Variant(stamps[0], side.data, side.record.body)}
        variants = {}
        for stamp in stamps:
            data = attic(stamp[2])
            record = sane(data, side.record.id) if data is not None else ""
            if data is None or isinstance(record, str):
                break
            variants[stamp[2]] = _Variant(stamp, data, record.body)
        else:
            return variants
    return {side.digest: _Variant(side.own, side.data, side.record.body)}


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
