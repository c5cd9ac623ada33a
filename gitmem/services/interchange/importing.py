"""Make records of what another tool remembers: plan, then write.

An id is derived from the format and the id there. So a second import finds what the first one made,
even if the first one was killed before its end. `imported` in a record says where it came from and
what the import wrote: a record that somebody changed since is left alone.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gitmem.errors import InvalidRecord
from gitmem.records.claims import claims_of
from gitmem.records.codec import encode
from gitmem.records.field_types import is_stamp
from gitmem.records.kinds import LIVE, PREFIX, derived_id
from gitmem.records.merge import restamp
from gitmem.records.record import Record, canonical, is_expiry, kind_of, make
from gitmem.redaction.formats import harmless
from gitmem.redaction.mask import scrub
from gitmem.services.interchange.context import ImportContext
from gitmem.services.interchange.item import ForeignItem, ForeignSource, Unmapped
from gitmem.services.interchange.values import counted, maps_of
from gitmem.services.interchange.vouching import source_of, status_of, voucher_of
from gitmem.services.records.write import Writer, clean
from gitmem.store import operations
from gitmem.store.reader import batched
from gitmem.store.store import Message, Store
from gitmem.text.normal_words import normal_words

NEW, UPDATED, UNCHANGED = "new", "updated", "unchanged"
CHANGED_HERE = "changed here since"
FORGOTTEN = "forgotten here"
REJECTED = "rejected here"
ALREADY = "already known"
OTHERS_ID = "its id belongs to another record"
VOUCHED = "confirmed here, changed there by somebody else"
INVALID = "not a record"
SURELY_SMALL = 10_000  # characters of a record that has fewer bytes than one may have
ANCHORS = 20  # of a record
BATCH = 1000  # records of one commit, at most
# fields that an import does not decide, or that change without anybody's doing
OPEN_FIELDS = frozenset(
    {
        *("rev", "created", "updated", "author", "origin", "sources", "imported"),
        *("stamps", "conflict"),
    }
)
WHOLE = frozenset({"json", "okf"})  # formats of which each entry stays one of its own


class ImportOutcome(NamedTuple):
    """What becomes of one item: new, updated, unchanged, or the reason why it is left out."""

    what: str
    title: str
    id: str = ""
    scope: str = ""
    before: Record | None = None
    after: Record | None = None
    detail: str = ""

    @property
    def writes(self) -> bool:
        """Whether it changes a store."""
        return self.after is not None


@dataclass(slots=True)
class ImportPlan:
    """What an import does with each item, in the order of the source."""

    format: str
    outcomes: list[ImportOutcome] = field(default_factory=list)

    @property
    def writes(self) -> list[ImportOutcome]:
        """The outcomes that change a store."""
        return [outcome for outcome in self.outcomes if outcome.writes]

    def count(self) -> Counter[str]:
        """Return how many items have which outcome."""
        return Counter(outcome.what for outcome in self.outcomes)


def record_id(format: str, kind: str, source_id: str) -> str:
    """Return the id of the record that an item becomes."""
    return derived_id(PREFIX[kind], f"import {format} {source_id}")


def content_digest(record: Record) -> str:
    """Return what tells the content that an import wrote from any other: 16 hex characters."""
    fields = {key: value for key, value in record.fields.items() if key not in OPEN_FIELDS}
    whole = json.dumps([record.title, record.body, fields], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:16]


def item_digest(item: ForeignItem) -> str:
    """Return what tells an entry as it is there from any other: 16 hex characters."""
    return hashlib.sha256(repr(item).encode("utf-8", "replace")).hexdigest()[:16]


def is_waiting(record: Record) -> bool:
    """Return whether the inbox asks about a record that was imported."""
    return record.unconfirmed and record.status in LIVE


def is_untouched(record: Record) -> bool:
    """Return whether nobody changed a record since it was imported."""
    return _imported(record).get("hash") == content_digest(record)


def _imported(record: Record) -> Mapping[str, Any]:
    value = record.fields.get("imported")
    return value if isinstance(value, Mapping) else {}


def plan(
    source: ForeignSource,
    items: Iterable[ForeignItem],
    context: ImportContext,
    progress: Callable[[int, int], None] | None = None,
) -> ImportPlan:
    """Return what an import does. Links that lead nowhere are noted in the source."""
    every = _unique(source, items)
    planner = _ImportPlanner(source, every, context)
    out = ImportPlan(source.format)
    for number, item in enumerate(every, 1):
        out.outcomes.append(planner.outcome(item))
        if progress and (number % 100 == 0 or number == len(every)):
            progress(number, len(every))
    out.outcomes = _relinked(out.outcomes, planner.is_there)
    noted = dict.fromkeys(source.unmapped)
    source.unmapped = [Unmapped(*map(planner.masked, row)) for row in noted]
    return out


def _relinked(
    outcomes: Sequence[ImportOutcome], is_there: Callable[[str], bool]
) -> list[ImportOutcome]:
    """Return the outcomes with no link to an item that is left out.

    A link to one that is known already leads to the record that says it.
    """
    moved = {
        row.id: row.detail if row.what == ALREADY else ""
        for row in outcomes
        if not row.writes and not is_there(row.id)
    }
    out = []
    for row in outcomes:
        after = _with_targets(row.after, moved) if row.after and moved else row.after
        out.append(row._replace(after=after))
    return out


def _with_targets(record: Record, moved: Mapping[str, str]) -> Record:
    """Return a record whose links lead to other records; "" is one that is not there."""
    fields: dict[str, Any] = {}
    for key in ("links", "supersedes"):
        ids = record.fields.get(key) or []
        if not moved.keys().isdisjoint(ids):
            kept = {moved.get(id, id) for id in ids} - {"", record.id}
            fields[key] = sorted(kept) or None
    if not fields:
        return record
    changed = record.change(**fields)
    return changed.change(imported={**_imported(record), "hash": content_digest(changed)})


def _unique(source: ForeignSource, items: Iterable[ForeignItem]) -> list[ForeignItem]:
    """Return the items, of those with one id the last; it stands where the first one stood."""
    by_id: dict[tuple[str, str], ForeignItem] = {}
    for item in items:
        key = (item.kind, item.source_id)
        if key in by_id:
            source.leave_out(item.source_id, "its id is there twice; the last one counts")
        by_id[key] = item
    return list(by_id.values())


class _ImportPlanner:
    """Decides item by item; knows the ids that the items of one source become."""

    def __init__(
        self, source: ForeignSource, items: Sequence[ForeignItem], context: ImportContext
    ) -> None:
        self._source = source
        self._context = context
        self._ids = {item.source_id: _id(item) for item in items}
        linked = {_target(item, name) for item in items for name in (*item.links, *item.supersedes)}
        self._there = context.existing({*self._ids.values(), *linked})
        fresh = [item for item in items if _id(item) not in self._there]
        self._titled = context.titled({normal_words(item.title) for item in fresh})
        self._said: dict[tuple[str, str], str] = {}
        self._allow = (*context.who.allow, *_names_of_files(items))

    def outcome(self, item: ForeignItem) -> ImportOutcome:
        """Return what becomes of an item."""
        id = _id(item)
        if id in self._context.forgotten:
            return self._left_out(FORGOTTEN, item)
        scope, before = self._there.get(id, ("", None))
        if before is not None and _imported(before).get("format") != item.format:
            is_same = (before.title, before.body.strip()) == (item.title, item.body.strip())
            return self._left_out(ALREADY if is_same else OTHERS_ID, item)
        if before is not None and _imported(before).get("item") == item_digest(item):
            return ImportOutcome(UNCHANGED, before.title, id, scope)
        if not normal_words(item.title):
            return self._left_out(INVALID, item, "its title has nothing to read")
        try:
            scope_of_new, record = self._whole_or_without_extra(item, id)
        except InvalidRecord as error:
            return self._left_out(INVALID, item, str(error))
        if before is None:
            return self._fresh(scope_of_new, record)
        return self._again(scope, before, record)

    def _left_out(self, what: str, item: ForeignItem, detail: str = "") -> ImportOutcome:
        title = self.masked(" ".join(item.title.split()))
        return ImportOutcome(what, title, _id(item), detail=detail)

    def is_there(self, id: str) -> bool:
        """Say whether a record is in a store already."""
        return id in self._there

    def masked(self, text: str) -> str:
        """Return a text that is shown, without secrets."""
        return text if harmless(text) else scrub(text, self._allow).text

    def _again(self, scope: str, before: Record, record: Record) -> ImportOutcome:
        if _imported(before).get("hash") == _imported(record)["hash"]:
            return ImportOutcome(UNCHANGED, record.title, record.id, scope)
        if not is_untouched(before):
            return ImportOutcome(CHANGED_HERE, record.title, record.id, scope)
        if record.unconfirmed and not before.unconfirmed:
            return ImportOutcome(VOUCHED, record.title, record.id, scope)
        if self._is_rejected(record):
            return ImportOutcome(REJECTED, record.title, record.id)
        created = record.created if record.created != self._context.now else before.created
        after = record.change(
            rev=before.rev + 1, created=created, updated=max(record.updated, before.updated)
        )
        return ImportOutcome(
            UPDATED, record.title, record.id, scope, before, restamp(before, after)
        )

    def _fresh(self, scope: str, record: Record) -> ImportOutcome:
        if self._is_rejected(record):
            return ImportOutcome(REJECTED, record.title, record.id)
        words = _words(record)
        other = self._said.get(words)
        if other and self._source.format not in WHOLE:
            return ImportOutcome(ALREADY, record.title, record.id, detail=other)
        there = self._titled.get(words[0])
        if there is not None and _words(there[1]) == words:
            return ImportOutcome(ALREADY, record.title, record.id, detail=there[1].id)
        self._said[words] = record.id
        return ImportOutcome(NEW, record.title, record.id, scope, None, record)

    def _is_rejected(self, record: Record) -> bool:
        rejected = self._context.rejected
        return bool(rejected) and rejected.find_any(claims_of(record)) is not None

    def _whole_or_without_extra(self, item: ForeignItem, id: str) -> tuple[str, Record]:
        """Return the scope and the record; what no field has room for is left out if it must be.

        Raises InvalidRecord.
        """
        try:
            return self._record(item, id)
        except InvalidRecord as error:
            if not item.extra:
                raise
            rest = self._record(replace(item, extra={}), id)
            self._source.leave_out(f"{item.source_id}: {', '.join(item.extra)}", str(error))
            return rest

    def _record(self, item: ForeignItem, id: str) -> tuple[str, Record]:
        """Return the scope and the record of an item as if it were new. Raises InvalidRecord."""
        context = self._context
        last = _past(item.updated, context.now)
        created = _past(item.created, context.now) or last or context.now
        updated = max(created, last)
        voucher = voucher_of(item, context)
        origin = {
            "format": item.format,
            "id": item.source_id if not item.id else "",
            "path": item.place,
            "author": voucher.other_author,
            "program": voucher.program,
            "extra": dict(item.extra),
        }
        fields = {
            **item.fields,
            "created": created,
            "updated": updated,
            "rev": 1,
            "author": voucher.author,
            "agent": item.agent or None,
            "tags": list(item.tags) or None,
            "origin": voucher.origin,
            "status": status_of(item, voucher),
            "links": self._linked(item),
            "supersedes": self._superseded(item),
            "anchors": self._anchors(item),
            "sources": [source_of(item, voucher)],
            "expires": item.expires if item.expires and is_expiry(item.expires) else None,
            "imported": {key: value for key, value in origin.items() if value},
        }
        if item.kind == "memory":
            fields["type"] = item.type
            if item.done and item.type == "task":
                fields["done"] = {
                    "at": _past(item.done, context.now),
                    "by": voucher.program or item.format,
                }
        made = make(item.kind, id, item.title, item.body, **fields)
        masked = clean(made, self._allow)[0]
        record = masked if masked is made else canonical(masked)
        digests = {"item": item_digest(item), "hash": content_digest(record)}
        record = record.change(imported={**_imported(record), **digests})
        if len(record.body) + len(str(record.fields)) > SURELY_SMALL:
            encode(record)  # raises for one that is too large
        return voucher.scope, record

    def _linked(self, item: ForeignItem) -> list[str]:
        own = _id(item)
        return [id for id in self._targets(item, item.links) if id != own]

    def _superseded(self, item: ForeignItem) -> list[str]:
        own = _id(item)
        return [id for id in self._targets(item, item.supersedes) if id != own]

    def _targets(self, item: ForeignItem, names: Sequence[str]) -> Iterator[str]:
        """Yield the ids of the records that an item names; note those that are not there."""
        for name in names:
            id = self._ids.get(name) or _target(item, name)
            if name in self._ids or id in self._there:
                yield id
            else:
                self._source.leave_out(f"{item.source_id} -> {name}", "the link leads nowhere")

    def _anchors(self, item: ForeignItem) -> list[dict[str, Any]] | None:
        places = map(self._context.place_of, item.files)
        anchors = [{"path": path} for path in dict.fromkeys(filter(None, places))]
        return [*maps_of(item.fields.get("anchors")), *anchors][:ANCHORS] or None


def _id(item: ForeignItem) -> str:
    return item.id or record_id(item.format, item.kind, item.source_id)


def _names_of_files(items: Iterable[ForeignItem]) -> list[str]:
    """Return patterns of the names of a source's files that only look as if a machine drew them.

    Its texts link to these files.
    """
    names = {part for item in items for part in re.split(r"[/.]", item.place)}
    drawn = [name for name in names if not harmless(name) and scrub(name).text != name]
    return [rf"\A{re.escape(name)}\Z" for name in drawn if scrub(name, is_name=True).text == name]


def _target(item: ForeignItem, name: str) -> str:
    """Return the id of the record that an item names; what git mem exported names ids."""
    return name if kind_of(name) else record_id(item.format, "memory", name)


def _words(record: Record) -> tuple[str, str]:
    return normal_words(record.title), normal_words(record.body)


def _past(at: str, now: str) -> str:
    """Return a time, now if it is later; "" for what is none."""
    return min(at, now) if at and is_stamp(at) else ""


def apply(
    plan: ImportPlan,
    who: Writer,
    store: Callable[[str], Store],
    progress: Callable[[int, int], None] | None = None,
) -> bool:
    """Write a plan, in commits of at most 1,000 records; say whether a part waits in the journal.

    After a crash the next import writes what is missing.
    """
    waits, done, total = False, 0, len(plan.writes)
    for scope in ("shared", "private"):
        for some in batched((row for row in plan.writes if row.scope == scope), BATCH):
            ops = [operations.put(row.after, row.before) for row in some if row.after]
            waits |= store(scope).write(ops, _message(plan, who, some)).journaled
            done += len(some)
            if progress:
                progress(done, total)
    return waits


def _message(plan: ImportPlan, who: Writer, outcomes: Sequence[ImportOutcome]) -> Message:
    ids = tuple(outcome.id for outcome in outcomes)
    return Message(
        f"import {counted(len(outcomes), 'record')} from {plan.format}",
        "import",
        ids,
        session=who.session,
    )
