"""Edits of sessions.

An edit has a file's lines as the edit left them, as marks (`text.line_marks`), and which of them it
changed.

By them a commit's lines are known to be a session's. The hot path writes them.
"""

from struct import unpack

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State
from gitmem.text.line_marks import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gitmem.text.line_marks import EditMarks

SIZE = 4  # bytes of a mark
_UNIT = 3  # bytes of a line that was changed: its length, and these flags
_COMMA, _CLOSES, _GIVEN = 1, 2, 4
_LONGEST = (1 << 16) - 1
_COLUMNS = "n, path, at, session, after, start, units, gone"


class Edit:
    """One use of a tool on one file.

    It says when it was (epoch seconds), in which session, and what the file was afterwards.

    `after` are the marks of its lines. The edit changed those from `start` on, one for each of
    `units`; `given` says which of these the tool was given; `gone` are the marks of the lines that
    stood there before.
    """

    __slots__ = ("after", "at", "given", "gone", "n", "path", "session", "start", "units")

    def __init__(
        self,
        n: int,
        path: str,
        at: float,
        session: str,
        after: bytes,
        start: int,
        units: bytes,
        gone: bytes,
    ) -> None:
        self.n = n
        self.path = path
        self.at = at
        self.session = session
        self.after = _marks(after)
        self.start = start
        self.gone = _marks(gone)
        self.units: list[Unit] = []
        self.given: list[bool] = []
        for number in range(len(units) // _UNIT):
            at_byte = number * _UNIT
            flags = units[at_byte + 2]
            length = int.from_bytes(units[at_byte : at_byte + 2], "little")
            crc = self.after[start + number]
            self.units.append(
                Unit(crc, length, comma=bool(flags & _COMMA), closes=bool(flags & _CLOSES))
            )
            self.given.append(bool(flags & _GIVEN))

    @property
    def written(self) -> "list[int]":
        """The marks of the lines that it changed."""
        return self.after[self.start : self.start + len(self.units)]


def _marks(data: bytes) -> "list[int]":
    count = len(data) // SIZE
    return list(unpack(f"<{count}I", data[: count * SIZE]))


def packed(marks: "Iterable[int]") -> bytes:
    """Return marks as they are stored."""
    return b"".join([mark.to_bytes(SIZE, "little") for mark in marks])


def unpacked(data: bytes) -> "list[int]":
    """Return marks that were stored."""
    return _marks(data)


def row_of(note: "EditMarks") -> "tuple[bytes, int, bytes, bytes]":
    """Return the columns of a note."""
    units = bytearray()
    for part, given in zip(note.units, note.given, strict=True):
        flags = _COMMA * part.comma + _CLOSES * part.closes + _GIVEN * given
        units += min(part.length, _LONGEST).to_bytes(2, "little") + bytes((flags,))
    return packed(note.after), note.start, bytes(units), packed(note.gone)


@healing
def note(state: State, session: str, at: float, notes: "Mapping[str, EditMarks]") -> None:
    """Remember what was written to files (from the root of the work tree)."""
    sql = (
        "INSERT INTO edits (path, at, session, after, start, units, gone) VALUES (?, ?, ?, ?, ?, "
        "?, ?)"
    )
    with transaction(state.db):
        for path, edit_marks in notes.items():
            state.db.execute(sql, (path, at, session, *row_of(edit_marks)))


@healing
def some(state: State, paths: "Sequence[str] | None", since: float, until: float) -> "list[Edit]":
    """Return edits between two times, the oldest first: of these files, or of all."""
    where = f" AND path IN ({','.join('?' * len(paths))})" if paths is not None else ""
    sql = f"SELECT {_COLUMNS} FROM edits WHERE at >= ? AND at <= ?{where} ORDER BY at, n"
    return [Edit(*row) for row in state.db.execute(sql, (since, until, *(paths or ())))]


@healing
def that_wrote(state: State, wanted: "frozenset[int]", paths: "Sequence[str]") -> "list[Edit]":
    """Return the edits of these files, and those of others that wrote a line with such a mark.

    The mark is one of those given. The oldest edits come first.
    """
    written = f"substr(after, start * {SIZE} + 1, length(units) / {_UNIT} * {SIZE})"
    rows = state.db.execute(f"SELECT n, path, {written} FROM edits")
    numbers = [n for n, path, data in rows if path in paths or not wanted.isdisjoint(_marks(data))]
    writers = [
        state.db.execute(f"SELECT {_COLUMNS} FROM edits WHERE n = ?", (n,)).fetchone()
        for n in numbers
    ]
    return sorted([Edit(*row) for row in writers if row], key=lambda edit: (edit.at, edit.n))


@healing
def touched(state: State, since: float, until: float) -> "list[tuple[str, str]]":
    """Return (file, session) of the edits between two times, the oldest first."""
    sql = "SELECT path, session FROM edits WHERE at >= ? AND at <= ? ORDER BY at, n"
    return [(path, session) for path, session in state.db.execute(sql, (since, until))]


@healing
def last(state: State) -> int:
    """Return the number of the newest edit, 0 when there is none."""
    row = state.db.execute("SELECT MAX(n) FROM edits").fetchone()
    return int(row[0] or 0)
