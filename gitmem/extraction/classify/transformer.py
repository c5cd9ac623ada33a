"""A small transformer that reads the words of a whole session and judges each sentence by them, with all that is said before and after. Pure.

The encoder is that of BERT (Devlin et al. 2018, arXiv:1810.04805; layer normalisation behind each block) over pieces of words (`pieces`). A session is one sequence: each
sentence begins with a mark of who says it, which carries what `hindsight` knows of it; what tools were used for between turns is a mark of its own. What comes out
at the mark of a sentence, the mean of what comes out at its pieces, and what was known go through one linear layer to the classes. A longer session is read in windows that overlap; a sentence is
judged in the one where most stands around it. `scripts/train_reader.py` learns the weights and stores them: rows of bytes, or of half bytes, with a scale.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from gitmem.extraction.classify.context_features import EDIT, FAIL, RUN
from gitmem.transcripts.turn import USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Weights = Mapping[str, NDArray[Any]]

HEADS = 12
FAR = 6.0  # standard deviations from the mean that count as such at most
EPSILON = 1e-12  # of layer normalisation
WINDOW = 510  # pieces that are read together at most
OVERLAP, LEAST_OVERLAP = 0.3, 0.1  # of a window with the next; where not all of a session is read
MOST = 2_000  # pieces of a session that are read, those of overlaps twice: of more, the windows that are worth most
LONG = 4  # times as many are a session of which half as much is read: it tells little of so many sentences
LONGEST = 80  # pieces of a sentence that are read
MARKS = ("user begins", "user", "agent begins", "agent", EDIT, RUN, FAIL)
QUARTET = 32  # values that share a scale where they are half bytes
_AT_ONCE = 512  # rows that go through the widest layer together


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a session: a sentence by its pieces, or what a tool was used for, which has none."""

    mark: str
    pieces: tuple[int, ...] = ()
    known: tuple[float, ...] = ()

    @property
    def says(self) -> bool:
        """Whether it is a sentence."""
        return self.mark not in (EDIT, RUN, FAIL)

    def __len__(self) -> int:
        return 1 + len(self.pieces)


def said(role: str, before: str, pieces: Sequence[int], known: Sequence[float]) -> Part:
    """Return a sentence by its pieces and what is known of it (`hindsight.vector`); `before` is who said the one before it."""
    who = "user" if role == USER else "agent"
    return Part(who if role == before else f"{who} begins", tuple(pieces[:LONGEST]), tuple(known))


def windows(sizes: Sequence[int], limit: int = WINDOW, overlap: float = OVERLAP) -> list[tuple[int, int, int, int]]:
    """Return the windows over parts of some sizes: where each begins and ends, and from where to where its parts are judged in it.

    Every part is judged in exactly one window. A part is never larger than a window.
    """
    ends: list[tuple[int, int]] = []
    begin = 0
    while not ends or ends[-1][1] < len(sizes):
        end = begin
        room = limit
        while end < len(sizes) and sizes[end] <= room:
            room -= sizes[end]
            end += 1
        end = max(end, min(begin + 1, len(sizes)))
        ends.append((begin, end))
        again = 0
        back = end
        while back > begin + 1 and again < limit * overlap:
            back -= 1
            again += sizes[back]
        begin = max(back, begin + 1)
    out = []
    for n, (start, end) in enumerate(ends):
        first = start if n == 0 else (start + ends[n - 1][1]) // 2
        last = end if n == len(ends) - 1 else (ends[n + 1][0] + end) // 2
        out.append((start, end, first, last))
    return out


def read(parts: Sequence[Part], worth: "Sequence[float] | None" = None, *, most: int = MOST) -> "list[list[float] | None]":
    """Return how likely each sentence of a session is of each class, in the order of `scores.CLASSES`; together they are 1.

    None for what is no sentence, and for what is not read: of a session of more than `most` pieces the windows are read whose parts are `worth` most.
    """
    import numpy as np

    if not any(one.says for one in parts):
        return [None] * len(parts)
    net = learnt()
    words = len(net["word"])
    cuts = _worthiest(parts, worth, most)
    told_of = np.array([one.known for one in parts if one.says], dtype=np.float32)
    told_of = np.clip((told_of - net["mean"]) / net["scale"], -FAR, FAR)
    number = np.cumsum([one.says for one in parts]) - 1  # of a sentence among the sentences
    given: list[int] = []
    place: list[int] = []
    marks: list[int] = []  # where sentences begin
    of: list[int] = []  # which
    ends = [0]
    for start, end, _, _ in cuts:
        for n in range(start, end):
            if parts[n].says:
                marks.append(len(given))
                of.append(int(number[n]))
            given += [words + MARKS.index(parts[n].mark), *parts[n].pieces]
        place += range(len(given) - ends[-1])
        ends.append(len(given))
    besides = told_of @ net["given"] + net["given_bias"]
    told = _encoded(np.array(given), np.array(place), ends, (marks, besides[of]), net)
    of_known = told_of @ net["known"]
    out: list[list[float] | None] = [None] * len(parts)
    at = 0
    for start, end, first, last in cuts:
        for n in range(start, end):
            size = len(parts[n])
            if first <= n < last and parts[n].says:
                mine = told[at : at + size]
                values = np.concatenate([mine[0], mine.mean(0)]) @ net["head"] + net["head_bias"] + of_known[number[n]]
                powers = np.exp(values - values.max())
                out[n] = (powers / powers.sum()).tolist()
            at += size
    return out


def _worthiest(parts: Sequence[Part], worth: "Sequence[float] | None", most: int) -> list[tuple[int, int, int, int]]:
    """Return the windows that are read; all that is in them is judged."""
    sizes = [len(one) for one in parts]
    cuts = windows(sizes)
    if worth is None or sum(sum(sizes[start:end]) for start, end, _, _ in cuts) <= most:
        return cuts
    cuts = windows(sizes, overlap=LEAST_OVERLAP)
    if sum(sizes) > LONG * most:
        most = max(min(most, WINDOW), most // 2)
    kept = set()
    for n in sorted(range(len(cuts)), key=lambda n: -sum(worth[cuts[n][2] : cuts[n][3]])):
        most -= sum(sizes[cuts[n][0] : cuts[n][1]])
        if most < 0:
            break
        kept.add(n)
    return [
        (start, end, first if n - 1 in kept else start, last if n + 1 in kept else end)
        for n, (start, end, first, last) in enumerate(cuts)
        if n in kept
    ]


def _encoded(
    given: "NDArray[np.int64]", place: "NDArray[np.int64]", ends: list[int], besides: "tuple[list[int], Floats]", net: "Weights"
) -> "Floats":
    """Return what comes out at each piece, windows behind one another; `besides` is what is added where, before the first layer."""
    import numpy as np

    words = len(net["word"])
    rows = np.where(given < words, given, 0)
    x = halves(net["word"][rows], net["word_scale"][rows])
    x[given >= words] = net["marks"][given[given >= words] - words]
    x += net["place"][place]
    x[besides[0]] += besides[1]
    x = _normal(x, net["first_norm"])
    for n in range(len(net["qkv_bias"])):
        x = _normal(x + _attended(x, ends, n, net), net["attended_norm"][n])
        wide, narrow = _bytes(net, "wide", n), _bytes(net, "narrow", n)
        for start in range(0, len(x), _AT_ONCE):
            some = x[start : start + _AT_ONCE]
            inner = some @ wide + net["wide_bias"][n]
            _gelu(inner)
            x[start : start + _AT_ONCE] = _normal(some + inner @ narrow + net["narrow_bias"][n], net["wide_norm"][n])
    return x


def _attended(x: "Floats", ends: list[int], n: int, net: "Weights") -> "Floats":
    """Return what each piece takes from the others of its window."""
    import numpy as np

    given, joined = _bytes(net, "qkv", n), _bytes(net, "joined", n)
    out = np.empty_like(x)
    width = x.shape[1] // HEADS
    for start, end in itertools.pairwise(ends):
        every = x[start:end] @ given + net["qkv_bias"][n]
        asked, keys, values = every.reshape(end - start, 3, HEADS, width).transpose(1, 2, 0, 3)
        powers = asked @ keys.transpose(0, 2, 1)
        powers *= np.float32(width**-0.5)
        powers -= powers.max(-1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(-1, keepdims=True)
        told = (powers @ values).transpose(1, 0, 2).reshape(end - start, -1)
        out[start:end] = told @ joined + net["joined_bias"][n]
    return out


def _gelu(x: "Floats") -> None:
    """Take values through the Gaussian error linear unit (Hendrycks and Gimpel 2016, arXiv:1606.08415), in its approximation by the hyperbolic tangent."""
    import numpy as np

    by = x * x
    by *= x
    by *= np.float32(0.044715)
    by += x
    by *= np.float32(0.7978845608)  # the root of 2 / pi
    np.tanh(by, out=by)
    by += 1
    by *= np.float32(0.5)
    x *= by


def _normal(x: "Floats", by: "NDArray[Any]") -> "Floats":
    """Return rows with mean 0 and variance 1, scaled and shifted."""
    import numpy as np

    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(EPSILON))
    x *= by[0]
    x += by[1]
    return x


def _bytes(net: "Weights", name: str, n: int) -> "Floats":
    """Return a matrix that is stored as a byte a value and a scale a column."""
    import numpy as np

    matrix: Floats = net[name][n].astype(np.float32)
    matrix *= net[f"{name}_scale"][n].astype(np.float32)
    return matrix


def halves(stored: "NDArray[Any]", scale: "NDArray[Any]") -> "Floats":
    """Return rows whose values are stored as half bytes, two a byte, with a scale for 32 of them."""
    import numpy as np

    rows = len(stored)
    blocks = stored.reshape(rows, -1, QUARTET // 2)
    values = np.concatenate([blocks & 15, blocks >> 4], -1).astype(np.float32) - 8
    return (values * scale.astype(np.float32)[..., None]).reshape(rows, -1)


@cache
def learnt() -> "Weights":
    """Return the weights that come with the program."""
    import numpy as np

    with (
        resources.files("gitmem.extraction").joinpath("data", "reader.npz").open("rb") as stored,
        np.load(stored, allow_pickle=False) as file,
    ):
        arrays = {name: file[name] for name in file.files}
    return {
        name: array.astype(np.float32) if array.dtype == np.float16 and not name.endswith("_scale") else array
        for name, array in arrays.items()
    }
