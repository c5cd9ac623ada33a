"""A session from its start to its end, however it ends: what is kept, what is told, what is asked for later."""

import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.hooks.conftest import (
    Agent,
    crash,
    gotchas,
    learn,
    run,
    session_records,
    wait_for,
    wait_for_session_record,
)
from tests.json_output import data_of

KEY = "AKIA" + "IOSFODNN7EXAMPLQ"


def history(path: Path, session: str) -> list[dict[str, Any]]:
    """Return the rows of a session's history."""
    (file,) = (path / ".git/gitmem/sessions").glob(f"history_*_{session}.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def work(one: Agent) -> None:
    """Let a session ask, fail and answer."""
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Make the rate configurable")
    one.hook(
        "PostToolUse.Edit",
        tool_input={"file_path": str(one.cwd / "app/pay.py"), "old_string": "a", "new_string": "b"},
    )
    one.fail(crash(one.cwd))
    one.hook("Stop", last_assistant_message="The rate comes from the environment now.")


def test_a_session_that_ends_is_recorded(project: Path, agent):
    work(agent())
    (project / "app/x.py").write_text("x\n")
    git(project, "add", "app/x.py")
    git(project, "commit", "-qm", "rate: from the environment")
    agent().hook("SessionEnd")
    (found,) = wait_for(lambda: session_records(project))
    assert found["title"].endswith(", claude, 1 file")
    assert (found["store"], found["session"]) == ("private", "s1")
    text = run(project, "show", found["id"])
    for part in (
        "Make the rate configurable",
        "1 prompt, 2 tool calls, 1 failed",
        "app/pay.py",
        "`python app/pay.py`: KeyError",
        "rate: from the environment",
        "The rate comes from",
    ):
        assert part in text


def test_the_next_session_is_told_of_the_last(project: Path, agent):
    work(agent())
    agent().hook("SessionEnd")
    wait_for_session_record(project)
    told = agent("s2").hook("SessionStart")
    assert "the session before: " in told
    assert "changed app/pay.py" in told
    # what was asked and answered is its owner's, and no agent's
    assert "Make the rate configurable" not in told
    assert "from the environment now" not in told
    assert "the session before: " not in agent("s2").hook("SessionStart", source="compact")


def test_a_record_is_not_pushed_unless_asked_for(project: Path, agent):
    work(agent())
    agent().hook("SessionEnd")
    assert wait_for(lambda: session_records(project))[0]["store"] == "private"
    git(project, "config", "gitmem.recordSessions", "false")
    work(agent("s2"))
    agent("s2").hook("SessionEnd")
    wait_for(
        lambda: (
            "s2" in run(project, "session", "list")
            and not data_of(run(project, "status", "--json"))["journal_count"]
        )
    )
    time.sleep(0.5)
    assert len(session_records(project)) == 1


def test_a_session_in_which_nothing_happened_leaves_no_record(project: Path, agent):
    agent("idle").hook("SessionStart")
    agent("idle").hook("SessionEnd")
    work(agent("busy"))
    agent("busy").hook("SessionEnd")
    wait_for_session_record(project)
    assert [d["session"] for d in session_records(project)] == ["busy"]


def test_a_session_that_goes_on_has_one_record(project: Path, agent):
    """Claude Code resumes a session under its old id."""
    work(agent())
    agent().hook("SessionEnd")
    wait_for_session_record(project)
    agent().hook("SessionStart", source="resume")
    agent().hook("UserPromptSubmit", prompt="And now the tests")
    agent().hook("SessionEnd")
    wait_for(lambda: "And now the tests" in run(project, "show", session_records(project)[0]["id"]))
    assert len(session_records(project)) == 1


def test_a_late_event_does_not_bring_a_session_back(project: Path, agent):
    work(agent())
    agent().hook("SessionEnd")
    agent().hook("PostToolUse.Read")
    (row,) = data_of(run(project, "session", "list", "--json"))
    assert (row["state"], row["end_reason"]) == ("ended", "other")


SLEEPER = "import subprocess, sys; subprocess.run([sys.executable, '-P', '-m', 'gitmem', 'hook', 'claude'], input=sys.stdin.buffer.read()); print('up', flush=True); import time; time.sleep(60)"


def test_a_killed_session_is_finished_by_the_next(project: Path, agent):
    """SIGKILL leaves no SessionEnd: the process that ran the hooks is gone, and that is enough."""
    host = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project
    )
    assert host.stdin
    assert host.stdout
    host.stdin.write(
        json.dumps(agent("victim").payload("UserPromptSubmit", prompt="Half of the work")).encode()
    )
    host.stdin.close()
    host.stdout.readline()
    agent("other").hook("SessionStart")
    assert [
        s["state"]
        for s in data_of(run(project, "session", "list", "--json"))
        if s["id"] == "victim"
    ] == ["running"]
    host.kill()
    host.wait()
    host.stdout.close()
    assert [
        s["state"]
        for s in data_of(run(project, "session", "list", "--json"))
        if s["id"] == "victim"
    ] == ["interrupted"]
    told = agent("next").hook("SessionStart")
    (found,) = wait_for(lambda: session_records(project))
    assert found["session"] == "victim"
    assert "It was interrupted" in run(project, "show", found["id"])
    assert "Half of the work" in run(project, "show", found["id"])
    assert "was interrupted" in told


def test_starts_that_race_finish_it_once(project: Path, agent):
    host = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project
    )
    assert host.stdin
    assert host.stdout
    host.stdin.write(
        json.dumps(agent("victim").payload("UserPromptSubmit", prompt="Half of the work")).encode()
    )
    host.stdin.close()
    host.stdout.readline()
    host.kill()
    host.wait()
    host.stdout.close()
    command = [sys.executable, "-P", "-m", "gitmem", "hook", "claude"]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=project)
        for _ in range(6)
    ]
    for number, one in enumerate(racers):
        assert one.stdin
        one.stdin.write(json.dumps(agent(f"r{number}").payload("SessionStart")).encode())
        one.stdin.close()
    assert [one.wait() for one in racers] == [0] * 6
    wait_for_session_record(project)
    log = git(project, "log", "--format=%s", "refs/gitmem/local/main").splitlines()
    assert sum(line.startswith("session: Session of") for line in log) == 1


def test_history_has_no_secrets_and_nothing_private(project: Path, agent):
    one = agent()
    one.hook(
        "UserPromptSubmit",
        prompt=f"use {KEY} here <private>and my\nold password</private> and go on",
    )
    one.hook(
        "PreToolUse.Bash",
        tool_input={"command": f"curl -H 'Authorization: Bearer {KEY}x9' http://x"},
    )
    one.fail(
        f"Exit code 1\nError: key {KEY} refused <private>by Bob", command=f"deploy --key {KEY}"
    )
    one.hook("Stop", last_assistant_message=f"I used {KEY}.")
    raw = next((project / ".git/gitmem/sessions").glob("history_*")).read_text()
    assert KEY not in raw
    assert "password" not in raw
    assert "Bob" not in raw
    assert "go on" in raw
    assert raw.count("[redacted: AWS access key]") >= 3


def test_ignored_files_leave_nothing(project: Path, agent):
    (project / ".gitmemignore").write_text("# not for a memory\nsecrets/\n*.pem\n!public.pem\n")
    git(project, "config", "gitmem.ignore", "app/hidden.py")
    (project / "secrets").mkdir()
    one = agent()
    for path in ("secrets/plan.md", "a.pem", "app/hidden.py"):
        one.hook("PostToolUse.Read", tool_input={"file_path": str(project / path)})
    one.hook("PreToolUse.Bash", tool_input={"command": "cat secrets/plan.md"})
    for _ in range(3):
        one.fail(
            'Exit code 1\nTraceback (most recent call last):\n  File "secrets/run.py", line 1, in <module>\nValueError: plan 9',
            "python secrets/run.py",
        )
    one.hook("PostToolUse.Read", tool_input={"file_path": str(project / "public.pem")})
    raw = next((project / ".git/gitmem/sessions").glob("history_*")).read_text()
    assert "public.pem" in raw
    for word in ("secrets", "a.pem", "hidden", "plan 9"):
        assert word not in raw
    run(project, "list")
    assert gotchas(project) == []


def test_compaction_leaves_a_snapshot_and_a_clean_slate(project: Path, agent):
    learn(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py")
    one = agent()
    one.hook("UserPromptSubmit", prompt="Make the rate configurable")
    assert "Rate" in one.hook(
        "PreToolUse.Read", tool_input={"file_path": str(project / "app/pay.py")}
    )
    (project / "app/pay.py").write_text("changed\n")
    for _ in range(2):  # some agents say so before every request
        one.raw(
            json.dumps(
                {**one.payload("SessionStart"), "hook_event_name": "PreCompact", "trigger": "auto"}
            ).encode()
        )
    found = wait_for(lambda: data_of(run(project, "list", "--kind", "snapshot", "--json")))
    assert len(found) == 1
    shown = data_of(run(project, "show", found[0]["id"], "--json"))[0]
    shown = shown[0] if isinstance(shown, list) else shown
    text = json.dumps(shown)
    assert "Make the rate configurable" in text
    assert "app/pay.py" in text
    assert git(project, "rev-parse", "HEAD") in text
    one.raw(
        json.dumps(
            {**one.payload("SessionStart"), "hook_event_name": "PostCompact", "trigger": "auto"}
        ).encode()
    )
    assert "Rate" in one.hook(
        "PreToolUse.Read", tool_input={"file_path": str(project / "app/pay.py")}
    )


def test_two_sessions_of_one_second_do_not_share_a_history(project: Path, agent):
    """Ids of some agents begin with the time."""
    for name in ("01a1fc24-48d8-7310-889b-000000000001", "01a1fc24-48d8-7310-889b-000000000002"):
        agent(name).hook("UserPromptSubmit", prompt=f"I am {name[-1]}")
        assert [r["content"] for r in history(project, name)] == [f"I am {name[-1]}"]


def test_history_says_where_it_was(project: Path, agent):
    git(project, "switch", "-qc", "topic")
    Agent(project / "app", "s1").hook("SessionStart")
    assert history(project, "s1")[0]["state"] == {
        "agent": "claude",
        "folder": "app",
        "branch": "topic",
    }


class TestOffAndOn:
    @pytest.fixture
    def told(self, project: Path, agent):
        learn(project, "add", "We use SERIALIZABLE", "-t", "decision")
        return lambda session: "SERIALIZABLE" in agent(session).hook("SessionStart")

    def test_a_repository(self, project: Path, told):
        assert told("a")
        assert "hooks are off for this repository" in run(project, "hook", "off")
        assert not told("b")
        assert "hooks are off" in run(project, "status")
        run(project, "hook", "on")
        assert told("c")
        assert {s["id"] for s in data_of(run(project, "session", "list", "--json"))} == {
            "a",
            "c",
        }

    def test_a_session(self, project: Path, told, agent):
        assert told("a")
        assert told("b")
        run(project, "hook", "off", "--session", "a")
        agent("a").hook("UserPromptSubmit", prompt="not kept")
        agent("b").hook("UserPromptSubmit", prompt="kept")
        assert "not kept" not in "".join(
            p.read_text() for p in (project / ".git/gitmem/sessions").iterdir()
        )
        assert "kept" in json.dumps(history(project, "b"))
        run(project, "hook", "on", "--session", "a")
        agent("a").hook("UserPromptSubmit", prompt="again")
        assert "again" in json.dumps(history(project, "a"))

    def test_the_machine(self, project: Path, told):
        run(project, "hook", "off", "--machine")
        assert not told("a")
        run(project, "hook", "on", "--machine")
        assert told("b")

    def test_for_a_while(self, project: Path, told):
        run(project, "hook", "off", "--for", "1s")
        assert not told("a")
        time.sleep(1.1)
        assert told("b")

    def test_one_program(self, project: Path, agent, told):
        run(project, "add", "x", "-t", "decision")
        assert agent("a", GITMEM="0").hook("SessionStart") == ""

    def test_wrong_ways(self, project: Path, tmp_path: Path):
        def fails(*args: str, cwd: Path = project) -> tuple[int, str]:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "gitmem", *args],
                cwd=cwd,
                capture_output=True,
                text=True,
                check=False,
            )
            return done.returncode, done.stderr

        assert fails("hook", "off", "--for", "soon")[0] == 2
        assert (
            fails("hook", "off", "--session", "nobody")
            == (
                1,
                "git mem: there is no session 'nobody'.\n  See them with: git mem session list\n",
            )
            or fails("hook", "off", "--session", "nobody")[0] == 1
        )
        code, said = fails("hook", "off", cwd=tmp_path)
        assert code == 1
        assert "--machine" in said


def test_what_a_session_cost(project: Path, agent):
    learn(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py")
    work(agent())
    found = data_of(run(project, "session", "cost", "--json"))
    assert found["session_ids"] == ["s1"]
    by = {row["event"]: row for row in found["costs"]}
    assert by["SessionStart"]["answer_count"] == 1
    assert 0 < by["SessionStart"]["tokens"] <= by["SessionStart"]["budget"] == 1200
    assert by["TurnEnd"]["tokens"] == 0
    assert found["total"]["call_count"] == 5
    assert all(
        0 < row["duration_seconds"] < 5 and row["slowest_seconds"] <= row["duration_seconds"]
        for row in found["costs"]
    )
    assert "SessionStart" in run(project, "session", "cost", "s1")


def test_what_a_session_cost_has_the_processor_and_the_background(project: Path, agent):
    """A hook takes at least what Python takes to start; the end of a session leaves a drain."""
    one = agent()
    one.hook("SessionStart")
    one.hook("SessionEnd")

    def counted() -> dict[str, Any]:
        cost: dict[str, Any] = data_of(run(project, "session", "cost", "--json"))
        return cost if cost["background"]["process_count"] else {}

    cost = wait_for(counted)
    each = [row["processor_seconds"] / row["call_count"] for row in cost["costs"]]
    assert min(each) > 0.005
    assert cost["background"]["processor_seconds"] > 0.05
    assert cost["total"]["processor_seconds"] == pytest.approx(
        sum(row["processor_seconds"] for row in cost["costs"])
        + cost["background"]["processor_seconds"]
    )
    shown = run(project, "session", "cost", "s1")
    assert "background" in shown


def test_what_an_agent_writes_belongs_to_its_session(project: Path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "853c0c9d-1d61")
    run(project, "add", "We use SERIALIZABLE", "-t", "decision")
    (row,) = data_of(run(project, "list", "--json"))
    assert row["session"] == "853c0c9d-1d61"


def test_code_that_was_moved_is_told_where_it_is(project: Path, agent):
    learn(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py:5")
    git(project, "mv", "app/pay.py", "app/rate.py")
    git(project, "commit", "-qm", "move")
    names = (
        f"a{n}" for n in itertools.count()
    )  # the first of them is told, unless the machine is busy
    wait_for(lambda: "app/rate.py:5" in agent(next(names)).hook("SessionStart"))
    assert "Rate must be set" in agent("b").hook(
        "PreToolUse.Read", tool_input={"file_path": str(project / "app/rate.py")}
    )


def test_a_line_is_told_where_it_is_now(project: Path, agent):
    learn(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py:5")
    code = (project / "app/pay.py").read_text()
    (project / "app/pay.py").write_text("# one\n# two\n" + code)
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    assert "app/pay.py:7" in agent("a").hook("PreToolUse.Read", **read)
    (project / "app/pay.py").write_text("# nothing of it\n")
    told = agent("b").hook("PreToolUse.Read", **read)
    assert "its code has changed since" in told
    assert ":5" not in told


def test_a_tool_waits_for_an_index_that_is_behind(project: Path, agent):
    """For a moment: on a machine that has something else to do, the moment is over too soon."""
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    for n in range(10):
        run(project, "gotcha", "add", f"Trap number {n}", "--anchor", "app/pay.py:5")
        if f"Trap number {n}" in agent(f"a{n}").hook("PreToolUse.Read", **read):
            return
    pytest.fail("it never did")


def test_code_that_is_warned_of_by_an_expression(project: Path, agent):
    learn(
        project,
        "gotcha",
        "add",
        "Read the rate once",
        "--code",
        r"os\.environ\[",
        "--language",
        "python",
    )
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    assert "app/pay.py:5" in agent("a").hook("PostToolUse.Read", **read)
    (project / "app/pay.py").write_text("import sys\n")
    assert agent("b").hook("PostToolUse.Read", **read) == ""


def test_a_command_that_is_known_to_trip(project: Path, agent):
    for _ in range(3):
        agent().fail(crash(project))
    (one,) = wait_for(lambda: gotchas(project))
    learn(project, "edit", one["id"], "--workaround", "export TAX_RATE first")
    assert "export TAX_RATE first" in agent("b").hook(
        "PreToolUse.Bash", tool_input={"command": "cd . && python app/pay.py"}
    )
    assert agent("c").hook("PreToolUse.Bash", tool_input={"command": "python app/other.py"}) == ""


def test_a_damaged_history_is_recorded_as_far_as_it_goes(project: Path, agent):
    work(agent())
    (file,) = (project / ".git/gitmem/sessions").glob("history_*")
    with open(file, "ab") as handle:
        handle.write(b'{"half": \n[1]\n"text"\n\xff\xfe\n')
    agent().hook("SessionEnd")
    assert "Make the rate configurable" in run(
        project, "show", wait_for(lambda: session_records(project))[0]["id"]
    )


def test_nothing_is_left_open_by_a_drain_that_dies(project: Path, agent):
    """What was asked is asked again when the process that took it on does not come back."""
    work(agent())
    env = {**os.environ, "GITMEM": "0"}
    agent().hook("SessionEnd")
    wait_for_session_record(project)
    subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "drain"], cwd=project, env=env, check=True
    )
    assert len(session_records(project)) == 1


def test_code_that_was_moved_is_followed_without_a_start(project: Path, agent):
    """The first tool after the commit that renamed it, whole-file gotchas too."""
    run(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py:5")
    run(project, "gotcha", "add", "All of it is legacy", "--anchor", "app/pay.py")
    agent("a").hook("SessionStart")
    git(project, "mv", "app/pay.py", "app/rate.py")
    git(project, "commit", "-qm", "move")
    wait_for(
        lambda: (
            "Rate must be set"
            in agent(f"b{time.monotonic()}").hook(
                "PostToolUse.Read", tool_input={"file_path": str(project / "app/rate.py")}
            )
        )
    )
    told = agent("c").hook("SessionStart")
    assert "app/rate.py:5" in told
    assert "app/rate.py, formerly app/pay.py" in told


def test_an_error_that_names_an_ignored_file_is_not_captured(project: Path, agent):
    (project / ".gitmemignore").write_text("secret/\n")
    (project / "secret").mkdir()
    (project / "secret/k.py").write_text("raise ValueError('HIDDEN thing')\n")
    trace = 'Exit code 1\nTraceback (most recent call last):\n  File "app/pay.py", line 1, in <module>\n  File "secret/k.py", line 1, in <module>\nValueError: HIDDEN thing'
    for _ in range(3):
        agent().fail(trace, "make")
    run(project, "list")
    assert gotchas(project) == []
    assert "HIDDEN" not in "".join(
        p.read_text() for p in (project / ".git/gitmem/sessions").iterdir()
    )


def test_status_and_list_say_which_sessions_are_off(project: Path, agent):
    agent("a").hook("SessionStart")
    run(project, "hook", "off", "--session", "a")
    assert "hooks are off for session a" in run(project, "status")
    assert "(hooks are off)" in run(project, "session", "list")


def test_a_list_is_not_filled_with_session_records(project: Path, agent):
    run(project, "add", "We use SERIALIZABLE", "-t", "decision")
    work(agent())
    agent().hook("SessionEnd")
    wait_for_session_record(project)
    assert "Session of" not in run(project, "list")
    assert "Session of" in run(project, "list", "-k", "session")
