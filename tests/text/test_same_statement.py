"""Which statements say the same: 209 pairs in four languages, written before the rule. The rule was made with half of them in view (`held` False)."""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.replacement import replaces
from gitmem.text.same_statement import said, same

PAIRS = [
    (path.stem, *line.split(" | "))
    for path in sorted((Path(__file__).parent / "pairs").glob("*.txt"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def held(pair: tuple[str, ...]) -> bool:
    """Say whether a pair is of the half that was held back."""
    return bool(int(sha256(" | ".join(pair[1:]).encode()).hexdigest(), 16) % 2)


@pytest.mark.parametrize("half", [False, True])
def test_no_two_statements_are_merged_that_differ(half: bool) -> None:
    pairs = [pair for pair in PAIRS if held(pair) is half]
    assert len(pairs) > 90
    assert [
        pair for pair in pairs if pair[1] != "same" and (same(*pair[2:]) or same(*pair[:1:-1]))
    ] == []
    assert [
        pair
        for pair in pairs
        if pair[1] != "contradicting" and (replaces(*pair[2:]) or replaces(*pair[:1:-1]))
    ] == []


@pytest.mark.parametrize("half", [False, True])
def test_most_that_say_the_same_are_one(half: bool) -> None:
    pairs = [pair for pair in PAIRS if held(pair) is half and pair[1] == "same"]
    assert sum(same(*pair[2:]) for pair in pairs) >= 0.9 * len(pairs)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_order_of_two_does_not_matter(one: str, other: str) -> None:
    assert same(one, other) == same(other, one)
    assert same(one, one) == bool(said(one))


@given(
    st.sampled_from([pair[2] for pair in PAIRS]),
    st.sampled_from(["not", "never", "v7", "tests/x.py", "--force", "432", "Ada"]),
    st.integers(0, 20),
)
def test_a_word_more_that_carries_something_makes_another_statement(
    text: str, word: str, at: int
) -> None:
    words = text.split()
    more = " ".join([*words[:at], word, *words[at:]])
    assert not same(text, more)
