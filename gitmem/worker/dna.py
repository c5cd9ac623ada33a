"""Keeps the DNA of a project up with what is checked out, for sessions and for the command."""

from collections.abc import Callable

from gitmem.app import App
from gitmem.codemap.search.current import search_index
from gitmem.repo.refs import head
from gitmem.services.dna import dna
from gitmem.services.dna.dna import DnaOutcome, DnaPage
from gitmem.state import code_progress
from gitmem.worker.code_check import keep_up

STORED = 90  # percent of its budget that the stored page has; the rest is for patterns

Progress = Callable[[int, int], None]


def pages(
    app: App, revision: str = "HEAD", progress: Progress | None = None
) -> tuple[str, list[DnaPage]]:
    """Return (commit, pages) of a commit; raises UserError when there is none."""
    code = app.code_map
    graph = code.graph(revision, progress)
    budget = int(app.settings.get("dnaBudget")) * STORED // 100
    made = dna.describe(code, graph, app.project, budget, progress)
    return graph.commit, made


def store_of(app: App, *, shared: bool = False) -> str:
    """Return the store that keeps the pages.

    It is the private one, unless a person asked for the shared one.
    """
    return "shared" if shared or app.settings.get("dna") == "shared" else "private"


def refresh(
    app: App, progress: Progress | None = None, *, shared: bool = False
) -> list[DnaOutcome]:
    """Write the DNA of what is checked out, where it says something else than before.

    Raises UserError when there is no commit.
    """
    commit, made = pages(app, "HEAD", progress)
    done = dna.save(app.store(store_of(app, shared=shared)), app.writer(), made, {"commit": commit})
    code_progress.note_dna(app.state, commit)
    return done


def keep(app: App) -> list[DnaOutcome]:
    """Refresh the DNA and the code search if another commit is checked out than last time.

    This runs in the background of a session.
    """
    commit = head(app.location)
    if not commit or code_progress.dna_commit(app.state) == commit:
        return []
    code_progress.note_dna(app.state, commit)  # also where it fails: not at once again
    keep_up(app)  # facts may be out of date in other code
    if app.code_map.is_large(app.code_map.trees.resolve(commit)[1]):
        return []  # `git mem dna refresh` does it
    if app.settings.get("scout"):
        search_index(app.code_map, app.code_history, commit, stored=True).close()
    return refresh(app) if app.settings.get("dna") != "off" else []
