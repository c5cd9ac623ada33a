"""What keeps a sentence from being a statement of its speaker.

Questions, suppositions, reported speech, quotations, pasted text and drafts. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from gitmem.extraction.phrases import language_data, tokenized
from gitmem.extraction.sentences import Sentence

SHORTEST, LONGEST = 8, 420  # characters of a sentence that can be a statement
ASKING = 3  # words before a phrase that asks for a text: `can you please`
POINTING = 90  # characters of a sentence that is about the one before or after it
PASTED = 1500  # characters of a user's message that is taken for a pasted text
_NOT = re.compile(r" (?:not|don't|never|mustn't|can't|shouldn't|não|no|nunca|别|不) (?:to )?$")
_QUOTATION = re.compile(r"^[\"“«‘「『].*[\"”»’」』][.!。]?$")
_CLAUSES = re.compile(
    r"(?i)(?<=[,;:—–-])\s+|(?<=[，；])|(?<=\s)(?=¿)"
    r"|\s(?=(?:so|and|but|e|então|mas|y|así que|pero|entonces)\s)"
)
_LETTER_HEAD = re.compile(
    r"(?i)(?:from|to|cc|subject|date|de|para|assunto|asunto|fecha|data|发件人|收件人|主题)\s*[:：]"
)
_GREETING = re.compile(r"(?i)(?:dear|estimad[oa]s?|prezad[oa]s?|car[oa]s|尊敬的)\b.{1,40}[,:，：]")
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u4e00-\u9fff]")
_LOG = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d(?::\d\d|\]| <)|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b"
    r"|Traceback |\w+(?:Error|Exception)\b|npm |\+\+\+ |@@ )"
)


def asks(text: str, language: str) -> bool:
    """Return whether a sentence asks."""
    end = text.rstrip("\"'”’)]*_ ")
    return (
        end.endswith(("?", "？", "呢", "吗"))
        or text.startswith("¿")
        or language_data(language).phrases("guards", "question").search(tokenized(text)) is not None
    )


def unfit(text: str, language: str) -> bool:
    """Return whether a text cannot be a statement, whatever phrase is in it."""
    shortest = SHORTEST // 2 if language == "zh" else SHORTEST
    return (
        not shortest <= len(text) <= LONGEST
        or not _LETTERS.search(text)
        or bool(_QUOTATION.match(text) or _LOG.match(text))
        or asks(text, language)
        or said_in("instruction", text, language)
    )


def without_request(text: str, language: str) -> str:
    """Return a sentence that asks without the request at its end.

    `I prefer tabs, so could you change it?` states something before it asks.
    """
    if asks(text, language) and not said_in("request", text, language):
        for clause in _CLAUSES.finditer(text):
            if said_in("request", text[clause.end() :], language):
                return text[: clause.start()].rstrip(" ,;:—–-，；")
    return text


@lru_cache(maxsize=2048)
def withheld(said: str, language: str) -> bool:
    """Return whether a tokenized sentence says that nothing is settled, or who said it."""
    return language_data(language).phrases("guards", "anywhere").search(said) is not None


def supposed(before: str, language: str) -> bool:
    """Return whether the tokens before a phrase make it a supposition: `if we decided to`."""
    return language_data(language).phrases("guards", "before").search(before) is not None


def reported(clauses: str, language: str) -> bool:
    """Return whether the tokens up to the end of a statement tell of others, or of the past."""
    return language_data(language).phrases("guards", "reported").search(clauses) is not None


def is_hearsay(said: str, start: int, language: str) -> bool:
    """Return whether somebody else is named who says the phrase at `start`: `Ana told me that`."""
    here, marked = language_data(language), f"{said[:start]} ${said[start:]}"
    hearsay = here.phrases("guards", "hearsay").search(marked)
    return hearsay is not None and here.phrases("guards", "own").search(marked) is None


def depends(after: str, language: str) -> bool:
    """Return whether the tokens from a phrase on name a condition: `if the budget allows`."""
    return language_data(language).phrases("guards", "after").search(after) is not None


def is_taken_back(said: str, language: str) -> bool:
    """Return whether tokens say `forget it`, and not `don't forget it`."""
    match = language_data(language).phrases("guards", "retract").search(said)
    return match is not None and _NOT.search(said[: match.start + 1]) is None


def objects(text: str, language: str) -> bool:
    """Return whether a sentence takes back or corrects the one before it."""
    corrects = said_in("correct", text, language) or said_in("amend", text, language)
    return corrects or is_taken_back(tokenized(text), language)


def retracted(said: Sequence[Sentence], language: str) -> int:
    """Return how many sentences of a message its speaker takes back in the same message."""
    numbers = [n for n, part in enumerate(said) if is_taken_back(tokenized(part.text), language)]
    return max(numbers, default=0)


def points_back(text: str, language: str) -> bool:
    """Return whether a sentence says that the one before is a rule (`that's our convention`)."""
    return len(text) <= POINTING and ":" not in text and said_in("back", text, language)


def announces(text: str, language: str) -> bool:
    """Return whether a sentence says that the next one is the cause (`I found it`)."""
    return len(text) <= POINTING and said_in("announces", text, language)


def said_in(name: str, text: str, language: str) -> bool:
    """Return whether a phrase of a list of guards is in a text."""
    return language_data(language).phrases("guards", name).search(tokenized(text)) is not None


def asks_for_text(said: Sequence[Sentence], language: str) -> bool:
    """Return whether a user asks for a text, whose sentences are not the agent's own."""
    return any(said_in("writing", part.text, language) for part in said[:3])


def own_words(said: Sequence[Sentence], text: str, language: str) -> Iterator[Sentence]:
    """Yield the sentences of a user's message that are not of a text pasted into it.

    A pasted text follows a line that introduces it (`this is from the README:`) or the head of a
    letter; in a message of many characters it is all but the first and the last paragraph. What
    follows `write an email` is what the text is to say.
    """
    said = said[: _drafted_from(said, language)]
    last = max((part.place for part in said if part.opens), default=0)
    pasted = _pasted_from(text, language)
    opened = 0
    for part in said:
        opened += part.opens and bool(part.place)
        in_middle = opened and part.place < last
        if part.row < pasted and not (len(text) > PASTED and in_middle):
            yield part


def _drafted_from(said: Sequence[Sentence], language: str) -> int:
    """Return the number of the sentence that asks for a text, and of those after it."""
    asking = language_data(language).phrases("guards", "writing")
    for number, sentence in enumerate(said):
        words = tokenized(sentence.text)
        match = asking.search(words)
        if (
            match
            and ":" not in words[: match.start]
            and len(words[: match.start].split()) <= ASKING
        ):
            return number
    return len(said)


def _pasted_from(text: str, language: str) -> int:
    """Return the number of the first line of a pasted text."""
    lines = text.split("\n")
    for number, (line, following) in enumerate(pairwise([*lines, ""]), start=1):
        if line.rstrip().endswith((":", "：")) and said_in("pasted", line[:200], language):
            return number
        if _LETTER_HEAD.match(line) and _LETTER_HEAD.match(following):
            return number
        if number > 1 and _GREETING.match(line):
            return number
    return len(lines)
