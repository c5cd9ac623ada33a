"""Facts that contradict each other.

Facts are compared that share words and that some reader sees together. What a person settled is
left out as long as neither fact's words changed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from gitmem.errors import UnknownId
from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.kinds import FACTS, LIVE, TYPES
from gitmem.records.promotion import is_said_by_user
from gitmem.records.record import Record
from gitmem.records.trust import is_confirmed, pair_digest
from gitmem.services.facts.stores import UNREAD
from gitmem.services.lifecycle.contradiction import MOST, compare
from gitmem.services.lifecycle.difference import Contradiction
from gitmem.services.lifecycle.findings import Finding
from gitmem.state.contradictions import ContradictingPair

Row = dict[str, Any]
Find = Callable[[str], Record]  # the record of an id

CANDIDATES = 12  # facts that one is compared with
SUBJECT = 3  # words of a title that may say no more than what a fact is about
FIELDS = ("store", "id", "kind", "type", "agent", "title", "unconfirmed", "created", "updated")
STATEMENTS = tuple(kind for kind in TYPES if kind != "task")  # a task states nothing
_SIDES: Mapping[str, str] = {
    "negation": "one denies what the other says",
    "antonym": "the opposite",
    "replacement": "says that it was replaced",
}


def contradictions(
    indexes: Indexes, find: Find, at: str, ids: Collection[str] | None = None
) -> list[Finding]:
    """Return the contradictions among live facts at a time, and with `ids` those of these facts.

    `find` reads the record of an id. The cost grows with the number of facts that are asked about.
    """
    asked = _live_rows(indexes, at, ids)
    seen: set[frozenset[str]] = set()
    out = []
    for row in asked:
        text = _text(indexes, row)
        for other in _candidates(indexes, row, text, at):
            pair = frozenset((row["id"], other["id"]))
            if pair in seen or not _seen_together(row, other):
                continue
            seen.add(pair)
            difference = compare(text, _text(indexes, other))
            if difference is None or _is_successor(indexes, row["id"], other["id"]):
                continue
            finding = _finding(find, (row, other), difference, at)
            out += [finding] if finding else []
    return sorted(out, key=lambda finding: finding.ids, reverse=True)


def described(
    indexes: Indexes, find: Find, at: str, pairs: Sequence[ContradictingPair]
) -> list[Finding]:
    """Return pairs that were found before as findings, with what speaks against the older fact."""
    ids = {id for pair in pairs for id in pair.ids}
    rows = {row["id"]: row for row in (_live_rows(indexes, at, ids) if ids else ())}
    out = []
    for pair in pairs:
        if not rows.keys() >= set(pair.ids):
            continue
        first, second = (rows[id] for id in pair.ids)
        difference = compare(_text(indexes, first), _text(indexes, second))
        finding = _finding(find, (first, second), difference, at) if difference else None
        out += [finding._replace(sure=pair.sure)] if finding else []
    return out


def _live_rows(indexes: Indexes, at: str, ids: Collection[str] | None) -> list[Row]:
    return joined.rows(
        indexes,
        **_filters(at),
        ids=None if ids is None else tuple(ids),
        fields=FIELDS,
    )


def _filters(at: str) -> dict[str, Any]:
    return {
        "kinds": tuple(sorted(FACTS)),
        "statuses": LIVE,
        "types": ("", *STATEMENTS),
        "resolved": False,
        "valid_at": at,
    }


def _candidates(indexes: Indexes, row: Row, text: str, at: str) -> Iterator[Row]:
    """Yield the facts that share the most words with one; a title says what a fact is about."""
    is_title = text == row["title"]
    own = str(row["agent"])
    seen_with = {} if own == "global" else {"agents": (own, "global")}
    hits = joined.search(
        indexes, text, CANDIDATES + 1, snippets=False, titles=is_title, **seen_with, **_filters(at)
    )
    yield from (hit for hit in hits if hit["id"] != row["id"])


def _text(indexes: Indexes, row: Row) -> str:
    """Return what a fact says in short: its title, and the text below a mere subject."""
    title = str(row["title"])
    if len(title.split()) > SUBJECT:
        return title
    body = " ".join(_body(indexes, row).strip().partition("\n\n")[0].split())
    return f"{title}: {body}"[:MOST] if body else title


def _body(indexes: Indexes, row: Row) -> str:
    for prefix, index in indexes:
        if (prefix == "user") == (row["store"] == "user"):
            return index.body(row["n"])
    return ""


def _seen_together(row: Row, other: Row) -> bool:
    """Return whether some agent reads both facts: each reads its own namespace and `global`."""
    agents = {str(row["agent"]), str(other["agent"])}
    return UNREAD not in agents and (len(agents) == 1 or "global" in agents)


def _is_successor(indexes: Indexes, first: str, second: str) -> bool:
    """Return whether one of two facts takes, or would take, the other's place."""
    edges = [edge for _, index in indexes for edge in index.edges_of(first)]
    return any(
        rel == "supersedes" and {source, target} == {first, second} for source, rel, target in edges
    )


def _finding(
    find: Find, rows: tuple[Row, Row], contradiction: Contradiction, at: str
) -> Finding | None:
    """Return what a person has to decide; None if they did."""
    try:
        first, second = (find(row["id"]) for row in rows)
    except UnknownId:  # it went away meanwhile
        return None
    doubted = {row["id"] for row in rows if is_doubted(row)}
    answers = [record for record in (first, second) if record.id not in doubted]
    if any(settles(record, first, second) for record in answers):
        return None
    older, newer = sorted((first, second), key=lambda record: _said_at(record, at))
    spans = (contradiction.first, contradiction.second)
    evidence = _evidence(contradiction.what, *(spans if newer is first else reversed(spans)))
    choice = proposed_choice(newer, older, doubted)
    return Finding((newer.id, older.id), contradiction.what, evidence, choice, contradiction.sure)


def is_doubted(row: Mapping[str, Any]) -> bool:
    """Return whether others may have written what a fact says of itself, its sources and answers.

    Nobody vouches for it in the store that others write to.
    """
    return bool(row["unconfirmed"]) and row["store"] == "shared"


def _evidence(what: str, newer: str, older: str) -> str:
    """Return what speaks against the older fact, as a line."""
    return _SIDES.get(what) or f"{newer}, not {older}"


def _said_at(record: Record, now: str) -> tuple[str, str, str]:
    """Return when a fact was said last, which is not when it was pinned or linked.

    A time in the future counts as now.
    """
    times = [record.created, *(str(source.get("at") or "") for source in record.get("sources"))]
    if is_confirmed(record):
        times.append(str(record.fields["confirmed"].get("at") or ""))
    return min(max(times), now), record.updated, record.id


def proposed_choice(newer: Record, older: Record, doubted: Collection[str] = ()) -> str:
    """Return whose words are proposed to hold: the user's newer ones, what is confirmed, others.

    `doubted` are the ids of facts whose sources others may have written.
    """
    if newer.id not in doubted and is_said_by_user(newer.get("sources")):
        return "newer"
    return "older" if _is_vouched(older, doubted) and not _is_vouched(newer, doubted) else "newer"


def _is_vouched(record: Record, doubted: Collection[str]) -> bool:
    if record.id in doubted:
        return False
    return not record.unconfirmed or is_said_by_user(record.get("sources"))


def is_settled(first: Record, second: Record) -> bool:
    """Return whether a person said that both facts hold, with the words that they have now."""
    return settles(first, first, second) or settles(second, first, second)


def settles(record: Record, first: Record, second: Record) -> bool:
    """Return whether one of two facts has the answer that both hold."""
    other = second if record is first else first
    answers: Sequence[Mapping[str, Any]] = record.get("settled")
    return any(
        answer.get("id") == other.id and answer.get("words") == pair_digest(record, other)
        for answer in answers
    )
