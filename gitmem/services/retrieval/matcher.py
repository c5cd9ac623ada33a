"""What a task calls for: the records that it is surely about, ranked, each with the reasons why.

None when none fits.

The signals, in this order: the task names a record's id; a record is anchored at a file of the
task, waits for the error that it shows, has its title in the task, is about a file beside one of
its files, says in words what the task says. How a word counts: by what it tells (`vocabulary`), by
how few records have it, by where they have it. What comes from the text alone needs enough such
words; a neighbouring file needs some. Severity and age move a match within its signal, never past
it.

Standard library only: the hot path imports this, and only a prompt pays for it.
"""

import re

from gitmem.base.sqlite import healing
from gitmem.clock import seconds, stamp
from gitmem.index.filters import filtered
from gitmem.records.kinds import LIVE
from gitmem.services.retrieval.error_evidence import ErrorEvidence
from gitmem.services.retrieval.file_evidence import FileEvidence
from gitmem.services.retrieval.task import Case, Cases, Task, storable
from gitmem.services.retrieval.terms import FAINT, PromptWords, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from gitmem.index.reader import Index

    Row = dict[str, Any]

TEXT = 8000  # characters of a task that are looked at
HELPED = 1.2  # evidence that is enough beside a neighbouring file
RELATIVE = 0.88  # of the best text's evidence: what is further off is not shown
SCORE = {
    "id": 128.0,
    "anchor": 64.0,
    "glob": 48.0,
    "error": 32.0,
    "title": 24.0,
    "beside": 16.0,
    "text": 8.0,
}
SEVERITY = {"critical": 1.06, "warning": 1.0, "info": 0.97}
ALSO = {
    "id": 0.25,
    "anchor": 0.25,
    "glob": 0.25,
    "error": 0.25,
    "title": 0.25,
    "beside": 0.25,
    "text": 2.0,
}  # of a signal's score, when another one is stronger
HALF_LIFE = 180 * 86400.0
SURE = frozenset({"id", "anchor", "glob", "error", "title"})  # signals of which one is enough
NAMED = 6  # ids of a task that are looked up

_PATH = re.compile(
    r"(?<![\w.@~+-])[\w.@~+-]*+[/\\][\w./\\@+-]+(?::\d+)*|(?<![\w-])[\w-]++\.(?:py|js|jsx|ts|tsx"
    r"|mjs|go|rs|java|kt|rb|php|c|cc|cpp|h|cs)\b(?::\d+)*"
)


_ID = re.compile(r"(?<![a-z0-9])[a-z]{3}-[0-9a-hjkmnp-tv-z]{26}(?![a-z0-9])")
_SHORT_ID = re.compile(r"(?<![A-Za-z0-9_-])[0-9a-hjkmnp-tv-z]{8}(?![A-Za-z0-9_-])")


class Match:
    """A record that matches, with its score, its reasons and its first signal.

    The signal is `id`, `anchor`, `glob`, `error`, `title`, `beside` or `text`.
    """

    __slots__ = ("kind", "reasons", "row", "score")

    def __init__(self, row: "Row", score: float, reasons: "list[str]", kind: str) -> None:
        self.row = row
        self.score = score
        self.reasons = reasons
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.row['id']} {self.score:.2f} {self.kind}: {'; '.join(self.reasons)}>"


def best(
    matches: "Iterable[Match]",
    snoozed: "Collection[str]" = (),
    *,
    unconfirmed: bool = True,
    most: int = 5,
) -> "list[Match]":
    """Return the best of what was found, each record once."""
    out: dict[str, Match] = {}
    for match in sorted(matches, key=lambda m: (-m.score, str(m.row["id"]))):
        row = match.row
        if row["id"] not in snoozed and (unconfirmed or not row["unconfirmed"]):
            out.setdefault(row["id"], match)
    return list(out.values())[:most]


@healing
def find(
    index: "Index",
    task: Task,
    root: str,
    cwd: str,
    agents: "Sequence[str]",
    now: float,
    kinds: "Sequence[str]",
) -> "list[Match]":
    """Return what one index has for a task, unsorted."""
    return _Search(index, task, root, cwd).run(agents, now, kinds)


class _Search:
    """One search in one index."""

    def __init__(self, index: "Index", task: Task, root: str, cwd: str) -> None:
        self.index = index
        self.text = storable(task.text[:TEXT])
        self.cases = Cases()
        self.files = FileEvidence(index, task, root, cwd, self.cases)
        self.errors = ErrorEvidence(index, self.text, task.error, root)

    def run(self, agents: "Sequence[str]", now: float, kinds: "Sequence[str]") -> "list[Match]":
        """Gather each signal's cases, look at their rows, keep those that hold."""
        self.files.mentioned(self.text)
        self.errors.find(self.files, self.cases)
        self.files.anchored()
        self.files.beside()
        words = PromptWords(
            self.index, self.files.without_names(self.text), _PATH.sub(" ", self.errors.said)
        )
        self._named()
        numbers = sorted({*self.cases, *words.likely(120)})
        rows = self._rows(numbers, agents, kinds, stamp(now))
        rows |= self._fixed(numbers, agents, kinds, stamp(now))
        texts = words.judge(rows, set(self.errors.patterns))
        top = max((evidence for evidence, alone, _ in texts.values() if alone), default=0.0)
        out = []
        for n, row in rows.items():
            case = self.cases.get(n) or Case()
            self.files.placed(case, row)
            if row["pattern"] and "error" not in case.signals and self.errors.shows(row):
                case.add("error", 0.9, f"the error is the same: {short(row['pattern'])}")
            if words.has_title(row["title"]):
                case.add("title", 1.0, "its title is in the task")
            evidence, alone, tells = texts.get(n, (0.0, False, ""))
            if not self._holds(case, evidence, alone and evidence >= RELATIVE * top):
                continue
            if tells and evidence >= FAINT:
                case.add("text", evidence / (evidence + 1.5), tells)
            whole = next((r for r in self.index.get(row["id"]) if r["n"] == n), None)
            if whole is not None:
                out.append(_made(whole, case, now))
        return out

    def _named(self) -> None:
        """Add the records whose ids the task names.

        An id is given in full, or by its last eight characters, as commands print it.
        """
        ids = list(dict.fromkeys(_ID.findall(self.text)))[:NAMED]
        shorts = [
            word
            for word in dict.fromkeys(_SHORT_ID.findall(self.text))
            if not word.isdigit() and not word.isalpha()
        ][:NAMED]
        marks = [",".join("?" * len(some)) for some in (ids, shorts)]
        where = " OR ".join(
            test
            for test, some in (
                (f"id IN ({marks[0]})", ids),
                (f"substr(id, -8) IN ({marks[1]})", shorts),
            )
            if some
        )
        for (n,) in (
            self.index.db.execute(f"SELECT n FROM records WHERE {where}", (*ids, *shorts))
            if where
            else ()
        ):
            self.cases[n].add("id", 1.0, "its id is named")

    def _fixed(
        self, numbers: "Sequence[int]", agents: "Sequence[str]", kinds: "Sequence[str]", at: str
    ) -> "dict[int, Row]":
        """Return the resolved rows among these that say what helped against the error shown."""
        return {
            n: row
            for n, row in self._rows(numbers, agents, kinds, at, resolved=True).items()
            if (row["workaround"] or row["fix"])
            and row["pattern"]
            and ("error" in self.cases[n].signals or self.errors.shows(row))
        }

    def _holds(self, case: "Case", evidence: float, alone: bool) -> bool:
        """Return whether a case is a match.

        A place, an error or a test's file is enough alone. Else words are needed, fewer of them
        beside a file.
        """
        sister = case.signals.pop("sister", None)
        if sister:
            case.add("beside", *sister)
        if (
            sister
            or not SURE.isdisjoint(case.signals)
            or ("beside" in case.signals and evidence >= HELPED)
        ):
            return True
        case.signals.pop("beside", None)
        return alone

    def _rows(
        self,
        numbers: "Sequence[int]",
        agents: "Sequence[str]",
        kinds: "Sequence[str]",
        at: str,
        *,
        resolved: bool = False,
    ) -> "dict[int, Row]":
        """Return the rows among these that hold at a time, with what is needed to judge them."""
        import json

        names = ("n", "id", "title", "pattern", "anchors", "workaround", "fix")
        out: dict[int, Row] = {}
        for start in range(0, len(numbers), 400):
            where, bound = filtered(
                numbers=numbers[start : start + 400],
                kinds=kinds,
                agents=agents,
                statuses=LIVE,
                resolved=resolved,
                valid_at=at,
            )
            sql = f"SELECT {', '.join(names)} FROM records{where}"
            for values in self.index.db.execute(sql, bound):
                row = dict(zip(names, values, strict=True))
                row["anchors"] = json.loads(row["anchors"]) if row["anchors"] else []
                out[row["n"]] = row
        return out


def _made(row: "Row", case: Case, now: float) -> Match:
    """Return the match of a row: its strongest signal first, the others add a little."""
    values = sorted(
        (
            (SCORE[kind] * strength, kind, reason)
            for kind, (strength, reason) in case.signals.items()
        ),
        reverse=True,
    )
    score = values[0][0] + sum(value * ALSO[kind] for value, kind, _ in values[1:])
    seen = str(row["last_seen"] or row["updated"] or row["created"] or "")
    try:
        age = max(0.0, now - seconds(seen))
    except ValueError:
        age = HALF_LIFE
    score *= SEVERITY.get(str(row["severity"]), 1.0) * (0.96 + 0.04 * 0.5 ** (age / HALF_LIFE))
    return Match(row, round(score, 3), [v[2] for v in values], values[0][1])
