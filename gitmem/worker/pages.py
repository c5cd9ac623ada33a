"""Pages of a repository: made from its stores, written where a person asked, and kept up to date.

Every page that was written is remembered with its options and a digest of each file. So a page is
made anew without being asked for again, and what somebody edited meanwhile is left as it is.
"""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.agents.prompt_text import clean
from gitmem.app import App
from gitmem.base.regular_files import read_regular
from gitmem.clock import seconds, stamp
from gitmem.errors import GitmemError, NotARepository, UserError
from gitmem.git.process import Git
from gitmem.index.reader import FIELDS
from gitmem.records.kinds import FACTS, LIVE
from gitmem.repo.location import locate
from gitmem.repo.output_files import is_device, make_folder_for, write_output
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.services.briefing import collect
from gitmem.services.interchange import exported
from gitmem.services.interchange.exported import ExportTarget
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.score import FactScores
from gitmem.services.pages.briefing import briefing_page
from gitmem.services.pages.compound import Analysed
from gitmem.services.pages.compound_files import MADE_BY, SUMMARY, compound_files
from gitmem.services.pages.gotchas import gotchas_page
from gitmem.services.pages.page_fact import MARK, PageFact, is_proposed, is_shown
from gitmem.store.rejected import marks
from gitmem.worker import facts, interchange

BRIEFED = 1000  # facts of a subject that a briefing chooses from
SIZE = 64 << 20  # bytes of a page that are looked at
REWRITTEN, SAME, EDITED, TRACKED, REFUSED = "rewritten", "same", "edited", "tracked", "refused"
_OURS = (MARK.encode(), f'{{\n "generated_by": "{MADE_BY}"'.encode())

_LINES = {
    REWRITTEN: "was made anew",
    SAME: "says so already",
    EDITED: "was edited since git mem wrote it, and is left; to replace it: {how} --force",
    TRACKED: "is tracked by git, and is left; to replace it: {how}",
    REFUSED: "cannot be written; try: {how}",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its files by name ("" for one file), and how many facts it is from.

    `left_out` counts live facts that are private or unconfirmed, and were not asked for.
    """

    files: Mapping[str, bytes]
    facts: int
    left_out: int

    @property
    def text(self) -> str:
        """The page as it is printed; of a folder its summary."""
        return self.files["" if "" in self.files else SUMMARY].decode()


@dataclass(frozen=True, slots=True)
class RefreshedFile:
    """A file of a page, what became of it, and the command that makes it anew."""

    path: str
    outcome: str
    how: str

    @property
    def line(self) -> str:
        """What became of it, and what to do where it is not as it should be."""
        return f"{self.path} {_LINES[self.outcome].format(how=self.how)}"


# -- what a page says


def make_page(app: App, name: str, *, private: bool) -> Page:
    """Return a page as it is now."""
    # first: what the code refutes is marked in the rows
    findings = _findings(app) if name == "compound" else []
    rows = _live_rows(app)
    shown = [row for row in rows if is_shown(row, private=private)]
    if name == "briefing":
        texts = {"": _briefing(app, private=private)}
    elif name == "gotchas":
        rows = [row for row in rows if row["kind"] == "gotcha"]
        shown = [row for row in shown if row["kind"] == "gotcha"]
        texts = {"": gotchas_page(_facts(app, shown))}
    else:
        texts = _compound(app, shown, findings, private=private)
    files = {inner: text.encode("utf-8", "replace") for inner, text in texts.items()}
    return Page(files, len(shown), len(rows) - len(shown))


def _live_rows(app: App) -> list[dict[str, Any]]:
    """Return the rows of the facts that hold, of the shared and the private store."""
    return app.rows(
        scopes=("shared", "private"),
        kinds=tuple(FACTS),
        statuses=LIVE,
        valid_at=app.clock.stamp(),
        fields=FIELDS,
    )


def _facts(app: App, rows: Sequence[dict[str, Any]]) -> list[PageFact]:
    """Return rows with their records; a mark names no fact that is not among them."""
    ids = {row["id"] for row in rows}
    records = interchange.load_records(app, rows)
    out = []
    for row in app.contradicting().marked(rows):
        if row["id"] in records:
            row["contradicts"] = [id for id in row["contradicts"] if id in ids]
            out.append(PageFact(row, records[row["id"]][1]))
    return out


def _briefing(app: App, *, private: bool) -> str:
    """Return BRIEFING.md; only what is in the stores counts, so no read that is in no commit."""
    indexes = [index for prefix, index in app.indexes() if prefix != "user"]
    midnight = seconds(f"{app.clock.stamp()[:10]}T00:00:00Z")
    scores = FactScores(indexes, list, midnight, app.settings.get("decayClock"))
    known = collect.gather(
        indexes,
        (),
        stamp(midnight - collect.DAYS * 86400)[:10],
        unsure=private,
        most=BRIEFED,
        own=app.own_addresses,
        now=app.clock.stamp(),
        first=collect.FactOrder(scores.of, list),
    )
    return briefing_page(known, app.project, clean, private=private)


def _compound(
    app: App, shown: Sequence[dict[str, Any]], findings: Sequence[Finding], *, private: bool
) -> dict[str, str]:
    refs = {"shared": SHARED, "private": PRIVATE} if private else {"shared": SHARED}
    rows = app.rows(
        scopes=tuple(refs), kinds=tuple(FACTS), fields=("agent", "origin", "unconfirmed")
    )
    tombstones = {str(mark["id"]) for ref in refs.values() for mark in marks(app.objects, ref)}
    analysed = Analysed(
        _facts(app, shown),
        [row for row in rows if is_proposed(row)],
        len(tombstones),
        findings,
    )
    tips = {scope: app.objects.tip(ref) or "" for scope, ref in refs.items()}
    return compound_files(analysed, tips)


def _findings(app: App) -> list[Finding]:
    """Return what speaks against facts; no model is asked."""
    from gitmem.worker import code_check  # reads code: no other page needs it

    findings = facts.likely_contradictions(app)
    try:
        return findings + code_check.check_changed(app)
    except GitmemError:
        return findings  # without code, nothing of it speaks against a fact


# -- what is written


def write_page(
    app: App, name: str, path: str, page: Page, *, private: bool, force: bool
) -> list[str]:
    """Write a page, and remember it; return the paths of its files.

    A file that says so already is left alone. Raises UserError for one that git mem did not write,
    unless told otherwise by `force`; External.
    """
    full = os.path.abspath(path)
    target = ExportTarget(full, _command(name, full, private=private), name, private, app.root)
    if is_device(full) and not os.path.isdir(full) and not os.path.islink(full):
        write_output(app.location, full, page.text.encode())
        return [full]
    _require_place(target, page, path)
    if not force:
        _require_ours(target, page)
    if "" not in page.files:
        make_folder_for(app.location, full)
    digests = {}
    try:
        for inner, data in page.files.items():
            _write(app, target, inner, data)
            digests[inner] = exported.digest(data)
    finally:
        if digests:
            exported.remember(app.home, target._replace(digests=digests))
    return [target.file(inner) for inner in page.files]


def _command(name: str, path: str, *, private: bool) -> str:
    """Return the command line that writes a page again."""
    return f"git mem page {name} --out {shlex.quote(path)}{' --private' if private else ''}"


def _require_place(target: ExportTarget, page: Page, path: str) -> None:
    """Raise UserError for a folder where a file has to be, or a file where a folder has to be."""
    if "" in page.files and os.path.isdir(target.path):
        inner = shlex.quote(os.path.join(path, f"{target.page.upper()}.md"))
        raise UserError(
            f"'{path}' is a folder.",
            f"Name a file: git mem page {target.page} --out {inner}",
        )
    if "" not in page.files and os.path.lexists(target.path) and not os.path.isdir(target.path):
        raise UserError(f"'{path}' is no folder.", "Name a folder: this page has several files.")


def _require_ours(target: ExportTarget, page: Page) -> None:
    """Raise UserError for a file that git mem did not write."""
    for inner in page.files:
        path = target.file(inner)
        begins = read_regular(path, max(map(len, _OURS))).startswith(_OURS)
        if os.path.islink(path) or (os.path.lexists(path) and not begins):
            raise UserError(
                f"'{os.path.relpath(path)}' is there and was not written by git mem.",
                "Name another place, or replace it with --force.",
            )


def _write(app: App, target: ExportTarget, inner: str, data: bytes) -> None:
    """Write a file unless it says so already: its time tells when it last changed."""
    path = target.file(inner)
    if os.path.islink(path) or read_regular(path, len(data) + 1) != data:
        write_output(app.location, path, data, private=target.private)


# -- what is kept up to date


def refresh_all(app: App) -> list[RefreshedFile]:
    """Make the pages of this work tree anew that say something else now; return what changed.

    In the background, what git tracks is left.
    """
    out = []
    for target in exported.targets(app.home):
        if target.page and target.root == app.root:
            out += refresh(app, target, rewrites_tracked=not app.is_background)
    return [file for file in out if file.outcome != SAME]


def refresh(app: App, target: ExportTarget, *, rewrites_tracked: bool) -> list[RefreshedFile]:
    """Make a page anew where it stands. What was deleted is not made again, but forgotten."""
    page = make_page(app, target.page, private=target.private)
    there = {inner: data for inner, data in page.files.items() if inner in target.digests}
    there = {inner: data for inner, data in there.items() if os.path.lexists(target.file(inner))}
    tracked = frozenset[str]() if rewrites_tracked else _tracked(app, target, there)
    digests, out = {}, []
    for inner, data in there.items():
        outcome = _refresh_file(app, target, inner, data, is_tracked=inner in tracked)
        is_new = outcome in {REWRITTEN, SAME}
        digests[inner] = exported.digest(data) if is_new else target.digests[inner]
        out.append(RefreshedFile(target.file(inner), outcome, target.how))
    if digests != target.digests:
        exported.remember(app.home, target._replace(digests=digests))
    return out


def _refresh_file(
    app: App, target: ExportTarget, inner: str, data: bytes, *, is_tracked: bool
) -> str:
    """Write a file of a page anew if that is ours to do; return what became of it."""
    path = target.file(inner)
    before = read_regular(path, SIZE)
    if before == data:
        return SAME
    if os.path.islink(path) or exported.digest(before) != target.digests[inner]:
        return EDITED
    if is_tracked:
        return TRACKED
    try:
        write_output(app.location, path, data, private=target.private)
    except GitmemError:
        return REFUSED
    return REWRITTEN


def _tracked(app: App, target: ExportTarget, names: Iterable[str]) -> frozenset[str]:
    """Return which files of a page git tracks; all, where that cannot be told."""
    every = frozenset(names)
    folder = target.path if os.path.isdir(target.path) else os.path.dirname(target.path)
    try:
        where = locate(folder, app.env)
        if where.worktree is None or not every:
            return frozenset()
        root = os.path.realpath(where.worktree)
        paths = {
            os.path.relpath(os.path.realpath(target.file(inner)), root): inner for inner in every
        }
        listed = Git(where.gitdir, app.env).run(
            *("-C", root, "--work-tree", root, "ls-files", "-z", "--"),
            *(f":(top,literal){path}" for path in paths),
        )
    except NotARepository:
        return frozenset()
    except GitmemError:
        return every
    found = (os.fsdecode(path) for path in listed.split(b"\0") if path)
    return frozenset(paths[path] for path in found if path in paths)
