"""Transcripts of past sessions, written as the agents' CLIs write them, in the home of a test."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.cli.conftest import Mem

MARCH, APRIL, MAY = "2026-03-01T10:00:00Z", "2026-04-01T10:00:00Z", "2026-05-01T10:00:00Z"
REDIS = "We decided to use Redis for the session store."
LINT = "Please always run make lint before a commit."
AGENTS = ("claude", "gemini", "codex")


def id_of(number: int) -> str:
    """Return the id of a session."""
    return f"{number:08d}-1111-4111-8111-111111111111"


def home() -> Path:
    """Return the home of the test."""
    return Path(os.environ["HOME"])


def aged(path: Path, at: str) -> Path:
    """Have a file look as if it was last written at a time."""
    then = datetime.fromisoformat(at).timestamp()
    os.utime(path, (then, then))
    return path


def claude_folder(folder: Path) -> Path:
    """Return where Claude Code keeps the transcripts of a folder."""
    units = str(folder).encode("utf-16-le")
    letters = [units[at : at + 2].decode("utf-16-le", "replace") for at in range(0, len(units), 2)]
    name = re.sub("[^a-zA-Z0-9]", "-", "".join(letters))
    return home() / ".claude" / "projects" / name


def _write(path: Path, rows: Sequence[dict[str, Any]], at: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return aged(path, at)


def claude(folder: Path, number: int, at: str, *said: str) -> Path:
    """Write a transcript of Claude Code in which a user said something."""
    id = id_of(number)
    rows: list[dict[str, Any]] = [
        {"type": "queue-operation", "operation": "enqueue", "timestamp": at, "sessionId": id}
    ]
    for text in said:
        common = {"timestamp": at, "cwd": str(folder), "sessionId": id, "isSidechain": False}
        rows.append({**common, "type": "user", "message": {"role": "user", "content": text}})
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]}
        rows.append({**common, "type": "assistant", "message": answer})
    return _write(claude_folder(folder) / f"{id}.jsonl", rows, at)


def gemini(folder: Path, number: int, at: str, *said: str) -> Path:
    """Write a transcript of Gemini CLI, in a folder with a mark of the project's path."""
    place = (
        home() / ".gemini" / "tmp" / f"slug-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"
    )
    place.mkdir(parents=True, exist_ok=True)
    (place / ".project_root").write_text(str(folder), "utf-8")
    project = hashlib.sha256(os.fsencode(folder)).hexdigest()
    head = {"sessionId": id_of(number), "projectHash": project, "startTime": at, "kind": "main"}
    rows = [
        {"id": f"m{line}", "timestamp": at, "type": "user", "content": [{"text": text}]}
        for line, text in enumerate(said)
    ]
    return _write(place / "chats" / f"session-{at[:10]}-{number:08d}.jsonl", [head, *rows], at)


def codex(folder: Path, number: int, at: str, *said: str) -> Path:
    """Write a rollout of Codex."""
    id = id_of(number)
    meta = {
        "id": id,
        "timestamp": at,
        "cwd": str(folder),
        "base_instructions": {"text": "x" * 9000},
    }
    rows: list[dict[str, Any]] = [{"timestamp": at, "type": "session_meta", "payload": meta}]
    for text in said:
        content = [{"type": "input_text", "text": text}]
        message = {"type": "message", "role": "user", "content": content}
        rows.append({"timestamp": at, "type": "response_item", "payload": message})
    day = home() / ".codex" / "sessions" / at[:4] / at[5:7] / at[8:10]
    return _write(day / f"rollout-{at[:19].replace(':', '-')}-{id}.jsonl", rows, at)


WRITERS = {"claude": claude, "gemini": gemini, "codex": codex}


def read(mem: Mem, *args: str, **options: Any) -> dict[str, Any]:
    """Import past sessions; return what was done."""
    done: dict[str, Any] = mem("import", "sessions", *args, "--json", **options).json
    return done


def proposed(mem: Mem) -> dict[str, dict[str, Any]]:
    """Return the facts that nobody confirmed, by title."""
    rows = mem("list", "--all", "--json").json
    return {row["title"]: row for row in rows if row.get("unconfirmed")}
