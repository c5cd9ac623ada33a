"""Search and lists: the right records, best first, each with the reason, whatever was typed."""

import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.index.builder import IndexCache
from gitmem.index.filters import FIELDS
from gitmem.index.reader import ORDERS, Index, sort_rows
from gitmem.repo.refs import PRIVATE
from gitmem.store import operations
from gitmem.store.store import Message
from gitmem.text.tokenizer import STOP, fold, match_query, parts, tokens, unfold
from tests.conftest import add, build_repo, forget, new_store, record
from tests.scale import scaled


def titles(hits) -> list[str]:
    return [hit["title"] for hit in hits]


def ids(rows) -> list[str]:
    return [row["id"] for row in rows]


# -- rank


def test_title_weighs_more_than_tags_more_than_body_more_than_neighbours(indexed, search):
    """The same word counts most in the title, then tags and anchors, then the body, least beside it."""
    far = "2026-01-{:02d}T00:00:00Z"
    linked = add(indexed, record(title="linked", created=far.format(1)))
    add(indexed, record(title="zebra word", created=far.format(2), links=[linked.id]))
    add(indexed, record(title="tagged words", tags=["zebra"], created=far.format(3)))
    add(indexed, record(title="body words", body="zebra\n", created=far.format(4)))
    add(
        indexed,
        record(title="anchored words", anchors=[{"path": "zebra.py"}], created=far.format(5)),
    )
    for n in range(6, 26):
        add(indexed, record(title=f"other words {n}", created=far.format(n)))
    found = titles(search("zebra"))
    assert "zebra word" == found[0]
    assert {"tagged words", "anchored words"} == set(found[1:3])
    assert ["body words", "linked"] == found[3:]


def test_rare_words_weigh_more(indexed, search):
    """A word that few records have decides."""
    for n in range(20):
        add(indexed, record(title=f"pool {n}"))
    add(indexed, record(title="pool deadlock"))
    assert "pool deadlock" == titles(search("pool deadlock", limit=1))[0]


def test_more_of_the_words_rank_higher(indexed, search):
    """Words are joined by OR: what has all of them comes first, what has one is there too."""
    for month, title in enumerate(("alpha", "alpha beta", "alpha beta gamma", "delta"), 1):
        add(indexed, record(title=title, created=f"2026-0{month}-01T00:00:00Z"))
    assert ["alpha beta gamma", "alpha beta", "alpha"] == titles(search("alpha beta gamma"))


def test_scores_fall(indexed, search):
    """Scores are higher for better hits, and never zero or negative for a match in the title."""
    for n in range(5):
        add(indexed, record(title="pool " * (n + 1) + "x y z"))
    scores = [hit["score"] for hit in search("pool x")]
    assert sorted(scores, reverse=True) == scores


def test_single_record_has_a_score(indexed, search):
    """In a store of one record the score is tiny, not nothing."""
    add(indexed, record(title="pool"))
    assert search("pool")[0]["score"] != 0


# -- words


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("connection pools", "pool connections"),
        ("running the migrations", "run migration"),
        ("caching", "cached"),
        ("Configuration", "configured"),
        ("NAÏVE Café", "naive cafe"),
        ("naive cafe", "naïve CAFÉ"),
        ("Größe", "grosse größe"),
        ("ångström", "ANGSTROM"),
        ("São Paulo", "sao paulo"),
        ("CartTotal", "cart total"),
        ("getHTTPResponse", "response"),
        ("user_id", "user id"),
        ("a.b.c_d", "c_d"),
        ("utf-8", "utf 8"),
        ("Ünïcode", "unicode"),
        ("Привет мир", "привет"),
        ("ΑΘΗΝΑ", "αθηνα"),
        ("C++ and C#", "c++"),
        ("port 5432", "5432"),
        ("x", "x"),
    ],
)
def test_words_are_found_in_another_form(indexed, search, stored, asked):
    """Endings, accents, case, camelCase and snake_case do not hide a record."""
    add(indexed, record(title=stored))
    add(indexed, record(title="something else", created="2026-01-01T00:00:00Z"))
    assert [stored] == titles(search(asked))[:1]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("データベース接続プール", "接続"),
        ("数据库连接池超时", "连接池"),
        ("데이터베이스 연결", "연결"),
        ("修正 bug 在 main.py", "修正"),
        ("漢", "漢"),
        ("テスト用のpytest設定", "pytest"),
        ("テスト用のpytest設定", "設定"),
    ],
)
def test_scripts_without_spaces(indexed, search, stored, asked):
    """Chinese, Japanese and Korean words are found inside a run of characters, and shown without spaces."""
    add(indexed, record(title="T", body=f"{stored}\n"))
    add(indexed, record(title="別の話", created="2026-01-01T00:00:00Z"))
    hit = search(asked)[0]
    assert "T" == hit["title"]
    assert stored == hit["snippet"].replace("\x02", "").replace("\x03", "")


def test_order_of_characters_matters_in_such_scripts(indexed, search):
    """Two characters that stand apart are no word."""
    add(indexed, record(title="T", body="接着する。後で続ける\n"))
    assert [] == search("接続")


def test_stop_words_alone_do_not_flood(indexed, search):
    """Stop words are left out beside a telling word, and searched for when there is nothing else."""
    add(indexed, record(title="the pool"))
    add(indexed, record(title="the and of", created="2026-01-01T00:00:00Z"))
    assert ["the pool"] == titles(search("what is the pool of the"))
    assert "the and of" in titles(search("the and of"))


def test_phrase(indexed, search):
    """Words between quotes stand together."""
    add(indexed, record(title="one", body="connection pool size\n"))
    add(indexed, record(title="two", body="pool of a connection\n", created="2026-01-01T00:00:00Z"))
    assert ["one"] == titles(search('"connection pool"'))


def test_prefix(indexed, search):
    """A star at the end of a word asks for what begins so."""
    add(indexed, record(title="postgresql"))
    assert [] == search("postg")
    assert ["postgresql"] == titles(search("postg*"))


@given(st.text(st.sampled_from("ab1_. 漢字かナ한é-")).filter(lambda t: unfold(t) == t))
def test_folding_is_undone(text):
    """What is put between characters is taken out again, and nothing else."""
    assert text == unfold(fold(text))


def test_stop_words_are_lower_case_words():
    """Each is one token as the tokeniser sees it."""
    assert [] == [w for w in STOP if w != w.lower() or tokens(w) != [w]]


def test_parts_are_bounded():
    """A text made of camelCase gives a bounded number of words, quickly."""
    assert "Cart Total get HTTP Response" == parts("CartTotal getHTTPResponse plain HTTP")
    start = time.perf_counter()
    assert 40 == len(parts("aB" * 30_000).split())
    assert time.perf_counter() - start < 3.0


# -- snippet and reason


def test_snippet_shows_the_words_and_the_reason_says_where(indexed, search):
    """Each hit has the piece of text with the words marked, and where they were found."""
    add(
        indexed,
        record(
            title="Use a pool",
            body="lorem " * 40 + "the pool is closed twice " + "ipsum " * 40,
            tags=["pools"],
            anchors=[{"path": "src/pool.py"}],
        ),
    )
    (hit,) = search("pool closed")
    assert "\x02pool\x03 is \x02closed\x03" in hit["snippet"]
    assert len(hit["snippet"]) < 300
    assert "pool in title; pool, closed in text; pools in tags; pool in code" == hit["reason"]


def test_hit_by_a_neighbour_says_so(indexed, search):
    """A record found through what it is linked with tells that."""
    one = add(indexed, record(title="zebra", created="2026-01-01T00:00:00Z"))
    add(indexed, record(title="other", links=[one.id], created="2026-02-01T00:00:00Z"))
    hits = {hit["title"]: hit["reason"] for hit in search("zebra")}
    assert {"zebra": "zebra in title", "other": "zebra in linked or neighbouring records"} == hits


def test_snippets_can_be_left_out(indexed, search):
    """A caller that shows none does not pay for them."""
    add(indexed, record(title="pool"))
    assert "snippet" not in search("pool", snippets=False)[0]


def test_workaround_and_sections_are_searched(indexed, search):
    """A gotcha's workaround and a session's topics are text too."""
    add(indexed, record("gotcha", title="g", workaround="restart the zebra"))
    add(
        indexed,
        record("session", title="s", topics=["feed the giraffe"]),
    )
    assert (["g"], ["s"]) == (titles(search("zebra", limit=1)), titles(search("giraffe", limit=1)))


# -- hostile queries


HOSTILE = [
    "",
    " ",
    '"',
    '""',
    '"""',
    '"a',
    'a"',
    "'",
    "*",
    "**",
    "a**",
    "* a",
    "NEAR(",
    "NEAR(a b, 2)",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "AND a",
    "NOT a",
    "a OR OR b",
    "(",
    ")",
    "((a)",
    "a)",
    ":",
    "title:pool",
    "words:pool",
    "rowid:1",
    "-a",
    "^a",
    "+a",
    "a + b",
    "{a b}: c",
    "\0",
    "a\0b",
    "\x02",
    "\ud800",
    "%",
    "_",
    "\\",
    ";",
    "'; DROP TABLE records; --",
    "pool'--",
    "?",
    "?1",
    "$a",
    "@a",
    "\u202e",
    "é\u0301" * 50,
    "\n\n",
    "\t",
    "😀",
    "a" * 100_000,
    "a " * 50_000,
    "*" * 10_000,
    '"' * 10_001,
    "(" * 10_000,
    "漢" * 20_000,
    '"' + "a " * 5000 + '"',
    "pool* " * 3000,
    "-" * 1000 + "pool",
    "👩‍👩‍👧",
    "ﬁ",
    "İ",
    "\ufeffpool",
    "pool\u200b",
    "a\u0000*",
    "NEAR/2",
    "a NEAR/2 b",
]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda q: ascii(q[:20]) + f"-{len(q)}")
def test_hostile_query_is_only_words(indexed, search, query):
    """Whatever is typed is taken for words: no error, no other table, never slow."""
    add(indexed, record(title="the pool", body="a b c\n"))
    start = time.perf_counter()
    hits = search(query)
    assert time.perf_counter() - start < 5.0
    assert [hit["reason"] for hit in hits if not hit["reason"]] == []


def test_query_with_pool_in_odd_company_finds_pool(indexed, search):
    """What stands around a word does not hide it."""
    add(indexed, record(title="the pool"))
    for query in (
        "title:pool",
        "-pool",
        "^pool",
        "(pool",
        "pool)",
        '"pool',
        "NOT pool",
        "pool AND",
        "{pool}",
        "pool'--",
        "\ufeffpool",
        "?pool!",
    ):
        assert ["the pool"] == titles(search(query)), query


@pytest.fixture(scope="module")
def stored_index(tmp_path_factory):
    """An index that property tests share: they only read it."""
    with pytest.MonkeyPatch.context() as patched:
        store = new_store(build_repo("plain", tmp_path_factory.mktemp("standing"), patched.setenv))
    rng = random.Random(5)
    many = [
        record(
            title=f"{rng.choice(['pool', 'cache', 'CartTotal', '漢字'])} {n}",
            body="a NEAR b\n",
            tags=["or"],
        )
        for n in range(30)
    ]
    store.write([operations.put(r) for r in many], Message("import", "import"))
    with IndexCache(store.home) as cache:
        cache.refresh({"shared": store})
        yield Index(cache.db)
    store.objects.close()


@settings(max_examples=scaled(300, 75), deadline=None)
@given(
    query=st.text(max_size=80)
    | st.lists(
        st.sampled_from(
            [
                '"',
                "*",
                "(",
                ")",
                "NEAR",
                "OR",
                "AND",
                "NOT",
                "pool",
                ":",
                "-",
                "^",
                " ",
                "漢",
                "字",
                "\0",
                "é",
                "{",
                "}",
                "+",
                ",",
            ]
        ),
        max_size=20,
    ).map("".join)
)
def test_any_query(stored_index, query):
    """No text is a syntax error; every hit has a score and a reason."""
    for hit in stored_index.search(query, limit=5):
        assert hit["reason"]
        assert isinstance(hit["score"], float)


@given(st.text(string.printable, max_size=200))
def test_query_is_quoted_throughout(text):
    """Of what FTS5 gives a meaning, only OR and a star after a quoted word are left."""
    outside = "".join(match_query(text).split('"')[::2])
    assert set() == set(outside.replace("OR", "")) - set(" *")


# -- filters, lists, ids


def test_filters_narrow_a_search(indexed, search):
    """A hit passes every filter, even when better hits do not."""
    for n in range(70):
        add(indexed, record(title="pool pool pool", status="archived" if n % 2 else "pinned"))
    wanted = add(
        indexed,
        record(
            "gotcha", title="a long title that has pool once only among others", severity="critical"
        ),
    )
    assert [wanted.id] == ids(search("pool", kinds=["gotcha"], limit=5))
    assert {"pinned"} == {hit["status"] for hit in search("pool", statuses=["pinned"], limit=50)}
    assert [] == search("pool", kinds=["event"])
    assert ([], []) == (search("pool", limit=0), search("pool", stores=["private"]))


def test_list_filters(indexed, cache):
    """Lists are filtered by kind, tag, path, status, agent, time and whether a gotcha is resolved."""
    one = add(
        indexed,
        record(
            title="one",
            tags=["a", "b"],
            agent="dev",
            created="2026-01-01T00:00:00Z",
            anchors=[{"path": "x.py"}],
        ),
    )
    two = add(
        indexed,
        record("gotcha", title="two", resolved={"by": "Ada"}, created="2026-02-01T00:00:00Z"),
    )
    three = add(
        indexed, record("gotcha", title="three", created="2026-03-01T00:00:00Z", session="s1")
    )
    cache.refresh({"shared": indexed})
    rows = cache.index().rows
    assert [three.id, two.id, one.id] == ids(rows())
    cases = [
        ({"kinds": ["memory"]}, [one]),
        ({"tags": ["a", "b"]}, [one]),
        ({"tags": ["a", "c"]}, []),
        ({"paths": ["x.py"]}, [one]),
        ({"agents": ["dev"]}, [one]),
        ({"resolved": True}, [two]),
        ({"resolved": False, "kinds": ["gotcha"]}, [three]),
        ({"since": "2026-02-01T00:00:00Z"}, [three, two]),
        ({"until": "2026-01-31T00:00:00Z"}, [one]),
        ({"sessions": ["s1"]}, [three]),
        ({"limit": 1}, [three]),
        ({"limit": 1, "offset": 2}, [one]),
        ({"tags": ["' OR 1=1 --"]}, []),
        ({"types": ["decision"]}, []),
        ({"conflict": True}, []),
    ]
    for filters, want in cases:
        assert [w.id for w in want] == ids(rows(**filters)), filters


def test_gotchas_are_filtered_and_counted(indexed, cache):
    """By category, severity, id; a limit is of what passes; counts are by what is asked for."""
    made = {
        (category, severity): add(
            indexed,
            record(
                "gotcha",
                f"{category} {severity}",
                category=category,
                severity=severity,
                occurrences=3,
            ),
        )
        for category in ("build", "test")
        for severity in ("critical", "info")
    }
    add(indexed, record(title="no gotcha"))
    cache.refresh({"shared": indexed})
    index = cache.index()
    one, two = made["build", "critical"].id, made["test", "info"].id
    assert {r["id"] for r in index.rows(categories=["build"], severities=["critical", "info"])} == {
        one,
        made["build", "info"].id,
    }
    assert ids(
        index.rows(
            kinds=["gotcha"],
            severities=["info"],
            order="severity",
            limit=1,
            without=[made["build", "info"].id],
        )
    ) == [two]
    assert sorted(ids(index.rows(ids=[one, two, "got-none"]))) == sorted([one, two])
    assert (index.rows(ids=[]), index.number(ids=[])) == ([], 0)
    assert (
        index.number(),
        index.number(kinds=["gotcha"]),
        index.number(severities=["info"], without=[two]),
    ) == (5, 4, 1)


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"severities": ["warning"]},
        {"paths": ["x.py"]},
        {"kinds": ["memory"]},
        {"without": ["got-x"]},
    ],
)
def test_worst_first_with_a_limit(indexed, cache, filters):
    """The same rows as without one, as many as were asked for."""
    rng = random.Random(5)
    for n in range(20):
        add(
            indexed,
            record(
                "gotcha",
                str(n),
                severity=rng.choice(["critical", "warning", "info"]),
                anchors=[{"path": rng.choice(["x.py", "y.py"])}],
            ),
        )
    add(indexed, record(title="m"))
    cache.refresh({"shared": indexed})
    index = cache.index()
    whole = ids(index.rows(order="severity", **filters))
    assert ids(index.rows(order="severity", limit=7, **filters)) == whole[:7]
    assert ids(index.rows(order="severity", limit=3, offset=2, **filters)) == whole[2:5]


def test_bases_and_patterns(indexed, cache):
    """What files gotchas were anchored at, and which errors are known; a record that goes takes its own along."""
    blob = "a" * 40
    one = add(
        indexed,
        record(
            "gotcha",
            "one",
            triggers={"error": ["e1", "e2"]},
            anchors=[
                {"path": "x.py", "lines": [1, 2], "blob": blob},
                {"path": "x.py"},
                {"path": "y.py", "lines": [1, 1]},
                {"path": "y.py", "symbol": "f", "blob": blob},
                {"glob": "*"},
            ],
        ),
    )
    add(indexed, record("memory", "two", anchors=[{"path": "z.py"}]))
    cache.refresh({"shared": indexed})
    index = cache.index()
    assert index.bases() == {"x.py": {blob, ""}, "y.py": {"?"}}
    forget(indexed, one.id)
    cache.refresh({"shared": indexed})
    assert index.bases() == {}


@pytest.mark.parametrize("order", ORDERS)
def test_rows_of_two_indexes_are_sorted_as_of_one(indexed, cache, order):
    """Rows joined from two stores have the order that one index would give."""
    rng = random.Random(order)
    for n in range(25):
        kind = rng.choice(["memory", "gotcha"])
        more = (
            {"importance": rng.randint(0, 10)}
            if kind == "memory"
            else {
                "severity": rng.choice(["critical", "warning", "info"]),
                "last_seen": f"2026-01-0{rng.randint(1, 9)}T00:00:00Z",
                "occurrences": rng.randint(0, 3),
            }
        )
        add(
            indexed,
            record(
                kind,
                rng.choice(["b", "A", "a", "C"]) + str(n % 3),
                created=f"2026-01-0{rng.randint(1, 9)}T00:00:00Z",
                **more,
            ),
        )
    cache.refresh({"shared": indexed})
    rows = cache.index().rows(order=order)
    mixed = rng.sample(rows, len(rows))
    sort_rows(mixed, order)
    assert ids(rows) == ids(mixed)


def test_id_by_prefix_or_suffix(indexed, cache):
    """A record is named by the start of its id, with the kind's prefix or without, or by its end."""
    item = add(indexed)
    add(indexed)
    cache.refresh({"shared": indexed})
    match = cache.index().match_ids
    assert [[item.id]] * 3 == [match(item.id), match(item.id[-8:].upper()), match(item.id[-20:])]
    assert 2 == len(match("mem-"))
    assert [[]] * 5 == [match(text) for text in ("%", "_", "mem%", "' OR 1=1", "")]


def test_underscore_and_percent_are_no_wildcards(indexed, cache):
    """A character that means something to LIKE means itself."""
    add(indexed, record("work", id="wrk-a_b"))
    add(indexed, record("work", id="wrk-axb"))
    cache.refresh({"shared": indexed})
    assert ["wrk-a_b"] == cache.index().match_ids("a_b")


def test_edges_and_usage(indexed, cache):
    """Links run both ways in a look-up; reads of all replicas are added."""
    one = add(indexed)
    two = add(indexed, record(links=[one.id], supersedes=[one.id]))
    for replica, n in (("r1", 2), ("r2", 3)):
        indexed.write(
            [
                operations.count_reads(
                    f"usage/{replica}/{one.id[-2:]}.jsonl",
                    {one.id: {"n": n, "last": f"2026-01-0{n}T00:00:00Z"}},
                )
            ],
            Message("usage", "usage"),
        )
    cache.refresh({"shared": indexed})
    index = cache.index()
    assert (
        [(two.id, "links", one.id), (two.id, "supersedes", one.id)]
        == index.edges_of(one.id)
        == index.edges_of(two.id)
        == index.edges()
    )
    assert {one.id: (5, "2026-01-03T00:00:00Z")} == index.usage([one.id, two.id])


def test_rows_hold_what_was_asked_for(indexed, cache):
    """A caller that names the columns it looks at gets these and the row's number, with the same values."""
    add(indexed, record(tags=["a", "b"], anchors=[{"path": "a.py"}]))
    add(indexed, record("gotcha", triggers={"error": "boom"}))
    cache.refresh({"shared": indexed})
    whole = cache.index().rows()
    for fields in (
        ("id",),
        ("title", "tags"),
        ("anchors", "triggers", "resolved", "conflict"),
        ("title", "no such column"),
    ):
        known = [f for f in fields if f in FIELDS]
        assert [{key: row[key] for key in ("n", *known)} for row in whole] == cache.index().rows(
            fields=fields
        )


def test_damaged_files_are_listed(indexed, cache):
    """A file that is not a record is named with the reason, and is in no list of records."""
    indexed.write([operations.write_file("memories/aa/x.md", "nonsense")], Message("x", "file"))
    cache.refresh({"shared": indexed})
    ((row),) = cache.index().damaged()
    assert ("shared", "memories/aa/x.md", True) == (
        row["store"],
        row["path"],
        row["reason"].endswith("."),
    )
    assert [] == cache.index().rows()


def test_body_comes_back(indexed, cache):
    """The text that the index keeps is the record's."""
    add(indexed, record(title="t", body="漢字 and\nlines\n"))
    cache.refresh({"shared": indexed})
    (row,) = cache.index().rows()
    assert "漢字 and\nlines" == cache.index().body(row["n"])
    assert "" == cache.index().body(999)
    assert {("shared", "memory"): 1} == cache.index().count()


def test_the_newest_of_a_rare_kind_are_found_without_a_look_at_the_others(indexed, cache):
    """A briefing asks for the last record and the open tasks, of which a large store may have none."""
    for n in range(5):
        add(indexed, record(title=f"fact {n}", type="fact", created=f"2026-01-0{n + 1}T00:00:00Z"))
    for n in range(3):
        add(indexed, record(title=f"task {n}", type="task", created=f"2026-01-0{n + 1}T00:00:00Z"))
    cache.refresh({"shared": indexed})
    index, asked = Index(cache.db), []
    cache.db.set_trace_callback(asked.append)
    assert titles(index.rows(what="task", statuses=("active",), limit=2)) == ["task 2", "task 1"]
    cache.db.set_trace_callback(None)
    plan = [row[3] for row in cache.db.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    assert plan[0].startswith("SEARCH records USING INDEX records_what")
    assert not any("SCAN records" in step for step in plan)


def test_counts_of_stores_and_kinds_are_those_of_the_rows(indexed, cache, open_store, repo):
    """What both stores have is counted once, and no record is looked at once for each kind and store."""
    private = open_store(repo, ref=PRIVATE)
    for kind in ("memory", "gotcha", "gotcha", "session", "snapshot", "event"):
        add(indexed, record(kind, f"a {kind}"))
    both = record("session", "in both stores")
    add(indexed, both)
    add(private, both)
    add(private, record(title="private"))
    cache.refresh({"shared": indexed, "private": private})
    assert cache.db.execute("SELECT COUNT(*) FROM hidden").fetchone() == (1,)
    asked: list[str] = []
    cache.db.set_trace_callback(asked.append)
    counts = cache.index().count()
    cache.db.set_trace_callback(None)
    shared = {"memory": 1, "gotcha": 2, "session": 1, "snapshot": 1, "event": 1}
    private_counts = {("private", "memory"): 1, ("private", "session"): 1}
    assert {("shared", kind): number for kind, number in shared.items()} | private_counts == counts
    assert 2 == len(asked)


def test_number_stops_at_a_limit(indexed, cache):
    """Who asks whether there are more than some does not wait for all to be counted."""
    for number in range(5):
        add(indexed, record(title=f"fact {number}"))
    cache.refresh({"shared": indexed})
    index = cache.index()
    assert [5, 3, 5] == [index.number(kinds=("memory",), most=most) for most in (-1, 3, 9)]
