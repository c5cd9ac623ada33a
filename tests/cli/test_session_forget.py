"""`git mem session forget`: what was kept of a session goes, and nothing makes it again."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import PRIVATE, Mem, on_terminal
from tests.conftest import git
from tests.hooks.conftest import Agent, wait_for_session_record

WORD = "quokka"
PROMPT = f"Decision: use the {WORD} broker for the order events."
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}


def transcript(tmp_path: Path, *texts: str) -> Path:
    """Write a transcript of Claude Code in which a user said some texts."""
    path = tmp_path / "s1.jsonl"
    rows = [
        {
            "type": "user",
            "sessionId": "s1",
            "timestamp": "2026-11-20T10:00:00.000Z",
            "message": {"role": "user", "content": text},
        }
        for text in texts
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def run_session(mem: Mem, tmp_path: Path, name: str = "s1") -> Agent:
    """Have a session of an agent from its start to its record."""
    agent = Agent(mem.folder, name)
    path = str(transcript(tmp_path, PROMPT))
    agent.hook("SessionStart", transcript_path=path)
    agent.hook("UserPromptSubmit", prompt=PROMPT, transcript_path=path)
    (mem.folder / "code.py").write_text("print('changed')\n")
    agent.fail(f"KeyError: '{WORD}'")
    agent.hook("SessionEnd", transcript_path=path)
    wait_for_session_record(mem.folder)
    return agent


def texts_kept(mem: Mem) -> list[str]:
    """Return the places below our folder and the private store where the session's word stands."""
    home = mem.folder / ".git/gitmem"
    found = [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]
    held = [name for name in found if WORD.encode() in (home / name).read_bytes().lower()]
    if git(mem.folder, "grep", "-il", WORD, PRIVATE, "--", ok=(0, 1)):
        held.append("private store")
    return [name for name in held if not name.startswith("index.db")]


@pytest.fixture
def ended(mem: Mem, tmp_path: Path) -> Agent:
    """An ended session with a record, a proposal, a snapshot and a counted error."""
    mem("init")
    return run_session(mem, tmp_path)


def test_all_that_was_kept_goes(mem: Mem, ended: Agent) -> None:
    """History, record, proposals, snapshot, rows; it says so, and what stays."""
    assert {"private store", "state.db"} & set(texts_kept(mem))
    done = mem("session", "forget", "s1", "--yes", "--json")
    data = done.json
    assert (data["session"], data["history_file_count"]) == ("s1", 1)
    assert data["record_ids"] and data["removed_fact_ids"] and data["snapshot_ids"]
    assert data["transcript_file"].endswith("s1.jsonl")
    assert texts_kept(mem) == []
    assert mem("session", "list", "--json").json == []
    assert mem("list", "-k", "memory", "-k", "gotcha", "--all", "--json").json == []
    assert mem("search", WORD, "--json").json == []
    with sqlite3.connect(mem.folder / ".git/gitmem/state.db") as db:
        assert "'s1'" not in "\n".join(db.iterdump())


def test_who_answers_no_changes_nothing(mem: Mem, ended: Agent) -> None:
    """As every question of what cannot be taken back: exit code 1, and no hint at --yes."""
    said = on_terminal(mem.folder, "session", "forget", "s1", keys="n\n", code=1)
    assert "nothing was changed" in said and "--yes" not in said
    assert "private store" in texts_kept(mem)


def test_an_undo_does_not_bring_it_back(mem: Mem, ended: Agent) -> None:
    """Neither of the forgetting nor of an earlier command: it says why, and goes on with what it may take back."""
    mem.add("a fact of mine")
    proposal = mem("inbox", "--json").json[0]["id"]
    mem("edit", proposal, "--tag", "mine")
    mem("session", "forget", "s1", "--yes")
    done = mem("undo")
    assert "the session was forgotten" in done.err
    assert f"{proposal} stays away: its session was forgotten." in done.err
    assert texts_kept(mem) == []
    assert mem("session", "list", "--json").json == []
    assert "a fact of mine" not in mem.titles("--all")  # it was the one before


def test_nothing_makes_it_again(mem: Mem, ended: Agent, tmp_path: Path) -> None:
    """Late hooks, a resumed session, the worker, a transcript that is read again, an unknown id."""
    path = str(transcript(tmp_path, PROMPT))
    mem("session", "forget", "s1", "--yes")
    ended.hook("SessionStart", source="resume", transcript_path=path)
    ended.hook("UserPromptSubmit", prompt=PROMPT, transcript_path=path)
    ended.hook("SessionEnd", transcript_path=path)
    mem("drain")
    refused = mem("extract", path, "--save", code=1)
    assert "was forgotten" in refused.err
    assert mem("session", "list", "--json").json == []
    assert texts_kept(mem) == []
    mem("session", "resume", "s1", code=1)
    again = mem("session", "forget", "s1", "--yes", code=1)
    assert "forgotten before" in again.err
    unknown = mem("session", "forget", "nobody", "--yes", code=1)
    assert "git mem session list" in unknown.err


def test_facts_that_others_vouch_for_stay(mem: Mem, ended: Agent) -> None:
    """A confirmed one loses lines and place, one with another source this source."""
    proposal = mem("inbox", "--json").json[0]["id"]
    mem("inbox", "--accept", proposal)
    other = mem("add", "Deploy on Tuesdays", "--json", env=AGENT).json["id"]
    mem("session", "forget", "s1", "--yes")
    assert [row["id"] for row in mem("list", "-k", "memory", "--json").json] == [proposal]
    assert all("lines" not in source for source in mem.show(proposal)["sources"])
    mem("show", other, code=1)


def test_one_that_is_open_is_refused_without_force(mem: Mem, tmp_path: Path) -> None:
    """With it, the session ends and is never recorded, also from a linked worktree."""
    mem("init")
    agent = Agent(mem.folder, "s1")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt=PROMPT)
    refused = mem("session", "forget", "s1", "--yes", code=1)
    assert "still open" in refused.err
    git(mem.folder, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = mem.at(tmp_path / "linked")
    asked = linked("session", "forget", "s1", "--force", code=1)
    assert "--yes" in asked.err
    assert "forgot session s1" in linked("session", "forget", "s1", "--force", "--yes").out
    agent.hook("SessionEnd")
    mem("drain")
    assert mem("session", "list", "--json").json == []
    assert texts_kept(mem) == []
