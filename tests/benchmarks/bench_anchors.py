"""Anchors: how many land right, wrong and adrift on random edits and in histories of repositories, and what placing them costs."""

import random
import subprocess
import sys
from collections import Counter
from difflib import SequenceMatcher

from gitmem.codemap.anchors import block_map
from gitmem.codemap.anchors.resolve import attach, place
from gitmem.codemap.linemap.line_map import LineMap
from tests.benchmarks.common import Bench, alternate, ms, run, table, times
from tests.codemap import edits, truth
from tests.codemap.conftest import Tree
from tests.codemap.edits import EDITS, marked

SEED = 2_026
LINES = 10_000
ANCHORS = 1_000
# times one bare difflib of the same two texts: it knows no moves, renames and repeated lines
BUDGET = 12.0
# times one bare difflib, for a hundred anchors on a line that is there two thousand times
EQUAL = 80.0
WRONG, RIGHT = 0.5, 95.0  # percent


def row(name: str, counts: Counter[str]) -> list[str]:
    """Return a line of a table of results."""
    right, wrong = truth.rates(counts)
    return [
        name,
        f"{sum(counts.values()):,}",
        f"{right:.2f} %",
        f"{wrong:.2f} %",
        str(counts["adrift"]),
        str(counts["gone"]),
    ]


HEAD = [
    "edit",
    "anchors",
    "right, of lines that exist",
    "wrong, of all",
    "adrift",
    "gone, and said so",
]


def random_edits(bench: Bench) -> None:
    """Count by kind of edit, with the old text and by memory alone."""
    count = bench.size(6_000, 360)
    for with_text, title in (
        (True, "Random edits, placed by the anchored text"),
        (False, "The same, placed by the remembered lines alone"),
    ):
        kinds: dict[str, Counter[str]] = {}
        for case in truth.cases(SEED, count):
            kinds.setdefault(case.kind, Counter())[
                truth.judge(truth.run(case, with_text), case)
            ] += 1
        every = sum(kinds.values(), Counter[str]())
        table(
            title, HEAD, [row(kind, counts) for kind, counts in kinds.items()] + [row("all", every)]
        )
        if with_text:
            judge(bench, "random edits", every)


def judge(bench: Bench, what: str, counts: Counter[str]) -> None:
    """Remember what misses its budget."""
    right, wrong = truth.rates(counts)
    bench.verdict(f"{what}: wrong, percent", wrong, WRONG)
    bench.verdict(f"{what}: not right, percent", 100 - right, 100 - RIGHT)


def histories(bench: Bench) -> None:
    """Count in repositories whose files are edited, renamed and split, commit by commit."""
    rows, every = [], Counter[str]()
    for steps in (1, 2, 4, 8):
        counts = Counter[str]()
        for seed in range(bench.size(20, 2)):
            path = bench.fresh(f"history-{steps}-{seed}")
            subprocess.run(["git", "init", "-q", str(path)], check=True)
            counts += truth.history(Tree(path), SEED + seed, steps)
        rows.append(row(f"{steps} commit{'s' if steps > 1 else ''}", counts))
        every += counts
    table(
        "Histories of repositories: three files, 36 anchors each; files are renamed and split too",
        HEAD,
        [*rows, row("all", every)],
    )


def cost(bench: Bench) -> None:
    """Time a thousand anchors in a file of ten thousand lines against one bare difflib of the two texts."""
    rows = []
    for name in ("insert lines", "several edits", "reformat"):
        r = random.Random(SEED)
        old = edits.python(r, LINES)[:LINES]
        text = marked(old)
        for _ in range({"insert lines": 20, "several edits": 60, "reformat": 1}[name]):
            kind = (
                name
                if name in EDITS
                else r.choice([k for k in EDITS if k not in {"reformat", "rename"}])
            )
            text = EDITS[kind](r, text, r.randrange(LINES))
        new = [x.text for x in text]
        whole = "\n".join(old)
        marks = r.sample([n for n, x in enumerate(old) if x.strip()], ANCHORS)
        anchors = [
            attach({"path": "a.py", "lines": [n + 1, n + 1]}, whole, "0" * 40) for n in marks
        ]

        def ours(
            anchors: list[dict[str, object]] = anchors, old: list[str] = old, new: list[str] = new
        ) -> None:
            block_map._maps = []
            for anchor in anchors:
                place(anchor, new, old=old)

        def naive(old: list[str] = old, new: list[str] = new) -> None:
            SequenceMatcher(None, old, new).get_opcodes()

        pairs = alternate(ours, naive, bench.times(5, 2))
        first = alternate(lambda old=old, new=new: LineMap(old, new), naive, bench.times(3, 1))  # type: ignore[misc]
        rows.append(
            [
                name,
                f"{len(new):,}",
                ms(first.left),
                ms(pairs.left),
                ms(pairs.right),
                times(pairs.ratio),
                bench.verdict(f"1,000 anchors, {name}", pairs.ratio, BUDGET),
            ]
        )
    table(
        f"{ANCHORS:,} anchors in {LINES:,} lines",
        [
            "change",
            "lines",
            "map of the texts",
            "map and anchors",
            "difflib once",
            "ratio",
            "budget",
        ],
        rows,
    )


def equal_lines(bench: Bench) -> None:
    """Time anchors that repeat two thousand times in a file of ten thousand lines, without the old text, against one bare difflib."""
    old = [
        f"    value_{n} = compute({n % 97}, name_{n * 7 % 1009})" if n % 5 else "}"
        for n in range(LINES)
    ]
    new = old[: LINES // 3] + ["# new"] * 40 + old[LINES // 3 :]
    whole = "\n".join(old)

    def attached() -> list[dict[str, object]]:
        return [
            attach({"path": "x.txt", "lines": [n * 10 + 1] * 2}, whole, "0" * 40)
            for n in range(100)
        ]

    anchors = attached()

    def placed() -> None:
        for anchor in anchors:
            place(anchor, new)

    def naive() -> None:
        SequenceMatcher(None, old, new).get_opcodes()

    rows = []
    for name, ours in (("attach 100", attached), ("place 100 by memory", placed)):
        pairs = alternate(ours, naive, bench.times(5, 2))
        verdict = bench.verdict(f"2,000 equal lines, {name}", pairs.ratio, EQUAL)
        rows.append([name, ms(pairs.left), ms(pairs.right), times(pairs.ratio), verdict])
    table(
        f"2,000 equal lines of {LINES:,}", ["work", "time", "difflib once", "ratio", "budget"], rows
    )


def main(bench: Bench) -> None:
    """Print all tables."""
    random_edits(bench)
    histories(bench)
    cost(bench)
    equal_lines(bench)


if __name__ == "__main__":
    sys.exit(run("bench_anchors", main))
