"""Handles a tool that failed.

The error is counted, becomes a gotcha when it repeats, and is answered when it is known. This
module is part of the hot path.
"""

import os
import time

from gitmem.agents import events
from gitmem.agents.prompt_text import fix_text
from gitmem.base.fast import loads
from gitmem.base.processes import runs
from gitmem.base.sqlite import is_locked, unless_locked
from gitmem.base.tolerated import BUSY, MALFORMED
from gitmem.clock import stamp, ulid
from gitmem.hooks.context import Hook
from gitmem.hooks.gotcha_lines import Spots, shown
from gitmem.hooks.injection import inject
from gitmem.hooks.session_log import append
from gitmem.hooks.tool_use import COMMAND, known
from gitmem.records.kinds import LIVE, gotcha_id
from gitmem.repo.refs import SHARED, head
from gitmem.state import tool_calls
from gitmem.store import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitmem.fingerprint.fingerprint import Fingerprint

# seconds that the hook of a failure may be at it, while others of the same call are repeats
REPEAT = 3.0
SPILL = "errors.jsonl"  # hits that found state.db busy
SLIPS = (
    "Permission to use ",
    "InputValidationError",
    "<tool_use_error>",
    "The user doesn't want",
    "User rejected",
)  # of the agent, not of the project


def failed(hook: Hook) -> "list[str]":
    """Count an error; return the workaround of one that is known."""
    event = hook.event
    # an edit that did not apply, a look at what is not there, a tool that was called wrongly: the
    # agent's own slips, and no news about the project
    if (
        event.interrupted
        or event.action != events.COMMAND
        or not event.error.strip()
        or event.error.startswith(SLIPS)
    ):
        return []
    from gitmem.text.shell import only_looks

    if only_looks(event.command):
        return []
    from gitmem.fingerprint.fingerprint import fingerprint  # only a failure pays for it

    mark = fingerprint(event.error, hook.repo.stored_root, event.command)
    if mark is None:
        return []
    if not event.call:
        return _learned(hook, mark)
    # sqlite3 is imported where it is used; better counted twice than not at all
    with unless_locked():
        if not tool_calls.claim(hook.repo.state, event.session, event.call, hook.now, REPEAT):
            return []
    lines = _learned(hook, mark)
    with unless_locked():
        tool_calls.release(hook.repo.state, event.session, event.call, time.time())
    return lines


def _learned(hook: Hook, mark: "Fingerprint") -> "list[str]":
    from gitmem.services.gotchas.capture import claim, rule_of

    event = hook.event
    with unless_locked():  # sqlite3 is imported where it is used; the hit is counted all the same
        hook.catch_up()
    rows = [
        row for row in known(hook, mark.pattern, gotcha_id(mark.pattern)) if row["status"] in LIVE
    ]
    rule = rule_of(hook.repo.settings)
    if not _counted(hook, mark.pattern, rule.window):
        return []
    if event.command:
        _note_failure(hook, mark.pattern)
    due = claim(
        hook.repo.state,
        rule,
        mark,
        rows,
        hook.now,
        event.session,
        event.error,
        event.command,
        hook.repo.stored_root,
    )
    if due.id and due.facts:
        from gitmem.repo.source_frames import anchors

        try:
            _capture(
                hook,
                due.id,
                {
                    **due.facts,
                    "anchors": anchors(
                        mark.locations,
                        hook.repo.root,
                        hook.folder,
                        head(hook.repo.location),
                    ),
                },
            )
        except BaseException:
            hook.repo.state.return_hits(mark.pattern, hook.now)
            raise
    if not hook.repo.settings.get("inject"):
        return []
    rows = shown(
        hook,
        [
            row
            for row in rows
            if (row["workaround"] or row["fix"]) and row["agent"] in hook.repo.namespaces
        ],
    )
    if not rows:
        return []
    spots = Spots(hook)
    return inject(
        hook,
        rows,
        int(hook.repo.settings.get("fileBudget")),
        lambda row: spots.line(row, lead="this error is known: ", fix=fix_text(row["fix"])),
    )


def _note_failure(hook: Hook, pattern: str) -> None:
    from gitmem.state import attempts
    from gitmem.text import shell

    event = hook.event
    key = shell.key(event.command, hook.stored_folder)
    failure = attempts.FailedCommand(
        key,
        pattern,
        hook.now,
        event.command[:COMMAND],
        head(hook.repo.location) or "",
        hook.repo.stored_root,
    )
    # sqlite3 is imported where it is used; a busy database costs a conclusion, no count
    with unless_locked():
        attempts.note_failure(hook.repo.state, event.session, failure)


def _counted(hook: Hook, pattern: str, window: float) -> bool:
    """Count a hit, and those that found the database busy before.

    Leave it for the next when it is busy now.
    """
    spill = hook.repo.home.join(SPILL)
    try:
        hook.repo.state.add_error(pattern, hook.now, hook.event.session, window)
    except BUSY as error:
        if not is_locked(error):
            raise
        append(spill, {"pattern": pattern, "at": hook.now, "session": hook.event.session})
        return False
    for taken in _taken(hook):
        rows = _rows(taken)
        for n, row in enumerate(rows):
            try:
                hook.repo.state.add_error(
                    row["pattern"], row["at"], row["session"], window, again=True
                )
            except BUSY as error:
                if not is_locked(error):
                    raise
                for left in rows[n:]:  # busy again: they wait for the next
                    append(spill, left)
                break
        try:
            os.unlink(taken)
        except FileNotFoundError:
            continue  # a process of another container, which does not see this one, has taken it
    return True


def _rows(path: str) -> "list[dict[str, Any]]":
    """Return the hits of a file, without what a full disk has cut off."""
    rows = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return []  # a process of another container has taken it
    for line in lines:
        try:
            row = loads(line)
            rows.append(
                {
                    "pattern": str(row["pattern"]),
                    "at": float(row["at"]),
                    "session": str(row["session"]),
                }
            )
        except MALFORMED:
            continue
    return rows


def _taken(hook: Hook) -> "Iterator[str]":
    """Yield the files of hits that found the database busy, each taken by this process alone.

    Those of processes that were killed over them too.
    """
    pid = str(os.getpid())
    left = [name for name in os.listdir(hook.repo.home.path) if name.startswith(f"{SPILL}.")]
    for name in (SPILL, *(one for one in left if (of := one.split(".")[2]) == pid or not runs(of))):
        mine = hook.repo.home.join(f"{SPILL}.{pid}.{time.monotonic_ns()}")
        try:
            os.rename(hook.repo.home.join(name), mine)
        except FileNotFoundError:
            continue
        yield mine


def _capture(hook: Hook, id: str, facts: "dict[str, Any]") -> None:
    """Write a repeated error to the journal (`store.operations.capture`) and start a commit."""
    key = ulid(hook.now, os.urandom(10))
    # no title in the subject: a commit's message is not scrubbed of secrets
    trailers = [
        "capture",
        [id],
        "" if hook.repo.namespace == "global" else hook.repo.namespace,
        hook.event.session,
        [],
    ]
    entry = {
        "key": key,
        "ref": SHARED,
        "since": hook.repo.tips().get("shared"),
        "subject": f"gotcha: capture {id}",
        "trailers": trailers,
    }
    journal.add(
        hook.repo.home,
        {
            **entry,
            "author": ["", ""],
            "at": stamp(hook.now),
            "ops": [{"op": "capture", "id": id, "facts": facts}],
        },
    )
    hook.start_drain(f"journal {key}.json", sure=True)
