"""The labelled set: stores of gotchas, situations with the gotchas that they call for, and how well an answer does.

A store is a folder. Its `gotchas.jsonl` has one gotcha a line; its `error` is an output, the store gets its pattern.
Its `situations.jsonl` has a text, files or an error each, and in `expect` the keys of the gotchas that should be told,
none for silence. A situation is in the half `dev` or `held out` by a hash of what it says: rules are tuned on `dev`
alone.
The store `rails` is all `held out`: its situations were written before the rules were read, and nothing was tuned on any.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitmem.clock import seconds, stamp, ulid
from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.index.reader import Index
from gitmem.records.record import Record, make
from gitmem.services.retrieval.matcher import Match, best, find
from gitmem.services.retrieval.task import Task

HERE = Path(__file__).parent
NOW = seconds("2025-06-01T00:00:00Z")
HALVES = ("dev", "held out")
# 10, 40, 133, 148 gotchas; 40 in each of the last
STORES = ("firmware", "mobile", "monorepo", "platform", "pipeline", "engine", "rails")
JUDGES = ("rails",)  # stores of which no situation is of the half `dev`


def match(
    indexes: Index | Sequence[Index],
    task: Task,
    root: str,
    cwd: str,
    agents: Sequence[str],
    now: float,
    snoozed: Collection[str] = (),
    *,
    unconfirmed: bool = True,
    most: int = 5,
) -> list[Match]:
    """Return the gotchas that a task calls for, best first."""
    found: list[Match] = []
    for index in indexes if isinstance(indexes, (list, tuple)) else (indexes,):
        found += find(index, task, root, cwd, agents, now, ("gotcha",))
    return best(found, snoozed, unconfirmed=unconfirmed, most=most)


@dataclass(frozen=True)
class Situation:
    """What somebody is about to do, and the gotchas that should be told."""

    kind: str
    expect: tuple[str, ...]
    text: str = ""
    files: tuple[str, ...] = ()
    error: str = ""
    judges: bool = False

    @property
    def half(self) -> str:
        """Return `dev` or `held out`; a changed text is another draw."""
        if self.judges:
            return "held out"
        said = json.dumps([self.text, self.files, self.error]).encode()
        return HALVES[hashlib.sha256(said).digest()[0] & 1]

    @property
    def task(self) -> Task:
        """Return it as the product is asked."""
        return Task(self.text, self.files, self.error)


def situations(store: str) -> list[Situation]:
    """Return all situations of a store."""
    rows = (
        json.loads(line)
        for line in (HERE / store / "situations.jsonl").read_text("utf-8").splitlines()
    )
    judges = store in JUDGES
    return [
        Situation(
            r["kind"],
            tuple(r["expect"]),
            r.get("text", ""),
            tuple(r.get("files", ())),
            r.get("error", ""),
            judges,
        )
        for r in rows
    ]


def gotchas(store: str) -> dict[str, Record]:
    """Return the gotchas of a store by key, as records; the newest is a day old, the oldest four months."""
    out = {}
    for number, line in enumerate((HERE / store / "gotchas.jsonl").read_text("utf-8").splitlines()):
        row = json.loads(line)
        at = NOW - 86400.0 * (1 + number * 7 % 120)
        fields: dict[str, Any] = {
            key: row[key] for key in ("category", "severity", "workaround", "tags")
        }
        fields["anchors"] = [anchor(spec) for spec in row["anchors"]]
        if "error" in row:
            mark = fingerprint(row["error"])
            assert mark is not None, row["key"]
            fields["triggers"] = {"error": mark.pattern}
        id = f"got-{ulid(at, hashlib.sha256(row['key'].encode()).digest()[:10])}"
        when = {
            "created": stamp(at),
            "updated": stamp(at),
            "first_seen": stamp(at),
            "last_seen": stamp(at),
        }
        out[row["key"]] = make(
            "gotcha",
            id,
            row["title"],
            row.get("body", ""),
            rev=1,
            author="Ada <ada@example.org>",
            **when,
            **fields,
        )
    return out


def anchor(spec: str) -> dict[str, Any]:
    """Return the anchor of `path`, `path:12`, `path:12-20`, `path#Symbol` or a glob."""
    if any(c in spec for c in "*?"):
        return {"glob": spec}
    found = re.fullmatch(r"([^:#]+)(?::(\d+)(?:-(\d+))?)?(?:#(.+))?", spec)
    assert found, spec
    out: dict[str, Any] = {"path": found[1]}
    if found[2]:
        out["lines"] = [int(found[2]), int(found[3] or found[2])]
    if found[4]:
        out["symbol"] = found[4]
    return out


@dataclass
class Tally:
    """How answers did: each gotcha told is right or wrong, each that was expected is found or missed."""

    right: int = 0
    wrong: int = 0
    expected: int = 0
    ranks: list[float] = field(default_factory=list)
    silent: list[bool] = field(default_factory=list)
    situations: int = 0

    def add(self, expect: Sequence[str], told: Sequence[str]) -> None:
        """Count one answer."""
        self.situations += 1
        self.right += len(set(told) & set(expect))
        self.wrong += len(set(told) - set(expect))
        self.expected += len(expect)
        if expect:
            first = next((at for at, key in enumerate(told) if key in expect), None)
            self.ranks.append(0.0 if first is None else 1 / (first + 1))
        else:
            self.silent.append(not told)

    @property
    def precision(self) -> float:
        """Of what was told, the part that was expected."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Of what was expected, the part that was told."""
        return self.right / self.expected if self.expected else 1.0

    @property
    def f1(self) -> float:
        """Precision and recall in one figure."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def mrr(self) -> float:
        """The mean of one through the rank of the first right one."""
        return sum(self.ranks) / len(self.ranks) if self.ranks else 1.0

    @property
    def silence(self) -> float:
        """Of the situations that call for nothing, the part that got nothing."""
        return sum(self.silent) / len(self.silent) if self.silent else 1.0

    def cells(self) -> tuple[str, ...]:
        """Return the figures for a table; a dash where there is nothing to count."""
        some, none = bool(self.expected), bool(self.silent)
        return (
            str(self.situations),
            f"{self.precision:.3f}" if self.right + self.wrong else "-",
            f"{self.recall:.3f}" if some else "-",
            f"{self.f1:.3f}" if some else "-",
            f"{self.mrr:.3f}" if some else "-",
            f"{self.silence:.3f}" if none else "-",
        )


Answer = Callable[[Situation], list[str]]


def matcher(index: Index, root: str, keys: dict[str, str]) -> Answer:
    """Return the product's answers, as keys."""
    return lambda s: [keys[m.row["id"]] for m in match(index, s.task, root, root, ("global",), NOW)]


def baseline(index: Index, keys: dict[str, str]) -> Answer:
    """Return what a plain full-text search answers: the best five of all words by BM25."""

    def answer(s: Situation) -> list[str]:
        said = " ".join([s.text, *s.files, s.error])
        return [
            keys[row["id"]]
            for row in index.search(
                said, limit=5, snippets=False, kinds=("gotcha",), resolved=False
            )
        ]

    return answer


def tally(
    answer: Answer, among: Iterable[Situation], into: dict[str, Tally] | None = None
) -> dict[str, Tally]:
    """Return the figures by kind of situation, and of `all`; added to others, where given."""
    out: dict[str, Tally] = {} if into is None else into
    for situation in among:
        told = answer(situation)
        for name in (situation.kind, "all"):
            out.setdefault(name, Tally()).add(situation.expect, told)
    return out
