"""Plain statements: which kind of thing a sentence says by the phrases of its language. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from gitmem.extraction import guards
from gitmem.extraction.markers import stripped
from gitmem.extraction.phrases import PhraseMatch, count_content, language_data, tokenized
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER

_BECAUSE = re.compile(
    r"(?i)\s(?:because|due to|porque|pois|ya que|já que|puesto que|por causa d[aeo])\b|因为|由于"
)
_CLAUSE_END = re.compile(r" (?:[,;:—–，；]|because|since|porque|pois|ya que|já que|因 为) ")
LEAST = 3  # words of content of an explanation that says what it explains
# of phrases that begin at the same word the first of these decides: `the cache was why` is a cause,
# `I fixed the test` is done
ORDER = ("cause", PREFERENCE, DECISION, TASK, DONE, PATTERN, CONTEXT, "fix")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says: its kind, and the sentence without what leads to it."""

    kind: str
    text: str
    stands_alone: bool = True  # it names what it is about, in enough words


@lru_cache(maxsize=2048)
def statement(text: str, role: str, language: str) -> Statement | None:
    """Return what a sentence states plainly; None if it states nothing.

    Of several phrases the first one in the sentence decides.
    """
    confirms = role == ASSISTANT and guards.said_in("confirms", text, language)
    text = guards.without_request(stripped(text, language), language)
    said = tokenized(text)
    if confirms and not guards.unfit(text, language) and not guards.withheld(said, language):
        return Statement(DECISION, text)
    if guards.unfit(text, language):
        return None
    matches = [
        (match.start, order, name, match.end)
        for order, name in enumerate(ORDER)
        if (match := _cue(said, name, role, language)) is not None
    ]
    if not matches or guards.withheld(said, language):
        return None
    start, _, name, end = min(matches)
    if guards.supposed(said[: start + 1], language) or guards.is_taken_back(said[start:], language):
        return None
    if guards.reported(_clauses(said, end), language) or guards.is_hearsay(said, start, language):
        return None
    if name == DECISION and guards.depends(said[start:], language):
        return None
    if name not in ("cause", "fix"):
        return Statement(name, text)
    return Statement(ERROR, text, count_content(said, language_data(language).stop) >= LEAST)


def _clauses(said: str, end: int) -> str:
    """Return a tokenized sentence up to the end of the clause in which a phrase ends."""
    end_of_clause = _CLAUSE_END.search(said, max(0, end - 1))
    return said[: end_of_clause.start() + 1] if end_of_clause else said


def reason_in(text: str) -> str:
    """Return the reason that a statement gives: what follows `because`."""
    because = _BECAUSE.search(text)
    return text[because.end() :].strip(" .:;，。") if because and because.start() else ""


def _cue(said: str, name: str, role: str, language: str) -> PhraseMatch | None:
    here = language_data(language)
    explains = name in ("cause", "fix")
    kind = ERROR if explains else name
    lists = [name] if explains else ["any", "user" if role == USER else "agent"]
    match = here.phrases(kind, *lists).find(said, here.stop)
    return None if match and here.phrases(kind, "not").search(said) else match


def complains(text: str, language: str) -> bool:
    """Return whether a sentence says that something goes wrong."""
    symptoms = language_data(language).phrases(ERROR, "symptom")
    return bool(symptoms.search(tokenized(text))) and not is_fine(text, language)


def is_fine(text: str, language: str) -> bool:
    """Return whether a sentence says that nothing is wrong, or only supposes it."""
    return language_data(language).phrases(ERROR, "not").search(tokenized(text)) is not None
