"""Whether a text says once more, in other words, what another one said that somebody rejected.

Pure.

What is taken for a repetition is shown to nobody, for good: so it must have the same telling words
in the same order, and what is left out of the comparison is only what changes nothing. Where that
is in doubt, it is another text.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import normalize

from gitmem.base.fast import Lazy
from gitmem.text.equality import SIGNS, plain

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = Lazy(rf"[{_CJK}]+|[^\W{_CJK}_]+(?:{SIGNS})?")
_IS_CJK = Lazy(f"[{_CJK}]")
_BREAK = Lazy(r"[,，、;；:：](?!\d)")
# `Before X, do Y` is `do Y before X`
_TURNED = Lazy(
    r"(?i)^\s*((?:before|after|when|if|once|antes|depois|después|cuando"
    r"|quando)\b[^,]+),\s*+([^,]*[^,\s.])[\s.]*$"
)
_AND, _OR = frozenset("and e y".split()), frozenset("or ou o".split())
_NOT = frozenset(
    "not no never none don dont avoid avoids avoiding nunca não jamais jamás evitar evite "
    "evita tampoco".split()
)
_CUT = {
    f"{word}n": word
    for word in "does did is are was were has have had should would could must need".split()
} | {
    "don": "do",
    "won": "will",
    "can": "can",
}
_WITHOUT = frozenset("without sem sin".split())
# the same thing can be said with or without them: articles, what joins a sentence, who says it
_FRAME = frozenset(
    """a an the is are am be been being do does doing we our us you your it its that
which what so please will shall should has have t s re ve ll let lets os um uma as que
ser está é foi deveria devería nós el la los las un una es nosotros fazer hacer""".split()
)
_HOLDS = frozenset(
    "always every sure ensure ensures also sempre siempre".split()
)  # what says that it holds; `not always` says another thing
_PERSONS = (frozenset("we our us nós nosotros i my".split()), frozenset("you your".split()))
# verbs of choosing: left out where nobody else does it
_CHOOSE = frozenset(
    """use uses using used employ employs decide decides decided chose choose chosen
pick picked prefer prefers preferred want wants wanted usar uso usa usan usamos usado
usada preferir prefere prefiere quer quiere decidimos escolhemos optamos elegimos""".split()
)
_LEADING = frozenset("to i ¬ must".split())  # before a verb of choosing
_POINTING = frozenset("a an the this that our your its".split())
_MUST = frozenset("must deve devem debe deben".split())
_OF = {
    "do": "de",
    "da": "de",
    "dos": "de",
    "das": "de",
    "del": "de",
    "nos": "em",
    "nas": "em",
    "na": "em",
    "al": "ao",
}
_ROMANCE = frozenset(
    "o os um uma e em de das dos para por com que el los las una y en con antes".split()
)
_LISTING = frozenset(
    "use uses using used support supports include includes allow allows between usar usamos".split()
)
# a list after one of these must be the end
_PLACED = frozenset("in on with for of about com con para em en".split())
_ORDERED = frozenset("then order first last respectively ordem orden depois después luego".split())
_JOINS = frozenset(
    "that which who when if before after while because unless except by que quando cuando "
    "por".split()
)
_BE = frozenset("is are be been".split())
_DONE = frozenset(
    "written run made kept sent built done put read held found given taken shown".split()
)
_CJK_FRAME = Lazy("应该|应当|我们|请")
_CJK_HOLDS = Lazy("总是|始终")
_NOT_CJK = Lazy("不|没|別|别|勿|禁|无|無|ない|しない")
# how words of one stem end: enough to tell that they are one
_ENDINGS = frozenset(
    """s es ed d e y ies ied ing ning ting ping ging ring ling ten n en ly a as os ar er
ir am em an ado ada ados adas ido ida idos idas ando endo iendo amos emos imos ou aram
eram mente""".split()
) | {""}


class Claim(NamedTuple):
    """A text as it is compared: its words in one row, and those that tell, in their order."""

    plain: str
    telling: tuple[str, ...]


class Refused:
    """What was rejected, so that one text is compared with few of thousands."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._plain: dict[str, str] = {}
        self._claims: dict[tuple[int, str], list[tuple[Claim, str]]] = {}
        for text in texts:
            refused = claim(text)
            if refused.plain in self._plain:
                continue
            self._plain[refused.plain] = text
            if refused.telling:
                self._claims.setdefault(_group_key(refused), []).append((refused, text))

    def find(self, text: str) -> str | None:
        """Return the rejected text that a text says again; None when it says none."""
        new = claim(text)
        if new.plain in self._plain:
            return self._plain[new.plain]
        for old, said in self._claims.get(_group_key(new), ()) if new.telling else ():
            if says_again(new, old):
                return said
        return None


def _group_key(claim: Claim) -> tuple[int, str]:
    """Return what claims that say the same have in common.

    They have in common the number of telling words, and the longest beginnings of these words that
    one stem may have.
    """
    return len(claim.telling), " ".join(word[:3] for word in claim.telling)


def claim(text: str) -> Claim:
    """Return a text as it is compared."""
    return Claim(plain(text), tuple(_telling(_tokens(text))))


def says_again(new: Claim, old: Claim) -> bool:
    """Say whether a text says what another one said already, in the same or in other words."""
    if new.plain == old.plain:
        return True
    same = len(new.telling) == len(old.telling) > 0
    return same and all(
        a == b or have_same_stem(a, b) for a, b in zip(new.telling, old.telling, strict=True)
    )


def _tokens(text: str) -> list[str]:
    """Return the words of a text, with a comma where it has a break.

    Of writing without spaces each run is one.
    """
    text = normalize("NFKC", text)
    if turned := _TURNED.match(text):
        text = f"{turned[2]} {turned[1]}"
    out: list[str] = []
    for part in _BREAK.split(text):
        out += [*([","] if out else []), *_RUN.findall(plain(part))]
    return out


def _telling(words: list[str]) -> list[str]:
    """Return the words that tell, in their order.

    Those of a bare list in the order of the alphabet.
    """
    sense = _Sense(words)
    words = _passive(_sorted_lists(_denied(words)))
    out: list[str] = []
    before = ""
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        if _IS_CJK.match(word):
            out += sense.pairs(word)
        else:
            telling = sense.telling(word, before, after)
            if telling:
                out.append(telling)
        before = word
    return out


class _Sense:
    """What a whole text says of its single words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._denies = any(
            word in _NOT or word == "t" or word in _WITHOUT or _NOT_CJK.search(word)
            for word in words
        )
        persons = [group for group in _PERSONS if not group.isdisjoint(words)]
        # who does something tells when the text speaks of more than one
        self._persons = frozenset().union(*_PERSONS) if len(persons) > 1 else frozenset()
        self._romance = len(_ROMANCE.intersection(words)) > 1 and not {"the", "and", "is"} & set(
            words
        )

    def pairs(self, run: str) -> list[str]:
        """Return the pairs of characters of a run without spaces that tell."""
        run = _CJK_FRAME.sub("", run)
        if not self._denies:
            run = _CJK_HOLDS.sub("", run)
        return [run[i : i + 2] for i in range(len(run) - 1)] or ([run] if run else [])

    def telling(self, word: str, before: str, after: str) -> str:
        """Return a word in the form in which it tells; '' for one that tells nothing."""
        if word in {"has", "have"} and after == "to":
            return "must"
        if word == "to" and before in {"has", "have"}:
            return ""
        if word == "used" and after == "to" and before not in _BE:  # it was so once
            return word
        if word != "¬" and word in _WITHOUT:
            return "without"
        if word == "¬":
            return word
        if word in _MUST:
            return "must"
        if self._romance and word in _OF:
            return _OF[word]
        return word if self._is_kept(word, before, after) else ""

    def _is_kept(self, word: str, before: str, after: str) -> bool:
        if word in self._persons:
            return True
        if word == "," or (word in _AND and (word == "and" or self._romance)):
            return False
        is_frame = word in _FRAME or (word in _HOLDS and not self._denies)
        return not is_frame and not _is_choice(word, before, after)


def _is_choice(word: str, before: str, after: str) -> bool:
    """Return whether a word only says that something is chosen or made sure.

    Examples are `we decided to use` and `make sure`.
    """
    if word == "to":
        return after in _CHOOSE or after in _FRAME - _POINTING or before in _CHOOSE
    if word in {"make", "time"}:
        return after == "sure" if word == "make" else before == "every"
    return word in _CHOOSE and (
        not before
        or before in _LEADING
        or before in _FRAME
        or before in _HOLDS
        or before in _CHOOSE
    )


def _denied(words: Sequence[str]) -> list[str]:
    """Return the words with one sign for each that denies: `cannot`, `isn't` and `never` too."""
    out: list[str] = []
    for n, word in enumerate(words):
        cut = n + 1 < len(words) and words[n + 1] == "t" and word in _CUT
        if cut:
            out += [_CUT[word], "¬"]
        elif word == "t" and n and words[n - 1] in _CUT:
            continue
        elif word == "cannot":
            out += ["can", "¬"]
        else:
            out.append("¬" if word in _NOT else word)
    return out


def _sorted_lists(words: list[str]) -> list[str]:
    """Return the words with bare lists of one word each in one order: `use A, B and C`.

    Never where an order may be meant.
    """
    if not _ORDERED.isdisjoint(words):
        return words
    out: list[str] = []
    at = lists = 0
    while at < len(words):
        out.append(words[at])
        at += 1
        if out[-1] not in _LISTING and out[-1] not in _PLACED:
            continue
        end, items, joins = _list_from(words, at)
        if len(items) > 1 and (end == len(words) or out[-1] in _LISTING):
            lists += 1
            out += [*sorted(items), *(["or"] if not _OR.isdisjoint(joins) else [])]
            at = end
    return out if lists < 2 else words  # of two each may stand for one of the other


def _list_from(words: Sequence[str], at: int) -> tuple[int, list[str], list[str]]:
    """Return the list of single words that begins at a place: its end, its items, its joins."""
    end, items, joins = at, list[str](), list[str]()
    while end < len(words) and _is_item(words[end]):
        items.append(words[end])
        end += 1
        start = end
        while end < len(words) and (words[end] == "," or words[end] in _AND or words[end] in _OR):
            end += 1
        if end == start or end == len(words) or not _is_item(words[end]):
            return start, items, joins
        joins += words[start:end]
    return end, items, joins


def _is_item(word: str) -> bool:
    return (
        word not in _FRAME
        and word not in {"¬", ",", "only", "to"} | _AND | _OR | _WITHOUT | _PLACED | _JOINS
        and not _IS_CJK.match(word)
    )


def _passive(words: list[str]) -> list[str]:
    """Return `the config should be cached` as `should cached the config`.

    What is done comes first, as in a demand. If the text says who does it, it stays as it is.
    """
    at = next((n for n, word in enumerate(words) if word in _BE), 0)
    if not at or at + 1 >= len(words) or "by" in words or any(map(_IS_CJK.match, words)):
        return words
    end = at + 1
    while end < len(words) and (words[end] == "¬" or words[end] in _HOLDS):
        end += 1
    start = at
    while start and words[start - 1] in {
        "should",
        "must",
        "to",
        "have",
        "has",
        "will",
        "¬",
        "may",
        "can",
        "might",
        "could",
    }:
        start -= 1
    if (
        end >= len(words)
        or not start
        or words[end] in _CHOOSE
        or not (words[end].endswith("ed") or words[end] in _DONE)
    ):
        return words
    if not _JOINS.isdisjoint(words[:start]) or "," in words[:start]:
        return words
    return [*words[start:at], *words[at + 1 : end], words[end], *words[:start], *words[end + 1 :]]


def have_same_stem(a: str, b: str) -> bool:
    """Say whether two words are forms of one: `cache` and `caching`, `body` and `bodies`."""
    if _IS_CJK.match(a) or _IS_CJK.match(b) or not (a.isalpha() and b.isalpha()):
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    ends = a[n:], b[n:]
    return set(ends) <= _ENDINGS and (
        n >= 4
        or (n == 3 and ("" in ends or set(ends) in ({"y", "ies"}, {"y", "ied"}, {"e", "ing"})))
    )
