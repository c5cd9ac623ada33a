"""Activation of an agent: what it should know is loaded in tiers with time limits.

A loader that fails or hangs does not stop the activation.

A loader runs in a thread that no exit waits for. What is not there at its tier's deadline is left
out, and said to be: a slow disk or a git that hangs costs a part of the greeting.
`services.briefing.greeting` makes the text.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from gitmem import config
from gitmem.base import processes
from gitmem.base.git_guard import LIST
from gitmem.base.sharing import sharing_of
from gitmem.clock import Clock
from gitmem.errors import External, UserError
from gitmem.git.process import Git
from gitmem.index import epics
from gitmem.index.reader import NAME, Index, open_index
from gitmem.records.kinds import LIVE
from gitmem.repo.identity import made_by, own_addresses
from gitmem.repo.ignore import ignored
from gitmem.repo.location import Home, Location, ignore_text
from gitmem.repo.refs import PRIVATE, SHARED, branch, raw_ref
from gitmem.services.briefing import agent_definitions, collect
from gitmem.services.briefing.agent_definitions import Agent
from gitmem.services.records.committers import author_if_foreign, is_accepted, is_foreign
from gitmem.services.work import context, workflow_file
from gitmem.settings_cache import our_settings
from gitmem.state import epic_holders
from gitmem.state.database import State

CRITICAL, HIGH, BEST = "critical", "high", "best_effort"
BUDGET: Mapping[str, float] = {CRITICAL: 0.080, HIGH: 0.120, BEST: 0.180}  # seconds of a tier
TOTAL = 0.500
VARIABLE = "GITMEM_ACTIVATE_TIMEOUT"  # milliseconds, instead of the total
OK, TIMEOUT, ERROR = "ok", "timeout", "error"
WHOLE, PARTIAL, FALLBACK = "full", "partial", "fallback"  # quality
NOTING = 0.1  # seconds that the note of an activation may take
MOST = 200  # changed files that are counted
MEMORIES, GOTCHAS = 4, 3
LOOKED = 200  # memories of an agent that are looked at


@dataclass(slots=True)
class LoaderResult:
    """What became of a loader."""

    name: str
    tier: str
    status: str = TIMEOUT
    seconds: float = 0.0
    value: Any = None
    error: str = ""
    cause: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Loader:
    """One thing to load."""

    name: str
    tier: str
    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Activation:
    """What was loaded, how well, and how long it took."""

    agent: Agent
    quality: str
    seconds: float
    results: Sequence[LoaderResult] = field(default_factory=list)

    def value(self, name: str) -> Any:
        """Return what a loader found, None when it found nothing in time."""
        return next(
            (
                result.value
                for result in self.results
                if result.name == name and result.status == OK
            ),
            None,
        )


def run(
    loaders: Sequence[Loader],
    total: float = TOTAL,
    loaded: dict[str, Any] | None = None,
    now: Callable[[], float] = time.monotonic,
) -> list[LoaderResult]:
    """Run loaders, those of a tier at once, the tiers one after the other.

    Return after `total` seconds at the latest.

    Into `loaded` goes what came in time, before the next tier begins.
    """
    begun = now()
    out: list[LoaderResult] = []
    for tier in BUDGET:
        some = [loader for loader in loaders if loader.tier == tier]
        left = min(budget(tier, total), begun + total - now())
        done = (
            _tier(some, left, now)
            if left > 0
            else [LoaderResult(loader.name, tier, error="no time was left") for loader in some]
        )
        if loaded is not None:
            loaded |= {result.name: result.value for result in done if result.status == OK}
        out += done
    return out


def budget(tier: str, total: float) -> float:
    """Return the seconds of a tier, limited by the total.

    If the total is longer than usual, the tier gets its share of it; else it gets its own time.
    """
    return min(BUDGET[tier] * max(1.0, total / TOTAL), total)


def _tier(
    loaders: Sequence[Loader], seconds: float, now: Callable[[], float] = time.monotonic
) -> list[LoaderResult]:
    """Run loaders at once, for so many seconds.

    Those that are still at it go on in threads that nobody waits for; what they find is lost.
    """
    begun = now()
    finished: dict[str, LoaderResult] = {}
    changed = threading.Condition()

    def work(loader: Loader) -> None:
        result = LoaderResult(loader.name, loader.tier)
        try:
            result.value = loader.work()
            result.status = OK
        except TimeoutError as error:
            result.error = str(error)
        except Exception as error:  # noqa: BLE001 - nothing that fails stops an activation
            result.status, result.cause, result.error = (
                ERROR,
                error,
                f"{error}" or type(error).__name__,
            )
        result.seconds = now() - begun
        with changed:
            finished[loader.name] = result
            changed.notify()

    for loader in loaders:
        threading.Thread(
            target=work, args=(loader,), daemon=True, name=f"activate {loader.name}"
        ).start()
    with changed:
        while len(finished) < len(loaders) and (left := begun + seconds - now()) > 0:
            changed.wait(left)
        spent = now() - begun
        return [
            finished.get(loader.name)
            or LoaderResult(
                loader.name, loader.tier, seconds=spent, error="it was not there in time"
            )
            for loader in loaders
        ]


def limit(given: int | None, env: Mapping[str, str]) -> float:
    """Return the total seconds of an activation.

    This is the given value, else the value in the environment, else half a second.
    """
    text = env.get(VARIABLE, "").strip()
    if given is None and text.isascii() and text.isdigit() and 0 < int(text) < 10**6:
        given = int(text)
    return given / 1000 if given else TOTAL


# -- what is loaded


@dataclass(frozen=True, slots=True)
class ActivationPlace:
    """Where an agent is activated, and in which session.

    Each loader opens what it needs for itself: connections belong to a thread.
    """

    location: Location
    env: Mapping[str, str]
    clock: Clock
    session: Callable[[], str]
    refresh: Callable[[], object]  # brings the index up to date
    fact_order: Callable[[Index, State], collect.FactOrder]
    history: Callable[[], Sequence[Mapping[str, Any]]] | None = None

    @property
    def home(self) -> Home:
        """Our folder."""
        return Home(self.location.home, shared=sharing_of(self.location.commondir))

    @property
    def root(self) -> str:
        """The work tree, as `state.db` names it; '' for a bare repository."""
        return context.root_of(self.location.worktree)

    @property
    def own(self) -> frozenset[str]:
        """The e-mail addresses of this user.

        What others committed appears in the greeting only if it was accepted.
        """
        return own_addresses(self.env, settings(self, BUDGET[BEST]).every)

    def index(self) -> Index | None:
        """Open the index as it is."""
        return open_index(self.home.join(NAME))


def activate(name: str, place: ActivationPlace, total: float = TOTAL) -> Activation:
    """Load what an agent should know.

    Raises UserError for a name that no file defines; whatever else is wrong costs a part.
    """
    begun = time.monotonic()
    loaded: dict[str, Any] = {}
    loaders = [
        Loader(
            "definition",
            CRITICAL,
            lambda: agent_definitions.find(name, place.location.worktree or "", place.env),
        ),
        Loader("git", HIGH, lambda: git_status(place, budget(HIGH, total))),
        Loader("index", HIGH, lambda: up_to_date(place)),
        Loader(
            "session", BEST, lambda: session(place, _named(name, loaded), loaded.get("history"))
        ),
        Loader("work", BEST, lambda: epic(place)),
        Loader("memories", BEST, lambda: memories(place, _named(name, loaded))),
        Loader("gotchas", BEST, lambda: gotchas(place, _named(name, loaded))),
        Loader("tasks", BEST, lambda: tasks(place, _named(name, loaded))),
        Loader("handovers", BEST, lambda: handovers(place, _named(name, loaded))),
        Loader("dna", BEST, lambda: dna(place)),
    ]
    history = place.history
    if history is not None:
        loaders.insert(2, Loader("history", HIGH, history))
    results = run(loaders, total, loaded)
    for result in results:
        if isinstance(result.cause, UserError) and result.name in {"definition", "history"}:
            raise result.cause
    definition = results[0].value if results[0].status == OK else None
    agent = definition or Agent(name.strip().removeprefix("@"), "", problem=results[0].error)
    quality = (
        FALLBACK
        if agent.problem
        else WHOLE
        if all(result.status == OK for result in results)
        else PARTIAL
    )
    return Activation(agent, quality, time.monotonic() - begun, results)


def _named(name: str, loaded: Mapping[str, Any]) -> str:
    """Return an agent's name as its definition writes it."""
    definition = loaded.get("definition")
    return definition.name if isinstance(definition, Agent) else name.strip().removeprefix("@")


def git_status(place: ActivationPlace, left: float) -> dict[str, Any] | None:
    """Return branch, changed files and last commit, None for a bare repository.

    Raises TimeoutError when git takes too long.
    """
    where = place.location
    if where.worktree is None:
        return None
    until = time.monotonic() + left * 0.9  # git is ended in time, and by the thread that started it
    git, here = Git(where.gitdir, place.env), ("-C", where.worktree, "--work-tree", where.worktree)
    status = (
        "--no-optional-locks",
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--ignore-submodules",
    )
    log = (
        "log",
        "-1",
        "--no-show-signature",
        "--format=%H%x00%s%x00%ct%x00%an%x00%ae%x00%ce",
        "HEAD",
        "--",
    )
    try:
        changed = git.run(*here, *status, timeout=until - time.monotonic())
        last = git.run(*here, *log, ok=(0, 128), timeout=max(0.01, until - time.monotonic()))
        hidden = ignored(
            [ignore_text(where.worktree)],
            settings(place, max(0.01, until - time.monotonic())).get("ignore"),
        )
    except External as error:
        if time.monotonic() >= until:
            raise TimeoutError("git took too long") from error
        raise
    paths = [
        path
        for row in changed.split(b"\0")
        if len(row) > 3 and not hidden.has(path := os.fsdecode(row[3:]))
    ]
    parts = last.decode("utf-8", "replace").strip().split("\0")
    commit = _last_commit(parts, place.own) if len(parts) == 6 and parts[2].isdigit() else None
    return {"branch": branch(where), "changed": len(paths), "files": paths[:MOST], "commit": commit}


def _last_commit(parts: Sequence[str], own: frozenset[str]) -> dict[str, Any]:
    """Return a commit; `by` is its author's name where it is not the user's own."""
    oid, subject, at, author, *mails = parts
    mine = made_by(own, *mails)
    return {
        "commit": oid,
        "at": float(at),
        "author": f"{author} <{mails[0]}>",
        "subject": subject,
        "by": "" if mine else author,
    }


def up_to_date(place: ActivationPlace) -> bool:
    """Bring the index up to date when a store has moved; return whether it was."""
    tips = {
        name: tip
        for name, ref in (("shared", SHARED), ("private", PRIVATE))
        if (tip := raw_ref(place.location.commondir, ref))
    }
    index = place.index()
    fresh = (index.tips() if index else {}) == tips
    if index:
        index.db.close()
    if not fresh:
        place.refresh()
    return fresh


def settings(place: ActivationPlace, left: float) -> config.Settings:
    """Return the settings from the cache, else from git, which has so many seconds.

    Raises TimeoutError.
    """
    until = time.monotonic() + left

    def ask() -> config.Settings:
        try:
            listing = Git(place.location.gitdir, place.env).run(
                *LIST, timeout=left, env=config.command_settings(place.env)
            )
        except External as error:
            if time.monotonic() >= until:
                raise TimeoutError("git took too long") from error
            raise
        return config.from_listing(listing)

    return our_settings(place.home, place.location, place.env, ask)


def session(
    place: ActivationPlace, agent: str, history: Sequence[Mapping[str, Any]] | None
) -> context.WorkContext:
    """Return the work in hand, for this agent."""
    table, _ = workflow_file.load(place.home, place.root)
    state = State(place.home)
    try:
        said = context.from_history(table, history, agent) if history else None
        return context.of(
            state,
            table,
            place.root,
            place.clock.now(),
            agent,
            session=place.session(),
            on=branch(place.location),
            talked=bool(history),
            said=said,
        )
    finally:
        state.close()


def epic(place: ActivationPlace) -> dict[str, Any] | None:
    """Return the epic that is not finished: the one of this work tree, else the one changed last.

    None when there is none.
    """
    index = place.index()
    if index is None:
        return None
    state = State(place.home)
    try:
        open_ = [epic for epic in epics.epics(index) if epic["rest"] in {"active", "paused"}]
        here = epic_holders.chosen(state, place.root)
        chosen = next((epic for epic in open_ if epic["id"] == here), open_[0] if open_ else None)
        return (
            {
                **chosen,
                **epics.condition(state, chosen, place.clock.now(), processes.is_gone),
                "by": author_if_foreign(chosen, place.own),
            }
            if chosen
            else None
        )
    finally:
        state.close()
        index.db.close()


def _rows(place: ActivationPlace, **filters: Any) -> list[dict[str, Any]]:
    index = place.index()
    if index is None:
        return []
    try:
        return index.rows(**filters)
    finally:
        index.db.close()


def memories(place: ActivationPlace, agent: str) -> list[dict[str, Any]]:
    """Return what is remembered for this agent alone: hand-overs are told by themselves."""
    with _facts(place) as facts:
        if facts is None:
            return []
        index, first = facts
        rows = index.rows(
            kinds=("memory",), statuses=LIVE, agents=(agent,), order="importance", limit=LOOKED
        )
        scored = [(first.score_of(row), row) for row in rows if _is_own(row, place)]
    lasting = [(score.value, row) for score, row in scored if not score.decayed]
    lasting.sort(key=itemgetter(0), reverse=True)
    return first.arrange([row for _, row in lasting[:MEMORIES]])


def _is_own(row: Mapping[str, Any], place: ActivationPlace) -> bool:
    return context.HANDOVER not in row["tags"] and is_accepted(row, place.own)


@contextmanager
def _facts(place: ActivationPlace) -> Iterator[tuple[Index, collect.FactOrder] | None]:
    """Open the index, and find out which facts are told first; None without an index."""
    index = place.index()
    if index is None:
        yield None
        return
    state = State(place.home)
    try:
        yield index, place.fact_order(index, state)
    finally:
        state.close()
        index.db.close()


def gotchas(place: ActivationPlace, agent: str) -> list[dict[str, Any]]:
    """Return the critical traps that are open."""
    both = ("global", agent)
    rows = _rows(
        place,
        kinds=("gotcha",),
        statuses=LIVE,
        severities=("critical",),
        resolved=False,
        agents=both,
        order="severity",
        limit=4 * GOTCHAS,
    )
    return [row for row in rows if is_accepted(row, place.own)][:GOTCHAS]


def tasks(place: ActivationPlace, agent: str) -> list[str]:
    """Return what is left to do, as records and the summary of this project say."""
    with _facts(place) as facts:
        if facts is None:
            return []
        index, first = facts
        entries = collect.gather(
            [index],
            ("global", agent),
            subjects=(collect.TASKS,),
            own=place.own,
            now=place.clock.stamp(),
            first=first,
        )
    return [entry.attributed for entry in entries[collect.TASKS]]


def handovers(place: ActivationPlace, agent: str) -> list[dict[str, Any]]:
    """Return what was handed over to this agent."""
    index = place.index()
    if index is None:
        return []
    try:
        return [
            {**row, "body": index.body(row["n"])}
            for row in context.handed([index], (agent,))
            if is_accepted(row, place.own)
        ]
    finally:
        index.db.close()


def dna(place: ActivationPlace) -> str:
    """Return the first line of the DNA of the whole project, '' if it was never written."""
    index = place.index()
    if index is None:
        return ""
    try:
        rows = index.rows(kinds=("dna",), statuses=LIVE, limit=3, order="updated")
        rows = [row for row in rows if not is_foreign(row, place.own)]
        lines = (
            [
                line.strip()
                for line in index.body(rows[0]["n"]).splitlines()
                if line.strip() and not line.startswith("#")
            ]
            if rows
            else []
        )
        return lines[0] if lines else ""
    finally:
        index.db.close()


def note(place: ActivationPlace, agent: str) -> None:
    """Note that an agent has come, if that can be done in a moment.

    A disk that cannot be written costs the note.
    """

    def work() -> None:
        state = State(place.home)
        try:
            context.activated(
                _Desk(place.location, state, place.clock), agent, session=place.session()
            )
        finally:
            state.close()

    _tier([Loader("note", BEST, work)], NOTING)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What answers questions about the repository."""

    location: Location
    state: State
    clock: Clock


__all__ = [
    "Activation",
    "ActivationPlace",
    "Loader",
    "LoaderResult",
    "activate",
    "limit",
    "note",
    "run",
]
