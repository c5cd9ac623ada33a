"""Which of the items that were found are labelled: kinds agree, and the words do. Words and counting, nothing of the product.

An item and a label say the same when, with what both add as detail or without it, at least half of the label's content words are in the item,
and at least a fifth of the item's in the label: who returns a whole paragraph has found nothing.
Content words lose accents, a plural's s and what follows six letters, so that forms of one word are one; Chinese is compared by pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.extraction.source import Label

COVERED, TELLING = 0.5, 0.2
STEM = 6


def stem(word: str) -> str:
    """Return a folded word as it is compared."""
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char)
    )
    return (bare[:-1] if len(bare) > 3 and bare.endswith("s") else bare)[:STEM]


_STOP = {
    stem(word)
    for word in """
    a an the and or but so of to in on at by for from with without as is are was were be been it its this that these those there here we you they he she
    i me my our your their us them not no do does did done have has had will would can could should may might must if then than when while where which who
    what how why all each every some more most also just only very too into onto out up down over again now let lets based s t re ll ve m d
    o os um uma uns umas de do da dos das no na nos nas em por para pelo pela com sem e ou mas que se é são foi era ser está estão ao aos à às não sim já
    mais muito isso isto este esta esse essa eu nós você ele ela seu sua nosso nossa quando onde como porque também só
    el la los las un una unos unas del al en y o pero con sin por para que se es son fue era ser está están lo le les su sus mi nuestro nuestra no sí ya
    más muy eso esto este esta ese esa yo nosotros cuando donde como porque también sólo solo hay
    """.split()
}
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_HAN_STOP = set("的了是在把就都也要和与吧呢吗啊我你们他这那")


def words(text: str) -> frozenset[str]:
    """Return what a text says: its content words, cut, and the pairs of its Chinese characters."""
    folded = text.casefold()
    found = {stem(word) for word in _WORD.findall(_HAN.sub(" ", folded))} - _STOP
    for run in _HAN.findall(folded):
        kept = "".join(" " if char in _HAN_STOP else char for char in run)
        for part in kept.split():
            found.update(
                [part] if len(part) == 1 else (part[n : n + 2] for n in range(len(part) - 1))
            )
    return frozenset(found)


def alike(label: frozenset[str], found: frozenset[str]) -> float:
    """Return how much of a label an item says, 0.0 when that is too little, or the item says too much else."""
    both = len(label & found)
    if not both or both < COVERED * len(label) or both < TELLING * len(found):
        return 0.0
    return both / len(label)


@dataclass(frozen=True)
class Found:
    """An item as it is compared."""

    kind: str
    text: str
    detail: str = ""


def score(label: Label, item: Found) -> float:
    """Return how well an item says what a label says, 0.0 when it does not."""
    if item.kind not in label.kinds:
        return 0.0
    told, all_told = words(item.text), words(f"{item.text} {item.detail}")
    best = 0.0
    for text in label.wordings:
        short, full = words(text), words(f"{text} {label.detail}")
        best = max(best, alike(full, all_told), alike(short, told), alike(short, all_told))
    return best


def pair(labels: Sequence[Label], items: Sequence[Found]) -> dict[int, int]:
    """Return the number of each label's item: one to one, as many as can be, those that must be found first."""
    scores = [[score(label, item) for item in items] for label in labels]
    owner: dict[int, int] = {}

    def place(n: int, tried: set[int]) -> bool:
        for m in sorted(range(len(items)), key=lambda m: -scores[n][m]):
            if scores[n][m] and m not in tried:
                tried.add(m)
                if m not in owner or place(owner[m], tried):
                    owner[m] = n
                    return True
        return False

    for n in sorted(
        range(len(labels)), key=lambda n: (not labels[n].must, -max(scores[n], default=0.0))
    ):
        place(n, set())
    return {n: m for m, n in owner.items()}


@dataclass
class Tally:
    """What was found of what was labelled."""

    found: int = 0
    right: int = 0
    labelled: int = 0  # that must be found
    hit: int = 0  # of these, found
    details: int = 0  # labels that were found and have a detail
    told: int = 0  # of these, whose detail is in the item

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.hit / self.labelled if self.labelled else 1.0


@dataclass
class Judged:
    """A session's result: what each kind counts, what was missed, what was wrong."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    missed: list[Label] = field(default_factory=list)
    wrong: list[Found] = field(default_factory=list)


def judge(labels: Sequence[Label], items: Iterable[Found]) -> Judged:
    """Compare what was found in a session with its labels. An item counts for its own kind, a label for the first of its kinds."""
    items = list(items)
    pairs, out = pair(labels, items), Judged()

    def tally(kind: str) -> Tally:
        return out.kinds.setdefault(kind, Tally())

    for n, label in enumerate(labels):
        mine, item = tally(label.kinds[0]), items[pairs[n]] if n in pairs else None
        mine.labelled += label.must
        if item is None:
            if label.must:
                out.missed.append(label)
            continue
        mine.hit += label.must
        if label.detail:
            wanted = words(label.detail) - words(label.text)
            mine.details += 1
            mine.told += 3 * len(wanted & words(f"{item.text} {item.detail}")) >= len(wanted)
    right = set(pairs.values())
    for m, item in enumerate(items):
        mine = tally(item.kind)
        mine.found += 1
        mine.right += m in right
        if m not in right:
            out.wrong.append(item)
    return out


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum."""
    out = Tally()
    for one in tallies:
        for name in vars(out):
            setattr(out, name, getattr(out, name) + getattr(one, name))
    return out
