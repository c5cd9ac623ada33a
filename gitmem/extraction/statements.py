"""Plain statements: which kind of thing a sentence says by the phrases of its language. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from gitmem.extraction import guards
from gitmem.extraction.markers import stripped
from gitmem.extraction.phrases import PhraseMatch, has_cue, language_data, tokenized
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER

_BECAUSE = re.compile(
    r"(?i)\s(?:because|due to|porque|pois|ya que|já que|puesto que|por causa d[aeo])\b|因为|由于"
)
_CLAUSE_END = re.compile(r" (?:[,;:—–，；]|because|since|porque|pois|ya que|já que|因 为) ")
LEAST = 3  # words of content of an explanation that says what it explains
ORDER = (PREFERENCE, DECISION, TASK, DONE, PATTERN, CONTEXT)


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
    if not has_cue(said, language) or guards.unfit(text, language):
        return None
    found = [
        (match.start, order, kind, match.end)
        for order, kind in enumerate(ORDER)
        if (match := _cue(said, kind, role, language)) is not None
    ]
    # `I fixed the test` is done, `the cache was why` is a cause
    last = {"cause": -1, "fix": len(ORDER)}
    found += [
        (match.start, last[name], name, match.end) for name, match in explanations(said, language)
    ]
    if not found or guards.withheld(said, language):
        return None
    start, _, kind, end = min(found)
    if guards.supposed(said[: start + 1], language) or guards.is_taken_back(said[start:], language):
        return None
    if guards.reported(_clauses(said, end), language):
        return None
    if kind not in ("cause", "fix"):
        return Statement(kind, text)
    return Statement(ERROR, text, len(content_words(said, language)) >= LEAST)


def _clauses(said: str, end: int) -> str:
    """Return a tokenized sentence up to the end of the clause in which a phrase ends."""
    found = _CLAUSE_END.search(said, max(0, end - 1))
    return said[: found.start() + 1] if found else said


def content_words(said: str, language: str) -> list[str]:
    """Return the words of a tokenized sentence that carry something."""
    stop = language_data(language).stop
    return [token for token in said.split() if token not in stop and token[0].isalnum()]


def reason_in(text: str) -> str:
    """Return the reason that a statement gives: what follows `because`."""
    found = _BECAUSE.search(text)
    return text[found.end() :].strip(" .:;，。") if found and found.start() else ""


def _cue(said: str, kind: str, role: str, language: str) -> PhraseMatch | None:
    here = language_data(language)
    lists = ("any", "user" if role == USER else "agent")
    found = [
        match
        for name in lists
        if (match := here.phrases(kind, name).find(said, here.stop)) is not None
    ]
    if not found or here.phrases(kind, "not").search(said):
        return None
    return min(found, key=lambda match: match.start)


def explanations(said: str, language: str) -> list[tuple[str, PhraseMatch]]:
    """Return the phrases in a tokenized sentence that say why something failed or what helped."""
    here = language_data(language)
    found = [
        (name, match)
        for name in ("cause", "fix")
        if (match := here.phrases(ERROR, name).find(said, here.stop)) is not None
    ]
    return [] if found and here.phrases(ERROR, "not").search(said) else found


def complains(text: str, language: str) -> bool:
    """Return whether a sentence says that something goes wrong."""
    said = tokenized(text)
    here = language_data(language)
    symptom = here.phrases(ERROR, "symptom").search(said)
    return symptom is not None and not is_fine(text, language)


def is_fine(text: str, language: str) -> bool:
    """Return whether a sentence says that nothing is wrong, or only supposes it."""
    return language_data(language).phrases(ERROR, "not").search(tokenized(text)) is not None
