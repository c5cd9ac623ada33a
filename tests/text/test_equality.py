"""When two texts are one: the ids of ordinary texts stay as they are, and names that differ in their signs alone are apart."""

import re
from itertools import combinations
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.records.items import item_id
from gitmem.text.equality import plain
from gitmem.text.same_statement import same

ORDINARY = [
    "We use Postgres 16, not MySQL!",
    "See issue #12 and org/repo#12.",
    "## Release notes ##",
    "a + b is a+b, 1++ is odd",
    "docs/page.html#top",
    "a++b and c+++d",
    "#fff on ##",
    "Não usar float — nunca.",
    "禁止直接推送到主分支",
    "x#y",
    "snake_case stays",
    "",
]


def before(text: str) -> str:
    """Return a text as ids have always been made of it."""
    return " ".join(re.findall(r"\w+", normalize("NFKC", text).casefold()))


@pytest.mark.parametrize("text", ORDINARY)
def test_the_ids_of_ordinary_texts_stay(text: str) -> None:
    """Signs that belong to no name do not count."""
    assert plain(text) == before(text)


@given(st.text(st.characters(exclude_characters="+#♯＋＃﹢﹟⁺₊⧺⧻", exclude_categories=["Cs"])))
def test_a_text_without_such_signs_has_the_id_that_it_had(text: str) -> None:
    """Whatever else is in it."""
    assert plain(text) == before(text)


@given(st.text("abC1_ +#.中é", max_size=12))
def test_the_words_of_a_text_stay_the_same_words(text: str) -> None:
    """Only signs come in addition; what was compared once compares the same again."""
    assert re.findall(r"\w+", plain(text)) == before(text).split()
    assert plain(plain(text)) == plain(text)


def test_names_with_signs_are_apart() -> None:
    """C, C++ and C# are three languages, wherever in a sentence."""
    for frame in (
        "{}",
        "Write the parser in {}.",
        "({}, as before)",
        "use {}17",
        "用{}写",
        "{}'s compiler",
    ):
        names = [
            frame.format(name) for name in ("C", "C++", "C#", "F", "F#", "G++", "clang++", "clang")
        ]
        assert len({item_id(name) for name in names}) == len(names), frame
    assert item_id("C++") == item_id(" c++ ") == item_id("Ｃ＋＋") and item_id("C♯") == item_id(
        "C#"
    )


def test_what_differs_in_such_a_name_is_not_alike() -> None:
    """Sentences that are compared by their telling words."""
    for one, two in combinations(("C", "C++", "C#"), 2):
        assert not same(f"The engine is written in {one}", f"The engine is written in {two}")
