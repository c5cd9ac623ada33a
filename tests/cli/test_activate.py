"""Activate: what an agent says first, in time, whatever hangs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.base.processes import runs
from tests.cli.conftest import Mem, spawn, venv_path
from tests.conftest import git
from tests.json_output import data_of

DEV = """---
name: dev
title: Full stack developer
icon: 🛠
role: Implements stories and keeps their tests green
commands:
  - {name: develop, description: Implement a story, visibility: key}
  - {name: run-tests, description: Run the tests, visibility: [full, quick]}
  - {name: inner, description: For others, visibility: internal}
---
You are dev.
"""
SECONDS = 6.0  # of a whole process on a machine that is busy; the work in it has half a second


def loaders(data: dict[str, Any]) -> dict[str, Any]:
    """Return the loaders of an activation by their names."""
    return {row["name"]: row for row in data["loaders"]}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give what is not a test of time more of it: the machine may be busy."""
    monkeypatch.setenv("GITMEM_ACTIVATE_TIMEOUT", "8000")


USUAL = {"GITMEM_ACTIVATE_TIMEOUT": ""}


@pytest.fixture
def project(mem: Mem) -> Mem:
    """A repository with two agents."""
    (mem.folder / ".gitmem/agents").mkdir(parents=True)
    (mem.folder / ".gitmem/agents/dev.md").write_text(DEV)
    (mem.folder / ".claude/agents").mkdir(parents=True)
    (mem.folder / ".claude/agents/review.md").write_text(
        "---\nname: qa\ndescription: Use this when: code is to be reviewed\n---\nx\n"
    )
    git(mem.folder, "add", "-A")
    git(mem.folder, "commit", "-qm", "agents")
    return mem


def hanging_git(tmp_path: Path, verb: str) -> dict[str, str]:
    """Return an environment in which a verb of git hangs, for everybody."""
    real = subprocess.run(
        ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        f'#!/bin/sh\nfor word in "$@"; do [ "$word" = {verb} ] && echo $$ >> {tmp_path}/pids && exec sleep 60; done\nexec {real} "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def end_children(tmp_path: Path) -> None:
    """End each git that hangs."""
    for pid in filter(runs, (tmp_path / "pids").read_text().split()):
        os.kill(int(pid), signal.SIGKILL)


def no_children_left(tmp_path: Path) -> bool:
    """Say whether each git that hung was ended, a moment later at the latest."""
    pids = (tmp_path / "pids").read_text().split()
    until = time.monotonic() + 30
    while (left := any(map(runs, pids))) and time.monotonic() < until:
        time.sleep(0.02)
    end_children(tmp_path)
    return not left


def test_the_greeting_of_a_new_session(project: Mem):
    project("add", "Retries need jitter", "-k", "gotcha", "--severity", "critical", "-m", "x")
    project("add", "dev likes small commits", "--agent", "dev", "-m", "y")
    project("add", "only qa knows", "--agent", "qa", "-m", "y")
    project("add", "Write the page about retries", "-t", "task", "-m", "z")
    out = project("session", "activate", "dev").out
    first, role, status, known, commands = out.strip().split("\n\n")
    assert first == "🛠 dev, Full stack developer: ready."
    assert role == "Role: Implements stories and keeps their tests green"
    assert status.startswith(
        "Project: on main, nothing changed, last commit just now by Test: agents."
    )
    assert [line.split(" (")[0] for line in known.splitlines()] == [
        "Watch out: Retries need jitter",
        "To do: Write the page about retries",
        "Remembered: dev likes small commits",
    ]
    assert commands.splitlines() == [
        "Commands:",
        "  develop    Implement a story",
        "  run-tests  Run the tests",
    ]


def test_one_that_comes_again_is_known(project: Mem):
    project("session", "activate", "dev")
    project("session", "task", "develop", "--agent", "dev")
    data = project("session", "activate", "qa", "--json").json
    assert data["kind"] != "new"
    assert data["context"]["work_context"]["previous_agent"]["agent"] == "dev"
    assert "Context: Continuing from @dev" in data["greeting"]
    assert "Role:" not in data["greeting"]


def test_json_tells_all_loaders(project: Mem):
    data = project("session", "activate", "dev", "--json").json
    assert (data["quality"], data["fallback"], data["kind"]) == ("full", False, "new")
    assert {name: one["tier"] for name, one in loaders(data).items()} == {
        "definition": "critical",
        "git": "high",
        "index": "high",
        "session": "best_effort",
        "work": "best_effort",
        "memories": "best_effort",
        "gotchas": "best_effort",
        "tasks": "best_effort",
        "handovers": "best_effort",
        "dna": "best_effort",
    }
    assert {one["status"] for one in data["loaders"]} == {"ok"}
    assert all(0 <= one["duration_seconds"] < 8 for one in data["loaders"])
    assert data["definition"]["commands"][0] == {
        "name": "develop",
        "description": "Implement a story",
        "visibilities": ["key", "quick", "full"],
    }
    assert data["context"]["git"]["branch"] == "main"


def test_a_conversation_decides_what_kind_of_session_it_is(project: Mem, tmp_path: Path):
    talk = tmp_path / "talk.json"
    talk.write_text(
        json.dumps(
            [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}]
        )
    )
    assert (
        project("session", "activate", "dev", "--history", str(talk), "--json").json["kind"]
        == "existing"
    )
    talk.write_text('{"role": "user", "content": "*develop docs/a.md"}\nnonsense\n')
    found = project("session", "activate", "dev", "--history", str(talk), "--json").json
    assert found["context"]["work_context"]["last_commands"]
    talk.write_text("[]")
    assert (
        loaders(project("session", "activate", "dev", "--history", str(talk), "--json").json)[
            "history"
        ]["status"]
        == "ok"
    )
    talk.write_text("nonsense")
    assert (
        "is not JSON" in project("session", "activate", "dev", "--history", str(talk), code=1).err
    )
    assert (
        "cannot be read"
        in project("session", "activate", "dev", "--history", "nowhere", code=1).err
    )


def test_which_agents_there_are(project: Mem):
    lines = project("session", "activate", "--list").out.splitlines()
    assert lines == [
        "dev  .gitmem/agents/dev.md  Full stack developer",
        "qa   .claude/agents/review.md  Use this when: code is to be reviewed",
    ]
    assert [one["name"] for one in project("session", "activate", "--list", "--json").json] == [
        "dev",
        "qa",
    ]
    assert project("session", "activate", "review", "--json").json["agent"] == "qa"  # by its file


def test_wrong_use(project: Mem, outside: Mem):
    done = project("session", "activate", "dve", code=1)
    assert (
        done.err
        == "error: there is no agent 'dve'.\nhint: Did you mean dev? See all: git mem session activate --list\n"
    )
    project("session", "activate", code=2)
    project("session", "activate", "  ", code=2)
    project("session", "activate", "dev", "--list", code=2)
    project("session", "activate", "dev", "--timeout", "0", code=2)
    outside("session", "activate", "dev", code=1)


def test_without_any_definition_it_says_how_to_write_one(mem: Mem):
    assert "Write .gitmem/agents/dev.md" in mem("session", "activate", "dev", code=1).err
    assert "no agent is defined" in mem("session", "activate", "--list").err


def test_a_definition_that_cannot_be_read_falls_back(project: Mem):
    (project.folder / ".gitmem/agents/dev.md").write_bytes(b"---\nname: \xff\n---\n")
    data = project("session", "activate", "dev", "--json").json
    assert (data["quality"], data["fallback"]) == ("fallback", True)
    assert data["greeting"].startswith(
        "🤖 dev is ready, without its definition (.gitmem/agents/dev.md): it is not UTF-8."
    )
    assert data["context"]["git"]["branch"] == "main"


def test_nothing_of_a_definition_steers_the_terminal(project: Mem):
    (project.folder / ".gitmem/agents/dev.md").write_text(
        '---\nname: dev\ntitle: "a\\e[31mb\\u202ec"\nrole: "$(touch x) `id`"\n---\n'
    )
    out = project("session", "activate", "dev").out
    assert "\x1b" not in out
    assert "a\\x1b[31mb\\u202ec" in out
    assert not (project.folder / "x").exists()
    assert "\x1b" not in project("session", "activate", "dev", "--json").out


@pytest.mark.parametrize("verb", ["status", "log", "config"])
def test_a_git_that_hangs_costs_its_part_alone(project: Mem, tmp_path: Path, verb: str):
    project(
        "session", "activate", "dev"
    )  # settings and index are there, as they are for one who works
    # what was kept of the settings is old now
    git(project.folder, "config", "gitmem.injectBudget", "480")
    env = hanging_git(tmp_path, verb)
    begun = time.monotonic()
    data = spawn(project.folder, "session", "activate", "dev", "--json", env=env | USUAL).json
    assert time.monotonic() - begun < SECONDS
    assert data["duration_seconds"] < 1
    assert data["quality"] == "partial"
    assert loaders(data)["git"]["status"] == "timeout"
    assert "Not there in time: git" in data["greeting"]
    assert no_children_left(tmp_path)


def test_a_pipe_that_nobody_fills_does_not_hold_it(project: Mem, tmp_path: Path):
    pipe = tmp_path / "talk"
    os.mkfifo(pipe)
    (project.folder / ".gitmem/agents/pipe.md").unlink(missing_ok=True)
    os.mkfifo(project.folder / ".gitmem/agents/pipe.md")
    begun = time.monotonic()
    data = spawn(
        project.folder, "session", "activate", "dev", "--history", str(pipe), "--json", env=USUAL
    ).json
    assert time.monotonic() - begun < SECONDS
    assert (loaders(data)["history"]["status"], data["quality"]) == ("timeout", "partial")
    assert (
        spawn(project.folder, "session", "activate", "pipe", "--json").json["quality"] == "fallback"
    )


def test_a_state_that_is_locked_does_not_hold_it(project: Mem):
    import sqlite3

    project("session", "activate", "dev")
    db = sqlite3.connect(project.folder / ".git/gitmem/state.db")
    db.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    done = spawn(project.folder, "session", "activate", "dev", env=USUAL)
    assert time.monotonic() - begun < SECONDS
    assert done.out.startswith("🛠 dev")
    db.close()


def test_less_time_is_kept_too(project: Mem):
    env = {"GITMEM_ACTIVATE_TIMEOUT": "1"}
    data = project("session", "activate", "dev", "--json", env=env).json
    # a definition may be read in less than a millisecond
    assert data["quality"] in {"fallback", "partial"}
    assert loaders(data)["git"]["status"] == "timeout"
    assert data["duration_seconds"] < 0.4
    assert (
        project("session", "activate", "dev", "--timeout", "8000", "--json", env=env).json[
            "quality"
        ]
        == "full"
    )


def test_a_definition_that_is_late_falls_back(project: Mem, monkeypatch: pytest.MonkeyPatch):
    from gitmem.services.briefing import agent_definitions

    monkeypatch.setattr(agent_definitions, "find", lambda *_: time.sleep(0.5))
    data = project("session", "activate", "dev", "--json", env=USUAL).json
    assert (data["quality"], loaders(data)["definition"]["status"]) == ("fallback", "timeout")
    assert data["greeting"].startswith(
        "🤖 dev is ready, without its definition: it was not there in time."
    )


@pytest.mark.parametrize("kind", ["bare", "worktree", "sha256"])
def test_other_repositories(make_repo, mem: Mem, kind: str, _sealed: Path):
    (_sealed / ".claude/agents").mkdir(parents=True)
    (_sealed / ".claude/agents/mine.md").write_text("---\nname: mine\n---\n")
    data = mem.at(make_repo(kind))("session", "activate", "mine", "--json").json
    assert (data["quality"], data["definition"]["definition_file"]) == (
        "full",
        "~/.claude/agents/mine.md",
    )
    assert (data["context"]["git"] is None) == (kind == "bare")


def test_repositories_without_a_commit_or_a_branch(mem: Mem, tmp_path: Path):
    git(tmp_path, "init", "-q", "empty")
    (tmp_path / "empty/.gitmem/agents").mkdir(parents=True)
    (tmp_path / "empty/.gitmem/agents/dev.md").write_text(DEV)
    assert "no commit yet" in mem.at(tmp_path / "empty")("session", "activate", "dev").out
    git(mem.folder, "checkout", "-q", "--detach")
    (mem.folder / ".gitmem/agents").mkdir(parents=True)
    (mem.folder / ".gitmem/agents/dev.md").write_text(DEV)
    (mem.folder / "a name\nwith 😀.txt").write_text("x")
    out = mem("session", "activate", "dev").out
    assert "on no branch, 2 changed files" in out


def test_what_is_ignored_is_not_named(project: Mem):
    (project.folder / ".gitmemignore").write_text("hidden.txt\n")
    (project.folder / "hidden.txt").write_text("x")
    out = project("session", "activate", "dev").out
    assert "1 changed file (.gitmemignore)" in out


def test_from_a_folder_below(project: Mem):
    (project.folder / "sub").mkdir()
    (project.folder / "sub/new.txt").write_text("x")
    assert (
        "1 changed file (sub/)"
        in project.at(project.folder / "sub")("session", "activate", "dev").out
    )


def test_an_index_that_is_late_is_there_the_next_time(project: Mem, tmp_path: Path):
    project("add", "Retries need jitter", "-k", "gotcha", "--severity", "critical", "-m", "x")
    index = project.folder / ".git/gitmem/index.db"
    for path in index.parent.glob("index.db*"):
        path.unlink()
    (project.folder / ".git/gitmem/settings.json").unlink(missing_ok=True)
    data = spawn(
        project.folder,
        "session",
        "activate",
        "dev",
        "--json",
        env=hanging_git(tmp_path, "config") | {"GITMEM_ACTIVATE_TIMEOUT": "300"},
    ).json
    assert loaders(data)["index"]["status"] == "timeout"
    assert data["quality"] == "partial"
    until = time.monotonic() + 120
    while not spawn(project.folder, "session", "activate", "dev", "--json").json["context"][
        "gotchas"
    ]:
        assert time.monotonic() < until
    end_children(tmp_path)  # that of the drain, which waits as long as git takes


def test_a_table_that_is_wrong_is_said_to_be(project: Mem):
    (project.folder / ".gitmem/workflows.yaml").write_text("workflows: 7\n")
    data = project("session", "activate", "dev", "--json").json
    assert (data["quality"], loaders(data)["session"]["status"], data["kind"]) == (
        "partial",
        "error",
        "new",
    )
    assert "Not loaded: session (" in data["greeting"]


def test_a_definition_that_nests_deeply_costs_itself_alone(project: Mem) -> None:
    """Nested as deep as a file may hold, which would end the process or take seconds: the others are there, in time."""
    for name, text in (
        ("deep", "[" * 30_000 + "]" * 30_000),
        ("open", "[" * 60_000),
        ("maps", "{a: " * 15_000),
    ):
        (project.folder / f".gitmem/agents/{name}.md").write_text(
            f"---\nname: {name}\nx: {text}\n---\n"
        )
    begun = time.monotonic()
    done = spawn(project.folder, "session", "activate", "dev")
    assert (done.code, time.monotonic() - begun < SECONDS) == (0, True), done.err
    assert "Full stack developer: ready." in done.out
    listed = {
        one["name"]: one
        for one in data_of(spawn(project.folder, "session", "activate", "--list", "--json").out)
    }
    assert {"dev", "qa", "deep", "open", "maps"} <= listed.keys()


def test_a_conversation_without_a_message_says_nothing(project: Mem) -> None:
    """An empty one does not hide the work in hand."""
    (project.folder / ".aios-core").mkdir()
    project("session", "task", "develop")
    assert (
        project("session", "activate", "dev", "--history", "-", "--json", stdin=b"[]").json["kind"]
        == "workflow"
    )


def test_both_commands_read_the_same_conversations(project: Mem) -> None:
    """In any form, from a pipe too."""
    (project.folder / ".aios-core").mkdir()
    text = '{"conversation": [{"type": "user", "message": {"role": "user", "content": "*develop\\n*review-qa"}}]}'
    for command in (["session", "activate", "dev"], ["session", "context"]):
        words = ["git", "mem", *command, "--json", "--history"]
        done = subprocess.run(
            ["bash", "-c", f'{" ".join(words)} <(printf %s "$TEXT")'],
            cwd=project.folder,
            env={**os.environ, "TEXT": text, "PATH": venv_path()},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert data_of(done.stdout)["kind"] == "workflow"


def test_a_configuration_that_is_a_pipe_costs_what_git_tells(project: Mem) -> None:
    """Nobody writes into it: what git would tell is missing, the rest is there in time."""
    (project.folder / ".git/config").rename(project.folder / ".git/config.before")
    os.mkfifo(project.folder / ".git/config")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "session", "activate", "dev"],
        cwd=project.folder,
        env={**os.environ, **USUAL},
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert "Full stack developer: ready." in done.stdout
    assert "Not there in time: git" in done.stdout
