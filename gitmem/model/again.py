"""Whether a text says once more, in other words, what another one said that somebody rejected. Pure.

Narrower than `entries.alike`: what is taken for a repetition is shown to nobody, so another number, a `not`, or another choice makes it another text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.model.entries import replaces
from gitmem.model.sameness import SIGNS, plain

FULL, MORE = 0.85, 0.7  # of all telling words that both have: where each has words of its own, and where one only says more
LEAST = 3  # telling words of the shorter text, where the other says more

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}_]+(?:{SIGNS})?")
_IS_CJK = re.compile(f"[{_CJK}]")
# what the same thing can be said with or without: articles, what says that something holds, and who says it
_FRAME = frozenset(
    """a an the and or of to in on at for by with from as is are be been was were it its this that there these those we you your they their i our us do does did done has have had will would should
    shall can could must may might need needs so then just also please always every time make makes made sure ensure ensures use uses used using employ rely relies go goes what which when
    decide decides decided decision chose choose chosen choosing pick picked prefer prefers preferred preference want wants wanted like likes liked keep keeps get gets let lets about into
    o os um uma e em de da do das dos para por com se que foi ser está ao deve devem deveria sempre usar usa usamos usado usada preferir prefere quer decidimos escolhemos optamos nós nos nas no na
    el la los las un una y en del al con su es lo debe deben siempre usar uso usan prefiere quiere decidimos elegimos elegir nosotros hay que""".split()
)
_NOT = frozenset(
    "not no never none don doesn didn cannot won shouldn mustn isn aren without avoid avoids avoiding forbid forbidden prohibited stop nunca não jamais jamás sin sem evitar evite evita tampoco nada ni nem".split()
)
_NOT_CJK = re.compile("不|没|別|别|勿|禁|无|無|ない|しない")
# how words of one stem end: enough to tell that they are one
_ENDINGS = frozenset(
    """s es ed d e y ies ied ing ning ting ping ging ring ling ten n en er ers or ors ment ments ion ions ation ations al ally ly ive able
    a as os ar er ir am em an ado ada ados adas ido ida idos idas ando endo iendo amos emos imos ou aram eram ção ções ción ciones mente""".split()
) | {""}


@dataclass(frozen=True, slots=True)
class Claim:
    """A text as it is compared: its words in one row, those that tell, its numbers, whether it denies."""

    text: str
    plain: str
    telling: tuple[str, ...]
    numbers: frozenset[str]
    denies: bool


def claim(text: str) -> Claim:
    """Return a text as it is compared."""
    row = plain(text)
    numbers = frozenset(word for word in row.split() if any(map(str.isdigit, word)))
    return Claim(text, row, tuple(_telling(row)), numbers, bool(_NOT & set(row.split()) or _NOT_CJK.search(row)))


def says_again(new: Claim, old: Claim) -> bool:
    """Say whether a text says what another one said already, in the same or in other words."""
    if new.plain == old.plain:
        return True
    short, long = sorted((len(new.telling), len(old.telling)))
    if not short or short < MORE * long or new.denies != old.denies or new.numbers != old.numbers:
        return False
    both, mine, theirs = _shared(new.telling, old.telling)
    every = both + mine + theirs
    if mine and theirs:
        alike = both >= FULL * every
    else:
        alike = not (mine or theirs) or (short >= LEAST and both >= MORE * every)
    return alike and not replaces(new.text, old.text)


def _telling(row: str) -> list[str]:
    """Return the telling words of a text, each once, in an order that is always the same; of writing without spaces its characters."""
    out: set[str] = set()
    for run in _RUN.findall(row):
        if _IS_CJK.match(run):
            out.update(run)
        elif run not in _FRAME and run not in _NOT and run not in {"t", "s", "re", "ve", "ll"}:
            out.add(run)
    return sorted(out)


def _shared(one: Sequence[str], two: Sequence[str]) -> tuple[int, int, int]:
    """Return how many words both have, in whatever form, and how many each has of its own."""
    left = [word for word in two if word not in one]
    mine = 0
    for word in (word for word in one if word not in two):
        found = next((other for other in left if _one_stem(word, other)), None)
        if found is None:
            mine += 1
        else:
            left.remove(found)
    return len(one) - mine, mine, len(left)


def _one_stem(a: str, b: str) -> bool:
    """Say whether two words are forms of one: `cache` and `caching`, `body` and `bodies`."""
    if _IS_CJK.match(a) or _IS_CJK.match(b) or not (a.isalpha() and b.isalpha()):
        return False
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    ends = a[n:], b[n:]
    return set(ends) <= _ENDINGS and (n >= 4 or (n == 3 and ("" in ends or set(ends) in ({"y", "ies"}, {"y", "ied"}, {"e", "ing"}))))
