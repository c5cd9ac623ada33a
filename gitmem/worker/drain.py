"""What hooks leave for later, done by a detached process.

People see its trace in `git mem status`.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitmem.app import App, open_app
from gitmem.base.detach import detach
from gitmem.base.files import Lock
from gitmem.errors import Busy, GitmemError, InvalidRecord, UnknownId
from gitmem.git.new_packs import release_abandoned
from gitmem.index.reader import Index
from gitmem.repo.location import is_there, storable
from gitmem.repo.refs import code_state
from gitmem.services.gotchas import hits, lost_code, placement
from gitmem.services.session_log import rotation
from gitmem.state import (
    daily_work,
    drains,
    memory_file_requests,
    moved_code,
    requests,
    spilled_hits,
)
from gitmem.store import quarantine
from gitmem.text.plural import counted

if TYPE_CHECKING:
    from gitmem.worker.consolidation import StepReport

RENAMED = 200  # files that are gone and looked for under another name
SEARCH = 3.0  # seconds that code which is not where it was is looked for
LARGE = 5000  # records of a store whose history is not read while somebody waits
TURN = 10.0  # seconds that a drain waits for the one before it
LONGEST = 900  # seconds that a drain may take for one session, and for the rest


def drain(app: App) -> None:
    """Do the work that a hook leaves for later.

    Commit what waits in the journal, refresh the index, and finish sessions.
    """
    # what hangs ends; what it had taken on comes back with the next one, which reads less of it
    signal.alarm(LONGEST)
    try:
        _drain(app)
    finally:
        signal.alarm(0)  # where the command is one of several in a process
        if not is_there(app.location):
            _hand_over(app)


def _hand_over(app: App) -> None:
    """Start a drain of the whole repository, because this one's work tree was removed."""
    where = app.location.commondir
    if app.location.gitdir == where or not os.path.isdir(where):
        return
    os.chdir(where)  # git refuses to work in a folder that is gone
    env = {key: value for key, value in app.env.items() if key != "GIT_WORK_TREE"}
    detach(["-C", where, "drain"], {**env, "GIT_DIR": where})


def _drain(app: App) -> None:
    app.is_background = True
    with _alone(app):
        began, done, failures = time.monotonic(), list[str](), list[Exception]()
        drains.begin(app.state)
        try:
            for step in (
                _release,
                _commit,
                _learn,
                _adopt,
                _finish,
                _use,
                _compare,
                _condense,
                _compile,
                _native,
                _follow,
                _drift,
                _refute,
                _look_back,
                _consolidate,
                _expire,
            ):
                app.begin_command()
                try:
                    done += step(app)
                except Exception as error:  # noqa: BLE001 - raised below: one session that cannot be read must not keep the rest from its turn
                    failures.append(error)
        finally:
            failed = "; ".join(f"{type(error).__name__}: {error}" for error in failures)
            seconds = round(time.monotonic() - began, 3)
            if not app.state.in_memory:
                drains.report(app.state, app.clock.now(), seconds, done, failed)
        if failures:
            raise failures[0]


@contextmanager
def _alone(app: App) -> Iterator[None]:
    """Wait for a while if another drain is running.

    Two drains do no harm, but many of them slow down those who wait.
    """
    lock = Lock(app.home.touch("drain.lock"), TURN)
    try:
        lock.__enter__()
    except GitmemError:
        yield
        return
    try:
        yield
    finally:
        lock.__exit__()


def _commit(app: App) -> list[str]:
    """Commit what waits, and what commands that pass again have taught."""
    spilled = _count_spilled(app)
    app.settle()
    learned = app.conclude()
    if learned:
        app.settle()
    app.tell_hits(app.clock.now() - (0 if spilled else hits.OLDEST))
    moved = app.move_facts()
    done = [f"{counted(learned, 'gotcha')} changed by a command that passed"] if learned else []
    return [*done, f"{counted(moved, 'fact')} moved to the shared store"] if moved else done


def _count_spilled(app: App) -> int:
    """Count the errors that found the database busy; return how many."""
    if app.state.in_memory or not spilled_hits.has_waiting(app.home):
        return 0
    from gitmem.services.gotchas.capture import rule_of

    return spilled_hits.count(app.home, app.state, rule_of(app.settings).window)


def _learn(app: App) -> list[str]:
    """Read what commits teach, and find out whose they are."""
    from gitmem.worker.commits import learn

    return learn(app)


def _adopt(app: App) -> list[str]:
    """Have the records of sessions written of which only the history is left."""
    from gitmem.services.sessions.recovery import adopt

    if not app.settings.get("recordSessions"):
        return []

    def has(id: str) -> bool:
        try:
            app.store("private").get(id)
        except UnknownId:
            return False
        return True

    number = adopt(app.home, app.state, has, str(app.location.worktree or ""), app.clock.now())
    return [f"{counted(number, 'session')} found again by their history"] if number else []


def _finish(app: App) -> list[str]:
    """Write what sessions asked for."""
    if not requests.waiting(app.state):
        return []
    from gitmem.services.sessions import finish

    # what reads sessions takes 100 ms to load, and a start waits for an index that is behind
    from gitmem.worker.session_jobs import desk

    def begin() -> None:
        signal.alarm(LONGEST)
        app.begin_command()

    done = finish.work_off(app.state, desk(app), begin)
    if done:
        app.index()
    return done


def _use(app: App) -> list[str]:
    """Count the facts that agents were told and then used."""
    from gitmem.worker.facts import count_uses

    return [] if app.state.in_memory else count_uses(app)


def _compare(app: App) -> list[str]:
    """Find out which facts contradict each other."""
    from gitmem.worker.facts import compare

    return [] if app.state.in_memory else compare(app)


def _drift(app: App) -> list[str]:
    """Find out what other branches and work trees change of the code."""
    from gitmem.worker.drift import keep

    return keep(app)


def _look_back(app: App) -> list[str]:
    """Note which commits changed which records of a large store, so that nobody has to wait."""
    from gitmem.store.record_history import NAME, RecordHistory

    is_large = sum(app.index().count().values()) > LARGE
    if app.state.in_memory or not is_large or os.path.exists(app.home.join(NAME)):
        return []
    with RecordHistory(app.home, app.git) as history:
        for name in ("shared", "private"):
            store = app.store(name)
            if tip := store.tip():
                history.follow(store.ref, tip)
    return []


def _consolidate(app: App) -> list[str]:
    """Tidy the memory, at most once a day; what another clone did with the shared store counts."""
    if not app.settings.get("consolidate") or app.state.in_memory:
        return []
    reports: list[StepReport] = []
    try:
        with _daily(app, daily_work.CONSOLIDATION) as is_due:
            if is_due:
                reports = _tidy(app)
    except Busy:  # a person's consolidation does the same at this moment
        return []
    changes = [report for report in reports if report.changed]
    return [f"{report.step}: {counted(report.changed, 'fact')}" for report in changes]


def _tidy(app: App) -> "list[StepReport]":
    from gitmem.worker.consolidation import IN_BACKGROUND, Consolidation, scopes_in_background
    from gitmem.worker.one_consolidation import alone

    work = Consolidation(app, scopes_in_background(app))
    with alone(app, IN_BACKGROUND, wait=0):
        return [work.run(step) for step in IN_BACKGROUND]


@contextmanager
def _daily(app: App, work: str) -> Iterator[bool]:
    """Give whether work is due today; it counts as done only if the block ends well."""
    if not daily_work.claim(app.state, work, app.clock.now()):
        yield False
        return
    try:
        yield True
    except BaseException:
        daily_work.release(app.state, work)
        raise
    daily_work.finish(app.state, work, app.clock.now())


def _refute(app: App) -> list[str]:
    """Find out which facts the code refutes: by their own checks, and by what they name daily."""
    from gitmem.worker.code_check import keep_up

    with _daily(app, daily_work.NAMES) as is_due:
        return keep_up(app, whole=is_due)


def _expire(app: App) -> list[str]:
    """Forget what is old; last, so that a session which died long ago is recorded before."""
    rotation.expire_sessions(app.home, app.state, app.clock.now())
    quarantine.expire(app.home, app.clock.now())
    return []


def _release(app: App) -> list[str]:
    """Let git treat what writes that were killed left as any other pack."""
    release_abandoned(os.path.join(app.location.commondir, "objects"))
    return []


def _condense(app: App) -> list[str]:
    """Put aside what has grown long of histories, and tell it in short."""
    from gitmem.services.session_log import compact

    return compact.run(app.home, app.state, app.clock.now())


def _compile(app: App) -> list[str]:
    """Put the repository's own table of workflows where hooks find it.

    One that is wrong is told by the commands that need it.
    """
    from gitmem.services.work import context, workflow_file

    try:
        workflow_file.load(app.home, context.root_of(app.location.worktree))
    except InvalidRecord:
        pass
    return []


def _native(app: App) -> list[str]:
    """Keep agents' own memory files in step with the stores.

    This is done in the work trees where a session that began or ended asked for it.
    """
    roots = memory_file_requests.take(app.state)
    how = app.settings.get("native")
    if not roots or how == "off":
        return []
    from gitmem.worker.memory_files import keep_in_step

    done: list[str] = []
    for root in roots:
        if not os.path.isdir(root):
            continue
        try:
            with open_app(root, app.env, app.clock, "git") as other:
                other.is_background = True
                done += keep_in_step(other, how)
        # a file that nobody may write must not keep the rest from its turn
        except GitmemError as error:
            done.append(f"memory files: {error}")
    return done


def _renamed(app: App, index: Index) -> list[tuple[str, str, int, int, str]]:
    """Return the present places of moved files that gotchas are about as a whole."""
    out = []
    root = str(app.location.worktree)
    gone = [
        path
        for path, blobs in index.bases().items()
        if "" in blobs and not os.path.lexists(os.path.join(root, path))
    ]
    for row in (
        index.rows(paths=gone[:RENAMED], fields=("id", "anchors"), **placement.OPEN) if gone else ()
    ):
        for anchor in row["anchors"]:
            if (
                anchor.get("path") in gone
                and not anchor.get("lines")
                and (now := app.follower.called(anchor))
            ):
                out.append((now, row["id"], 0, 0, str(anchor["path"])))
    return out


def _follow(app: App) -> list[str]:
    """Find the code of gotchas that is in another file today.

    Hooks can then report it without asking git.
    """
    root = storable(os.path.realpath(app.location.worktree)) if app.location.worktree else ""
    if not root:
        return []
    index = app.index()
    key = code_state(app.location, index.tips())
    staged = os.path.join(app.location.gitdir, "index")
    stamp = f"{os.stat(staged).st_mtime_ns}" if os.path.exists(staged) else ""
    if moved_code.searched(app.state, root) == (key, stamp):
        return []
    until = time.monotonic() + SEARCH
    code = lost_code.counted_code(index, app.location)
    survey = placement.survey([index], app.follower, lambda: time.monotonic() < until)
    lost_code.keep_count(app.state, code, survey)
    away = []
    for place in survey.drifted:
        now, before = place.where, place.anchor.get("path")
        if now.is_certain and now.path != before:
            away.append((now.path, place.row["id"], now.first, now.last, str(before)))
    away += _renamed(app, index)
    moved_code.replace(app.state, root, key, stamp, away)
    return [f"{counted(len(away), 'gotcha')} followed to another file"] if away else []
