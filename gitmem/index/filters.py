"""The fields of a record in the index, and filters as the WHERE part of a query.

Standard library only: the hot path imports this.
"""

from gitmem.base.fast import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    # facts that age may have put away: level, decay rate, importance, made before when
    Aged = tuple[int, float, float, str]

# ends the reason of a hit whose neighbours alone have the words
BESIDE = "linked or neighbouring records"
FIELDS = (
    "store",
    "id",
    "kind",
    "type",
    "status",
    "agent",
    "session",
    "author",
    "origin",
    "title",
    "created",
    "updated",
    "rev",
    "importance",
    "severity",
    "category",
    "resolved",
    "occurrences",
    "last_seen",
    "workaround",
    "pattern",
    "conflict",
    "tags",
    "anchors",
    "triggers",
    "decay_rate",
    "project",
    "unconfirmed",
    "fix",
    "source",
    "done",
    "expires",
    "level",
    "verify",
    "oid",
    "path",
    "committer",
    "vouchers",
)
WHAT = "CASE kind WHEN 'memory' THEN type ELSE kind END"  # what a record is, as an index has it

# a record in both stores counts once: of a session the private one, which is the whole record, of a
# fact that nobody confirmed in the private store the shared one; a fact that nobody confirmed does
# not count where its words were rejected
ONCE = "n NOT IN (SELECT n FROM hidden)"
# facts that age may put away (`gitmem.records.score`), and those that it spares: in full, as the
# indexes of the table have these conditions
FLEETING = "status = 'active' AND type IN ('bug', 'context', 'fact', 'insight')"
LASTING = "(status = 'pinned' OR (status = 'active' AND level = 2))"
# a day holds until its end
UNTIL = "CASE length(expires) WHEN 10 THEN expires || 'T24:00:00Z' ELSE expires END"


def valid(at: str, agents: "Sequence[str]") -> "tuple[list[str], list[Any]]":
    """Return the condition that a record holds at a time, and its values; none without a time."""
    if not at:
        return [], []
    return [f"done = '' AND (expires = '' OR {UNTIL} > ?) AND {_not_replaced(agents)}"], [
        at,
        *agents,
    ]


def chosen(ids: "Sequence[str] | None", without: "Sequence[str]") -> "tuple[list[str], list[Any]]":
    """Return the conditions that a record has one of some ids (None: any), and none of others.

    Ids are one value each: there may be more of them than a statement has room for.
    """
    where, values = list[str](), list["Any"]()
    if ids is not None:
        where.append("id IN (SELECT value FROM json_each(?))")
        values.append(dumps(list(ids)))
    if without:
        where.append("id NOT IN (SELECT value FROM json_each(?))")
        values.append(dumps(list(without)))
    return where, values


def is_aged(kinds: "Sequence[Aged]") -> "tuple[str, list[Any]]":
    """Return the condition that age may have put a fact away, and its values."""
    kind = "(level = ? AND decay_rate = ? AND importance = ? AND created < ?)"
    return f"({FLEETING} AND ({' OR '.join([kind] * len(kinds))}))", [v for k in kinds for v in k]


def not_aged(kinds: "Sequence[Aged]", spared: "Sequence[str]") -> "tuple[list[str], list[Any]]":
    """Return the condition that age did not put a fact away, but for those that are spared."""
    if not kinds:
        return [], []
    test, values = is_aged(kinds)
    return [f"(NOT {test} OR id IN (SELECT value FROM json_each(?)))"], [*values, dumps(spared)]


def is_resolved(resolved: bool | None) -> "tuple[list[str], list[Any]]":
    """Return the condition that a gotcha has, or has not, been resolved; none for None."""
    return ([], []) if resolved is None else (["resolved = ?"], [int(resolved)])


def _between(since: str, until: str) -> "tuple[list[str], list[Any]]":
    """Return the conditions that a record was made between two times; each may be empty."""
    bounds = [(test, at) for test, at in (("created >= ?", since), ("created <= ?", until)) if at]
    return [test for test, _ in bounds], [at for _, at in bounds]


def _committed_by(own: "Collection[str]") -> "tuple[list[str], list[Any]]":
    """Return the condition that one of some addresses committed a shared record, and its values."""
    if not own:
        return [], []
    named = " OR ".join("instr(lower(committer), ?)" for _ in own)
    condition = f"(store <> 'shared' OR committer = '' OR {named})"
    return [condition], [f"<{address}>" for address in own]


def _not_replaced(agents: "Sequence[str]") -> str:
    """Return the condition that no live successor which the reader sees takes a record's place.

    One that nobody confirmed takes the place of its like alone. Of two that supersede each other
    the newer holds.
    """
    sees = f" AND s.agent IN ({marks(agents)})" if agents else ""
    return (
        "NOT EXISTS (SELECT 1 FROM edges e JOIN records s ON s.n = e.n WHERE e.dst = records.id "
        "AND e.rel = 'supersedes' AND s.status IN ('active', 'pinned') AND "
        f"s.unconfirmed <= records.unconfirmed AND s.id <> records.id{sees} AND NOT "
        "((records.created, records.id) > (s.created, s.id) AND EXISTS (SELECT 1 FROM edges b "
        "WHERE b.n = records.n AND b.rel = 'supersedes' AND b.dst = s.id)))"
    )


def marks(values: "Sequence[Any]") -> str:
    """Return as many question marks as there are values."""
    return ",".join("?" * len(values))


OF_SESSIONS = "(kind IN ('session', 'snapshot') AND origin = 'captured')"


def filtered(
    *,
    kinds: "Sequence[str]" = (),
    stores: "Sequence[str]" = (),
    statuses: "Sequence[str]" = (),
    agents: "Sequence[str]" = (),
    types: "Sequence[str]" = (),
    origins: "Sequence[str]" = (),
    sessions: "Sequence[str]" = (),
    categories: "Sequence[str]" = (),
    severities: "Sequence[str]" = (),
    ids: "Sequence[str] | None" = None,
    without: "Sequence[str]" = (),
    tags: "Sequence[str]" = (),
    paths: "Sequence[str]" = (),
    numbers: "Sequence[int]" = (),
    resolved: bool | None = None,
    since: str = "",
    until: str = "",
    conflict: bool | None = None,
    unconfirmed: bool | None = None,
    globs: bool = False,
    triggered: bool = False,
    what: str = "",
    by_hand: bool = False,
    by_sessions: bool = False,
    pinned: bool = False,
    verifiable: bool = False,
    valid_at: str = "",
    own: "Collection[str]" = (),
    aged: "Sequence[Aged]" = (),
    spared: "Sequence[str]" = (),
) -> "tuple[str, list[Any]]":
    """Return the WHERE part of a query for records, and its values.

    `ids` asks for these ids (None: all), `without` leaves ids out, `numbers` asks for rows by their
    number, `globs` for those whose place may be a pattern, `triggered` for those that code may call
    for, `what` for a kind, or memories of a type: the newest few of them are found without a look
    at the others. `by_hand` leaves out what sessions leave, their records and snapshots,
    `by_sessions` asks for that. `pinned` finds the few that are, and rules. `valid_at` is a time
    (RFC 3339 UTC): what is done or had expired by then is left out, and what has a successor that
    counts as much. `verifiable` finds those with a check. `own` are folded e-mail addresses: what
    others alone committed to the shared store is left out. `aged` leaves out what is as old as it
    says, unless it is `spared`.
    """
    where, values = where_of(
        kinds=kinds,
        stores=stores,
        statuses=statuses,
        agents=agents,
        types=types,
        origins=origins,
        sessions=sessions,
        categories=categories,
        severities=severities,
    )
    for tag in tags:
        where.append("EXISTS (SELECT 1 FROM json_each(NULLIF(records.tags, '')) WHERE value = ?)")
        values.append(tag)
    for wanted, condition in (
        ((what,) if what else (), f"{WHAT} = ?"),
        (paths, f"n IN (SELECT n FROM places WHERE path IN ({marks(paths)}))"),
        (numbers, f"n IN ({marks(numbers)})"),
        (() if conflict is None else (int(conflict),), "conflict = ?"),
    ):
        if wanted:
            where.append(condition)
            values += wanted
    for is_asked, condition in (
        (globs, "n IN (SELECT n FROM globs)"),
        (triggered, "n IN (SELECT n FROM codes)"),
        (pinned, LASTING),
        (verifiable, "verify <> ''"),
        (by_sessions, OF_SESSIONS),
        (by_hand and not by_sessions, f"NOT {OF_SESSIONS}"),
        # in full: only so does SQLite see that an index has these alone
        (unconfirmed is True, "unconfirmed = 1"),
        (unconfirmed is False, "unconfirmed = 0"),
    ):
        if is_asked:
            where.append(condition)
    for holds, bound in (
        chosen(ids, without),
        is_resolved(resolved),
        not_aged(aged, spared),
        valid(valid_at, agents),
        _between(since, until),
        _committed_by(own),
    ):
        where += holds
        values += bound
    return (f" WHERE {' AND '.join(where)}" if where else ""), values


def where_of(**filters: "Sequence[str]") -> "tuple[list[str], list[Any]]":
    """Return the conditions, and their values, of filters that name what a field may be.

    One that names nothing lets all pass. A record in two stores passes once.
    """
    names = {
        "kinds": "kind",
        "stores": "store",
        "statuses": "status",
        "agents": "agent",
        "types": "type",
        "origins": "origin",
        "sessions": "session",
        "categories": "category",
        "severities": "severity",
    }
    where: list[str] = [ONCE]
    values: list[Any] = []
    for name, wanted in filters.items():
        if wanted:
            where.append(f"{names[name]} IN ({marks(wanted)})")
            values += list(wanted)
    return where, values


def is_only_beside(hit: "dict[str, Any]") -> bool:
    """Return whether a hit says nothing of the words itself; one without a reason does."""
    return all(why.endswith(BESIDE) for why in hit.get("reason", "?").split("; "))


def is_automatic(row: "Mapping[str, Any]") -> bool:
    """Return whether a record was saved by a hook alone, as the snapshot before a compaction."""
    return bool(row["kind"] == "snapshot" and row["origin"] == "captured")
