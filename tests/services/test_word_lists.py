"""The words of retrieval are data: they follow their schema, and no list says a word twice."""

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from gitmem.services.retrieval import word_lists

PACKAGE = resources.files("gitmem.services.retrieval")


def read(name: str) -> Any:
    """Return a data file of the package."""
    return json.loads(PACKAGE.joinpath(name).read_text("utf-8"))


def test_the_words_follow_their_schema() -> None:
    """Each list is there, has words without blanks, and each of them once."""
    validator = jsonschema.Draft202012Validator(read("words.schema.json"))
    validator.check_schema(validator.schema)

    assert list(validator.iter_errors(read("words.json"))) == []


@pytest.mark.parametrize(
    "wrong",
    [{"chatter": ["two words"]}, {"tools": ["git", "git"]}, {"synonyms": [["alone"]]}, {"new": []}],
)
def test_a_wrong_list_is_noticed(wrong: dict[str, Any]) -> None:
    """A word with a blank, a word twice, a group of one, a list that nobody reads."""
    validator = jsonschema.Draft202012Validator(read("words.schema.json"))

    assert list(validator.iter_errors({**read("words.json"), **wrong})) != []


def test_a_word_finds_the_others_of_its_groups() -> None:
    """`lock` is in two groups: what locks rows, and the file that locks versions."""
    assert {"deadlock", "locks"} & set(word_lists.SAME["lock"]) == {"locks"}
    assert "lockfile" in word_lists.SAME["lock"]


def test_chatter_is_compared_without_accents() -> None:
    """As the full-text index folds words."""
    assert word_lists.folded("não") in word_lists.CHATTER
    assert [word for word in read("words.json")["chatter"] if word_lists.folded(word) != word] == []
