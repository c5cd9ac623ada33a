"""Which gotchas a task calls for: precision, recall and rank on a labelled set, against plain full-text search; time a match."""

import sys
from pathlib import Path

from gitmem.index.query import Index, open_index
from tests.benchmarks.common import Bench, alternate, fill, ms, new_repo, opened, run, table, times
from tests.benchmarks.matching import labelled
from tests.benchmarks.matching.labelled import HALVES, NOW, Situation

KINDS = ("prompt", "files", "error", "other language", "near miss", "general", "all")
HEAD = ("situations", "number", "precision", "recall", "F1", "MRR", "silent when it should be")
FLOORS = {"precision": 0.9, "recall": 0.85, "mrr": 0.9}


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
    """Score both answers on each half, then time them in a store of 10,000 gotchas."""
    gotchas, all_of_them = labelled.gotchas(), labelled.situations()
    path = bench.fresh("labelled")
    index = indexed(path, list(gotchas.values()))
    keys = {record.id: key for key, record in gotchas.items()}
    ours, plain = labelled.matcher(index, str(path.resolve()), keys), labelled.baseline(index, keys)
    for half in HALVES:
        among = [s for s in all_of_them if s.half == half]
        mine, other = labelled.tally(ours, among), labelled.tally(plain, among)
        rows = [(kind, *mine[kind].cells()) for kind in KINDS if kind in mine]
        rows.append(("all, plain FTS5 BM25, best five", *other["all"].cells()))
        table(f"Matching, {half} half: {len(gotchas)} gotchas", HEAD, rows)
        if half == "held out":
            for name, floor in FLOORS.items():
                if getattr(mine["all"], name) < floor:
                    bench.missed.append(f"{name} {getattr(mine['all'], name):.3f} < {floor}")
    count = bench.size(10_000, 1_000)
    index.db.close()
    big = added(path, bulk(count - len(gotchas)))
    speed(bench, big, path, all_of_them, keys, count)
    big.db.close()


def bulk(count: int) -> list[labelled.Record]:
    """Return gotchas with words as a team would use them, none resolved."""
    from tests.benchmarks.common import records

    out = []
    for record in records(count * 5, seed=3):
        if record.kind == "gotcha":
            out.append(record.change(resolved=None))
    return out


def speed(bench: Bench, index: Index, path: Path, among: list[Situation], keys: dict[str, str], count: int) -> None:
    """Time a match of each situation against one plain search of the same words."""
    root, rows = str(path.resolve()), []
    plain = labelled.baseline(index, _Any(keys))
    for kind in KINDS[:-1]:
        some = [s for s in among if s.kind == kind][: bench.times(20, 5)]
        pairs = [alternate(lambda s=s: labelled.match(index, s.task, root, root, ("global",), NOW), lambda s=s: plain(s), 3) for s in some]
        left, right = [x for p in pairs for x in p.left], [x for p in pairs for x in p.right]
        rows.append(
            (kind, ms(left), ms(sorted(left)[int(len(left) * 0.95) :]), ms(right), times(sorted(p.ratio for p in pairs)[len(pairs) // 2]))
        )
    table(f"Time a match with {count:,} gotchas", ("situations", "median", "slowest 5 %", "plain FTS5 BM25", "ratio"), rows)


class _Any(dict[str, str]):
    """Keys of the labelled set; any other id is its own key."""

    def __missing__(self, key: str) -> str:
        return key


if __name__ == "__main__":
    sys.exit(run("bench_matching", body))
