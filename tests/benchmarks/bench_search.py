"""Search against a bare FTS5 query: the same tokenizer, the same words, on a table of its own."""

import sqlite3
import statistics
import sys
from functools import partial

from gitmem.text.tokenizer import match_query
from tests.benchmarks.common import Bench, alternate, ms, opened, run, table, times

BUDGET = 1.5
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


def bare(path: str, source: str, columns: tuple[str, ...]) -> sqlite3.Connection:
    """Make a table with nothing but the texts; return its connection."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")
    names = ", ".join(columns)
    db.execute(f"CREATE VIRTUAL TABLE bare USING fts5({names}, {TOKENIZE})")
    db.execute("ATTACH ? AS product", (source,))
    db.execute(f"INSERT INTO bare (rowid, {names}) SELECT rowid, {names} FROM product.words")
    db.execute("DETACH product")
    return db


def ask(db: sqlite3.Connection, query: str) -> list[tuple[int]]:
    """Return the numbers of the ten best rows."""
    return db.execute(
        "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY bm25(bare) LIMIT 10", (query,)
    ).fetchall()


def body(bench: Bench) -> None:
    """Compare query by query; the budget is judged on the median over the queries."""
    count, rounds = bench.size(100_000, 2_000), bench.times(15)
    path = bench.copy(count, "search")
    folder = bench.fresh("bare")
    folder.mkdir()
    with opened(path) as app:
        index = app.index()
        product = app.home.join("index.db")
        same = bare(
            str(folder / "same.db"), product, ("title", "tags", "body", "anchors", "context")
        )
        own = bare(str(folder / "own.db"), product, ("title", "tags", "body", "anchors"))
        rows, ratios = [], []
        for name, text in QUERIES:
            query = match_query(text)

            hits = same.execute(
                "SELECT COUNT(*) FROM bare WHERE bare MATCH ?", (query,)
            ).fetchone()[0]
            # with the filters of `git mem search`
            ours = partial(
                index.search, text, limit=10, statuses=("active", "pinned"), agents=("global",)
            )
            pairs = alternate(ours, partial(ask, same, query), rounds, warm=2)
            fewer = alternate(ours, partial(ask, own, query), rounds)
            ratios.append(pairs.ratio)
            rows.append(
                (
                    name,
                    f"{hits:,}",
                    ms(pairs.left),
                    ms(pairs.right),
                    times(pairs.ratio),
                    ms(fewer.right),
                    times(fewer.ratio),
                )
            )
        overall = statistics.median(ratios)
        rows.append(
            (
                "median of the ratios",
                "",
                "",
                "",
                f"{times(overall)} (budget {bench.verdict('search, median over the queries', overall, BUDGET)})",
                "",
                "",
            )
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


if __name__ == "__main__":
    sys.exit(run("bench_search", body))
