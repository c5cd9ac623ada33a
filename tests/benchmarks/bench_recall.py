"""What search finds of what answers a question: recall@10 and MRR, with the time of a question.

Our own set (304 questions on two conversations) in five styles of titles, and any set in a JSON file:
`python -m tests.benchmarks.bench_recall --set FILE [--any]` (see `tests/index/recall_sets.py`).
"""

import argparse
import sys
import time
from functools import partial

from tests.benchmarks.common import Bench, new_repo, opened, run, table
from tests.index.recall_sets import fill, read, recall, talks

STYLES = ("begin", "author", "said", "speaker", "own")


def body(bench: Bench, given: str = "", any_of: bool = False) -> None:
    """Print a row for each style."""
    turns, questions = read(given) if given else talks()
    rows = []
    for style in STYLES if not given or any(turn.who for turn in turns) else ("begin", "own"):
        with opened(new_repo(bench.fresh(style))) as app:
            ids = fill(app.store(), turns, style)
            index = app.index()
            recall(index, ids, questions[:20])
            start = time.perf_counter()
            share, rank = recall(index, ids, questions, any_of=any_of)
            took = (time.perf_counter() - start) / len(questions)
        rows.append([style, f"{100 * share:.1f} %", f"{rank:.3f}", f"{1000 * took:.2f} ms"])
    table(
        f"{len(questions)} questions, {len(turns)} records",
        ["title", "recall@10", "MRR", "a question"],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--set", default="")
    parser.add_argument("--any", action="store_true")
    mine, rest = parser.parse_known_args()
    sys.exit(run("bench_recall", partial(body, given=mine.set, any_of=mine.any), rest))
