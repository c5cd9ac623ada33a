"""Learn the weights of `gitmem.summarise.scores` from the labelled sentences, and write them. Needs scikit-learn, which the product does not.

    python scripts/train_scores.py [--check]

Sentences: `tests/extraction/sentences/*.tsv`, a line `language TAB role TAB kind TAB sentence`. Those of the labelled sessions beside them are not
learnt from: they tell whether what was learnt holds. `--check` trains without a seventh of the files, seven
times, and prints how well those left out are told: precision and recall of the likeliest kind, and at the thresholds of `weighing`; it writes nothing.
The same files and the same scikit-learn give the same weights: nothing is drawn by lot.
"""

import argparse
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.summarise.scores import BIAS, BUCKETS, CLASSES, LANE, SCALE, bucket, features, signals, words  # noqa: E402
from gitmem.summarise.sentences import sentences  # noqa: E402
from gitmem.summarise.weighing import ADDS  # noqa: E402

STRENGTH = 0.3  # inverse of the penalty on large weights
SEEN = 4  # sentences that a word must be in to be known
OFTEN = 2  # sentences that a feature must be in to have a weight
FOLDS = 7
OUT = ROOT / "gitmem/summarise/phrases/scores.bin"
Row = tuple[str, str, str, str, str]  # file, language, role, kind, sentence


def read(folder: Path) -> list[Row]:
    """Return the sentences of a folder, as they are cut from a session."""
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            parts = line.split("\t")
            if len(parts) == 4 and parts[2] in CLASSES:
                text = " ".join(one.text for one in sentences(parts[3])) or parts[3]
                rows.append((path.name, parts[0], parts[1], parts[2], text))
    return rows


def vocabulary(rows: list[Row]) -> set[str]:
    """Return the words that are known as themselves."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(set(words(row[4])))
    return {word for word, times in counts.items() if times >= SEEN and word[0].isalpha()}


def matrix(rows: list[Row], signs: list[list[str]], known: set[str]) -> csr_matrix:
    """Return one row a sentence, one column a bucket."""
    ends, columns = [0], []
    for (_, spoken, role, _, text), mine in zip(rows, signs, strict=True):
        columns += sorted({bucket(one) for one in features(text, role, spoken, mine, known)})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), BUCKETS))


def fit(rows: list[Row], signs: list[list[str]]) -> tuple[set[str], np.ndarray]:
    """Return the known words and the weights, the intercepts as the last row."""
    known = vocabulary(rows)
    table = matrix(rows, signs, known)
    kept = np.asarray(table.sum(0)).ravel() >= OFTEN
    model = LogisticRegression(C=STRENGTH, max_iter=300).fit(table[:, kept], [CLASSES.index(row[3]) for row in rows])
    weights = np.zeros((BUCKETS + 1, len(CLASSES)))
    weights[:-1][kept] = model.coef_.T
    weights[-1] = model.intercept_
    return known, weights


def check(rows: list[Row], signs: list[list[str]]) -> None:
    """Print precision and recall by kind, each file told by others."""
    names = sorted({row[0] for row in rows})
    told: list[tuple[str, str, np.ndarray]] = []
    for fold in range(FOLDS):
        out = {name for n, name in enumerate(names) if n % FOLDS == fold}
        here = [n for n, row in enumerate(rows) if row[0] in out]
        there = [n for n, row in enumerate(rows) if row[0] not in out]
        known, weights = fit([rows[n] for n in there], [signs[n] for n in there])
        values = matrix([rows[n] for n in here], [signs[n] for n in here], known) @ weights[:-1] + weights[-1]
        powers = np.exp(values - values.max(1, keepdims=True))
        told += [(rows[n][3], CLASSES[int(row.argmax())], row / row.sum()) for n, row in zip(here, powers, strict=True)]
    for number, kind in enumerate(CLASSES[:-1]):
        wanted = sum(true == kind for true, _, _ in told)
        parts = [[true == kind for true, best, _ in told if best == kind]]
        parts += [
            [true == kind for true, best, row in told if best == kind and row[number] >= least] for least in (0.5, 0.6, 0.7, ADDS[kind])
        ]
        say(f"{kind:<12}", *(f"{sum(part) / max(1, len(part)):.2f}/{sum(part) / max(1, wanted):.2f}" for part in parts), f"of {wanted}")


def write(known: set[str], weights: np.ndarray) -> None:
    """Write the known words and the weights."""
    steps = np.clip(np.rint(weights * SCALE), -BIAS, BIAS - 1).astype(int) + BIAS
    data = bytearray(" ".join(sorted(known)).encode("utf-8") + b"\0")
    for row in steps:
        data += sum(int(value) << (LANE * n) for n, value in enumerate(row)).to_bytes(LANE * len(CLASSES) // 8, "little")
    OUT.write_bytes(zlib.compress(bytes(data), 9))
    say(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")


def say(*parts: object) -> None:
    """Print."""
    print(*parts)  # noqa: T201


def main() -> None:
    """Train, and check or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="print how well sentences are told that were not learnt from")
    given = parser.parse_args()
    rows = read(ROOT / "tests/extraction/sentences")
    say(f"{len(rows):,} sentences: {dict(Counter(row[3] for row in rows))}")
    signs = [signals(row[4], row[2], row[1]) for row in rows]
    if given.check:
        say("precision/recall of the likeliest kind, where it is likelier than 0.5, 0.6, 0.7, its threshold")
        check(rows, signs)
    else:
        write(*fit(rows, signs))


if __name__ == "__main__":
    main()
