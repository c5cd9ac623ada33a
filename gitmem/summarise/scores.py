"""How likely one sentence is of each kind: a linear model over its words, learnt from labelled sentences. Pure.

`scripts/train_scores.py` makes `phrases/scores.bin` from `tests/extraction/sentences/`: a softmax over KINDS and `none`, whose weights are hashed
into BUCKETS rows of eight numbers. Each row is one big number, so that a sentence costs one addition a feature. Cue phrases (`rules`) say what
they are sure of; this says how the words of people and agents usually go, and knows phrases that nobody wrote a cue for.
"""

import math
import re
import zlib
from functools import cache
from importlib import resources

from gitmem.model.item import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK

CLASSES = (DECISION, ERROR, PATTERN, TASK, DONE, PREFERENCE, CONTEXT, "none")
BUCKETS = 1 << 15
LANE = 24  # bits of a weight in a row: its own sixteen, and room for the sum of 256
BIAS = 1 << 15  # added to each weight, so that none is negative
SCALE = 2048.0  # steps of a weight of 1
MOST = 250  # features of a sentence
_ROW = LANE * len(CLASSES) // 8  # bytes
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+|\d+(?:[.:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|`|[?!:;¿¡→?!:;…]|--?(?=\w)|\*\*")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def features(text: str, role: str) -> list[str]:
    """Return the features of a sentence, each once: its words, pairs and triples, how it begins and ends, its shape."""
    found = _WORD.findall(text.lower()[:400])
    out = {f"r {role}"}
    words: list[str] = []
    for one in found:
        if _HAN.match(one):
            words += one
        else:
            words.append("0" if one[0].isdigit() and len(one) < 3 else "0.0" if one[0].isdigit() else one.replace("’", "'"))
    bare = [w for w in words if w not in "`**"]
    for n, word in enumerate(bare):
        out.add(word)
        out.add(f"r {role} {word}")
        if len(word) > 5:
            out.update((f"< {word[:5]}", f"> {word[-4:]}"))
        if n + 1 < len(bare):
            out.add(f"{word} {bare[n + 1]}")
        if n + 2 < len(bare):
            out.add(f"{word} {bare[n + 1]} {bare[n + 2]}")
    for size in (1, 2, 3):
        if len(bare) >= size:
            out.add(f"^ {' '.join(bare[:size])}")
            out.add(f"^ {role} {' '.join(bare[:size])}")
    if bare:
        out.add(f"$ {bare[-1]}")
    out.add(f"n {min(len(bare) // 5, 8)}")
    if "`" in words:
        out.add("code")
    if text[:1].islower():
        out.add("lower")
    if "**" in text[:4]:
        out.add("bold")
    if re.match(r"[A-Z]?\w+(?: \w+){0,3}:", text):
        out.add("lead")
    return sorted(out)[:MOST]


def bucket(feature: str) -> int:
    """Return the row of a feature."""
    return zlib.crc32(feature.encode("utf-8", "replace")) & (BUCKETS - 1)


@cache
def _rows() -> bytes:
    return zlib.decompress(resources.files("gitmem.summarise").joinpath("phrases", "scores.bin").read_bytes())


def scores(text: str, role: str) -> dict[str, float]:
    """Return how likely a sentence is of each class; together they are 1."""
    rows = _rows()
    places = {bucket(one) for one in features(text, role)} | {BUCKETS}
    total = 0
    for place in places:
        total += int.from_bytes(rows[place * _ROW : (place + 1) * _ROW], "little")
    mask = (1 << LANE) - 1
    values = [((total >> (LANE * n)) & mask) - BIAS * len(places) for n in range(len(CLASSES))]
    top = max(values)
    powers = [math.exp((value - top) / SCALE) for value in values]
    whole = sum(powers)
    return {name: power / whole for name, power in zip(CLASSES, powers, strict=True)}
