"""What was written of a fact that is gone: blocks in memory files, pages, exports.

A block or a page in a file that git does not track is written anew. What git tracks,
and what stands outside of our blocks, is the user's to change: it is named.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.app import App
from gitmem.base.regular_files import read_regular
from gitmem.errors import GitmemError
from gitmem.records.claims import words_of
from gitmem.records.record import Record
from gitmem.services.interchange import exported
from gitmem.services.interchange.exported import ExportTarget
from gitmem.services.memory_files import managed_block
from gitmem.services.memory_files.discover import Memo
from gitmem.services.memory_files.push import has_block, ids_in
from gitmem.services.pages.page_fact import is_page_text
from gitmem.store.history.redact import Mask
from gitmem.store.rejected import Rejected
from gitmem.text.normal_words import normal_words
from gitmem.worker import memory_files, page_files

BRIEFING = "BRIEFING.md"
SIZE = 4 << 20  # bytes of a file that are searched
NO_MASK = Mask()


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that showed a fact: written anew, or still to be changed, and how."""

    path: str
    rewritten: bool
    how: str = ""


def update(app: App, gone: Sequence[Record] = (), mask: Mask = NO_MASK) -> list[ExportedFile]:
    """Take facts and texts that are gone out of what was exported, as far as that is ours to do."""
    if not (gone or mask):
        return []
    claims = Rejected({"id": fact.id, "said": normal_words(words_of(fact))} for fact in gone)

    def shows(data: bytes) -> bool:
        return mask.holds(data) or claims.is_quoted(data.decode("utf-8", "replace"))

    out = list(_exports(app, shows))
    if app.location.worktree is None:
        return out
    for memo in _memory_files(app):
        has_line = not ids_in(memo.data).isdisjoint(managed_block.short(fact.id) for fact in gone)
        if has_line or (has_block(memo.data) and shows(memo.data)):
            out.append(_changed(app, memo, shows))
        elif shows(memo.data):
            how = "it says so in its own words; edit it"
            out.append(ExportedFile(memo.path, rewritten=False, how=how))
    path = os.path.join(app.location.worktree, BRIEFING)
    data = read_regular(path, SIZE)
    if path not in {file.path for file in out} and shows(data):
        force = "" if is_page_text(data) else " --force"
        how = f"git mem page briefing --out {shlex.quote(path)}{force}"
        out.append(ExportedFile(path, rewritten=False, how=how))
    return out


def _exports(app: App, shows: Callable[[bytes], bool]) -> Iterator[ExportedFile]:
    """Yield the pages, written anew where that is ours to do, and the exports that show it."""
    for target in exported.targets(app.home):
        showing = [path for path in exported.files_of(target) if shows(read_regular(path, SIZE))]
        if showing and target.page:
            yield from _changed_page(app, target, showing, shows)
        elif showing:
            yield ExportedFile(target.path, rewritten=False, how=target.how)


def _changed_page(
    app: App, target: ExportTarget, showing: Sequence[str], shows: Callable[[bytes], bool]
) -> Iterator[ExportedFile]:
    """Make a page anew; yield the files that showed it, and how to change those that still do."""
    try:
        page_files.refresh(app, target, rewrites_tracked=False)
    except GitmemError:
        pass  # what it would say cannot be told: the files are named
    for path in showing:
        if shows(read_regular(path, SIZE)):
            yield ExportedFile(path, rewritten=False, how=target.how)
        else:
            yield ExportedFile(path, rewritten=True)


def _memory_files(app: App) -> list[Memo]:
    """Return the memory files, each once, also where a link leads to one."""
    try:
        memos = memory_files.Run(app).files.memos
    except GitmemError:
        return []  # no home, no memory files
    return list({os.path.realpath(memo.path): memo for memo in reversed(memos)}.values())[::-1]


def _changed(app: App, memo: Memo, shows: Callable[[bytes], bool]) -> ExportedFile:
    """Write a file's block anew; name the file where that is not ours to do, or not enough."""
    how = f"git mem native push --to {memo.name}"
    if memo.tracked:
        return ExportedFile(memo.path, rewritten=False, how=how)
    try:
        memory_files.push(app, [memo.path])
    except GitmemError:
        return ExportedFile(memo.path, rewritten=False, how=how)
    if shows(read_regular(memo.path, SIZE)):
        how = "it says so outside of the block; edit it"
        return ExportedFile(memo.path, rewritten=False, how=how)
    return ExportedFile(memo.path, rewritten=True)
