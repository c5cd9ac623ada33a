"""Which gotchas a task calls for: precision, recall and rank on a labelled set of stores, against plain full-text search; time a match."""

import sys
from pathlib import Path

from gitmem.index.reader import Index, open_index
from tests.benchmarks.common import Bench, alternate, fill, ms, new_repo, opened, run, table, times
from tests.benchmarks.matching import labelled
from tests.benchmarks.matching.labelled import HALVES, NOW, STORES, Situation, Tally

KINDS = ("prompt", "files", "error", "other language", "near miss", "general", "all")
HEAD = ("situations", "number", "precision", "recall", "F1", "MRR", "silent when it should be")
FLOORS = {"precision": 0.92, "recall": 0.77, "mrr": 0.77}


def indexed(path: Path, records: list[labelled.Record]) -> Index:
    """Return the index of a new repository with these records."""
    new_repo(path)
    return added(path, records)


def added(path: Path, records: list[labelled.Record]) -> Index:
    """Write records into a repository's store; return its index."""
    with opened(path) as app:
        fill(app.store(), records)
        app.index()
    index = open_index(str(path / ".git" / "gitmem" / "index.db"))
    assert index is not None
    return index


def body(bench: Bench) -> None:
    """Score both answers on each half of all stores, then time them in a store of 10,000 gotchas."""
    made = {}
    for store in STORES:
        gotchas, path = labelled.gotchas(store), bench.fresh(store)
        made[store] = (
            path,
            indexed(path, list(gotchas.values())),
            {record.id: key for key, record in gotchas.items()},
        )
    for half in HALVES:
        mine: dict[str, Tally] = {}
        other: dict[str, Tally] = {}
        rows = []
        for store, (path, index, keys) in made.items():
            among = [s for s in labelled.situations(store) if s.half == half]
            if not among:
                continue
            ours = labelled.matcher(index, str(path.resolve()), keys)
            labelled.tally(ours, among, mine)
            labelled.tally(labelled.baseline(index, keys), among, other)
            rows.append(
                (f"{store}, {len(keys)} gotchas", *labelled.tally(ours, among)["all"].cells())
            )
        rows = [(kind, *mine[kind].cells()) for kind in KINDS if kind in mine] + rows
        rows.append(("all, plain FTS5 BM25, best five", *other["all"].cells()))
        table(f"Matching, {half} half", HEAD, rows)
        if half == "held out":
            for name, floor in FLOORS.items():
                if getattr(mine["all"], name) < floor:
                    bench.missed.append(f"{name} {getattr(mine['all'], name):.3f} < {floor}")
    for _, index, _ in made.values():
        index.db.close()
    path, _, keys = made["monorepo"]
    count = bench.size(10_000, 1_000)
    big = added(path, bulk(count - len(keys)))
    speed(bench, big, path, labelled.situations("monorepo"), keys, count)
    big.db.close()


def bulk(count: int) -> list[labelled.Record]:
    """Return gotchas with words as a team would use them, none resolved."""
    from tests.benchmarks.common import records

    out = []
    for record in records(count * 5, seed=3):
        if record.kind == "gotcha":
            out.append(record.change(resolved=None))
    return out


def speed(
    bench: Bench, index: Index, path: Path, among: list[Situation], keys: dict[str, str], count: int
) -> None:
    """Time a match of each situation against one plain search of the same words."""
    root, rows = str(path.resolve()), []
    plain = labelled.baseline(index, _Any(keys))
    for kind in KINDS[:-1]:
        some = [s for s in among if s.kind == kind][: bench.times(20, 5)]
        pairs = [
            alternate(
                lambda s=s: labelled.match(index, s.task, root, root, ("global",), NOW),
                lambda s=s: plain(s),
                3,
            )
            for s in some
        ]
        left, right = [x for p in pairs for x in p.left], [x for p in pairs for x in p.right]
        rows.append(
            (
                kind,
                ms(left),
                ms(sorted(left)[int(len(left) * 0.95) :]),
                ms(right),
                times(sorted(p.ratio for p in pairs)[len(pairs) // 2]),
            )
        )
    table(
        f"Time a match with {count:,} gotchas",
        ("situations", "median", "slowest 5 %", "plain FTS5 BM25", "ratio"),
        rows,
    )


class _Any(dict[str, str]):
    """Keys of the labelled set; any other id is its own key."""

    def __missing__(self, key: str) -> str:
        return key


if __name__ == "__main__":
    sys.exit(run("bench_matching", body))
