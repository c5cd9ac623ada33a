"""A short text as it is compared with another: its words, where each stands, and what it denies.

Pure. It is no grammar: prepositions cut a text into parts, and a few verbs tell where a value
stands. What the words do is in `words.json`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from gitmem.base.fast import Lazy
from gitmem.services.lifecycle.word_lists import LanguageWords, group_of, unit_of
from gitmem.text.replacement import FOR, without_reason

HEAD, MEANS, SCOPE = "head", "means", "scope"  # sorts of a part
BE, CHOOSE, PREFER, CALL = "be", "choose", "prefer", "call"  # what the verb before a value says
NAME, PLAIN, NUMBER = "name", "plain", "number"  # sorts of a word

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ¿¡`])")
_ASIDE = re.compile(
    r"\([^()]*+\)|,\s(?:it|they|this|which|so|isso|eles?|elas?|esto|lo que|o que)\s(?s:.*)"
    r"|(?:\s[—–]\s|;\s)(?s:.*)"
)
_TOKEN = re.compile(r"`[^`]+`|\"[^\"]+\"|[^\s,;()\"`]+|[,;()]")
_NOT = re.compile(r"\b(\w+?)n['’]t\b")
_COLON = re.compile(r"(?<=\w):(?=\s)")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})")
_SHORT = re.compile(r"(?<=\b[^\W\d_])-(?=[^\W\d_])")  # e-mail
_NUMBER = re.compile(r"v?(\d+(?:[.,:]\d+)*)(%|[A-Za-z]{1,3})?\+?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_SIGN = re.compile(r"[\d_./@:*\\]|(?<=\w)[A-Z]|[a-z]-[a-z]")
_LEADING = 4  # words of a part that comes before the subject, at most


class Word(NamedTuple):
    """A word that tells something; `part` is the number of the part it stands in.

    `optional` says that it may be left out, `qualifies` that it tells the default or the most from
    other values, `article` that an article stands before it, and `single` that this is `a`. `unit`
    is what a number counts (`time`, `bytes`), empty if that is another word; `counted` says that it
    is one of several: `step 2`.
    """

    text: str
    sort: str
    part: int
    optional: bool = False
    qualifies: bool = False
    article: bool = False
    single: bool = False
    value: float | str = ""
    unit: str = ""
    counted: bool = False


class Part(NamedTuple):
    """What a preposition leads to: its sort, the preposition, and the word before it."""

    sort: str
    preposition: str
    after: str


@dataclass
class ParsedFact:
    """A text as it is compared.

    `verb` is `be`, `choose`, `prefer`, `call` or empty, and `pivot` the number of words before it.
    `definite` says whether it tells what *the* thing is, `is_passive` whether something is used,
    `is_open` whether several such things may hold. `gone` has the words of what the text says is
    no longer so, or was not chosen; `replaces` says that it denies one thing and names another.
    """

    language: LanguageWords
    words: list[Word] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    denies: bool = False
    verb: str = ""
    pivot: int = 0
    definite: bool = False
    has_minimum: bool = False
    is_open: bool = False
    replaces: bool = False
    is_passive: bool = False
    gone: list[list[str]] = field(default_factory=list)

    def part_of(self, word: Word) -> Part:
        """Return the part that a word stands in."""
        return self.parts[word.part]

    def is_placed(self, part: Part) -> bool:
        """Return whether a part says what the thing is, not where that holds: `stored in X`."""
        if part.preposition not in self.language.where:
            return False
        first = self.words[0]
        is_asked = not self.pivot and not first.part and first.text in self.language.place
        return is_asked or part.after in self.language.place


def plain_words(text: str) -> list[str]:
    """Return the words of a text, case folded."""
    return [token.casefold() for token in _TOKEN.findall(text)]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return _SENTENCE.split(text.strip(), maxsplit=1)[0]


@lru_cache(maxsize=4096)
def parse(text: str, language: LanguageWords) -> ParsedFact:
    """Return the first sentence of a text, as it is compared."""
    out = ParsedFact(language)
    first = without_reason(first_sentence(text))
    first = language.rewritten(_SHORT.sub("", _ASIDE.sub("", first) or first))
    first = _NOT.sub(r"\1 not", first)
    first = _without_replaced(out, _COLON.sub(" :", first))
    _FactParser(out, list(_tokens(first))).read()
    return out


def _tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        if token[0] in '`"':
            yield token
            continue
        bare = token.strip("'“”‘’«»[]{}<>!?¿¡*") if len(token) > 1 else token
        bare = bare.rstrip(".")
        if not bare:
            continue
        if _HYPHEN.search(bare) and bare[1:].islower() and group_of(bare) is None:
            yield from filter(None, bare.split("-"))
        else:
            yield bare


def _without_replaced(out: ParsedFact, text: str) -> str:
    """Return a text without what it says was replaced or not chosen, which `out.gone` gets."""
    language = out.language
    if language.negations.intersection(plain_words(text)):
        kept = language.but.sub("", text)
        out.replaces, text = kept != text, kept
    for pattern in (language.instead, language.moved, language.replaced):
        match = pattern.search(text)
        if match is None:
            continue
        gone = [
            token.casefold()
            for token in _tokens(FOR.split(match["old"], maxsplit=1)[0])
            if token.casefold() not in language.articles
        ]
        if not gone:
            continue
        out.gone.append(gone)
        text = text[: match.start()] + _instead(pattern, match, text, language)
    return text


def _instead(pattern: Lazy, match: "re.Match[str]", text: str, language: LanguageWords) -> str:
    """Return what stands in the text instead of a match, with all that comes after it."""
    rest = text[match.end() :]
    if pattern is language.instead:
        ends = FOR.search(match["old"])
        return (match["old"][ends.start() :] if ends else "") + rest
    verb = f" {next(iter(sorted(language.choose)))} "
    return f"{match['what']}{verb}{rest}" if pattern is language.moved else verb + rest


class _FactParser:
    """Reads tokens into a fact."""

    def __init__(self, out: ParsedFact, tokens: Sequence[str]) -> None:
        self.out = out
        self.tokens = tokens
        self.at = 0
        self.before = ""  # the last token that is no article
        self.article = self.single = False
        self.leading = 0  # words that may still belong to a part before the subject
        out.parts.append(Part(HEAD, "", ""))

    def read(self) -> None:
        """Read all tokens."""
        out, language = self.out, self.out.language
        folded = [token.casefold() for token in self.tokens]
        out.has_minimum = not language.minimum.isdisjoint(folded)
        out.is_open = not language.open.isdisjoint(folded)
        while self.at < len(self.tokens):
            self._token(self.tokens[self.at])
            self.at += 1

    def _token(self, token: str) -> None:
        """Read one token."""
        out, language, low = self.out, self.out.language, token.casefold()
        number = self._number(token)
        if low in {",", ";", "(", ")"}:
            self._comma(low)
        elif number is not None:
            self._add(number)
        elif low in language.articles:
            self.article, self.single = True, low in language.one
        elif low in language.negations:
            out.denies = True
        elif low in language.be:
            self._verb(BE, low)
        elif low in language.verbs and self._is_verb_place():
            self._verb(language.verbs[low], low)
        elif low in language.scope or low in language.means:
            self._open_part(low)
        elif low not in language.dropped:
            self._add(self._word(token))
        if low not in language.articles:
            self.before = low

    def _is_verb_place(self) -> bool:
        """Return whether a verb such as `use` is what the sentence says: no other came before."""
        return not self.out.verb or (self.out.verb == BE and self.out.pivot == len(self.out.words))

    def _comma(self, sign: str) -> None:
        if self.leading and sign == ",":
            self._close_leading()

    def _verb(self, verb: str, low: str) -> None:
        out = self.out
        if out.parts[-1].sort != HEAD:
            self._close_leading()
        if not self._is_verb_place():
            return
        out.is_passive = out.verb == BE and verb == CHOOSE
        out.verb, out.pivot = verb, len(out.words)
        after = [token.casefold() for token in self.tokens[self.at + 1 : self.at + 2]]
        if verb == BE and low != ":":
            out.definite = bool(after) and after[0] in out.language.articles
            out.definite = out.definite and after[0] not in out.language.one

    def _open_part(self, low: str) -> None:
        language = self.out.language
        sort = MEANS if low in language.means else SCOPE
        is_first = not self.out.words and not self.out.verb
        self.out.parts.append(Part(sort, low, self.before))
        self.leading = _LEADING if is_first else 0

    def _close_leading(self) -> None:
        """Go back to the main part, after one that came before the subject."""
        self.leading = 0
        self.out.parts.append(Part(HEAD, "", ""))

    def _add(self, word: Word) -> None:
        self.out.words.append(word)
        self.article = self.single = False
        if self.leading:
            self.leading -= 1
            rest = self.tokens[self.at + 1 : self.at + 1 + self.leading]
            if "," not in rest:
                self._close_leading()

    def _word(self, token: str) -> Word:
        language, quoted = self.out.language, token[0] in '`"'
        low = token.strip('`"').casefold()
        first = not self.out.words and not self.out.verb
        named = quoted or bool(_SIGN.search(token)) or group_of(low) is not None
        named = named or (token[0].isupper() and not first)
        return Word(
            low,
            NAME if named else PLAIN,
            len(self.out.parts) - 1,
            low in language.optional and not named,
            low in language.qualifiers,
            self.article,
            self.single,
        )

    def _number(self, token: str) -> Word | None:
        """Return a number with its unit, if the token is one; the unit's own token is read too."""
        language, low = self.out.language, token.casefold()
        match = _NUMBER.fullmatch(token)
        part = len(self.out.parts) - 1
        if self.before in language.every and (every := unit_of(low)) and len(low) > 2:
            return Word(low, NUMBER, part, value=every[1], unit=every[0])
        counted = self.before in language.counted
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        suffix = match[2] or "" if match else ""
        is_version = token[0] == "v" or self._is_after_name()
        value = self._value(match[1], is_version) if match else self._spelled(low, following)
        unit = unit_of(suffix) if suffix else None
        if value is None or (suffix and unit is None):
            return None  # a name: 5xx
        if unit is None and following and (unit := unit_of(following)):
            self.at += 1
        if unit and isinstance(value, float):
            return Word(low, NUMBER, part, value=value * unit[1], unit=unit[0])
        return Word(low, NUMBER, part, value=value, counted=counted)

    def _spelled(self, word: str, following: str) -> float | None:
        """Return the number that a word names; not where nothing is counted by it."""
        language = self.out.language
        if word not in language.numbers or word in language.one or not following:
            return None
        if following.casefold() in language.scope | language.be:
            return None
        return float(language.numbers[word])

    def _is_after_name(self) -> bool:
        words = self.out.words
        return bool(words) and words[-1].text == self.before and words[-1].sort == NAME

    @staticmethod
    def _value(digits: str, is_version: bool) -> float | str:
        if _THOUSANDS.fullmatch(digits) and not is_version:
            return float(re.sub(r"[.,]", "", digits))
        if is_version or ":" in digits or digits.count(".") > 1:
            return digits
        return float(digits.replace(",", ".")) if digits.count(",") < 2 else digits
