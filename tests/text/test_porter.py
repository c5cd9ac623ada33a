"""The stemmer says of each word what SQLite's full-text index says."""

import random
import re
import sqlite3
from pathlib import Path

from gitmem.text.porter import stem

SUFFIXES = (
    "ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness "
    "fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al ance ence er ic "
    "able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize ed eed ing y s es ies "
    "sses ss e ll ly"
).split()


def words() -> list[str]:
    """Return words of these pages, and made up ones with every suffix."""
    rng = random.Random(1)
    found = {"a", "is", "x" * 64, "x" * 65 + "ing", "y2k", "2026"}
    for page in Path(__file__).parents[2].glob("docs/*.md"):
        found.update(re.findall(r"[a-z0-9]+", page.read_text().lower()))
    for _ in range(30_000):
        start = "".join(rng.choice("aeiouybcdlstnrwx") for _ in range(rng.randint(0, 5)))
        found.add(start + rng.choice(SUFFIXES) + rng.choice(("", "", "s", "ed", "ing", "e", "y")))
    return sorted(found)


def test_stems_are_those_of_the_index():
    """A word has the stem that FTS5 gives it, and begins with all of it but the last letter."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    given = words()
    db.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(given))
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
    theirs = {given[n]: term for term, n in db.execute("SELECT term, doc FROM v")}
    assert theirs == {word: stem(word) for word in given}
    assert [] == [word for word, term in theirs.items() if not word.startswith(term[:-1])]
