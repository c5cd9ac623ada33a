"""What a search shows of a hit: the words that FTS5 would mark, and a part of the text around them."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.index.builder import IndexCache
from gitmem.index.explain import Pieces, snippet, terms_of
from gitmem.index.filters import is_only_beside
from gitmem.index.joined import search as search_all
from gitmem.text.tokenizer import fold, match_query
from tests.conftest import add, build_repo, record

WORDS = st.sampled_from(
    "pool pools pooling Pool's connect connection Connections connected café Cafe naïve Straße "
    "strasse Łódź lodz 漢字 設定 re-connect a_b x2 ties tie ty".split()
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)
QUERIES = st.lists(WORDS | st.sampled_from(['"pool connection"', "conn*", "caf*"]), min_size=1)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=2, max_size=4), asked=QUERIES.map(" ".join))
def test_words_that_fts5_marks_are_marked(texts, asked):
    """In each text the same words match as in the full-text index."""
    query = match_query(asked)
    if not query:
        return
    texts = [fold(text) for text in texts]
    db = sqlite3.connect(":memory:")
    db.execute(
        'CREATE VIRTUAL TABLE t USING fts5(x, tokenize = "porter unicode61 remove_diacritics 2")'
    )
    db.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(texts))
    sql = "SELECT rowid, highlight(t, 0, char(2), char(3)) FROM t WHERE t MATCH ?"
    theirs = dict(db.execute(sql, (query,)))
    ours = Pieces(texts, terms_of(query))
    for n, text in enumerate(texts):
        marked = list(text)
        for start, end, _ in reversed(ours.spans[n]):
            marked[start:end] = ["\x02", *text[start:end], "\x03"]
        assert theirs.get(n, text) == "".join(marked)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("pool", "\x02pool\x03"),
        ("lorem " * 40 + "pool", "…" + "lorem " * 17 + "\x02pool\x03"),
        ("lorem " * 30 + "end. A pool " + "ipsum " * 40, "…A \x02pool\x03" + " ipsum" * 16 + "…"),
        ("lorem " * 40, "lorem " * 17 + "lorem…"),
        ("x" * 5000 + " pool " + "y " * 30, "x" * 120 + "… \x02pool\x03" + " y" * 16 + "…"),
    ],
)
def test_part_that_is_shown(text, shown):
    """It has eighteen words around those that match, from the start of their sentence if that is near."""
    spans = Pieces([text], terms_of(match_query("pool"))).spans[0]
    assert shown == snippet(text, spans)


@pytest.mark.parametrize(
    "filler", ["lorem ipsum\n", "lorem — ipsum\n", "ça été ipsum\n", "漢字設定\n"]
)
def test_far_end_of_a_long_text_is_shown(indexed, search, filler):
    """A word is shown wherever it is in a text of any length and script."""
    add(indexed, record(title="long", body=filler * 3_000 + "the zebra\n" + "dolor\n" * 9))
    (hit,) = search("zebra")
    assert "\x02zebra\x03" in hit["snippet"]
    assert "zebra in text" == hit["reason"]


def test_neighbours_are_named_for_what_a_record_lacks(indexed, search):
    """A word that the record has itself is not told of its neighbours too."""
    one = add(indexed, record(title="zebra lion", created="2026-01-01T00:00:00Z"))
    add(indexed, record(title="zebra", links=[one.id], created="2026-02-01T00:00:00Z"))
    hits = {hit["title"]: hit["reason"] for hit in search("zebra lion")}
    assert "zebra in title; lion in linked or neighbouring records" == hits["zebra"]
    assert "zebra, lion in title" == hits["zebra lion"]


def test_neighbours_alone_are_no_answer(indexed, search):
    """Where no record says the words itself that is asked for, what is linked to them is no hit."""
    zebra = add(indexed, record(title="zebra"))
    add(indexed, record("gotcha", title="other", links=[zebra.id]))
    assert [] == search("zebra", kinds=["gotcha"])
    assert 2 == len(search("zebra"))


def test_what_says_it_itself_is_first_over_all_stores(indexed, cache, tmp_path, open_store):
    """In the answers of several indexes, what only stands beside the words comes last."""
    near = add(indexed, record(title="zebra " * 9, body="zebra " * 90))
    add(indexed, record(title="linked", links=[near.id], body="short"))
    far = open_store(build_repo("plain", tmp_path, lambda *_: None))
    add(far, record(title="long", body="lorem " * 2000 + "zebra"))
    add(far, record(title="none"))
    with IndexCache(far.home) as other:
        cache.refresh({"shared": indexed})
        other.refresh({"shared": far})
        hits = search_all([("", cache.index()), ("user", other.index())], "zebra", 9)
    assert ["linked"] == [hit["title"] for hit in hits if is_only_beside(hit)]
    assert "linked" == hits[-1]["title"]
    assert 3 == len(hits)
