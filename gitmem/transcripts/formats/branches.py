"""Transcripts as trees: of two prompts after one message, only the branch that goes on counts.

Whoever goes back in a session and says something else leaves the first branch in the file. It was
unsaid: nothing of it is a turn. Rows are held back for it, `WINDOW` of them; what is older stays.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gitmem.transcripts.turn import Turn

WINDOW = 5_000  # rows that are held back
LARGE = 48 << 20  # characters of held rows, after which the oldest go on


@dataclass(slots=True)
class _Held:
    branch: str  # the prompt that it follows, '' before the first
    turns: list[Turn]


@dataclass(slots=True)
class _Prompt:
    before: str  # the prompt that it follows
    parent: str  # the message that it follows
    is_followed: bool = False


@dataclass(slots=True)
class Branches:
    """The branches of a session, as its rows are read."""

    _held: OrderedDict[int, _Held] = field(default_factory=OrderedDict)
    _size: int = 0
    _prompts: dict[str, _Prompt] = field(default_factory=dict)
    _branch_of: dict[str, str] = field(default_factory=dict)  # message -> prompt that it follows
    _taken: dict[str, str] = field(default_factory=dict)  # message -> the prompt that goes on
    _now: str = ""

    def add(self, line: int, id: str, parent: str, turns: list[Turn], *, is_prompt: bool) -> None:
        """Take a row: its line, its id and that of the message that it follows, '' for none."""
        branch = self._branch_of.get(parent, "" if id else self._now)
        if is_prompt and id and id not in self._prompts:
            first = self._taken.get("")
            if not parent and first and not self._prompts[first].is_followed:
                parent = id  # a file whose messages name none before them is a list, no tree
            self._prompts[id] = _Prompt(branch, parent)
            self._taken[parent] = id
            branch = id
        elif branch in self._prompts:
            self._prompts[branch].is_followed = True
        if id:
            self._branch_of[id] = branch
        if branch != self._now:
            self._go_on(branch)
        self._held[line] = _Held(branch, turns)
        self._size += sum(len(turn.text) for turn in turns)

    def _go_on(self, branch: str) -> None:
        """Note that a branch goes on, and all that it follows."""
        self._now = branch
        while branch in self._prompts:
            prompt = self._prompts[branch]
            self._taken[prompt.parent] = branch
            branch = prompt.before

    def ready(self) -> Iterator[Turn]:
        """Yield the turns of rows for which there is no room any more."""
        while len(self._held) > WINDOW or self._size > LARGE:
            _, held = self._held.popitem(last=False)
            self._size -= sum(len(turn.text) for turn in held.turns)
            yield from self._said(held)

    def rest(self, late: Iterable[Turn]) -> Iterator[Turn]:
        """Yield the turns that are left, and `late` ones of rows that are held."""
        branches = {line: held.branch for line, held in self._held.items()}
        while self._held:
            yield from self._said(self._held.popitem(last=False)[1])
        for turn in late:
            yield from self._said(_Held(branches.get(turn.line, self._now), [turn]))

    def _said(self, held: _Held) -> list[Turn]:
        branch = held.branch
        while branch in self._prompts:
            prompt = self._prompts[branch]
            if self._taken[prompt.parent] != branch:
                return []
            branch = prompt.before
        return held.turns
