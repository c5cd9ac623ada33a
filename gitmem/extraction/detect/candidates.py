"""What may be an item when a session ends, and which of them say the same. Pure."""

from dataclasses import dataclass

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.words import shared
from gitmem.extraction.rules.corrections import Choice
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, plain

ALIKE = 0.75  # shared words from which on two items say the same
NEAR, CLOSE, SAME_CHOICE = 4, 0.6, 0.5  # turns between, and shared words of, two sentences that may say the same as different kinds


@dataclass(slots=True)
class Candidate:
    """Something that may be an item when the session ends."""

    kind: str
    text: str
    detail: str
    at: str
    line: int
    last: int
    files: tuple[str, ...]
    role: str
    score: float
    order: int
    words: frozenset[str]
    turn: int
    marked: bool = False
    marker: bool = False
    listed: bool = False  # of a list of tasks that a tool keeps
    gone: bool = False
    fell: bool = False  # by hindsight
    over: "Candidate | None" = None  # what took its place, or did it
    choice: Choice | None = None  # of a decision, a preference
    heard: Heard | None = None  # the sentence, which is judged once more at the end
    answer: bool = False  # it answers what was asked or proposed
    corrects: bool = False  # it says how it is wanted instead: `no, use X`
    part: bool = False  # of a sentence that lists several
    commit: str = ""  # the id of the commit that says it
    context: str = ""  # what an agent had said that the user's words are about
    weak: bool = False  # nothing but the learned scores takes it for an item, and they are not sure


def distinct(found: list[Candidate]) -> list[Candidate]:
    """Return candidates without those that say what another says: the surer one stays, with the time of the latest."""
    out: list[Candidate] = []
    for one in sorted(found, key=lambda one: (not one.marked, -one.score, one.order)):
        for other in out:
            if one.marked and other.marked and plain(one.text) != plain(other.text):
                continue  # `Server A is slow` and `Server B is slow`: somebody wrote both
            if _again(one, other):
                other.detail = other.detail or one.detail
                break
            same = one.kind == other.kind or {one.kind, other.kind} <= {DECISION, PREFERENCE, PATTERN, CONTEXT}
            if (
                same
                and len(one.words & other.words)
                >= (min(2, len(one.words), len(other.words)) if one.kind == other.kind == DECISION else min(2, len(one.words)))
                and shared(one.words, other.words) >= (ALIKE if one.kind == other.kind else 0.8)
            ):
                if one.at > other.at and one.kind == other.kind and not other.marked:
                    other.at, other.last = one.at, max(other.last, one.line)
                if len(other.words) < 3 <= len(one.words) and one.kind == other.kind and not other.marked:
                    other.text, other.words = one.text, one.words
                other.detail = other.detail or one.detail
                break
        else:
            out.append(one)
    return out


def _again(one: Candidate, other: Candidate) -> bool:
    """Whether a sentence says again, in other words or as another kind, what was said a few turns before or after."""
    if one.marker or one.marked or abs(one.turn - other.turn) > NEAR or TASK in (one.kind, other.kind) or other.kind == DONE:
        return False
    if one.kind == DECISION and other.kind == ERROR:
        return False  # what helped is worth to be told as what was settled
    both = len(one.words & other.words)
    if one.kind == other.kind == DECISION:
        return both >= 2 and shared(one.words, other.words) >= SAME_CHOICE
    return both > 2 and shared(one.words, other.words) >= CLOSE
