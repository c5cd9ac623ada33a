"""Which facts contradict each other: figures on pairs, half of which were held back from tuning."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.services.lifecycle.contradiction import compare

PAIRS = Path(__file__).with_name("pairs")
PACKAGE = resources.files("gitmem.services.lifecycle")


def pairs(name: str) -> list[dict[str, Any]]:
    """Return the pairs of one half."""
    return [json.loads(line) for line in (PAIRS / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", ["tuned", "held_back"])
def test_contradictions_are_told_from_look_alikes(name: str) -> None:
    """Of what is reported nearly all contradicts itself, and most of what does is reported."""
    rows = pairs(name)
    reported = [row for row in rows if compare(row["first"], row["second"])]
    right = sum(row["contradicts"] for row in reported)

    assert right / len(reported) >= 0.93
    assert right / sum(row["contradicts"] for row in rows) >= 0.85


@pytest.mark.parametrize("language", ["en", "pt", "es"])
def test_each_language_is_told(language: str) -> None:
    """No language stands for the others."""
    rows = [row for row in [*pairs("tuned"), *pairs("held_back")] if row["language"] == language]
    contradictions = [row for row in rows if row["contradicts"]]
    found = sum(compare(row["first"], row["second"]) is not None for row in contradictions)

    assert found / len(contradictions) >= 0.8


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("The cache is Redis", "The cache is Memcached", ("value", "redis", "memcached", True)),
        ("Retry 3 times", "Retry 5 times", ("number", "3", "5", True)),
        ("CI runs on Python 3.10", "CI runs on Python 3.12", "version"),
        ("The default branch is called main", "The default branch is called trunk", "name"),
        ("Squash before merging", "Never squash before merging", "negation"),
        ("The search endpoint is public", "The search endpoint is private", "antonym"),
        ("The mailer uses SES instead of Postmark", "The mailer uses Postmark", "replacement"),
        ("Use Decimal for money", "Use float for money", ("value", "decimal", "float", False)),
        ("The timeout is 30 s", "The timeout is half a minute", None),
        ("The timeout is 30 s", "The timeout is 0.5 minutes", None),
        ("The timeout is 5 s for orders", "The timeout is 30 s for users", None),
        ("", "The cache is Redis", None),
    ],
)
def test_what_contradicts_itself_is_named(first: str, second: str, expected: Any) -> None:
    """The sort of contradiction, the words that contradict each other, and whether it is sure."""
    found = compare(first, second)
    if isinstance(expected, str):
        assert found is not None
        assert found.what == expected
    else:
        assert found == expected


@given(st.text(max_size=60), st.text(max_size=60))
@example("", "-aaa-aaa")
def test_order_does_not_matter(first: str, second: str) -> None:
    """Of any two texts, each contradicts the other or none does; no text contradicts itself."""
    assert compare(first, first) is None
    assert (compare(first, second) is None) == (compare(second, first) is None)


def test_the_words_follow_their_schema() -> None:
    """Each list is there, and has each word once."""
    words, schema = (
        json.loads(PACKAGE.joinpath(name).read_text("utf-8"))
        for name in ("words.json", "words.schema.json")
    )
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(words)) == []
