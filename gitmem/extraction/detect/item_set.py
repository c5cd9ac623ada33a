"""What was found of a session so far.

What is repeated, overruled, undone or done changes what was found before. The module is pure, and
its memory is bounded.
"""

from dataclasses import dataclass
from itertools import islice

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content, covered, shared
from gitmem.extraction.rules import sentence_rules
from gitmem.extraction.rules.dialogue import Choice, choice, replaces
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, plain
from gitmem.text.completion import completed
from gitmem.transcripts.turn import USER, Turn

ALIKE = 0.75  # shared words from which on two items say the same
# turns between, and shared words of, two sentences that may say the same as different kinds
NEAR, CLOSE, SAME_CHOICE = 4, 0.6, 0.5


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
    over: "Candidate | None" = None  # what took its place, or did it
    choice: Choice | None = None  # of a decision, a preference
    heard: Heard | None = None  # the sentence, which is judged once more at the end
    answer: bool = False  # it answers what was asked or proposed
    commit: str = ""  # the id of the commit that says it
    context: str = ""  # what an agent had said that the user's words are about
    weak: bool = False  # nothing but the learned scores takes it for an item, and they are not sure


def distinct(found: list[Candidate]) -> list[Candidate]:
    """Return candidates without those that say what another one says.

    The surer one stays, with the time of the latest.
    """
    out: list[Candidate] = []
    for one in sorted(found, key=lambda one: (not one.marked, -one.score, one.order)):
        for other in out:
            if one.marked and other.marked and plain(one.text) != plain(other.text):
                continue  # `Server A is slow` and `Server B is slow`: somebody wrote both
            if _again(one, other):
                other.detail = other.detail or one.detail
                break
            same = one.kind == other.kind or {one.kind, other.kind} <= {
                DECISION,
                PREFERENCE,
                PATTERN,
                CONTEXT,
            }
            if (
                same
                and len(one.words & other.words)
                >= (
                    min(2, len(one.words), len(other.words))
                    if one.kind == other.kind == DECISION
                    else min(2, len(one.words))
                )
                and shared(one.words, other.words) >= (ALIKE if one.kind == other.kind else 0.8)
            ):
                if one.at > other.at and one.kind == other.kind and not other.marked:
                    other.at, other.last = one.at, max(other.last, one.line)
                if (
                    len(other.words) < 3 <= len(one.words)
                    and one.kind == other.kind
                    and not other.marked
                ):
                    other.text, other.words = one.text, one.words
                other.detail = other.detail or one.detail
                break
        else:
            out.append(one)
    return out


def _again(one: Candidate, other: Candidate) -> bool:
    """Return whether a sentence repeats what was said a few turns before or after.

    It may use other words or be of another kind.
    """
    if (
        one.marker
        or one.marked
        or abs(one.turn - other.turn) > NEAR
        or TASK in (one.kind, other.kind)
        or other.kind == DONE
    ):
        return False
    if one.kind == DECISION and other.kind == ERROR:
        return False  # what helped is worth to be told as what was settled
    both = len(one.words & other.words)
    if one.kind == other.kind == DECISION:
        return both >= 2 and shared(one.words, other.words) >= SAME_CHOICE
    return both > 2 and shared(one.words, other.words) >= CLOSE


KEPT = 3000  # candidates that are held at one time
COMPARED = 1200  # of them, the latest, that a new one is compared with
TEXT, DETAIL = 300, 500  # characters
SHORT = 6  # characters of a decision that says what was decided


class CandidateSet:
    """The candidates of a session."""

    def __init__(self) -> None:
        self.all: list[Candidate] = []
        self.order = 0  # of the next one
        self.turn = 0  # which turn is read
        self.language = "en"  # its language
        self._same: dict[tuple[str, str], Candidate] = {}

    def trim(self) -> None:
        """Forget what is gone, and the least sure, when there are too many."""
        if len(self.all) <= KEPT:
            return
        alive = [one for one in self.all if not one.gone]
        alive.sort(key=lambda one: (one.marked, one.score, one.order))
        self._same.clear()
        self.all = sorted(
            alive[len(alive) // 4 :] if len(alive) > KEPT * 3 // 4 else alive,
            key=lambda one: one.order,
        )

    def add(
        self,
        kind: str,
        text: str,
        turn: Turn,
        score: float,
        *,
        detail: str = "",
        marked: bool = False,
        marker: bool = False,
        listed: bool = False,
        heard: Heard | None = None,
        weak: bool = False,
    ) -> Candidate | None:
        """Take note of something that may be an item; None where it says nothing."""
        words = content(text, self.language)
        if not words or (
            kind == DECISION
            and not (marker or marked or turn.marked)
            and len(text) < SHORT
            and self.language != "zh"
        ):
            return None
        if len(text) > TEXT:
            text = f"{text[: TEXT - 1].rstrip()}…"
        text, reason = (
            _parted(text, self.language)
            if kind in (DECISION, PREFERENCE, PATTERN) and not detail
            else (text, "")
        )
        again = self._same.get((kind, plain(text)))
        if again is not None and not again.gone and not listed:
            again.at, again.last, again.turn = (
                turn.at or again.at,
                max(again.last, turn.line),
                self.turn,
            )
            again.marked = again.marked or marked or turn.marked
            again.detail = again.detail or detail or reason
            # now it is said as an item
            if (again.weak and not weak) or (marker and not again.marker):
                again.weak, again.marker, again.heard, again.role, again.score = (
                    False,
                    again.marker or marker,
                    heard,
                    turn.role,
                    max(score, again.score),
                )
                self._takes_effect(again)
            return again
        if kind == TASK and not (marker or marked or listed) and completed(text):
            kind = DONE
        made = Candidate(
            kind,
            text,
            detail or reason,
            turn.at,
            turn.line,
            turn.line,
            turn.files[:8],
            turn.role,
            score,
            self.order,
            words,
            self.turn,
            marked or turn.marked,
            marker,
            listed,
            heard=heard,
            weak=weak,
            commit=turn.command if turn.tool == "commit" else "",
        )
        self.order += 1
        if not weak:
            self._takes_effect(made)
        self.all.append(made)
        if len(self._same) < KEPT:
            self._same[kind, plain(text)] = made
        return made

    def _takes_effect(self, made: Candidate) -> None:
        """What is decided takes the place of what was; what is done is pending no more."""
        if made.kind in (DECISION, PREFERENCE):
            made.choice = choice(made.text, made.words, self.language)
            if made.kind == DECISION or made.role == USER:
                for one in self.all[-COMPARED:]:
                    if (
                        one.choice
                        and one is not made
                        and not one.gone
                        and not one.marked
                        and replaces(made.choice, one.choice)
                    ):
                        one.gone, one.over = True, made
        if made.kind == DONE:
            for one in self.all[-COMPARED:]:
                if (
                    one.kind == TASK
                    and not one.gone
                    and not one.listed
                    and one.turn < self.turn
                    and covered(one.words, made.words) >= 0.5
                    and len(one.words & made.words) >= min(2, len(one.words))
                ):
                    one.gone, one.over = True, made

    def overrule(self, text: str, sentence: Sentence, turn: Turn) -> None:
        """Overrule what was decided just before.

        The user overrules what the words are about, else what the agent said last.
        """
        words = content(text, self.language)
        best: tuple[float, Candidate] | None = None
        for one in islice((one for one in reversed(self.all) if not one.weak), 60):
            if (
                one.gone
                or one.marked
                or one.kind not in (DECISION, PREFERENCE, PATTERN, TASK)
                or self.turn - one.turn > 30
            ):
                continue
            likeness = len(words & one.words)
            near = self.turn - one.turn <= 2
            if (
                one.role == USER
                and likeness < 2
                and not cues(self.language).find("overrule", "self", text)
            ):
                continue  # `no, ...` is said to the agent
            score = (
                likeness + (0.6 if near and sentence.first else 0) - (self.turn - one.turn) * 0.01
            )
            if (likeness or (near and sentence.first and one.kind == DECISION)) and (
                best is None or score > best[0]
            ):
                if likeness < 2 and not near:
                    continue
                best = score, one
        if best:
            best[1].gone = True

    def listed(self, sentence: Sentence, turn: Turn) -> None:
        """Take note of one row of a tool's list of tasks; its last state counts."""
        key = plain(sentence.text)
        for one in reversed(self.all):
            if one.listed and plain(one.text) == key:
                if sentence.box == "-":
                    one.gone = True
                one.kind = DONE if sentence.box == "x" else TASK
                one.last = turn.line
                return
        if sentence.box in "x ":
            self.add(
                DONE if sentence.box == "x" else TASK,
                sentence.text,
                turn,
                sentence_rules.SURE,
                listed=True,
            )


def _parted(text: str, language: str) -> tuple[str, str]:
    """Return a sentence and its reason.

    The reason stays in the sentence where the rest would be too short.
    """
    found = cues(language).find("general", "because", text)
    if not found or found.start() < 12:
        return text, ""
    return text, text[found.end() :].strip(" ,.:;，。")
