"""Disks that are full, files that are damaged, names that are odd, a crowd at once: a hook keeps its event and its time."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.hooks.session_log import append
from tests.conftest import git
from tests.hooks.conftest import HOOK, Agent, crash, run, session_records, wait_for
from tests.json_output import data_of
from tests.scale import scaled

MANY = scaled(30, 15)  # sessions that end at once


def said(path: Path) -> list[str]:
    """Return what the histories of a repository hold."""
    files = sorted((path / ".git/gitmem/sessions").glob("history_*"))
    return [json.loads(line)["content"] for file in files for line in file.read_text().splitlines()]


def test_an_event_is_kept_without_a_database(project: Path, agent):
    (project / ".git/gitmem").mkdir()
    (project / ".git/gitmem/state.db").mkdir()
    agent().hook("UserPromptSubmit", prompt="keep me")
    assert said(project) == ["keep me"]
    assert "state.db cannot be written" in agent().log()


def test_a_folder_whose_name_is_no_text(tmp_path: Path):
    """Names of files are bytes; a database takes text."""
    path = os.path.join(os.fsencode(tmp_path), b"na\xffme")
    os.mkdir(path)
    subprocess.run(["git", "init", "-q", path], check=True)
    payload = {
        **Agent(tmp_path, "s1").payload("UserPromptSubmit", prompt="keep me"),
        "cwd": "nowhere",
    }
    for event in ("UserPromptSubmit", "SessionStart", "SessionEnd"):
        data = json.dumps({**payload, "hook_event_name": event}).encode()
        assert (
            subprocess.run(HOOK, input=data, cwd=path, capture_output=True, check=False).returncode
            == 0
        )
    (name,) = os.listdir(path + b"/.git/gitmem/sessions")
    with open(path + b"/.git/gitmem/sessions/" + name, encoding="utf-8") as file:
        assert "keep me" in file.read()
    assert not os.path.exists(path + b"/.git/gitmem/hook.log")


@pytest.fixture
def locked(project: Path, agent):
    """Another process keeps `state.db`."""
    agent("first").hook("SessionStart")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    yield
    db.execute("ROLLBACK")
    db.close()


@pytest.mark.usefixtures("locked")
def test_a_busy_database_is_waited_for_once(project: Path, agent):
    took = []
    for n in range(4):  # the machine may have something else to do
        one = agent(f"number {n}")
        begun = time.monotonic()
        one.fail(f"Exit code 1\nValueError: no rate {n}")
        took.append(time.monotonic() - begun)
        assert any(f"ValueError: no rate {n}" in text for text in said(project))
    assert min(took) < 1.5  # once for half a second, then for a tenth each time
    kept = (project / ".git/gitmem/errors.jsonl").read_text().splitlines()
    # the next failure counts them
    assert [json.loads(line)["session"] for line in kept] == [f"number{n}" for n in range(4)]


def test_a_failure_counts_though_the_database_could_not_be_opened(project: Path, agent):
    """It is of an older version, and another process keeps it: what is not counted now is counted with the next failure."""
    agent("first").hook("SessionStart")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    db.execute("PRAGMA user_version = 1")
    db.execute("BEGIN IMMEDIATE")
    agent("second").fail(crash(project))
    db.execute("ROLLBACK")
    db.close()
    agent("third").fail(crash(project))
    (row,) = data_of(run(project, "error", "list", "--json"))
    assert row["count"] == 2


def test_failures_that_a_killed_hook_had_in_hand_are_counted_once(project: Path, agent):
    """Those of a process that still runs are its own; what a full disk cut off is not a failure; what was counted before it was killed is known."""
    agent("first").fail(crash(project))
    with closing(sqlite3.connect(project / ".git/gitmem/state.db")) as db:
        pattern, at = db.execute("SELECT pattern, at FROM errors").fetchone()
    known, hit = (
        json.dumps({"pattern": pattern, "at": at, "session": session})
        for session in ("first", "dead")
    )
    gone = subprocess.Popen(["true"])
    gone.wait()
    (project / f".git/gitmem/errors.jsonl.{gone.pid}.1").write_text(
        f'{{"pattern": "\n{known}\n{hit}\n\n[1]\n'
    )
    (project / f".git/gitmem/errors.jsonl.{os.getpid()}.1").write_text(f"{hit}\n")
    agent("third").fail(crash(project))
    (row,) = data_of(run(project, "error", "list", "--json"))
    assert row["count"] == 3
    assert [path.name for path in (project / ".git/gitmem").glob("errors.jsonl*")] == [
        f"errors.jsonl.{os.getpid()}.1"
    ]


def test_sessions_whose_names_end_alike_keep_apart(project: Path, agent):
    """The file's name alone tells whose it is when the database is busy."""
    agent("b").hook("UserPromptSubmit", prompt="of b")
    agent("x_b").hook("UserPromptSubmit", prompt="of x_b")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    agent("b").hook("UserPromptSubmit", prompt="of b too")
    db.execute("ROLLBACK")
    db.close()
    (mine,) = [
        file for file in (project / ".git/gitmem/sessions").iterdir() if "x_b" not in file.name
    ]
    assert [json.loads(line)["content"] for line in mine.read_text().splitlines()] == [
        "of b",
        "of b too",
    ]


@pytest.mark.parametrize("text", [b"[" * 4000, b"\xff\0", b"", b'{"until": "soon"}', b"7"])
def test_an_off_file_that_is_damaged_means_off(project: Path, agent, text):
    (project / ".git/gitmem").mkdir()
    (project / ".git/gitmem/off").write_bytes(text)
    agent().hook("UserPromptSubmit", prompt="not kept")
    assert agent().log() == ""
    assert not (project / ".git/gitmem/sessions").exists()
    assert "hooks are off" in run(project, "status")
    run(project, "hook", "on")
    agent().hook("UserPromptSubmit", prompt="kept")
    assert said(project) == ["kept"]


def test_a_folder_in_the_place_of_the_off_file_is_said_to_be_one(project: Path):
    (project / ".git/gitmem/off").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "on"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "fault of git mem" not in done.stderr


def test_a_line_that_was_cut_off_does_not_take_the_next_with_it(tmp_path: Path):
    file = tmp_path / "h"
    append(str(file), {"n": 1})
    with open(file, "a") as handle:
        handle.write('{"n": 2, "cont')
    append(str(file), {"n": 3})
    assert file.read_text().splitlines() == ['{"n": 1}', '{"n": 2, "cont', '{"n": 3}']


def test_an_event_is_kept_though_nobody_listens(project: Path, agent, tmp_path: Path):
    """A host that closes the output is told nothing; what would have been told is told later."""
    run(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py")
    read = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    file = tmp_path / "payload"
    file.write_text(json.dumps(agent().payload("PreToolUse.Read", **read)))
    done = subprocess.run(
        ["sh", "-c", f'"$0" -P -m gitmem hook claude < {file} >&-', sys.executable],
        cwd=project,
        check=False,
    )
    assert done.returncode == 0
    assert len(said(project)) == 1
    assert "Rate must be set" in agent().hook("PreToolUse.Read", **read)


def drains(path: Path) -> int:
    """Return how many drains of a repository are at work."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += b"drain" in words and os.fsencode(path) in words
    return found


@pytest.mark.skipif(
    not (os.path.isdir("/proc/self") or os.environ.get("GITMEM_REQUIRE_ALL")),
    reason="counts processes by /proc",
)
@pytest.mark.stress
def test_work_in_the_background_does_not_pile_up(project: Path, agent):
    """Each end of a session wants a session record: one process is at work, and one more may wait."""
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.is_set():
            most = max(most, drains(project))
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()

    def one(number: int) -> None:
        agent(f"s{number}").hook("UserPromptSubmit", prompt=f"task {number}")
        agent(f"s{number}").hook("SessionEnd")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(MANY)))
    wait_for(lambda: len(session_records(project)) == MANY)
    over.set()
    watcher.join()
    assert 1 <= most <= 5  # the next may begin while one that is done is still ending


def test_a_session_that_was_taken_for_dead_goes_on(project: Path, agent):
    """Where processes are not known, a tool that runs for an hour looks like an end; what comes after is recorded too."""
    one = agent()
    one.hook("UserPromptSubmit", prompt="Long work")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    db.execute("UPDATE sessions SET process = '', last = last - 7200")
    agent("next").hook("SessionStart")
    assert db.execute("SELECT why FROM sessions WHERE id = 's1'").fetchone() == ("interrupted",)
    one.hook("PostToolUse.Edit", tool_input={"file_path": str(project / "app/pay.py")})
    one.hook("SessionEnd")
    db.close()
    found = wait_for(lambda: session_records(project))
    wait_for(lambda: "1 tool call" in run(project, "show", found[0]["id"]))


def test_thousands_of_dead_sessions_do_not_keep_a_start(project: Path, agent):
    agent("first").hook("SessionStart")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    row = "INSERT INTO sessions (id, agent, started, last, history) SELECT 'x' || value, 'claude', ?1, ?1, 'h' FROM json_each(?2)"
    db.execute(row, (time.time() - 7200, json.dumps(list(range(5000)))))
    agent("second").hook("SessionStart")
    assert (
        db.execute("SELECT COUNT(*) FROM sessions WHERE why = 'interrupted'").fetchone()[0] == 100
    )
    db.close()
    assert agent().log() == ""


def test_one_session_that_cannot_be_recorded_costs_no_other_its_record(project: Path, agent):
    """Its history is a folder's worth of nonsense, or worse: a link to a file that never ends."""
    for name in ("bad", "good"):
        agent(name).hook("UserPromptSubmit", prompt=f"task {name}")
    (bad,) = (project / ".git/gitmem/sessions").glob("*_bad.jsonl")
    bad.unlink()
    bad.mkdir()
    (bad / "x").write_text("")
    (project / ".git/gitmem/sessions/deep").write_text("")
    (good,) = (project / ".git/gitmem/sessions").glob("*_good.jsonl")
    with open(good, "a") as file:
        file.write("[" * 500_000 + "\n")
    db = sqlite3.connect(project / ".git/gitmem/state.db", isolation_level=None)
    db.execute("UPDATE sessions SET process = '', last = last - 7200")
    db.close()
    agent("next").hook("SessionStart")
    (found,) = wait_for(lambda: session_records(project))
    assert found["session"] == "good"


def test_status_tells_of_work_that_failed(project: Path, agent):
    """And the work is done once it can be."""
    agent().hook("UserPromptSubmit", prompt="task")
    lock = project / ".git/refs/gitmem/local/main.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    agent().hook("SessionEnd")
    wait_for(lambda: data_of(run(project, "status", "--json"))["background"])
    lock.unlink()
    assert git(project, "status", "--porcelain") == ""
