"""What a session adds to what is known, and what it says of facts. Nothing is written."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.index.reader import Index
from gitmem.records.items import DONE, REPLACED, Extract, Item
from gitmem.services.records.write import Writer
from gitmem.services.sessions import proposals, statements
from gitmem.services.sessions.proposals import Learned
from gitmem.store.store import Store
from gitmem.text.completion import completed
from gitmem.text.greetings import trivial
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

MANY = 20  # turns after which a sign of life is given
CLOSING = 400  # statements of completion of one session that are compared with open tasks
_PREFIX = re.compile(r"^[a-z]+(?:\([^)]*\))?!?:\s+")  # of a conventional commit
_FINISHES_NOTHING = re.compile(
    r"(?i)(?:revert|remove|drop|delete|wip|start|begin|draft|plan|sketch|prepare|todo|remov|elimin"
    r"|quit|apag)\w*\b"
)


class CountedTurns:
    """A stream of turns that counts what they cost.

    It also notes whether any of them is more than a greeting and its answer.
    """

    def __init__(self, turns: Iterable[Turn], beat: Callable[[], None]) -> None:
        self._turns = turns
        self._beat = beat
        self.tokens = 0
        self.matters = False
        self.answer = ""  # what the agent said last
        self.done: list[Item] = []  # what was said to be done

    def __iter__(self) -> Iterator[Turn]:
        for number, turn in enumerate(self._turns):
            self.tokens += turn.tokens
            self.matters = (
                self.matters or turn.role == TOOL or (turn.role == USER and not trivial(turn.text))
            )
            if turn.role == ASSISTANT and turn.text and not turn.side:
                self.answer = turn.text
            if turn.role in (USER, ASSISTANT) and not turn.side and len(self.done) < CLOSING:
                self.done += [
                    Item(DONE, what, at=turn.at, lines=(turn.line, turn.line), role=turn.role)
                    for what in completed(turn.text)
                ]
            if number % MANY == 0:
                self._beat()
            yield turn


def by_commits(commits: Iterable[tuple[str, str]], at: str) -> list[Item]:
    """Return what commits did by their subjects.

    Those that take something back, or only begin it, finish nothing.
    """
    subjects = (_PREFIX.sub("", subject) for _, subject in commits)
    return [
        Item(DONE, subject, at=at, role="commit")
        for subject in subjects
        if not _FINISHES_NOTHING.match(subject)
    ]


@dataclass(frozen=True, slots=True)
class FactReading:
    """What a session adds to what is known, and the facts that it says are not so any more."""

    learned: Learned
    changed: statements.Changed

    def facts(self, injected: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return what the session's record says of facts that it made, saw, ended or replaced.

        An agent that says again what it was told is no witness.
        """
        made, seen = self.learned.made, self.learned.seen
        proposed = {id: record.id for record, item in made for id in record.get("supersedes") or ()}
        proposed |= {id: str(row["id"]) for row, item in seen for id in item.replaces}
        named = [
            *((record.id, "made", item) for record, item in made),
            *(
                (str(row["id"]), "seen", item)
                for row, item in seen
                if item.role == USER or row["id"] not in injected
            ),
        ]
        changed = statements.of_changes(self.changed, proposed)
        covered = {change["id"] for change in changed}
        replaced = [
            {**statements.of_item(id, REPLACED, item, item.text), "successor": record.id}
            for record, item in made
            for id in record.get("supersedes") or ()
            if id not in covered
        ]
        return [*statements.of_items(named), *changed, *replaced]


def read_facts(
    stores: Sequence[Store],
    who: Writer,
    extract: Extract,
    where: str,
    indexes: Sequence[Index],
) -> FactReading:
    """Return what a session taught; `who` names it, `where` says in words what was read.

    `stores` are those in which a rejected or accepted fact may be.
    """
    agents = namespaces(who)
    changed = statements.changed_facts(indexes, extract.changes, agents, who.clock.stamp())
    items = statements.with_successors(extract.items, changed)
    return FactReading(proposals.learn(stores, who, items, who.session, where, indexes), changed)


def namespaces(who: Writer) -> tuple[str, ...]:
    """Return the namespaces whose facts a session can mean."""
    return tuple(dict.fromkeys((who.agent, "global")))
