"""What was found of a session so far: what is said again, overruled, undone or done changes what was found before. Pure, bounded memory."""

from collections.abc import Iterator
from itertools import islice

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.detect.candidates import Candidate
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content, covered, shared
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.extraction.rules.corrections import choice, replaces
from gitmem.records.items import DECISION, DONE, PATTERN, PREFERENCE, TASK, plain
from gitmem.transcripts.turn import USER, Turn

KEPT = 3000  # candidates that are held at one time
COMPARED = 1200  # of them, the latest, that a new one is compared with
TEXT, DETAIL = 300, 500  # characters
BRIEF = 2  # words of a correction that says what to take, and not instead of what
SHORT = 6  # characters of a decision that says what was decided


class Found:
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
        self.all = sorted(alive[len(alive) // 4 :] if len(alive) > KEPT * 3 // 4 else alive, key=lambda one: one.order)

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
        part: bool = False,
    ) -> Candidate | None:
        """Take note of something that may be an item; None where it says nothing."""
        words = content(text, self.language)
        if not words or (kind == DECISION and not (marker or marked or turn.marked) and len(text) < SHORT and self.language != "zh"):
            return None
        if len(text) > TEXT:
            text = f"{text[: TEXT - 1].rstrip()}…"
        text, reason = _parted(text, self.language) if kind in (DECISION, PREFERENCE, PATTERN) and not detail else (text, "")
        again = self._same.get((kind, plain(text)))
        if again is not None and not again.gone and not listed:
            again.at, again.last, again.turn = turn.at or again.at, max(again.last, turn.line), self.turn
            again.marked = again.marked or marked or turn.marked
            again.detail = again.detail or detail or reason
            if (again.weak and not weak) or (marker and not again.marker):  # now it is said as an item
                again.weak, again.marker, again.heard, again.role, again.score = (
                    False,
                    again.marker or marker,
                    heard,
                    turn.role,
                    max(score, again.score),
                )
                self._takes_effect(again)
            return again
        made = Candidate(
            kind, text, detail or reason, turn.at, turn.line, turn.line, turn.files[:8], turn.role, score, self.order, words, self.turn, marked or turn.marked, marker, listed, heard=heard, weak=weak, part=part, commit=turn.command if turn.tool == "commit" else "",
        )  # fmt: skip
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
                    if one.choice and one is not made and not one.gone and not one.marked and replaces(made.choice, one.choice):
                        one.gone, one.over = True, made
        if made.kind == DONE:
            self.did(made.words, made)

    def recent(self, many: int) -> Iterator[Candidate]:
        """Yield the latest candidates that are more than a guess, the last one first."""
        return islice((one for one in reversed(self.all) if not one.weak), many)

    def did(self, done: frozenset[str], by: Candidate | None = None) -> None:
        """A task that is done is pending no more."""
        for one in self.all[-COMPARED:]:
            if (
                one.kind == TASK
                and not one.gone
                and not one.listed
                and one.turn < self.turn
                and covered(one.words, done) >= 0.5
                and len(one.words & done) >= min(2, len(one.words))
            ):
                one.gone, one.over = True, by

    def overrule(self, text: str, sentence: Sentence, turn: Turn) -> None:
        """The user overrules what was decided just before: what the words are about, else what the agent said last."""
        words = content(text, self.language)
        best: tuple[float, Candidate] | None = None
        for one in self.recent(60):
            if one.gone or one.marked or one.kind not in (DECISION, PREFERENCE, PATTERN, TASK) or self.turn - one.turn > 30:
                continue
            likeness = len(words & one.words)
            near = self.turn - one.turn <= 2
            if one.role == USER and likeness < 2 and not cues(self.language).find("overrule", "self", text):
                continue  # `no, ...` is said to the agent
            score = likeness + (0.6 if near and sentence.first else 0) - (self.turn - one.turn) * 0.01
            if (likeness or (near and sentence.first and one.kind == DECISION)) and (best is None or score > best[0]):
                if likeness < 2 and not near:
                    continue
                best = score, one
        if best:
            best[1].gone = True

    def instead(self, made: Candidate, said: frozenset[str]) -> None:
        """`no, use npm` takes the place of the user's own `Use pnpm` where the agent has just repeated that, and no more; `said` are the agent's words."""
        if not said:
            return
        for one in self.recent(12):
            if (
                one is not made
                and one.role == USER
                and one.kind in (DECISION, PREFERENCE)
                and self.turn - one.turn <= 2
                and said <= one.words
            ):
                if not one.gone and not one.marked:
                    one.gone, one.over = True, made
                return

    def undo(self, text: str, *, least: int = 2) -> None:
        """Something was undone: what was decided or done that its words are about."""
        words = content(text, self.language)
        for one in self.recent(80):
            if (
                not one.gone
                and one.kind in (DECISION, DONE)
                and not one.marked
                and len(words & one.words) >= least
                and shared(words, one.words) >= 0.3
            ):
                one.gone = True
                return

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
            self.add(DONE if sentence.box == "x" else TASK, sentence.text, turn, rules.SURE, listed=True)


def _parted(text: str, language: str) -> tuple[str, str]:
    """Return a sentence and its reason, which stays in the sentence where the rest would be too short."""
    found = cues(language).find("general", "because", text)
    if not found or found.start() < 12:
        return text, ""
    return text, text[found.end() :].strip(" ,.:;，。")
