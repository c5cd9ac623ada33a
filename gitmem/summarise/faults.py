"""Errors as they are known at the end of a session: those that rules found and hindsight keeps, with those that hindsight alone finds. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gitmem.model.item import ERROR
from gitmem.model.turn import ASSISTANT, Turn
from gitmem.summarise import rules
from gitmem.summarise.hindsight import Heard
from gitmem.summarise.offline_errors import DETAIL, TEXT, Trouble
from gitmem.summarise.words import content, shared

FIRST = 0.1  # how likely a sentence must be to tell of an error, at first, to be judged again
EXPLAINS = 0.3  # how likely what was said of a command that failed must tell of an error
SAME = 0.6  # shared words from which on two errors are one
STAYS, COUNTS = 0.4, 0.55  # how likely by hindsight: what rules take for an error, and what they do not
NEAR = 14  # turns up to which a cause or a fix belongs to the error before it
HELD = 1000


@dataclass(slots=True)
class Fault:
    """A sentence that may tell of an error."""

    heard: Heard
    turn: Turn
    born: int  # which turn
    order: int


@dataclass(slots=True)
class Told:
    """An error that is worth knowing."""

    text: str
    detail: str
    at: str
    line: int
    last: int
    files: tuple[str, ...]
    role: str
    score: float
    order: int
    born: int
    marker: bool = False


class Faults:
    """Sentences that may tell of errors, as they come."""

    def __init__(self) -> None:
        self.held: list[Fault] = []
        self.heard_any = False  # sentences are judged by hindsight in this session

    def take(self, heard: Heard, turn: Turn, born: int, order: int) -> None:
        """Take note of a sentence if it may tell of an error."""
        self.heard_any = True
        if heard.first[ERROR] >= FIRST and len(heard.text) <= rules.LONGEST:
            self.held.append(Fault(heard, turn, born, order))
            del self.held[:-HELD]

    def told(self, troubles: Iterable[tuple[Trouble, str, str, float]], weigh: Callable[[Heard], float]) -> list[Told]:
        """Return the errors of a session; `weigh` says how likely a sentence tells of one, by hindsight."""
        out = []
        said: set[str] = set()
        likely = {fault.heard.text: weigh(fault.heard) for fault in self.held}
        for one, text, detail, score in troubles:
            if not one.marked and self.heard_any and not self._stays(one, likely, weigh):
                continue
            said |= {one.statement, *one.notes}
            out.append(
                Told(text, detail, one.at, one.line, one.last, tuple(one.files[-4:]), one.role, score, one.order, one.born, one.marked)
            )
        for fault in self.held:
            text = fault.heard.text
            if text in said or likely[text] < COUNTS:
                continue
            said.add(text)
            before = [one for one in out if 0 <= fault.born - one.born <= NEAR]
            if fault.heard.role == ASSISTANT and before:
                latest = max(before, key=lambda one: one.born)
                if len(latest.detail) + len(text) < DETAIL:
                    latest.detail = f"{latest.detail} {text}".strip()
                    latest.last = max(latest.last, fault.turn.line)
                continue
            turn = fault.turn
            text = rules.stripped(text, fault.heard.language)[:TEXT]
            out.append(
                Told(
                    text,
                    "",
                    turn.at,
                    turn.line,
                    turn.line,
                    turn.files[:4],
                    turn.role,
                    round(0.4 + 0.4 * likely[fault.heard.text], 2),
                    fault.order,
                    fault.born,
                )
            )
        return _distinct(out)

    def _stays(self, one: Trouble, likely: Mapping[str, float], weigh: Callable[[Heard], float]) -> bool:
        """Whether an error that rules found is one by hindsight: its statement is, or what was said of a command that failed."""
        if one.heard is not None and weigh(one.heard) >= STAYS:
            return True
        if not one.keys:
            return one.heard is None
        return (one.passed and bool(one.helped)) or any(likely.get(note, 0.0) >= EXPLAINS for note in one.notes)


def _distinct(found: list[Told]) -> list[Told]:
    """Return errors without those that tell what one shortly before tells."""
    out: list[Told] = []
    for one in sorted(found, key=lambda one: (one.born, one.order)):
        words = content(f"{one.text} {one.detail}", "en")
        for other in out:
            if one.born - other.born <= NEAR and not one.marker and shared(words, content(f"{other.text} {other.detail}", "en")) >= SAME:
                if len(other.detail) + len(one.detail or one.text) < DETAIL and (one.detail or one.text) not in other.detail:
                    other.detail = f"{other.detail} {one.detail or one.text}".strip()
                other.last, other.score = max(other.last, one.last), max(other.score, one.score)
                break
        else:
            out.append(one)
    return out
