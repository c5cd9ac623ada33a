"""What offline extraction finds in labelled sessions and plain statements: precision and recall, and what it costs.

`--set DIR` judges another folder of sources of the same form (tests/extraction/README.md), `--show-misses` says what was missed and what was wrong.
"""

import argparse
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gitmem.records.items import KINDS
from tests.benchmarks.common import table
from tests.extraction import render
from tests.extraction.matching import Found, Judged, Tally, judge, total
from tests.extraction.plain_statements import HELD, PlainStatement, plain_statements
from tests.extraction.render import Session

PRECISION, RECALL = 0.75, 0.2  # in sessions by others
HELD_PRECISION, HELD_RECALL = 0.82, 0.66  # of statements that no phrase was written for
PLAIN_PRECISION, PLAIN_RECALL = 0.97, 0.93  # of plain statements
HEAD = ("sessions", "found", "right", "labelled", "hit", "precision", "recall", "detail told")


def found(session: Session) -> list[Found]:
    """Return what the product finds in a session, read from its bytes."""
    from gitmem.extraction.extractor import extract
    from gitmem.transcripts.reader import read

    turns = list(read(io.BytesIO(session.data), session.name))
    return [Found(item.kind, item.text, item.detail) for item in extract(turns).items]


def results(sessions: list[Session]) -> list[tuple[Session, Judged]]:
    """Judge each session."""
    return [(session, judge(session.labels, found(session))) for session in sessions]


def by_kind(judged: list[tuple[Session, Judged]]) -> dict[str, Tally]:
    """Return what each kind counts over all sessions."""
    return {
        kind: total(one.kinds[kind] for _, one in judged if kind in one.kinds) for kind in KINDS
    }


def group(
    judged: list[tuple[Session, Judged]], key: Callable[[Session], str]
) -> dict[str, tuple[int, Tally]]:
    """Return how many sessions a language or a format has, and what they count."""
    out: dict[str, tuple[int, Tally]] = {}
    for session, one in judged:
        count, sofar = out.get(key(session), (0, Tally()))
        out[key(session)] = count + 1, total([sofar, *one.kinds.values()])
    return dict(sorted(out.items()))


def row(name: str, count: int, tally: Tally) -> tuple[str, ...]:
    """Return a line of the table."""
    told = f"{tally.told}/{tally.details}"
    cells = (count, tally.found, tally.right, tally.labelled, tally.hit)
    return (name, *map(str, cells), f"{tally.precision:.2f}", f"{tally.recall:.2f}", told)


def show(judged: list[tuple[Session, Judged]]) -> None:
    """Say what was missed and what was wrong, session by session."""
    for session, one in judged:
        if one.missed or one.wrong:
            print(f"\n{session.id}")
        for label in one.missed:
            print(
                f"  missed {'/'.join(label.kinds)}: {label.text}"
                + (f" => {label.detail}" if label.detail else "")
            )
        for item in one.wrong:
            print(
                f"  wrong  {item.kind}: {item.text}" + (f" => {item.detail}" if item.detail else "")
            )


def show_statements(judged: list[tuple[PlainStatement, Judged]]) -> None:
    """Say which plain statements were missed, and what was wrong."""
    for statement, one in judged:
        for label in one.missed:
            print(f"  missed {label.kinds[0]}: {statement.text}")
        for item in one.wrong:
            print(f"  wrong  {item.kind}: {item.text}")


def plain_rows(judged: list[tuple[PlainStatement, Judged]]) -> list[tuple[str, ...]]:
    """Return a line of the table for each language, and one for all."""
    rows = []
    for language in sorted({statement.language for statement, _ in judged}):
        mine = [one for statement, one in judged if statement.language == language]
        tallies = [tally for one in mine for tally in one.kinds.values()]
        rows.append(row(language, len(mine), total(tallies)))
    every = total(tally for _, one in judged for tally in one.kinds.values())
    return [*rows, row("all", len(judged), every)]


def main() -> int:
    """Print the tables; return 1 when a kind is below its floor."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.bench_extraction", description=__doc__
    )
    parser.add_argument(
        "--set", metavar="DIR", type=Path, default=render.HERE, help="the folder of sources"
    )
    parser.add_argument(
        "--show-misses", action="store_true", help="say what was missed and what was wrong"
    )
    parser.add_argument(
        "--only", metavar="NAME", default="", help="sessions whose name has this in it"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="accepted as by all benchmarks; the whole set takes seconds",
    )
    parser.add_argument(
        "--keep", metavar="DIR", help="accepted as by all benchmarks; nothing is stored"
    )
    args = parser.parse_args()
    try:
        sessions = [session for session in render.load(args.set) if args.only in session.id]
    except (ValueError, OSError, KeyError) as trouble:
        parser.error(f"{args.set}: {trouble}")
    if not sessions:
        parser.error(
            f"no session of {args.set} is called {args.only!r}"
            if args.only
            else f"{args.set} has no session (*.txt)"
        )
    began = time.perf_counter()
    judged = results(sessions)
    took = time.perf_counter() - began
    kinds = by_kind(judged)
    everything = row("all", len(judged), total(kinds.values()))
    rows = [
        row(kind, sum(kind in one.kinds for _, one in judged), tally)
        for kind, tally in kinds.items()
    ]
    table("Offline extraction, by kind", ("kind", *HEAD), [*rows, everything])
    for name, key in (("language", lambda one: one.language), ("format", lambda one: one.format)):
        parts = [row(part, count, tally) for part, (count, tally) in group(judged, key).items()]
        table(f"Offline extraction, by {name}", (name, *HEAD), parts)
    size = sum(len(session.data) for session in sessions)
    print(f"{len(sessions)} sessions, {size / 1e6:.1f} MB, in {took:.2f} s")
    if args.show_misses:
        show(judged)
    statements = [(one, one.judged()) for one in plain_statements()]
    table("Plain statements, by language", ("language", *HEAD), plain_rows(statements))
    held = [(one, one.judged()) for one in plain_statements(HELD)]
    table("Of these held back, by language", ("language", *HEAD), plain_rows(held))
    if args.show_misses:
        show_statements(statements)
    return report_floors(total(kinds.values()), statements, held)


def report_floors(
    others: Tally,
    statements: list[tuple[PlainStatement, Judged]],
    held: list[tuple[PlainStatement, Judged]],
) -> int:
    """Say whether the figures are above their floors; return 1 when one is not."""
    plain = total(tally for _, one in statements for tally in one.kinds.values())
    unseen = total(tally for _, one in held for tally in one.kinds.values())
    floors = (
        ("sessions: precision", others.precision, PRECISION),
        ("sessions: recall", others.recall, RECALL),
        ("plain statements: precision", plain.precision, PLAIN_PRECISION),
        ("plain statements: recall", plain.recall, PLAIN_RECALL),
        ("held back: precision", unseen.precision, HELD_PRECISION),
        ("held back: recall", unseen.recall, HELD_RECALL),
    )
    low = [f"{name} {figure:.2f} < {floor}" for name, figure, floor in floors if figure < floor]
    print(f"below its floor: {', '.join(low)}" if low else "all floors are kept")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
