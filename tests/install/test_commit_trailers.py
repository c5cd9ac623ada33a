"""Commits that teach: `Decision:`, `Gotcha:` and the like in a message become records, `Resolves-Gotcha:` resolves one. Through git's own hook."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.services.gotchas.commit_trailers import trailers
from tests.conftest import git
from tests.stress.conftest import mem


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("s\n\nDecision: Use A\nSigned-off-by: Ada <a@b>\n", [("decision", "Use A")]),
        ("s\n\nbody\n\nGotcha: It hangs\n  when it rains\nPattern: B\n", [("gotcha", "It hangs when it rains"), ("pattern", "B")]),
        ("s\n\nDecision: in the body, which goes on\nand on.\n", []),
        ("Decision: a subject\n", []),
        ("s\n\nDecision: not the last\n\nSigned-off-by: Ada <a@b>\n", []),
        ("s\n\nResolves-Gotcha: abc12345\nmemory: low\n", [("resolves-gotcha", "abc12345"), ("memory", "low")]),
        ("s\r\n\r\nMemory: crlf\r\n", [("memory", "crlf")]),
    ],
)
def test_trailers(message: str, found: list[tuple[str, str]]) -> None:
    assert trailers(message) == found


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def rows(repo: Path) -> dict[str, dict[str, object]]:
    return {row["title"]: row for row in json.loads(mem(repo, "list", "--json").stdout)}


def test_a_commit_teaches(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in its last paragraph is recorded once, also after an amend; the session that committed is named."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    mem(repo, "init", "--no-remote")
    id = json.loads(mem(repo, "gotcha", "add", "The queue stalls", "--json").stdout)["id"]
    mem(repo, "install", "git-hooks")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-77")
    (repo / "code.py").write_text("fixed = True\n")
    message = f"Drain the queue\n\nWhy it was so.\n\nDecision: One worker per queue\nGotcha: sleep blocks the only worker\nResolves-Gotcha: {id[-8:]}\n"
    git(repo, "commit", "-qam", message)
    wait_for(lambda: "One worker per queue" in rows(repo))
    wait_for(lambda: json.loads(mem(repo, "show", id, "--json").stdout).get("resolved"))
    found = rows(repo)
    assert (found["One worker per queue"]["type"], found["One worker per queue"]["session"]) == ("decision", "s-77")
    assert found["sleep blocks the only worker"]["kind"] == "gotcha"
    resolved = json.loads(mem(repo, "show", id, "--json").stdout)["resolved"]
    assert (resolved["files"], resolved["note"], resolved["stat"]) == (["code.py"], "Drain the queue", "1 file, +1 −1")
    git(repo, "commit", "-q", "--amend", "--no-edit", "--date=2026-01-01T00:00:00Z")
    git(repo, "commit", "-q", "--allow-empty", "-m", "next\n\nMemory: the next one")
    wait_for(lambda: "the next one" in rows(repo))
    assert len(rows(repo)) == len(found) + 1
    mem(repo, "forget", str(found["One worker per queue"]["id"]))
    git(repo, "commit", "-q", "--allow-empty", "-m", "again\n\nDecision: One worker per queue\nMemory: a third")
    wait_for(lambda: "a third" in rows(repo))
    assert "One worker per queue" not in rows(repo)
