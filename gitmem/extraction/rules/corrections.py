"""What overrules what: a correction of a user, a newer decision about the same thing. Pure."""

import re
from dataclasses import dataclass

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.words import content, shared

LEAST = 8  # characters of what is decided, before its reason
_SLOT = re.compile(
    r"(?i)\b(?:for|as|to handle|para|como|en|em|no|na)\b\s+(?:the |our |all |a |an |o |a |os |as |el |la |los |las )?(.{3,80})$"
)
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a decision chooses, what it refuses, what for, with which numbers: sets of words."""

    words: frozenset[str]
    refused: frozenset[str]
    chosen: frozenset[str]
    purpose: frozenset[str]
    numbers: frozenset[str]


def choice(text: str, words: frozenset[str], language: str) -> Choice:
    """Return what a decision chooses; why is no part of it."""
    because = cues(language).find("general", "because", text)
    text = text[: because.start()] if because and because.start() >= LEAST else text
    found = cues(language).find("overrule", "instead", text)
    refused: frozenset[str] = frozenset()
    chosen = words
    if found:
        refused = content(next((part for part in found.groups() if part), ""), language)
        chosen = content(text[: found.start()] + " " + text[found.end() :], language)
    slot = _SLOT.search(text)
    return Choice(words, refused, chosen, content(slot[1], language) if slot else frozenset(), frozenset(_NUMBERS.findall(text)))


def overruled(text: str, language: str, *, first: bool) -> bool:
    """Whether a sentence of a user takes back what was said before."""
    here = cues(language)
    return bool((first and here.find("overrule", "turn", text)) or here.find("overrule", "back", text))


def replaces(new: Choice, old: Choice) -> bool:
    """Whether a newer decision takes the place of an older one: it refuses what that chose, chooses something else for the same purpose, or another number."""
    both = len(new.words & old.words)
    if not both:
        return False
    if new.refused and new.refused & old.chosen and not new.refused & new.chosen and not new.refused & old.refused:
        return True
    if min(len(old.words), len(new.words)) < 2:
        return False
    here, there = new.purpose, old.purpose
    if here and there and here & there and len(here | there) <= 6 and shared(here, there) >= 0.99:
        mine, theirs = new.words - here, old.words - there
        if mine and theirs and not mine & theirs:
            return True
    return both >= 3 and bool(new.numbers) and new.numbers != old.numbers and shared(new.words, old.words) >= 0.7
