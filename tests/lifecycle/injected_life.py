"""The life of a project, and what the start of a session tells at each point of it.

Each fact is about a topic and has a value of it; the life knows which value holds. A told fact is
*stale* if its topic has another value by now, *contradicted* if that value is told beside it, and
*doubled* if the same was told before it. What is told with a mark that says
so (*contradicts*, *may be out of date*) is counted apart: whoever reads it is warned.
"""

import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.command_line import run_command
from tests.conftest import git
from tests.lifecycle.memories import AGENT
from tests.two_people import hook

PAIRS = Path(__file__).with_name("pairs")
# a second wording of the same, as another session puts it
DOUBLES = (
    ("Webhook handlers must be idempotent", "webhook handlers have to be idempotent"),
    ("Retry payments three times", "Payments are retried 3 times"),
    ("Never commit generated files", "Do not commit generated files"),
    ("Run the tests with make test", "Tests are run with `make test`"),
    ("We log requests as JSON", "Requests are logged as JSON"),
    ("Migrations run before each deploy", "Run migrations before deploys"),
    ("Cache responses for ten minutes", "Responses are cached for 10 minutes"),
    ("Sessions are kept in a signed cookie", "We keep sessions in a signed cookie."),
    ("Use UTC for all timestamps", "All timestamps use UTC"),
    ("Feature flags are read at start", "Flags of features are read on startup"),
)
# what a file of the code says, a fact about it, and what the file says later
CODE = (
    ("Makefile", "check:\n\ttrue\n", "Run `make check` before a push", "verify:\n\ttrue\n"),
    ("scripts/seed.py", "print(1)\n", "Fill the database with scripts/seed.py", None),
    ("requirements.txt", "celery==5.3\n", "Background jobs run on Celery", "arq==0.26\n"),
    (
        "app/billing.py",
        "class InvoiceMailer:\n    x = 1\n",
        "InvoiceMailer sends the bills",
        "x = 1\n",
    ),
    ("docker/dev.yml", "a: 1\n", "Start the services with docker/dev.yml", None),
)
_ID = re.compile(r"\[[^\]\n]*?\b([0-9a-z]{8})\]([^\n]*)")


def pairs(name: str) -> list[dict[str, Any]]:
    """Return pairs of facts, of which some contradict each other."""
    text = (PAIRS / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Told(NamedTuple):
    """What the start of one session told: facts in all, and those that were wrong."""

    facts: int
    stale: int
    doubled: int
    contradicted: int
    marked: int

    @property
    def wrong(self) -> int:
        """How many facts were wrong and had no mark."""
        return self.stale + self.doubled + self.contradicted


class Event(NamedTuple):
    """One thing that happens: somebody says a value of a topic, or a file changes."""

    topic: str
    value: str
    title: str = ""
    by: str = "person"
    file: str = ""
    text: str | None = None
    supersedes: str = ""  # the value whose fact is replaced by command


class Life:
    """A project that lives some sessions long; `keeps_true` has it checked and tidied."""

    def __init__(self, repo: Path, seed: int, stable: int, *, keeps_true: bool) -> None:
        self.repo = repo
        self.keeps_true = keeps_true
        self.rng = random.Random(seed)
        self.current: dict[str, str] = {}
        self.facts: dict[str, tuple[str, str]] = {}  # end of an id -> topic and value
        self.by_value: dict[tuple[str, str], str] = {}
        if not keeps_true:
            git(repo, "config", "gitmem.consolidate", "false")
        self.events = self._events(stable)

    def _events(self, stable: int) -> list[Event]:
        """Return what happens, in an order that is the same for a seed."""
        changes = [row for row in pairs("held_back") if row["contradicts"]]
        others = [*pairs("held_back"), *pairs("tuned")]
        lasting = [row["first"] for row in others if not row["contradicts"]]
        self.rng.shuffle(changes)
        self.rng.shuffle(lasting)
        timed: list[tuple[float, Event]] = []

        def add(at: float, event: Event) -> None:
            timed.append((at, event))

        for number, row in enumerate(changes[: stable // 6]):
            topic, at, by = f"change {number}", self.rng.random() * 0.7, self._speaker()
            replaced = "old" if number % 2 else ""  # half of them by command, as careful people do
            add(at, Event(topic, "old", row["first"], by))
            add(at + 0.25, Event(topic, "new", row["second"], "person", supersedes=replaced))
        for number, title in enumerate(lasting[:stable]):
            add(self.rng.random(), Event(f"lasting {number}", "so", title, self._speaker()))
        for number, (first, second) in enumerate(DOUBLES):
            at = self.rng.random() * 0.8
            add(at, Event(f"double {number}", "so", first, self._speaker()))
            add(at + 0.1, Event(f"double {number}", "so", second, "agent"))
        for number, (file, before, title, after) in enumerate(CODE):
            at = self.rng.random() * 0.6
            topic = f"code {number}"
            add(at - 1, Event(topic, "", file=file, text=before))
            add(at, Event(topic, "so", title, self._speaker()))
            add(at + 0.2, Event(topic, "gone", file=file, text=after))
        return [event for _, event in sorted(timed, key=lambda pair: pair[0])]

    def _speaker(self) -> str:
        return self.rng.choice(("person", "agent"))

    def run(self, points: int) -> list[Told]:
        """Live; return what was told at so many points."""
        out, step = [], len(self.events) / points
        for point in range(points):
            for event in self.events[round(point * step) : round((point + 1) * step)]:
                self._happen(event)
            if self.keeps_true:
                self._mem("consolidate", "--steps", "collect,check,merge")
            self._mem("drain")
            out.append(self._told(f"session-{point}"))
        return out

    def _mem(self, *args: str, by: str = "person") -> str:
        done = run_command(self.repo, *args, env=AGENT if by == "agent" else None)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _happen(self, event: Event) -> None:
        self.current[event.topic] = event.value
        if event.file:
            path = self.repo / event.file
            path.parent.mkdir(parents=True, exist_ok=True)
            if event.text is None:
                path.unlink()
            else:
                path.write_text(event.text)
            git(self.repo, "add", "-A")
            git(self.repo, "commit", "-qm", f"Change {event.file}")
            return
        old = self.by_value.get((event.topic, event.supersedes))
        command = ["supersede", old, event.title] if old else ["add", event.title, "-t", "decision"]
        data: Any = json.loads(self._mem(*command, "--json", by=event.by))["data"]
        id = str(data["id"])[-8:]
        self.facts[id] = event.topic, event.value
        self.by_value[event.topic, event.value] = id

    def _told(self, session: str) -> Told:
        """Start a session with a budget for all facts; return what it was told."""
        git(self.repo, "config", "gitmem.injectBudget", "6000")
        answer = hook(self.repo, "SessionStart", session_id=session, source="startup")
        seen: set[tuple[str, str]] = set()
        lines = [(id, rest) for id, rest in _ID.findall(answer) if id in self.facts]
        told = {self.facts[id] for id, _ in lines}
        stale = doubled = contradicted = marked = 0
        for id, rest in lines:
            topic, value = self.facts[id]
            is_old = value != self.current[topic]
            is_double = (topic, value) in seen
            seen.add((topic, value))
            if not is_old and not is_double:
                continue
            if "contradicts " in rest or "may be out of date" in rest:
                marked += 1
            elif is_double and not is_old:
                doubled += 1
            else:
                contradicted += (topic, self.current[topic]) in told
                stale += (topic, self.current[topic]) not in told
        return Told(len(lines), stale, doubled, contradicted, marked)


def share(told: list[Told]) -> float:
    """Return which share of the facts that were told was wrong and had no mark."""
    return sum(one.wrong for one in told) / max(1, sum(one.facts for one in told))
