"""What stands between two sessions: an interruption told once, a greeting that hides nothing, a mark that is not said twice, ids that two agents share."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem import repository
from gitmem.agents import events
from gitmem.agents.events import HookEvent
from gitmem.base.files import Lock
from gitmem.errors import GitmemError
from gitmem.hooks.context import Hook
from gitmem.hooks.session_log import note, own_id
from gitmem.index.reader import open_index
from gitmem.repo.location import Home
from gitmem.services.briefing import collect, session_opening
from gitmem.services.lifecycle.score import FactScores
from gitmem.state import sessions
from gitmem.state.database import State
from gitmem.text.greetings import trivial
from tests.conftest import git
from tests.fact_samples import NOW, session_record
from tests.hooks.conftest import Agent, run, session_records, wait_for, wait_for_session_record
from tests.hooks.test_briefed import Start, at, told
from tests.hooks.test_sessions import SLEEPER
from tests.json_output import data_of


def killed(one: Agent, prompt: str) -> None:
    """Let a session be asked something in a process that then dies."""
    host = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=one.cwd
    )
    assert host.stdin
    assert host.stdout
    host.stdin.write(json.dumps(one.payload("UserPromptSubmit", prompt=prompt)).encode())
    host.stdin.close()
    host.stdout.readline()
    host.kill()
    host.wait()
    host.stdout.close()


def title_with_details(one: Agent, prompt: str) -> list[str]:
    """Return the lines that a prompt is told, without the fence."""
    return one.hook("UserPromptSubmit", prompt=prompt).splitlines()[1:-1]


def test_an_interruption_is_told_once(project: Path, agent):
    """As a question; neither the line of the session before nor a task says it again."""
    killed(agent("victim"), "Half of the work")
    agent("next").hook("SessionStart")
    wait_for_session_record(project)
    run(project, "list")
    text = "\n".join(told(agent("later")))
    assert text.lower().count("interrupted") == 1
    assert "ask the user first: " in text
    assert "Half of the work" not in text  # what was asked is its owner's
    assert "Half of the work" in run(project, "session", "opening")


def test_an_interruption_in_another_work_tree_is_not_asked_about(project: Path, agent: Start):
    """Sessions that run side by side in work trees of one repository go on with nothing of each other."""
    killed(agent("victim"), "Half of the work")
    agent("next").hook("SessionStart")
    wait_for_session_record(project)
    linked = project.with_name("linked")
    git(project, "worktree", "add", "-q", str(linked))
    assert "interrupted" not in "\n".join(told(agent("there", cwd=linked)))
    assert "ask the user first: " in "\n".join(told(agent("here")))


def test_what_a_start_had_no_time_to_wait_for_is_told_with_a_prompt(
    project: Path, agent: Start
) -> None:
    """On a machine that is busy the session record comes late: no older one stands in for it, and the next prompt is told, once."""
    session_record(project, "s0", "Something that is long over")
    run(project, "list")
    killed(agent("victim"), "Half of the work")
    one = agent("next")
    with Lock(Home(str(project / ".git" / "gitmem")).join("write.lock"), 5.0):
        assert "the session before: " not in one.hook("SessionStart")
        assert "the session before: " not in one.hook("UserPromptSubmit", prompt="go on")
    wait_for(
        lambda: (
            run(project, "drain")
            or [row for row in session_records(project) if row["session"] == "victim"]
        )
    )
    (line,) = title_with_details(one, "go on, please")
    assert line.startswith("- the session before: [session ")
    assert not one.hook("UserPromptSubmit", prompt="and on")


def test_an_older_session_that_waits_keeps_nothing_back(project: Path, agent: Start) -> None:
    """What the latest session did is told, though an older one has no record yet."""
    session_record(project, "s1", "Something that was done just now")
    run(project, "list")
    state = State(Home(str(project / ".git" / "gitmem")))
    now = time.time()
    for name, ended in (("s0", now - 300), ("s1", now - 5)):
        state.db.execute(
            "INSERT INTO sessions (id, agent, started, last, ended, why) VALUES (?, 'claude', ?, ?, ?, '')",
            (name, ended - 9, ended, ended),
        )
    state.db.execute(
        "INSERT INTO requests (kind, session, at, claimed, tries) VALUES ('record', 's0', ?, ?, 1)",
        (now - 300, now),
    )
    assert "Something that was done just now" in agent("next").hook("SessionStart")


def test_the_session_before_says_what_was_done_and_what_is_left(project: Path, agent):
    """What came of it and what is open, in one line; nothing that was asked or answered."""
    one = agent()
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Make the rate configurable")
    one.hook(
        "PostToolUse.Edit",
        tool_input={"file_path": str(project / "app/pay.py"), "old_string": "a", "new_string": "b"},
    )
    one.hook(
        "Stop",
        last_assistant_message="The rate comes from the environment now. TODO: document TAX_RATE in the README.",
    )
    (project / "app/x.py").write_text("x\n")
    git(project, "add", "app/x.py")
    git(project, "commit", "-qm", "rate: from the environment")
    one.hook("SessionEnd")
    wait_for_session_record(project)
    run(project, "list")
    lines = told(agent("s2"))
    line = lines[at(lines, "the session before: ")]
    for part in ("Done: changed app/pay.py", "rate: from the environment", "Left: "):
        assert part in line, line
    for quote in ("tool call", "Make the rate", "comes from the environment now"):
        assert quote not in line


def test_a_session_that_said_hello_hides_nothing(project: Path, agent):
    """It leaves no record; the one before it is told still, and is what an opening goes by."""
    killed(agent("victim"), "Half of the work")
    one = agent("hello")
    one.hook("SessionStart")
    wait_for_session_record(project)
    one.hook("UserPromptSubmit", prompt="Hi Claude!")
    one.hook(
        "Stop",
        last_assistant_message="Hello! We decided to use SERIALIZABLE for payments. What next?",
    )
    one.hook("SessionEnd")
    wait_for(lambda: not data_of(run(project, "status", "--json"))["requests"])
    assert [row["session"] for row in session_records(project)] == ["victim"]
    assert "SERIALIZABLE" not in run(project, "list", "--all")
    assert data_of(run(project, "session", "opening", "--json"))["action"] == "ask"
    assert "was interrupted" in "\n".join(told(agent("s3")))


def test_a_mark_is_told_once_after_a_compaction(project: Path, agent):
    """It is verbatim what the session marked; what was made of it says no more."""
    one = agent(CLAUDE_CODE_SESSION_ID="s1")
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Make payments retry")
    marks = (
        "The ledger is append only: never update a row",
        "We decided to use NUMERIC for money",
        "TODO: write the changelog",
    )
    for mark in marks:
        run(project, "session", "mark", mark, "--session", "s1")
    run(project, "add", "Ledger", "-t", "decision")  # a word of it is not a repetition
    one.raw(
        json.dumps(
            {
                "hook_event_name": "PreCompact",
                "session_id": "s1",
                "cwd": str(project),
                "trigger": "auto",
            }
        ).encode()
    )
    wait_for(lambda: "NUMERIC" in run(project, "list", "--all"))
    wait_for(lambda: not data_of(run(project, "status", "--json"))["requests"])
    text = one.hook("SessionStart", source="compact")
    for part in ("append only", "NUMERIC", "rite the changelog"):
        assert text.count(part) == 1, text
    assert "] Ledger" in text
    assert "NUMERIC" not in one.hook(
        "UserPromptSubmit", prompt="We decided to use NUMERIC for money, did we?"
    )
    assert "NUMERIC" in agent("s2").hook("SessionStart")


def codex(path: Path, event: str, session: str, **fields: Any) -> None:
    """Send an event of Codex CLI."""
    data = {
        "hook_event_name": event,
        "session_id": session,
        "cwd": str(path),
        "transcript_path": None,
        "model": "m",
        **fields,
    }
    subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "codex"],
        input=json.dumps(data).encode(),
        check=True,
        capture_output=True,
    )


def test_two_agents_with_one_id_have_two_sessions(
    project: Path, agent, monkeypatch: pytest.MonkeyPatch
):
    """Histories, session records and commands are each one's own; the first keeps the id."""
    agent("same").hook("UserPromptSubmit", prompt="Port the first half")
    codex(project, "UserPromptSubmit", "same", prompt="Port the second half")
    agent("same").hook("UserPromptSubmit", prompt="And its tests")
    rows = {row["id"]: row for row in data_of(run(project, "session", "list", "--json"))}
    assert {id: row["agent"] for id, row in rows.items()} == {
        "same": "claude",
        "same.codex": "codex",
    }
    monkeypatch.setenv("CODEX_THREAD_ID", "same")
    assert data_of(run(project, "session", "current", "--json"))["id"] == "same.codex"
    monkeypatch.delenv("CODEX_THREAD_ID")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "same")
    assert data_of(run(project, "session", "current", "--json"))["id"] == "same"
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    for id in rows:
        run(project, "session", "end", id)
    found = wait_for(lambda: len(session_records(project)) == 2 and session_records(project))
    for session, asked in (("same", "first half"), ("same.codex", "second half")):
        (record,) = [row["id"] for row in found if row["session"] == session]
        assert f"Port the {asked}" in run(project, "show", record)
    assert "codex resume same\n" in run(project, "session", "resume", "same.codex")


@pytest.mark.parametrize(
    ("prompt", "small"),
    [
        ("hi", True),
        ("Hello Claude!", True),
        ("ok, thanks 👍", True),
        ("", True),
        ("/exit", True),
        (" /Clear\n", True),
        ("/help", True),
        ("/quit", True),
        ("/test", False),
        ("/ping", False),
        ("/clear all", False),
        ("test", False),
        ("/hi", False),
        ("你好", True),
        ("how are you?", True),
        ("good morning everyone", True),
        ("fix a.py", False),
        ("Make it quick", False),
        ("test the payments", False),
        ("are you able to read app/pay.py", False),
        ("42", False),
        ("hi " * 100, False),
    ],
)
def test_what_is_small_talk(prompt: str, small: bool):
    assert trivial(prompt) is small


def test_what_two_agents_begin_at_once_under_one_id_are_two_sessions(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    """Both asked whose the id is before either had it."""
    monkeypatch.chdir(project)
    hooks = []
    for name in ("claude", "codex"):
        event = HookEvent(events.PROMPT, "UserPromptSubmit", name, "same", str(project))
        event.prompt = f"of {name}"
        hooks.append(Hook(event, dict(os.environ), time.time()))
    assert [own_id(hook) for hook in hooks] == ["same", "same"]
    for hook in hooks:
        note(hook)
    assert [hook.event.session for hook in hooks] == ["same", "same.codex"]
    found = {
        path.name[24:]: path.read_text() for path in (project / ".git/gitmem/sessions").iterdir()
    }
    assert {
        name: [json.loads(line)["content"] for line in text.splitlines()]
        for name, text in found.items()
    } == {
        "same.jsonl": ["of claude"],
        "same.codex.jsonl": ["of codex"],
    }
    rows = {row["id"]: row["agent"] for row in data_of(run(project, "session", "list", "--json"))}
    assert rows == {"same": "claude", "same.codex": "codex"}


def test_two_agents_with_one_id_keep_apart_without_a_database(
    project: Path, agent, monkeypatch: pytest.MonkeyPatch
):
    """Their histories tell; and what cannot be opened is tried once in an event."""
    agent("same").hook("UserPromptSubmit", prompt="first")
    codex(project, "UserPromptSubmit", "same", prompt="second")
    state = project / ".git/gitmem/state.db"
    for path in state.parent.glob("state.db*"):
        path.unlink()
    state.mkdir()
    begun = time.monotonic()
    codex(project, "UserPromptSubmit", "same", prompt="third")
    agent("same").hook("UserPromptSubmit", prompt="fourth")
    found = {
        path.name[24:]: path.read_text() for path in (project / ".git/gitmem/sessions").iterdir()
    }
    assert {
        name: [json.loads(line)["content"] for line in text.splitlines()]
        for name, text in found.items()
    } == {
        "same.jsonl": ["first", "fourth"],
        "same.codex.jsonl": ["second", "third"],
    }
    assert time.monotonic() - begun < 5
    tries = []
    monkeypatch.setattr(
        repository,
        "State",
        lambda *args, **options: tries.append(State(*args, **options)) or tries[-1],
    )
    monkeypatch.setattr(repository, "WAIT", 0.0)
    hook = Hook(
        HookEvent(events.PROMPT, "UserPromptSubmit", "codex", "same", str(project)),
        dict(os.environ),
        time.time(),
    )
    assert own_id(hook) == "same.codex"
    for _ in range(2):
        with pytest.raises(GitmemError, match="cannot be written"):
            note(hook)
    assert len(tries) == 1


def test_a_session_before_is_looked_for_in_one_listing(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    """However many sessions somebody only said hello in."""
    home = Home(str(project / ".git/gitmem"))
    home.make("sessions")
    state = State(home)
    for n in range(9):
        name, text = f"history_20261121_09000{n}_s{n}.jsonl", "Port it" if n == 0 else "hi"
        sessions.sign(
            state, sessions.Session(f"s{n}", "claude", n, n, name, None, "", "", "", ""), opens=True
        )
        line = {"role": "user", "content": text, "metadata": {"event": "PromptSubmit"}}
        (project / ".git/gitmem/sessions" / name).write_text(json.dumps(line) + "\n")
    listed, real = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder=".": listed.append(folder) or real(folder))
    found = session_opening.last_session(state, time.time(), lambda _: None, home=home)
    assert found is not None
    assert (found.id, len(listed)) == ("s0", 1)
    state.close()


def test_of_many_session_records_the_latest_are_made_into_entries(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    """A start reads a few, not all that it may have to look at."""
    for n in range(8):
        session_record(project, f"s{n}", f"Port part {n}", at=NOW + n)
    run(project, "list")
    index = open_index(str(project / ".git/gitmem/index.db"))
    assert index is not None
    made, real = [], collect.of_row
    monkeypatch.setattr(
        collect,
        "of_row",
        lambda row, index, own: made.append(row["title"]) or real(row, index, own),
    )
    scores = FactScores([index], list, NOW)
    known = collect.gather(
        [index],
        ["global"],
        subjects=collect.CURRENT_SUBJECTS,
        own=frozenset(),
        now="2026-12-01T00:00:00Z",
        first=collect.FactOrder(scores.of, list),
    )
    assert known.last is not None
    assert (known.last.text, len(made)) == ("Port part 7", collect.RECENT)


def test_a_session_of_a_command_that_is_no_farewell_is_recorded(project: Path, agent):
    """`/test` is work; `/exit` is not."""
    for name, prompt in (("s1", "/test"), ("s2", "/exit"), ("s3", "test")):
        agent(name).hook("UserPromptSubmit", prompt=prompt)
        agent(name).hook("SessionEnd")
    assert sorted(
        row["session"]
        for row in wait_for(lambda: len(session_records(project)) == 2 and session_records(project))
    ) == ["s1", "s3"]


def test_an_agent_that_is_called_with_a_command_has_its_story(project: Path, agent):
    """As without the call."""
    agent().hook("UserPromptSubmit", prompt="@dev *develop docs/stories/1.md please")
    assert data_of(run(project, "session", "context", "--json"))["story"] == "docs/stories/1.md"
