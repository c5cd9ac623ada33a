"""Hooks at work while drains put their history aside, and are killed: every event that a hook acknowledged is there once."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.services.session_log import reader
from tests.conftest import git
from tests.scale import scaled

pytestmark = pytest.mark.stress
# with a history that is long at once
COMMAND = """
import gitmem.state.sessions
gitmem.state.sessions.HISTORY_LIMIT = 1500
from gitmem.__main__ import main
raise SystemExit(main())
"""
START = [sys.executable, "-P", "-c", COMMAND]
HOOKS, EACH = 3, scaled(40, 8)


def hook(path: Path, number: str) -> bool:
    """Send one prompt; say whether the hook came back."""
    data = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(path),
        "transcript_path": "",
        "prompt": f"request {number} " + "word " * 30,
    }
    return (
        subprocess.run(
            [*START, "hook", "claude"],
            input=json.dumps(data).encode(),
            cwd=path,
            capture_output=True,
            timeout=60,
            check=False,
        ).returncode
        == 0
    )


def test_hooks_and_drains_that_are_killed(repo: Path):
    git(repo, "config", "gitmem.recordSessions", "false")
    acknowledged: list[str] = []
    chance = random.Random(7)

    sent: list[str] = []
    kills = 0

    def work(me: int) -> None:
        for number in range(10 * EACH):
            if number >= EACH and kills > 3:
                break
            name = f"{me}-{number}"
            sent.append(name)
            if hook(repo, name):
                acknowledged.append(name)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(HOOKS)]
    for one in workers:
        one.start()
    while any(one.is_alive() for one in workers):
        drain = subprocess.Popen(
            [*START, "drain"], cwd=repo, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.05, 0.4))
        if drain.poll() is None:
            drain.send_signal(signal.SIGKILL)
            kills += 1
        drain.wait()
    home = Home(str(repo / ".git/gitmem"))
    finish = [*START, "drain"]
    # each one before may have been killed too early
    subprocess.run(finish, cwd=repo, check=True, capture_output=True)
    until = time.monotonic() + 60
    while any(name.endswith(reader.PART) for name in os.listdir(home.join("sessions"))):
        assert time.monotonic() < until
        subprocess.run(finish, cwd=repo, check=True, capture_output=True)
    said = [
        row["content"].split()[1]
        for row in reader.rows(home, "s1")
        if reader.event(row) == "PromptSubmit"
    ]
    assert len(said) == len(set(said))
    assert set(said) == set(acknowledged)
    assert sorted(acknowledged) == sorted(sent)
    print(f"{kills} kills, {len(sent)} events")
    assert kills > 3
    assert [name for name in os.listdir(home.join("sessions")) if name.endswith(reader.PACKED)]
