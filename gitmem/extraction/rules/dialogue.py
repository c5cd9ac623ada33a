"""What a dialogue settles without saying so.

This is a short answer to a question, a yes to a proposal, what is put off, and what was done at the
end of a piece of work. The module is pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence, split
from gitmem.extraction.language.words import content, shared
from gitmem.extraction.rules import sentence_rules
from gitmem.records.items import DECISION

LEAST = 8  # characters of what is decided, before its reason
_PURPOSE = re.compile(
    r"(?i)\b(?:for|as|to handle|para|como|en|em|no|na)\b\s+(?:the |our |all |a |an |o |a |os |as "
    r"|el |la |los |las )?(.{3,80})$"
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
    """Return what a decision chooses; why is not a part of it."""
    because = cues(language).find("general", "because", text)
    text = text[: because.start()] if because and because.start() >= LEAST else text
    found = cues(language).find("overrule", "instead", text)
    refused: frozenset[str] = frozenset()
    chosen = words
    if found:
        refused = content(next((part for part in found.groups() if part), ""), language)
        chosen = content(text[: found.start()] + " " + text[found.end() :], language)
    purpose = _PURPOSE.search(text)
    return Choice(
        words,
        refused,
        chosen,
        content(purpose[1], language) if purpose else frozenset(),
        frozenset(_NUMBERS.findall(text)),
    )


def overruled(text: str, language: str, *, first: bool) -> bool:
    """Whether a sentence of a user takes back what was said before."""
    here = cues(language)
    return bool(
        (first and here.find("overrule", "turn", text)) or here.find("overrule", "back", text)
    )


def replaces(new: Choice, old: Choice) -> bool:
    """Return whether a newer decision replaces an older one.

    It refuses what the older one chose, chooses something else for the same purpose, or chooses
    another number.
    """
    both = len(new.words & old.words)
    if not both:
        return False
    if (
        new.refused
        and new.refused & old.chosen
        and not new.refused & new.chosen
        and not new.refused & old.refused
    ):
        return True
    here, there = new.purpose, old.purpose
    if here and there and len(here | there) <= 6 and shared(here, there) >= 0.99:
        mine, theirs = new.words - here, old.words - there
        if mine and theirs and not mine & theirs:
            return True
    return (
        both >= 3
        and bool(new.numbers)
        and new.numbers != old.numbers
        and shared(new.words, old.words) >= 0.7
    )


ANSWER = 30  # words of an answer to a question
FILLERS = 6  # words in front of a choice that choose nothing
REMEMBERED = 2  # turns of an agent over which the options that it listed can still be picked
LONG = 240  # characters of a sentence that tells what an answer is about
FEW = 8  # content words of an answer that may not tell all by itself
HELD = 40  # sentences of the agent's last words that are held
NUMBERED = 0.75  # the score of an answer that names a point of a list by its number


_PLACES = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "primeira": 1,
    "segunda": 2,
    "terceira": 3,
    "primera": 1,
    "tercera": 3,
    "primeiro": 1,
    "segundo": 2,
    "terceiro": 3,
    "primero": 1,
    "tercero": 3,
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "a": 1,
    "b": 2,
    "c": 3,
    "d": 4,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "um": 1,
    "uma": 1,
    "dois": 2,
    "duas": 2,
    "três": 3,
    "uno": 1,
    "una": 1,
    "dos": 2,
    "tres": 3,
}
# words in front of a choice that choose nothing
_FILLER = re.compile(
    r"(?i)(?:(?:okay|ok|then|so|yes|yeah|yep|right|hm+|well|vale|pues|entonces|então|tá|beleza"
    r"|bueno|bom|sí|sim)\b|好|行|嗯|那就|那|就)[\s,.!，。]*"
)
_CHOOSES = re.compile(
    r"(?i)(?:(?:we|i|let.s)(?:.ll| will|.d)? )?(?:go|going|went|take|do|use|pick|chose|choose|vamos"
    r"|vai|voy|fico|me quedo|va)(?: (?:with|for|com|con|de))? |选|用|按"
)
_USES = re.compile(r"(?i)\buse|用")
_NAMES = (
    "first|second|third|fourth|primeira|segunda|terceira|primera|tercera|primeiro|segundo|terceiro"
    "|primero|tercero"
)
_ENDS = (
    r"(?=$|\s*[,;!?:，。；：！)）吧]|\.(?!\d)|\s[-–—]\s|\s+(?:then|please|it is|because|with|but|for now"
    r"|thanks|por favor|entonces|então|porque|con|com|pero|mas)\b|因为)"
)
# a point of a list by its number: `option b`, `the second one`, `2, one file less`; not `2 files`,
# `1, 2`, `2 no`
_ORDINAL = re.compile(
    rf"(?i)(?:(?:the |a |la |o |el )?(?:option|opção|opción|number|número|variant"
    rf"|variante)\s+([a-d1-9]|one|two|three|four|um|uma|dois|duas|três|uno|una|dos|tres)|(?:方案"
    rf"|选项)\s*([一二三四a-dA-D1-9])|第([一二三四1-9])(?:个|种)"
    rf"|(?:the |a |la |o |el )?({_NAMES}) (?:one|option|opção|opción)|(?:the |a |la |o "
    rf"|el )({_NAMES})|({_NAMES})(?=[.!]?$)|(?:la |a |el |o )?([1-9]|[a-d]))"
    rf"{_ENDS}(?![,;，；]\s*(?:(?:[1-9]|[a-d])\b|(?:and|or|y|e|o|ou)\b))"
)
_POLITE = re.compile(
    r"(?i)(?:please|thanks|thank you|then|it is|por favor|gracias|obrigad[oa]|entonces|então|吧"
    r"|谢谢)(?:$|[\s.!,，。]+)"
)
_AROUND = " ,.;:!，。、；：-–—吧"
_NO = {
    "no",
    "nope",
    "nah",
    "no thanks",
    "não",
    "nem pensar",
    "no gracias",
    "不",
    "不要",
    "不行",
    "算了",
}
_INLINE = re.compile(r"(?:^|(?<=[\s:：；;，,（(]))([1-9]|[a-dA-D])[.)、）](?:\s+|(?=[^\s\d.)]))")

_LETTERED = re.compile(r"^(?:([A-Da-d]|[1-9])[.):]|\d{1,2}[.)])\s+")
_OR = re.compile(r"[,;，；]? ?(?:\b(?:or|o|ou|and|y|e)|或者?|还是)$")


def _ordinal(text: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return the verb of choice and the number that a text begins with.

    For example: `let's go with | number two`.
    """
    at = 0
    for _ in range(FILLERS):
        filler = _FILLER.match(text, at)
        if not filler or filler.end() == len(text):
            break
        at = filler.end()
    verb = _CHOOSES.match(text, at)
    return verb, _ORDINAL.match(text, verb.end() if verb else at)


def _place(name: str | None) -> int:
    """Return which point a name is of, from 1; 0 where it is of none."""
    return 0 if not name else _PLACES.get(name.lower(), int(name) if name.isdecimal() else 0)


def options(said: Sequence[Sentence]) -> tuple[str, ...]:
    """Return the options that an agent lists.

    These are the points of its list, else what it numbers in a line: `1. this; 2. that`.
    """
    points = tuple(_LETTERED.sub("", one.text) for one in said if one.point and one.opens)
    if len(points) > 1:
        return points
    text = " ".join(one.text for one in said)
    starts: list[re.Match[str]] = []
    for found in _INLINE.finditer(text):
        if _place(found[1]) == len(starts) + 1:
            starts.append(found)
    if len(starts) < 2:
        return points
    ends = [*(one.start() for one in starts[1:]), len(text)]
    return tuple(
        _OR.sub("", (split(text[one.end() : end]) or [""])[0]).rstrip(" ;；,，")
        for one, end in zip(starts, ends, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer settles."""

    kind: str
    text: str
    detail: str
    score: float
    context: str = ""  # the agent's sentence that it answers


class Exchange:
    """The agent's last words, which a user answers."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.language = "en"
        self.fresh = False  # the user has not answered yet
        self.answering = False  # the user's words that are read come right after the agent's
        self.points: tuple[str, ...] = ()  # the last list that the agent made
        self.since = 0  # turns of the agent since

    def agent(self, sentences: list[Sentence], language: str) -> None:
        """Take the agent's words; those of one stretch of work are one."""
        texts = [one.text for one in sentences]
        self.said = [*(self.said if self.fresh else []), *texts][-HELD:]
        self.lists(sentences)
        self.language = language
        self.fresh = True

    def lists(self, sentences: Sequence[Sentence]) -> None:
        """Take note of the list of options that somebody makes."""
        found = options(sentences)
        self.since = 0 if found else self.since + (not self.fresh)
        self.points = found or (self.points if self.since <= REMEMBERED else ())

    def begins(self) -> None:
        """A turn of the user begins."""
        self.answering = self.fresh

    def user(self) -> None:
        """The user's words were taken."""
        self.fresh = False

    def answered(self, sentence: Sentence, language: str) -> tuple[Settled | None, bool]:  # noqa: C901
        """Return what a user's first sentence settles, and whether it is an answer alone."""
        said = self.said if self.fresh else []
        here = cues(language)
        text = sentence.text
        if not said or sentence_rules.asks(text, language):
            return None, False
        end = said[-6:]
        there = cues(self.language)
        questions = [one for one in end if sentence_rules.asks(one, self.language)]
        asked = any(there.find("exchange", "choice", one) for one in questions)
        if questions and not asked and there.find("exchange", "facts", questions[-1]):
            return None, False  # a fact was asked for
        offers = [one for one in end if cues(self.language).find("exchange", "proposes", one)]
        if here.find("exchange", "unneeded", text) and len(content(text, language)) >= 3:
            return Settled(DECISION, sentence_rules.stripped(text, language), "", NUMBERED), True
        if here.find("exchange", "refuse", text):
            return None, False
        chosen = self.numbered(text, language)
        if chosen:
            return chosen, True
        if here.find("exchange", "accept", text):
            return None, True
        if not (asked or len(offers) > 0 or len(end) > 2):
            return None, False
        words = content(sentence_rules.stripped(text, language), language)
        length = len(text.split()) if language != "zh" else len(text) // 2
        if not words or length > ANSWER:
            return None, False
        near = [(len(words & content(one, language)), n, one) for n, one in enumerate(end)]
        likeness, _, about = max(near)
        direct = (
            asked
            and sentence_rules.asks(end[-1], self.language)
            and length <= 14
            and (len(words) > 1 or any(map(str.isdigit, text)))
            and not here.find("exchange", "request", text)
        )
        chooses = here.find("exchange", "then", text)
        if not asked and not chooses and (length > 14 or len(words) < 2):
            return None, False
        if here.find("exchange", "symptom", text) or (
            here.find("error", "stated", text) and not here.find("error", "not", text)
        ):
            return None, False  # it tells of something, and chooses nothing
        if not (
            (asked and likeness)
            or (offers and likeness)
            or (asked and chooses)
            or (chooses and likeness)
            or direct
        ):
            return None, False
        if here.find("skip", "hypothetical", text) or here.find("skip", "boilerplate", text):
            return None, False
        answer = sentence_rules.stripped(text, language)
        context = "" if not likeness else _bare(about, self.language)
        if len(words) < 4 and context:
            return Settled(DECISION, _with(answer, context, words, language), "", 0.7), True
        return Settled(DECISION, answer, "", 0.7, context), True

    def about(self, text: str, language: str, *, last: bool = False) -> str:
        """Return a short answer with what it answers.

        That is the agent's sentence that shares its words, else its last question, or for a single
        word or if `last` its last sentence.
        """
        if not self.said:
            return text
        words = content(text, language)
        end = self.said[-6:]
        likeness, n = max(
            (len(words & content(one, self.language)), n) for n, one in enumerate(end)
        )
        question = next(
            (one for one in reversed(end) if sentence_rules.asks(one, self.language)), ""
        ) or (end[-1] if last else "")
        if not (likeness or question):
            return text
        return _with(text, _bare(end[n] if likeness else question, self.language), words, language)

    def context(self, text: str, language: str) -> str:
        """Return the agent's sentence that a user's decision is about.

        It is one that shares its words, else the last one where the answer may not tell all by
        itself.
        """
        end = [one for one in self.said[-6:] if len(one) <= LONG]
        words = content(text, language)
        if not (end and words and self.answering) or cues(language).find(
            "exchange", "refuse", text
        ):
            return ""
        likeness, n = max(
            (len(words & content(one, self.language)), n) for n, one in enumerate(end)
        )
        return (
            _bare(end[n] if likeness else end[-1], self.language)
            if likeness or len(words) < FEW
            else ""
        )

    def numbered(self, text: str, language: str) -> Settled | None:
        """Return the point of the agent's list that a choice names by its number.

        For example: `2, we need no other service`.
        """
        points = self.points
        if not points:
            return None
        bare = sentence_rules.stripped(text, language)
        verb, found = _ordinal(bare)
        if not found:
            return None
        name = next(part for part in found.groups() if part).lower()
        if verb and _USES.search(verb.group()) and name.isalpha() and len(name) == 1:
            return None  # `use C, not C++`
        place = _place(name)
        if not 0 < place <= len(points):
            return None
        rest = bare[found.end() :].strip(_AROUND)
        if rest.lower() in _NO:
            return None
        here = cues(language)
        if (
            not verb
            and rest
            and (
                here.find("exchange", "symptom", rest)
                or here.find("error", "stated", rest)
                or rest.startswith("不")
            )
        ):
            return None  # it tells of a point, and chooses none
        point = points[place - 1]
        rest = rest if len(rest) > 5 and not _POLITE.fullmatch(rest) else ""
        return Settled(DECISION, sentence_rules.stripped(point, self.language), rest, NUMBERED)


def _bare(text: str, language: str) -> str:
    text = sentence_rules.stripped(text, language)
    found = cues(language).find("exchange", "offer", text)
    if found and found.end() < len(text) - 6:
        text = text[found.end() :].lstrip()
        text = text[:1].upper() + text[1:]
    return text


def _with(answer: str, told: str, words: frozenset[str], language: str) -> str:
    """Return a short answer with what it is about, unless it says that itself."""
    return (
        answer
        if content(told, language) <= words
        else f"{answer.rstrip('.!。')} ({told.strip('.。?？¿ ')})"
    )
