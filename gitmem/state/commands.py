"""The commands of this clone that wrote something, and who called them: an undo chooses there.

Which of them are undone is not here: the commits say so.
"""

from gitmem.base.sqlite import healing
from gitmem.state.database import State

KEPT = 300  # commands
SOME = 50  # commands between two removals of older ones


class ListedCommand:
    """A command: its ULID, the program that called it ('' for a person), session, time."""

    __slots__ = ("at", "id", "program", "session")

    def __init__(self, id: str, program: str, session: str, at: float) -> None:
        self.id = id
        self.program = program
        self.session = session
        self.at = at

    def is_of(self, program: str, session: str) -> bool:
        """Say whether a caller called it: any person, or one session of an agent."""
        return self.program == program and (not program or self.session == session)


@healing
def note(state: State, command: ListedCommand) -> None:
    """Add a command to the list."""
    row = (command.id, command.program, command.session, command.at)
    number = state.db.execute(
        "INSERT INTO commands (id, program, session, at) VALUES (?, ?, ?, ?)", row
    ).lastrowid
    if number and number % SOME == 0:
        state.db.execute("DELETE FROM commands WHERE n <= ?", (number - KEPT,))


@healing
def listed(state: State) -> list[ListedCommand]:
    """Return the commands, newest first."""
    rows = state.db.execute("SELECT id, program, session, at FROM commands ORDER BY n DESC")
    return [ListedCommand(*row) for row in rows]
