"""Keeps the DNA of a project up with what is checked out, for sessions and for the command."""

from collections.abc import Callable
from typing import NamedTuple

from gitmem.app import App
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime
from gitmem.repo.refs import head
from gitmem.services.dna import dna
from gitmem.services.dna.dna import DnaOutcome, DnaPage
from gitmem.services.dna.patterns import BUDGET
from gitmem.state import code_progress

STORED = 90  # percent of its budget that the stored page has; the rest is for patterns

Progress = Callable[[int, int], None]


class CommitPages(NamedTuple):
    """The pages of a commit; `unread` of its `total` files of code had no time to be read."""

    commit: str
    pages: list[DnaPage]
    unread: int
    total: int


def pages(
    app: App,
    revision: str = "HEAD",
    progress: Progress | None = None,
    reading: ReadingTime = WHOLE,
) -> CommitPages:
    """Return the pages of a commit, of what there is time for; raises UserError without one."""
    code = app.code_map
    graph = code.graph(revision, progress, reading=reading)
    budget = BUDGET * STORED // 100
    made = dna.describe(code, graph, app.project, budget, progress, reading)
    return CommitPages(graph.commit, made, graph.unread, graph.unread + len(graph.files))


def store_of(app: App, *, shared: bool = False) -> str:
    """Return the store that keeps the pages.

    It is the private one, unless a person asked for the shared one.
    """
    return "shared" if shared or app.settings.get("dna") == "shared" else "private"


def refresh(app: App, made: CommitPages, *, shared: bool = False) -> list[DnaOutcome]:
    """Write the pages of what is checked out, where they say something else than before.

    Pages of a part of the code alone are not to be written.
    """
    store = app.store(store_of(app, shared=shared))
    done = dna.save(store, app.writer(), made.pages, {"commit": made.commit})
    code_progress.note_dna(app.state, made.commit)
    return done


def keep(app: App) -> list[DnaOutcome]:
    """Refresh the DNA and the code search if another commit is checked out than last time.

    This runs in the background of a session.
    """
    from gitmem.codemap.search.current import search_index  # whoever shows a page needs neither
    from gitmem.worker.code_check import keep_up

    commit = head(app.location)
    if not commit or code_progress.dna_commit(app.state) == commit:
        return []
    code_progress.note_dna(app.state, commit)  # also where it fails: not at once again
    keep_up(app)  # facts may be out of date in other code
    if app.code_map.is_large(app.code_map.trees.resolve(commit)[1]):
        return []  # `git mem code dna refresh` does it
    if app.settings.get("scout"):
        search_index(app.code_map, app.code_history, commit, stored=True).close()
    return refresh(app, pages(app)) if app.settings.get("dna") != "off" else []
