"""What a joined expression finds is what its alternatives find, each by itself, in their order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.extraction.language.cue_phrases import alternatives, joined

PARTS = (
    "a",
    "b",
    r"\b",
    "^",
    "a|b",
    "(?:a|b)",
    "(a|^b)",
    "[|)(]",
    "[^]|]",
    r"\|",
    r"\(",
    r"[\]|]",
    "a?",
    "$",
    ".",
    " ",
    "(?!a|b)",
    "ab*",
)


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("(?:a|b)|c", ["(?:a|b)", "c"]),
        ("[|]|[^]|]|x", ["[|]", "[^]|]", "x"]),
        (r"\||\)|b", [r"\|", r"\)", "b"]),
        (r"[\]|]|b", [r"[\]|]", "b"]),
        ("", [""]),
        ("a|", ["a", ""]),
    ],
)
def test_alternatives(expression: str, parts: list[str]) -> None:
    assert parts == alternatives(expression)


@given(
    st.lists(
        st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join),
        min_size=1,
        max_size=5,
    ),
    st.text("ab|()] ", max_size=12),
)
def test_as_each_by_itself(expressions: list[str], text: str) -> None:
    one, other = (
        re.search(joined(expressions), text),
        re.search("|".join(f"(?:{one})" for one in expressions), text),
    )
    assert (one and one.span()) == (other and other.span())


@pytest.mark.parametrize(
    ("expressions", "text", "found"),
    [
        (["^a", "ab", "^ab?c?"], "abc", "a"),
        ([r"ab", r"\babc", "a"], "abc", "ab"),
        ([r"\babc", "ab", r"\ba"], "abc", "abc"),
        ([r"\bb", "^ab"], "ab b", "ab"),
    ],
)
def test_the_first_that_matches_is_taken(expressions: list[str], text: str, found: str) -> None:
    match = re.search(joined(expressions), text)
    assert match and match.group() == found
