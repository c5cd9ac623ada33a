"""Count in how many of the labelled sessions a word is said.

The result is for `gitmem.extraction.topics`: what is said everywhere tells no topic.

    python scripts/common_words.py

A line of what it writes is `LANGUAGE PERCENT WORD ...`: words that are in so many percent of the
sessions in that language (`c_*.tsv` of `tests/extraction/sentences.tar.xz`).
"""

import sys
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.extraction.topics import Topics  # noqa: E402
from scripts.sentences import folder  # noqa: E402

OUT = ROOT / "gitmem/extraction/data/common_words.txt"
LEAST = 1.0  # percent of the sessions that a word must be in


def main() -> None:
    """Write the words."""
    sessions: Counter[str] = Counter()
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(folder().glob("c_*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        for whole, group in groupby(rows, key=lambda row: len(row) == 4):
            if not whole:
                continue
            topics = Topics(common=False)
            said = [row for row in group if row[1] != "tool"]
            language = Counter(row[0] for row in said).most_common(1)[0][0] if said else "en"
            for row in said:
                topics.add(row[3], row[0], 1)
            sessions[language] += 1
            found[language].update(topics.weight.keys())
    out = []
    for language in sorted(found):
        shares = {
            word: 100 * times / sessions[language]
            for word, times in found[language].items()
            if " " not in word
        }
        often = sorted(
            (word for word, share in shares.items() if share >= LEAST),
            key=lambda word: (-round(shares[word]), word),
        )
        out += [
            f"{language} {share} {' '.join(group)}\n"
            for share, group in groupby(often, key=lambda word: round(shares[word]))
        ]
    OUT.write_text("".join(out), encoding="utf-8")
    sys.stdout.write(
        f"{sum(len(line.split()) - 2 for line in out)} words of {sum(sessions.values())} sessions\n"
    )


if __name__ == "__main__":
    main()
