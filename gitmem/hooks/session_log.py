"""The history of a session: one JSON object per line and event, readable by its owner only.

`timestamp` (RFC 3339 UTC), `role` (user, assistant, system, tool), `content` (redacted, cut),
`metadata` (event, tool, files, ...) and, where it may have changed, `state` (agent, model, folder,
branch). `docs/sessions.md` says it for users.
"""

import os
from errno import ENOSPC

from gitmem.agents import events
from gitmem.base.fast import dumps
from gitmem.base.sqlite import is_locked
from gitmem.clock import stamp
from gitmem.hooks.context import Hook
from gitmem.redaction.formats import harmless
from gitmem.repo.refs import branch
from gitmem.state import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FOLDER = "sessions"
# characters that are kept of what people and agents say, and of commands and what they print
TEXT, OUTPUT = 8000, 2000
HEAD = len("history_YYYYMMDD_HHMMSS_")  # of a file's name, before the session's id
FULL = 32 << 20  # bytes of a history from which on rows come without their content
SAID = "Said"  # the event of what was said in the middle of a turn, where an agent tells it
# they tell the state; they open a session
STATED = frozenset({events.SESSION_START, events.PROMPT})


def note(hook: Hook) -> None:
    """Append an event to its session's history, and give a sign of life.

    One write; what is acknowledged is there.
    """
    event = hook.event
    folder = hook.repo.home.make(FOLDER)
    opens = event.name in STATED
    process = ""
    if opens:
        from gitmem.base.processes import agent

        process = agent()
    trouble: Exception | None = None
    try:
        name = _signed(hook, process, opens=opens)
        if not name:  # a session of another agent came to this id since we asked
            event.session = sessions.shared_id(event.session, event.agent)
            name = _signed(hook, process, opens=opens)
    except Exception as error:  # noqa: BLE001 - the event is durable, whatever the database does
        trouble = error
        hook.repo.hurry()
        name = (_files(folder, event.session) or [_name(hook)])[-1]
    at = f"{stamp(hook.now)[:-1]}.{int(hook.now * 1000) % 1000:03d}Z"
    path = os.path.join(folder, name)
    if event.message and event.tool:
        append(path, _said(hook, at), FULL)
    size = append(path, row(hook, at), FULL)
    if not trouble and size > sessions.HISTORY_LIMIT:
        hook.start_drain(f"condense {event.session}")  # it puts the rows aside
    if trouble and not is_locked(trouble):
        raise trouble


def _signed(hook: Hook, process: str, *, opens: bool) -> str:
    """Give a sign of life.

    Return the name of the session's file, empty where the id is that of another agent's session.
    """
    event = hook.event
    mine = sessions.Session(
        event.session,
        event.agent,
        hook.now,
        hook.now,
        _name(hook),
        None,
        "",
        hook.repo.stored_root,
        event.transcript,
        process,
    )
    others = [agent for agent in events.ADAPTERS if agent != event.agent]
    return os.path.basename(sessions.sign(hook.repo.state, mine, opens=opens, others=others))


def _name(hook: Hook) -> str:
    """Return how the file of a session that begins now is called."""
    made = stamp(hook.now)
    # the whole id: those of some agents begin with the time, and are alike in their first eight
    # characters
    day, time = made[:10].replace("-", ""), made[11:19].replace(":", "")
    return f"history_{day}_{time}_{hook.event.session}.jsonl"


def _files(folder: str, id: str) -> "list[str]":
    """Return the files of a session, the oldest first.

    A name has a date of fixed length before the id.
    """
    try:
        return sorted(name for name in os.listdir(folder) if name[HEAD:] == f"{id}.jsonl")
    except OSError:
        return []


def own_id(hook: Hook) -> str:
    """Return the id of an event's session.

    It is the id that the agent gives, unless a session of another agent has it.

    Where the database does not say, a history of our own says that there were two.
    """
    event = hook.event
    shared = sessions.shared_id(event.session, event.agent)
    try:
        session = sessions.get(hook.repo.state, event.session)
    except Exception:  # noqa: BLE001 - the event is to be kept, whatever the database does
        hook.repo.hurry()
        return shared if _files(hook.repo.home.join(FOLDER), shared) else event.session
    other = (
        session is not None and session.agent in events.ADAPTERS and session.agent != event.agent
    )
    return shared if other else event.session


def row(hook: Hook, at: str) -> "dict[str, Any]":
    """Return an event as a row of the history."""
    event = hook.event
    role, content = "system", ""
    if event.name == events.PROMPT:
        role, content = "user", kept(event.prompt, TEXT)
    elif event.name == events.TURN_END:
        role, content = "assistant", kept(event.message, TEXT)
    elif event.tool:
        # the command has been masked; an output only of what is a secret for sure
        role, content = (
            "tool",
            "\n".join(x for x in (cut(event.command, OUTPUT), kept(event.error, OUTPUT)) if x),
        )
    facts = {
        "event": event.name,
        "tool": event.tool,
        "action": event.action,
        "files": [name_kept(path) for path in hook.paths],
        "source": event.source,
        "call": event.call,
        "agent_id": event.subagent,
    }
    out: dict[str, Any] = {
        "timestamp": at,
        "role": role,
        "content": content,
        "metadata": {k: v for k, v in facts.items() if v},
    }
    if event.name in STATED:
        state = {
            "agent": event.agent,
            "model": event.model,
            "folder": os.path.relpath(hook.stored_folder, hook.repo.stored_root)
            if hook.repo.stored_root
            else "",
            "branch": branch(hook.repo.location),
        }
        out["state"] = {k: v for k, v in state.items() if v}
    return out


def _said(hook: Hook, at: str) -> "dict[str, Any]":
    """Return what the assistant said before it used a tool as a row of the history."""
    facts = {"event": SAID}
    if hook.event.subagent:
        facts["agent_id"] = hook.event.subagent
    content = kept(hook.event.message, TEXT)
    return {"timestamp": at, "role": "assistant", "content": content, "metadata": facts}


def kept(text: str, most: int) -> str:
    """Return a text as it may be stored: without secrets, and cut.

    Masked whole and cut afterwards: half a secret has no format.
    """
    if not text.strip():
        return ""
    if len(text) <= most and harmless(text):
        return text.strip()
    from gitmem.redaction.mask import scrub

    return cut(scrub(text[: 4 * most], quick=True).text, most)


def name_kept(path: str) -> str:
    """Return the name of a file as it may be stored: without secrets of known formats."""
    if harmless(path):
        return path
    from gitmem.redaction.mask import scrub

    return scrub(path, is_name=True).text


def cut(text: str, most: int) -> str:
    """Return the beginning of a text."""
    text = text.strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def append(path: str, row: "Mapping[str, Any]", full: int = 0) -> int:
    """Append a row to a file that only its owner reads.

    It uses one write, so that lines of parallel hooks do not mix. Raises OSError.

    Returns how long the file is now. One of more than `full` bytes gets the row without its
    content. What a full disk has cut off does not take the next row with it.
    """
    handle = os.open(
        path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        size = os.fstat(handle).st_size
        if full and size > full:
            row = {**row, "content": ""}
        data = dumps(row).encode() + b"\n"
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        if os.write(handle, data) < len(data):
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        return size + len(data)
    finally:
        os.close(handle)
