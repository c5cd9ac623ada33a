"""A consolidation of this repository's stores, step by step."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

from gitmem.app import App
from gitmem.index.health_cache import HealthCache
from gitmem.records.record import Record
from gitmem.services.lifecycle import consolidation
from gitmem.services.lifecycle.consolidation import Merge, Row
from gitmem.services.lifecycle.health import HealthCounts
from gitmem.services.lifecycle.health_history import health_now, statement_of
from gitmem.store.sync import tracking_ref
from gitmem.worker import facts

Progress = Callable[[str, int, int], None]  # step, done, in all
SCOPES = ("shared", "private")


IN_BACKGROUND = ("collect", "check", "merge", "summary", "pages")  # steps that nobody asked for


def _silent(step: str, done: int, total: int) -> None:
    """Show nothing."""


class StepReport(NamedTuple):
    """What a step did, or would do: a line for each thing, and how many records it changes."""

    step: str
    changed: int
    lines: tuple[str, ...]
    ids: tuple[str, ...] = ()


class Consolidation:
    """The steps for one repository; with `dry_run` none of them writes."""

    def __init__(
        self,
        app: App,
        scopes: Sequence[str] = SCOPES,
        *,
        dry_run: bool = False,
        progress: Progress = _silent,
    ) -> None:
        self.app = app
        self.scopes = scopes
        self.dry_run = dry_run
        self._progress = progress

    def run(self, step: str) -> StepReport:
        """Do one of the steps of `consolidation.STEPS`."""
        self._progress(step, 0, 1)
        try:
            return _STEPS[step](self)
        finally:
            self._progress(step, 1, 1)

    def _rows(self, scope: str) -> list[Row]:
        return consolidation.live_facts(self.app.indexes((scope,)), scope, self.app.clock.stamp())

    def _keys(self, rows: Sequence[Row]) -> dict[str, str]:
        """Return what duplicates have in common, by oid, of facts whose health was computed."""
        with closing(HealthCache(self.app.home.path)) as cache:
            kept = cache.facts([row["oid"] for row in rows])
        return {oid: statement_of(row) for oid, row in kept.items() if row}

    def _show(self, step: str) -> Callable[[int, int], None]:
        return lambda done, total: self._progress(step, done, total)

    def collect(self) -> StepReport:
        """Remove what faded and what nobody looked at."""
        app, lines, ids = self.app, list[str](), list[str]()
        scores = app.scores()
        for scope in self.scopes:
            rows = self._rows(scope)
            gone = consolidation.faded(rows, lambda row: scores.of(row).collectable)
            gone += consolidation.unseen_proposals(rows, scores.reads, app.clock.now())
            judged = {row["id"]: row for row in rows}
            gone = list(dict.fromkeys(gone))
            if not self.dry_run and gone:
                versions = {id: judged[id]["oid"] for id in gone}
                gone = consolidation.collect(app.store(scope), app.writer(), versions)
            ids += gone
            lines += [f"{id[-8:]} {judged[id]['title']}" for id in gone]
        return StepReport("collect", len(ids), tuple(lines), tuple(ids))

    def check(self) -> StepReport:
        """Look for facts that contradict each other or the code; only a person decides."""
        app = self.app
        if self.dry_run:
            findings = facts.likely_contradictions(app)
        else:
            findings = facts.open_contradictions(app, progress=self._show("check"))
        if not app.is_background:  # which looks at the code at another time
            from gitmem.worker import code_check

            findings += code_check.check_changed(app, keeps=not self.dry_run)
        ids = tuple(finding.ids[0] for finding in findings)
        return StepReport("check", 0, ids, ids)

    def merge(self) -> StepReport:
        """Merge what is said twice."""
        app, lines, ids = self.app, list[str](), list[str]()
        for scope in self.scopes:
            store = app.store(scope)
            rows = self._rows(scope)
            groups = list(consolidation.merges(store, rows, self._keys(rows), self._show("merge")))
            if groups and not self.dry_run:
                consolidation.merge(store, app.writer(), groups)
            lines += [_merge_line(group) for group in groups]
            ids += [record.id for group in groups for record in group.others]
        repeated = self._repeated_proposals()
        lines += [f"{record.id[-8:]} {record.title}" for record in repeated]
        ids += [record.id for record in repeated]
        return StepReport("merge", len(ids), tuple(lines), tuple(ids))

    def _repeated_proposals(self) -> list[Record]:
        """Archive private proposals that say what a shared fact says."""
        app = self.app
        if not {"private", "shared"} <= set(self.scopes):
            return []
        private, shared = app.store("private"), app.store("shared")
        own, others = self._rows("private"), self._rows("shared")
        if not own:
            return []
        keys = self._keys([*own, *others])
        repeated = consolidation.repeated_proposals(own, others, keys, private, shared)
        if repeated and not self.dry_run:
            consolidation.archive_repeated(private, shared, app.writer(), repeated)
        return [proposal for proposal, _ in repeated]

    def code(self) -> StepReport:
        """Read what changed of the code: graph and DNA."""
        if self.dry_run or not self.app.location.worktree:
            return StepReport("code", 0, ())
        from gitmem.worker import dna

        with self.app.in_background():  # the pages are no part of what an undo takes back
            dna.keep(self.app)
        return StepReport("code", 0, ())

    def index(self) -> StepReport:
        """Bring the index up to date."""
        self.app.index()
        return StepReport("index", 0, ())

    def summary(self) -> StepReport:
        """Have the model that the settings ask for write a paragraph for each section."""
        from gitmem.worker.paragraphs import write_all

        written = () if self.dry_run else write_all(self.app)
        return StepReport("summary", 0, tuple(written))

    def pages(self) -> StepReport:
        """Make the pages anew that were written here and say something else now."""
        if self.dry_run:
            return StepReport("pages", 0, ())
        from gitmem.worker.page_files import refresh_all

        return StepReport("pages", 0, tuple(file.line for file in refresh_all(self.app)))

    def health(self) -> StepReport:
        """Compute how healthy the memory is."""
        with closing(HealthCache(self.app.home.path)) as cache:
            counts = health_of(self.app, cache)
        return StepReport("health", 0, (f"{counts.health():.0f}",))


_STEPS: dict[str, Callable[[Consolidation], StepReport]] = {
    "collect": Consolidation.collect,
    "check": Consolidation.check,
    "merge": Consolidation.merge,
    "code": Consolidation.code,
    "index": Consolidation.index,
    "summary": Consolidation.summary,
    "pages": Consolidation.pages,
    "health": Consolidation.health,
}


def _merge_line(group: Merge) -> str:
    names = ", ".join(record.id[-8:] for record in group.others)
    return f"{names} into {group.kept.id[-8:]} {group.kept.title}"


def scopes_in_background(app: App) -> tuple[str, ...]:
    """Return the stores to consolidate: not the shared one where another clone did it today."""
    name = app.main_remote
    tip = app.objects.tip(tracking_ref(name)) if name else None
    commits = app.objects.walk([tip] if tip else [])
    return ("private",) if consolidation.is_recent(commits, app.clock.now()) else SCOPES


def health_of(app: App, cache: HealthCache) -> HealthCounts:
    """Return the health of the shared store now, with the reads that are in no commit yet."""
    scores = app.scores()
    return health_now(app.store("shared"), cache, scores.clock, app.clock.now(), scores.reads)
