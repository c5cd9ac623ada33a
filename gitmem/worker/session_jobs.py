"""Wires what a session's end needs: stores, sources, who reads them."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.git.work_state import Work
from gitmem.llm.provider import Model
from gitmem.records.items import Extract
from gitmem.repo.location import locate
from gitmem.services.provenance import shared
from gitmem.services.records.write import Writer
from gitmem.services.session_log import model_reading, reader
from gitmem.services.sessions.outcome import SessionServices
from gitmem.services.sessions.session_record import ended_at
from gitmem.services.snapshots import keep, save
from gitmem.services.snapshots.save import SaveContext
from gitmem.services.snapshots.saved import ref_of
from gitmem.state import injections, links, sessions
from gitmem.state.sessions import Session
from gitmem.store.store import Store
from gitmem.transcripts import ignored
from gitmem.transcripts.turn import Turn


def desk(app: App) -> SessionServices:
    """Return what a session's end needs, by the settings."""

    def store(setting: str, scope: str) -> Store | None:
        return app.store(scope) if app.settings.get(setting) else None

    proposals = "shared" if app.settings.get("share") == "all" else "private"
    model = app.model()
    return SessionServices(
        who=app.writer(session=""),
        snapshots=app.store("private"),
        keep=partial(_keep, app),
        records=store("recordSessions", "private"),
        published=store("shareSessions", "shared"),
        proposals=store("propose", proposals),
        elsewhere=[app.store("private"), app.store("shared")],
        lines=lambda session: reader.lines(app.home, session),
        tree=app.worktree,
        shown=lambda turns, root: ignored.shown(turns, app.hidden(root), root),
        extract=_extractor(app, model),
        indexes=lambda: [index for _, index in app.indexes()],
        commits=lambda session: shared.field(
            links.of_session(app.state, session.id), app.untold(session.root)
        ),
        injected=lambda session: injections.of_session(app.state, session),
        before=lambda session: _before(app, session),
        single_commit=lambda: app.single_commit("session"),
        tell_hits=lambda: app.tell_hits(app.clock.now()),
    )


def _keep(app: App, root: str, id: str, context: SaveContext, who: Writer) -> bool:
    """Save a work tree that belongs to this repository; an old one goes for it.

    A clean one is not saved.
    """
    try:
        where = locate(root, {}) if root else app.location
        work = Work(where, app.env)
    except UserError:
        return False  # bare, or the work tree is there no more
    if os.path.realpath(where.commondir) != os.path.realpath(app.location.commondir):
        return False
    store = app.store("private")
    if app.objects.tip(ref_of(id)) is not None:  # who saved it was killed before it was recorded
        keep.adopt(app.objects, store)
        return True
    hides = app.hidden(work.root).has
    state = save.seen(work, hides)
    if save.is_clean(state):
        return False
    saved = save.save(work, app.objects, store, who, id, context, hides=hides, state=state)
    rows = app.index().rows(kinds=("snapshot",), stores=("private",))
    rows += [{"id": id, "created": saved.created, "status": saved.status}]
    keep.prune(app.objects, store, app.writer(session=""), rows, app.home)
    return True


def _before(app: App, session: Session) -> float:
    """Return when the last session of the same work tree ended that began before this one.

    Its own beginning when there was none.
    """
    others = (
        earlier
        for earlier in sessions.some(app.state)
        if earlier.root == session.root
        and earlier.id != session.id
        and earlier.started < session.started
    )
    return min(session.started, max(map(ended_at, others), default=session.started))


class _Beating:
    """A model that gives a sign of life before each question."""

    def __init__(self, model: Model, beat: Callable[[], None]) -> None:
        self._model = model
        self._beat = beat

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's answer; raises ModelFailed."""
        self._beat()
        return self._model.ask(instruction, text, schema)


def _extractor(
    app: App, model: Model | None
) -> Callable[[Iterable[Turn], Callable[[], None]], Extract]:
    """Return what reads a session's turns.

    It is the model that the settings name, else the offline rules.
    """
    allow = app.settings.get("allowSecret")

    def extract(turns: Iterable[Turn], beat: Callable[[], None]) -> Extract:
        asked = cast("Model", _Beating(model, beat)) if model is not None else None
        return model_reading.extract(asked, turns, allow=allow)

    return extract
