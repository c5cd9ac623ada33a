"""Search against a bare FTS5 query: the same tokenizer, the same words, on a table of its own."""

import json
import sqlite3
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time

from gitmem.index.neighbours import HEADS, context_words, near_of
from gitmem.text.tokenizer import fold, match_query, parts
from tests.benchmarks.common import Bench, alternate, ms, opened, run, table, times

BUDGET = 1.5
COLUMNS = ("title", "tags", "body", "anchors", "context")
TOKENIZE = 'tokenize = "porter unicode61 remove_diacritics 2"'
QUERIES = (
    ("one rare word", "cluster"),
    ("one word", "invoice"),
    ("one common word", "payment"),
    ("two words", "payment isolation"),
    ("a sentence", "why does the invoice webhook retry after the gateway answers with a timeout"),
    ("a phrase", '"payment retry"'),
    ("a beginning", "cert*"),
)


def texts(index: sqlite3.Connection) -> Iterator[tuple[int | str, ...]]:
    """Yield number, title, tags, body, anchors and context of each row, as they are indexed."""
    heads = {
        n: (fold(title), begin)
        for n, title, begin in index.execute(HEADS.format("SELECT n FROM records"))
    }
    sql = "SELECT n, r.tags, t.body, t.anchors, b.near FROM records r JOIN texts t USING (n) JOIN beside b USING (n)"
    for n, tags, body, anchors, near in index.execute(sql):
        title = heads[n][0]
        beside = [heads[other] for other in near_of(n, near)]
        context = context_words(parts(f"{title} {body}"), title, beside)
        yield n, title, fold(" ".join(json.loads(tags or "[]"))), body, anchors, context


def bare(path: str, index: sqlite3.Connection, columns: tuple[str, ...]) -> sqlite3.Connection:
    """Make a table with nothing but the texts; return its connection."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"CREATE VIRTUAL TABLE bare USING fts5({', '.join(columns)}, {TOKENIZE})")
    names = ("rowid", *columns)
    sql = f"INSERT INTO bare ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    db.execute("BEGIN")
    db.executemany(sql, (row[: len(names)] for row in texts(index)))
    db.execute("COMMIT")
    return db


def ask(db: sqlite3.Connection, query: str) -> list[tuple[int]]:
    """Return the numbers of the ten best rows."""
    return db.execute(
        "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY bm25(bare) LIMIT 10", (query,)
    ).fetchall()


def repeated(action: Callable[[], object], times: int) -> Callable[[], None]:
    """Return what does an action several times."""

    def run() -> None:
        for _ in range(times):
            action()

    return run


def compare(bench: Bench, count: int, rounds: int, in_a_row: int) -> None:
    """Compare the processor's time, query by query; the median over the queries is judged."""
    path = bench.copy(count, f"search-{count}")
    folder = bench.fresh("bare")
    folder.mkdir()
    with opened(path) as app:
        index = app.index()
        same = bare(str(folder / "same.db"), index.db, COLUMNS)
        own = bare(str(folder / "own.db"), index.db, COLUMNS[:-1])
        rows, ratios = [], []
        for name, text in QUERIES:
            query = match_query(text)
            counted = same.execute("SELECT COUNT(*) FROM bare WHERE bare MATCH ?", (query,))
            # with the filters of `git mem search`
            ours = partial(
                index.search, text, limit=10, statuses=("active", "pinned"), agents=("global",)
            )
            pairs, fewer = (
                alternate(
                    repeated(ours, in_a_row),
                    repeated(partial(ask, other, query), in_a_row),
                    rounds,
                    clock=thread_time,
                )
                for other in (same, own)
            )
            ratios.append(pairs.ratio)
            rows.append(
                (
                    name,
                    f"{counted.fetchone()[0]:,}",
                    ms([t / in_a_row for t in pairs.left]),
                    ms([t / in_a_row for t in pairs.right]),
                    times(pairs.ratio),
                    ms([t / in_a_row for t in fewer.right]),
                    times(fewer.ratio),
                )
            )
        overall = statistics.median(ratios)
        verdict = bench.verdict(f"search at {count:,}, median over the queries", overall, BUDGET)
        rows.append(
            ("median of the ratios", "", "", "", f"{times(overall)} (budget {verdict})", "", "")
        )
        same.close()
        own.close()
    head = (
        "query",
        "rows that match",
        "gitmem",
        "bare FTS5",
        "ratio",
        "bare, no context column",
        "ratio",
    )
    table(f"Search at {count:,} records, ten hits, {rounds} pairs each", head, rows)


def body(bench: Bench) -> None:
    """Compare at three sizes."""
    for count, rounds, in_a_row in ((2_000, 51, 20), (10_000, 31, 10), (100_000, 15, 1)):
        compare(bench, bench.size(count, count // 10), bench.times(rounds), in_a_row)


if __name__ == "__main__":
    sys.exit(run("bench_search", body))
