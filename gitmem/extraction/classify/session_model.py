"""What a sentence teaches, judged again when the rest of the session is known.

It uses what was said and done after the sentence, and how far the session went on. The module is
pure.

`scores` judges a sentence as it is said. Whether a proposal became a decision, or a task was left
to do, is told by what follows: a yes, an edit, the end. What is known of each sentence (its first
scores, those of the sentences beside it and of the turns around it) goes through a recurrent neural
network (`network`), which reads the session forwards and backwards.
"""

import contextlib
import io
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from gitmem.extraction.classify.linear_model import CLASSES, EDIT, FAIL, RUN
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules
from gitmem.records.items import DECISION
from gitmem.transcripts.turn import USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Weights = Mapping[str, Array]

log = logging.getLogger(__name__)

FAR = 6.0  # standard deviations from the mean that count as such at most
# arrays of a network: K networks, D features, H units, C classes
SHAPES = {
    "mean": "D",
    "scale": "D",
    "in": "K D H",
    "in_bias": "K H",
    "input": "K 2 H 3H",
    "recurrent": "K 2 H 3H",
    "bias": "K 2 3H",
    "out": "K 2H+D M",
    "out_bias": "K M",
    "last": "K M C",
    "last_bias": "K C",
}


def one_thread() -> "AbstractContextManager[object]":
    """Return a context in which numpy keeps to one thread.

    Several threads wait for one another in a loop, which costs more the busier a machine is.
    """
    import numpy as np  # noqa: F401 - the library that it brings must be there

    try:
        from threadpoolctl import threadpool_limits

        limited: AbstractContextManager[object] = threadpool_limits(1, "blas")
    except Exception:  # it is slower on a busy machine, and right
        log.debug("numpy could not be kept to one thread", exc_info=True)
        return contextlib.nullcontext()
    return limited


def run(
    known: "Sequence[Sequence[float]]", weights: "Weights | None" = None
) -> "list[list[float]]":
    """Return how likely each of a session's sentences is of each class, in order.

    The sentences are given by their features. The likelihoods of a sentence sum up to 1.
    """
    import numpy as np

    if not known:
        return []
    net = learnt() if weights is None else weights
    given = np.clip((np.asarray(known, dtype=np.float32) - net["mean"]) / net["scale"], -FAR, FAR)
    inner = np.maximum(0, given @ net["in"] + net["in_bias"][:, None])  # K T H
    many, size, width = inner.shape
    both = np.stack([inner, inner[:, ::-1]], 1) @ net["input"] + net["bias"][:, :, None]  # K 2 T 3H
    # T 2K 1 3H
    told = np.ascontiguousarray(both.reshape(2 * many, size, 3 * width).transpose(1, 0, 2))[
        :, :, None
    ]
    recurrent = net["recurrent"].reshape(2 * many, width, 3 * width)
    states = np.empty((size, 2 * many, 1, width), dtype=np.float32)
    state, before = (
        np.zeros(states.shape[1:], dtype=np.float32),
        np.empty(told.shape[1:], dtype=np.float32),
    )
    half = np.float32(0.5)
    for step, now in enumerate(told):
        np.matmul(state, recurrent, out=before)
        gates = half + half * np.tanh(half * (now[..., : 2 * width] + before[..., : 2 * width]))
        fresh = np.tanh(now[..., 2 * width :] + gates[..., width:] * before[..., 2 * width :])
        state = states[step] = state + gates[..., :width] * (fresh - state)
    both_ways = states.reshape(size, many, 2, width).transpose(1, 2, 0, 3)
    likely = np.zeros((size, net["last"].shape[-1]), dtype=np.float32)
    # one network at a time: what goes in is as wide as all that is known
    for one, (on, back) in enumerate(both_ways):
        joined = np.concatenate([on, back[::-1], given], -1)
        values = (
            np.maximum(0, joined @ net["out"][one] + net["out_bias"][one]) @ net["last"][one]
            + net["last_bias"][one]
        )
        powers = np.exp(values - values.max(-1, keepdims=True))
        likely += powers / powers.sum(-1, keepdims=True)
    out: list[list[float]] = (likely / np.float32(many)).tolist()
    return out


def packed(weights: "Weights") -> bytes:
    """Return weights as they are stored; raises KeyError when one is missing."""
    import numpy as np

    file = io.BytesIO()
    arrays = {
        name: weights[name].astype(np.float32 if shape == "D" else np.float16)
        for name, shape in SHAPES.items()
    }
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpacked(stored: bytes) -> "Weights":
    """Return the weights that `packed` stored."""
    import numpy as np

    with np.load(io.BytesIO(stored), allow_pickle=False) as file:
        return {name: file[name].astype(np.float32) for name in SHAPES}


@cache
def learnt() -> "Weights":
    """Return the weights that come with the program."""
    return unpacked(
        resources.files("gitmem.extraction").joinpath("data", "session_model.npz").read_bytes()
    )


CUES = (
    "accept",
    "refuse",
    "go",
    "idle",
    "then",
    "defer",
    "facts",
    "choice",
    "worked",
    "request",
    "proposes",
    "style",
    "now",
    "refers",
    "permission",
    "unneeded",
)
_LISTS = tuple(("exchange", name) for name in CUES)
Scores = Mapping[str, float]
CONFIRMS, CONFIRMING, LEAST = (
    0.5,
    4,
    0.05,
)  # how much it counts that the agent says it again, in its first sentences; and how likely a choice must be
_MANY = len(CLASSES)
_NOTHING = [math.log(1e-3)] * _MANY
_NEXT = 2 + 2 * _MANY + len(CUES) + 4 + 3  # features of what comes after


@dataclass(slots=True, eq=False)
class Heard:
    """One sentence with its first scores, and what is known of what came after it."""

    text: str
    role: str
    language: str
    turn: int  # which of the session, counted from 0
    first: Scores
    known: list[float]
    after: list[float] = field(default_factory=list)
    # how likely it is of each class, by the session model; together they are 1
    by: Scores = field(default_factory=dict)
    # the same, before what the agent says again counts
    unread: Scores = field(default_factory=dict)


@dataclass(slots=True)
class _Turn:
    role: str
    last: list[float]
    most: list[float]
    asks: bool
    any_asks: bool
    choice: bool
    proposes: bool
    about: list[frozenset[str]]
    heard: list[Heard]


class Listening:
    """The turns of a session as they come."""

    def __init__(self) -> None:
        self.turns = 0
        self.all: list[Heard] = []
        self._before: _Turn | None = None
        self._used: set[str] = set()

    def tool(self, used: str) -> None:
        """A tool was used for something: EDIT, RUN, FAIL."""
        self._used.add(used)

    def turn(
        self, role: str, language: str, texts: Sequence[str], scores: Sequence[Scores | None]
    ) -> list[Heard | None]:
        """Take what somebody said, with its language and the first scores of each sentence.

        None stands for a sentence that has none.
        """
        logs = [_logs(one) for one in scores]
        told = [one for one in logs if one is not None]
        if not told:
            return [None] * len(texts)
        words = [content(text, language) for text in texts]
        asks = [sentence_rules.asks(text, language) for text in texts]
        here = cues(language)
        now = _Turn(
            role,
            logs[-1] or _NOTHING,
            [max(row) for row in zip(*told, strict=True)],
            asks[-1],
            any(asks),
            any(bool(here.find("exchange", "choice", text)) for text in texts),
            any(bool(here.find("exchange", "proposes", text)) for text in texts),
            words,
            [],
        )
        used = [float(one in self._used) for one in (EDIT, RUN, FAIL)]
        before = self._before
        if before is not None:
            self._answer(before, role, language, texts[0], logs[0] or _NOTHING, now, used, asks[0])
        out: list[Heard | None] = []
        size = len(texts)
        for n, (text, mine) in enumerate(zip(texts, logs, strict=True)):
            if mine is None:
                out.append(None)
                continue
            known = [
                float(role == USER),
                float(min(n, 8)),
                float(min(size, 12)),
                float(min(size - 1 - n, 8)),
                math.log1p(_length(text, language)),
                float(asks[n]),
                float(text[:1].islower()),
                *mine,
                *((logs[n - 1] if n else None) or _NOTHING),
                *((logs[n + 1] if n + 1 < size else None) or _NOTHING),
                *_cues(text, language),
                *_of(before, words[n]),
                *used,
            ]
            heard = Heard(text, role, language, self.turns, scores[n] or {}, known)
            now.heard.append(heard)
            self.all.append(heard)
            out.append(heard)
        self._before = now
        self._used.clear()
        self.turns += 1
        return out

    def judge(self, *, alone: bool = False) -> None:
        """Judge every sentence: the session has ended, as far as anybody knows.

        `alone`: no word of an agent is known; first scores stand, as nothing tells what became of
        it.
        """
        if alone:
            for heard in self.all:
                heard.by = heard.unread = dict(heard.first)
            return
        with one_thread():
            told = run([vector(one, self.turns) for one in self.all])
        for heard, likely in zip(self.all, told, strict=True):
            heard.by = heard.unread = dict(zip(CLASSES, likely, strict=True))
        self._confirm()

    def _confirm(self) -> None:
        """Make a choice of the user surer when the agent then repeats it.

        Either sentence may be the one that decides.
        """
        turns: dict[int, list[Heard]] = {}
        for heard in self.all:
            turns.setdefault(heard.turn, []).append(heard)
        for heard in self.all:
            if heard.role != USER or heard.by[DECISION] < LEAST:
                continue
            words = content(heard.text, heard.language)
            again = [
                one.by[DECISION]
                for one in turns.get(heard.turn + 1, ())[:CONFIRMING]
                if one.role != USER and len(words & content(one.text, one.language)) >= 2
            ]
            surer = 1.0 - (1.0 - heard.by[DECISION]) * (1.0 - CONFIRMS * max(again, default=0.0))
            rest = (1.0 - surer) / max(1.0 - heard.by[DECISION], 1e-9)
            heard.by = {
                kind: surer if kind == DECISION else value * rest
                for kind, value in heard.by.items()
            }

    def _answer(
        self,
        before: _Turn,
        role: str,
        language: str,
        first: str,
        scores: list[float],
        now: _Turn,
        used: list[float],
        asks: bool,
    ) -> None:
        """Tell the sentences of the turn before what came after them."""
        same = [
            1.0,
            float(role == USER),
            *scores,
            *now.most,
            *_cues(first, language),
            math.log1p(_length(first, language)),
            float(asks),
            float(min(len(now.about), 12)),
        ]
        for heard in before.heard:
            mine = content(heard.text, heard.language)
            heard.after = [*same, float(min(4, max(len(mine & one) for one in now.about))), *used]
        before.heard = []


def vector(heard: Heard, turns: int) -> list[float]:
    """Return the features of a sentence of a session that has so many turns."""
    place = [
        heard.turn / max(1, turns),
        float(min(20, heard.turn)),
        float(min(20, turns - 1 - heard.turn)),
    ]
    return [*heard.known, *(heard.after or [0.0] * _NEXT), *place]


def _logs(scores: Scores | None) -> list[float] | None:
    return None if scores is None else [math.log(scores[name] + 1e-3) for name in CLASSES]


def _length(text: str, language: str) -> int:
    return len(text) // 2 if language == "zh" else len(text.split())


def _cues(text: str, language: str) -> list[float]:
    shown = cues(language).shown(_LISTS, text)
    return [float(one in shown) for one in _LISTS]


def _of(before: _Turn | None, words: frozenset[str]) -> list[float]:
    """Return what the turn before tells of a sentence with these words."""
    if before is None:
        return [0.0] * (10 + 2 * _MANY)
    shares = [len(words & one) for one in before.about]
    return [
        1.0,
        float(before.role == USER),
        *before.last,
        *before.most,
        float(before.asks),
        float(before.any_asks),
        float(before.choice),
        float(before.proposes),
        float(min(4, max(shares))),
        float(min(4, shares[-1])),
        float(min(8, len(words))),
        float(min(12, len(before.about))),
    ]
