"""What a dialogue settles without saying so: a short answer to a question, a yes to a proposal, what is put off, what was done at the end of a piece of work. Pure."""

import re
from dataclasses import dataclass

from gitmem.model.item import DECISION, PREFERENCE, TASK
from gitmem.summarise import rules
from gitmem.summarise.cues import cues
from gitmem.summarise.sentences import Sentence
from gitmem.summarise.words import content

ANSWER = 30  # words of an answer to a question
HELD = 40  # sentences of the agent's last words that are held


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer settles."""

    kind: str
    text: str
    detail: str
    score: float


class Exchange:
    """The agent's last words, which a user answers."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.language = "en"
        self.fresh = False  # the user has not answered yet

    def agent(self, sentences: list[Sentence], language: str) -> None:
        """Take the agent's words; those of one stretch of work are one."""
        texts = [one.text for one in sentences]
        self.said = [*(self.said if self.fresh else []), *texts][-HELD:]
        self.language = language
        self.fresh = True

    def answered(self, sentence: Sentence, language: str) -> tuple[Settled | None, bool]:
        """Return what a user's first sentence settles, and whether it is an answer that is nothing else."""
        said = self.said if self.fresh else []
        here = cues(language)
        text = sentence.text
        if not said or rules.asks(text, language):
            return None, False
        end = said[-6:]
        there = cues(self.language)
        questions = [one for one in end if rules.asks(one, self.language)]
        asked = any(there.find("exchange", "choice", one) for one in questions)
        if questions and not asked and there.find("exchange", "facts", questions[-1]):
            return None, False  # a fact was asked for
        offers = [one for one in end if cues(self.language).find("exchange", "proposes", one)]
        if here.find("exchange", "unneeded", text) and len(content(text, language)) >= 3 and not here.find("exchange", "idle", text):
            return Settled(DECISION, rules.stripped(text, language), "", 0.66), True
        if here.find("exchange", "refuse", text):
            return None, False
        if here.find("exchange", "accept", text):
            if any(cues(self.language).find("exchange", "permission", one) for one in end[-2:]) or not offers:
                return None, True
            best = self._offered(offers, text)
            return (Settled(DECISION, best, "", 0.66), True) if best else (None, True)
        if not (asked or len(offers) > 0 or len(end) > 2):
            return None, False
        words = content(rules.stripped(text, language), language)
        length = len(text.split()) if language != "zh" else len(text) // 2
        if not words or length > ANSWER:
            return None, False
        near = [(len(words & content(one, language)), n, one) for n, one in enumerate(end)]
        likeness, _, about = max(near)
        chooses = here.find("exchange", "then", text)
        if not asked and not chooses and (length > 14 or len(words) < 2):
            return None, False
        if here.find("exchange", "symptom", text) or here.find("error", "stated", text):
            return None, False  # it tells of something, and chooses nothing
        if not ((asked and likeness) or (offers and likeness) or (asked and chooses) or (chooses and likeness)):
            return None, False
        if here.find("skip", "hypothetical", text) or here.find("skip", "boilerplate", text):
            return None, False
        answer = rules.stripped(text, language)
        context = "" if not likeness else _bare(about, self.language)
        if len(words) < 4 and context:
            return Settled(DECISION, f"{answer.rstrip('.!。')} ({_clause(context, words, language).rstrip('.。?？ ')})", "", 0.7), True
        return Settled(DECISION, answer, context if not rules.asks(about, self.language) else "", 0.7), True

    def _offered(self, offers: list[str], text: str) -> str:
        """Return what was proposed, without the words that propose it."""
        for one in reversed(offers):
            if cues(self.language).find("exchange", "work", one):
                continue  # a piece of work, not a choice
            bare = _bare(one, self.language)
            if len(content(bare, self.language)) >= 2:
                return bare.rstrip("?？ ")
        return ""

    def put_off(self, sentence: Sentence, language: str) -> Settled | None:
        """Return the task that a user puts off: `do it tomorrow`."""
        here = cues(language)
        found = here.find("exchange", "defer", sentence.text)
        if not found or not self.said or rules.asks(sentence.text, language) or len(sentence.text) > 200 or here.find("skip", "hypothetical", sentence.text):
            return None
        text = rules.stripped(sentence.text, language)
        words = content(text.replace(found.group(), " "), language)
        if here.find("exchange", "parting", text):
            return None
        pending = [
            one
            for one in self.said[-8:]
            if cues(self.language).find("task", "sure", one)
            or (rules.labelled(one) is not None and (rules.labelled(one) or ("",))[0] == TASK)
        ]
        about = max(pending, key=lambda one: len(words & content(one, self.language)), default="")
        refers = len(words) < 3 or (len(words) < 6 and here.find("exchange", "refers", text))
        if refers and about:
            return Settled(TASK, _bare(about, self.language), text, 0.8)
        return (
            Settled(TASK, text, "", 0.72) if len(words) >= (1 if about else 2) and not (refers and not about and len(words) < 3) else None
        )


def correction(sentence: Sentence, language: str) -> Settled | None:
    """Return how a user wants it instead: `no, use X`."""
    text = sentence.text
    here = cues(language)
    if rules.asks(text, language) or not here.find("overrule", "correct", text):
        return None
    bare = rules.stripped(text, language)
    if len(content(bare, language)) < 1 or len(bare) > 240 or cues(language).find("skip", "hypothetical", text):
        return None
    if here.find("exchange", "symptom", bare) and not here.find("exchange", "style", text):
        return None
    return Settled(PREFERENCE if here.find("exchange", "style", text) else DECISION, bare, "", 0.74)


def _bare(text: str, language: str) -> str:
    text = rules.stripped(text, language)
    found = cues(language).find("exchange", "offer", text)
    if found and found.end() < len(text) - 6:
        text = text[found.end() :].lstrip()
        text = text[:1].upper() + text[1:]
    return text


def _clause(text: str, words: frozenset[str], language: str) -> str:
    """Return the part of a sentence that words are about, all of it when it is short."""
    if len(text) <= 60:
        return text
    parts = [part.strip() for part in re.split(r"[,;:，；：]\s+|(?<=[，；：])| (?:or|ou|o) ", text)]
    best = max(parts, key=lambda part: len(words & content(part, language)))
    return best if len(best) > 8 else text[:120]
