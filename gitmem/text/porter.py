"""Porter's stemmer as SQLite's FTS5 has it: which words of a text an index takes for the same.

Standard library only: searches load it. It agrees with the tokenizer `porter unicode61`, letter
for letter (`tests/text/test_porter.py`), not with later versions of the algorithm.
"""

from itertools import pairwise

_LONGEST = 64  # bytes of a word that is stemmed
_VOWELS = frozenset("aeiou")
# what follows a stem with at least one consonant after a vowel -> what takes its place
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = tuple(
    (suffix, "")
    for suffix in "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive "
    "ize".split()
)
_stems: dict[str, str] = {}  # of words that were asked for


def stem(word: str) -> str:
    """Return the stem of a word in small letters without accents."""
    stemmed = _stems.get(word)
    if stemmed is None:
        if len(_stems) > 10_000:
            _stems.clear()
        stemmed = _stems[word] = _stem(word)
    return stemmed


def _stem(word: str) -> str:
    if len(word) < 3 or not word.isascii() or len(word) > _LONGEST:
        return word
    word = _without_endings(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2, 1)
    word = _replaced(word, _STEP_3, 1)
    word = _replaced(word, _STEP_4, 2)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1]


def _without_endings(word: str) -> str:
    """Return a word without `ed` or `ing`, as its infinitive would be written."""
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and rest and _has_vowel(rest):
            break
    else:
        return word
    if rest.endswith(("at", "bl", "iz")) and len(rest) > 2:
        return rest + "e"
    if rest[-1] == rest[-2:-1] and rest[-1] not in "aeioulsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _replaced(word: str, suffixes: tuple[tuple[str, str], ...], least: int) -> str:
    """Return a word whose longest of some suffixes is replaced, if its stem measures enough."""
    ends = [pair for pair in suffixes if word.endswith(pair[0]) and len(word) > len(pair[0])]
    if not ends:
        return word
    suffix, other = max(ends, key=lambda pair: len(pair[0]))
    rest = word[: -len(suffix)]
    if _measure(rest) < least or (suffix == "ion" and not rest.endswith(("s", "t"))):
        return word
    return rest + other


def _consonants(word: str) -> list[bool]:
    """Return which letters are consonants: a `y` is none after one."""
    out: list[bool] = []
    before = False
    for letter in word:
        before = letter not in _VOWELS and not (letter == "y" and before)
        out.append(before)
    return out


def _measure(word: str) -> int:
    """Return how often a consonant follows a vowel."""
    marks = _consonants(word)
    return sum(after and not before for before, after in pairwise(marks))


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS or (letter == "y" and at) for at, letter in enumerate(word))


def _ends_short(word: str) -> bool:
    """Return whether a word ends with consonant, vowel and consonant, the last not w, x or y."""
    return word[-1:] not in {"w", "x", "y"} and _consonants(word)[-3:] == [True, False, True]
