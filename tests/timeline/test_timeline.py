"""`git mem timeline`, `trends`, `event`: what happened, in one order; on a long history too."""

import csv
import io
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests import histories
from tests.command_line import run_command
from tests.conftest import git
from tests.hooks.conftest import Agent
from tests.json_output import data_of
from tests.scale import scaled

COMMITS = scaled(20_000, 4_000)


def mem(repo: Path, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `git mem`."""
    done = run_command(repo, *args)
    assert done.returncode == code, done.stderr
    return done


def events(repo: Path, *args: str) -> list[dict[str, Any]]:
    """Return the timeline."""
    return list(data_of(mem(repo, "timeline", "--json", *args).stdout))


@pytest.fixture
def busy(repo: Path) -> Path:
    """A repository in which something of each source happened."""
    git(repo, "config", "user.name", "Grace")
    git(repo, "config", "user.email", "g@example.org")
    mem(repo, "init", "--no-remote")
    agent = Agent(repo, "s-one")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt="Round the balance")
    (repo / "code.py").write_text("x = 1\n")
    given = {"file_path": str(repo / "code.py"), "old_string": "", "new_string": "x = 1"}
    agent.hook("PostToolUse.Edit", tool_input=given, tool_response={})
    git(repo, "commit", "-qam", "Round")
    mem(repo, "add", "Round to one digit", "-t", "decision", "--session", "s-one")
    mem(repo, "gotcha", "add", "round() is to even", "--anchor", "code.py:1")
    mem(repo, "event", "add", "Released 1.0", "--file", "code.py")
    mem(repo, "event", "add", "The provider was down", "--at", "2026-01-05 14:00")
    mem(repo, "work", "start", "shop", "--title", "The shop")
    (repo / "code.py").write_text("x = 2\n")
    mem(repo, "snapshot", "save", "half done")
    agent.hook("SessionEnd", reason="other")
    mem(repo, "drain")
    return repo


def test_all_sources_in_one_order(busy: Path):
    """Each happening is there once, the newest first; an event stands where it happened, not where it was written."""
    found = events(busy)
    assert {one["source"] for one in found} == {
        "commit",
        "memory",
        "gotcha",
        "snapshot",
        "session",
        "work",
        "event",
    }
    assert [one["at"] for one in found] == sorted((one["at"] for one in found), reverse=True)
    assert len(
        {(one["source"], one.get("id"), one["action"], one["at"], one["title"]) for one in found}
    ) == len(found)
    down = next(one for one in found if one["title"] == "The provider was down")
    assert (down["source"], down["at"][:10]) == ("event", "2026-01-05")
    commit = next(one for one in found if one["title"] == "Round")
    assert (commit["session"], commit["agent"]) == ("s-one", "claude")
    assert events(busy, "--reverse") == found[::-1]


def test_filters(busy: Path):
    """By source, time, file, session, agent; together they narrow, and the limit counts what is left."""
    assert {one["source"] for one in events(busy, "--source", "gotcha", "-s", "event")} == {
        "gotcha",
        "event",
    }
    about = events(busy, "--file", str(busy / "code.py"))
    assert {"Round", "Released 1.0", "round() is to even"} <= {one["title"] for one in about}
    assert "The provider was down" not in {one["title"] for one in about}
    mine = events(busy, "--session", "s-one")
    assert mine and {one["session"] for one in mine} == {"s-one"}
    assert {one["agent"] for one in events(busy, "--agent", "claude")} == {"claude"}
    assert [one["title"] for one in events(busy, "--until", "2026-02-01", "--source", "event")] == [
        "The provider was down"
    ]
    assert "The provider was down" not in {
        one["title"] for one in events(busy, "--since", "2026-02-01")
    }
    assert len(events(busy, "-2")) == 2
    assert [
        one["title"]
        for one in events(busy, "--limit", "1", "--agent", "claude", "--source", "commit")
    ] == ["Round"]


def test_text_and_table(busy: Path):
    """A line an event with a column a source; CSV has the same events."""
    text = mem(busy, "timeline").stdout
    assert "●" in text and "Released 1.0 (Grace)" in text and "\x1b" not in text
    rows = list(csv.DictReader(io.StringIO(mem(busy, "timeline", "--csv").stdout)))
    assert [row["title"] for row in rows] == [one["title"] for one in events(busy)]
    names = [(one["author"] or "").partition(" <")[0] for one in events(busy)]
    assert [row["author"] for row in rows] == names and "Test" in names
    assert "nothing happened" in mem(busy, "timeline", "--until", "2001-01-01").stderr
    assert "is not a date" in mem(busy, "timeline", "--since", "nonsense", code=1).stderr
    assert "exclude" in mem(busy, "timeline", "--csv", "--json", code=2).stderr


def test_trends(busy: Path):
    """Hot files, agents, hours, failures and what was learned add up."""
    found = data_of(mem(busy, "timeline", "--trends", "--json").stdout)
    assert found["hot_files"][0] == {"path": "code.py", "commit_count": 2, "edit_count": 1}
    assert found["agents"] == [
        {"agent": "claude", "session_count": 1, "tool_call_count": 1, "failed_count": 0}
    ]
    assert (
        sum(found["hours"])
        == sum(found["weekdays"])
        == found["commit_count"] + found["session_count"]
    )
    assert found["tool_calls"] == {"count": 1, "failed_count": 0, "failure_rate": 0.0}
    assert [(week["memory_count"], week["gotcha_count"]) for week in found["learned_weeks"]] == [
        (1, 1)
    ]
    assert "Hot files" in mem(busy, "timeline", "--trends").stdout


def test_the_first_page_of_a_long_history_is_there_at_once(tmp_path: Path):
    """A pager that shows ten lines is not kept waiting for the rest, nor git kept at work."""
    repo = histories.make(tmp_path / "long", COMMITS, files=50, lines=60)
    mem(repo, "init", "--no-remote")
    begun = time.monotonic()
    done = subprocess.run(
        f"{sys.executable} -m gitmem -C {repo} timeline | head -5",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    first = time.monotonic() - begun
    begun = time.monotonic()
    assert len(events(repo)) == COMMITS
    assert len(done.stdout.splitlines()) == 5 and done.stderr == ""
    assert first < time.monotonic() - begun
