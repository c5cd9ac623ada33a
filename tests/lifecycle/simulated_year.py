"""A year of a memory on three replicas, and a plain model of what has to come of it.

The model knows the formulas from the documentation alone: it shares no code with the product.
"""

import random
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gitmem.app import App
from gitmem.clock import stamp
from gitmem.records.record import Record
from gitmem.services.records import write
from gitmem.store import operations, sync
from gitmem.store.store import Message
from gitmem.worker.consolidation import Consolidation
from tests.lifecycle.memories import opened
from tests.two_people import ANA, BOB, clone, git

HOUR, DAY, WEEK = 3600, 86400, 7 * 86400
BEGIN = 1_735_689_600 + 5 * DAY  # Monday, 2025-01-06
WORK = range(9, 17)  # hours of a day
HOLIDAYS = (range(29, 32), range(50, 52))  # weeks
FLEETING = ("fact", "insight", "context", "bug")
PERMANENT = ("decision", "rule", "pattern", "preference")
NAMESPACES = [f"agent-{number}" for number in range(12)]
SYLLABLES = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]


class Size(NamedTuple):
    """How much happens: weeks, facts in all, reads in all."""

    weeks: int
    facts: int
    reads: int


class ModelFact:
    """What the model knows of a fact."""

    def __init__(self, record: Record, *, vouched: bool) -> None:
        self.id = record.id
        self.type = str(record.get("type"))
        self.created = BEGIN + 0.0
        self.importance = float(record.get("importance"))
        self.rate = float(record.get("decay_rate"))
        self.vouched = vouched
        self.pinned = record.status == "pinned"
        self.places = {place(source) for source in record.get("sources") or ()}
        self.statement = record.title.rstrip(".")
        self.reads = 0
        self.read = 0.0
        self.state = "live"

    @property
    def level(self) -> int:
        """0 insight, 1 pattern, 2 rule: by distinct sessions, a rule only if a person said it."""
        most = 2 if self.vouched else 1
        return min(max(0, len(self.places) - 1), most)

    def score(self, now: float, hours: Iterable[int]) -> float:
        """Importance and bonus, times rate to the power of the active hours since the last access."""
        base = min(10.0, self.importance + (0, 2, 3)[self.level])
        if self.pinned or self.level == 2:
            return base
        since = max(self.created, self.read)
        passed = sum(int(since // HOUR) < hour <= int(now // HOUR) for hour in hours)
        return base * min(0.999, self.rate + 0.001 * self.reads) ** passed

    def may_go(self, now: float, hours: Iterable[int]) -> bool:
        """Only what nobody vouches for, of a type that age takes, and below 1."""
        is_kept = self.pinned or self.vouched or self.level == 2 or self.type not in FLEETING
        return not is_kept and self.score(now, hours) < 1.0


def place(source: dict[str, Any]) -> str:
    """Return the session of a source."""
    return str(source["session"])


class Year:
    """Three replicas that work, read, and sync once a week; whoever's turn it is consolidates."""

    def __init__(self, folder: Path, size: Size, seed: int) -> None:
        self.size = size
        self.rng = random.Random(seed)
        self.hours: set[int] = set()
        self.facts: dict[str, ModelFact] = {}
        self.planted: list[tuple[str, str]] = []  # contradictions: older, newer
        self.health: list[tuple[float, float, float]] = []  # time, before and after the tidying
        self.collected = self.merged = 0
        hub = folder / "hub.git"
        subprocess.run(["git", "init", "-q", "--bare", str(hub)], check=True)
        people = (ANA, BOB, "Cleo <cleo@example.org>")
        self.clones = [clone(folder / name[:3], name, hub) for name in people]
        self.words = ["".join(self.rng.choices(SYLLABLES, k=3)) for _ in range(6000)]
        self.number = 0

    def run(self) -> None:
        """Live the year."""
        for week in range(self.size.weeks):
            begin = BEGIN + week * WEEK
            if not any(week in holiday for holiday in HOLIDAYS):
                for day in range(5):
                    for repo in self.clones:
                        self.work(repo, begin + day * DAY)
            self.end_week(week, begin + 6 * DAY + 12 * HOUR)

    @contextmanager
    def _writing(self, repo: Path, at: float) -> Iterator[App]:
        """Open a replica to write; this makes the hour an active one."""
        self.hours.add(int(at // HOUR))
        with opened(repo, at) as app:
            yield app

    def work(self, repo: Path, day: float) -> None:
        """Write and read for a day."""
        times = [day + hour * HOUR for hour in WORK]
        self.hours.update(int(time // HOUR) for time in times)
        days = self.size.weeks * 5 * len(self.clones)
        with self._writing(repo, times[0] + 60) as app:
            app.state.add_active_hours(times)
            made = [self.fact(app) for _ in range(round(self.size.facts / days))]
            todo = [operations.put(record) for record in made]
            app.store().write(todo, Message("a day", "add", tuple(one.id for one in made)))
            here = {row["id"] for row in app.rows(fields=("id",))}
            live = [one for one in self.facts.values() if one.id in here and one.state == "live"]
            for time in times:
                ids = self.rng.sample(live, min(len(live), round(self.size.reads / days / 8)))
                app.state.add_reads("shared", [one.id for one in ids], stamp(time + 300))
                for one in ids:
                    one.reads, one.read = one.reads + 1, max(one.read, time + 300)

    def fact(self, app: App) -> Record:
        """Make a fact: mostly an agent's, at times a person's, a pinned, a double or a correction."""
        draw, now = self.rng.random(), app.clock.now()
        title = self.title()
        is_person = self.rng.random() < 0.2
        if draw < 0.03 and self.facts:
            title = f"{self.rng.choice(list(self.facts.values())).statement}."
        subject = ""
        if 0.03 <= draw < 0.04:
            subject = f"The {self.words[self.rng.randrange(6000)]} timeout of {title.split()[1]}"
            title = f"{subject} is 30 seconds"
        record = self.record(app, title, is_person=is_person)
        if subject:
            older = self.record(app, f"{subject} is 90 seconds", is_person=True)
            app.store().write([operations.put(older)], Message("older", "add", (older.id,)))
            self.note(older, now, vouched=True)
            self.planted.append((older.id, record.id))
        self.note(record, now, vouched=is_person)
        return record

    def note(self, record: Record, now: float, *, vouched: bool) -> None:
        """Tell the model of a fact."""
        one = ModelFact(record, vouched=vouched)
        one.created = float(int(now))
        self.facts[record.id] = one

    def title(self) -> str:
        """Return a statement that nobody made before."""
        self.number += 1
        some = self.rng.sample(self.words, 5)
        return f"Module {some[0]} {some[1]} calls {some[2]} {some[3]} {some[4]}{self.number}"

    def record(self, app: App, title: str, *, is_person: bool) -> Record:
        """Return a new fact of a random type, with where it was seen."""
        rng = self.rng
        who = app.writer()._replace(program="" if is_person else "claude")
        type_ = rng.choice(FLEETING if rng.random() < 0.7 else PERMANENT)
        sources = [
            {
                "session": f"s{rng.randrange(10**9)}",
                "role": rng.choice(("agent", "agent", "agent", "user")),
                "at": app.clock.stamp(),
            }
            for _ in range(rng.choice((1, 1, 1, 1, 2, 3, 4)))
        ]
        made = write.draft(
            who,
            "memory",
            title,
            type=type_,
            importance=rng.randint(2, 9),
            status="pinned" if rng.random() < 0.03 else None,
        ).change(sources=sources, agent=None)
        return made.change(tags=[rng.choice(NAMESPACES)])

    def end_week(self, week: int, at: float) -> None:
        """Write what takes the reads along, sync all, let one tidy, and sync again."""
        for repo in self.clones:
            with self._writing(repo, at) as app:
                note = self.record(app, self.title(), is_person=True).change(type="decision")
                app.store().write([operations.put(note)], Message("week", "add", (note.id,)))
                self.note(note, at, vouched=True)
        self.sync(at + 60)
        chosen = self.clones[week % len(self.clones)]
        with opened(chosen, at + 120) as app:
            self.tidy(app, at + 120)
        self.sync(at + 180)

    def sync(self, at: float) -> None:
        """Exchange until all have everything."""
        for repo in (*self.clones, *self.clones[:-1]):
            with opened(repo, at) as app:
                sync.sync(app.store(), app.remote("origin"), push=True)

    def tidy(self, app: App, at: float) -> None:
        """Consolidate, and hold what it did to the model."""
        app.is_background = True
        work = Consolidation(app, ("shared",))
        before = float(work.run("health").lines[0])
        gone = set(work.run("collect").ids)
        expected = {one.id for one in self.live() if one.may_go(at, self.hours)}
        assert gone == expected, (gone ^ expected, at)
        for id in gone:
            self.facts[id].state = "collected"
        merged = set(work.run("merge").ids)
        assert merged == self.merge()
        self.collected += len(gone)
        self.merged += len(merged)
        self.health.append((at, before, float(work.run("health").lines[0])))

    def live(self) -> list[ModelFact]:
        """Return the facts that hold."""
        return [one for one in self.facts.values() if one.state == "live"]

    def merge(self) -> set[str]:
        """Merge what says the same: pinned, vouched for, permanent, oldest stays."""
        groups: dict[str, list[ModelFact]] = {}
        for one in self.live():
            groups.setdefault(one.statement, []).append(one)
        out = set()
        for some in groups.values():
            some.sort(
                key=lambda f: (
                    not f.vouched,
                    not f.pinned,
                    f.type not in PERMANENT,
                    f.created,
                    f.id,
                )
            )
            for other in some[1:]:
                if other.vouched or not some[0].vouched:
                    some[0].places |= other.places
                other.state = "merged"
                out.add(other.id)
        return out

    def tips(self) -> Counter[str]:
        """Return the commits that the replicas are at."""
        return Counter(git(repo, "rev-parse", "refs/gitmem/heads/main") for repo in self.clones)
