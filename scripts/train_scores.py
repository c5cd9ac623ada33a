"""Learn the weights of `gitmem.summarise.scores` from the labelled sentences, and write them. Needs scikit-learn, which the product does not.

    python scripts/train_scores.py [--check] [--also FOLDER]

Sentences: `tests/extraction/sentences/*.tsv`, a line `language TAB role TAB kind TAB sentence`. `--check` trains on all files but one, for each, and
prints how well the one left out is told, in all languages; it writes nothing.
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

from gitmem.summarise.scores import BIAS, BUCKETS, CLASSES, LANE, SCALE, bucket, features  # noqa: E402

STRENGTH = 4.0  # inverse of the penalty on large weights
Row = tuple[str, str, str, str]  # file, role, kind, sentence


def read(folder: Path) -> list[Row]:
    """Return the sentences of a folder."""
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            parts = line.split("\t")
            if len(parts) == 4 and parts[2] in CLASSES:
                rows.append((path.name, parts[1], parts[2], parts[3]))
    return rows


def matrix(rows: list[Row]) -> csr_matrix:
    """Return one row a sentence, one column a bucket."""
    ends, columns = [0], []
    for _, role, _, text in rows:
        columns += sorted({bucket(one) for one in features(text, role)})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), BUCKETS))


def fit(rows: list[Row]) -> LogisticRegression:
    """Return a model."""
    return LogisticRegression(C=STRENGTH, max_iter=400).fit(matrix(rows), [CLASSES.index(row[2]) for row in rows])


def check(rows: list[Row]) -> None:
    """Print precision and recall by kind, each file told by the others."""
    right, found, wanted = Counter(), Counter(), Counter()
    for name in sorted({row[0] for row in rows}):
        mine = [row for row in rows if row[0] == name]
        said = fit([row for row in rows if row[0] != name]).predict(matrix(mine))
        for row, number in zip(mine, said, strict=True):
            wanted[row[2]] += 1
            found[CLASSES[number]] += 1
            right[row[2]] += row[2] == CLASSES[number]
    for kind in CLASSES:
        print(
            f"{kind:<12} precision {right[kind] / max(1, found[kind]):.2f}  recall {right[kind] / max(1, wanted[kind]):.2f}  of {wanted[kind]}"
        )


def write(model: LogisticRegression, path: Path) -> None:
    """Write the weights, the intercepts as the last row."""
    table = np.vstack([model.coef_.T, model.intercept_[None, :]])
    steps = np.clip(np.rint(table * SCALE), -BIAS, BIAS - 1).astype(int) + BIAS
    data = bytearray()
    for row in steps:
        data += sum(int(value) << (LANE * n) for n, value in enumerate(row)).to_bytes(LANE * len(CLASSES) // 8, "little")
    path.write_bytes(zlib.compress(bytes(data), 9))
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def main() -> None:
    """Train, and check or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--also", type=Path, action="append", default=[])
    given = parser.parse_args()
    rows = [row for folder in [ROOT / "tests/extraction/sentences", *given.also] for row in read(folder)]
    print(f"{len(rows):,} sentences: {dict(Counter(row[2] for row in rows))}")
    if given.check:
        check(rows)
    else:
        write(fit(rows), ROOT / "gitmem/summarise/phrases/scores.bin")


if __name__ == "__main__":
    main()
