"""What the rest of a message does to a statement: it asks, takes back, quotes, announces, or points back."""

import pytest

from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"


def found(text: str, role: str = USER) -> list[tuple[str, str]]:
    """Return the kinds and texts of what one message in a dialogue teaches."""
    other = ASSISTANT if role == USER else USER
    turns = [Turn(other, "Hello.", AT, 1), Turn(role, text, AT, 2), Turn(other, "ok", AT, 3)]
    return [(one.kind, one.text) for one in extract(turns).items]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I prefer tabs over spaces, so could you reformat it?",
            (PREFERENCE, "I prefer tabs over spaces"),
        ),
        (
            "Prefiero el azul oscuro, ¿lo cambias en la portada?",
            (PREFERENCE, "Prefiero el azul oscuro"),
        ),
        (
            "We always tag releases with the date, can you check the last one?",
            (PATTERN, "We always tag releases with the date"),
        ),
    ],
)
def test_a_request_after_a_statement_leaves_the_statement(
    text: str, expected: tuple[str, str]
) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Do we prefer tabs over spaces, or could you reformat it?",
        "Which one do we always use, and can you change it?",
        "We never ship on Fridays, right?",
    ],
)
def test_a_question_with_a_request_is_no_statement(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("role", [USER, ASSISTANT])
@pytest.mark.parametrize(
    "end",
    ["Scratch that.", "No wait, terrible idea.", "Hmm, forget it.", "I have to withdraw that."],
)
def test_everything_that_a_message_says_before_it_takes_it_back_falls(role: str, end: str) -> None:
    said = "We decided to use Cassandra for the queue. We still need to order the disks."
    assert [kind for kind, _ in found(said, role)] == [DECISION, TASK]
    assert found(f"{said} {end}", role) == []


def test_what_a_message_says_after_it_took_something_back_stays() -> None:
    assert found("We decided to use tabs. Scratch that. We decided to use spaces.") == [
        (DECISION, "We decided to use spaces.")
    ]


@pytest.mark.parametrize(
    "text", ["Don't forget that we still need to renew the domain.", "Não esquece de pagar o hotel"]
)
def test_not_to_forget_takes_nothing_back(text: str) -> None:
    assert [kind for kind, _ in found(text)] == [TASK]


@pytest.mark.parametrize(
    "text",
    [
        'The vendor sent "Dear customer, please wait. We decided to replace it. Always restart." ok',
        "From: Ann\nTo: all\n\nWe have decided to close the car park. Never park there.",
        "The landlord wrote:\nDear tenants, we have decided to repaint the stairs.",
        "README.md of the library:\n1. Always open an issue first.\n2. Never force-push.",
        "Translate this into Spanish: We decided to close early on Fridays.",
        "src/queue.c:12: /* TODO: free the buffer */",
    ],
)
def test_what_a_message_quotes_is_nobodys_statement(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Shader files go in one folder. That's our convention.", "Shader files go in one folder."),
        ("Toda consulta fica em sql/. É assim que a gente faz.", "Toda consulta fica em sql/."),
    ],
)
def test_a_sentence_can_say_that_the_one_before_is_a_rule(text: str, rule: str) -> None:
    assert found(text) == [(PATTERN, rule)]


@pytest.mark.parametrize(
    "text",
    [
        "I found it. The worker had no file descriptors left.",
        "Found it!! The worker had no file descriptors left.",
        "Figured it out, the worker had no file descriptors left.",
    ],
)
def test_a_cause_can_be_announced(text: str) -> None:
    ((kind, said),) = found(text)
    assert kind == ERROR
    assert "no file descriptors left" in said


def test_what_was_done_about_a_cause_is_how_it_was_fixed() -> None:
    text = "The root cause was a duplicate index. I removed the second index from the table."
    turns = [Turn(USER, "Hello.", AT, 1), Turn(ASSISTANT, text, AT, 2)]
    (item,) = extract(turns).items
    assert item.kind == ERROR
    assert "removed the second index" in item.detail


def test_a_report_before_an_open_task_is_not_done() -> None:
    done = "I've migrated the billing tables to the new schema."
    assert [kind for kind, _ in found(done, ASSISTANT)] == [DONE]
    both = found(f"{done} The invoices still have to be migrated.", ASSISTANT)
    assert [kind for kind, _ in both] == [TASK]


def test_an_agent_confirms_a_decision() -> None:
    ((kind, _),) = found("Understood, so the old tariff stays until January.", ASSISTANT)
    assert kind == DECISION
    assert found("Understood, so the old tariff stays until January.") == []


def test_a_marker_may_say_whose_it_is_and_for_when() -> None:
    assert found("TODO for the next session: measure the memory of the parser") == [
        (TASK, "Measure the memory of the parser")
    ]
    assert found("My verdict: render the pages on the server") == [
        (DECISION, "Render the pages on the server")
    ]


def test_a_story_from_the_past_after_a_rule_leaves_the_rule() -> None:
    assert [
        kind for kind, _ in found("We never catch bare Exception, it hid a bug last year.")
    ] == [PATTERN]
    assert found("We decided two years ago to use MongoDB.") == []
