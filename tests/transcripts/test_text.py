"""Plain text: who speaks in it, and what its headings, lists and tables are."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model.turn import ASSISTANT, SYSTEM, USER, Turn
from gitmem.transcripts.reading import read


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
    assert spoken(text) == [(USER, "why is it slow?"), (ASSISTANT, "The index is missing."), (USER, "add it")]


def test_people_have_names() -> None:
    text = "Rowan: it crackles\n\nAssistant: The filter allocates.\n\nMika: keep the filter\n\nRowan: no, we take TPT\n\nMika: ok then"
    assert spoken(text) == [
        (USER, "it crackles"), (ASSISTANT, "The filter allocates."), (USER, "keep the filter"), (USER, "no, we take TPT"), (USER, "ok then")
    ]  # fmt: skip


def test_a_system_prompt_is_nobody() -> None:
    assert spoken("System: You are terse.\n\nUser: hi\n\nAssistant: Hello.")[0] == (SYSTEM, "You are terse.")


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


# -- headings and tables


def test_a_line_before_a_list_is_its_heading() -> None:
    found = [
        turn.text
        for turn in turns("## Monday\n\nDone\n- parser\n- printer\n\nStill open:\n\n- docs\n\nWe met at noon, all of us.\n", "PROGRESS.md")
    ]
    assert found == [
        "## Monday",
        "#### Done",
        "- parser",
        "- printer",
        "## Monday",
        "#### Still open",
        "- docs",
        "## Monday",
        "We met at noon, all of us.",
    ]


def test_prose_before_a_list_stays_prose() -> None:
    assert turns("We looked at three ways to do it, and none was good.\n- one\n- two\n")[0].text.startswith("We looked")


def test_tables_are_points() -> None:
    table = "| What | Choice | Why |\n|---|:--|---|\n| Engine | SQLite | no server |\n| Dropped: Redis | - | one more service |\n| | | |\n"
    found = [turn.text for turn in turns(f"## Decisions\n\n{table}\nAnd more.\n", "plan.md")]
    assert [text for text in found if not text.startswith("|")] == [
        "## Decisions", "- Engine: SQLite. Reason: no server", "- Dropped: Redis. Reason: one more service", "And more."
    ]  # fmt: skip


LINES = st.sampled_from(
    ["", "User: a", "assistant: b", "system: c", "Ann: d", "Next", "- e", "- [ ] f", "| g | h |", "|---|---|", "## i", "```", "text that goes on", "  more of it", "Note: j"]
)  # fmt: skip


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
