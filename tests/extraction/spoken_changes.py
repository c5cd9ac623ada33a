"""Small sessions beside stored facts: what a session's record says of the facts, and what it proposes."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gitmem.clock import Clock, stamp
from gitmem.records.items import DONE
from gitmem.services.records.write import Writer
from gitmem.services.session_log import changes
from gitmem.services.sessions import reading, statements
from gitmem.transcripts.turn import ASSISTANT, USER, Turn
from tests.extraction.matching import Tally

HERE = Path(__file__).parent / "changes"
NOW = 1_790_000_000.0


class FactIndex:
    """An index of these facts, for what asks which are live."""

    def __init__(self, facts: list[str]) -> None:
        kinds = [fact.partition(": ") for fact in facts]
        self._rows = [
            {
                "id": str(number),
                "kind": "memory",
                "type": kind,
                "title": title,
                "created": stamp(NOW - 9),
            }
            for number, (kind, _, title) in enumerate(kinds, 1)
        ]

    def rows(self, what: str = "", ids: Any = None, **_: Any) -> list[dict[str, Any]]:
        """Return the facts of a type, or with these ids."""
        return [
            row
            for row in self._rows
            if what in ("", row["type"]) and (ids is None or row["id"] in ids)
        ]

    def search(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """Return all facts: each may be meant."""
        return self._rows

    def number(self, **_: Any) -> int:
        """Return how many proposals of the session wait."""
        return 0


@dataclass(frozen=True)
class ChangeCase:
    """A session, the facts before it, and what is expected of it."""

    facts: list[str]
    said: list[str]
    expects: list[str]
    proposes: list[str] | None = None
    refuses: tuple[str, ...] = ()

    def turns(self) -> list[Turn]:
        """Return what is said."""
        roles = {"user": USER, "agent": ASSISTANT}
        parts = [text.partition(": ") for text in self.said]
        return [
            Turn(roles[role], text, stamp(NOW + n), n) for n, (role, _, text) in enumerate(parts, 1)
        ]

    def read(self) -> tuple[list[str], list[str]]:
        """Return (what the record says of the facts, what is proposed)."""
        indexes: Any = [FactIndex(self.facts)]
        who = Writer(Clock(now=lambda: NOW + 99), ("Ana", "ana@example.org"))
        counted = reading.CountedTurns(self.turns(), lambda: None)
        extract = changes.extract(counted)
        done = [*(item for item in extract.items if item.kind == DONE), *counted.done]
        read = reading.read_facts((), who, extract, "a session", indexes)
        asked = [
            *read.facts(),
            *statements.finished_tasks(indexes, done, (), stamp(NOW), stamp(NOW + 99)),
        ]
        found = [
            f"{one['what']} {one['id']} {one['role']}"
            for one in asked
            if one["what"] in ("done", "ended", "replaced")
        ]
        return list(dict.fromkeys(found)), [record.title for record, _ in read.learned.made]

    def judged(self) -> tuple[Tally, list[str]]:
        """Return what is right of what was found, and what is not, in words."""
        found, proposed = self.read()
        wrong = [f"wrong {one}" for one in found if one not in self.expects]
        missed = [f"missed {one}" for one in self.expects if one not in found]
        labels = list(self.proposes or [])
        judged = proposed if self.proposes is not None else []
        for title in judged:
            label = next((one for one in labels if one in title), None)
            if label is None or any(word in title for word in self.refuses):
                wrong.append(f"wrong proposal {title!r}")
            else:
                labels.remove(label)
        missed += [f"missed proposal {one!r}" for one in labels]
        number = len(found) + len(judged)
        labelled = len(self.expects) + len(self.proposes or [])
        return (
            Tally(number, number - len(wrong), labelled, labelled - len(missed)),
            [*wrong, *missed],
        )


@cache
def cases(name: str) -> tuple[ChangeCase, ...]:
    """Return the cases of a file, `tuned` or `held`."""
    data = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    return tuple(
        ChangeCase(**{**case, "refuses": tuple(case.get("refuses", ()))}) for case in data["case"]
    )


def report(name: str) -> Iterator[str]:
    """Yield what is wrong in each case of a file."""
    for number, case in enumerate(cases(name), 1):
        _, wrong = case.judged()
        if wrong:
            yield f"{number} {case.said[-1]!r}: {'; '.join(wrong)}"
