"""Transcripts of past sessions in one repository, where agents' CLIs keep them.

A transcript belongs to the repository by the folder that it names, where it names one. Of each
file only a bounded beginning is read, and nothing but this user's own regular files.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gitmem.base.fast import loads
from gitmem.base.regular_files import read_regular
from gitmem.clock import seconds
from gitmem.services.sessions.own_folders import OwnFolders

AGENTS = {"claude": "Claude Code", "gemini": "Gemini CLI", "codex": "Codex"}
BEGINNING = 4 << 10  # bytes of a file that are read first
MOST = 256 << 10  # bytes of a file that are read at most
REGISTRY = 4 << 20  # bytes of Gemini's list of projects
NAME = 200  # characters of a folder of Claude Code that are those of the path
_NO_LETTER = re.compile("[^a-zA-Z0-9]")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_FOLDER = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*+")')
_SUBAGENT = re.compile(rb'"source"\s*:\s*\{\s*"sub_?agent"')
# a text with a key that tells something of a session
_VALUE = re.compile(
    rb'"(sessionId|projectHash|startTime|kind|id|timestamp)"\s*:\s*("(?:[^"\\]|\\.)*+")'
)


class PastTranscript(NamedTuple):
    """A transcript of a session in a work tree, whose root is `root`.

    `size` is in bytes, `changed` is when it was written last, in nanoseconds since the epoch.
    `began` is when the session began, in seconds since the epoch.
    """

    agent: str
    session: str
    path: str
    root: str
    size: int
    changed: int
    began: float


class _File(NamedTuple):
    path: str
    name: str
    size: int
    changed: int


class _Head(NamedTuple):
    """What the beginning of a transcript says."""

    session: str
    folder: str
    began: str


def places(env: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the folder in which each agent keeps its transcripts."""
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    gemini = os.path.join(env.get("GEMINI_CLI_HOME") or home, ".gemini")
    codex = env.get("CODEX_HOME") or os.path.join(home, ".codex")
    return {
        "claude": os.path.join(claude, "projects"),
        "gemini": os.path.join(gemini, "tmp"),
        "codex": os.path.join(codex, "sessions"),
    }


def past_transcripts(
    folders: OwnFolders, env: Mapping[str, str], home: str, agents: Iterable[str] = AGENTS
) -> list[PastTranscript]:
    """Return the transcripts of agents in a repository, those first that were written last.

    Of a session with several files the newest counts.
    """
    where = places(env, home)
    transcripts = [each for agent in agents for each in _FINDERS[agent](folders, where[agent])]
    newest = sorted(
        transcripts,
        key=lambda transcript: (transcript.changed, transcript.began, transcript.path),
        reverse=True,
    )
    by_session: dict[tuple[str, str], PastTranscript] = {}
    for transcript in newest:
        by_session.setdefault((transcript.agent, transcript.session), transcript)
    return list(by_session.values())


def _claude(folders: OwnFolders, place: str) -> Iterator[PastTranscript]:
    encoded = {_encoded(name): name for name in (*folders.names, *folders.roots)}
    beginnings = tuple(name[:NAME] for name in encoded)
    for folder in _folders(place):
        if not os.path.basename(folder).startswith(beginnings):
            continue
        # what names no folder is of the one that its place is named for
        named = encoded.get(os.path.basename(folder), "")
        for file in _files(folder, (".jsonl",)):
            if file.name.startswith("agent-"):
                continue  # of a subagent
            head = _claude_head(file)
            root = folders.root_of(head.folder or named)
            if root:
                yield _transcript("claude", head.session, file, root, head.began)


def _encoded(path: str) -> str:
    """Return what Claude Code calls a folder: each unit of UTF-16 that is no letter is a dash."""
    return _NO_LETTER.sub(lambda match: "-" if match[0] <= "\uffff" else "--", path)


def _claude_head(file: _File) -> _Head:
    session, began = file.name.removesuffix(".jsonl"), ""
    for most in (BEGINNING, MOST):
        for row in _rows(read_regular(file.path, most)):
            began = began or _text(row, "timestamp")
            if _text(row, "cwd"):
                return _Head(session, _text(row, "cwd"), began)
        if file.size <= most:
            break
    return _Head(session, "", began)


def _gemini(folders: OwnFolders, place: str) -> Iterator[PastTranscript]:
    registry = _json(read_regular(os.path.join(os.path.dirname(place), "projects.json"), REGISTRY))
    projects = registry.get("projects")
    by_slug = {slug: path for path, slug in _texts(projects)}
    hashed = {_digest(name): name for name in (*folders.names, *folders.roots)}
    for folder in _folders(place):
        name = os.path.basename(folder)
        marker = os.fsdecode(read_regular(os.path.join(folder, ".project_root"), BEGINNING))
        path = marker.strip() or by_slug.get(name) or hashed.get(name, "")
        root = folders.root_of(path)
        if not root:
            continue
        digests = {_digest(path), _digest(os.path.realpath(path)), *hashed}
        for file in _files(os.path.join(folder, "chats"), (".json", ".jsonl")):
            session, began = _gemini_head(file, digests)
            if session:
                yield _transcript("gemini", session, file, root, began)


def _gemini_head(file: _File, digests: Iterable[str]) -> tuple[str, str]:
    """Return the session and its beginning; the session is "" for one that is not of the project.

    `digests` are those that the project's path may have.
    """
    if not file.name.startswith("session-"):
        return "", ""
    # in a document, what follows may be anybody's words
    head = read_regular(file.path, BEGINNING).split(b'"messages"')[0]
    first = head if head.lstrip()[:2] in (b"{\n", b"{\r") else head.split(b"\n")[0]
    project, kind = _value(first, "projectHash"), _value(first, "kind")
    if (project and project not in digests) or kind == "subagent":
        return "", ""
    return _value(first, "sessionId"), _value(first, "startTime")


def _codex(folders: OwnFolders, place: str) -> Iterator[PastTranscript]:
    for file in _rollouts(place):
        head = _codex_head(file)
        root = folders.root_of(head.folder) if head.session else ""
        if root:
            yield _transcript("codex", head.session, file, root, head.began)


def _rollouts(place: str) -> Iterator[_File]:
    """Yield the files of all days: they are in `YEAR/MONTH/DAY`."""
    months = (month for year in _folders(place) for month in _folders(year))
    for day in (day for month in months for day in _folders(month)):
        for file in _files(day, (".jsonl",)):
            if file.name.startswith("rollout-"):
                yield file


def _codex_head(file: _File) -> _Head:
    """Return what the first line says; its session is "" for one of a subagent."""
    for most in (BEGINNING, MOST):
        line, end, _ = read_regular(file.path, most).partition(b"\n")
        folder = _FOLDER.search(line) if b'"session_meta"' in line else None
        if folder is not None or end or file.size <= most:
            break
    if folder is None or _SUBAGENT.search(line):
        return _Head("", "", "")
    named = _UUID.search(file.name.removesuffix(".jsonl"))
    session = _value(line, "id") or (named[0] if named else "")
    return _Head(session, _decoded(folder[1]), _value(line, "timestamp"))


_FINDERS: Mapping[str, Callable[[OwnFolders, str], Iterator[PastTranscript]]] = {
    "claude": _claude,
    "gemini": _gemini,
    "codex": _codex,
}


def _transcript(agent: str, session: str, file: _File, root: str, began: str) -> PastTranscript:
    try:
        start = min(seconds(began), file.changed / 1e9)
    except ValueError:
        start = file.changed / 1e9
    return PastTranscript(agent, session, file.path, root, file.size, file.changed, start)


def _folders(path: str) -> list[str]:
    """Return the folders in a folder, by name; none of one that cannot be listed."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return []


def _files(folder: str, suffixes: tuple[str, ...]) -> Iterator[_File]:
    """Yield this user's regular files in a folder that are not empty and have such a name."""
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if entry.name.endswith(suffixes)]
    except OSError:
        return
    for entry in sorted(named, key=lambda entry: entry.name):
        try:
            file = entry.stat()
        except OSError:
            continue
        is_own = stat.S_ISREG(file.st_mode) and file.st_uid == os.geteuid()
        if is_own and file.st_size:
            yield _File(entry.path, entry.name, file.st_size, file.st_mtime_ns)


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of lines of JSON; what is none, as a line that is cut off, is left out."""
    for line in data.split(b"\n"):
        row = _json(line)
        if row:
            yield row


def _json(data: bytes) -> dict[str, Any]:
    try:
        value = loads(data.decode("utf-8", "replace")) if data else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: object) -> Iterator[tuple[str, str]]:
    """Yield the pairs of texts of an object; none of anything else."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, str):
                yield key, entry


def _value(data: bytes, key: str) -> str:
    """Return the first text that a key has in the beginning of an object; "" where it has none."""
    for match in _VALUE.finditer(data):
        if match[1] == key.encode():
            return _decoded(match[2])
    return ""


def _decoded(text: bytes) -> str:
    try:
        value = loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _digest(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()
