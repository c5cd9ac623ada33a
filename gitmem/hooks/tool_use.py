"""Hooks before and after a tool.

They give the gotchas of the file at hand, and what a command that passes now has taught. This
module is part of the hot path.
"""

import os

from gitmem.agents import events
from gitmem.agents.prompt_text import record_line
from gitmem.base.sqlite import unless_locked
from gitmem.clock import stamp
from gitmem.config import tool_budget
from gitmem.hooks.context import FILES, Hook
from gitmem.hooks.gotcha_lines import Spots, shown
from gitmem.hooks.injection import inject
from gitmem.records.kinds import LIVE, gotcha_id
from gitmem.repo.location import inside, storable
from gitmem.repo.source_frames import read_lines
from gitmem.state import moved_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.state.attempts import FailedCommand

    Row = dict[str, Any]

COMMAND = 8000  # characters of a command
LATER = 1.0  # seconds that what a command taught may wait for a busy database
# seconds that a tool waits once for each commit, for code that may have gone to another file
PATIENCE = 0.4
GLOBS = 10_000  # gotchas with a pattern that fits a file
TRIGGERED = 200  # gotchas without a place that are asked about one file


def before(hook: Hook) -> "list[str]":
    """Return the gotchas of the file about to be used, or those the command is known to hit."""
    if hook.event.action == events.COMMAND:
        from gitmem.hooks.edit_notes import note_before

        note_before(hook)
    if hook.event.action == events.COMMAND and hook.repo.settings.get("inject"):
        hook.catch_up()
        return _trips(hook)
    return _file(hook)


def after(hook: Hook) -> "list[str]":
    """Learn from what passes now and failed before.

    Return the gotchas of a file that was read or written.
    """
    event = hook.event
    if (
        not event.interrupted
        and not event.background
        and event.action in {events.COMMAND, events.WRITE}
    ):
        # sqlite3 is imported where it is used; a busy database costs a conclusion
        with unless_locked():
            _passed(hook)
    if event.changes or event.action == events.COMMAND:
        from gitmem.hooks.edit_notes import note_changes

        note_changes(hook)
    if event.action == events.COMMAND and not hook.paths:
        hook.paths = _shown_files(hook)
    return _file(hook)


def _shown_files(hook: Hook) -> "list[str]":
    """Return the files of the work tree that a command has shown."""
    from gitmem.agents import shell_reads

    if not hook.repo.root or not shell_reads.may_read(hook.event.command):
        return []
    hidden, paths = hook.ignored, list[str]()
    for name in shell_reads.read_names(hook.event.command):
        path = storable(inside(name, hook.repo.root, hook.folder))
        if (
            path
            and not (hidden and hidden.has(path))
            and os.path.isfile(os.path.join(hook.repo.root, path))
        ):
            paths.append(path)
    return paths


def _file(hook: Hook) -> "list[str]":
    if not hook.paths or not hook.repo.settings.get("inject"):
        return []
    hook.catch_up()
    drifts: list[str] = []
    if hook.event.action == events.WRITE:
        from gitmem.hooks.elsewhere import file_lines

        with unless_locked():
            drifts = file_lines(hook)
    return drifts + _gotchas_at_hand(hook, drifts)


def _gotchas_at_hand(hook: Hook, notices: "list[str]") -> "list[str]":
    """Return the gotchas of the files at hand, in what `notices` leaves of the budget."""
    rows = [row for path in hook.paths for row in _about(hook, path)]
    if not rows and hook.code_moved(PATIENCE):
        rows = [row for path in hook.paths for row in _about(hook, path)]
    if not rows:
        return []
    rows = shown(hook, rows)
    spots = Spots(hook)
    return inject(
        hook,
        rows,
        tool_budget(hook.repo.settings),
        lambda row: record_line(row, spot=row.get("spot") or spots.of(row)),
        notices,
    )


def _about(hook: Hook, path: str) -> "list[Row]":
    """Return the gotchas of a file.

    They belong to its path, to its pattern or to its code, or came here from another file.
    """
    wanted: dict[str, Any] = {
        "kinds": ("gotcha",),
        "statuses": LIVE,
        "agents": hook.repo.namespaces,
        "resolved": False,
        "valid_at": stamp(hook.now),
    }
    rows: list[Row] = []
    come = moved_code.places(hook.repo.state, hook.repo.stored_root, path)
    for index in hook.repo.stored_indexes:
        rows += index.rows(paths=(path,), order="severity", limit=20, **wanted)
        if come:
            rows += index.rows(ids=list(come), order="severity", limit=20, **wanted)
        fits = _matching_globs(index, path)
        rows += index.rows(numbers=fits, order="severity", limit=20, **wanted) if fits else []
        if loose := index.rows(triggered=True, order="severity", limit=TRIGGERED, **wanted):
            rows += _triggered(hook, path, loose)
    if not rows:
        return []
    away = {
        id
        for id, (at, *_) in moved_code.places(hook.repo.state, hook.repo.stored_root).items()
        if at != path
    }
    return [row for row in rows if row["id"] not in away or row.get("spot")]


def _matching_globs(index: "Index", path: str) -> list[int]:
    """Return the numbers of records whose pattern of paths fits a file."""
    globs = index.globs()
    if not globs:
        return []
    from gitmem.text.globs import glob_match

    return list({n for n, glob in globs if glob_match(glob, path)})[:GLOBS]


def _triggered(hook: Hook, path: str, rows: "list[Row]") -> "list[Row]":
    """Return the gotchas that the code of a file calls for by an expression or a query.

    Asked once for each state of the file.
    """
    full = os.path.join(hook.repo.root, path)
    try:
        file_facts = os.stat(full)
    except OSError:
        return []
    tips = " ".join(sorted(hook.repo.tips().values()))
    version = f"{file_facts.st_mtime_ns} {file_facts.st_size} {tips}"
    from gitmem.state import trigger_hits

    hits = trigger_hits.hits(hook.repo.state, hook.repo.stored_root, path, version)
    if hits is None:
        # grammars and RE2: only a repository with such gotchas pays for them
        from gitmem.services.gotchas import triggers

        hits = triggers.lines_of(rows, path, read_lines(full))
        trigger_hits.keep(hook.repo.state, hook.repo.stored_root, path, version, hits)
    return [{**row, "spot": f"{path}:{hits[row['id']]}"} for row in rows if row["id"] in hits]


def _trips(hook: Hook) -> "list[str]":
    from gitmem.text import shell

    keys = shell.heads(hook.event.command)
    rows: list[Row] = []
    for index in hook.repo.stored_indexes if keys else ():
        rows += index.by_commands(keys)
    rows = [
        row
        for row in rows
        if row["status"] in LIVE and not row["resolved"] and row["agent"] in hook.repo.namespaces
    ]
    rows = shown(hook, [row for row in rows if row["workaround"] or row["origin"] == "manual"])
    spots = Spots(hook) if rows else None
    return (
        inject(
            hook,
            rows,
            tool_budget(hook.repo.settings),
            lambda row: spots.line(row, lead="this command is known: "),
        )
        if spots
        else []
    )


def _passed(hook: Hook) -> None:
    from gitmem.state import attempts

    event = hook.event
    failures = attempts.failures(hook.repo.state, event.session)
    if not failures:
        return
    # rare, and there is no second chance
    hook.repo.state.db.execute(f"PRAGMA busy_timeout = {int(LATER * 1000)}")
    for path in event.paths[:FILES]:
        from gitmem.hooks.session_log import name_kept

        named = name_kept(storable(os.path.realpath(os.path.join(hook.folder, path))))
        attempts.note_step(hook.repo.state, event.session, hook.now, attempts.EDIT, named)
    if event.action == events.WRITE:
        return
    from gitmem.text import shell

    proven = shell.proven(event.command, hook.stored_folder)
    whole = shell.key(event.command, hook.stored_folder)
    over = [
        failure
        for failure in failures
        if failure.key in proven
        or (failure.key == whole and shell.same(event.command, failure.given))
    ]
    if over:
        _conclude(hook, over)
        return
    for step in shell.helping(event.command):
        attempts.note_step(
            hook.repo.state, event.session, hook.now, attempts.COMMAND, step[:COMMAND]
        )


def _conclude(hook: Hook, over: "Sequence[FailedCommand]") -> None:
    """Note that commands pass which failed before."""
    from gitmem.services.gotchas.capture import rule_of
    from gitmem.state import attempts

    event = hook.event
    rule = rule_of(hook.repo.settings)

    def captured(failure: "FailedCommand") -> bool:
        if gotchas_of_error(hook, failure.pattern, gotcha_id(failure.pattern)):
            return True
        hits = hook.repo.state.hits(failure.pattern, hook.now, rule.window)
        return rule.on and hits >= rule.threshold  # just captured: the index may be behind

    command = event.command[:COMMAND]
    if attempts.conclude(hook.repo.state, event.session, over, command, hook.now, captured):
        hook.start_drain(f"passed {hook.now}", sure=True)


def gotchas_of_error(hook: Hook, pattern: str, id: str) -> "list[Row]":
    """Return the records that know an error: its own gotcha, and those that wait for it."""
    about_error = {
        row["id"]: row
        for index in hook.repo.stored_indexes
        for row in (*index.get(id), *index.by_patterns([pattern]))
    }
    return list(about_error.values())
