"""Learn the weights of the models from the labelled sentences, and write them.

The models are `gitmem.extraction.classify.linear_model` and `the session model`. This needs
scikit-learn, JAX and Optax, which the product does not need.

    python scripts/train_scores.py [--check]

Sentences: `*.tsv` of `tests/extraction/sentences.tar.xz`, a line `language TAB role TAB kind TAB
sentence`. Those of the labelled sessions beside them are not learnt from: they tell whether what
was learnt holds. Hindsight learns from the files `c_*`, which are whole sessions, with the first
scores of weights that have not seen the file. `--check` prints how well sentences are told that
were not learnt from: precision and recall by kind, at first and by the session model; it writes
nothing. The same files and the same libraries give the same weights: seeds are fixed.
"""

import argparse
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import cycle, groupby, pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.extraction.classify.linear_model import (  # noqa: E402
    ALONE,
    BIAS,
    BUCKETS,
    CLASSES,
    EDIT,
    FAIL,
    LANE,
    RUN,
    SCALE,
    Around,
    Before,
    bucket,
    features,
    signals,
    words,
)
from gitmem.extraction.classify.session_model import Listening, packed, run, vector  # noqa: E402
from gitmem.extraction.language.sentences import sentences  # noqa: E402
from scripts.learn_network import learn  # noqa: E402
from scripts.sentences import folder  # noqa: E402

STRENGTH = 0.3  # inverse of the penalty on large weights
SEEN = 4  # sentences that a word must be in to be known
OFTEN = 2  # sentences that a feature must be in to have a weight
FOLDS = 5
NETWORKS = 5  # of the session model, which are averaged
# files whose lines follow one another: in `x_` a blank line ends a turn, in `c_` a session
IN_CONTEXT = ("x_", "c_")
PIECES = (2, 4, 1, 3, 6, 2, 5)  # turns of the pieces that stand for short sessions
OUT = ROOT / "gitmem/extraction/data/linear_model.bin"
LATER = ROOT / "gitmem/extraction/data/session_model.npz"


@dataclass
class Row:
    """One sentence, and what stands around it where that is known."""

    file: str
    language: str
    role: str
    kind: str
    text: str
    around: tuple[str, ...] = (ALONE,)
    signs: tuple[str, ...] = ()
    session: int = 0
    turn: int = 0
    used: frozenset[str] = frozenset()  # what tools were used for since the turn before


def read(folder: Path) -> list[Row]:
    """Return the sentences of a folder, as they are cut from a session."""
    rows: list[Row] = []
    session = number = 0
    for path in sorted(folder.glob("*.tsv")):
        session += 1
        turn: list[Row] = []
        before = Before()
        for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
            parts = line.split("\t")
            if turn and (len(parts) < 4 or parts[1] != turn[0].role):
                if path.name[:2] in IN_CONTEXT:
                    place(turn, before)
                    before = Before(turn[-1].text, turn[-1].role, turn[-1].language)
                rows += turn
                turn = []
                number += 1
            if len(parts) < 4:
                session += 1
                before = Before() if path.name.startswith("c_") else before  # a session ends
            elif parts[1] == "tool":
                before = replace(
                    before, used=before.used | {parts[3].split(" ", 1)[0]} & {EDIT, RUN, FAIL}
                )
            elif parts[2] in CLASSES:
                text = " ".join(one.text for one in sentences(parts[3])) or parts[3]
                turn.append(
                    Row(
                        path.name,
                        parts[0],
                        parts[1],
                        parts[2],
                        text,
                        session=session,
                        turn=number,
                        used=before.used,
                    )
                )
    for row in rows:
        row.signs = signals(row.text, row.role, row.language)
    return rows


def place(turn: list[Row], before: Before) -> None:
    """Note what stands around each sentence of a turn."""
    texts = [row.text for row in turn]
    for n, row in enumerate(turn):
        row.around = Around(texts, n, row.role, row.language, before).features()


def vocabulary(rows: list[Row]) -> set[str]:
    """Return the words that are known as themselves."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(set(words(row.text)))
    return {word for word, times in counts.items() if times >= SEEN and word[0].isalpha()}


def matrix(rows: list[Row], known: set[str]) -> csr_matrix:
    """Return one row a sentence, one column a bucket."""
    ends, columns = [0], []
    for row in rows:
        mine = {*features(row.text, row.role, row.language, row.signs, known), *row.around}
        columns += sorted({bucket(one) for one in mine})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), BUCKETS))


def fit(rows: list[Row]) -> tuple[set[str], np.ndarray]:
    """Return the known words and the weights, the intercepts as the last row."""
    known = vocabulary(rows)
    table = matrix(rows, known)
    kept = np.asarray(table.sum(0)).ravel() >= OFTEN
    model = LogisticRegression(C=STRENGTH, max_iter=300).fit(
        table[:, kept], [CLASSES.index(row.kind) for row in rows]
    )
    weights = np.zeros((BUCKETS + 1, len(CLASSES)))
    weights[:-1][kept] = model.coef_.T
    weights[-1] = model.intercept_
    return known, weights


def first(rows: list[Row]) -> np.ndarray:
    """Return the first scores of the sentences of whole sessions.

    Each is made by weights that have not seen its file. The scores of the other sentences are 0.
    """
    names = sorted({row.file for row in rows if row.file.startswith("c_")})
    out = np.zeros((len(rows), len(CLASSES)))
    for fold in range(FOLDS):
        left = set(names[fold::FOLDS])
        here = [n for n, row in enumerate(rows) if row.file in left]
        known, weights = fit([row for row in rows if row.file not in left])
        values = matrix([rows[n] for n in here], known) @ weights[:-1] + weights[-1]
        powers = np.exp(values - values.max(1, keepdims=True))
        out[here] = powers / powers.sum(1, keepdims=True)
    return out


@dataclass
class Sessions:
    """Sentences of whole sessions and of pieces of them.

    The pieces stand for short sessions. Each sentence comes with what the session model knows of
    it.
    """

    rows: list[Row]
    known: np.ndarray
    kinds: np.ndarray  # the class of each, by its number
    groups: list[np.ndarray]  # the numbers of each session's sentences
    whole: np.ndarray  # whether a sentence is of a whole session

    def of(self, files: set[str], *, besides: bool = False) -> list[np.ndarray]:
        """Return the sessions of some files, or of all others."""
        return [group for group in self.groups if (self.rows[group[0]].file in files) != besides]


def vectors(rows: list[Row], scores: np.ndarray) -> Sessions:
    """Return the sessions of the files `c_*`."""
    kept: list[Row] = []
    out: list[list[float]] = []
    parts: list[bool] = []
    groups: list[np.ndarray] = []
    whole = [n for n, row in enumerate(rows) if row.file.startswith("c_")]
    sizes = cycle(PIECES)
    for _, session in groupby(whole, key=lambda n: rows[n].session):
        turns = [list(turn) for _, turn in groupby(session, key=lambda n: rows[n].turn)]
        cuts = [0]
        while cuts[-1] < len(turns):
            cuts.append(cuts[-1] + next(sizes))
        for piece in [turns, *(turns[start:end] for start, end in pairwise(cuts))]:
            listening = Listening()
            heard = []
            for mine in piece:
                row = rows[mine[0]]
                for used in row.used:
                    listening.tool(used)
                told = [dict(zip(CLASSES, scores[n].tolist(), strict=True)) for n in mine]
                heard += listening.turn(row.role, row.language, [rows[n].text for n in mine], told)
                kept += [rows[n] for n in mine]
                parts += [piece is not turns] * len(mine)
            groups.append(np.arange(len(out), len(kept)))
            out += [vector(one, listening.turns) for one in heard if one is not None]
    kinds = np.array([CLASSES.index(row.kind) for row in kept])
    return Sessions(kept, np.array(out), kinds, groups, ~np.array(parts))


def check(rows: list[Row], scores: np.ndarray) -> None:
    """Print precision and recall by kind, each file told by others."""
    told = vectors(rows, scores)
    names = sorted({row.file for row in told.rows})
    later = np.zeros((len(told.rows), len(CLASSES)))
    for fold in range(FOLDS):
        left = set(names[fold::FOLDS])
        made = learn(told.known, told.kinds, told.of(left, besides=True), len(CLASSES), 1)
        for group in told.of(left):
            later[group] = run(told.known[group].tolist(), made)
    later, true = later[told.whole], told.kinds[told.whole]
    at_first = scores[[n for n, row in enumerate(rows) if row.file.startswith("c_")]]
    for name, by in (("at first", at_first), ("by the session model", later)):
        say(name)
        for number, kind in enumerate(CLASSES[:-1]):
            wanted = int((true == number).sum())
            parts = []
            for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
                found = (by.argmax(1) == number) & (by[:, number] >= least)
                parts.append(
                    f"{(true[found] == number).mean() if found.any() else 1:.2f}/{(true[found] == number).sum() / max(1, wanted):.2f}"
                )
            say(f"  {kind:<12}", *parts, f"of {wanted}")


def write(known: set[str], weights: np.ndarray) -> None:
    """Write the known words and the weights."""
    steps = np.clip(np.rint(weights * SCALE), -BIAS, BIAS - 1).astype(int) + BIAS
    data = bytearray(" ".join(sorted(known)).encode("utf-8") + b"\0")
    for row in steps:
        data += sum(int(value) << (LANE * n) for n, value in enumerate(row)).to_bytes(
            LANE * len(CLASSES) // 8, "little"
        )
    OUT.write_bytes(zlib.compress(bytes(data), 9))
    say(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")


def say(*parts: object) -> None:
    """Print."""
    print(*parts)  # noqa: T201


def main() -> None:
    """Train, and check or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="print how well sentences are told that were not learnt from",
    )
    given = parser.parse_args()
    rows = read(folder())
    say(f"{len(rows):,} sentences: {dict(Counter(row.kind for row in rows))}")
    scores = first(rows)
    if given.check:
        say(
            "precision/recall of the likeliest kind, where it is likelier than 0.3, 0.4, 0.5, 0.6, "
            "0.7, 0.8"
        )
        check(rows, scores)
        return
    write(*fit(rows))
    told = vectors(rows, scores)
    LATER.write_bytes(packed(learn(told.known, told.kinds, told.groups, len(CLASSES), NETWORKS)))
    say(f"{LATER.relative_to(ROOT)}: {LATER.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
