"""The neighbours of a record.

They are what it links to, what links to it, and what came before and after it in its session.

Their titles and first words are the low-weight context column: on a public conversation set it
raised recall@10 from 60.6 to 69.3 %.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    Head = tuple[str, str]  # title and beginning of a row

NEIGHBOURS = 2  # records before and after in the same session
LINKS = 4  # records that it links to, and as many that link to it
BEGIN = 240  # characters of a neighbour's body that count as context
HEADS = (
    f"SELECT n, r.title, substr(t.body, 1, {BEGIN}) FROM records r JOIN texts t USING (n) "
    "WHERE n IN ({})"
)


def near_text(n: int, near: "Iterable[int]") -> str:
    """Return neighbours as the index has them: how far away their numbers are."""
    return " ".join(str(other - n) for other in near)


def near_of(n: int, text: str) -> list[int]:
    """Return the numbers of the neighbours that a text of `near_text` names."""
    return [n + int(step) for step in text.split()]


def context_words(own: str, title: str, near: "Sequence[Head]") -> str:
    """Return a record's context: the parts of its own names, and title and text of neighbours."""
    out = [own]
    titles = [title, *(t for t, _ in near)]
    for other, text in near:
        out.append(f"{other} {text}" if is_telling((other, text), titles) else text)
    return " ".join(out).strip()


def is_telling(head: "Head", titles: "Sequence[str]") -> bool:
    """Return whether a neighbour's title counts, beside those of the others and of the record.

    It does not where it only repeats the beginning of its text, or is that of another one too (who
    spoke, and when): a word that is beside every record tells none from another.
    """
    title, text = head
    return not text or (
        titles.count(title) == 1 and not " ".join(text.split()).startswith(title.rstrip("…"))
    )


class Map:
    """All rows and edges in memory, for many neighbours at once; agrees with `Contexts`."""

    def __init__(self, db: "sqlite3.Connection") -> None:
        self.rows: dict[int, tuple[str, str, str]] = {}
        self.targets: dict[int, list[str]] = {}
        self._line: list[int] = []
        self._place: dict[int, int] = {}
        self._by_id: dict[str, list[int]] = {}
        self._sources: dict[str, list[int]] = {}
        order = "ORDER BY session, created, id, store"
        for n, id, session, created in db.execute(
            f"SELECT n, id, session, created FROM records {order}"
        ):
            self.rows[n] = (id, session, created)
            if session:
                self._place[n] = len(self._line)
                self._line.append(n)
        for n, id in db.execute("SELECT n, id FROM records ORDER BY id, store"):
            self._by_id.setdefault(id, []).append(n)
        for n, dst in db.execute(
            "SELECT e.n, e.dst FROM edges e JOIN records r ON r.n = e.n ORDER BY r.created, r.id, "
            "r.store, e.rel, e.dst"
        ):
            self.targets.setdefault(n, []).append(dst)
            self._sources.setdefault(dst, []).append(n)

    def neighbours(self, n: int) -> list[int]:
        """Return the rows that a row's context is made of."""
        near = [x for dst in self.targets.get(n, ()) for x in self._by_id.get(dst, ())][:LINKS]
        near += self._sources.get(self.rows[n][0], ())[:LINKS]
        for step in (-1, 1) if n in self._place else ():
            near += self._beside(n, step)
        return [x for x in dict.fromkeys(near) if x != n][:8]

    def after(self, n: int) -> int | None:
        """Return the next row in a row's session."""
        return next(self._beside(n, 1), None) if n in self._place else None

    def _beside(self, n: int, step: int) -> "Iterator[int]":
        id, session, created = self.rows[n]
        at, left = self._place[n] + step, NEIGHBOURS
        while left and 0 <= at < len(self._line):
            other_id, other_session, when = self.rows[self._line[at]]
            if other_session != session:
                return
            # the same record in another store stands where it stands
            if (when, other_id) != (created, id):
                left -= 1
                yield self._line[at]
            at += step


LINKED = (
    f"SELECT r.n FROM edges e JOIN records r ON r.id = e.dst WHERE e.n = ? ORDER BY e.rel, e.dst, "
    f"r.store LIMIT {LINKS}"
)
LINKING = (
    f"SELECT r.n FROM edges e JOIN records r ON r.n = e.n WHERE e.dst = ? ORDER BY r.created, "
    f"r.id, r.store, e.rel LIMIT {LINKS}"
)


# the records before and after a spot in time, in its session; records without a session have no
# neighbours
_BEFORE = (
    "FROM records WHERE (created, id) < (?1, ?2) AND session = ?3 ORDER BY created DESC, id DESC"
)
_AFTER = "FROM records WHERE (created, id) > (?1, ?2) AND session = ?3 ORDER BY created, id"
BESIDE = (f"SELECT n {_BEFORE}, store DESC LIMIT ?4", f"SELECT n {_AFTER}, store LIMIT ?4")
# the records that may have one at that spot for a neighbour: a record that is in two stores is two
# rows in one spot, so of two rows one may be a neighbour of the other, and not the other way round
AROUND = tuple(
    "SELECT n FROM records WHERE session = ?3 AND (created, id) IN "
    f"(SELECT DISTINCT created, id {part} LIMIT ?4)"
    for part in (_BEFORE, _AFTER)
)
