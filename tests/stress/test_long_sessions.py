"""Sessions that are very long: what finishes them keeps to its memory, gives signs of life, and comes to an end."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.clock import stamp
from gitmem.services.sessions.finish import BEAT
from tests.json_output import data_of
from tests.scale import scaled

pytestmark = pytest.mark.stress

START = [sys.executable, "-P", "-m", "gitmem"]
SIZE = scaled(200, 40) << 20
ROWS = scaled(100_000, 20_000)
MEMORY = 250 << 10  # KiB
NOW = 1_790_000_000.0


def line(number: int, kind: str, content: object) -> str:
    """Return a line of a transcript of Claude Code."""
    about = {
        "sessionId": "long",
        "cwd": "/x",
        "isSidechain": False,
        "uuid": str(number),
        "timestamp": stamp(NOW + number),
    }
    return json.dumps({**about, "type": kind, "message": {"role": kind, "content": content}}) + "\n"


def write(path: Path, size: int) -> int:
    """Write a transcript of about some bytes, as sessions are: mostly what tools printed."""
    printed = "The build printed a line of output that tells nothing.\n" * 600
    number = 0
    with path.open("w") as file:
        while file.tell() < size:
            number += 1
            if number % 40 == 1:
                file.write(line(number, "user", f"Please change step {number} of the pipeline."))
            use = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": "Bash",
                "input": {"command": f"make step-{number % 50}"},
            }
            file.write(
                line(
                    number,
                    "assistant",
                    [{"type": "text", "text": f"I'll look at step {number}."}, use],
                )
            )
            result = {
                "type": "tool_result",
                "tool_use_id": f"t{number}",
                "is_error": number % 9 == 0,
                "content": printed,
            }
            file.write(line(number, "user", [result]))
            if number % 100 == 0:
                file.write('{"type": "brand-new", "sessionId": "long", "data": [1, 2, 3]}\n')
        file.write(line(number + 1, "user", "We decided to use ocelot for the payments service."))
    return number


def hook(repo: Path, event: str, **fields: object) -> None:
    """Send an event."""
    data = {
        "hook_event_name": event,
        "session_id": "long",
        "cwd": str(repo),
        "transcript_path": "",
        **fields,
    }
    subprocess.run(
        [*START, "hook", "claude"], input=json.dumps(data).encode(), cwd=repo, check=True
    )


def finish(repo: Path) -> tuple[int, float, set[float]]:
    """Ask for the session record without a hook, and drain; return (KiB at most, seconds, times of the claim)."""
    path, claims = repo / ".git/gitmem/state.db", set()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE sessions SET ended = last, why = 'other'")
        db.execute(
            "INSERT INTO requests (kind, session, at) VALUES ('record', 'long', ?)", (time.time(),)
        )
    db.close()
    begun = time.monotonic()
    drain = subprocess.Popen([*START, "-C", str(repo), "drain"])
    # asked of the process itself: what `wait` tells has the memory of whoever started it in it
    most = 0
    while drain.poll() is None:
        with contextlib.suppress(OSError, StopIteration):
            status = Path(f"/proc/{drain.pid}/status").read_text()
            most = max(
                most,
                next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM")),
            )
        with sqlite3.connect(path, timeout=30) as db:
            claims |= {
                float(claimed)
                for (claimed,) in db.execute(
                    "SELECT claimed FROM requests WHERE claimed IS NOT NULL"
                )
            }
        db.close()
        time.sleep(0.2)
    assert drain.returncode == 0
    assert most > 0
    return most, time.monotonic() - begun, claims


def summary(repo: Path) -> str:
    """Return the project summary."""
    command = [*START, "-C", str(repo), "page", "summary"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def body(repo: Path) -> str:
    """Return the session record's text; there is one."""
    done = subprocess.run(
        [*START, "-C", str(repo), "list", "--kind", "session", "--json"],
        capture_output=True,
        check=True,
    )
    (found,) = (row for row in data_of(done.stdout) if row.get("session"))
    return subprocess.run(
        [*START, "-C", str(repo), "show", found["id"]], capture_output=True, check=True, text=True
    ).stdout


def test_a_long_transcript(repo: Path, tmp_path: Path):
    path = tmp_path / "long.jsonl"
    write(path, SIZE)
    assert path.stat().st_size > SIZE
    hook(repo, "UserPromptSubmit", prompt="start the pipeline work", transcript_path=str(path))
    memory, seconds, claims = finish(repo)
    print(f"{seconds:.1f} s, {memory / 1024:.0f} MiB, {len(claims)} signs of life")
    assert memory < MEMORY
    assert len(claims) >= seconds / BEAT / 2
    text = body(repo)
    assert "ocelot" in summary(repo)
    assert "Of its transcript" not in text


def test_a_history_of_many_rows(repo: Path):
    """It is recorded, and put aside in short, in memory that is bounded."""
    hook(repo, "UserPromptSubmit", prompt="start the pipeline work")
    (file,) = (repo / ".git/gitmem/sessions").glob("history_*_long.jsonl")
    with file.open("a") as out:
        for number in range(ROWS):
            facts = (
                {"event": "PromptSubmit"}
                if number % 50 == 0
                else {
                    "event": "AfterTool",
                    "tool": "Bash",
                    "action": "command",
                    "call": str(number),
                }
            )
            role, text = (
                ("user", f"Please change step {number}.")
                if number % 50 == 0
                else ("tool", f"make step-{number}\nall is well")
            )
            row = {
                "timestamp": stamp(NOW + number),
                "role": role,
                "content": text,
                "metadata": facts,
            }
            out.write(json.dumps(row) + "\n")
        row["role"], row["content"], row["metadata"] = (
            "user",
            "We decided to use ocelot for the payments service.",
            {"event": "PromptSubmit"},
        )
        out.write(json.dumps(row) + "\n")
    memory, seconds, _ = finish(repo)
    print(f"{seconds:.1f} s, {memory / 1024:.0f} MiB")
    assert memory < MEMORY
    text = body(repo)
    prompts = ROWS // 50 + 2
    assert f"{prompts:,} prompts" in text or f"{prompts} prompts" in text
    assert "ocelot" in summary(repo)
