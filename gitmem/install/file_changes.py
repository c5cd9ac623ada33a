"""A change of one file, planned first and applied later, and the ledger that can undo it.

A change is taken back to the byte.
"""

import base64
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from gitmem import __version__
from gitmem.base.files import Lock, disk_error, write_atomic
from gitmem.errors import Busy, UserError
from gitmem.install.disk import Disk
from gitmem.install.jsonc import Edit, applied, inverse

NAME, LOCK = "install.json", "install.lock"
PATIENCE = 10.0  # seconds that one install waits for another
MOST = 64 << 20  # bytes of a settings file
AGAIN = 5  # times that a file may change under our hands
DONE = {"installed": True, "updated": True, "removed": True, "unchanged": False, "absent": False}


@dataclass(slots=True)
class SettingsChange:
    """What becomes of one file: None stands for no file.

    `action` is one of `DONE`, which says whether anything changes.
    """

    what: str
    scope: str
    path: str
    action: str
    before: bytes | None = None
    after: bytes | None = None
    edits: list[Edit] = field(default_factory=list)
    fresh: bool = False  # there was nothing of ours before, so that these edits are all of it
    defaults: list[str] = field(default_factory=list)
    mode: int = 0o666
    exclude: tuple[str, bytes] | None = None  # git's file of local patterns, and a line for it
    # a file that makes room first, or that comes back afterwards
    move: tuple[str, str] | None = None
    notes: list[str] = field(default_factory=list)
    part: str = "hooks"  # what of ours is in the file: "hooks", or "mcp" for our server

    def diff(self) -> str:
        """Return the change as a unified diff."""
        if not DONE[self.action]:
            return ""
        text = f"rename {self.move[0]} to {self.move[1]}\n" if self.move else ""
        if self.exclude:
            data = read(self.exclude[0]) or b""
            text += _diff(self.exclude[0], data, data + self.exclude[1])
        return text + _diff(self.path, self.before, self.after)


class Ledger:
    """What we changed in whose files, in a folder of ours.

    Holds no text of these files beyond what we took out.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = os.path.join(folder, NAME)

    def read(self) -> dict[str, Any]:
        """Return all entries by file; none when there are none, or they cannot be read."""
        try:
            with open(self.path, encoding="utf-8") as file:
                document = json.load(file)
        except (OSError, ValueError):
            return {}
        files = document.get("files") if isinstance(document, dict) else None
        return (
            {key: value for key, value in files.items() if isinstance(value, dict)}
            if isinstance(files, dict)
            else {}
        )

    def entry(self, path: str) -> dict[str, Any]:
        """Return what is known of a file; empty when nothing is."""
        return dict(self.read().get(os.path.realpath(path), {}))

    def put(self, path: str, entry: dict[str, Any] | None) -> None:
        """Note what was done to a file, or forget it."""
        files = self.read()
        files.pop(path, None)
        if entry is not None:
            files[path] = entry
        if files:
            text = json.dumps({"version": 1, "files": files}, indent=1)
            write_atomic(self.path, text.encode("utf-8", "surrogateescape"), keep=True)
        elif os.path.exists(self.path):
            os.unlink(self.path)


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    old, new = (
        (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
        for data in (before, after)
    )
    a, b = (path if data is not None else "/dev/null" for data in (before, after))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(old, new, a, b)
    )


def original(entry: dict[str, Any], data: bytes) -> tuple[bool, bytes | None]:
    """Return whether a file is as we left it, and then its former content.

    The content is None for a file that we made.
    """
    try:
        steps = entry["steps"]
        if not steps:
            return False, None
        for step in reversed(steps):
            if digest(data) != step["after"]:
                return False, None
            data = applied(
                data, [(start, end, base64.b64decode(text)) for start, end, text in step["edits"]]
            )
            if digest(data) != step["before"]:
                return False, None
    except (KeyError, TypeError, ValueError, AssertionError):
        return False, None
    return True, None if entry.get("created") else data


def apply(ledger: Ledger, plan: Callable[[], SettingsChange], disk: Disk) -> SettingsChange:
    """Plan a change under the lock, and make it.

    A file that somebody else writes meanwhile is read and planned for again.
    """
    change = plan()
    if not DONE[change.action]:
        return change
    Disk().make_folders(ledger.folder)
    try:
        with Lock(os.path.join(ledger.folder, LOCK), PATIENCE):
            for _ in range(AGAIN):
                change = plan()
                if not DONE[change.action] or _made(ledger, change, disk):
                    return change
    except OSError as error:
        raise disk_error(error, change.path) from error
    except Busy as error:
        raise Busy(
            "another git mem process installs something at the moment.", "Try again in a moment."
        ) from error
    raise Busy(
        f"'{change.path}' changes all the time.",
        "Close the program that writes it, then run this again.",
    )


def _write(disk: Disk, real: str, change: SettingsChange, after: bytes) -> None:
    """Write a file; what it replaces is set aside before, and put back if that fails."""
    if change.move:
        disk.set_aside(*change.move)
    try:
        disk.write(real, after, change.mode)
    except BaseException:
        if change.move:
            disk.put_back(*change.move)
        raise


def _made(ledger: Ledger, change: SettingsChange, disk: Disk) -> bool:
    """Make a change; say whether the file was still as it was planned for."""
    # one that makes room is the link itself
    real = disk.real(change.path, follow=change.move is None)
    entry = ledger.entry(change.path)
    check(real)
    if read(real) != change.before:
        return False
    folders = list(entry.get("folders", []))
    if change.after is not None:
        if change.exclude:
            _exclude(*change.exclude)
        folders += disk.make_folders(os.path.dirname(real))
        _write(disk, real, change, change.after)
    elif change.move:
        disk.rename(*change.move)
    else:
        disk.remove(real)
        disk.remove_folders(folders)
    ledger.put(real, _entry(entry, change, folders) if change.action != "removed" else None)
    if change.action == "removed" and entry.get("exclude"):
        _include(
            str(entry["exclude"][0]), str(entry["exclude"][1]).encode("utf-8", "surrogateescape")
        )
    return True


def _entry(entry: dict[str, Any], change: SettingsChange, folders: list[str]) -> dict[str, Any]:
    assert change.after is not None
    before = change.before or b""
    step = {
        "before": digest(before),
        "after": digest(change.after),
        "edits": [
            (start, end, base64.b64encode(text).decode())
            for start, end, text in inverse(before, change.edits)
        ],
    }
    exclude = (
        [change.exclude[0], change.exclude[1].decode("utf-8", "surrogateescape")]
        if change.exclude
        else entry.get("exclude")
    )
    steps = [] if change.fresh else entry.get("steps") or []
    follows = bool(steps) and steps[-1]["after"] == step["before"]
    # of what an earlier entry says, nothing holds for a file that had nothing of ours any more
    return {
        "what": change.what,
        "scope": change.scope,
        "version": __version__,
        "folders": folders,
        "exclude": exclude,
        "created": change.before is None if change.fresh else bool(entry.get("created")),
        "defaults": sorted(
            {*([] if change.fresh else entry.get("defaults", [])), *change.defaults}
        ),
        "steps": [*steps, step] if follows else [step] if change.fresh else [],
    }


def _exclude(path: str, line: bytes) -> None:
    Disk().make_folders(os.path.dirname(path))
    write_atomic(path, (read(path) or b"") + line, keep=True, mode=0o666)


def _include(path: str, line: bytes) -> None:
    """Take a line back out of git's file of local patterns; a file that held nothing else goes."""
    data = read(path) or b""
    rest = (
        data.removesuffix(line)
        if data.endswith(line)
        else data.replace(line.strip() + b"\n", b"", 1)
    )
    if rest:
        write_atomic(path, rest, keep=True, mode=0o666)
    elif data:
        os.unlink(path)


def digest(data: bytes) -> str:
    """Return what tells these bytes from others."""
    return hashlib.sha256(data).hexdigest()


def read(path: str) -> bytes | None:
    """Return a file's bytes, None when there is no file.

    Raises UserError for what is none, or too large.
    """
    try:
        file_facts = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(
            f"'{path}' cannot be read: {os.strerror(error.errno or 0)}.", "Check where it leads."
        ) from error
    if not stat.S_ISREG(file_facts.st_mode):
        raise UserError(
            f"'{path}' is not a regular file.",
            "Move it away, or choose another scope. Nothing was changed.",
        )
    if file_facts.st_size > MOST:
        raise UserError(
            f"'{path}' is larger than {MOST >> 20} MiB.",
            "Is this the right file? Nothing was changed.",
        )
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UserError(
            f"'{path}' cannot be read: {os.strerror(error.errno or 0)}.",
            "Check its owner and mode. Nothing was changed.",
        ) from error


def check(path: str) -> None:
    """Raise UserError for a file that its owner does not want to be written."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise UserError(
            f"'{path}' is read-only.", f"Allow writing: chmod u+w '{path}'. Nothing was changed."
        )
