"""What each event of an agent's session does: what it leaves behind, and what it is answered.

Part of the hot path: nothing here writes git. An error that repeats goes to the journal, and a detached
`git mem drain` commits it. Imports are the standard library's cheap modules and ours that keep to them.
"""

import json
import os

from gitmem.agents import events
from gitmem.agents.render import record_line
from gitmem.clock import stamp, ulid
from gitmem.files import head, inside
from gitmem.invocation import Hook
from gitmem.model.kinds import UNSURE, gotcha_id
from gitmem.store import journal
from gitmem.store.refs import SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Row = dict[str, Any]

SPILL = "errors.jsonl"  # hits that found state.db busy
COMMAND = 8000  # characters of a command
HISTORY_TEXT = 200  # characters of a prompt or an answer that the history keeps
LATER = 1.0  # seconds that what a command taught may wait for a busy database
GLOBS = 10_000  # gotchas with a pattern that fits a file
PATIENCE = 0.8  # seconds that the start of a session waits for a refresh that it needs
LIVE = ("active", "pinned")
SLIPS = (
    "Permission to use ",
    "InputValidationError",
    "<tool_use_error>",
    "The user doesn't want",
    "User rejected",
)  # of the agent, not of the project


def _start(hook: Hook) -> "list[str]":
    event = hook.event
    if event.source in {"compact", "clear"}:
        hook.state.forget_told(event.context)
    hook.catch_up(PATIENCE)
    if not hook.settings.get("inject"):
        return []
    gotchas: list[Row] = []
    pinned: list[Row] = []
    decisions: list[Row] = []
    for index in hook.indexes:
        both: dict[str, Any] = {"agents": hook.agents, "limit": 60}
        gotchas += index.rows(kinds=("gotcha",), statuses=LIVE, resolved=False, order="severity", **both)
        pinned += index.rows(kinds=("memory",), statuses=("pinned",), order="importance", **both)
        decisions += index.rows(kinds=("memory",), statuses=("active",), types=("decision", "rule"), **both)
    gotchas.sort(key=lambda row: str(row["last_seen"]), reverse=True)
    gotchas.sort(key=lambda row: row["severity"] != "critical")
    gotchas = _shown(hook, gotchas)
    budget, lines = int(hook.settings.get("startBudget")), list[str]()
    # half for gotchas, three quarters with what is pinned; what a part leaves over goes to the next
    for rows, share in ((gotchas, 0.5), (pinned, 0.75), (decisions, 1.0), (gotchas, 1.0)):
        lines += hook.tell(rows, int(budget * share), lambda row: record_line(row, most=160), lines)
    return lines


def _prompt(hook: Hook) -> "list[str]":
    hook.catch_up()
    if not hook.event.prompt.strip() or not hook.settings.get("inject"):
        return []
    from gitmem.services.recall import MOST, recall  # only a prompt pays for it

    found: list[Row] = []
    indexes = hook.indexes
    hidden = hook.state.snoozed(hook.now) if indexes else {}
    sure = bool(hook.settings.get("injectUnconfirmed"))
    for index in indexes:
        found += recall(index, hook.event.prompt, hook.root, hook.folder, hook.agents, hook.now, hidden, unconfirmed=sure)
    return hook.tell(found[:MOST], int(hook.settings.get("promptBudget")), lambda row: record_line(row, body=row["body"]))


def _file(hook: Hook) -> "list[str]":
    path = inside(hook.event.path, hook.root, hook.folder) if hook.event.path else ""
    if not path or not hook.settings.get("inject"):
        return []
    wanted: dict[str, Any] = {"kinds": ("gotcha",), "statuses": LIVE, "agents": hook.agents, "resolved": False}
    rows: list[Row] = []
    for index in hook.indexes:
        rows += index.rows(paths=(path,), order="severity", limit=20, **wanted)
        if globs := index.globs():
            from gitmem.model.globs import glob_match

            fits = list({n for n, glob in globs if glob_match(glob, path)})[:GLOBS]
            rows += index.rows(numbers=fits, order="severity", limit=20, **wanted) if fits else []
    rows = _shown(hook, rows)
    return hook.tell(rows, int(hook.settings.get("fileBudget")), record_line) if rows else []


def _shown(hook: Hook, rows: "list[Row]") -> "list[Row]":
    """Return the rows that this user wants to be told of."""
    if not hook.settings.get("injectUnconfirmed"):
        rows = [row for row in rows if row["confirmed"] or row["origin"] not in UNSURE]
    hidden = hook.state.snoozed(hook.now) if rows else {}
    return [row for row in rows if row["id"] not in hidden] if hidden else rows


def _done(hook: Hook) -> "list[str]":
    """After a tool: what passes now and failed before has taught something; of a file that was read or written, its gotchas."""
    event = hook.event
    if not event.interrupted and not event.background and event.action in {events.COMMAND, events.WRITE}:
        try:
            _passed(hook)
        except Exception as error:  # sqlite3 is imported where it is used; a busy database costs a conclusion
            if "locked" not in str(error):
                raise
    return _file(hook)


def _passed(hook: Hook) -> None:
    from gitmem.index import trials

    event = hook.event
    failures = trials.failures(hook.state, event.session)
    if not failures:
        return
    hook.state.db.execute(f"PRAGMA busy_timeout = {int(LATER * 1000)}")  # rare, and there is no second chance
    if event.action == events.WRITE:
        trials.note_step(hook.state, event.session, hook.now, trials.EDIT, os.path.realpath(os.path.join(hook.folder, event.path)))
        return
    from gitmem.model import commands

    proven = commands.proven(event.command, hook.folder)
    whole = commands.key(event.command, hook.folder)
    over = [one for one in failures if one.key in proven or (one.key == whole and commands.same(event.command, one.given))]
    if over:
        from gitmem.services.capture import rule_of

        rule = rule_of(hook.settings)

        def captured(failure: "trials.Failure") -> bool:
            if _known(hook, failure.pattern, gotcha_id(failure.pattern)):
                return True
            hits = hook.state.hits(failure.pattern, hook.now, rule.window, sessions=rule.sessions)
            return rule.on and hits >= rule.threshold  # just captured: the index may be behind

        if trials.conclude(hook.state, event.session, over, event.command[:COMMAND], hook.now, captured):
            hook.drain(f"passed {hook.now}", sure=True)
        return
    for step in commands.helping(event.command):
        trials.note_step(hook.state, event.session, hook.now, trials.COMMAND, step[:COMMAND])


def _failed(hook: Hook) -> "list[str]":
    event = hook.event
    # an edit that did not apply, a look at what is not there, a tool that was called wrongly: the agent's own slips, and no news about the project
    if event.interrupted or event.action != events.COMMAND or not event.error.strip() or event.error.startswith(SLIPS):
        return []
    from gitmem.model.commands import only_looks

    if only_looks(event.command):
        return []
    from gitmem.model.fingerprint import fingerprint  # only a failure pays for it

    mark = fingerprint(event.error, hook.root, event.command)
    if mark is None:
        return []
    from gitmem.services.capture import claim, rule_of

    known = [row for row in _known(hook, mark.pattern, gotcha_id(mark.pattern)) if row["status"] in LIVE]
    rule = rule_of(hook.settings)
    if not _counted(hook, mark.pattern, rule.window):
        return []
    if event.command:
        _note_failure(hook, mark.pattern)
    due = claim(hook.state, rule, mark, known, hook.now, event.session, event.error, event.command, hook.root)
    if due.id and due.facts:
        from gitmem.services.evidence import anchors

        try:
            _capture(hook, due.id, {**due.facts, "anchors": anchors(mark.locations, hook.root, hook.folder, head(hook.where))})
        except BaseException:
            hook.state.return_hits(mark.pattern, hook.now)
            raise
    if not hook.settings.get("inject"):
        return []
    rows = _shown(hook, [row for row in known if row["workaround"] and row["agent"] in hook.agents])
    return hook.tell(rows, int(hook.settings.get("fileBudget")), lambda row: record_line(row, lead="this error is known: "))


def _note_failure(hook: Hook, pattern: str) -> None:
    from gitmem.index import trials
    from gitmem.model import commands

    event = hook.event
    key = commands.key(event.command, hook.folder)
    failure = trials.Failure(key, pattern, hook.now, event.command[:COMMAND], head(hook.where) or "", hook.root)
    try:
        trials.note_failure(hook.state, event.session, failure)
    except Exception as error:  # sqlite3 is imported where it is used; a busy database costs a conclusion, no count
        if "locked" not in str(error):
            raise


def _counted(hook: Hook, pattern: str, window: float) -> bool:
    """Count a hit, and those that found the database busy before; leave it for the next when it is busy now."""
    spill = hook.home.join(SPILL)
    try:
        hook.state.add_error(pattern, hook.now, hook.event.session, window)
    except Exception as error:  # sqlite3 is imported where it is used
        if "locked" not in str(error):
            raise
        append(spill, {"pattern": pattern, "at": hook.now, "session": hook.event.session})
        return False
    taken = f"{spill}.{os.getpid()}"
    try:
        os.rename(spill, taken)  # one process takes them
    except FileNotFoundError:
        return True
    with open(taken, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            hook.state.add_error(str(row["pattern"]), float(row["at"]), str(row["session"]), window)
    os.unlink(taken)
    return True


def _known(hook: Hook, pattern: str, id: str) -> "list[Row]":
    found = {row["id"]: row for index in hook.indexes for row in (*index.get(id), *index.by_patterns([pattern]))}
    return list(found.values())


def _capture(hook: Hook, id: str, facts: "dict[str, Any]") -> None:
    """Leave a repeated error in the journal as `store.ops.capture` would have it, and have it committed."""
    key = ulid(hook.now, os.urandom(10))
    # no title in the subject: a commit's message is not scrubbed of secrets
    trailers = ["capture", [id], "" if hook.namespace == "global" else hook.namespace, hook.event.session, []]
    entry = {
        "key": key,
        "ref": SHARED,
        "since": hook.tips().get("shared"),
        "subject": f"gotcha: capture {id}",
        "trailers": trailers,
    }
    journal.add(hook.home, {**entry, "author": ["", ""], "at": stamp(hook.now), "ops": [{"op": "capture", "id": id, "facts": facts}]})
    hook.drain(f"journal {key}.json", sure=True)


def _end(hook: Hook) -> "list[str]":
    from gitmem.index import trials

    hook.state.end_session(hook.event.session, hook.now)
    trials.forget(hook.state, hook.event.session)
    hook.drain(f"end {hook.event.session}", sure=bool(hook.waiting()))
    return []


def _turn(hook: Hook) -> "list[str]":
    hook.catch_up()
    return []


HANDLERS: "dict[str, Callable[[Hook], list[str]]]" = {
    events.SESSION_START: _start, events.PROMPT: _prompt, events.BEFORE_TOOL: _file, events.AFTER_TOOL: _done, events.TOOL_FAILED: _failed,
    events.TURN_END: _turn, events.SESSION_END: _end,
}  # fmt: skip


def note(hook: Hook) -> None:
    """Append the event to the session's history, and give a sign of life."""
    event = hook.event
    made = stamp(hook.now)
    role, content = "system", event.source
    if event.name == events.PROMPT:
        role, content = "user", event.prompt
    elif event.name == events.TURN_END:
        role, content = "assistant", event.message
    elif event.tool:
        role, content = "tool", "failed" if event.name == events.TOOL_FAILED else ""
    files = [inside(event.path, hook.root, hook.folder) or event.path] if event.path else []
    row = {
        "timestamp": made, "role": role, "content": content[:HISTORY_TEXT],
        "metadata": {"event": event.name, "tool": event.tool, "files": files, **({"agent_id": event.subagent} if event.subagent else {})},
    }  # fmt: skip
    named = f"history_{made[:10].replace('-', '')}_{made[11:19].replace(':', '')}_{event.session[:8]}.jsonl"
    folder = hook.home.make("sessions")
    try:
        named = os.path.basename(hook.state.open_session(event.session, event.agent, hook.now, named))
    except Exception as error:  # the event is durable, whatever the database does
        if "locked" not in str(error):
            raise
        mine = sorted(name for name in os.listdir(folder) if name.endswith(f"_{event.session[:8]}.jsonl"))
        named = mine[-1] if mine else named
    append(os.path.join(folder, named), row)


def append(path: str, row: "Mapping[str, Any]") -> None:
    """Append a row to a file that only its owner reads: one write, so that lines of parallel hooks do not mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, json.dumps(row).encode() + b"\n")
    finally:
        os.close(handle)
