"""The network that judges each sentence of a session by what it knows of it and of all that stand before and after it. Pure.

Several networks of one shape, whose answers are averaged. In each, what is known of a sentence goes through a layer of rectified units, then through
gated recurrent units in both directions (Cho et al. 2014, arXiv:1406.1078; the reset gate stands behind the recurrent product, as in cuDNN), and through
one more layer to the classes. `scripts/train_scores.py` learns the weights and stores them as a `.npz` of half-precision arrays.
"""

import contextlib
import io
import logging
from functools import cache
from importlib import resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Weights = Mapping[str, Array]

log = logging.getLogger(__name__)

FAR = 6.0  # standard deviations from the mean that count as such at most
# arrays of a network: K networks, D features, H units, C classes
SHAPES = {
    "mean": "D", "scale": "D", "in": "K D H", "in_bias": "K H", "input": "K 2 H 3H", "recurrent": "K 2 H 3H", "bias": "K 2 3H",
    "out": "K 2H+D M", "out_bias": "K M", "last": "K M C", "last_bias": "K C",
}  # fmt: skip


def one_thread() -> "AbstractContextManager[object]":
    """Return a context in which numpy keeps to one thread: several wait for one another in a loop, which costs the more the busier a machine is."""
    import numpy as np  # noqa: F401 - the library that it brings must be there

    try:
        from threadpoolctl import threadpool_limits

        limited: AbstractContextManager[object] = threadpool_limits(1, "blas")
    except Exception:  # it is slower on a busy machine, and right
        log.debug("numpy could not be kept to one thread", exc_info=True)
        return contextlib.nullcontext()
    return limited


def run(known: "Sequence[Sequence[float]]", weights: "Weights | None" = None) -> "list[list[float]]":
    """Return how likely each of a session's sentences is of each class, in their order, given their features; the likelihoods of a sentence sum up to 1."""
    import numpy as np

    if not known:
        return []
    net = learnt() if weights is None else weights
    given = np.clip((np.asarray(known, dtype=np.float32) - net["mean"]) / net["scale"], -FAR, FAR)
    inner = np.maximum(0, given @ net["in"] + net["in_bias"][:, None])  # K T H
    many, size, width = inner.shape
    both = np.stack([inner, inner[:, ::-1]], 1) @ net["input"] + net["bias"][:, :, None]  # K 2 T 3H
    told = np.ascontiguousarray(both.reshape(2 * many, size, 3 * width).transpose(1, 0, 2))[:, :, None]  # T 2K 1 3H
    recurrent = net["recurrent"].reshape(2 * many, width, 3 * width)
    states = np.empty((size, 2 * many, 1, width), dtype=np.float32)
    state, before = np.zeros(states.shape[1:], dtype=np.float32), np.empty(told.shape[1:], dtype=np.float32)
    half = np.float32(0.5)
    for step, now in enumerate(told):
        np.matmul(state, recurrent, out=before)
        gates = half + half * np.tanh(half * (now[..., : 2 * width] + before[..., : 2 * width]))
        fresh = np.tanh(now[..., 2 * width :] + gates[..., width:] * before[..., 2 * width :])
        state = states[step] = state + gates[..., :width] * (fresh - state)
    both_ways = states.reshape(size, many, 2, width).transpose(1, 2, 0, 3)
    likely = np.zeros((size, net["last"].shape[-1]), dtype=np.float32)
    for one, (on, back) in enumerate(both_ways):  # one network at a time: what goes in is as wide as all that is known
        joined = np.concatenate([on, back[::-1], given], -1)
        values = np.maximum(0, joined @ net["out"][one] + net["out_bias"][one]) @ net["last"][one] + net["last_bias"][one]
        powers = np.exp(values - values.max(-1, keepdims=True))
        likely += powers / powers.sum(-1, keepdims=True)
    out: list[list[float]] = (likely / np.float32(many)).tolist()
    return out


def packed(weights: "Weights") -> bytes:
    """Return weights as they are stored; raises KeyError when one is missing."""
    import numpy as np

    file = io.BytesIO()
    arrays = {name: weights[name].astype(np.float32 if shape == "D" else np.float16) for name, shape in SHAPES.items()}
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
    return unpacked(resources.files("gitmem.extraction").joinpath("data", "hindsight.npz").read_bytes())
