"""Whose words an item of a model's answer has.

The turn that the model names counts only if it says so. The module is pure.

What a model reads holds pages that were fetched, and files of others. So a person said only what
that person typed: not what a tool printed, not what was pasted from there or quoted, no code.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.records.items import CONTEXT, ERROR
from gitmem.text.replacement import words
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn

SHARE = 0.6  # of an item's telling words that have to stand together in a turn
TRACE = 0.3  # from which on what tools printed is the better explanation of an item
TOGETHER = 3  # sentences or lines that stand together
PASTED = 16  # characters of a line from which on it is no accident that a tool printed it too
LONG = 64_000  # characters of a turn that are looked at
# kinds that what a tool printed may be; all else somebody has to say
PRINTED = frozenset({ERROR, CONTEXT})
_FENCED = re.compile(r"^[ \t]*(?:`{3,}|~{3,})")
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n|(?<=[。！？；])")
_NAME = re.compile(r"[^\W_][\w./:+#@-]*[^\W_]|[^\W_]")
_TELLING = re.compile(r"\d|[./:#@_+]|[^\W\d_][A-Z]")  # in a word that names one thing alone


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Who an item is from: a role of a turn and its number, counted from 1.

    "" and 0 stand for nobody in particular; the role TOOL for what tools printed alone.
    """

    role: str = ""
    number: int = 0
    is_sure: bool = True


class Evidence:
    """Finds who said what, in some turns."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        printed = (turn.text for turn in turns if turn.role in {TOOL, SYSTEM})
        self._printed = {_folded(line) for text in printed for line in text[:LONG].split("\n")}
        self._said = [self._typed(turn) for turn in turns]
        self._windows = [list(_windows(text)) for text in self._said]
        self._names = {role: self._names_of(role) for role in (USER, ASSISTANT, TOOL)}

    def of(self, kind: str, text: str, number: int) -> EvidenceSource | None:
        """Return who an item is from, None for one that a tool alone printed and nobody said.

        `number` is the turn that the model names, if it does.
        """
        wanted = words(text)
        named = number if 1 <= number <= len(self._turns) else 0
        shares = [self._share(wanted, windows) for windows in self._windows]
        for role in (self._role(named),) if named else ():
            if role in {USER, ASSISTANT} and self._says(role, text, shares[named - 1]):
                return EvidenceSource(role, named)
        for role in (USER, ASSISTANT):
            best = self._best(shares, lambda n, role=role: self._role(n) == role)  # type: ignore[misc]
            if best and self._says(role, text, shares[best - 1]):
                return EvidenceSource(role, best)
        speech = self._highest(shares, {USER, ASSISTANT})
        printed = max(self._highest(shares, {TOOL}), TRACE if self._is_only_printed(text) else 0.0)
        if printed >= TRACE and printed >= speech:
            return EvidenceSource(TOOL, 0, is_sure=False) if kind in PRINTED else None
        return EvidenceSource(is_sure=self._is_split(wanted))

    # -- turns

    def _role(self, number: int) -> str:
        """Return whose words a turn is: what a subagent is told, an agent said."""
        turn = self._turns[number - 1]
        if turn.role == SYSTEM:
            return TOOL
        return ASSISTANT if turn.side and turn.role == USER else turn.role

    def _typed(self, turn: Turn) -> str:
        """Return what of a turn is its speaker's own: nothing pasted, quoted or fenced."""
        text = turn.text[:LONG]
        if turn.role in {TOOL, SYSTEM}:
            return text
        kept, fence = [], ""
        for line in text.split("\n"):
            mark = _FENCED.match(line)
            if mark:
                fence = "" if fence else mark[0]
            elif not (fence or line.lstrip().startswith(">") or self._is_pasted(line)):
                kept.append(line)
        return "\n".join(kept)

    def _is_pasted(self, line: str) -> bool:
        folded = _folded(line)
        return len(folded) >= PASTED and folded in self._printed

    def _names_of(self, role: str) -> set[str]:
        numbers = (n for n in range(1, len(self._turns) + 1) if self._role(n) == role)
        return {name for n in numbers for name in _telling_names(self._said[n - 1])}

    # -- words

    def _share(self, wanted: frozenset[str], windows: Sequence[frozenset[str]]) -> float:
        if not wanted:
            return 0.0
        return max((len(wanted & window) / len(wanted) for window in windows), default=0.0)

    def _best(self, shares: Sequence[float], fits: Callable[[int], bool]) -> int:
        """Return the latest turn with the greatest share among those that fit, 0 for none."""
        numbers = [n for n in range(1, len(shares) + 1) if fits(n)]
        return max(numbers, key=lambda n: (shares[n - 1], n), default=0)

    def _highest(self, shares: Sequence[float], roles: set[str]) -> float:
        return max((s for n, s in enumerate(shares, 1) if self._role(n) in roles), default=0.0)

    def _says(self, role: str, text: str, share: float) -> bool:
        """Return whether a speaker has enough of a text's words.

        No name in the text may come from a tool alone.
        """
        heard = self._names[USER] if role == USER else self._names[USER] | self._names[ASSISTANT]
        return share >= SHARE and not (_telling_names(text) & self._names[TOOL]) - heard

    def _is_only_printed(self, text: str) -> bool:
        said = self._names[USER] | self._names[ASSISTANT]
        return bool((_telling_names(text) & self._names[TOOL]) - said)

    def _is_split(self, wanted: frozenset[str]) -> bool:
        """Say whether what was said in several turns, together, has an item's words."""
        heard: set[str] = set()
        for number, windows in enumerate(self._windows, 1):
            if self._role(number) != TOOL:
                heard = heard.union(*windows)
        return bool(wanted) and len(wanted & heard) / len(wanted) >= SHARE


def _windows(text: str) -> Iterator[frozenset[str]]:
    parts = [words(part) for part in _BREAK.split(text) if part.strip()]
    for at in range(max(1, len(parts) - TOGETHER + 1) if parts else 0):
        yield frozenset().union(*parts[at : at + TOGETHER])


def _telling_names(text: str) -> set[str]:
    """Return the names, numbers and paths of a text, which stand for one thing alone."""
    return {name.casefold() for name in _NAME.findall(text) if _TELLING.search(name)}


def _folded(line: str) -> str:
    return " ".join(line.split()).casefold()
