"""What words say about a subject, before any store is examined.

Some words say nothing, some say little, and some say the same. A store has too few texts to learn
it from. The words are in `words.json`, what each list is for in `words.schema.json`. Standard
library only: the hot path imports this.
"""

import os

from gitmem.base.fast import loads
from gitmem.text.tokenizer import STOP

# Latin letters without their marks, as the full-text index folds them.
_MARKED = "áàâãäåéèêëíìîïóòôõöúùûüçñýÿøœæß"
_PLAIN = (
    ("a",) * 6
    + ("e",) * 4
    + ("i",) * 4
    + ("o",) * 5
    + ("u",) * 4
    + ("c", "n", "y", "y", "o", "oe", "ae", "ss")
)
_FOLDED = str.maketrans(dict(zip(_MARKED, _PLAIN, strict=True)))


def folded(word: str) -> str:
    """Return a lower-case word without accents."""
    return word if word.isascii() else word.translate(_FOLDED)


def _synonyms(groups: "list[list[str]]") -> "dict[str, tuple[str, ...]]":
    """Return {word: the words of all its groups}."""
    out: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for word in group:
            out[word] = out.get(word, ()) + tuple(group)
    return out


with open(os.path.join(os.path.dirname(__file__), "words.json"), encoding="utf-8") as _file:
    _WORDS = loads(_file.read())
CHATTER = frozenset(map(folded, STOP)) | frozenset(_WORDS["chatter"])
LOOKS = frozenset(_WORDS["looks"])
ORDINARY = frozenset(_WORDS["ordinary"])
COMMON = frozenset(_WORDS["common"])
PLAIN_ERRORS = frozenset(_WORDS["plain_errors"])
BRANDS = frozenset(_WORDS["brands"])
TOOLS = frozenset(_WORDS["tools"])
CJK_CHATTER = frozenset(_WORDS["cjk_chatter"])
SAME = _synonyms(_WORDS["synonyms"])
