"""What a newcomer should know about a project, by subject.

A briefing and the start of a session choose from it.

Answered from the index alone. Part of the hot path.
"""

from itertools import islice

from gitmem.records.kinds import LIVE
from gitmem.services.records.committers import is_accepted, is_foreign, writers
from gitmem.text.equality import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from gitmem.index.reader import Index

    Row = dict[str, Any]

TASKS, DECISIONS, PATTERNS, ERRORS, PREFERENCES = (
    "tasks",
    "decisions",
    "patterns",
    "errors",
    "preferences",
)
STATE, CONTEXT, DONE, DIGESTS = "state", "context", "done", "digests"
# subjects that the start of a session is told of
TOLD = (TASKS, DECISIONS, PATTERNS, ERRORS, PREFERENCES, STATE)
ALL = (*TOLD, CONTEXT, DONE, DIGESTS)
TYPES = {
    TASKS: ("task",),
    DECISIONS: ("decision", "rule"),
    PATTERNS: ("pattern",),
    ERRORS: ("bug",),
    PREFERENCES: ("preference",),
    STATE: (),
    CONTEXT: ("context", "fact", "insight"),
    DONE: (),
    DIGESTS: (),
}
_SUBJECT = {kind: subject for subject, kinds in TYPES.items() for kind in kinds}
FIELDS = (
    "id",
    "store",
    "kind",
    "type",
    "status",
    "session",
    "author",
    "agent",
    "origin",
    "title",
    "created",
    "updated",
    "importance",
    "severity",
    "resolved",
    "occurrences",
    "last_seen",
    "workaround",
    "conflict",
    "anchors",
    "unconfirmed",
    "source",
    "done",
    "oid",
    "committer",
    "vouchers",
)
PAGES = 3  # of the DNA that are told
DAYS = 7  # of progress that are looked back on
LOOKED = 30  # sessions that are looked at for the one before
RECENT = 3  # digests among which the last one is: a long session may end after one that began later


class BriefingEntry:
    """One thing to be told: a record's row, or a part of what the code is made of (no `row`)."""

    __slots__ = (
        "at",
        "body",
        "by",
        "critical",
        "detail",
        "id",
        "importance",
        "kind",
        "number",
        "pinned",
        "row",
        "session",
        "text",
        "unsure",
        "where",
    )

    def __init__(
        self,
        text: str,
        at: str,
        *,
        id: str = "",
        kind: str = "",
        detail: str = "",
        pinned: bool = False,
        critical: bool = False,
        importance: float = 0.0,
        unsure: bool = False,
        session: str = "",
        where: str = "",
        row: "Row | None" = None,
        number: int = 0,
        body: "Index | None" = None,
        by: str = "",
    ) -> None:
        self.text = text
        self.at = at
        self.id = id  # of a record
        self.kind = kind
        self.detail = detail
        self.pinned = pinned
        self.critical = critical
        self.importance = importance
        self.unsure = unsure
        self.session = session
        self.where = where
        self.row = row
        self.number = number  # its row in the index that has its body
        self.body = body
        self.by = by  # who committed it, when that is not this user

    @property
    def day(self) -> str:
        """The day it is from."""
        return self.at[:10]

    @property
    def attributed(self) -> str:
        """What it says, and by whom when somebody else wrote it."""
        return f"{self.text} (by {self.by})" if self.by else self.text

    @property
    def rank(self) -> "tuple[bool, bool, str, float, str, str]":
        """What is told first: what is pinned, what is critical, what is new, what is important."""
        return self.pinned, self.critical, self.day, self.importance, self.at, self.id or self.text


class BriefingFacts:
    """What is known, by subject: each thing once, the first to be told first.

    `totals` counts what there is beyond that, as far as it was asked for.
    """

    def __init__(
        self,
        by: "dict[str, list[BriefingEntry]]",
        totals: "dict[str, int]",
        last: "BriefingEntry | None",
    ) -> None:
        self.by = by
        self.totals = totals
        self.last = last  # the digest of the session before

    def __getitem__(self, subject: str) -> "list[BriefingEntry]":
        """Return what is known of a subject."""
        return self.by.get(subject, [])

    @property
    def empty(self) -> bool:
        """Say whether there is nothing to be told."""
        return not any(self.by.values()) and self.last is None


def gather(
    indexes: "Sequence[Index]",
    agents: "Sequence[str]",
    since: str = "",
    *,
    subjects: "Sequence[str]" = ALL,
    session: str = "",
    unsure: bool = True,
    most: int = 60,
    totals: bool = False,
    gotchas: "Sequence[Row] | None" = None,
    own: "frozenset[str]",
    now: str,
) -> BriefingFacts:
    """Return what is known.

    `now` is a time: what has expired, or has a successor, is left out.

    `since` is the day from which on progress counts; `session` is the reader's own, whose digest is
    not news.

    `own` are the reader's e-mail addresses: what others committed has no marks of its own, says by
    whom it is, and is no DNA and no session before. What is unconfirmed is left out unless
    `unsure`; `gotchas` are those to take, None: those that are open, worst first.
    """
    query = _Query(subjects, agents, since, session, own, now, most, totals)
    found: list[tuple[str, BriefingEntry]] = []
    last: BriefingEntry | None = None
    for index in indexes:
        facts = query.facts(index)
        if ERRORS in subjects and gotchas is None:
            facts += query.gotchas(index)
        found += [(_subject(row, own), of_row(row, index, own)) for row in facts]
        found += [(DONE, of_row(row, index, own)) for row in query.finished(index)]
        found += [(DIGESTS, of_row(row, index, own)) for row in query.sessions(index)]
        newest = query.session_before(index)
        if newest is not None and (last is None or newest.at > last.at):
            last = newest
    found += [(ERRORS, of_row(row, None, own)) for row in gotchas or ()]
    told = [
        (subject, entry)
        for subject, entry in found
        if subject in subjects and (unsure or not entry.unsure)
    ]
    by = _once(told)
    by[DONE] = [entry for entry in by.get(DONE, []) if entry.day >= since]
    return BriefingFacts(by, query.counts, last)


class _Query:
    """What `gather` asks of each index; `counts` are of facts beyond the first `most`."""

    def __init__(
        self,
        subjects: "Sequence[str]",
        agents: "Sequence[str]",
        since: str,
        session: str,
        own: "frozenset[str]",
        now: str,
        most: int,
        totals: bool,
    ) -> None:
        self.counts: dict[str, int] = {}
        self._subjects = subjects
        self._since = since
        self._session = session
        self._own = own
        self._most = most
        self._totals = totals
        self._readable: Row = {"agents": agents, "fields": FIELDS}
        self._valid: Row = {"agents": agents, "statuses": LIVE, "valid_at": now}
        self._live: Row = {**self._valid, "fields": FIELDS}

    def facts(self, index: "Index") -> "list[Row]":
        """Return pinned memories, those of each subject, and the pages of the DNA."""
        rows = index.rows(
            kinds=("memory",),
            pinned=True,
            valid_at=self._valid["valid_at"],
            order="importance",
            limit=self._most,
            **self._readable,
        )
        for subject in self._subjects:
            for what in TYPES[subject]:
                rows += self._first(index, subject, "created", {"what": what})
        if STATE in self._subjects:
            pages = _own_pages(index.rows(what="dna", limit=2 * PAGES, **self._live))
            rows += [row for row in pages if not is_foreign(row, self._own)]
        return rows

    def gotchas(self, index: "Index") -> "list[Row]":
        """Return open gotchas, the worst first."""
        return self._first(index, ERRORS, "severity", {"kinds": ("gotcha",), "resolved": False})

    def finished(self, index: "Index") -> "list[Row]":
        """Return the tasks that were done since the day from which on progress counts."""
        if DONE not in self._subjects:
            return []
        rows = index.rows(what="task", statuses=("archived",), limit=self._most, **self._readable)
        return [row for row in rows if row["done"] >= (self._since or "0")]

    def sessions(self, index: "Index") -> "list[Row]":
        """Return the records of sessions, without the reader's own."""
        if DIGESTS not in self._subjects:
            return []
        rows = index.rows(what="session", since=self._since, limit=self._most, **self._live)
        return [row for row in rows if row["session"] != self._session]

    def session_before(self, index: "Index") -> "BriefingEntry | None":
        """Return the record of this user's session before the reader's own."""
        rows = index.rows(what="session", limit=LOOKED, **self._live)
        records = (
            of_row(row, index, self._own)
            for row in rows
            if row["session"] != self._session and not is_foreign(row, self._own)
        )
        return max(
            islice(records, RECENT),
            key=lambda entry: (str(entry.row and entry.row["updated"]), entry.id),
            default=None,
        )

    def _first(self, index: "Index", subject: str, order: str, filters: "Row") -> "list[Row]":
        """Return the first rows in an order, and count the others."""
        rows = index.rows(order=order, limit=self._most, **filters, **self._live)
        if self._totals and len(rows) == self._most:
            others = index.number(**filters, **self._valid) - self._most
            self.counts[subject] = self.counts.get(subject, 0) + others
        return rows


def _once(found: "Iterable[tuple[str, BriefingEntry]]") -> "dict[str, list[BriefingEntry]]":
    """Return entries by subject, ranked; what is said twice is told once, where it was said first.

    A task stays one, whatever else says so.
    """
    by: dict[str, list[BriefingEntry]] = {}
    seen: dict[tuple[bool, str], BriefingEntry] = {}
    # this user's own words first: others add nothing to them
    for subject, one in sorted(found, key=lambda pair: bool(pair[1].by)):
        key = (
            (subject == TASKS, plain(one.text) or one.text)
            if subject != DIGESTS
            else (False, one.id)
        )
        old = seen.get(key)
        if old is None:
            seen[key] = one
            by.setdefault(subject, []).append(one)
        elif old.by or not one.by:
            old.pinned = old.pinned or one.pinned
            old.critical = old.critical or one.critical
            old.at = max(old.at, one.at)
            old.detail = old.detail or one.detail
    for some in by.values():
        some.sort(key=lambda one: one.rank, reverse=True)
    return by


def _own_pages(rows: "Sequence[Row]") -> "list[Row]":
    """Return the pages of the DNA, the private one where both stores have it."""
    pages = {row["id"]: row for row in rows if row["store"] != "private"}
    pages |= {row["id"]: row for row in rows if row["store"] == "private"}
    return list(pages.values())[:PAGES]


def _subject(row: "Row", own: "frozenset[str]") -> str:
    if row["kind"] == "memory":
        subject = _SUBJECT.get(str(row["type"]), CONTEXT)
        return (
            STATE
            if subject == CONTEXT and row["status"] == "pinned" and is_accepted(row, own)
            else subject
        )
    return ERRORS if row["kind"] == "gotcha" else STATE


def of_row(row: "Row", index: "Index | None", own: "frozenset[str]") -> BriefingEntry:
    """Return a record as an entry.

    Marks that others gave it do not count before this user accepted it.
    """
    accepted = is_accepted(row, own)
    gotcha = row["kind"] == "gotcha"
    times = (row["last_seen"] if gotcha else "", row["done"], row["updated"], row["created"])
    at = str(next(filter(None, times), ""))
    return BriefingEntry(
        str(row["title"]),
        at,
        id=str(row["id"]),
        kind=str(row["severity"] if gotcha else row["type"] or row["kind"]),
        detail=str(row["workaround"] or ""),
        pinned=accepted and row["status"] == "pinned",
        critical=accepted and gotcha and row["severity"] == "critical",
        importance=float(row["importance"] or 0),
        unsure=row["unconfirmed"],
        session=str(row["session"] or ""),
        where=_place(row["anchors"]),
        row=row,
        number=int(row["n"]),
        body=index,
        by=writers(row["committer"]) if is_foreign(row, own) else "",
    )


def _place(anchors: "Sequence[Row]") -> str:
    """Return where a record applies first: `path:line`."""
    for anchor in anchors:
        path = anchor.get("path") or anchor.get("glob") if isinstance(anchor, dict) else None
        if isinstance(path, str):
            span = anchor.get("lines")
            return (
                f"{path}:{span[0]}"
                if isinstance(span, list) and span and isinstance(span[0], int)
                else path
            )
    return ""
