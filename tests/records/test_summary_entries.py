"""Entries of a summary: how two clones' lists merge, and when two texts say the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.records.codec import decode, encode
from gitmem.records.items import SECTIONS
from gitmem.records.merge import merge_bytes
from gitmem.records.record import make
from gitmem.records.summary_entries import merge_sections, overruled, replaces, words
from gitmem.text.same_statement import same
from tests.scale import scaled

IDS = ("a1", "b2", "c3", "d4")
ENTRIES = st.fixed_dictionaries(
    {
        "id": st.sampled_from(IDS),
        "kind": st.just("decision"),
        "text": st.sampled_from(("use X", "use Y", "keep Z")),
        "at": st.sampled_from(("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")),
    },
    optional={"pinned": st.just(True), "critical": st.just(True)},
)


def unique(entries):
    return sorted({e["id"]: e for e in entries}.values(), key=lambda e: (e["at"], e["id"]))


SECTION_MAPS = st.dictionaries(
    st.sampled_from(SECTIONS[:2]),
    st.lists(ENTRIES, max_size=4).map(unique).filter(bool),
    max_size=2,
)


def record(sections, rev=1):
    stamp = f"2026-03-0{rev}T00:00:00Z"
    return make(
        "summary",
        "sum-" + "0" * 26,
        "Summary",
        created="2026-01-01T00:00:00Z",
        updated=stamp,
        rev=rev,
        scope="project",
        sections=sections or None,
    )


@given(SECTION_MAPS, SECTION_MAPS, SECTION_MAPS)
def test_sides_may_be_swapped_and_merged_again(o, x, y):
    once = merge_sections(o, x, y)
    assert once == merge_sections(o, y, x)
    assert merge_sections(o, once or {}, x) == once
    assert merge_sections(o, y, once or {}) == once


@settings(max_examples=scaled(300, 75))
@given(SECTION_MAPS, SECTION_MAPS, SECTION_MAPS, SECTION_MAPS)
def test_the_order_of_three_sides_does_not_matter(o, x, y, z):
    left = merge_sections(o, merge_sections(o, x, y) or {}, z)
    right = merge_sections(o, x, merge_sections(o, y, z) or {})
    across = merge_sections(o, merge_sections(o, x, z) or {}, y)
    assert left == right == across


@given(SECTION_MAPS, SECTION_MAPS, SECTION_MAPS)
def test_records_merge_entry_by_entry(o, x, y):
    base, one, two = encode(record(o)), encode(record(x, 2)), encode(record(y, 3))
    merged = merge_bytes("sum-" + "0" * 26, base, one, two, {}.get)
    assert (decode(merged.data).get("sections") or None) == merge_sections(o, x, y)
    assert not merged.attic


def test_what_either_side_did_to_an_entry_holds():
    one = {"id": "a1", "kind": "task", "text": "load-test", "at": "2026-01-01T00:00:00Z"}
    two = {"id": "b2", "kind": "task", "text": "write docs", "at": "2026-01-02T00:00:00Z"}
    base = {"pending_tasks": [one, two]}
    done_here = {"pending_tasks": [two]}
    pinned_there = {"pending_tasks": [one, {**two, "pinned": True}]}
    assert merge_sections(base, done_here, pinned_there) == {
        "pending_tasks": [{**two, "pinned": True}]
    }
    changed_there = {"pending_tasks": [{**one, "text": "load-test twice"}, two]}
    assert merge_sections(base, done_here, changed_there) == {
        "pending_tasks": [{**one, "text": "load-test twice"}, two]
    }


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
