"""The labelled set: that it is what it claims to be, that the matcher is fair, and that offline extraction keeps its floors."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.records.items import KINDS
from tests.benchmarks.bench_extraction import (
    HELD_PRECISION,
    HELD_RECALL,
    PLAIN_PRECISION,
    PLAIN_RECALL,
    PRECISION,
    RECALL,
    by_kind,
    results,
)
from tests.extraction.matching import Found, Tally, judge, pair, score, total, words
from tests.extraction.plain_statements import HELD, plain_statements
from tests.extraction.render import load, session
from tests.extraction.source import Label

SESSIONS = load()
STATEMENTS = plain_statements()


# -- floors


@pytest.fixture(scope="module")
def others() -> Tally:
    return total(by_kind(results(SESSIONS)).values())


def test_what_is_found_in_sessions_by_others_is_right(others: Tally) -> None:
    assert others.precision >= PRECISION
    assert others.recall >= RECALL


def test_what_is_said_plainly_is_found() -> None:
    plain = total(tally for one in STATEMENTS for tally in one.judged().kinds.values())
    assert plain.precision >= PLAIN_PRECISION
    assert plain.recall >= PLAIN_RECALL


def test_what_others_say_plainly_is_found() -> None:
    """The phrases were written without these: what to expect of people who do not know them."""
    statements = plain_statements(HELD)
    held = total(tally for one in statements for tally in one.judged().kinds.values())
    assert held.precision >= HELD_PRECISION
    assert held.recall >= HELD_RECALL


@pytest.mark.parametrize("language", ["en", "pt", "es", "zh"])
def test_each_language_has_plain_statements_and_sentences_that_are_none(language: str) -> None:
    kinds = {one.kind for one in STATEMENTS if one.language == language}
    assert {"decision", "task", "none"} <= kinds


def test_little_comes_of_sessions_with_nothing_in_them() -> None:
    empty = [one for one in SESSIONS if not one.labels]
    assert empty
    made = results(empty)
    assert sum(bool(judged.wrong) for _, judged in made) <= 2, [
        (one.id, judged.wrong) for one, judged in made if judged.wrong
    ]


# -- the set


def test_transcripts_have_the_rows_of_the_real_ones() -> None:
    types = Counter[str]()
    twice = 0
    for one in SESSIONS:
        rows = (
            [json.loads(line) for line in one.data.decode().splitlines()]
            if one.format in {"claude", "gemini", "history"}
            else []
        )
        if one.format == "gemini":
            ids = Counter(row["id"] for row in rows if "id" in row)
            twice += max(ids.values(), default=0) == 2
            assert any("$set" in row for row in rows)
        types.update(f"{one.format} {row['type']}" for row in rows if "type" in row)
        if one.format == "claude":
            blocks = [
                b
                for row in rows
                if isinstance(row.get("message"), dict)
                for b in row["message"]["content"]
                if isinstance(b, dict)
            ]
            types.update(block["type"] for block in blocks)
            types["failed"] += any(block.get("is_error") for block in blocks)
            types["sidechain"] += any(row.get("isSidechain") for row in rows)
    assert twice
    for name in (
        "claude queue-operation",
        "claude attachment",
        "claude user",
        "claude assistant",
        "claude last-prompt",
        "claude system",
        "gemini user",
        "gemini gemini",
        "thinking",
        "tool_use",
        "tool_result",
        "text",
        "failed",
        "sidechain",
    ):
        assert types[name], name


def test_a_session_is_the_same_bytes_at_every_run() -> None:
    assert [one.data for one in load()] == [one.data for one in SESSIONS]


@pytest.mark.parametrize("kind", ["claude", "gemini", "history"])
def test_all_that_was_said_is_in_the_bytes(kind: str) -> None:
    source = "format: {}\nlanguage: en\n---\nuser: first line\n  second line\nfail 3: make it\n  boom at 12\nedit: a.py\n  - old = 1\n  + new = 2\n  ! not there\nagent: done with it\n---\n"
    rows = [
        json.loads(line) for line in session("x", source.format(kind)).data.decode().splitlines()
    ]
    told = json.dumps(rows)
    for words_ in (
        "first line\\nsecond line",
        "make it",
        "boom at 12",
        "not there",
        "done with it",
        "a.py",
    ):
        assert words_ in told


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("format: claude\nlanguage: en\n", "three parts"),
        ("format: claude\nlanguage: en\n---\nshout: hi\n---\n", "not a turn"),
        ("format: claude\nlanguage: en\n---\nuser: hi\n---\nhunch! this\n", "not a label"),
        ("format: word\nlanguage: en\n---\n---\n", "unknown"),
    ],
)
def test_a_wrong_source_says_what_is_wrong(source: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        session("x", source)


# -- the matcher

POSTGRES = Label(("decision",), "Postgres for the ledger entries", "the auth service has it")


@pytest.mark.parametrize(
    ("item", "same"),
    [
        (Found("decision", "ok, Postgres then for the ledger"), True),
        (
            Found(
                "decision",
                "Use Postgres for ledger entries, because the auth service already has it",
            ),
            True,
        ),
        (Found("error", "Postgres for the ledger entries"), False),
        (Found("decision", "Redis for the sessions"), False),
        (Found("decision", "Postgres"), False),
        (Found("decision", "Postgres ledger " + " ".join(f"word{n}" for n in range(40))), False),
        (Found("decision", "the of and to"), False),
        (Found("decision", ""), False),
    ],
)
def test_an_item_says_what_a_label_says(item: Found, same: bool) -> None:
    assert bool(score(POSTGRES, item)) is same


def test_an_error_counts_without_its_fix_and_the_fix_is_counted_apart() -> None:
    label = Label(("error",), "relation entries already exists", "put it in a schema of its own")
    bare = judge([label], [Found("error", "relation entries already exists")]).kinds["error"]
    full = judge(
        [label], [Found("error", "relation entries already exists", "moved to its own schema")]
    ).kinds["error"]
    assert (bare.right, bare.told, full.right, full.told) == (1, 0, 1, 1)


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    label = Label(("decision",), "用 Postgres 存储账本")
    assert score(label, Found("decision", "账本就用 Postgres 来存储"))
    assert not score(label, Found("decision", "前端改用 Vue"))
    assert words("存储账本") == {"存储", "储账", "账本"}


def test_forms_of_a_word_are_one() -> None:
    assert words("migrations migrated") == words("migration")
    assert words("Configurações") == words("configuração")


def test_one_item_is_right_once_and_one_label_is_found_once() -> None:
    one, item = Label(("task",), "expire upload ids"), Found("task", "expire upload ids")
    twice = judge([one], [item, item])
    assert (twice.kinds["task"].found, twice.kinds["task"].right, len(twice.wrong)) == (2, 1, 1)
    both = judge([one, one], [item])
    assert (both.kinds["task"].labelled, both.kinds["task"].hit, len(both.missed)) == (2, 1, 1)


def test_a_label_that_may_be_found_counts_for_precision_alone() -> None:
    label = Label(("done",), "all tests pass", must=False)
    assert judge([label], [Found("done", "all tests pass")]).kinds["done"].precision == 1.0
    nothing = judge([label], [])
    assert (nothing.kinds["done"].labelled, nothing.missed) == (0, [])


def test_a_label_of_two_kinds_is_found_as_either() -> None:
    label = Label(("preference", "decision"), "use Zustand instead of Redux")
    kinds = judge([label], [Found("decision", "use Zustand instead of Redux")]).kinds
    assert (kinds["preference"].hit, kinds["decision"].right) == (1, 1)


def test_a_label_may_be_worded_in_two_ways() -> None:
    label = Label(
        ("error",), "the calendar is a day off | new Date parses midnight UTC", "parse a local date"
    )
    assert score(label, Found("error", "calendar shows one day off"))
    assert score(label, Found("error", "new Date parses it as midnight UTC", "local date"))
    assert not score(label, Found("error", "the calendar shows UTC"))


def test_pairs_are_as_many_as_can_be() -> None:
    labels = [Label(("task",), "write tests parser"), Label(("task",), "write tests")]
    items = [Found("task", "write tests"), Found("task", "write tests parser")]
    assert pair(labels, items) == {0: 1, 1: 0}


texts = st.text("ab cd ef ñç账本存储", max_size=30)


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), texts), max_size=6),
    st.lists(st.tuples(st.sampled_from(KINDS), texts), max_size=6),
)
def test_counts_always_add_up(wanted: list[tuple[str, str]], given_: list[tuple[str, str]]) -> None:
    labels = [Label((kind,), text) for kind, text in wanted]
    judged = judge(labels, [Found(kind, text) for kind, text in given_])
    every = total(judged.kinds.values())
    assert every.found == len(given_) == every.right + len(judged.wrong)
    assert every.labelled == len(wanted) == every.hit + len(judged.missed)
    assert every.right == every.hit


@given(texts)
def test_whoever_says_a_label_word_for_word_has_found_it(text: str) -> None:
    assert bool(score(Label(("task",), text), Found("task", text))) is bool(words(text))
