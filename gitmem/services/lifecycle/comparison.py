"""Comparison of facts in the background: what contradicts each other, for whoever tells them.

The cost grows with the facts that changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gitmem.errors import InvalidRecord, MissingObject, UnknownId
from gitmem.git.objects import diff
from gitmem.index.joined import Indexes
from gitmem.index.reader import Index
from gitmem.records.kinds import FACTS
from gitmem.records.record import kind_of
from gitmem.records.trust import pair_digest
from gitmem.services.lifecycle.fact_check import Find, Row, contradictions
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.pairs import text_mark
from gitmem.state import contradictions as noted
from gitmem.state.contradictions import ContradictingPair
from gitmem.state.database import State
from gitmem.store.layout import id_of_path
from gitmem.store.store import Store

Judge = Callable[[list[Finding]], list[Finding]]
MOST = 50  # facts that one run compares: a second and a half in a store of 10,000


def note_changed(state: State, stores: Mapping[str, Store]) -> None:
    """Have the facts compared that changed in stores since the last time."""
    before = noted.compared_tips(state)
    tips = {name: store.tip() or "" for name, store in stores.items()}
    moved = {name: tip for name, tip in tips.items() if tip != before.get(name, "")}
    ids = {id for name in moved for id in changed_facts(stores[name], before.get(name, ""))}
    if moved:
        noted.note_changed(state, ids, moved)


def changed_facts(store: Store, old: str) -> Iterator[str]:
    """Yield the ids of the facts that differ from a commit; of all if it is gone."""
    try:
        before = store.tree(old) if old else None
        paths = [change.path for change in diff(store.objects, before, store.tree())]
    except MissingObject:
        paths = [path for path, _ in store.entries()]
    for path in paths:
        id = id_of_path(path)
        if id is not None and kind_of(id) in FACTS:
            yield id


def formerly_superseded(store: Store, old: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield the ids of the facts that some facts superseded at a commit: they may hold again."""
    for id in ids:
        try:
            record = store.get(id, old).record
        except (UnknownId, InvalidRecord, MissingObject):
            continue
        yield from record.get("supersedes") or ()


def compare(
    state: State,
    indexes: Indexes,
    find: Find,
    at: str,
    *,
    ids: Sequence[str] | None = None,
    judge: Judge = list,
) -> int:
    """Compare facts that wait for it, the newest first; return how many pairs were found.

    `ids` are facts that are compared whether they wait or not. `judge` looks again at findings of
    which the comparison is not sure.
    """
    change = noted.last_change(state)
    chosen = noted.uncompared(state, MOST) if ids is None else list(ids)
    if not chosen:
        return 0
    findings = judge(contradictions(indexes, find, at, chosen))
    places = _places(indexes, {id for finding in findings for id in finding.ids})
    pairs = [_pair(finding, find, places) for finding in findings]
    noted.replace(state, chosen, pairs, change)
    return len(pairs)


def _places(indexes: Indexes, ids: set[str]) -> dict[str, tuple[Index, Row]]:
    places: dict[str, tuple[Index, Row]] = {}
    for _, index in indexes:
        for row in index.rows(ids=tuple(ids)) if ids else ():
            places.setdefault(row["id"], (index, row))
    return places


def _pair(
    finding: Finding, find: Find, places: Mapping[str, tuple[Index, Row]]
) -> ContradictingPair:
    newer, older = (find(id) for id in finding.ids)
    return ContradictingPair(
        newer.id,
        older.id,
        finding.choice,
        finding.sure,
        text_mark(*places[newer.id]),
        text_mark(*places[older.id]),
        pair_digest(newer, older),
        pair_digest(older, newer),
    )
