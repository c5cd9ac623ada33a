"""Compares facts with the code that is checked out, for the command and in the background.

What fails is kept in `state.db`, so that hooks and lists can say so without looking at the code.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from gitmem.app import REFS, App
from gitmem.errors import GitmemError
from gitmem.git.past_code import PastCode
from gitmem.index import joined
from gitmem.records.record import Record
from gitmem.repo.refs import head
from gitmem.services.lifecycle import code_check
from gitmem.services.lifecycle.code_check import CheckedCode
from gitmem.services.lifecycle.code_view import (
    CodeView,
    commit_view,
    work_tree_view,
)
from gitmem.services.lifecycle.comparison import changed_facts, formerly_superseded
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.gone_names import DOCUMENTS, GoneNames
from gitmem.services.lifecycle.lost_anchors import UNSEARCHED, AnchorSearches
from gitmem.services.lifecycle.source_tree import WorkTreeSource
from gitmem.services.lifecycle.suggestion import suggested_check
from gitmem.services.lifecycle.verify_spec import format_check
from gitmem.state import anchor_searches, code_progress, out_of_date
from gitmem.store.store import Store
from gitmem.text.plural import counted
from gitmem.text.test_files import is_test

SEARCH = 10.0  # seconds that anchors whose code moved are looked for
SOURCES = out_of_date.VERIFY, out_of_date.NAMES  # what refutes a fact
REASON = 160  # characters of a reason that are kept


def code_view(app: App, *, quick: bool = False) -> CodeView:
    """Return the code as it is in the work tree, else in HEAD.

    Raises UserError where there is neither. With `quick`, code that was never read and takes
    minutes to read has no definitions.
    """
    if not app.root:
        return commit_view("HEAD", app.code_map)
    listed, skipped = PastCode(app.code_history).present()
    tree = app.worktree(app.root)
    source = WorkTreeSource(
        app.root,
        listed,
        skipped,
        app.untold(app.root),
        tree.ignored_names,
        tree.submodules,
    )
    return work_tree_view(source, app.code_map, quick=quick)


def check(
    app: App, ids: Sequence[str] | None = None, *, quick: bool = False, keeps: bool = True
) -> list[Finding]:
    """Return what the code refutes of all facts, or of some, and keep it unless told otherwise.

    `quick` is as in `code_view`, and looks for no code that moved: what is kept says nothing of it.
    """
    commit = head(app.location)
    if not app.root and not commit:
        return []  # a store without code
    code = code_view(app, quick=quick)
    past = PastCode(app.code_history)
    gone = GoneNames(past, app.code_map, commit, code.text) if commit else None
    with _searches(app, quick=quick, retries=ids is not None) as searches:
        findings = code_check.refuted_facts(
            app.indexes(),
            partial(_record, app),
            CheckedCode(code, gone, searches),
            app.clock.stamp(),
            ids,
        )
    if keeps:
        _keep_marks(app, findings, SOURCES, ids)
    return findings


def keep(app: App, ids: Sequence[str] | None = None) -> None:
    """Look which facts, of all or of some, fail their own checks now, and keep that."""

    def view() -> CodeView:
        app.fresh_index.close()  # code may take long to read, and a purge waits for who has it open
        return code_view(app, quick=True)

    findings = code_check.failing_checks(
        app.indexes(), partial(_record, app), view, app.clock.stamp(), ids
    )
    _keep_marks(app, findings, (out_of_date.VERIFY,), ids)


def _record(app: App, id: str, scope: str) -> Record:
    return app.get(id, (scope,) if scope else ())[1].record


def _keep_marks(
    app: App, findings: Sequence[Finding], sources: Sequence[str], ids: Sequence[str] | None
) -> None:
    """Keep which facts are marked, of all or of some, by what refutes them; see `SOURCES`."""
    reasons = code_check.reasons(findings)
    for source in sources:
        marked = reasons[source]
        rows = _files(app, tuple(marked))
        after = [(id, oid, _cut(marked[id])) for id, oid in rows.items()]
        before = out_of_date.reasons(app.state, app.stored_root, source)
        if ids is not None:
            before = {id: note for id, note in before.items() if id in ids}
        if before != {id: (oid, reason) for id, oid, reason in after}:
            out_of_date.replace(app.state, app.stored_root, source, after, ids)


def _files(app: App, ids: Sequence[str]) -> dict[str, str]:
    """Return the oids of facts' files, by id."""
    indexes = code_check.without_users(app.indexes())
    rows = joined.rows(indexes, ids=ids, fields=("id", "oid")) if ids else []
    return {row["id"]: row["oid"] for row in rows}


@contextmanager
def _searches(app: App, *, quick: bool, retries: bool) -> Iterator[AnchorSearches | None]:
    """Yield what looks for code that moved, with what is known of it, and keep what it learns.

    None where nothing is to be looked for.
    """
    if quick or not app.root:
        yield None
        return
    tree = app.worktree(app.root)
    stamp = tree.stamp()
    until = time.monotonic() + SEARCH
    searches = AnchorSearches(
        app.follower,
        lambda: time.monotonic() < until,
        anchor_searches.outcomes(app.state, app.stored_root, stamp) if stamp else {},
        retries=retries,
    )
    yield searches
    if searches.made and stamp and tree.stamp() == stamp:  # else part of it is of other code
        anchor_searches.keep(app.state, app.stored_root, stamp, searches.made)


def unsearched(app: App) -> int:
    """Return of how many anchors the last check had no time to look for the code."""
    outcomes = anchor_searches.outcomes(app.state, app.stored_root, app.worktree(app.root).stamp())
    return sum(outcome == UNSEARCHED for outcome in outcomes.values())


def _cut(reason: str) -> str:
    return reason if len(reason) <= REASON else reason[: REASON - 1] + "…"


def suggestion(app: App, id: str) -> str:
    """Return a check that could be given to a fact, as `--verify` takes it; '' for none."""
    past = PastCode(app.code_history)

    def file_of(word: str) -> str:
        hits = past.hits([word], without=DOCUMENTS)
        return next((hit.path for hit in hits if not is_test(hit.path)), "")

    try:
        record = app.get(id)[1].record
        check = suggested_check(record, code_view(app, quick=True), file_of) if app.root else None
    except GitmemError:
        return ""  # without a commit there is no code yet
    return format_check(check) if check else ""


def _noted(app: App) -> Collection[str]:
    return out_of_date.reasons(app.state, app.stored_root, out_of_date.NAMES)


def check_changed(app: App, *, quick: bool = False, keeps: bool = True) -> list[Finding]:
    """Return what `check` finds of all facts.

    Where the code is as it was the last time, only facts that were refuted then, or changed since,
    are looked at.
    """
    stores = {scope: app.store(scope) for scope, _ in REFS}
    before = code_progress.checked(app.state)
    code = _code_state(app)
    looks = [f"{code} whole", f"{code} quick"]  # what looks at all covers what is quick
    is_same = bool(code) and before.get("code") in (looks if quick else looks[:1])
    tips = {scope: store.tip() or "" for scope, store in stores.items()}
    ids = _ids_to_check(app, stores, before) if is_same else None
    findings = [] if ids == () else check(app, ids, quick=quick, keeps=keeps)
    if keeps:
        refuted = {finding.ids[0] for finding in findings}
        if quick and is_same:  # it looked for no code that moved
            refuted.update(before["refuted"])
        look = before["code"] if is_same else looks[int(quick)] * bool(code)
        # last: what is stopped is done again
        note = {"code": look, **tips, "refuted": sorted(refuted)}
        code_progress.note_checked(app.state, note)
    return findings


def _ids_to_check(
    app: App, stores: Mapping[str, Store], before: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the facts to look at where the code is as it was at a check."""
    expired = code_check.expired_facts(app.indexes(), app.clock.stamp())
    return tuple({*before["refuted"], *_noted(app), *_changed(stores, before), *expired})


def _code_state(app: App) -> str:
    """Return what tells the code in a work tree from any other; '' where git does not tell."""
    commit = head(app.location)
    if not app.root:
        return f"{app.stored_root} {commit}"
    stamp = app.worktree(app.root).stamp()
    return f"{app.stored_root} {commit} {stamp}" if stamp else ""


def _changed(stores: Mapping[str, Store], before: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the facts that changed since a check, and of those that may hold again."""
    for scope, store in stores.items():
        old = str(before.get(scope, ""))
        if (store.tip() or "") != old:
            ids = set(changed_facts(store, old))
            yield from ids
            yield from formerly_superseded(store, old, ids) if old else ()


def _check_some(app: App, ids: Sequence[str] | None) -> None:
    if ids is None or ids:
        check(app, ids, quick=True)


def keep_up(app: App, *, whole: bool = False) -> list[str]:
    """Keep what the code refutes, in the background; what has no code is nothing to look at.

    Those with a check are looked at, those refuted before, and with `whole` also what the others
    name: of all where another commit is checked out, else of those that changed.
    """
    try:
        keep(app)
        app.fresh_index.close()
        if whole:
            check_changed(app, quick=True)
        else:
            _check_some(app, tuple(_noted(app)))
    except GitmemError:
        return []
    failed = len(app.out_of_date())
    return [f"{counted(failed, 'fact')} may be out of date"] if failed else []
