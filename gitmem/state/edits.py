"""Lines that sessions wrote, as marks (`agents.written`): by them a commit's lines are told to belong to a session. The hot path writes it."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SIZE = 4  # bytes of a mark


class Edit:
    """One use of a tool on one file: when (epoch seconds), by which session, and the marks of the lines that it added, in their order."""

    __slots__ = ("at", "marks", "n", "path", "session")

    def __init__(self, n: int, path: str, at: float, session: str, marks: bytes) -> None:
        self.n = n
        self.path = path
        self.at = at
        self.session = session
        self.marks = [int.from_bytes(marks[i : i + SIZE], "little") for i in range(0, len(marks), SIZE)]


def _packed(marks: "Iterable[int]") -> bytes:
    return b"".join(one.to_bytes(SIZE, "little") for one in marks)


@healing
def note(state: State, session: str, at: float, written: "Mapping[str, Sequence[int]]") -> "list[int]":
    """Remember what was written to files (from the root of the work tree); return the numbers of the rows."""
    sql = "INSERT INTO edits (path, at, session, marks) VALUES (?, ?, ?, ?)"
    with transaction(state.db):
        return [int(state.db.execute(sql, (path, at, session, _packed(marks))).lastrowid or 0) for path, marks in written.items()]


@healing
def some(state: State, paths: "Sequence[str] | None", since: float, until: float) -> "list[Edit]":
    """Return edits between two times, the oldest first: of these files, or of all."""
    where = f" AND path IN ({','.join('?' * len(paths))})" if paths is not None else ""
    sql = f"SELECT n, path, at, session, marks FROM edits WHERE at >= ? AND at <= ?{where} ORDER BY at, n"
    return [Edit(*row) for row in state.db.execute(sql, (since, until, *(paths or ())))]
