"""Note which lines a tool wrote: by them lines of a commit are known to be this session's.

Part of the hot path.
"""

import os

from gitmem.agents import events
from gitmem.agents.shell_words import may_write
from gitmem.base.sqlite import unless_locked
from gitmem.hooks.context import Hook
from gitmem.repo.location import inside, storable
from gitmem.state import tool_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.agents.shell_writes import Write
    from gitmem.text.line_marks import EditMarks

CONTENT = 4 << 20  # bytes of a file that was edited
LINES = 4000  # lines of a file that a command may change
STARTING = 10.0  # seconds that a hook may take to start after its command has ended


def note_before(hook: Hook) -> None:
    """Remember the files that a command names, as they are before it runs."""
    command = hook.event.command
    if not may_write(command):
        return
    from gitmem.agents import shell_writes
    from gitmem.state.edits import packed
    from gitmem.text.line_marks import marks, squeezed

    files: dict[str, bytes] = {}
    for name in shell_writes.edited_names(command):
        if len(files) >= shell_writes.NAMED:
            break
        path = _path(hook, name)
        if not path:
            continue
        content = _content(hook, path)
        lines = squeezed(content or b"")
        if len(lines) <= LINES:
            files[path] = packed(marks(lines))
    if files:
        event = hook.event
        with unless_locked():
            tool_calls.note_files_before(
                hook.repo.state, event.session, event.call, hook.now, files
            )


def note_changes(hook: Hook) -> None:
    """Remember what a tool did to files."""
    notes: dict[str, EditMarks] = {}
    at = hook.now
    if hook.event.action == events.COMMAND:
        if hook.event.interrupted or hook.event.background:
            return
        notes = _by_command(hook)
        # a command may commit what it has written: the files tell when that was
        at = min([at, *(_changed(hook, path) for path in notes)])
    else:
        from gitmem.agents.written import note

        for change in hook.event.changes:
            if _is_named(change.path) and (noted := note(change, _content(hook, change.path))):
                notes[change.path] = noted
    if notes:
        from gitmem.state import edits

        with unless_locked():  # a busy database costs the knowledge whose lines these are
            edits.note(hook.repo.state, hook.event.session, at, notes)


def _by_command(hook: Hook) -> "dict[str, EditMarks]":
    """Return what a command did to files."""
    command = hook.event.command
    if not may_write(command):
        return {}
    from gitmem.agents import shell_writes, written

    notes: dict[str, EditMarks] = {}
    if patch := shell_writes.patches(command):
        for change in written.changes({}, None, (), patch):
            change.path = _path(hook, change.path)
            if change.path and (noted := written.note(change, _content(hook, change.path))):
                notes[change.path] = noted
        return notes
    before = _taken(hook)
    notes.update(_compared(hook, before))
    for write in shell_writes.writes(command):
        path = _path(hook, write.path)
        if path and path not in before and (noted := _of_write(hook, path, write)):
            notes[path] = noted
    return notes


def _compared(hook: Hook, before: "dict[str, list[int]]") -> "dict[str, EditMarks]":
    """Return how files differ from what they were before a command.

    A line that came from another of them is not new.
    """
    from gitmem.agents.written import compared
    from gitmem.text.line_marks import squeezed

    notes: dict[str, EditMarks] = {}
    for path, was in before.items():
        content = _content(hook, path)
        if content is None or b"\0" in content:
            continue
        difference = compared(was, squeezed(content))
        if difference is None:
            continue
        others = {mark for name, some in before.items() if name != path for mark in some}
        changed = difference.after[difference.start : difference.start + len(difference.units)]
        difference.given = [mark not in others for mark in changed]
        if any(difference.given):
            notes[path] = difference
    return notes


def _of_write(hook: Hook, path: str, write: "Write") -> "EditMarks | None":
    """Return what a command did to a file that it put a text into.

    None where that is not what the file has now.
    """
    from gitmem.agents.written import compared
    from gitmem.text.line_marks import marks, squeezed

    content = _content(hook, path)
    if content is None:
        return None
    lines = squeezed(content)
    now, put = marks(lines), marks(squeezed(write.text.encode("utf-8", "replace")))
    if not put or now[-len(put) :] != put:
        return None
    if write.append:
        return compared(now[: -len(put)], lines)
    if now != put or not _is_new(hook, path):
        return None
    return compared([], lines)


def _is_new(hook: Hook, path: str) -> bool:
    """Return whether a file was made by the command that just ended.

    The former content of an older file is not known.
    """
    if not hook.event.seconds:
        return False
    from gitmem.base.birth import born

    at = born(os.path.join(hook.repo.root, path))
    return at is not None and at >= hook.now - hook.event.seconds - STARTING


def _taken(hook: Hook) -> "dict[str, list[int]]":
    """Return {file: marks of its lines} as they were before the command, and forget them."""
    from gitmem.state.edits import unpacked

    with unless_locked():
        files = tool_calls.take_files_before(hook.repo.state, hook.event.session, hook.event.call)
        return {path: unpacked(lines) for path, lines in files.items()}
    return {}


def _path(hook: Hook, given: str) -> str:
    """Return a file that a command names, from the work tree's root.

    '' for one that is not to be told of.
    """
    path = storable(inside(given, hook.repo.root, hook.folder))
    if not path or not _is_named(path):
        return ""
    ignored = hook.ignored
    return "" if ignored and ignored.has(path) else path


def _is_named(path: str) -> bool:
    """Say whether a name may be kept: it may tell a secret."""
    from gitmem.hooks.session_log import name_kept

    return name_kept(path) == path


def _content(hook: Hook, path: str) -> bytes | None:
    full = os.path.join(hook.repo.root, path)
    try:
        if not os.path.isfile(full):
            return None
        with open(full, "rb") as file:
            return file.read(CONTENT)
    except OSError:
        return None


def _changed(hook: Hook, path: str) -> float:
    """Return when a file was changed last."""
    try:
        return os.stat(os.path.join(hook.repo.root, path)).st_mtime
    except OSError:
        return hook.now
