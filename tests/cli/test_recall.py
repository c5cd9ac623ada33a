"""Recall: what was said and done before, in this session and in memory."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.services.records import write
from gitmem.services.session_log import compact, rotation
from gitmem.state import sessions
from tests.cli.conftest import Mem, spawn

HERE = {"GITMEM_SESSION": "s1"}
ROWS: tuple[tuple[str, str, str], ...] = (
    ("PromptSubmit", "user", "Why does the ledger lose updates?"),
    ("BeforeTool", "tool", "pytest -q tests/test_ledger.py"),
    ("ToolFailed", "tool", "pytest -q tests/test_ledger.py\nE  KeyError: 'TAX_RATE'"),
    ("TurnEnd", "assistant", "It reads with READ COMMITTED; SERIALIZABLE would help."),
    ("Mark", "user", "the ledger is append only, never update a row"),
    ("PromptSubmit", "user", "支付需要串行化隔离级别"),
    ("PromptSubmit", "user", "Renomeie a fatura para cobrança"),
    ("AfterTool", "tool", "git mem search --sessions ledger"),
    ("PromptSubmit", "user", "/recall ledger"),
)


def leave(
    folder: Path,
    session: str,
    rows: Any = ROWS,
    *,
    name: str = "history_20260102_030405",
    known: bool = True,
) -> Path:
    """Leave a history behind, as hooks do."""
    with open_app(str(folder), os.environ) as app:
        place = Path(app.home.make("sessions")) / f"{name}_{session}.jsonl"
        if known:
            now = app.clock.now()
            sessions.sign(
                app.state,
                sessions.Session(session, "claude", now, now, place.name, None, "", "", "", ""),
                opens=True,
            )
    with place.open("a", encoding="utf-8") as file:
        for number, (event, role, content) in enumerate(rows):
            stamp = f"2026-01-02T03:{number:02}:00.000Z"
            action = {"action": "command"} if role == "tool" else {}
            file.write(
                json.dumps(
                    {
                        "timestamp": stamp,
                        "role": role,
                        "content": content,
                        "metadata": {"event": event, **action},
                    }
                )
                + "\n"
            )
    return place


def found(
    mem: Mem, *args: str, group: str = "session_hits", env: dict[str, str] | None = None
) -> list[tuple[int, str]]:
    """Return the lines and kinds that a recall finds."""
    return [
        (hit["line"], hit["kind"])
        for hit in mem(
            "search", "--sessions", *args, "--json", env=HERE if env is None else env
        ).json[group]
    ]


def test_marked_rows_come_first_and_what_asked_is_no_answer(mem: Mem):
    leave(mem.folder, "s1")
    assert found(mem, "ledger") == [(5, "marked"), (1, "asked"), (3, "failed")]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("串行化", 6),
        ("cobranca", 7),
        ("losing", 1),
        ('"append only"', 5),
        ("serial*", 4),
        ("隔离", 6),
        ("KEYERROR tax_rate", 3),
    ],
)
def test_words_are_those_of_a_search(mem: Mem, words: str, line: int):
    leave(mem.folder, "s1")
    assert found(mem, words)[0][0] == line


def test_the_session_and_memory_are_told_apart(mem: Mem):
    leave(mem.folder, "s1")
    mem("add", "Payments use SERIALIZABLE", "-m", "Two runs lost updates in the ledger.")
    out = mem("search", "--sessions", "ledger", env=HERE).out
    session, memory = out.split("\n\n")
    assert session.splitlines()[0] == "session s1"
    assert (
        session.splitlines()[1]
        == "    5  2026-01-02 03:04  marked    the ledger is append only, never update a row"
    )
    assert memory.splitlines()[0] == "memory"
    assert "Payments use SERIALIZABLE" in memory
    data = mem("search", "--sessions", "ledger", "--json", env=HERE).json
    assert data["session"] == "s1"
    assert [row["title"] for row in data["records"]] == ["Payments use SERIALIZABLE"]


def test_outside_of_a_session_memory_alone_answers(mem: Mem):
    leave(mem.folder, "s1")
    mem("add", "The ledger is append only")
    data = mem("search", "--sessions", "ledger", "--json", env={}).json
    assert (data["session"], data["session_hits"], len(data["records"])) == (None, [], 1)


def test_groups_can_be_asked_for(mem: Mem):
    leave(mem.folder, "s1")
    leave(mem.folder, "s2-older")
    mem("add", "The ledger is append only")
    past = mem("search", "--sessions", "ledger", "--past", "--json", env=HERE).json
    assert past["records"]
    assert (past["session_hits"], past["other_session_hits"]) == (None, None)
    here = mem("search", "--sessions", "ledger", "--session", "--json", env=HERE).json
    assert here["session_hits"]
    assert (here["records"], here["other_session_hits"]) == (None, None)
    assert (
        mem("search", "--sessions", "ledger", "--session", "s2", "--json", env=HERE).json["session"]
        == "s2-older"
    )
    assert found(mem, "ledger", "--all-sessions", group="other_session_hits") == [
        (5, "marked"),
        (1, "asked"),
        (3, "failed"),
    ]
    assert "s2-older:5" in mem("search", "--sessions", "ledger", "--all-sessions", env=HERE).out
    mem("search", "--sessions", "ledger", "--past", "--session", code=2)


def test_bounds(mem: Mem):
    leave(mem.folder, "s1")
    old = mem.add("The ledger is old", ago=10 * 86400)
    mem("add", "The ledger is new")
    assert found(mem, "ledger", "-n", "1") == [(5, "marked")]
    since = mem("search", "--sessions", "ledger", "--since", "2d", "--json", env=HERE).json
    assert (since["session_hits"], [row["title"] for row in since["records"]]) == (
        [],
        ["The ledger is new"],
    )
    assert old in json.dumps(
        mem("search", "--sessions", "ledger", "--since", "2025-01-01", "--json", env=HERE).json
    )
    assert (
        "is not a date" in mem("search", "--sessions", "ledger", "--since", "gibberish", code=1).err
    )


def test_what_was_condensed_is_found_with_its_line(mem: Mem):
    place = leave(mem.folder, "s1")
    stem = str(place).removesuffix(".jsonl")
    with open_app(str(mem.folder), os.environ) as app:
        segment = rotation.put_aside(app.home, stem, 1)
        assert rotation.compress(app.home, segment, compact.shorten, settled=lambda _: True)
    short = json.loads(Path(segment.path(".json")).read_text())
    short["topics"][0]["decided"] = ["Invoices are numbered by quarter"]
    Path(segment.path(".json")).write_text(json.dumps(short))
    leave(mem.folder, "s1", [("PromptSubmit", "user", "and the ledger again")])
    assert {(1, "asked"), (3, "failed"), (5, "marked"), (10, "asked")} <= set(found(mem, "ledger"))
    assert found(mem, "quarter") == [(1, "decided")]
    assert gzip.decompress(Path(segment.path(".jsonl.gz")).read_bytes()).count(b"\n") == 9


def test_nothing_found_says_what_to_try(mem: Mem):
    leave(mem.folder, "s1")
    done = mem("search", "--sessions", "zebra", env=HERE)
    assert done.out == ""
    assert "nothing that was said or recorded matches 'zebra'" in done.err
    assert "--all-sessions" in done.err
    assert mem("search", "--sessions", "!!", "--json", env=HERE).json["records"] == []


def test_wrong_use(mem: Mem, outside: Mem):
    assert "Missing argument" in mem("search", "--sessions", code=2).err
    assert (
        "there is no session 'x'" in mem("search", "--sessions", "a", "--session", "x", code=1).err
    )
    mem("search", "--sessions", "a", "-n", "0", code=2)
    assert (
        "not in a git repository" in outside("search", "--sessions", "a", code=1).err.lower()
        or outside("search", "--sessions", "a", code=1).err
    )


def test_control_characters_and_broken_rows_do_no_harm(mem: Mem):
    place = leave(
        mem.folder, "s1", [("PromptSubmit", "user", "ledger \x1b[31mred\u202e\nnext line")]
    )
    with place.open("ab") as file:
        file.write(
            b'\xff\xfe ledger\n{"content": "ledger"\n{"content": ["ledger"], "metadata": 3}\n[]\n'
        )
    out = mem("search", "--sessions", "ledger", env=HERE).out
    assert "\x1b" not in out
    assert out.splitlines()[1].endswith("ledger \\x1b[31mred\\u202e next line")
    assert len(out.splitlines()) == 2


def test_a_session_of_an_agent_is_known_by_its_environment(mem: Mem):
    leave(mem.folder, "s1")
    assert spawn(
        mem.folder, "search", "--sessions", "ledger", env={"CLAUDE_CODE_SESSION_ID": "s1"}
    ).out.startswith("session s1\n")


def test_old_rows_of_a_long_history_are_found_too(mem: Mem, monkeypatch: pytest.MonkeyPatch):
    from gitmem.services.retrieval import history_search

    monkeypatch.setattr(history_search, "WHOLE", 3)
    place = leave(mem.folder, "s1")
    with open_app(str(mem.folder), os.environ) as app:
        assert rotation.put_aside(app.home, str(place).removesuffix(".jsonl"), 1)
    leave(
        mem.folder, "s1", [("PromptSubmit", "user", f"about something else {n}") for n in range(5)]
    )
    assert found(mem, "ledger") == [(5, "marked"), (1, "asked"), (3, "failed")]
    assert found(mem, "串行化")[0] == (6, "asked")
    assert found(mem, "cobranca")[0] == (7, "asked")
    assert found(mem, "else 4")[0] == (14, "asked")


def test_no_agent_is_given_what_was_said_in_other_sessions(mem: Mem) -> None:
    """Its owner reads it; inside an agent it is left out, which is said, and the agent's own session is whole."""
    leave(mem.folder, "s1")
    with open_app(str(mem.folder), dict(os.environ)) as app:
        who = app.writer(session="s1")
        body = "claude, on branch main.\n\n## Asked\n\n- Why does the ledger lose updates?\n\n## Changed\n\n- ledger.py\n"
        facts = [{"id": "mem-1", "what": "done", "role": "user", "quote": "the ledger is done"}]
        digest = write.draft(who, "session", "Session of a day", body, facts=facts)
        write.add(app.store("private"), who, digest)
    commands = (
        ("show", digest.id),
        ("show", digest.id, "--json"),
        ("show", digest.id, "--raw"),
        ("search", "ledger updates", "-k", "session"),
        ("search", "--sessions", "ledger", "--all-sessions"),
        ("search", "--sessions", "ledger", "--session", "s1"),
        ("session", "show", "s1"),
        ("session", "export", "s1"),
        ("session", "resume", "s1", "--show"),
    )
    quotes = ("lose updates", "SERIALIZABLE would help", "the ledger is done", "fatura")
    for command in commands:
        assert any(quote in mem(*command).out for quote in quotes), command
        told = mem(*command, env={"CLAUDECODE": "1"})
        assert not any(quote in told.out for quote in quotes), (command, told.out)
        if command[0] == "show" or "--sessions" in command:
            assert "for the user's eyes" in told.err
    assert "ledger.py" in mem("show", digest.id, env={"CLAUDECODE": "1"}).out
    own = mem(
        "search", "--sessions", "ledger", "--session", "s1", env={"CLAUDE_CODE_SESSION_ID": "s1"}
    )
    assert "lose updates" in own.out
