"""Where sentences end: lines of a chat are said one by one, prose that is wrapped goes on."""

import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.extraction.sentences import sentences

WORDS = st.lists(st.from_regex(r"[a-z]{1,11}", fullmatch=True), min_size=20, max_size=45)


def texts(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [one.text for one in sentences(text)]


@pytest.mark.parametrize(
    "lines",
    [
        [
            "the server is on debian 12, nginx in front of it, and the database is on another host",
            "logs are in /srv/log",
            "use the new key",
        ],
        ["unity 2022.3 lts", "el teléfono de prueba es un moto g22"],
        [
            "数据在本地的 clickhouse 里，库名 quant，表按天分区，每天大概一千万行，保留两年",
            "先不要动旧表",
        ],
        ["postgres then", "but keep the sqlite file until friday"],
    ],
)
def test_lines_of_a_chat_are_sentences_of_their_own(lines: list[str]) -> None:
    assert texts("\n".join(lines)) == lines


def test_a_line_that_ends_with_a_comma_goes_on() -> None:
    assert texts("no vad,\nit cuts the first syllable") == ["no vad, it cuts the first syllable"]


@given(WORDS, st.integers(66, 100))
def test_wrapped_prose_is_put_together_again(words: list[str], width: int) -> None:
    whole = f"We {' '.join(words)}."
    assert texts("\n".join(textwrap.wrap(whole, width))) == [whole]


@given(WORDS, st.integers(66, 100))
def test_a_point_of_a_list_goes_on_where_it_is_indented(words: list[str], width: int) -> None:
    whole = " ".join(words)
    assert texts(textwrap.fill(f"- {whole}", width, subsequent_indent="  ")) == [whole]


def test_code_is_not_cut() -> None:
    assert texts("I lock the row (`SELECT ... FOR UPDATE`). It waits.") == [
        "I lock the row (`SELECT ... FOR UPDATE`).",
        "It waits.",
    ]
    assert texts("Só `UPDATE nota SET s=1 WHERE n=? AND s=0`; quem afetar 1 linha segue.") == [
        "Só `UPDATE nota SET s=1 WHERE n=? AND s=0`; quem afetar 1 linha segue."
    ]


LINES = st.sampled_from(
    [
        "The w{n} is here and w{n}a is there. The next w{n}b goes",
        "on with w{n} and ends.",
        "- point w{n} of it",
        "- [ ] box w{n}",
        "",
        "  more of w{n}",
        "# Head w{n}",
        "说w{n}了。再说w{n}c。",
        "w{n}:",
    ]
)


@given(st.lists(LINES, max_size=12), st.booleans())
def test_a_sentence_knows_its_line(lines: list[str], fence: bool) -> None:
    rows = [line.format(n=n) for n, line in enumerate(lines)]
    rows = [*rows[:2], "```", "code", "```", *rows[2:]] if fence else rows
    for one in sentences("\n".join(rows)):
        name = re.search(r"w\d+[abc]?", one.text)
        assert name is not None
        assert re.search(rf"\b{name.group()}\b|{name.group()}[了。]", rows[one.row])


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("Todavía no. Falta escribir las pruebas.", 2),
        ("It is told in no. 5 of the list. That is all.", 2),
        ('Dates are a text and a range ("c. 1880" is 1875-1885). Curators see both.', 2),
        ("The answer is no. 3 files are left.", 1),
    ],
)
def test_a_short_word_before_a_number_ends_no_sentence(text: str, many: int) -> None:
    assert len(texts(text)) == many
