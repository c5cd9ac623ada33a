"""What stands around a sentence, as features for the learned scores: where it is in its turn, the sentences beside it, what the other one said last. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gitmem.extraction.classify.linear_model import meaning, signals
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.transcripts.turn import ASSISTANT

EDIT, RUN, FAIL = "edit", "run", "fail"  # what a tool was used for


@dataclass(frozen=True, slots=True)
class Before:
    """What was before a turn: the last sentence that was said, by whom, in which language, and what tools were used for since."""

    text: str = ""
    role: str = ""
    language: str = "en"
    used: frozenset[str] = frozenset()


class Around:
    """The surroundings of one sentence; its features are made when they are asked for."""

    __slots__ = ("_before", "_language", "_made", "_place", "_role", "_turn")

    def __init__(self, turn: Sequence[str], place: int, role: str, language: str, before: Before) -> None:
        self._turn, self._place, self._role, self._language, self._before = turn, place, role, language, before
        self._made: tuple[str, ...] | None = None

    def features(self) -> tuple[str, ...]:
        """Return the features."""
        if self._made is None:
            self._made = tuple(_features(self._turn, self._place, self._role, self._language, self._before))
        return self._made


def _features(turn: Sequence[str], place: int, role: str, language: str, before: Before) -> list[str]:
    size = len(turn)
    mine = "a" if role == ASSISTANT else "u"
    out = [f"K{mine} place {min(place, 4)}", f"K{mine} size {min(size, 6)}", f"K{mine} left {min(size - 1 - place, 3)}"]
    out.append(f"K{mine} {min(place, 2)} of {min(size, 4)}")
    if place:
        out += _told("Kp", turn[place - 1], role, language)
    if place + 1 < size:
        out += _told("Kn", turn[place + 1], role, language)
    if place < 2:
        out += [f"K{mine} after {used}" for used in sorted(before.used)]
        if before.text:
            out += [f"{one} {place}" for one in _told("Kt", before.text, before.role, before.language)]
            both = len(content(turn[place], language) & content(before.text, before.language))
            out.append(f"K{mine} shares {min(both, 3)} {rules.asks(before.text, before.language)} {place}")
        else:
            out.append(f"K{mine} opens {place}")
    return out


@lru_cache(maxsize=4096)
def _told(name: str, text: str, role: str, language: str) -> tuple[str, ...]:
    """Return what one sentence beside another tells of it."""
    meant = [sense for sense in meaning(text, language)[1] if sense]
    out = [f"{name} by {role[:1]}", *(f"{name} C {sign}" for sign in signals(text, role, language))]
    out += [f"{name} ^{sense}" for sense in meant[:2]]
    out += [f"{name} S {sense}" for sense in dict.fromkeys(meant)]
    return tuple(out)
