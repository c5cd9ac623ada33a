"""Handles a tool that failed.

The error is counted, becomes a gotcha when it repeats, and is answered when it is known. This
module is part of the hot path.
"""

import os
import time

from gitmem.agents import events
from gitmem.agents.prompt_text import fix_text
from gitmem.base.sqlite import is_locked, unless_locked
from gitmem.base.tolerated import BUSY
from gitmem.clock import stamp, ulid
from gitmem.config import tool_budget
from gitmem.hooks.context import Hook
from gitmem.hooks.gotcha_lines import Spots, shown
from gitmem.hooks.injection import inject
from gitmem.hooks.session_log import append
from gitmem.hooks.tool_use import COMMAND, gotchas_of_error
from gitmem.records.kinds import LIVE, gotcha_id
from gitmem.repo.caller import BACKGROUND
from gitmem.repo.refs import PRIVATE, SHARED, head
from gitmem.state import spilled_hits, tool_calls
from gitmem.store import journal
from gitmem.store.trailers import command_trailers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.fingerprint.fingerprint import Fingerprint
    from gitmem.services.gotchas.capture import Due

# seconds that the hook of a failure may be at it, while others of the same call are repeats
REPEAT = 3.0
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
        row
        for row in gotchas_of_error(hook, mark.pattern, gotcha_id(mark.pattern))
        if row["status"] in LIVE
    ]
    if not rows and mark.is_slip:
        return []
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
        waits=True,
    )
    if due.id and due.facts:
        from gitmem.repo.source_frames import anchors

        try:
            _capture(
                hook,
                due,
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
    return _fixes(hook, rows) if hook.repo.settings.get("inject") else []


def _fixes(hook: Hook, rows: "list[dict[str, Any]]") -> "list[str]":
    """Return what is known to help, of the records that know an error."""
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
        tool_budget(hook.repo.settings),
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
    try:
        hook.repo.state.add_error(pattern, hook.now, hook.event.session, window)
    except BUSY as error:
        if not is_locked(error):
            raise
        spill = hook.repo.home.join(spilled_hits.NAME)
        append(spill, {"pattern": pattern, "at": hook.now, "session": hook.event.session})
        return False
    spilled_hits.count(hook.repo.home, hook.repo.state, window)
    return True


def _capture(hook: Hook, due: "Due", facts: "dict[str, Any]") -> None:
    """Write a repeated error to the journal (`store.operations.capture`) and start a commit."""
    id = due.id
    key = ulid(hook.now, os.urandom(10))
    # no title in the subject: a commit's message is not scrubbed of secrets
    trailers = [
        "capture",
        [id],
        "" if hook.repo.namespace == "global" else hook.repo.namespace,
        hook.event.session,
        command_trailers(key, BACKGROUND),
    ]
    entry = {
        "key": key,
        "ref": SHARED if due.scope == "shared" else PRIVATE,
        "since": hook.repo.tips().get(due.scope),
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
