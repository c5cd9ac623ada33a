"""A history in short: what was asked, done, decided and failed, per topic; what matters now."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.records.items import DECISION, DONE, TASK, Item
from gitmem.services.session_log.condense import MARKED, TOPICS, bare, shorten
from gitmem.services.session_log.overview import overview_lines, overview_of

AT = "2026-01-01T00:00:00Z"


def row(event: str, content: str = "", **more: Any) -> dict[str, Any]:
    state = {"state": more.pop("state")} if "state" in more else {}
    return {
        "timestamp": AT,
        "role": "user",
        "content": content,
        "metadata": {"event": event, **more},
        **state,
    }


def short(*rows: dict[str, Any], items: tuple[Item, ...] = (), first: int = 1) -> dict[str, Any]:
    return shorten(enumerate(rows, first), items)


def test_topics_follow_what_is_asked():
    found = short(
        row("SessionStart", state={"branch": "main", "folder": "app"}),
        row("PromptSubmit", "Make the payments of the ledger retry with backoff"),
        row("AfterTool", "", action="write", files=["app/pay.py", "app/pay.py"]),
        row("PromptSubmit", "yes"),
        row("PromptSubmit", "the ledger payments also need a backoff limit"),
        row("TurnEnd", "Payments retry now."),
        row("PromptSubmit", "Write the documentation page about invoices"),
        row("AfterTool", "git commit -qam 'docs: invoices'", action="command"),
    )
    titles = [(topic["title"], topic["lines"]) for topic in found["topics"]]
    assert titles == [
        ("Make the payments of the ledger retry with backoff", [2, 6]),
        ("Write the documentation page about invoices", [7, 8]),
    ]
    assert found["topics"][0]["asked"][1:] == [
        "yes",
        "the ledger payments also need a backoff limit",
    ]
    assert (found["topics"][0]["files"], found["topics"][0]["answer"]) == (
        ["app/pay.py"],
        "Payments retry now.",
    )
    assert found["topics"][1]["done"] == ["committed: docs: invoices"]
    assert (found["state"], found["first"], found["last"], found["rows"]) == (
        {"branch": "main", "folder": "app"},
        1,
        8,
        8,
    )


def test_a_failure_is_over_when_its_command_passes():
    found = short(
        row("PromptSubmit", "run the tests of the ledger"),
        row("ToolFailed", "pytest -q\nTraceback\nKeyError: 'TAX'"),
        row("ToolFailed", "cd app && make lint\nExit code 2\nE501"),
        row("PromptSubmit", "something else entirely: rename invoice columns"),
        row("AfterTool", "TAX=0.2 SEED='a b' pytest -q", action="command"),
    )
    assert [topic.get("failed") for topic in found["topics"]] == [["`make lint`: E501"], None]
    assert found["topics"][1]["done"] == ["`pytest -q` passes"]
    assert found["variables"] == {"TAX": "0.2", "SEED": "a b"}
    assert "pytest -q" in found["passed"]


@pytest.mark.parametrize(
    ("command", "same"),
    [
        ("pytest -q", "pytest -q"),
        ("TAX=1 pytest -q", "pytest -q"),
        ("cd app && A='x y' make", "make"),
        ('export A="b"; make', "make"),
        ("cd 'a b'; cd c && ls", "ls"),
        ("cdx && ls", "cdx && ls"),
        ("make A=1", "make A=1"),
        ("  \n", ""),
        ("A=1", "A=1"),
    ],
)
def test_commands_are_the_same_whatever_stands_before(command: str, same: str):
    assert bare(command) == same


def test_what_was_found_is_told_where_it_was_said():
    items = (
        Item(DECISION, "Use SERIALIZABLE for the ledger", "two runs lost updates", lines=(2, 2)),
        Item(TASK, "Document the retries", lines=(4, 4)),
        Item(DECISION, "Before all topics", lines=(0, 0)),
    )
    rows = [
        row("PromptSubmit", "the ledger loses updates again"),
        row("TurnEnd", "…"),
        row("PromptSubmit", "write invoices documentation"),
        row("TurnEnd", "…"),
    ]
    first, second = short(*rows, items=items)["topics"]
    assert first["decided"] == [
        "Use SERIALIZABLE for the ledger (two runs lost updates)",
        "Before all topics",
    ]
    assert second["next"] == ["Document the retries"]


def test_marked_rows_stay_word_for_word():
    text = "never\n  update   a row " + "x" * 500
    found = short(
        row("Mark", text), row("PromptSubmit", "important", marked=True), row("PromptSubmit", "not")
    )
    assert [(one["line"], one["text"]) for one in found["marked"]] == [(1, text), (2, "important")]


def test_long_histories_stay_short():
    words = [f"subject{n} matter{n} thing{n}" for n in range(3 * TOPICS)]
    found = short(*(row("PromptSubmit", text) for text in words))
    assert len(found["topics"]) == TOPICS
    assert found["topics"][-1]["title"] == words[-1]
    assert found["topics"][-1]["lines"][1] == 3 * TOPICS
    assert len(json.dumps(found)) < 40_000


def test_what_matters_now_is_what_was_said_last():
    one = short(
        row("Mark", "never update a row"),
        row("PromptSubmit", "the ledger"),
        row("ToolFailed", "make\nboom"),
        row("ToolFailed", "lint\nE501"),
        items=(
            Item(DECISION, "Use READ COMMITTED for the ledger", lines=(2, 2)),
            Item(TASK, "Document the retry policy", lines=(2, 2)),
            Item(TASK, "Add a test for jitter", lines=(2, 2)),
        ),
    )
    two = short(
        row("SessionStart", state={"branch": "fix", "folder": "."}),
        row("PromptSubmit", "go on"),
        row("AfterTool", "TAX=1 make", action="command"),
        row("AfterTool", "", action="write", files=["b.py"]),
        items=(
            Item(
                DECISION, "Use SERIALIZABLE instead of READ COMMITTED for the ledger", lines=(6, 6)
            ),
            Item(DONE, "Documented the retry policy", lines=(6, 6)),
            Item(DECISION, "Never update a row", lines=(6, 6)),
        ),
        first=5,
    )
    now = overview_of([one, two], AT)
    assert now["marked"] == ["never update a row"]
    assert now["decided"] == ["Use SERIALIZABLE instead of READ COMMITTED for the ledger"]
    assert now["next"] == ["Add a test for jitter"]
    assert now["failed"] == ["`lint`: E501"]
    assert list(overview_lines(now)) == [
        "marked: never update a row",
        "to do: Add a test for jitter",
        "decided: Use SERIALIZABLE instead of READ COMMITTED for the ledger",
        "asked last: go on",
        "state: on branch fix; files changed: b.py",
        "variables: TAX=1",
        "fails: `lint`: E501",
        "asked before: the ledger",
    ]


def test_nothing_gives_nothing():
    assert short()["topics"] == []
    assert list(overview_lines(overview_of([], AT))) == []
    assert (
        list(
            overview_lines(
                overview_of(
                    [
                        {
                            "topics": 3,
                            "marked": [1],
                            "state": [],
                            "variables": {"A": 1},
                            "passed": "x",
                        }
                    ],
                    AT,
                )
            )
        )
        == []
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3),
    max_leaves=6,
)
EVENTS = (
    st.sampled_from(
        [
            "PromptSubmit",
            "TurnEnd",
            "AfterTool",
            "ToolFailed",
            "Mark",
            "Note",
            "SessionStart",
            "other",
        ]
    )
    | JSON
)
ROWS = st.fixed_dictionaries(
    {
        "timestamp": st.just(AT) | JSON,
        "content": st.text(max_size=60) | JSON,
        "metadata": st.dictionaries(
            st.sampled_from(["event", "files", "action", "marked"]), EVENTS | JSON
        )
        | JSON,
        "state": JSON,
    }
)


@settings(deadline=None)
@given(st.lists(ROWS, max_size=12))
def test_any_rows_are_told_in_short(rows):
    found = short(*rows)
    json.dumps(found)
    list(overview_lines(overview_of([found], AT)))
    marks = [
        one
        for one in rows
        if isinstance(one["metadata"], dict)
        and (one["metadata"].get("event") in ("Mark", "Note") or one["metadata"].get("marked"))
    ]
    assert len(found["marked"]) == min(len(marks), MARKED)
