"""Which text takes the place of another, and which says that a task is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.replacement import overruled, replaces, words
from gitmem.text.same_statement import same


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("Use MySQL for the orders store", "Use PostgreSQL for the orders store", True),
        ("Use Redis for the rate limiter", "Use Redis for the session cache", False),
        ("Use SQLite instead of Postgres for the cache", "Store the cache in Postgres", True),
        ("Switched from yarn to pnpm for the frontend", "The frontend uses yarn", True),
        ("Usar MySQL em vez de PostgreSQL nos pedidos", "Guardar os pedidos em PostgreSQL", True),
        ("用 MySQL 代替 PostgreSQL 存储订单", "用 PostgreSQL 存储订单", True),
        ("Retry payments three times", "Log payments in UTC", False),
        ("Keep the cache in memory", "Keep the queue on disk", False),
    ],
)
def test_which_text_takes_the_place_of_which(new: str, old: str, expected: bool):
    assert replaces(new, old) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            "Retries use exponential backoff with jitter",
            "retry uses exponential backoff, with jitter",
            True,
        ),
        ("订单服务使用 PostgreSQL 存储", "订单服务使用PostgreSQL存储。", True),
        ("Use tabs", "Use spaces", False),
        ("Deploy on Fridays", "The staging database is on port 5433", False),
        ("", "", False),
    ],
)
def test_which_texts_say_the_same(one: str, other: str, expected: bool):
    assert same(one, other) is expected


@given(st.text(max_size=80))
def test_any_text_can_be_compared(text: str):
    assert isinstance(words(text), frozenset)
    assert all(overruled(text))
    assert not replaces(text, text)
