"""What a prompt is answered with, files and facts: prompts about a project, and prompts about anything else.

`python -m tests.benchmarks.bench_silence --repos DIR`: `DIR` has clones of the five projects, with their history, named `flask`, `requests`,
`express`, `fd` and `cobra`, as `git clone` names them. Each prompt is a UserPromptSubmit of a session of its own, as Claude Code sends it, to a cold
`git mem hook claude`. Prompts that are about no project are asked in each project. `--save FILE` keeps the answers, `--before FILE` prints those of
another run beside them, and how many of its useful answers are still there. A prompt is of the half `dev` or `held out` by a hash of its text.
"""

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gitmem.services.records import write
from tests.benchmarks.bench_cli import program
from tests.benchmarks.bench_hook import payload
from tests.benchmarks.common import Bench, Launcher, fill, git, opened, run, table, writer

DATA = Path(__file__).parent / "silence"
PROJECTS = ("flask", "requests", "express", "fd", "cobra")
HALVES = ("dev", "held out")
UNRELATED, KEPT = 0.03, 0.9  # share of unrelated prompts that are answered, of useful answers kept
_FILE = re.compile(r"([^\s;(]+\.[a-z]+)(?: \([^)]*\))?(?:;|$| \(more)")


@dataclass(frozen=True)
class Answer:
    """A prompt in a project, what should be told, and what was told.

    `files` and `facts` are None for a prompt that is about no project.
    """

    project: str
    half: str
    text: str
    files: list[str] | None
    facts: list[str] | None
    named: list[str]
    told: list[str]

    @property
    def names_right(self) -> bool:
        """Whether a file is named that should be."""
        return bool(set(self.files or ()) & set(self.named))

    @property
    def tells_right(self) -> bool:
        """Whether a fact is told that should be."""
        return bool(set(self.facts or ()) & set(self.told))


def read(name: str) -> list[dict[str, Any]]:
    """Return the rows of a data file."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]


def half(text: str) -> str:
    """Return the half that a prompt belongs to."""
    return HALVES[hashlib.sha256(text.encode()).digest()[0] % 2]


def made(bench: Bench, repos: Path, project: str, facts: list[dict[str, Any]]) -> Path:
    """Return a clone with facts and an index of its code."""
    path = bench.fresh(project)
    git(".", "clone", "-q", "--shared", str((repos / project).resolve()), str(path))
    git(path, "config", "gitmem.dna", "off")
    with opened(path) as app:
        who = writer(app)
        fill(
            app.store(),
            [
                write.draft(who, "gotcha", row["title"], row["body"])
                if row["type"] == "gotcha"
                else write.draft(who, "memory", row["title"], row["body"], type=row["type"])
                for row in facts
            ],
        )
        app.index()
    with Launcher(bench.folder) as launcher:
        launcher.run([*program(), "scout", "the code is read"], path)
    return path


def answers(bench: Bench, repos: Path) -> Iterator[Answer]:
    """Ask each prompt where it belongs."""
    facts, useful, unrelated = read("facts"), read("useful"), read("unrelated")
    source = bench.folder / "payload"
    for project in PROJECTS:
        own = [row for row in facts if row["project"] == project]
        path = made(bench, repos, project, own)
        keys = {row["title"]: row["key"] for row in own}
        rows = [row for row in useful if row["project"] == project] + unrelated
        if bench.quick:
            rows = rows[::12]
        with Launcher(bench.folder) as launcher:
            for number, row in enumerate(rows):
                source.write_bytes(
                    payload("UserPromptSubmit", path, f"session-{number}", prompt=row["text"])
                )
                launcher.run([*program(), "hook", "claude"], path, source)
                named, told = parts(launcher.output(), keys)
                yield Answer(
                    project,
                    half(row["text"]),
                    row["text"],
                    row.get("files"),
                    row.get("facts"),
                    named,
                    told,
                )


def parts(output: str, keys: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the files and the facts in a hook's answer."""
    if not output.strip():
        return [], []
    text = json.loads(output)["hookSpecificOutput"]["additionalContext"]
    code = [line for line in text.splitlines() if line.startswith("- [code]")]
    named = _FILE.findall(code[0].partition(" be about ")[2]) if code else []
    told = [key for title, key in keys.items() if title in text]
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(code) + len(told), text
    assert bool(code) == bool(named), code
    return named, told


def share(count: int, of: int) -> str:
    """Return a share as text."""
    return f"{count} of {of}, {100 * count / of:.1f} %" if of else "-"


@dataclass
class Score:
    """Answers of one half, counted: (how many, of how many)."""

    unrelated_files: tuple[int, int]
    unrelated_facts: tuple[int, int]
    right_files: tuple[int, int]
    any_files: tuple[int, int]
    right_facts: tuple[int, int]
    wrong_facts: tuple[int, int]

    @classmethod
    def of(cls, rows: list[Answer]) -> "Score":
        """Count."""
        unrelated = [row for row in rows if row.files is None]
        useful = [row for row in rows if row.files is not None]
        expecting = [row for row in useful if row.facts]
        return cls(
            (sum(bool(row.named) for row in unrelated), len(unrelated)),
            (sum(bool(row.told) for row in unrelated), len(unrelated)),
            (sum(row.names_right for row in useful), len(useful)),
            (sum(bool(row.named) for row in useful), len(useful)),
            (sum(row.tells_right for row in expecting), len(expecting)),
            (sum(bool(set(row.told) - set(row.facts or ())) for row in useful), len(useful)),
        )


LABELS = {
    "unrelated_files": "unrelated prompts: files are named",
    "unrelated_facts": "unrelated prompts: facts are told",
    "any_files": "useful prompts: files are named",
    "right_files": "useful prompts: a right file is named",
    "right_facts": "useful prompts with a fact: it is told",
    "wrong_facts": "useful prompts: another fact is told",
}


def body(bench: Bench, args: argparse.Namespace) -> None:
    """Print a table for each half, beside an earlier run if there is one."""
    lacking = [name for name in PROJECTS if not (args.repos / name).is_dir()]
    if lacking:
        print(f"nothing was measured: {args.repos} has no clone of {', '.join(lacking)}")
        return
    rows = list(answers(bench, args.repos))
    if args.save:
        args.save.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    before = read_answers(args.before) if args.before else {}
    for name in HALVES:
        mine = [row for row in rows if row.half == name]
        report(bench, name, mine, [before[row.project, row.text] for row in mine if before])


def read_answers(path: Path) -> dict[tuple[str, str], Answer]:
    """Return the answers of another run, by project and text."""
    rows = [Answer(**json.loads(line)) for line in path.read_text().splitlines()]
    return {(row.project, row.text): row for row in rows}


def report(bench: Bench, name: str, rows: list[Answer], before: list[Answer]) -> None:
    """Print the table of a half; remember what is over budget."""
    score = asdict(Score.of(rows))
    earlier = [asdict(Score.of(before))] if before else []
    cells = [
        [label, *(share(*old[key]) for old in earlier), share(*score[key])]
        for key, label in LABELS.items()
    ]
    stayed = [row.names_right for was, row in zip(before, rows, strict=False) if was.names_right]
    if stayed:
        said = share(sum(stayed), len(stayed))
        cells.append(["useful answers that stayed", "", said])
        judge(bench, sum(stayed) >= KEPT * len(stayed), f"{name}: {said} stayed")
    head = ["prompts", *("before" for _ in earlier), "now"]
    table(f"Prompts, {name} half", head, cells)
    for key in ("unrelated_files", "unrelated_facts"):
        count, of = score[key]
        judge(bench, count <= UNRELATED * of, f"{name}: {LABELS[key]} {share(count, of)}")


def judge(bench: Bench, good: bool, what: str) -> None:
    """Remember a miss; a quick run is not judged."""
    if not good and not bench.quick:
        bench.missed.append(what)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--repos", type=Path, default=Path())
    parser.add_argument("--save", type=Path)
    parser.add_argument("--before", type=Path)
    mine, rest = parser.parse_known_args()
    sys.exit(run("bench_silence", partial(body, args=mine), rest))
