"""Learn the weights of `gitmem.extraction.classify.session_model`.

Needs JAX and Optax, which the product does not.

One network has 48 units in its first layer and in each direction, and 64 in the layer behind them.
It is learnt with AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101), a rate that falls with a
cosine, and dropout (Srivastava et al. 2014); seeds are fixed.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gitmem.extraction.classify.session_model import FAR

UNITS, BEHIND = 48, 64
EPOCHS, BATCH, RATE, DECAY, DROP = 15, 16, 2e-3, 1e-3, 0.2
STEP = 16  # lengths of sessions are rounded up to it, so that few shapes are compiled

Weights = dict[str, jax.Array]


def learn(
    known: np.ndarray,
    kinds: np.ndarray,
    sessions: Sequence[np.ndarray],
    classes: int,
    networks: int,
) -> dict[str, np.ndarray]:
    """Return the weights of networks, by the names of `network.SHAPES`.

    `known` has a row of features a sentence, `kinds` its class, `sessions` the rows of each
    session.
    """
    rows = np.concatenate(sessions)
    mean, scale = known[rows].mean(0), known[rows].std(0) + 1e-6
    given = np.clip((known - mean) / scale, -FAR, FAR).astype(np.float32)
    made = [_one(given, kinds, sessions, classes, seed) for seed in range(networks)]
    return {
        "mean": mean,
        "scale": scale,
        **{name: np.stack([np.asarray(one[name]) for one in made]) for name in made[0]},
    }


def _one(
    given: np.ndarray, kinds: np.ndarray, sessions: Sequence[np.ndarray], classes: int, seed: int
) -> Weights:
    weights = _begin(given.shape[1], classes, jax.random.PRNGKey(seed))
    steps = EPOCHS * -(-len(sessions) // BATCH)
    way = optax.adamw(optax.cosine_decay_schedule(RATE, steps), weight_decay=DECAY)
    state = way.init(weights)

    @jax.jit
    def update(
        weights: Weights, state: optax.OptState, batch: tuple, key: jax.Array
    ) -> tuple[Weights, optax.OptState]:
        slopes = jax.grad(_loss)(weights, *batch, key)
        changes, state = way.update(slopes, state, weights)
        return optax.apply_updates(weights, changes), state

    chance, key = np.random.default_rng(seed), jax.random.PRNGKey(seed + 1)
    for _ in range(EPOCHS):
        # sessions of about the same length together
        order = sorted(
            chance.permutation(len(sessions)),
            key=lambda n: len(sessions[n]) // STEP + chance.random() / 2,
        )
        batches = [order[n : n + BATCH] for n in range(0, len(order), BATCH)]
        chance.shuffle(batches)
        for batch in batches:
            full = [*batch, *batch[-1:] * (BATCH - len(batch))]
            key, now = jax.random.split(key)
            weights, state = update(
                weights, state, _padded(given, kinds, [sessions[n] for n in full]), now
            )
    return weights


def _begin(features: int, classes: int, key: jax.Array) -> Weights:
    keys = iter(jax.random.split(key, 8))

    def some(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) / np.sqrt(shape[-2])

    return {
        "in": some(features, UNITS),
        "in_bias": jnp.zeros(UNITS),
        "input": some(2, UNITS, 3 * UNITS),
        "recurrent": some(2, UNITS, 3 * UNITS),
        "bias": jnp.zeros((2, 3 * UNITS)),
        "out": some(2 * UNITS + features, BEHIND),
        "out_bias": jnp.zeros(BEHIND),
        "last": some(BEHIND, classes),
        "last_bias": jnp.zeros(classes),
    }


def _padded(
    given: np.ndarray, kinds: np.ndarray, sessions: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    longest = -(-max(map(len, sessions)) // STEP) * STEP
    told = np.zeros((len(sessions), longest, given.shape[1]), np.float32)
    right, real = np.zeros((len(sessions), longest), int), np.zeros((len(sessions), longest), bool)
    for n, rows in enumerate(sessions):
        told[n, : len(rows)], right[n, : len(rows)], real[n, : len(rows)] = (
            given[rows],
            kinds[rows],
            True,
        )
    return told, right, real


def _loss(
    weights: Weights, told: jax.Array, right: jax.Array, real: jax.Array, key: jax.Array
) -> jax.Array:
    keys = jax.random.split(key, 4)

    def some(values: jax.Array, n: int) -> jax.Array:
        return values * jax.random.bernoulli(keys[n], 1 - DROP, values.shape) / (1 - DROP)

    seen = some(told, 0)
    inner = jax.nn.relu(seen @ weights["in"] + weights["in_bias"])
    there = _recurrent(weights, 0, inner, real)
    back = _recurrent(weights, 1, inner[:, ::-1], real[:, ::-1])[:, ::-1]
    joined = jnp.concatenate([some(there, 1), some(back, 2), seen], -1)
    values = (
        some(jax.nn.relu(joined @ weights["out"] + weights["out_bias"]), 3) @ weights["last"]
        + weights["last_bias"]
    )
    return (
        optax.softmax_cross_entropy_with_integer_labels(values, right) * real
    ).sum() / real.sum()


def _recurrent(weights: Weights, way: int, inner: jax.Array, real: jax.Array) -> jax.Array:
    recurrent = weights["recurrent"][way]

    def step(state: jax.Array, given: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        told, here = given
        before = state @ recurrent
        gates = jax.nn.sigmoid(told[:, : 2 * UNITS] + before[:, : 2 * UNITS])
        keep, reset = gates[:, :UNITS], gates[:, UNITS:]
        fresh = jnp.tanh(told[:, 2 * UNITS :] + reset * before[:, 2 * UNITS :])
        state = jnp.where(here[:, None], keep * fresh + (1 - keep) * state, state)
        return state, state

    told = inner @ weights["input"][way] + weights["bias"][way]
    _, states = jax.lax.scan(
        step, jnp.zeros((len(inner), UNITS)), (told.transpose(1, 0, 2), real.T)
    )
    return states.transpose(1, 0, 2)
