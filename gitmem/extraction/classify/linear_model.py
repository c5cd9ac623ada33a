"""Linear model of how likely one sentence is of each kind.

It uses the sentence's words, what they mean, and its cue phrases. It is learnt from labelled
sentences. The module is pure.

`scripts/train_scores.py` makes `data/linear_model.bin` from `tests/extraction/sentences.tar.xz`: a
softmax over KINDS and `none`, whose weights are hashed into BUCKETS rows of eight numbers, LANE
bits each. Cue phrases (`rules`) say what they are sure of; this says how the words of people and
agents usually go, and knows phrases that nobody wrote a cue for.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from zlib import crc32, decompress

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content, senses
from gitmem.extraction.rules import sentence_rules
from gitmem.extraction.rules.sentence_rules import SentenceReading
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLASSES = (DECISION, ERROR, PATTERN, TASK, DONE, PREFERENCE, CONTEXT, "none")
BUCKETS = 1 << 16
LANE = 24  # bits of a weight in a row: its own twelve, and room for the sum of a sentence's
BIAS = 1 << 11  # added to each weight, so that none is negative
SCALE = 64.0  # steps of a weight of 1
MOST = 1000  # features of a sentence
LONGEST = 400  # characters of a sentence that are looked at
ALONE = "K alone"  # the feature of a sentence of which nothing is known but itself
ROW = LANE * len(CLASSES) // 8  # bytes
_TOKEN = re.compile(
    r"`[^`\n]*`|https?://\S+|[\u3040-\u30ff\u3400-\u9fff]"
    r"|[^\W\d_]++(?:['’][^\W\d_]++)?(?:[._/-]\w++)++(?:\(\))?"
    r"|[^\WA-Za-z]{0,12}+[A-Za-z][^\W\d]*+\d\w*+"
    r"|(?<!\d)\d[\d.,:]{0,20}(?:%|ms|s|kb|mb|gb|k|m)?\b|[^\W\d_]+(?:['’][^\W\d_]+)?|[?!:;¿¡→(),.…]"
    r"|--?\w[\w-]*",
    re.IGNORECASE,
)
_CODE = re.compile(r"^[`-]|://|[a-z][A-Z]|_|\w\.\w|/\w|\w\(\)")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# lists that say what sentences do to one another, of which these tell of the kind as well
_ABOUT = ("general", "exchange", "overrule")
_TELLING = ("request", "symptom", "style", "now", "proposes", "defer", "correct", "acknowledge")


EDIT, RUN, FAIL = "edit", "run", "fail"  # what a tool was used for


@dataclass(frozen=True, slots=True)
class Before:
    """What was before a turn.

    It has the last sentence, who said it and in which language, and what tools were used for since.
    """

    text: str = ""
    role: str = ""
    language: str = "en"
    used: frozenset[str] = frozenset()


class Around:
    """The surroundings of one sentence; its features are made when they are asked for."""

    __slots__ = ("_before", "_language", "_made", "_place", "_role", "_turn")

    def __init__(
        self, turn: Sequence[str], place: int, role: str, language: str, before: Before
    ) -> None:
        self._turn, self._place, self._role, self._language, self._before = (
            turn,
            place,
            role,
            language,
            before,
        )
        self._made: tuple[str, ...] | None = None

    def features(self) -> tuple[str, ...]:
        """Return the features."""
        if self._made is None:
            self._made = tuple(
                _features(self._turn, self._place, self._role, self._language, self._before)
            )
        return self._made


def _features(
    turn: Sequence[str], place: int, role: str, language: str, before: Before
) -> list[str]:
    size = len(turn)
    mine = "a" if role == ASSISTANT else "u"
    out = [
        f"K{mine} place {min(place, 4)}",
        f"K{mine} size {min(size, 6)}",
        f"K{mine} left {min(size - 1 - place, 3)}",
    ]
    out.append(f"K{mine} {min(place, 2)} of {min(size, 4)}")
    if place:
        out += _told("Kp", turn[place - 1], role, language)
    if place + 1 < size:
        out += _told("Kn", turn[place + 1], role, language)
    if place < 2:
        out += [f"K{mine} after {used}" for used in sorted(before.used)]
        if before.text:
            out += [
                f"{one} {place}" for one in _told("Kt", before.text, before.role, before.language)
            ]
            both = len(content(turn[place], language) & content(before.text, before.language))
            out.append(
                f"K{mine} shares {min(both, 3)} "
                f"{sentence_rules.asks(before.text, before.language)} {place}"
            )
        else:
            out.append(f"K{mine} opens {place}")
    return out


@lru_cache(maxsize=4096)
def _told(name: str, text: str, role: str, language: str) -> tuple[str, ...]:
    """Return what one sentence beside another tells of it."""
    meant = [sense for sense in meaning(text, language)[1] if sense]
    out = [f"{name} by {role[:1]}", *(f"{name} C {sign}" for sign in signals(text, role, language))]
    out += [f"{name} ^{sense}" for sense in meant[:2]]
    out += [f"{name} S {sense}" for sense in dict.fromkeys(meant)]
    return tuple(out)


def words(text: str) -> list[str]:
    """Return the words of a sentence, lower case; code is CODE, numbers are 0, versions v."""
    out: list[str] = []
    for word in _TOKEN.findall(text[:LONGEST]):
        if _CODE.search(word):
            out.append("CODE")
        elif word[0].isdigit():
            out.append("v" if "." in word[1:-1] else "0")
        else:
            out.append(word.lower().replace("’", "'"))
    return out


@lru_cache(maxsize=4096)
def meaning(text: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a sentence, and what they mean (`senses`)."""
    found = words(text)
    return tuple(found), tuple(senses(found, language))


@cache
def _telling(language: str) -> tuple[tuple[str, str], ...]:
    """Return the lists of cues that are signals, as (kind, list)."""
    return tuple(
        (kind, name)
        for kind, lists in cues(language).of.items()
        for name in lists
        if kind not in _ABOUT or name in _TELLING
    )


@lru_cache(maxsize=4096)
def signals(text: str, role: str, language: str) -> tuple[str, ...]:
    """Return what the cue phrases say of a sentence.

    These are the lists that have a phrase in it, and the kind that the rules assign to it.
    """
    out = [f"{kind}:{name}" for kind, name in cues(language).shown(_telling(language), text)]
    if sentence_rules.asks(text, language):
        out.append("asks")
    said = sentence_rules.judged(Sentence(text), role, language)
    return (*out, f"R:{said.kind}" if said else "R0")


def features(  # noqa: C901
    text: str, role: str, language: str, signs: Iterable[str], known: frozenset[str] | set[str]
) -> set[str]:
    """Return the features of a sentence.

    These are its words, pairs and triples, words that are not `known` as X, what the words mean,
    how it begins and ends, and its signals.
    """
    found, meant = meaning(text, language)
    mine = "a " if role == ASSISTANT else "u "
    han = any(map(_HAN.match, found))
    told = (
        found
        if han
        else [
            word if word in known or not word[0].isalpha() or word in ("CODE", "v") else "X"
            for word in found
        ]
    )
    out = {mine, f"n{min(len(told) // 5, 8)}"}
    size = len(told)
    for n, word in enumerate(told):
        out.add(word)
        out.add(mine + word)
        if n + 1 < size:
            two = f"{word} {told[n + 1]}"
            out.add(two)
            if n + 2 < size:
                three = f"{two} {told[n + 2]}"
                out.add(three)
                out.add(f"{word} _ {told[n + 2]}")
                if han and n + 3 < size:
                    out.add(f"{three} {told[n + 3]}")
    if not han:
        out.update(
            f">{word[-3:]}"
            for word in found
            if len(word) > 4 and word not in known and word[0].isalpha()
        )
    for many in (1, 2, 3):
        start = " ".join(told[:many])
        out.add(f"^{start}")
        out.add(f"^{mine}{start}")
    out.add(f"${' '.join(told[-2:])}")
    out.add(f"${' '.join(told[-1:])}")
    if text[:1].islower():
        out.add(f"lower {mine}")
    said = [sense for sense in meant if sense]
    for n, sense in enumerate(said):
        out.add(f"S {sense}")
        out.add(f"S {mine}{sense}")
        if n + 1 < len(said):
            out.add(f"S {sense} {said[n + 1]}")
            if n + 2 < len(said):
                out.add(f"S {sense} {said[n + 1]} {said[n + 2]}")
    for n in range(len(meant) - 1):
        out.add(f"s {meant[n] or '.'} {meant[n + 1] or '.'}")
    shape = [sense or "." for sense in meant]
    out.update(
        (
            f"S^{mine}{' '.join(shape[:1])}",
            f"S^{' '.join(shape[:2])}",
            f"S^{mine}{' '.join(shape[:3])}",
            f"S^^{' '.join(said[:2])}",
        )
    )
    out.add(f"S${' '.join(shape[-1:])}")
    out.add(f"X{min(6, 8 * (len(meant) - len(said)) // max(1, len(meant)))}")
    for sign in signs:
        out.add(f"C {sign}")
        out.add(f"C {mine}{sign}")
    return out


def bucket(feature: str) -> int:
    """Return the row of a feature."""
    return crc32(feature.encode("utf-8", "replace")) & (BUCKETS - 1)


@cache
def _learnt() -> tuple[frozenset[str], bytes]:
    data = decompress(
        resources.files("gitmem.extraction").joinpath("data", "linear_model.bin").read_bytes()
    )
    known, _, rows = data.partition(b"\0")
    return frozenset(known.decode("utf-8").split()), rows


@cache
def _weights() -> "NDArray[np.int32]":
    """Return the weights of all rows, in steps: BUCKETS and what all sentences have, by classes."""
    import numpy as np

    lanes = (
        np.frombuffer(_learnt()[1], dtype=np.uint8)
        .reshape(-1, len(CLASSES), LANE // 8)
        .astype(np.int32)
    )
    return lanes @ np.array([1, 1 << 8, 1 << 16], dtype=np.int32) - BIAS


def _sum(places: Collection[int]) -> "NDArray[np.int32]":
    """Return the sum of the weights of some rows, by classes."""
    import numpy as np

    total: NDArray[np.int32] = _weights()[
        np.fromiter(places, dtype=np.intp, count=len(places))
    ].sum(0)
    return total


@lru_cache(maxsize=2048)
def _own(text: str, role: str, language: str) -> "tuple[frozenset[int], NDArray[np.int32]]":
    """Return the rows of a sentence's own features, and the sum of their weights."""
    places = frozenset(
        map(bucket, features(text, role, language, signals(text, role, language), _learnt()[0]))
    )
    return places, _sum(places)


def scores(
    text: str, role: str, language: str, around: Iterable[str] = (ALONE,)
) -> dict[str, float]:
    """Return how likely a sentence is of each class, with the features of what stands `around` it.

    Together they are 1.
    """
    places, total = _own(text, role, language)
    besides = set(map(bucket, around)) - places
    if len(places) + len(besides) <= MOST:
        total = total + _sum(besides)
    else:
        total = _sum(sorted(places | besides)[:MOST])
    values = (total + _weights()[BUCKETS]).tolist()
    top = max(values)
    powers = [math.exp((value - top) / SCALE) for value in values]
    whole = sum(powers)
    return {name: power / whole for name, power in zip(CLASSES, powers, strict=True)}


# how likely a kind must be for a sentence that no cue phrase knows
ADDS = {
    DECISION: 0.65,
    ERROR: 0.55,
    PATTERN: 0.75,
    TASK: 0.55,
    DONE: 0.6,
    PREFERENCE: 0.45,
    CONTEXT: 0.65,
}
# and for one that the rules take for that kind
KEEPS = {
    DECISION: 0.025,
    ERROR: 0.2,
    PATTERN: 0.015,
    TASK: 0.05,
    DONE: 0.05,
    PREFERENCE: 0.1,
    CONTEXT: 0.035,
}

# where a cue phrase is sure, how it is to be counts, whatever one calls it
RULES = (DECISION, PATTERN, PREFERENCE)
LATER = 0.2  # a part of that is enough for one that the session model judges
OF_AGENT = 0.9  # how likely a decision that no cue phrase knows must be where an agent tells of it


@lru_cache(maxsize=8192)
def likely(text: str, role: str, language: str, around: Around | None = None) -> dict[str, float]:
    """Return how likely a sentence is of each kind, in its surroundings where they are known."""
    return (
        scores(text, role, language)
        if around is None
        else scores(text, role, language, around.features())
    )


def weighed(
    said: SentenceReading | None,
    text: str,
    role: str,
    language: str,
    around: Around | None = None,
    *,
    deep: bool = True,
) -> SentenceReading | None:
    """Return what a sentence teaches.

    The result of the rules counts where it is likely enough; else, if `deep`, a kind that is very
    likely counts. Markers stay as they are.
    """
    if (said is not None and said.marker) or (said is None and not deep):
        return said
    if not sentence_rules.SHORTEST // 2 <= len(text) <= sentence_rules.LONGEST:
        return said
    by = likely(text, role, language, around)
    told = (
        sum(by[kind] for kind in RULES)
        if said is not None and said.kind in RULES and said.score >= sentence_rules.SURE
        else by[said.kind]
        if said
        else 0.0
    )
    if said is not None and told >= KEEPS[said.kind] * (1 if around is None else LATER):
        return said
    if sentence_rules.asks(text, language) or sentence_rules.supposes(text, language):
        return None
    best = max(ADDS, key=lambda kind: by[kind])
    if best == DECISION and role == ASSISTANT and by[best] < OF_AGENT:
        return None  # what an agent decides by itself holds for the next minute, mostly
    if by[best] < ADDS[best] or best == ERROR:
        return None
    return SentenceReading(
        best, sentence_rules.stripped(text, language), round(0.4 + 0.4 * by[best], 2)
    )
