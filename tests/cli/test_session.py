"""Sessions by hand: started, written into, marked, ended, listed, shown, exported, taken up again."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.cli.screen import cell_count, cut_line
from gitmem.cli.sessions.find import _least as least
from gitmem.cli.sessions.find import of_day
from gitmem.state import requests, sessions
from gitmem.state.database import State
from gitmem.state.sessions import Session
from tests.cli.conftest import DAY, Mem, on_terminal, spawn
from tests.conftest import git
from tests.json_output import data_of


def rows(folder: Path, id: str) -> list[dict[str, Any]]:
    """Return the rows of a session's history."""
    (file,) = (folder / ".git/gitmem/sessions").glob(f"history_*_{id}.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def start(mem: Mem, *args: str, **options: Any) -> str:
    """Start a session; return its id."""
    id: str = mem("session", "start", *args, "--json", **options).json["id"]
    return id


def session_record(mem: Mem, id: str) -> dict[str, Any]:
    """Return the record of a session, once it is there."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        found = [
            row for row in mem("list", "-k", "session", "--json").json if row.get("session") == id
        ]
        if found:
            return mem.show(found[0]["id"])
        time.sleep(0.05)
    raise AssertionError("no session record was written")


# -- start and end


def test_a_session_from_its_start_to_its_record(mem: Mem) -> None:
    """What is written into it is in its history and in its record."""
    done = mem("session", "start", "--title", "Invoices of March")
    id = mem("session", "current", "--json").json["id"]
    assert id in done.out
    assert f"export GITMEM_SESSION={id}" in done.err
    mem("session", "note", "The export", "keeps its column order")
    mem("session", "mark", "We decided to use NUMERIC for money")
    assert mem("session", "end", "--json").json["ended_now"] is True
    assert [row["metadata"]["event"] for row in rows(mem.folder, id)] == [
        "SessionStart",
        "PromptSubmit",
        "Note",
        "Mark",
        "SessionEnd",
    ]
    assert {row["role"] for row in rows(mem.folder, id)} == {"system", "user"}
    found = session_record(mem, id)
    assert "Invoices of March" in mem("show", found["id"]).out
    assert (found["store"], [one["what"] for one in found["facts"]]) == ("private", ["made"])
    assert "NUMERIC" not in json.dumps(found["facts"])
    assert mem("session", "end", id, "--json").json["session_record"] == found["id"]


def test_the_history_is_its_owners_alone(mem: Mem) -> None:
    """Like that of an agent."""
    id = start(mem)
    (file,) = (mem.folder / ".git/gitmem/sessions").glob(f"*{id}*")
    assert file.stat().st_mode & 0o777 == 0o600


def test_start_again_is_the_same_session(mem: Mem) -> None:
    """In one terminal and work tree; a title given later is its title."""
    id = start(mem)
    again = mem("session", "start", "--title", "Later", "--json").json
    assert (again["id"], again["started_now"], again["title"]) == (id, False, "Later")
    assert "is open here" in mem("session", "start").out
    assert start(mem, "--new") != id
    assert len(mem("session", "list", "--json").json) == 2


def test_a_new_one_ends_the_one_that_is_open(mem: Mem) -> None:
    """With its record; the other sessions of this terminal's work tree are left alone, and that is said."""
    id = start(mem, "--title", "Invoices of March")
    done = mem("session", "start", "--new", "--title", "Invoices of April")
    assert f"ended session {id}: Invoices of March. Its record: git mem show " in done.out
    assert "- Invoices of March" in session_record(mem, id)["body"]
    assert [row["state"] for row in mem("session", "list", "--json").json] == ["running", "ended"]
    second = mem("session", "current", "--json").json["id"]
    third = mem("session", "start", "--new", "--json").json
    assert (third["previous_session"]["id"], third["previous_session"]["ended_now"]) == (
        second,
        True,
    )
    assert mem("session", "start", "--json").json["previous_session"] is None


def test_a_new_one_leaves_an_agents_alone(mem: Mem) -> None:
    """It is told by its hooks, and is not this terminal's to end."""
    start(mem, "--agent", "claude", env={"CLAUDE_CODE_SESSION_ID": "s-1"})
    mem("session", "end", "s-1")
    sessions_of(mem, "s-2", "claude")
    done = mem("session", "start", "--new", env={"CLAUDE_CODE_SESSION_ID": "s-2"})
    assert "session s-2 of claude goes on; to end it: git mem session end s-2" in done.err
    assert {row["id"]: row["state"] for row in mem("session", "list", "--json").json}[
        "s-2"
    ] == "running"


def sessions_of(mem: Mem, id: str, agent: str) -> None:
    """Let an agent's hook have told of a session."""
    with open_app(str(mem.folder), os.environ) as app:
        now = app.clock.now()
        sessions.sign(
            app.state,
            Session(
                id,
                agent,
                now,
                now,
                f"history_20261121_000000_{id}.jsonl",
                None,
                "",
                str(mem.folder),
                "",
                "",
            ),
            opens=True,
        )


def test_two_that_start_at_once_are_one(mem: Mem) -> None:
    """Of the same terminal."""
    command = [sys.executable, "-P", "-m", "gitmem", "session", "start", "--json"]
    both = [
        subprocess.Popen(command, cwd=mem.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    ids = {data_of(one.communicate()[0])["id"] for one in both}
    assert len(ids) == 1


def test_sessions_of_work_trees_are_apart(mem: Mem, tmp_path: Path) -> None:
    """Each has its own, in one terminal too; both are listed in either."""
    git(mem.folder, "worktree", "add", "-q", str(tmp_path / "other"))
    other = mem.at(tmp_path / "other")
    first, second = start(mem), start(other)
    assert first != second
    assert mem("session", "current", "--json").json["id"] == first
    assert other("session", "current", "--json").json["id"] == second
    mem("session", "end")
    assert other("session", "current", "--json").json["state"] == "running"
    assert {row["id"] for row in other("session", "list", "--json").json} == {first, second}


def test_a_variable_names_the_session(mem: Mem) -> None:
    """From any terminal; one that is not known is started under that name."""
    id = start(mem)
    done = mem("session", "start", env={"GITMEM_SESSION": "build-42"})
    assert "started session build-42" in done.out
    assert f"session {id} goes on; to end it: git mem session end {id[:12]}" in done.err
    mem("session", "note", "hello", env={"GITMEM_SESSION": id})
    assert rows(mem.folder, id)[-1]["content"] == "hello"
    assert (
        "is not known here"
        in mem("session", "note", "x", env={"GITMEM_SESSION": "nope"}, code=1).err
    )


def test_records_belong_to_the_session(mem: Mem) -> None:
    """What is remembered while it is open."""
    mem("add", "before")
    id = start(mem)
    assert mem.show(mem.add("within"))["session"] == id
    mem("session", "end")
    assert "session" not in mem.show(mem.add("after"))


def test_end_twice_is_one_end(mem: Mem) -> None:
    """One row, one request, one record; the second says so."""
    id = start(mem, "--title", "Once")
    mem("session", "end")
    again = mem("session", "end")
    assert "had ended" in again.out
    assert [row["metadata"]["event"] for row in rows(mem.folder, id)].count("SessionEnd") == 1
    session_record(mem, id)
    assert len(mem("list", "-k", "session", "--json").json) == len(
        {row["id"] for row in mem("list", "-k", "session", "--json").json}
    )


def test_without_a_session_it_is_said_what_to_do(mem: Mem) -> None:
    """Each command that needs one."""
    for args in (("note", "x"), ("mark", "x"), ("mark",)):
        assert "git mem session start" in mem("session", *args, code=1).err
    assert "no session is open here" in mem("session", "current", code=1).err
    assert "git mem session list" in mem("session", "end", code=1).err
    assert "no sessions yet" in mem("session", "show", code=1).err.replace("there are ", "")
    assert "no session" in mem("session", "resume", code=1).err


@pytest.mark.parametrize(
    "args",
    [
        ("start", "--title", ""),
        ("start", "--agent", "a/b"),
        ("start", "--agent", "../x"),
        ("note",),
        ("note", ""),
        ("note", "  "),
        ("mark", "x", "--last"),
        ("mark", "--line", "0"),
        ("show", "x", "--date", "today"),
        ("list", "--kind", "odd"),
        ("list", "--state", "odd"),
        ("task", ""),
        ("task", "x", "--agent", "a b"),
        ("handover", ""),
        ("handover", "a b"),
        ("nope",),
    ],
)
def test_wrong_usage(mem: Mem, args: tuple[str, ...]) -> None:
    """Said at once, with exit code 2."""
    mem("session", *args, code=2)


@pytest.mark.parametrize(
    "args",
    [
        ("start",),
        ("current",),
        ("list",),
        ("context",),
        ("task", "x"),
        ("handover", "qa", "-m", "x"),
        ("workflows",),
    ],
)
def test_outside_of_a_repository(outside: Mem, args: tuple[str, ...]) -> None:
    """Each says that there is none."""
    assert "not in a git repository" in outside("session", *args, code=1).err


def test_in_a_bare_repository(make_repo: Any, mem: Mem) -> None:
    """A session and its context work without a work tree."""
    bare = mem.at(make_repo("bare"))
    id = start(bare, "--title", "Bare")
    bare("session", "note", "x")
    bare("session", "task", "develop")
    assert bare("session", "context", "--json").json["workflow"] is None
    assert bare("session", "end", "--json").json["id"] == id
    assert bare("session", "resume", "--show", "--json").json["files"] == []


def test_an_empty_repository_and_a_detached_head(mem: Mem, tmp_path: Path) -> None:
    """Neither has a branch with commits."""
    git(tmp_path, "init", "-q", "empty")
    empty = mem.at(tmp_path / "empty")
    start(empty, "--title", "First")
    empty("session", "handover", "qa", "-m", "x")
    empty("session", "resume", "--show", code=None)
    git(mem.folder, "checkout", "-q", "--detach")
    start(mem)
    assert mem("session", "show", "--json").json[0]["branch"] is None


def test_a_folder_that_cannot_be_written(mem: Mem) -> None:
    """Nothing is claimed to be kept."""
    if os.geteuid() == 0:
        (mem.folder / ".git/gitmem").write_text("in the way")
        assert "gitmem" in mem("session", "start", code=1).err
    else:
        os.chmod(mem.folder / ".git", 0o500)
        try:
            mem("session", "start", code=1)
        finally:
            os.chmod(mem.folder / ".git", 0o700)


def test_secrets_and_private_parts_are_not_kept(mem: Mem) -> None:
    """In notes, marks and titles."""
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    id = start(mem, "--title", f"with {key}")
    mem("session", "note", f"key {key} and <private>my mother</private> end")
    text = "".join(json.dumps(row) for row in rows(mem.folder, id)) + json.dumps(
        mem("session", "show", "--json").json[0]
    )
    assert key not in text
    assert "mother" not in text
    assert "end" in text


def test_text_of_any_kind(mem: Mem) -> None:
    """Lines, emoji, control characters; standard input; what is not UTF-8 is refused."""
    id = start(mem, "--title", "Ünï 🎉 name")
    mem("session", "note", "-", stdin="first\nsecond\x1b[31m 🎉\n".encode())
    out = mem("session", "show").out
    assert "second\\x1b[31m 🎉" in out
    assert rows(mem.folder, id)[-1]["content"].startswith("first\nsecond")
    assert "not UTF-8" in mem("session", "note", "-", stdin=b"\xff\xfe", code=1).err
    mem("session", "note", "-", stdin=b"", code=2)


# -- marks


def test_marks(mem: Mem) -> None:
    """The last turn, a line, a new text; marked twice is marked once."""
    id = start(mem, "--title", "T")
    mem("session", "note", "one")
    mem("session", "note", "two")
    assert mem("session", "mark", "--json").json == {
        "session": id,
        "line": 4,
        "text": "two",
        "is_new": True,
    }
    assert mem("session", "mark", "--last", "--json").json["is_new"] is False
    assert mem("session", "mark", "--line", "3", "--json").json["text"] == "one"
    assert "nothing to mark in line 99" in mem("session", "mark", "--line", "99", code=1).err
    assert "nothing to mark in line 1 " in mem("session", "mark", "--line", "1", code=1).err
    mem("session", "mark", "three")
    assert [one["text"] for one in mem("session", "show", "--json").json[0]["marks"]] == [
        "two",
        "one",
        "three",
    ]
    shown = mem("session", "show").out.splitlines()
    assert [line.split()[-1] for line in shown if " * " in line] == ["one", "two", "three"]
    assert sum(row["metadata"]["event"] == "Mark" for row in rows(mem.folder, id)) == 3


def test_all_that_is_marked_is_in_the_inbox(mem: Mem) -> None:
    """Each sentence of it, in whatever language, and notes that differ in a letter."""
    start(mem, "--title", "Marks")
    said = (
        "Usamos PostgreSQL. 以后都用中文回答。 We still need to write docs.",
        "The key rotates weekly. TODO: rotate it",
        "Server A is slow",
        "Server B is slow",
    )
    for text in said:
        mem("session", "mark", text)
    mem("session", "end")
    told = mem("inbox", "--all").out

    for part in (
        "Usamos PostgreSQL",
        "以后都用中文回答",
        "write docs",
        "The key rotates weekly",
        "Rotate it",
        "Server A is slow",
        "Server B is slow",
    ):
        assert part in told, part


def test_what_is_written_into_a_session_that_has_ended_reaches_its_record(mem: Mem) -> None:
    """A note and a mark after the end; the note's kind is not lost when it is marked too."""
    id = start(mem, "--title", "Invoices of March")
    mem("session", "note", "We decided to use Redis for the queue")
    mem("session", "end")

    said = mem("session", "mark", "--session", id, "Never retry a payment without its key")
    assert "has ended; its record is written anew" in said.err
    mem("session", "mark", "--session", id, "--line", "3")
    mem("session", "note", "--session", id, "TODO: port the refunds")

    def sections() -> dict[str, list[str]]:
        parts = mem("page", "summary", "--json").json["sections"]
        return {part["name"]: [row["title"] for row in part["records"]] for part in parts}

    end = time.monotonic() + 120
    # it is written in the background
    while not (found := sections())["pending_tasks"] and time.monotonic() < end:
        time.sleep(0.1)
    assert found["key_decisions"] == ["We decided to use Redis for the queue"]
    assert found["user_preferences"] == ["Never retry a payment without its key"]
    assert found["pending_tasks"] == ["Port the refunds"]


# -- list, show, export


def test_list_filters(mem: Mem) -> None:
    """By time, agent, branch, kind and state."""
    (mem.folder / ".aios-core").mkdir()
    old = start(mem, "--agent", "aider", ago=3 * DAY)
    mem("session", "end", ago=3 * DAY - 60)
    git(mem.folder, "checkout", "-qb", "topic")
    mem("session", "task", "develop")
    new = start(mem, "--title", "N")

    def ids(*args: str) -> list[str]:
        return [row["id"] for row in mem("session", "list", *args, "--json").json]

    assert ids() == [new, old]
    assert (
        ids("--since", "2d")
        == ids("--agent", "person")
        == ids("--branch", "topic")
        == ids("--kind", "workflow")
        == ids("--state", "running")
        == [new]
    )
    assert (
        ids("--until", "2d")
        == ids("--agent", "aider")
        == ids("--state", "ended")
        == ids("--kind", "new")
        == [old]
    )
    assert ids("--since", "yesterday", "--until", "1h") == []
    assert "no session matches; there are 2" in mem("session", "list", "--branch", "x").out
    assert "is not a date" in mem("session", "list", "--since", "soonish", code=1).err


def test_the_list_says_what_a_session_was_about(mem: Mem) -> None:
    """Its title, what was asked first in it, its story; a greeting only where there is nothing else."""
    titled = start(mem, "--title", "Invoices of March")
    asked = start(mem, "--new")
    (path,) = (mem.folder / ".git/gitmem/sessions").glob(f"*{asked}*")
    with path.open("a") as file:
        for text in ("hi", "Make the\n rate configurable"):
            file.write(
                json.dumps(
                    {
                        "timestamp": "2026-11-21T00:00:00.000Z",
                        "role": "user",
                        "content": text,
                        "metadata": {"event": "PromptSubmit"},
                    }
                )
                + "\n"
            )
    story = start(mem, "--new", "--story", "docs/stories/4.2.md")
    about = {row["id"]: row["subject"] for row in mem("session", "list", "--json").json}
    assert about == {
        titled: "Invoices of March",
        asked: "Make the rate configurable",
        story: "docs/stories/4.2.md",
    }
    assert all(text in mem("session", "list").out for text in about.values())


def test_the_list_fits_the_terminal(mem: Mem) -> None:
    """Ids are as short as they may be given, what it is about is cut; elsewhere all is whole."""
    id = start(mem, "--title", "Invoices of March " + "日本語" * 40)
    shown = on_terminal(mem.folder, "--color", "never", "session", "list", columns=80)
    (line,) = shown.splitlines()
    assert line.startswith(f"{id[:8]}  person  ")
    assert line.endswith("…")
    assert cell_count(line) <= 80
    assert id in mem("session", "list").out
    assert "日本語" * 40 in mem("session", "list").out


def test_each_use_of_a_tool_is_shown_once(mem: Mem) -> None:
    """What hooks told before it and after it are one line; one that never ended is there too, and export has each."""
    id = start(mem)
    (path,) = (mem.folder / ".git/gitmem/sessions").glob(f"*{id}*")
    uses = [
        ("BeforeTool", "c1", "a.py"),
        ("BeforeTool", "c2", "b.py"),
        ("AfterTool", "c2", "b.py"),
        ("AfterTool", "c1", "a.py"),
        ("BeforeTool", "", "c.py"),
        ("AfterTool", "", "c.py"),
        ("BeforeTool", "c3", "d.py"),
    ]
    with path.open("a") as file:
        for event, call, name in uses:
            about = {
                "event": event,
                "tool": "Edit",
                "action": "write",
                "files": [name],
                **({"call": call} if call else {}),
            }
            file.write(
                json.dumps(
                    {
                        "timestamp": "2026-11-21T00:00:00.000Z",
                        "role": "tool",
                        "content": "",
                        "metadata": about,
                    }
                )
                + "\n"
            )
    shown = mem("session", "show", id).out
    assert [line.split()[-1] for line in shown.splitlines() if "  Edit  " in line] == [
        "b.py",
        "a.py",
        "c.py",
        "d.py",
    ]
    assert len(mem("session", "export", id).document["interactions"]) == 1 + len(uses)


def test_a_mark_is_shown_where_it_points(mem: Mem) -> None:
    """Also on what a tool was about to do, when its answer says the same."""
    id = start(mem)
    (path,) = (mem.folder / ".git/gitmem/sessions").glob(f"*{id}*")
    with path.open("a") as file:
        for event in ("BeforeTool", "AfterTool"):
            about = {"event": event, "tool": "Bash", "action": "command", "call": "c1"}
            file.write(
                json.dumps(
                    {
                        "timestamp": "2026-11-21T00:00:00.000Z",
                        "role": "tool",
                        "content": "make all",
                        "metadata": about,
                    }
                )
                + "\n"
            )
    mem("session", "mark", "--line", "2")
    shown = mem("session", "show").out
    assert ", 1 mark" in shown
    assert [line.split()[:2] for line in shown.splitlines() if "make all" in line] == [
        ["2", "*"],
        ["3", "00:00:00"],
    ]


def test_ids_are_as_short_as_they_may_be_given() -> None:
    """Each names its session alone, none could be shorter; one that begins another is given whole."""
    assert least(["abcdefghij", "abcdefghik", "zzzzzzzzzzzz", "abc", "abcdefgh"]) == {
        "abcdefghij": 10,
        "abcdefghik": 10,
        "zzzzzzzzzzzz": 8,
        "abc": 8,
        "abcdefgh": 9,
    }
    assert least([]) == {}
    many = [f"{n:032x}" for n in range(20_000)]
    begun = time.monotonic()
    assert set(least(many).values()) == {32}
    assert time.monotonic() - begun < 5


def test_a_text_is_cut_to_columns() -> None:
    """Wide letters count twice, accents of their own not at all; what is long is not walked again and again."""
    assert [cut_line("日本語", room) for room in (6, 5, 4, 1, 0)] == [
        "日本語",
        "日本…",
        "日…",
        "…",
        "…",
    ]
    assert cut_line("e\u0301e\u0301e", 2) == "e\u0301…"
    assert cut_line("ab cd", 4) == "ab…"
    begun = time.monotonic()
    assert cut_line("x" * 100_000, 50) == "x" * 49 + "…"
    assert time.monotonic() - begun < 5


def test_on_names_sessions_that_stay_off(mem: Mem) -> None:
    """They were turned off by themselves."""
    id = start(mem)
    mem("hook", "off", "--session", id)
    mem("hook", "off")
    assert (
        f"they are still off for session {id}: git mem hook on --session {id}"
        in mem("hook", "on").err
    )
    mem("hook", "on", "--session", id)
    assert "still off" not in mem("hook", "on").err


def test_status_says_what_sessions_wait_for(mem: Mem) -> None:
    """Until it is done, and how to have it done."""
    id = start(mem, "--title", "Once")
    with open_app(str(mem.folder), os.environ) as app:
        requests.ask_record(app.state, id, app.clock.now())
    assert mem("status", "--json").json["requests"][0]["session"] == id
    out = mem("status").out
    assert f"the record of session {id} waits, asked for just now" in out
    assert "git mem drain" in out
    mem("drain")
    assert "waits" not in mem("status").out
    assert f"record of session {id[:8]} written" in mem("status").out


def test_doctor_tells_of_a_table_of_workflows_that_is_wrong(mem: Mem) -> None:
    """Hooks say nothing of it."""
    path = mem.folder / ".gitmem" / "workflows.yaml"
    path.parent.mkdir()
    path.write_text("workflows: [")
    found = [
        row
        for row in mem("doctor", "--json").json["findings"]
        if "workflows.yaml" in row["message"]
    ]
    assert [row["level"] for row in found] == ["warning"]
    assert "its workflows are not known" in found[0]["message"]
    path.write_text("workflows:\n  x:\n    - {state: a, trigger: b}\n")
    found = [
        row
        for row in mem("doctor", "--json").json["findings"]
        if "workflows.yaml" in row["message"]
    ]
    assert [row["level"] for row in found] == ["ok"]


def test_by_date(mem: Mem) -> None:
    """All sessions of a day, in their order; a day without any says so."""
    first = start(mem, ago=2 * DAY)
    second = start(mem, "--new", ago=2 * DAY - 1)
    for id in (first, second):
        mem("session", "end", id, ago=2 * DAY - 2)
    start(mem, "--new")
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 2 * DAY))
    assert [one["id"] for one in mem("session", "show", day, "--json").json] == [first, second]
    assert [one["session_id"] for one in mem("session", "export", "--date", day).document] == [
        first,
        second,
    ]
    assert mem("session", "show", day).out.count("session ") >= 2
    assert "no session of 2001-01-01" in mem("session", "show", "2001-01-01", code=1).err
    assert len(mem("session", "show", "today", "--json").json) == 1
    assert "is not a day" in mem("session", "show", "--date", "2d", code=1).err
    assert "is not a day" in mem("session", "show", "2026-13-45", code=1).err


def test_ids_by_their_beginning(mem: Mem) -> None:
    """Any that is unique; one that is not is answered with what there is."""
    for name in ("abc-1", "abc-2"):
        start(mem, env={"GITMEM_SESSION": name})
    assert mem("session", "show", "abc-1", "--json").json[0]["id"] == "abc-1"
    done = mem("session", "show", "abc", code=1)
    assert "2 sessions begin with 'abc'" in done.err
    assert "abc-1 | abc-2" in done.err or "abc-2 | abc-1" in done.err
    assert "there is no session 'x'" in mem("session", "export", "x", code=1).err


def test_export(mem: Mem, tmp_path: Path) -> None:
    """The form of a history: each interaction with its time, role, content, metadata and the agent's state."""
    id = start(mem, "--title", "T")
    mem("session", "note", "hello 🎉")
    mem("session", "end")
    found = mem("session", "export", id).document
    assert {"session_id", "agent", "started", "ended", "branch", "interactions"} <= set(found)
    assert found["ended"] is not None
    for one in found["interactions"]:
        assert set(one) == {"timestamp", "role", "content", "metadata", "state"}
        assert one["role"] in {"user", "assistant", "system", "tool"}
    assert found["interactions"][-1]["state"]["agent"] == "person"
    path = tmp_path / "a b.json"
    mem("session", "export", id, "-o", str(path))
    assert json.loads(path.read_text()) == found
    assert path.stat().st_mode & 0o777 == 0o600
    assert "is there already" in mem("session", "export", id, "-o", str(path), code=1).err
    mem("session", "export", id, "-o", str(path), "--force")
    assert "is a folder" in mem("session", "export", id, "-o", str(tmp_path), code=1).err
    mem("session", "export", id, "-o", str(tmp_path / "no" / "x.json"), code=1)


def test_a_damaged_history_is_shown_as_far_as_it_goes(mem: Mem) -> None:
    """Half a line, another kind of line, bytes that are no text."""
    id = start(mem, "--title", "T")
    (file,) = (mem.folder / ".git/gitmem/sessions").glob(f"*{id}*")
    with file.open("ab") as out:
        out.write(b'[1, 2]\n\xff\xfe\n{"role": 3, "content": 4, "metadata": 5}\n{"half": ')
    mem("session", "note", "after")
    assert "after" in mem("session", "show").out
    assert mem("session", "export", id).document["interactions"][-1]["content"] == "after"
    file.unlink()
    assert "T" in mem("session", "show").out


def test_show_pages_on_a_terminal(mem: Mem) -> None:
    """Through the user's pager, in colours; plain where it is read by a program."""
    start(mem, "--title", "T")
    out = on_terminal(
        mem.folder, "session", "show", "--turns", env={"GIT_PAGER": "sed s/^/paged:/"}
    )
    assert "paged:" in out
    assert "\x1b[" not in mem("session", "show").out


# -- resume


def test_resume_of_a_person(mem: Mem) -> None:
    """It is open again, with what it stood at beside what is so now."""
    id = start(mem, "--title", "Invoices")
    mem("session", "note", "remember the cents")
    mem("session", "end")
    mem.add("Cover the timeout", "--type", "task")
    (mem.folder / "new.py").write_text("x\n")
    git(mem.folder, "checkout", "-qb", "elsewhere")
    shown = mem("session", "resume", "--show", "--json").json
    assert (shown["id"], shown["opened_now"], shown["state"]) == (id, False, "ended")
    assert shown["branch_then"] != shown["branch_now"] == "elsewhere"
    assert "new.py" in shown["other_changed_paths"]
    assert "Cover the timeout" in json.dumps(shown["pending_tasks"])
    out = mem("session", "resume").out
    assert "is checked out now: git switch" in out
    assert "open again here" in out
    assert mem("session", "current", "--json").json["id"] == id
    assert mem("session", "resume", id, "--json").json["opened_now"] is False
    assert rows(mem.folder, id)[-1]["metadata"] == {"event": "SessionStart", "source": "resume"}
    other = start(mem, "--new")
    assert f"session {other} is open here" in mem("session", "resume", id, code=1).err


def test_resume_tells_notes_from_marks_and_no_epic_that_was_given_up(mem: Mem) -> None:
    start(mem, "--title", "T")
    mem("session", "note", "one")
    mem("session", "note", "two")
    mem("session", "mark")
    mem("session", "mark", "three")
    for name in ("shop", "market"):
        mem("work", "start", name, "--story", "1")
    mem("work", "abort", "market")
    mem("session", "end")

    found = mem("session", "resume", "--json").json

    assert (found["mark_texts"], found["note_texts"]) == (["two", "three"], ["one"])
    assert [(one["id"], one["status"], one["condition"]) for one in found["epics"]] == [
        ("wrk-shop", "active", "left")
    ]
    assert (
        mem("session", "opening", "--json").json["reason"] == "the earlier conversation continues"
    )
    assert [
        (hit["line"], hit["kind"])
        for hit in mem("search", "--sessions", "two", "--json").json["session_hits"]
    ] == [(4, "marked")]
    assert [
        (hit["line"], hit["kind"])
        for hit in mem("search", "--sessions", "one", "--json").json["session_hits"]
    ] == [(3, "noted")]


def test_resume_tells_of_no_task_that_was_done_since(mem: Mem) -> None:
    start(mem, "--title", "T")
    mem("session", "note", "TODO: write the docs of the export")
    mem("session", "note", "TODO: rotate the key of the store")
    mem("session", "end")
    (done,) = [
        row["id"] for row in mem("list", "-t", "task", "--json").json if "docs" in row["title"]
    ]
    mem("done", done)

    assert [
        one["text"] for one in mem("session", "resume", "--show", "--json").json["pending_tasks"]
    ] == ["Rotate the key of the store (unconfirmed)"]


def test_resume_passes_over_a_greeting(mem: Mem) -> None:
    """The latest session that did anything is gone on with."""
    id = start(mem, "--title", "Invoices of March", ago=60)
    mem("session", "end", ago=50)
    empty = start(mem, "--title", "Hello!", ago=40)
    mem("session", "end", ago=30)
    assert mem("session", "resume", "--show", "--json").json["id"] == id
    assert mem("session", "resume", empty, "--show", "--json").json["id"] == empty


def test_end_after_resume_writes_one_record(mem: Mem) -> None:
    """Anew, with what came later."""
    id = start(mem, "--title", "T")
    mem("session", "mark", "first decided: use tabs")
    mem("session", "end")
    first = session_record(mem, id)
    mem("session", "resume")
    mem("session", "mark", "We decided to use spaces")
    mem("session", "end")
    end = time.monotonic() + 120
    while "spaces" not in json.dumps(found := session_record(mem, id)):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert found["id"] == first["id"]


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude", "claude --resume s-1"),
        ("gemini", "gemini --resume s-1"),
        ("codex", "codex resume s-1"),
        ("opencode", "opencode --session s-1"),
        ("copilot", "copilot --resume s-1"),
        ("cursor", "cursor-agent --resume s-1"),
    ],
)
def test_resume_of_an_agent(mem: Mem, agent: str, command: str) -> None:
    """It says what to type, and opens nothing."""
    start(mem, "--agent", agent, env={"GITMEM_SESSION": "s-1"})
    mem("session", "end", "s-1")
    found = mem("session", "resume", "s-1", "--json").json
    assert (found["resume_command"], found["opened_now"], found["state"]) == (
        command,
        False,
        "ended",
    )
    assert f"to continue: {command}" in mem("session", "resume").out


# -- inside of an agent, and what was there before


def test_an_agent_without_hooks(mem: Mem) -> None:
    """Its own id is the session's, and notes go there."""
    env = {"CLAUDE_CODE_SESSION_ID": "cc-7"}
    made = mem("session", "start", "--json", env=env).json
    assert (made["id"], made["agent"]) == ("cc-7", "claude")
    mem("session", "note", "x", env=env)
    assert rows(mem.folder, "cc-7")[-1]["content"] == "x"


def test_help_of_each(outside: Mem) -> None:
    """Each command explains itself, with examples."""
    from gitmem.cli.sessions.group import TABLE

    for name in TABLE:
        out = outside("session", name, "--help").out
        assert f"git mem session {name}" in out.partition("Example")[2], name


def test_as_a_process(mem: Mem) -> None:
    """Through git, as people type it."""
    assert "started session" in spawn(mem.folder, "session", "start", through_git=True).out
    assert spawn(mem.folder, "session", "current", through_git=True).code == 0


def test_an_export_to_standard_output(mem: Mem) -> None:
    """`-` names it, as in other tools; no file of that name is made."""
    id = start(mem)
    assert mem("session", "export", "--output", "-").document["session_id"] == id
    assert not (mem.folder / "-").exists()


def test_a_database_that_another_keeps_is_no_fault(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in the way is said, and that it passes."""
    start(mem)
    monkeypatch.setattr(State.__init__, "__kwdefaults__", {"timeout": 0.2})
    other = sqlite3.connect(mem.folder / ".git/gitmem/state.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        done = mem("session", "note", "x", env={"GITMEM_SESSION": ""}, code=1)
    finally:
        other.close()
    assert "another process" in done.err
    assert "hint: Run the command again" in done.err


def test_what_to_go_on_with_while_one_is_open(mem: Mem) -> None:
    """The one that is open is named; nothing else is there."""
    id = start(mem)
    done = mem("session", "resume", code=1)
    assert f"session {id} is open here" in done.err


def test_half_a_character_in_a_history_costs_itself_alone(mem: Mem) -> None:
    """Some program that writes such text must not make a session one that cannot be shown, exported or taken up."""
    id = start(mem)
    (file,) = (mem.folder / ".git/gitmem/sessions").glob(f"history_*_{id}.jsonl")
    with file.open("a") as out:
        out.write(
            '{"timestamp": "2026-11-21T18:00:00Z", "role": "user", "content": "half \\ud83d of \\ud83d\\ude00", "metadata": {"event": "PromptSubmit", "\\udc00": 1}}\n'
        )
    assert "half ? of 😀" in mem("session", "show", id).out
    assert mem("session", "show", id, "--json").json[0]["events"][-1]["content"] == "half ? of 😀"
    assert mem("session", "export", id).document["interactions"][-1]["content"] == "half ? of 😀"
    assert mem("session", "resume", id, "--json").json["last_prompt"] == "half ? of 😀"
    assert "half ? of 😀" in mem("session", "mark", "--session", id).out


def test_an_agent_is_named_as_everywhere(mem: Mem) -> None:
    """With the @ that people write before it, or without."""
    assert mem("session", "start", "--agent", "@aider", "--json").json["agent"] == "aider"
    assert "is not an agent's name" in mem("session", "start", "--new", "--agent", "", code=2).err


def test_a_day_of_twenty_five_hours_is_whole(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """When clocks are put back, the last hour of that day is of that day; when they are put on, the next day's first is not."""
    late, other = 1762144200.0, 1741581000.0  # 2025-11-02 23:30 and 2025-03-10 00:30 in New York
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        with open_app(str(mem.folder), os.environ) as app:
            for at in (late, other):
                sessions.sign(
                    app.state,
                    Session(
                        f"at-{at:.0f}", "person", at, at, "history_x.jsonl", at, "hand", "", "", ""
                    ),
                    opens=True,
                )
            assert [one.started for one in of_day(app, "2025-11-02")] == [late]
            assert of_day(app, "2025-03-09") == []
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_of_a_long_text_is_not_kept_is_said(mem: Mem) -> None:
    """A note, and a mark, of more characters than a row holds."""
    start(mem)
    for command in ("note", "mark"):
        done = mem("session", command, "-", "--json", stdin=b"word " * 1700)
        assert len(done.json["text"]) <= 8000
        assert "the first 8,000 characters" in done.err
        assert mem("session", command, "short").err == ""


def test_another_title_renames_no_open_session(mem: Mem) -> None:
    """It goes on and keeps its title, which is said, with the way to start another one."""
    id = start(mem, "--title", "Invoices of March")
    again = mem("session", "start", "--title", "Invoices of April")
    assert f"session {id} of person is open here" in again.out
    assert "its title stays 'Invoices of March'" in again.err
    assert "--new --title 'Invoices of April'" in again.err
    for title in ("Invoices of April", "Invoices of March"):
        row = mem("session", "start", "--title", title, "--json").json
        assert (row["id"], row["title"], row["started_now"]) == (id, "Invoices of March", False)
    assert [one["title"] for one in mem("session", "list", "--json").json] == ["Invoices of March"]


def test_the_id_of_a_session_is_no_secret_in_what_it_taught(mem: Mem) -> None:
    """Where a fact was seen names the session; what people say beside it is masked as ever."""
    id, secret = "9t9frg72d2r35c31", "7h2kq0x94mvd8s1zpw3b"
    start(mem, env={"GITMEM_SESSION": id})
    mem("session", "note", f"Decision: payments use PostgreSQL, not {secret}", "--session", id)
    mem("session", "end", id)
    mem("drain")
    row = mem.show(mem("inbox", "--json").json[0]["id"])
    assert row["session"] == id
    (source,) = row["sources"]
    assert source["session"] == id and source["in"] == f"the history of session {id}"
    assert secret not in str(row) and "[redacted: token]" in row["title"]
