"""What a newcomer should know about a project, by subject.

A briefing and the start of a session choose from it.

Answered from the index alone. Part of the hot path.
"""

from itertools import islice

from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.said import said_to_be
from gitmem.services.records.committers import (
    author_if_foreign,
    credit_marks,
    is_accepted,
    is_foreign,
)
from gitmem.text.equality import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.records.score import Score

    Row = dict[str, Any]

TASKS, DECISIONS, PATTERNS, ERRORS, PREFERENCES = (
    "tasks",
    "decisions",
    "patterns",
    "errors",
    "preferences",
)
STATE, CONTEXT, DONE, SESSIONS = "state", "context", "done", "sessions"
# subjects that the start of a session is told of
CURRENT_SUBJECTS = (TASKS, DECISIONS, PATTERNS, ERRORS, PREFERENCES, STATE, CONTEXT)
ALL = (*CURRENT_SUBJECTS, DONE, SESSIONS)
TYPES = {
    TASKS: ("task",),
    DECISIONS: ("decision", "rule"),
    PATTERNS: ("pattern",),
    ERRORS: ("bug",),
    PREFERENCES: ("preference",),
    STATE: (),
    CONTEXT: ("context", "fact", "insight"),
    DONE: (),
    SESSIONS: (),
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
    "decay_rate",
    "level",
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
COUNTED = 1000  # facts of a subject that are counted, besides those that are told
LOOKED = 30  # sessions that are looked at for the one before
RECENT = 3  # records among which the last one is: a long session may end after a later one


class BriefingEntry:
    """One thing to be told: a record's row, or a part of what the code is made of (no `row`)."""

    __slots__ = (
        "at",
        "body",
        "by",
        "credits",
        "critical",
        "detail",
        "id",
        "importance",
        "kind",
        "number",
        "pinned",
        "row",
        "said",
        "score",
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
        credits: "Sequence[str]" = (),
    ) -> None:
        self.text = text
        self.at = at
        self.id = id  # of a record
        self.kind = kind
        self.detail = detail
        self.pinned = pinned
        self.critical = critical
        self.importance = importance
        self.score = importance  # what is left of it
        self.unsure = unsure
        self.session = session
        self.where = where
        self.row = row
        self.number = number  # its row in the index that has its body
        self.body = body
        self.by = by  # who committed it, when that is not this user
        self.credits = credits  # by whom it is, and the marks of its trust, in words
        self.said = ""  # what a session says of it that nobody answered

    @property
    def day(self) -> str:
        """The day it is from."""
        return self.at[:10]

    @property
    def attributed(self) -> str:
        """What it says, by whom when somebody else wrote it, and whether nobody vouches for it."""
        return f"{self.text} ({', '.join(self.credits)})" if self.credits else self.text

    @property
    def rank(self) -> "tuple[bool, bool, float, str, str]":
        """What is told first: what is pinned, what is critical, what has the highest score."""
        return self.pinned, self.critical, round(self.score, 3), self.at, self.id or self.text


class FactOrder:
    """What decides which facts are told first, of one reader.

    `score_of` gives the score of a row, `arrange` puts facts that contradict each other in order,
    `read_last` are the ids of facts that were read last: some may be too old to be found else.
    """

    __slots__ = ("arrange", "read_last", "score_of")

    def __init__(
        self,
        score_of: "Callable[[Row], Score]",
        arrange: "Callable[[Iterable[Row]], list[Row]]",
        read_last: "Sequence[str]" = (),
    ) -> None:
        self.score_of = score_of
        self.arrange = arrange
        self.read_last = read_last


class BriefingFacts:
    """What is known, by subject: each thing once, the first to be told first.

    `totals` counts what there is beyond that, as far as it was asked for.
    """

    def __init__(
        self,
        by: "dict[str, list[BriefingEntry]]",
        totals: "dict[str, int]",
        last: "BriefingEntry | None",
        said: "dict[str, str] | None" = None,
        rejected: "Sequence[str]" = (),
    ) -> None:
        self.rejected = rejected  # the words of what was forgotten or rejected
        self.said = said or {}  # what sessions say of facts that nobody answered, in words, by id
        self.by = by
        self.totals = totals
        self.last = last  # the record of the session before

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
    first: FactOrder,
    stores: "Sequence[str]" = (),
) -> BriefingFacts:
    """Return what is known; `stores` are those that are asked, all without any.

    `now` is a time: what has expired, or has a successor, is left out; so is what has decayed.

    `since` is the day from which on progress counts; `session` is the reader's own, whose record is
    not news.

    `own` are the reader's e-mail addresses: what others committed has no marks of its own, says by
    whom it is, and is no DNA and no session before. What is unconfirmed is left out unless
    `unsure`; `first` decides the order; `gotchas` are those to take, None: those that are open,
    worst first.
    """
    readable: Row = {"agents": agents, "stores": stores}
    query = _Query(subjects, readable, since, session, own, now, most, totals, first.read_last)
    entries: list[tuple[str, BriefingEntry]] = []
    last: BriefingEntry | None = None
    for index in indexes:
        facts = query.facts(index)
        if ERRORS in subjects and gotchas is None:
            facts += query.gotchas(index)
        entries += _scored(facts, index, own, first)
        entries += [(DONE, of_row(row, index, own)) for row in query.finished(index)]
        entries += [(SESSIONS, of_row(row, index, own)) for row in query.sessions(index)]
        newest = query.session_before(index)
        if newest is not None and (last is None or newest.at > last.at):
            last = newest
    entries += _scored(gotchas or (), None, own, first)
    wanted = [
        (subject, entry)
        for subject, entry in entries
        if subject in subjects and (unsure or not entry.unsure)
    ]
    said = _said(indexes)
    by = _paired(_once(wanted), own, first)
    _mark(by, said)
    by[DONE] = [entry for entry in by.get(DONE, []) if entry.day >= since]
    return BriefingFacts(by, query.counts, last, said, _rejected(indexes))


def _scored(
    rows: "Iterable[Row]", index: "Index | None", own: "frozenset[str]", first: FactOrder
) -> "list[tuple[str, BriefingEntry]]":
    """Return (subject, entry) of rows, without facts that have decayed."""
    out = []
    for row in rows:
        entry = of_row(row, index, own)
        if row["kind"] in FACTS:
            score = first.score_of(row)
            entry.score = score.value
            if score.decayed:
                continue
        out.append((_subject(row, own), entry))
    return out


def _paired(
    by: "dict[str, list[BriefingEntry]]", own: "frozenset[str]", first: FactOrder
) -> "dict[str, list[BriefingEntry]]":
    """Return entries with those that contradict each other side by side, what holds before."""
    entries = {entry.id: (subject, entry) for subject in by for entry in by[subject]}
    rows = first.arrange([entry.row for _, entry in entries.values() if entry.row is not None])
    if not any(row.get("contradicts") for row in rows):
        return by
    out: dict[str, list[BriefingEntry]] = {subject: [] for subject in by}
    for row in rows:
        subject, entry = entries.get(row["id"]) or (_subject(row, own), of_row(row, None, own))
        entry.row, entry.credits = row, credit_marks(row, own)
        before = [entries[id] for id in row.get("behind", ()) if id in entries]
        if before:
            subject = before[0][0]
            entry.pinned = entry.pinned and before[0][1].pinned
        entries[entry.id] = subject, entry
        out.setdefault(subject, []).append(entry)
    return out


def _rejected(indexes: "Sequence[Index]") -> "list[str]":
    return [words for index in indexes for words in index.rejected()]


def _said(indexes: "Sequence[Index]") -> "dict[str, str]":
    """Return what sessions say of facts that nobody answered, in words, by the facts' ids."""
    every = [facts for index in indexes for facts in index.statements().items()]
    return {id: said_to_be(some[-1]) for id, some in every}


def _mark(by: "dict[str, list[BriefingEntry]]", said: "dict[str, str]") -> None:
    for entries in by.values():
        for entry in entries:
            entry.said = said.get(entry.id, "")


class _Query:
    """What `gather` asks of each index; `counts` are of facts beyond the first `most`."""

    def __init__(
        self,
        subjects: "Sequence[str]",
        readable: "Row",
        since: str,
        session: str,
        own: "frozenset[str]",
        now: str,
        most: int,
        totals: bool,
        read_last: "Sequence[str]",
    ) -> None:
        self._read_last = read_last
        self.counts: dict[str, int] = {}
        self._subjects = subjects
        self._since = since
        self._session = session
        self._own = own
        self._most = most
        self._totals = totals
        self._readable: Row = {**readable, "fields": FIELDS}
        self._valid: Row = {**readable, "statuses": LIVE, "valid_at": now}
        self._live: Row = {**self._valid, "fields": FIELDS}

    def facts(self, index: "Index") -> "list[Row]":
        """Return pinned memories, those of each subject, what was read last, and the DNA."""
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
        if self._read_last:
            rows += index.rows(
                kinds=("memory",), ids=self._read_last, limit=self._most, **self._live
            )
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
        if SESSIONS not in self._subjects:
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
        """Return the first rows in an order, and count the others, up to `COUNTED`."""
        rows = index.rows(order=order, limit=self._most, **filters, **self._live)
        if self._totals and len(rows) == self._most:
            most = COUNTED + self._most
            others = index.number(most=most, **filters, **self._valid) - self._most
            self.counts[subject] = self.counts.get(subject, 0) + others
        return rows


def _once(entries: "Iterable[tuple[str, BriefingEntry]]") -> "dict[str, list[BriefingEntry]]":
    """Return entries by subject, ranked; what is said twice is told once, where it was said first.

    A task stays one, whatever else says so.
    """
    by: dict[str, list[BriefingEntry]] = {}
    seen: dict[tuple[bool, str], BriefingEntry] = {}
    # this user's own words first: others add nothing to them
    for subject, entry in sorted(entries, key=lambda pair: bool(pair[1].by)):
        key = (
            (subject == TASKS, plain(entry.text) or entry.text)
            if subject != SESSIONS
            else (False, entry.id)
        )
        old = seen.get(key)
        if old is None:
            seen[key] = entry
            by.setdefault(subject, []).append(entry)
        elif old.by or not entry.by:
            old.pinned = old.pinned or entry.pinned
            old.critical = old.critical or entry.critical
            old.at = max(old.at, entry.at)
            old.detail = old.detail or entry.detail
    for some in by.values():
        some.sort(key=lambda entry: entry.rank, reverse=True)
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
        by=author_if_foreign(row, own),
        credits=credit_marks(row, own),
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
