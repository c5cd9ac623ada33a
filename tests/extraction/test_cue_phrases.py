"""Cue phrases ignore case, and say where they are in the text as it was written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.extraction.language.cue_phrases import LANGUAGES, Cues, cues

SAID = (
    "WE DECIDED TO USE Postgres, not MongoDB, because İstanbul needs it.",
    "Still to do: the docs of the API_KEY loader.",
    "NÃO, usa SEMPRE aspas simples no código.",
    "El fallo se DEBÍA a que la caché no se invalidaba.",
    "我们决定使用 PostgreSQL 而不是 MySQL，因为需要 JSONB 支持。",
    "A TypeError: KeyError was raised on port 8080",
    "IT FAILED WITH an ECONNREFUSED of the API_KEY, OOMKilled",
    "用 KEY 设置 API_KEY，失败了：TypeError",
)


def spans(
    language: str, text: str
) -> dict[tuple[str, str], tuple[tuple[int, int] | None, tuple[int, int] | None]]:
    """Return of each list of cues where it is found, and where its expression with the flag is."""
    here = cues(language)
    out = {}
    for kind, lists in here.of.items():
        for name, rules in lists.items():
            one, other = (
                here.find(kind, name, text),
                re.search("|".join(f"(?:{rule})" for rule in rules), text, re.IGNORECASE),
            )
            out[kind, name] = (one.span() if one else None, other.span() if other else None)
    return out


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("language", LANGUAGES)
def test_as_with_the_flag(language: str, text: str) -> None:
    for where, (one, other) in spans(language, text).items():
        assert one == other, where


@given(
    st.lists(
        st.sampled_from([*" ".join(SAID).split(), "ẞ", "É", "de", "no", "Let's", "FIXED", "by"]),
        max_size=12,
    ).map(" ".join)
)
def test_any_words(text: str) -> None:
    for where, (one, other) in spans("en", text).items():
        assert one == other, where


def mixed(*rules: str) -> Cues:
    """Return cues of one list."""
    return Cues("en", frozenset(), frozenset(), {"kind": {str(rules): rules}})


@pytest.mark.parametrize(
    ("rules", "text", "found"),
    [
        (("over", "(?-i:[A-Z]+) (?:over|done)"), "it is OVER over", "OVER"),
        (("(?-i:[A-Z]+) over", "over"), "it is OVER over", "OVER over"),
        (("it", "(?-i:[A-Z]+)"), "that is OVER, it is", "OVER"),
        (("(?-i:[A-Z]{2,})", "it"), "It is OVER", "It"),
    ],
)
def test_rules_with_capitals_and_without_are_one_list(
    rules: tuple[str, ...], text: str, found: str
) -> None:
    """What stands first in the text is found; of two at one place, what stands first in the list."""
    match = mixed(*rules).find("kind", str(rules), text)
    assert match and text[match.start() : match.end()] == found


@pytest.mark.parametrize("language", LANGUAGES)
def test_expressions_name_their_letters(language: str) -> None:
    """A rule is looked for in lower case unless it has a capital: one that is written by its number would not be seen."""
    rules = [
        rule for lists in cues(language).of.values() for some in lists.values() for rule in some
    ]
    assert [rule for rule in rules if re.search(r"\\(?:[xN]|u0)", rule)] == []
