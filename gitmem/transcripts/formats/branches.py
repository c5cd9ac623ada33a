"""Transcripts as trees: of two prompts after one message, only the branch that goes on counts.

Whoever goes back in a session and says something else leaves the first branch in the file. It was
unsaid: nothing of it is a turn. Rows are held back for it, `WINDOW` of them; what is older stays.

Prompts that nobody has answered yet may have been typed at once: they stay side by side until one
of them is answered. A prompt that follows nothing begins a new part, and replaces no other.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gitmem.transcripts.turn import Turn

WINDOW = 5_000  # rows that are held back
LARGE = 48 << 20  # characters of held rows, after which the oldest go on
STEP = 500  # rows that go on at once, where there is no room any more


@dataclass(slots=True)
class _Held:
    """Turns that follow one prompt."""

    branch: str  # the prompt that it follows, '' before the first
    turns: list[Turn]


@dataclass(slots=True)
class _Prompt:
    """A prompt and its place among those before and beside it."""

    before: str  # the prompt that it follows
    depth: int  # how many it follows
    siblings: list[str]  # it and others after one message, without those that were replaced
    is_followed: bool = False


@dataclass(slots=True)
class Branches:
    """The branches of a session, as its rows are read."""

    _held: OrderedDict[int, _Held] = field(default_factory=OrderedDict)
    _size: int = 0
    _prompts: dict[str, _Prompt] = field(default_factory=dict)
    _branch_of: dict[str, str] = field(default_factory=dict)  # message -> prompt that it follows
    # row without turns -> the message that it follows, across others of the kind
    _message_of: dict[str, str] = field(default_factory=dict)
    _siblings: dict[str, list[str]] = field(default_factory=dict)  # message -> prompts after it
    _replaced: set[str] = field(default_factory=set)  # prompts
    _unsaid: set[str] | None = None  # these and all that follow them, once it was asked for
    _now: str = ""

    def add(self, line: int, id: str, parent: str, turns: list[Turn], *, is_prompt: bool) -> None:
        """Take a row: its line, its id and that of the message that it follows, '' for none."""
        branch = self._branch_of.get(parent, "" if id else self._now)
        self._go_on(branch)
        if is_prompt and id and id not in self._prompts:
            self._begin(id, self._message_of.get(parent, parent), branch)
            self._now = branch = id
        elif id and parent and not turns:
            self._message_of[id] = self._message_of.get(parent, parent)
        if id:
            self._branch_of[id] = branch
        self._held[line] = _Held(branch, turns)
        self._size += sum(len(turn.text) for turn in turns)

    def _begin(self, id: str, message: str, before: str) -> None:
        """Note a prompt after a message. It replaces another one that was answered already."""
        siblings = self._siblings.setdefault(message, []) if message else []
        if siblings and self._prompts[siblings[0]].is_followed:  # it is the only one, then
            self._replaced.add(siblings.pop())
            self._unsaid = None
        siblings.append(id)
        self._prompts[id] = _Prompt(before, self._depth(before) + 1, siblings)

    def _depth(self, branch: str) -> int:
        return self._prompts[branch].depth if branch else 0

    def _go_on(self, branch: str) -> None:
        """Note that a branch goes on, and all that it follows up to what went on anyway."""
        before, now = self._now, branch
        while before != now:
            if self._depth(before) > self._depth(now):
                before = self._prompts[before].before
            else:
                self._follow(now)
                now = self._prompts[now].before
        if branch and not self._prompts[branch].is_followed:
            self._follow(branch)
        self._now = branch

    def _follow(self, id: str) -> None:
        """Note that a prompt is followed: it replaces those beside it."""
        prompt = self._prompts[id]
        prompt.is_followed = True
        if prompt.siblings != [id]:
            self._replaced.update(prompt.siblings)
            self._replaced.discard(id)
            prompt.siblings[:] = [id]
            self._unsaid = None

    def ready(self) -> Iterator[Turn]:
        """Yield the turns of rows for which there is no room any more."""
        if len(self._held) > WINDOW:
            for _ in range(STEP):
                yield from self._next()
        while self._size > LARGE:
            yield from self._next()

    def _next(self) -> list[Turn]:
        _, held = self._held.popitem(last=False)
        self._size -= sum(len(turn.text) for turn in held.turns)
        return self._said(held)

    def rest(self, late: Iterable[Turn]) -> Iterator[Turn]:
        """Yield the turns that are left, and `late` ones of rows that are held."""
        branches = {line: held.branch for line, held in self._held.items()}
        while self._held:
            yield from self._next()
        for turn in late:
            yield from self._said(_Held(branches.get(turn.line, self._now), [turn]))

    def _said(self, held: _Held) -> list[Turn]:
        if self._unsaid is None:
            self._unsaid = set()
            for id, prompt in self._prompts.items():  # each comes after what it follows
                if id in self._replaced or prompt.before in self._unsaid:
                    self._unsaid.add(id)
        return [] if held.branch in self._unsaid else held.turns
