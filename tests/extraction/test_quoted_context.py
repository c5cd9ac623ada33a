"""Short answers are told with what was said around them."""

from gitmem.extraction.detect.final_judgement import with_quotes
from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, Item
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"


def decided(*said: str) -> list[Item]:
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    return [one for one in extract(turns).items if one.kind == DECISION]


def test_an_answer_that_names_one_thing() -> None:
    (one,) = decided(
        "the same room is booked twice when two people are fast",
        "Two requests check at the same time. A lock in Redis would help, or locking the row with lockForUpdate inside a transaction.",
        "vamos con lockForUpdate",
        "Done, the row is locked with lockForUpdate inside a transaction.",
    )
    assert "lockForUpdate" in one.text
    assert "inside a transaction" in one.detail


def test_a_number_is_told_with_its_question() -> None:
    (one,) = decided(
        "unpaid orders block the room, can we release them",
        "Yes, a timer can cancel orders that are not paid. After how many minutes?",
        "15 minutes then",
        "Set: unpaid orders are cancelled after 15 minutes, the timer runs every minute.",
    )
    assert "15 minutes" in one.text
    assert "unpaid orders" in f"{one.text} {one.detail}"


def test_what_tells_by_itself_has_no_quotations() -> None:
    (one,) = decided(
        "hello",
        "Hello. What shall we do?",
        "We decided to keep the raw readings in Postgres for ninety days and to delete them afterwards, because nobody looks at older ones.",
        "All right, raw readings stay for ninety days.",
    )
    assert "“" not in one.detail


def test_quotations_are_whole() -> None:
    assert with_quotes("", ["a", "b"]) == "“a” “b”"
    assert with_quotes("why", ["a" * 20, "b"], 12) == "why “b”"
    assert with_quotes("a is said", ["a"]) == "a is said"
