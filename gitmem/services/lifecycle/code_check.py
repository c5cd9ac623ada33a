"""Facts that the code of a work tree refutes.

A fact is compared with what it says itself: `verify`, `expires`, anchors. Without a `verify`, it is
compared with what it names: a name counts that the code had when the fact was said, or later, and
does not have now. What the code never had is nobody's mistake.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gitmem.clock import seconds
from gitmem.errors import UnknownId
from gitmem.git.process import is_object_name
from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.field_types import is_stamp
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record, has_expired
from gitmem.records.trust import is_confirmed
from gitmem.services.lifecycle.code_view import CodeView
from gitmem.services.lifecycle.evaluation import FAILS, evaluate
from gitmem.services.lifecycle.fact_check import is_doubted
from gitmem.services.lifecycle.findings import Finding, is_verified
from gitmem.services.lifecycle.gone_names import GoneNames, Said
from gitmem.services.lifecycle.lost_anchors import AnchorSearches, lost_anchors
from gitmem.services.lifecycle.mentions import MentionReader, prose
from gitmem.services.lifecycle.refuted_names import NameClaim, refuted
from gitmem.services.lifecycle.verify_spec import format_check
from gitmem.state.out_of_date import NAMES, VERIFY

Row = dict[str, Any]
Find = Callable[[str, str], Record]  # the record of an id, in one store or, with '', in any
FIELDS = (
    *("id", "store", "unconfirmed", "kind", "type", "title", "workaround", "anchors", "created"),
    *("expires", "verify"),
)
EARLIEST = "0001-01-01T00:00:00Z"  # when nothing had expired
UNMARKED = frozenset({"expires", "anchor"})  # findings that views show otherwise
CHECKS = 20  # of a fact that are looked at
LINES = re.compile(r":\d+\b")


class CheckedCode(NamedTuple):
    """What a check reads: the code as it is, its history, and what looks for code that moved.

    There is no history without a commit, and no search without a work tree.
    """

    code: CodeView
    gone: GoneNames | None
    searches: AnchorSearches | None


def refuted_facts(
    indexes: Indexes,
    find: Find,
    checked: CheckedCode,
    at: str,
    ids: Collection[str] | None = None,
) -> list[Finding]:
    """Return what speaks against live facts at a time, with `ids` against these; newest first.

    The user's own facts hold in all repositories, and no code refutes them. Of a fact that has
    expired, that alone is said.

    What a person verified is left out as long as the fact's words and the code stay.
    """
    indexes = without_users(indexes)
    rows = _live_rows(indexes, at, ids)
    lost: Mapping[str, list[Finding]] = {}
    if checked.searches:
        lost = lost_anchors(rows, checked.code, checked.gone, checked.searches)
    named = _refuted_names(indexes, find, checked, rows)
    every = [(row, [_expired(row)]) for row in _expired_rows(indexes, at, ids)]
    for row in rows:
        id = row["id"]
        every.append(
            (row, [*failed_checks(row, checked.code), *lost.get(id, ()), *named.get(id, ())])
        )
    return _open(find, every)


def failing_checks(
    indexes: Indexes,
    find: Find,
    view: Callable[[], CodeView],
    at: str,
    ids: Collection[str] | None = None,
) -> list[Finding]:
    """Return what `refuted_facts` finds by facts' own checks alone.

    `view` gives the code. It is not called where no fact has a check.
    """
    rows = _live_rows(without_users(indexes), at, ids, verifiable=True)
    if not rows:
        return []
    code = view()
    return _open(find, [(row, list(failed_checks(row, code))) for row in rows])


def reasons(findings: Sequence[Finding]) -> dict[str, dict[str, str]]:
    """Return why facts are marked as out of date: {VERIFY or NAMES: {id: reason}}.

    An anchor that is lost, and an end that has come, are shown otherwise, and mark no fact.
    """
    lines: dict[str, dict[str, list[str]]] = {VERIFY: {}, NAMES: {}}
    for finding in findings:
        if finding.what not in UNMARKED:
            source = VERIFY if finding.what == "verify" else NAMES
            lines[source].setdefault(finding.ids[0], []).append(finding.evidence)
    return {
        source: {id: "; ".join(texts) for id, texts in by_id.items()}
        for source, by_id in lines.items()
    }


def without_users(indexes: Indexes) -> Indexes:
    """Return indexes without that of the user's own facts, which no code refutes."""
    return [(prefix, index) for prefix, index in indexes if prefix != "user"]


def _live_rows(
    indexes: Indexes, at: str, ids: Collection[str] | None, *, verifiable: bool = False
) -> list[Row]:
    """Return the facts that hold."""
    return joined.rows(indexes, valid_at=at, verifiable=verifiable, **_filters(ids))


def expired_facts(indexes: Indexes, at: str) -> list[str]:
    """Return the ids of the facts that held until they expired."""
    return [row["id"] for row in _expired_rows(without_users(indexes), at, None)]


def _expired_rows(indexes: Indexes, at: str, ids: Collection[str] | None) -> list[Row]:
    """Return the facts that held until they expired."""
    rows = joined.rows(indexes, valid_at=EARLIEST, **_filters(ids))
    return [row for row in rows if has_expired(str(row["expires"]), at)]


def _filters(ids: Collection[str] | None) -> dict[str, Any]:
    return {
        "kinds": tuple(sorted(FACTS)),
        "statuses": LIVE,
        "resolved": False,
        "ids": None if ids is None else tuple(ids),
        "fields": FIELDS,
    }


def _open(find: Find, every: Sequence[tuple[Row, Sequence[Finding]]]) -> list[Finding]:
    """Return the findings that no person answered, of facts and theirs; the newest fact first."""
    out: list[Finding] = []
    for row, findings in every:
        out += findings if is_doubted(row) else _unanswered(find, row, findings)
    return sorted(out, key=lambda finding: finding.ids, reverse=True)


def _unanswered(find: Find, row: Row, findings: Sequence[Finding]) -> Iterator[Finding]:
    if not findings:
        return
    try:
        record = find(row["id"], row["store"])
    except UnknownId:  # it went away meanwhile
        return
    yield from (finding for finding in findings if not is_verified(record, finding))


# -- what a fact says of itself


def _expired(row: Row) -> Finding:
    expires = str(row["expires"])
    return Finding((row["id"],), "expires", f"it held until {expires}", "drop", code=expires)


def failed_checks(row: Row, code: CodeView) -> Iterator[Finding]:
    """Yield what fails of a fact's `verify`, as one finding; what cannot be checked does not."""
    reasons, keys = list[str](), list[str]()
    for check in row["verify"][:CHECKS]:
        outcome = evaluate(check, code)
        if outcome.state == FAILS:
            reasons.append(outcome.reason)
            # a line that moved is no other code
            keys.append(f"{format_check(check)} {LINES.sub('', outcome.reason)}")
    if reasons:
        yield Finding((row["id"],), "verify", "; ".join(reasons), "edit", code="; ".join(keys))


# -- what a fact names


def _refuted_names(
    indexes: Indexes, find: Find, checked: CheckedCode, rows: Sequence[Row]
) -> Mapping[str, list[Finding]]:
    gone = checked.gone
    if gone is None:
        return {}
    reader = MentionReader(
        [dependency.name for dependency in gone.dependencies.values()],
        [versions[0].name for versions in gone.versions.values()],
        [name for manager, name in gone.scripts if manager == "python"],
    )
    bodies = _bodies(indexes, rows)
    claims = []
    for row in rows:
        if row["type"] == "task" or row["verify"]:  # it says what is to be, or how it is checked
            continue
        text = prose(str(row["title"]), bodies[row["id"]], str(row["workaround"] or ""))
        claims += [NameClaim(row["id"], mention) for mention in reader.read(text)]
    return refuted(claims, checked.code, gone, partial(_said, find))


def _bodies(indexes: Indexes, rows: Sequence[Row]) -> dict[str, str]:
    return {row["id"]: index.body(row["n"]) for _, index in indexes for row in rows}


def _said(find: Find, id: str) -> Said | None:
    """Return when a fact was said last; None for one that went away."""
    try:
        record = find(id, "")
    except UnknownId:
        return None
    moments = [(record.created, ""), *map(_moment, record.get("sources"))]
    if is_confirmed(record):
        moments.append(_moment(record.fields["confirmed"]))
    at, commit = max((moment for moment in moments if is_stamp(moment[0])), default=("", ""))
    if not at:
        return None
    commits = [_moment(anchor)[1] for anchor in record.anchors]
    if not commit and at == record.created:
        commit = next(filter(None, commits), "")  # of the code that it was given with
    return Said(commit, seconds(at))


def _moment(source: Mapping[str, Any]) -> tuple[str, str]:
    """Return when and at which commit a fact was seen; '' for what is not given, or is no id."""
    commit = str(source.get("commit") or "")
    return str(source.get("at") or ""), commit if is_object_name(commit) else ""
