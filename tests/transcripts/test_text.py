"""Plain text: who speaks in it, and what its headings, lists and tables are."""

import io
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.transcripts.reader import read
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, USER, Turn


def turns(text: str, name: str = "notes.txt") -> list[Turn]:
    return list(read(io.BytesIO(text.encode()), name))


def spoken(text: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns(text)]


# -- who speaks


@pytest.mark.parametrize(
    "text",
    [
        "User: why is it slow?\nAssistant: The index is missing.\nUser: add it",
        "user: why is it slow?\n\nassistant: The index is missing.\n\nuser: add it",
        "**User:** why is it slow?\n\n**Claude:** The index is missing.\n\n**User:** add it",
        "## User\n\nwhy is it slow?\n\n## Assistant\n\nThe index is missing.\n\n## User\n\nadd it",
        "[10:32] User: why is it slow?\n[10:33] Assistant: The index is missing.\n[10:40] User: add it",
        "12/05/2024, 10:32 - Me: why is it slow?\n12/05/2024, 10:33 - ChatGPT: The index is missing.\n12/05/2024, 10:40 - Me: add it",
        "用户：why is it slow?\n\n助手：The index is missing.\n\n用户：add it",
    ],
)
def test_a_talk(text: str) -> None:
    assert spoken(text) == [
        (USER, "why is it slow?"),
        (ASSISTANT, "The index is missing."),
        (USER, "add it"),
    ]


def test_people_have_names() -> None:
    text = "Rowan: it crackles\n\nAssistant: The filter allocates.\n\nMika: keep the filter\n\nRowan: no, we take TPT\n\nMika: ok then"
    assert spoken(text) == [
        (USER, "it crackles"),
        (ASSISTANT, "The filter allocates."),
        (USER, "keep the filter"),
        (USER, "no, we take TPT"),
        (USER, "ok then"),
    ]


def test_a_system_prompt_is_nobody() -> None:
    assert spoken("System: You are terse.\n\nUser: hi\n\nAssistant: Hello.")[0] == (
        SYSTEM,
        "You are terse.",
    )


@pytest.mark.parametrize(
    "line",
    [
        "Replace the laptop in the lighting booth. The first show on the new\nsystem: Jenůfa, on 14 November.",
        "System: Debian 12 on two machines",
        "Model: a small one is enough",
        "Agent: whoever is on duty",
    ],
)
def test_a_document_has_no_speakers(line: str) -> None:
    """All of it is its writer's, also where a line happens to begin like that of a dialogue."""
    found = turns(f"# Plan\n\n{line}\n\n## Decided\n\n- One index for each language.\n", "plan.md")
    assert {turn.role for turn in found} == {USER}
    assert line in {turn.text for turn in found}


def test_fields_are_no_names() -> None:
    text = "Symptom: no sound\nCause: muted\nFix: unmute\n\nSymptom: no light\nCause: no lamp\nFix: a lamp\n"
    assert "Cause: muted" in turns(text)[0].text


def test_labels_in_lower_case_after_lines_of_a_message() -> None:
    text = "user: the login breaks\nit is in login.py\nassistant: An await was missing.\nIt is there now.\nuser: take redis then\nit survives restarts\nassistant: ok"
    assert [role for role, _ in spoken(text)] == [USER, ASSISTANT, USER, ASSISTANT]


def test_a_long_log_before_the_first_answer() -> None:
    text = (
        "# Monday\n\nUser: here is the log\n"
        + "a line of it\n" * 450
        + "\nAssistant: It is the disk.\n\nUser: ok"
    )
    assert [role for role, _ in spoken(text)][-3:] == [USER, ASSISTANT, USER]


def test_colours_hide_nobody() -> None:
    assert spoken("\x1b[1mUser:\x1b[0m why\n\n\x1b[1mAssistant:\x1b[0m because") == [
        (USER, "why"),
        (ASSISTANT, "because"),
    ]


def test_chats_as_they_are_exported() -> None:
    lines = [
        "Messages and calls are end-to-end encrypted.",
        "Ana: tabs or spaces?",
        "Bruno: tabs",
        "Ana: ok",
        "Bruno: good",
    ]
    found = turns("\n".join(f"12/05/24, 10:3{n} - {line}" for n, line in enumerate(lines)))
    assert [turn.text for turn in found][1:] == ["tabs or spaces?", "tabs", "ok", "good"]


@pytest.mark.parametrize(
    "line",
    [
        "Ana:" + " " * 16_000,
        "Ana:" + " " * 15_000 + "x",
        "|---" + " " * 15_000 + "x|||",
        "Ana " * 5_000,
        "| a " * 4_000,
    ],
)
def test_long_lines_take_no_time(line: str) -> None:
    text = f"Ana: hi\nBruno: ho\nAna: hi\nBruno: ho\n| a | b |\n|--|--|\n{line}\n"
    begin = time.process_time()
    turns(text * 20)
    assert time.process_time() - begin < 5


def test_memory_is_bounded() -> None:
    stream = io.BytesIO(b"\n".join(b"x" * 1_000_000 for _ in range(60)))
    tracemalloc.start()
    for _ in read(stream, "notes.txt"):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


# -- tables


def rows(table: str) -> list[str]:
    return [
        turn.text
        for turn in turns(f"## Of a kind\n\n{table}\nAnd more.\n", "plan.md")
        if not turn.text.startswith("|")
    ][1:-1]


def test_tables_are_points() -> None:
    table = "| # | What | Choice | Why | Date |\n|--|---|:--|---|---|\n| 1 | Engine | SQLite | no server | 2026-10-02 |\n| 2 | Pipes | a\\|b | | |\n| | | | | |\n"
    assert rows(table) == ["- Engine: SQLite. Reason: no server", "- Pipes: a|b."]


def test_rows_with_a_state_are_tasks() -> None:
    table = "| Task | Status |\n|---|---|\n| login page | Done |\n| logout page | In progress |\n| old API | Cancelled |\n| Kafka | rejected: too heavy |\n"
    assert rows(table) == ["- [x] login page", "- [ ] logout page"]


def test_tables_of_reference_are_no_notes() -> None:
    assert rows("| Code | Meaning |\n|---|---|\n| E404 | no such book |\n") == []


LINES = st.sampled_from(
    [
        "",
        "User: a",
        "assistant: b",
        "system: c",
        "Ann: d",
        "Next",
        "- e",
        "- [ ] f",
        "| g | h |",
        "|---|---|",
        "## i",
        "```",
        "text that goes on",
        "  more of it",
        "Note: j",
    ]
)


@given(st.lists(LINES, max_size=40))
def test_nothing_that_was_written_is_lost(lines: list[str]) -> None:
    """Every word is in a turn, but for labels, heads of tables and fences; lines only grow."""
    found = turns("\n".join(lines))
    told = " ".join(turn.text for turn in found)
    wanted = [line for line in lines if line and not line.startswith(("|", "```"))]
    assert all(line.strip().rpartition(": ")[2] in told for line in wanted)
    assert [turn.line for turn in found if not turn.text.startswith("#")] == sorted(
        turn.line for turn in found if not turn.text.startswith("#")
    )
