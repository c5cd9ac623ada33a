"""What an agent's own memory file says is not told to that agent again: it reads the file itself at each start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of

RULES = "# Rules\n\n- Always run make lint before a commit.\n- Use tabs in Makefiles.\n"


def start(project: Path, cli: str, session: str) -> str:
    """Return what an agent's start is answered with."""
    payload = {
        "session_id": session,
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": str(project),
    }
    argv = [sys.executable, "-P", "-m", "gitmem", "hook", cli, "SessionStart"]
    done = subprocess.run(
        argv,
        input=json.dumps(payload),
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("file", "reader", "other"),
    [
        ("CLAUDE.md", "claude", "gemini"),
        ("GEMINI.md", "gemini", "claude"),
        ("AGENTS.md", "codex", "claude"),
    ],
)
def test_a_statement_of_its_own_file_is_not_told_again(project: Path, file, reader, other):
    """Other agents are told; so is this one when the record says something else by now."""
    (project / file).write_text(RULES)
    git(project, "add", file)
    git(project, "commit", "-qm", "rules")
    run(project, "native", "pull")
    ids = {row["title"]: row["id"] for row in data_of(run(project, "list", "--json"))}
    assert "make lint" not in start(project, reader, "s1")
    assert "make lint" in start(project, other, "s2")
    run(
        project,
        "edit",
        ids["Always run make lint before a commit."],
        "--title",
        "Run make lint and make types before a commit.",
    )
    run(project, "list")
    told = start(project, reader, "s3")
    assert ("make types" in told, "tabs" in told) == (True, False)
