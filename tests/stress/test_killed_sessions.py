"""Sessions, and those who finish them, killed at any point: no event that a hook acknowledged is lost, and each session is finished exactly once."""

import contextlib
import json
import os
import random
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gitmem.repo.location import Home
from gitmem.services.session_log import reader
from tests.conftest import fsck, git
from tests.json_output import data_of
from tests.scale import scaled

pytestmark = pytest.mark.stress

START = [sys.executable, "-P", "-m", "gitmem"]
REFS = ("refs/gitmem/local/main", "refs/gitmem/heads/main")
# an agent: it runs hooks one after the other, and tells which of them came back, until it is killed
AGENT = """
import json, subprocess, sys
session, folder = sys.argv[1:]
words = open(folder + "/words").read().split()
def hook(event, **fields):
    data = {"hook_event_name": event, "session_id": session, "cwd": folder, "transcript_path": "", **fields}
    done = subprocess.run([sys.executable, "-P", "-m", "gitmem", "hook", "claude"], input=json.dumps(data).encode(), stdout=subprocess.DEVNULL)
    return done.returncode == 0
hook("SessionStart", source="startup")
print("up", flush=True)
for number, word in enumerate(words):
    prompt = f"We decided to use {word} for the {word} service. Request {session}-{number}."
    if hook("UserPromptSubmit", prompt=prompt):
        print(f"{session}-{number} {word}", flush=True)
    hook("PostToolUse", tool_name="Edit", tool_input={"file_path": folder + "/a.py"}, tool_response={})
"""


@pytest.fixture
def chance() -> random.Random:
    """Random numbers whose seed is in a failing test's output."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return random.Random(seed)


def word(chance: random.Random) -> str:
    """Return a word that is in no other sentence."""
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(5))


def play(repo: Path, session: str, words: list[str], seconds: float) -> dict[str, str]:
    """Let an agent work, and kill it with all that it runs; return what was acknowledged: {request: word}."""
    (repo / "words").write_text(" ".join(words))
    agent = subprocess.Popen(
        [sys.executable, "-c", AGENT, session, str(repo)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=repo,
    )
    assert agent.stdout
    assert agent.stdout.readline() == "up\n"
    time.sleep(seconds)
    os.killpg(agent.pid, signal.SIGKILL)
    said = agent.stdout.read()
    agent.wait()
    agent.stdout.close()
    return dict(line.split() for line in said.splitlines() if len(line.split()) == 2)


def begin(repo: Path, session: str) -> "subprocess.Popen[bytes]":
    """Start a session, and do not wait."""
    hook = subprocess.Popen(
        [*START, "hook", "claude"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=repo
    )
    assert hook.stdin
    hook.stdin.write(
        json.dumps(
            {
                "hook_event_name": "SessionStart",
                "session_id": session,
                "cwd": str(repo),
                "source": "startup",
            }
        ).encode()
    )
    hook.stdin.close()
    return hook


def start_two(repo: Path, *sessions: str) -> None:
    """Start sessions at the same time."""
    assert [hook.wait(60) for hook in [begin(repo, session) for session in sessions]] == [0] * len(
        sessions
    )


def drains(repo: Path) -> list[int]:
    """Return the processes that work in the background of this repository."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if line.endswith(b"\0drain\0") and str(repo).encode() + b"\0" in line:
                found.append(int(name))
    return found


def tips(repo: Path) -> list[str]:
    """Return where the stores' refs are, without starting git."""
    return [path.read_text() if (path := repo / ".git" / ref).exists() else "" for ref in REFS]


STRIKES = 12  # tries to hit a drain that is at work


def strike(repo: Path, session: str, chance: random.Random) -> bool:
    """Start a session, and kill the drain that it has started: after a while, or when the refs have moved; say whether it was still at it."""
    before, moves = tips(repo), 1  # a session makes one commit
    by_moves = chance.random() < 0.5
    hook = begin(repo, session)
    until = time.monotonic() + (8 if by_moves else chance.uniform(0.1, 0.8))
    while time.monotonic() < until and moves:
        now = tips(repo)
        moves, before = moves - (now != before), now
        if by_moves and hook.poll() is not None and not drains(repo):
            break
        time.sleep(0.0005)
    found = drains(repo)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(pid, signal.SIGKILL)
    assert hook.wait(60) == 0
    return bool(found)


def waiting(repo: Path) -> int:
    """Return how many things sessions ask for that nobody has done."""
    with sqlite3.connect(repo / ".git/gitmem/state.db", timeout=30) as db:
        return int(db.execute("SELECT COUNT(*) FROM requests").fetchone()[0])


def settle(repo: Path, patience: float = 300.0) -> None:
    """Wait until what was asked for is done, by the drains that hooks have started alone."""
    until = time.monotonic() + patience
    while waiting(repo) or drains(repo):
        assert time.monotonic() < until, f"{waiting(repo)} request(s) wait; {mem(repo, 'status')}"
        time.sleep(0.1)


def mem(repo: Path, *args: str) -> Any:
    """Return what a command prints as JSON."""
    done = subprocess.run(
        [*START, "-C", str(repo), *args, "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return data_of(done.stdout)


def added(repo: Path, ref: str) -> Counter[str]:
    """Return how often each record came into a store, by its id."""
    names = git(
        repo,
        "log",
        "--format=",
        "--name-only",
        "--diff-filter=A",
        "--no-renames",
        ref,
        "--",
        ok=(0, 128),
    ).split()
    return Counter(Path(name).stem for name in names)


def finished_once(repo: Path, sessions: dict[str, dict[str, str]]) -> None:
    """Compare what was acknowledged with the histories, and count what was written of each session."""
    home = Home(str(repo / ".git/gitmem"))
    for session, acknowledged in sessions.items():
        rows = [row for row in reader.rows(home, session) if reader.event(row) == "PromptSubmit"]
        told = [reader.content(row).rsplit(" ", 1)[1].rstrip(".") for row in rows]
        assert len(told) == len(set(told)), session
        assert set(acknowledged) <= set(told), session
    records = [row for row in mem(repo, "list", "--kind", "session") if row.get("session")]
    assert Counter(row["session"] for row in records) == {
        session: 1 for session, some in sessions.items() if some
    }
    private, shared = added(repo, REFS[0]), added(repo, REFS[1])
    assert max(private.values()) == 1
    assert {id: n for id, n in (private + shared).items() if id.startswith("ses") and n > 1} == {}
    proposed = mem(repo, "list", "--tag", "proposed")
    for session, acknowledged in sessions.items():
        for name in acknowledged.values():
            assert sum(name in row["title"] for row in proposed) <= 1, (session, name)
    assert any(
        name in row["title"]
        for row in proposed
        for some in sessions.values()
        for name in some.values()
    )
    assert fsck(repo) == ""


def test_killed_at_any_point(repo: Path, chance: random.Random):
    """Agents are killed, and so is who finishes their sessions; then two sessions start at once, and all is there, once."""
    sessions: dict[str, dict[str, str]] = {}
    killed = 0
    for number in range(scaled(5, 2)):
        session = f"victim-{number}"
        sessions[session] = play(
            repo, session, [word(chance) for _ in range(8)], chance.uniform(0.3, 3.0)
        )
        if number:  # one is finished by the starts alone
            hits = [strike(repo, f"a{number}-0", chance)]
            while not any(hits) and len(hits) < STRIKES:
                hits.append(strike(repo, f"a{number}-{len(hits)}", chance))
            killed += sum(hits)
        start_two(repo, f"b{number}", f"c{number}")
        settle(repo)
        finished_once(repo, sessions)
    assert sum(len(some) for some in sessions.values()) > 1  # few on a busy machine
    assert killed > scaled(2, 0)


def test_twenty_sessions_end_at_once(repo: Path, chance: random.Random):
    """Each has one record, and the summary has what each of them decided, while drains work beside each other."""
    words = [word(chance) for _ in range(20)]
    sessions = {f"many-{n}": {f"many-{n}-0": words[n]} for n in range(20)}

    def hooks(event: str, at_once: int, **fields: str) -> None:
        running: list[subprocess.Popen[bytes]] = []
        for n, session in enumerate(sessions):
            data = {
                "hook_event_name": event,
                "session_id": session,
                "cwd": str(repo),
                "transcript_path": "",
            }
            data |= {
                key: value.format(word=words[n], request=f"{session}-0")
                for key, value in fields.items()
            }
            hook = subprocess.Popen(
                [*START, "hook", "claude"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                cwd=repo,
            )
            assert hook.stdin
            hook.stdin.write(json.dumps(data).encode())
            hook.stdin.close()
            running.append(hook)
            if len(running) % at_once == 0:
                hook.wait(120)
        assert [hook.wait(120) for hook in running] == [0] * len(running)

    hooks(
        "UserPromptSubmit",
        at_once=1,  # a hook that has no turn for two seconds gives up
        prompt="We decided to use {word} for the {word} service. Request {request}.",
    )
    hooks("SessionEnd", at_once=20, reason="other")
    beside = [
        subprocess.Popen([*START, "-C", str(repo), "drain"], stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [one.wait(300) for one in beside] == [0, 0]
    settle(repo)
    finished_once(repo, sessions)
