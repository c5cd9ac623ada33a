"""One use of a tool as a turn: its command, its files, whether it failed.

Lists of tasks as lines with boxes. Pure.
"""

import posixpath
import re
from typing import Any

from gitmem.redaction.formats import public
from gitmem.transcripts.cleanup import mapping, printed, sequence, string
from gitmem.transcripts.turn import TOOL, Turn

FILES = 20  # files that are kept of one use of a tool
COMMAND = 2000  # characters of a command
_PATHS = ("file_path", "path", "notebook_path", "absolute_path", "filename", "filePath")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$")
_EXITED = re.compile(r"(?mi)^(?:process exited with code|exit code:?|exit status:?) (-?\d+)\s*$")
_BOX = {"completed": "x", "done": "x", "complete": "x", "cancelled": "-", "deleted": "-"}
TODOS = {
    "TodoWrite",
    "write_todos",
    "update_plan",
    "TaskCreate",
    "TaskUpdate",
    "todowrite",
    "WriteTodos",
    "todo_write",
}


def used(
    tool: str, given: dict[str, Any], output: str, failed: bool | None, root: str = "", **where: Any
) -> Turn:
    """Return one use of a tool as a turn."""
    command = given.get("command") or given.get("cmd") or ""
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        command = words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    if not isinstance(command, str):
        command = ""
    listed = tasks(tool, given)
    if failed is None and (code := _EXITED.search(output[:400]) or _EXITED.search(output[-400:])):
        failed = code[1] != "0"
    return Turn(
        TOOL,
        public(listed) or printed(output),
        tool=tool,
        command=public(command)[:COMMAND],
        files=files(given, root),
        failed=failed,
        **where,
    )


def files(given: dict[str, Any], root: str = "") -> tuple[str, ...]:
    """Return the files that a tool was given, relative to the work tree where they are in it."""
    paths = [string(given.get(key)) for key in _PATHS]
    patch = given.get("input") or given.get("patch")
    if isinstance(patch, str) and "*** " in patch:
        paths += _PATCHED.findall(patch[:200_000])
    for entry in (*sequence(given.get("paths")), *sequence(given.get("files"))):
        paths.append(string(entry) or string(mapping(entry).get("path")))
    return tuple(
        dict.fromkeys(
            relative(path, root) for path in paths[: 4 * FILES] if path and len(path) < 1000
        )
    )[:FILES]


def relative(path: str, root: str) -> str:
    """Return a path as it is called in the work tree."""
    path = (
        posixpath.normpath(path.replace("\\", "/").replace("\0", ""))
        if "\n" not in path
        else path.split("\n")[0]
    )
    return path[len(root) + 1 :] if root and path.startswith(root.rstrip("/") + "/") else path


def tasks(tool: str, given: dict[str, Any]) -> str:
    """Return the list of tasks that a tool was given, as lines `- [x] task`.

    Empty when the tool keeps none.
    """
    if tool not in TODOS:
        return ""
    rows = (
        sequence(given.get("todos"))
        or sequence(given.get("plan"))
        or ([given] if tool.startswith("Task") else [])
    )
    out = []
    for row in rows[:200]:
        task = mapping(row)
        text = next(
            (
                string(task[k]).strip()
                for k in ("content", "description", "step", "subject", "title")
                if string(task.get(k)).strip()
            ),
            "",
        )
        if tool == "TaskCreate":
            text = string(task.get("subject")).strip() or text
        if text:
            out.append(
                f"- [{_BOX.get(string(task.get('status')).lower(), ' ')}] "
                f"{' '.join(text.split())[:500]}"
            )
    return "\n".join(out)
