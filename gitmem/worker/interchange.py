"""Imports and exports of one repository: gives the services what they need of it."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from gitmem.app import App
from gitmem.base.regular_files import read_regular
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_messages import CommitMessages
from gitmem.git.line_authors import LineAuthors
from gitmem.git.process import Git
from gitmem.records.kinds import FACTS, LIVE
from gitmem.repo.location import inside
from gitmem.services.interchange import importing
from gitmem.services.interchange.context import ImportContext, StoredIn
from gitmem.services.interchange.exporting import ExportedFact, is_wanted
from gitmem.services.interchange.formats import items_of
from gitmem.services.interchange.importing import ImportOutcome, ImportPlan
from gitmem.services.interchange.item import ForeignItem, ForeignSource
from gitmem.services.interchange.readers import commit_messages, rule_files
from gitmem.services.memory_files import pull
from gitmem.store.layout import FILE_LIMIT
from gitmem.store.reader import Stored, load
from gitmem.store.rejected import marks, rejected_in
from gitmem.text.normal_words import normal_words
from gitmem.worker import memory_files

SIZE = 4 << 20  # bytes of a file whose authors are asked for
Progress = Callable[[int, int], None] | None


def plan_import(
    app: App, source: ForeignSource, scope: str | None, progress: Progress = None
) -> ImportPlan:
    """Return what an import would do. `scope` is the store that the user chose, if any."""
    if source.format == rule_files.NAME:
        return imported_rules(app, source, dry=True)
    return importing.plan(source, _storable_items(app, source), _context(app, scope), progress)


def _storable_items(app: App, source: ForeignSource) -> Iterator[ForeignItem]:
    """Yield what a store holds, without files of which nothing is stored."""
    is_untold = app.untold(source.root or None)
    is_commits = source.format == commit_messages.NAME
    for item in _trailers(app, source) if is_commits else items_of(source):
        if item.path and is_untold(item.path):
            source.leave_out(item.path, "nothing is stored about this file")
        else:
            yield item


def _trailers(app: App, source: ForeignSource) -> Iterator[ForeignItem]:
    """Yield what commits of this repository state; those of another one are left out."""
    if os.path.realpath(source.path) != source.root:
        source.leave_out(source.path, "only commits of this repository are read")
        return
    messages = CommitMessages(app.location, app.env)
    commits = messages.latest(commit_messages.MOST)
    yield from commit_messages.trailer_items(messages, commits, app.own_addresses)


def apply_import(
    app: App, source: ForeignSource, plan: ImportPlan, progress: Progress = None
) -> bool:
    """Write what an import does; say whether a part waits in the journal.

    An import counts as a look at what is new, so that old facts do not fade on arrival.
    """
    if source.format == rule_files.NAME:
        imported_rules(app, source, dry=False)
        return False
    waits = importing.apply(plan, app.writer(), app.store, progress)
    for scope in ("shared", "private"):
        new = [row.id for row in plan.writes if row.scope == scope and row.before is None]
        app.count_reads(scope, new)
    return waits


# what the bridge of memory files calls it -> what an import does
_RULES = {
    pull.NEW: importing.NEW,
    pull.RESTORED: importing.NEW,
    pull.PROPOSED: importing.NEW,
    pull.CHANGED: importing.UPDATED,
    pull.MOVED: importing.UPDATED,
    pull.ARCHIVED: importing.UPDATED,
    pull.CONFLICT: importing.UPDATED,
    pull.SAME: importing.UNCHANGED,
    pull.DUPLICATE: importing.ALREADY,
    pull.FORGOTTEN: importing.FORGOTTEN,
    pull.HELD: importing.CHANGED_HERE,
}


def imported_rules(app: App, source: ForeignSource, *, dry: bool) -> ImportPlan:
    """Read rule files by the bridge of memory files; with `dry` say what it would do."""
    paths = [os.path.realpath(path) for path in rule_files.rule_files(source.path)]
    plan = memory_files.pull_some(app, paths, dry=dry)
    if dry:
        names = tuple(os.path.relpath(path, source.root) for path in paths)
        for note in plan.notes:
            if note.startswith(names):
                name, _, reason = note.partition(" ")
                source.leave_out(name, reason.rstrip("."))
    return ImportPlan(source.format, [_rule(action) for action in plan.actions])


def _rule(action: pull.Action) -> ImportOutcome:
    """Return what the bridge does with one statement in the words of an import."""
    return ImportOutcome(
        _RULES[action.what],
        action.title,
        action.id,
        action.scope,
        action.before,
        action.after if action.what in pull.WRITES else None,
        f"{action.file}:{action.line}",
    )


def _context(app: App, scope: str | None) -> ImportContext:
    objects = app.objects
    refs = [store.ref for store in (app.store("shared"), app.store("private"))]
    forgotten = {str(mark["id"]) for ref in refs for mark in marks(objects, ref)}
    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""

    def existing(ids: Collection[str]) -> Mapping[str, StoredIn]:
        return load_records(app, app.index().rows(ids=list(ids), fields=_ROW))

    def titled(titles: Collection[str]) -> Mapping[str, StoredIn]:
        rows = app.index().rows(kinds=tuple(FACTS), statuses=LIVE, fields=(*_ROW, "title"))
        wanted = [row for row in rows if normal_words(str(row["title"])) in titles]
        there = load_records(app, wanted)
        return {normal_words(place[1].title): place for place in there.values()}

    return ImportContext(
        app.writer(),
        scope or "private",
        scope is not None,
        app.clock.stamp(),
        existing,
        titled,
        forgotten,
        rejected_in(objects),
        _author_of(app, root),
        _place_of(app, root),
    )


_ROW = ("id", "store", "oid", "path")


def load_records(app: App, rows: Sequence[Mapping[str, object]]) -> dict[str, StoredIn]:
    """Return the records of some rows by id; of one in both stores, the shared one."""
    by_oid = {str(row["oid"]): row for row in rows}
    out: dict[str, StoredIn] = {}
    for oid, data in app.objects.read_many_small(dict.fromkeys(by_oid), FILE_LIMIT):
        row = by_oid[oid]
        stored = load(str(row["path"]), oid, data)
        id, scope = str(row["id"]), str(row["store"])
        if isinstance(stored, Stored) and (id not in out or scope == "shared"):
            out[id] = (scope, stored.record)
    return out


def _author_of(app: App, root: str) -> Callable[[str], str | None]:
    """Return what names who else wrote a file of the work tree."""
    git = Git(app.location.gitdir, app.env, timeout=20.0)
    authors = LineAuthors(
        CodeHistory(app.location, app.env),
        app.location.gitdir,
        app.location.commondir,
        app.own_addresses,
    )

    @cache
    def author(path: str) -> str | None:
        if not root or not inside(path, root, root):
            return None
        listed = git.call(
            *("-C", root, "--work-tree", root, "ls-files", "--error-unmatch", "--"),
            f":(top,literal){path}",
            ok=(0, 1, 128),
        )
        if listed[0]:
            return None
        data = read_regular(os.path.join(root, path), SIZE)
        return next((name for name in authors.of_lines(path, data) if name), "")

    return author


def _place_of(app: App, root: str) -> Callable[[str], str]:
    """Return what names a file of the code from the root of the work tree; "" for any other."""
    is_untold = app.untold(root or None)

    @cache
    def place(path: str) -> str:
        inner = inside(path, root, root) if root else ""
        is_file = bool(inner) and os.path.isfile(os.path.join(root, inner))
        return inner if is_file and not is_untold(inner) else ""

    return place


def facts_to_export(
    app: App, filters: Mapping[str, Sequence[str]], *, private: bool = False
) -> list[ExportedFact]:
    """Return the facts that pass filters, by id; of the private store only if asked for."""
    scopes = ("shared", "private") if private else ("shared",)
    rows = app.index().rows(kinds=tuple(FACTS), stores=scopes, fields=(*_ROW, "unconfirmed"))
    unconfirmed = {(row["id"], row["store"]): bool(row["unconfirmed"]) for row in rows}
    facts = []
    for id, (scope, record) in sorted(load_records(app, rows).items()):
        if is_wanted(record, filters):
            facts.append(ExportedFact(record, scope, not unconfirmed[id, scope]))
    return facts
