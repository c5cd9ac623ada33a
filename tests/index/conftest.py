"""Fixtures of the index's tests: a store with its index, and all that the index holds as plain values."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.index.builder import IndexCache
from gitmem.index.reader import Index
from gitmem.store.store import Store


def content(db: sqlite3.Connection) -> dict[str, list[Any]]:
    """Return everything that an index says, whatever order it was built in: row numbers are left out."""
    names = {n: (s, p) for n, s, p in db.execute("SELECT n, store, path FROM records")}

    def of(n: int) -> Any:
        return names.get(n, f"no record {n}")

    def rows(sql: str) -> list[Any]:
        return sorted(db.execute(sql).fetchall(), key=repr)

    # every place of every word: the index keeps no text
    db.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab('main', 'words', 'instance')"
    )
    columns = [c[1] for c in db.execute("PRAGMA table_info(records)") if c[1] != "n"]
    columns += ["path", "oid", "updated", "committer"]
    return {
        "tips": rows("SELECT * FROM tips"),
        "records": rows(f"SELECT {', '.join(columns)} FROM records"),
        "edges": sorted(
            ((of(n), rel, dst) for n, rel, dst in db.execute("SELECT n, rel, dst FROM edges")),
            key=repr,
        ),
        "places": sorted(
            ((path, of(n)) for path, n in db.execute("SELECT path, n FROM places")), key=repr
        ),
        "statements": sorted(
            ((of(n), *rest) for n, *rest in db.execute("SELECT * FROM statements")), key=repr
        ),
        "answers": sorted(
            ((of(n), *rest) for n, *rest in db.execute("SELECT * FROM answers")), key=repr
        ),
        "damaged": rows("SELECT * FROM damaged"),
        "usage": rows(
            "SELECT store, path, id, u.n, last FROM usage u JOIN usage_files f ON f.n = u.file"
        ),
        "words": sorted(
            (
                (of(n), *rest)
                for n, *rest in db.execute("SELECT doc, term, col, offset FROM instances")
            ),
            key=repr,
        ),
        "beside": sorted(
            (
                (of(n), *(of(n + int(step)) for step in near.split()), of(after), author, agent)
                for n, after, near, author, agent in db.execute(
                    "SELECT b.n, after, near, author, agent FROM beside b JOIN people p ON p.n = by"
                )
            ),
            key=repr,
        ),
        "texts": sorted(
            ((of(n), *rest) for n, *rest in db.execute("SELECT n, body, anchors FROM texts")),
            key=repr,
        ),
        "waiting": rows("SELECT 'due', n FROM due UNION ALL SELECT 'gone', n FROM gone"),
    }


def rebuilt(store: Store, folder: Path, **others: Store) -> dict[str, list[Any]]:
    """Return what an index built from nothing says."""
    from gitmem.repo.location import Home

    with contextlib.closing(
        IndexCache(Home(str(folder / f"fresh-{len(os.listdir(folder))}")))
    ) as fresh:
        fresh.refresh({"shared": store, **others})
        return content(fresh.db)


@pytest.fixture
def indexed(repo: Path, open_store: Callable[..., Store]) -> Store:
    """A store in a plain repository."""
    return open_store(repo)


@pytest.fixture
def cache(indexed: Store) -> Iterator[IndexCache]:
    """The writable index of that store."""
    with IndexCache(indexed.home) as made:
        yield made


@pytest.fixture
def search(indexed: Store, cache: IndexCache) -> Callable[..., list[dict[str, Any]]]:
    """Search the store after bringing the index up to date."""

    def run(text: str, **options: Any) -> list[dict[str, Any]]:
        cache.refresh({"shared": indexed})
        return Index(cache.db).search(text, **options)

    return run
