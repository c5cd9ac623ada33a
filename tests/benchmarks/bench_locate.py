"""Which files a task is about, against the files that its fix changed: acc@1, 5, 10 and recall@10.

`python -m tests.benchmarks.bench_locate --rows FILE.jsonl --repos DIR`: each row has `repo`, `base_commit`, `problem_statement`, `gold_files`;
`DIR` has a clone of each repository, named as `repo` with `/` or `__` in it. Without rows, the last commits of this repository serve: their messages
as tasks, and as gold the files, other than tests, that they changed. acc@k counts a row when all its gold files are among the first k.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

from gitmem.app import open_app
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.locate import locate
from gitmem.codemap.search.question import Question
from gitmem.codemap.search.refresh import refresh
from gitmem.errors import GitmemError
from gitmem.text.test_files import is_test
from tests.benchmarks.common import table

MOST = 20


def own_rows(most: int) -> Iterator[dict[str, Any]]:
    """Yield the last commits of this repository as rows."""
    root = str(Path(__file__).parents[2])
    with open_app(root, os.environ) as app:
        history = app.code_history
        for commit, paths in history.with_files(history.ids(history.resolve("HEAD"), most)):
            gold = [
                path
                for path in paths
                if path.endswith(".py")
                and path.startswith(("gitmem/", "lsp/"))
                and not is_test(path)
            ]
            if 0 < len(gold) <= 3 and commit.parents:
                yield {
                    "repo": root,
                    "base_commit": commit.parents[0],
                    "problem_statement": f"{commit.subject}\n\n{commit.body}",
                    "gold_files": gold,
                }


def place_of(repos: Path, name: str) -> Path:
    """Return the clone of a repository."""
    for one in (
        Path(name),
        repos / name,
        repos / name.replace("/", "__"),
        repos / name.rpartition("/")[2],
    ):
        if one.is_dir():
            return one
    raise SystemExit(f"there is no clone of {name} in {repos}")


def main() -> int:
    """Print the table; return 1 when the goal is missed on given rows."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.bench_locate", description=__doc__
    )
    parser.add_argument("--rows", type=Path, help="a JSONL file")
    parser.add_argument("--repos", type=Path, default=Path())
    parser.add_argument("--limit", type=int, default=0, help="rows at most")
    parser.add_argument(
        "--goal", type=float, default=0.0, help="acc@10 in percent, below which the exit code is 1"
    )
    parser.add_argument(
        "--misses", action="store_true", help="print the rows whose gold is not among the first ten"
    )
    parser.add_argument("--quick", action="store_true", help="ten rows")
    parser.add_argument("--keep", help="not used: it is taken for run_all")
    args = parser.parse_args()
    rows = (
        [json.loads(line) for line in args.rows.read_text().splitlines() if line.strip()]
        if args.rows
        else list(own_rows(400))
    )
    rows = rows[: 10 if args.quick else args.limit or len(rows)]
    rows.sort(key=lambda row: row["repo"])
    hits = {1: 0, 5: 0, 10: 0}
    recall, asked, made = list[float](), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as scratch:
        open_: Any = None
        last = ""
        for number, row in enumerate(rows):
            if row["repo"] != last:
                if open_ is not None:
                    open_[1].close()
                    open_[0].close()
                last = row["repo"]
                app = open_app(str(place_of(args.repos, last)), os.environ)
                folder = os.path.join(scratch, str(number))
                os.mkdir(folder)
                app.code_map.cache.path = os.path.join(folder, "codemap.db")
                open_ = app, SearchIndex(folder)
            app, index = open_
            begun = time.perf_counter()
            try:
                refresh(
                    index, app.code_map, app.code_map.graph(row["base_commit"]), app.code_history
                )
            except GitmemError as error:
                print(f"{row['repo']} {row['base_commit']}: {error}", file=sys.stderr)
                continue
            made.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            found = [
                one.path
                for one in locate(index, Question(row["problem_statement"]), MOST * 2)
                if not one.aside
            ][:MOST]
            asked.append(time.perf_counter() - begun)
            gold = set(row["gold_files"])
            for k in hits:
                hits[k] += gold <= set(found[:k])
            recall.append(len(gold & set(found[:10])) / len(gold))
            if args.misses and not gold <= set(found[:10]):
                print(
                    row["repo"],
                    row["base_commit"][:8],
                    row["problem_statement"].strip().splitlines()[0][:90],
                    sorted(gold - set(found[:10])),
                    [found.index(path) if path in found else -1 for path in sorted(gold)],
                )
        if open_ is not None:
            open_[1].close()
            open_[0].close()
    count = len(recall)
    if not count:
        print("no rows")
        return 0
    accuracy = {k: 100 * hit / count for k, hit in hits.items()}
    table(
        "Files of a task",
        ["rows", "acc@1", "acc@5", "acc@10", "recall@10", "question (median)", "refresh (mean)"],
        [
            [
                str(count),
                *(f"{accuracy[k]:.1f} %" for k in hits),
                f"{100 * mean(recall):.1f} %",
                f"{median(asked) * 1000:.1f} ms",
                f"{mean(made):.2f} s",
            ]
        ],
    )
    return int(accuracy[10] < args.goal)


if __name__ == "__main__":
    raise SystemExit(main())
