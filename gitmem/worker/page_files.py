"""Pages in files: written where a person asked, and kept up to date.

Every page that was written is remembered with its options and a digest of each file. So a page is
made anew without being asked for again, and what somebody edited meanwhile is left as it is.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitmem.app import App
from gitmem.base.regular_files import read_regular
from gitmem.errors import GitmemError, NotARepository, UserError
from gitmem.git.process import Git
from gitmem.repo.location import Location, locate
from gitmem.repo.output_files import is_written_into, make_folder_for, write_output
from gitmem.services.interchange import exported
from gitmem.services.interchange.exported import ExportTarget
from gitmem.services.pages.page_fact import BEGINS, is_page_text
from gitmem.worker.pages import Page, make_page

REWRITTEN, SAME, EDITED, TRACKED, REFUSED = "rewritten", "same", "edited", "tracked", "refused"

_LINES = {
    REWRITTEN: "was made anew",
    SAME: "says so already",
    EDITED: "was edited since git mem wrote it, and is left; to replace it: {how} --force",
    TRACKED: "is tracked by git, and is left; to replace it: {how}",
    REFUSED: "cannot be written; try: {how}",
}


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


def write_page(
    app: App, name: str, path: str, page: Page, *, private: bool, force: bool
) -> list[str]:
    """Write a page, and remember it; return the paths of its files.

    A file that says so already is left alone. Raises UserError for one that git mem did not write,
    unless told otherwise by `force`; External.
    """
    full = os.path.abspath(path)
    target = ExportTarget(full, _command(name, full, private=private), name, private, app.root)
    if is_written_into(app.location, full):
        write_output(app.location, full, page.text.encode())
        return [full]
    _require_place(target, page, path)
    if not force:
        _require_ours(target, page)
    if "" not in page.files:
        make_folder_for(app.location, full)
    before = exported.target_at(app.home, full)
    if before is not None:
        kept = {inner: before.digests.get(inner, ()) for inner in page.files}
        target = target._replace(digests=kept)
    _write_files(app, app.location, target, page.files)
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
        is_ours = is_page_text(read_regular(path, BEGINS))
        if os.path.islink(path) or (os.path.lexists(path) and not is_ours):
            raise UserError(
                f"'{os.path.relpath(path)}' is there and was not written by git mem.",
                "Name another place, or replace it with --force.",
            )


def _write_files(
    app: App,
    where: Location,
    target: ExportTarget,
    files: Mapping[str, bytes],
    *,
    replaces: bool = True,
) -> None:
    """Write files of a page unless they say so already: their time tells when they last changed.

    What somebody edited meanwhile is left, unless it `replaces` whatever is there.
    What they are to say is remembered first, so that a kill leaves no file that looks edited.
    """
    exported.remember(app.home, target.with_next(files))
    for inner, data in files.items():
        path = target.file(inner)
        is_same = exported.digest_of(path) == exported.digest(data) and not os.path.islink(path)
        if not is_same and (replaces or target.is_as_written(inner)):
            write_output(where, path, data, private=target.private)
    digests = {inner: (exported.digest(data),) for inner, data in files.items()}
    exported.remember(app.home, target._replace(digests={**target.digests, **digests}))


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
    """Make a page anew where it stands. What was deleted is not made again."""
    there = [inner for inner in target.digests if os.path.lexists(target.file(inner))]
    tracked = frozenset[str]() if rewrites_tracked else _tracked(app, target, there)
    try:
        where = _location(app, target)
        page = make_page(app, target.page, private=target.private)
    except GitmemError:
        return [RefreshedFile(target.file(inner), REFUSED, target.how) for inner in there]
    files = {inner: page.files[inner] for inner in there if inner in page.files}
    outcomes = {
        inner: _outcome(target, inner, data, is_tracked=inner in tracked)
        for inner, data in files.items()
    }
    rewritten = {inner: files[inner] for inner in files if outcomes[inner] == REWRITTEN}
    for inner in _write_again(app, where, target, rewritten):
        outcomes[inner] = REFUSED
    return [
        RefreshedFile(target.file(inner), outcome, target.how)
        for inner, outcome in outcomes.items()
    ]


def _write_again(
    app: App, where: Location, target: ExportTarget, files: Mapping[str, bytes]
) -> list[str]:
    """Write files of a page anew; return those that could not be written."""
    if not files:
        return []
    try:
        _write_files(app, where, target, files, replaces=False)
    except GitmemError:
        pass  # which of them were written is seen
    return [
        inner
        for inner, data in files.items()
        if exported.digest_of(target.file(inner)) != exported.digest(data)
    ]


def _location(app: App, target: ExportTarget) -> Location:
    """Return the work tree that a page was made in, which knows its own links. Raises GitmemError.

    It may be another one than that of this process.
    """
    return app.location if target.root in ("", app.root) else locate(target.root, app.env)


def _outcome(target: ExportTarget, inner: str, data: bytes, *, is_tracked: bool) -> str:
    """Return what is to become of a file of a page: it is written anew if that is ours to do."""
    if exported.digest_of(target.file(inner)) == exported.digest(data):
        return SAME
    if not target.is_as_written(inner):
        return EDITED
    return TRACKED if is_tracked else REWRITTEN


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
    listed_paths = {os.fsdecode(path) for path in listed.split(b"\0")}
    return frozenset(inner for path, inner in paths.items() if path in listed_paths)
