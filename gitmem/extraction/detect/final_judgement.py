"""Decides which candidates are still items when the session is over.

The session model judges candidates once more. The module has the thresholds for it. The module is
pure.
"""

from collections.abc import Sequence

from gitmem.extraction.classify.linear_model import likely
from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.detect.item_set import Candidate
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules
from gitmem.extraction.rules.dialogue import NUMBERED
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER

SHORT_ANSWER = 4  # content words of an answer that does not tell by itself what it answers
POINTING = 7  # content words of a task that says `it` or `that` for what it is about
WEAK = 0.3  # the score of what only may be an item
# how likely a kind must be at first for a sentence to be judged by the session model
PERHAPS = 0.02
# how likely it must be by the session model where nothing but the learned scores takes it for an
# item
COUNTS = {DECISION: 0.7, PATTERN: 0.3, TASK: 0.84, DONE: 0.9, PREFERENCE: 0.55, CONTEXT: 0.75}
# where rules do, and where they are sure; what was likely at first counts for these too
STAYS = {DECISION: 0.7, PATTERN: 0.6, TASK: 0.6, DONE: 0.75, PREFERENCE: 0.6, CONTEXT: 0.7}
STAYS_SURE = {DECISION: 0.65, PATTERN: 0.25, TASK: 0.45, DONE: 0.85, PREFERENCE: 0.15, CONTEXT: 0.6}
RULES, RATHER = (
    (PREFERENCE, PATTERN, DECISION),
    0.5,
)  # kinds that say how it is to be; how likely another one of them must be, and twice as likely, to be taken for it
OF_OTHERS = 0.85  # where it is announced of others, or of long ago
BY_ITSELF = 0.9  # but not where it is so likely by itself
ANNOUNCED, REASONED = 0.3, 0.15  # where a decision is announced in so many words; with its reason
AT_FIRST = 0.15  # how much it counts
ANSWERS = 0.6  # how likely what settles a question must be
EITHER = 0.75  # or both together, where it is a decision or a preference
OFFERED = 0.45  # how likely what the user only agreed to must be
CHOSEN = 0.15  # how likely what names a point of a list by its number must be
# how confident one must be of what is proposed or told to a model: precision 0.80 on sessions by
# others (docs/extraction.md)
CERTAIN = {
    DECISION: 0.8,
    ERROR: 0.8,
    PATTERN: 0.6,
    TASK: 0.84,
    DONE: 0.9,
    PREFERENCE: 0.85,
    CONTEXT: 0.9,
}
# confidence in what a marker, a commit or a list of tasks says, and in what nothing judged
WRITTEN, UNJUDGED = 0.9, 0.5
# how likely an announced decision must be by itself, and in its session
ALONE, NOT_AGAINST = 0.7, 0.03
# what an error of the agent's words alone, or without a cause or fix, loses
OF_AGENT, NO_DETAIL = 0.2, 0.2


def confidence(one: Candidate) -> float:
    """Return how likely an item is right, from 0 to 1."""
    if one.marked:
        return 1.0
    if one.kind == ERROR:
        return (
            min(1.0, one.score) - OF_AGENT * (one.role == ASSISTANT) - NO_DETAIL * (not one.detail)
        )
    if (
        one.listed
        or (one.marker and (one.heard is None or one.role == USER or one.kind in (DECISION, TASK)))
        or (one.heard is None and one.commit)
    ):
        return WRITTEN
    if one.heard is None:
        return UNJUDGED
    return WRITTEN if one.kind == DECISION and _announced(one.heard) else one.heard.by[one.kind]


def _announced(heard: Heard) -> bool:
    """Return whether a sentence explicitly announces a decision, `We decided to use X`.

    What surrounds the sentence must not speak against it.
    """
    if heard.by[DECISION] < NOT_AGAINST:
        return False
    said = sentence_rules.judged(Sentence(heard.text), heard.role, heard.language)
    sure = said is not None and said.kind == DECISION and said.score >= sentence_rules.SURE - 0.1
    return sure and likely(heard.text, heard.role, heard.language)[DECISION] >= ALONE


def stands(one: Candidate, heard: Heard) -> None:
    """Judge a candidate by the whole session: it may be another kind, or nothing."""
    _judge(one, heard)
    if one.kind in (PREFERENCE, PATTERN) and cues(heard.language).find(
        "general", "passing", heard.text
    ):
        one.gone = True  # how it is wanted for now


def _judge(one: Candidate, heard: Heard) -> None:
    by = heard.by
    if not one.weak:
        # what the session is about
        asked = one.turn <= 1 and one.kind == DECISION and one.score < sentence_rules.SURE
        sure = one.score >= sentence_rules.SURE - 0.1 and not asked
        least = (STAYS_SURE if sure else STAYS)[one.kind]
        by = {
            kind: (max(by[kind], heard.unread[kind]) if sure else by[kind])
            + AT_FIRST * heard.first[kind]
            for kind in COUNTS
        }
        if one.kind == DECISION and one.score >= sentence_rules.SURE and not asked:
            passing = cues(heard.language).find("general", "elsewhere", heard.text)
            least = OF_OTHERS if passing else REASONED if one.detail else ANNOUNCED
        if one.answer:
            chosen = one.kind == DECISION and one.score >= NUMBERED
            least = min(least, OFFERED if heard.role != USER else CHOSEN if chosen else ANSWERS)
        if by[one.kind] >= least:
            likest = max(RULES, key=lambda kind: heard.by[kind])
            if one.kind in RULES and heard.by[likest] >= max(RATHER, 2 * heard.by[one.kind]):
                by_itself = likely(heard.text, heard.role, heard.language)[one.kind]
                one.kind = likest if by_itself < BY_ITSELF else one.kind
            return
        # whatever one calls it
        if (
            one.answer
            and one.kind in (DECISION, PREFERENCE)
            and by[DECISION] + by[PREFERENCE] >= EITHER
        ):
            one.kind = max((DECISION, PREFERENCE), key=lambda kind: by[kind])
            return
    best = max(COUNTS, key=lambda kind: by[kind])
    one.gone = (one.weak and one.turn <= 1 and best == DECISION) or by[best] < COUNTS[best]
    one.kind, one.score = best, round(0.4 + 0.4 * min(1.0, by[best]), 2)


SHORT = 8  # content words of an answer that may not tell by itself what it is about
LOOKED = 8  # sentences of the agent that are looked at
DETAIL = 500  # characters
BEFORE, AFTER = 160, 240  # characters of a sentence that is told beside


class QuotedContext:
    """The sentences of a session by their turns."""

    def __init__(self, heard: Sequence[Heard]) -> None:
        self._turns: dict[int, list[Heard]] = {}
        for one in heard:
            self._turns.setdefault(one.turn, []).append(one)

    def around(self, answer: Heard, told: str, proposal: str) -> list[str]:
        """Return what was said around a short answer of which so much is `told`.

        This is said by the user before, and by the agent before (the `proposal`, where it is known)
        and after it.

        Nothing where it tells all by itself.
        """
        language = answer.language
        if answer.role != USER or len(content(answer.text, language)) > SHORT:
            return [proposal] if proposal else []
        words = content(f"{told} {proposal}", language)
        before = self._before(answer, words)
        proposal = proposal or self._best(answer, self._said(answer.turn - 1)[-LOOKED:], words)
        own = content(answer.text, language)
        after = self._best(
            answer, self._said(answer.turn + 1)[:LOOKED], words | content(proposal, language)
        )
        after = after or self._best(
            answer,
            [
                one
                for one in self._said(answer.turn + 2)
                if len(own & content(one.text, language)) > 1
            ],
            own,
        )
        return [part for part in (before, proposal, after) if part]

    def _said(self, turn: int) -> list[Heard]:
        return [one for one in self._turns.get(turn, []) if one.role != USER]

    def _before(self, answer: Heard, words: frozenset[str]) -> str:
        mine = self._turns.get(answer.turn, [])
        # what the agent spoke to
        asked = self._turns.get(answer.turn - 2, []) if self._said(answer.turn - 1) else []
        said = [one for one in asked if one.role == USER]
        said += mine[: next((n for n, one in enumerate(mine) if one is answer), 0)]
        last = said[-1].text if said else ""
        here = content(last, answer.language)
        return last if len(here) > 1 and here - words and len(last) <= BEFORE else ""

    def _best(self, answer: Heard, said: Sequence[Heard], words: frozenset[str]) -> str:
        """Return the sentence that shares most of these words and has others, the first of them.

        Empty where none does.
        """
        best, most = "", 0
        for one in said:
            here = content(one.text, answer.language)
            if (
                len(here & words) > most
                and here - words
                and len(one.text) <= AFTER
                and not sentence_rules.asks(one.text, answer.language)
            ):
                best, most = one.text, len(here & words)
        return best


def with_quotes(detail: str, quoted: Sequence[str], most: int = DETAIL) -> str:
    """Return a detail with what was said beside it, as far as whole quotations fit."""
    for part in quoted:
        if part not in detail and len(detail) + len(part) + 3 <= most:
            detail = f"{detail} “{part}”".strip()
    return detail
