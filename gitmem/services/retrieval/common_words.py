"""Words that many records have.

Alone they point to no record, but together few records may have them in their titles.

Records that are nearly alike differ in such words. They are looked up for rows that are considered
anyway, and for those whose titles have the most of them. Standard library only: the hot path
imports this.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.index.reader import Index

WORDS = 8  # common words of a task that are looked at
ROWS = 1000  # titles with one word beyond which it tells nothing, not even beside others
CONSIDERED = 40  # rows that are looked at for common words


class CommonWord:
    """A word that more rows have than are looked at, and the titles that have it."""

    __slots__ = ("everywhere", "expression", "shown", "titles")

    def __init__(self, index: "Index", shown: str, expression: str) -> None:
        self.shown = shown
        self.expression = expression
        sql = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        self.titles = {
            n for (n,) in index.db.execute(sql, (f"{{title}} : ({expression})", ROWS + 1))
        }
        self.everywhere = len(self.titles) > ROWS

    def among(self, index: "Index", numbers: "Sequence[int]", columns: str) -> "set[int]":
        """Return those of some rows that have it in these columns."""
        marks = ",".join("?" * len(numbers))
        sql = f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({marks})"
        return {
            n for (n,) in index.db.execute(sql, (f"{{{columns}}} : ({self.expression})", *numbers))
        }


def most_together(words: "Sequence[CommonWord]", most: int) -> "dict[int, list[CommonWord]]":
    """Return {row: its words} of the rows whose titles have the most of these words.

    The titles must have two or more of the words, and the rows must be few.
    """
    having: dict[int, list[CommonWord]] = {}
    for word in words:
        for n in () if word.everywhere else word.titles:
            having.setdefault(n, []).append(word)
    top = max(map(len, having.values()), default=0)
    rows = {n: has for n, has in having.items() if len(has) == top}
    return rows if top > 1 and len(rows) <= most else {}
