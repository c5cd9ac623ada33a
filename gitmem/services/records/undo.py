"""Which command an undo takes back, and which undo a redo.

All commits of a command name it in a trailer, in each store that it wrote to, also after their
history was rewritten. `state.db` lists who called this clone's commands; what is undone, the
commits say.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.clock import ALPHABET, ulid_time
from gitmem.errors import Busy, UnknownId, UserError
from gitmem.git.objects import Commit
from gitmem.repo.location import Home
from gitmem.state.commands import ListedCommand
from gitmem.store import journal
from gitmem.store.store import Store
from gitmem.store.trailers import COMMAND, UNDOES, trailers

REDONE = 100  # undos of undos that are followed: what others wrote may go in a circle
OLDER = 200  # commits in a row that are older than what is asked for, and end the search
SLACK = 86400.0  # seconds that the clock which named a command may be ahead of its commits
LOG = "See the commits with: git mem log --oneline, and of the private store with --private"


@dataclass(slots=True)
class CommandCommits:
    """What one command committed, newest first in each store; or one commit that names none."""

    id: str  # the command's ULID, or the commit's id
    commits: list[tuple[Store, Commit]] = field(default_factory=list)

    def trailer(self, name: str) -> str:
        """Return a trailer of its commits; empty where one of them has none."""
        values = [trailers(commit.message).get(name) for _, commit in self.commits]
        return str(values[0][0]) if values and values[0] and all(values) else ""

    @property
    def stores(self) -> set[tuple[str, str]]:
        """The stores that it wrote to, each as its folder and its ref."""
        return {(store.home.path, store.ref) for store, _ in self.commits}

    @property
    def program(self) -> str:
        """The program that called it; empty for a person, and where nobody knows."""
        return self.trailer("program")

    @property
    def undoes(self) -> str:
        """What it took back; empty where it is no undo and no redo."""
        return self.trailer("undoes")

    @property
    def is_undo(self) -> bool:
        """Whether it took back something that was not an undo."""
        return bool(self.undoes) and self.trailer("op") == "undo"

    @property
    def confirms(self) -> bool:
        """Whether a person confirmed something by it."""
        return any(trailers(c.message).get("op") == ["confirm"] for _, c in self.commits)

    @property
    def subject(self) -> str:
        """What its first commit says, and how many others it made in that store."""
        store = self.commits[0][0]
        commits = [commit for where, commit in self.commits if where is store]
        return subject_of(commits)


class CommandHistory:
    """The commands of some stores that committed since a time, in seconds since the epoch."""

    def __init__(self, stores: Iterable[Store], since: float = 0.0) -> None:
        self.commands: dict[str, CommandCommits] = {}
        self._undone_by: dict[str, list[str]] = {}
        for store in stores:
            tip = store.tip()
            older = 0
            for commit in store.objects.walk([tip] if tip else []):
                # no commit of ours is older than its parents, but anybody may have set a clock back
                older = older + 1 if commit.committer.time < since - 1 else 0
                if older > OLDER:
                    break
                self._add(store, commit)

    def _add(self, store: Store, commit: Commit) -> None:
        id = command_of(commit)
        if not id:
            return
        self.commands.setdefault(id, CommandCommits(id)).commits.append((store, commit))
        for target in trailers(commit.message).get("undoes", ()):
            undone_by = self._undone_by.setdefault(target, [])
            if id not in undone_by:
                undone_by.append(id)

    def is_undone(self, id: str, steps: int = 0) -> bool:
        """Return whether an undo of a command stands: it was not taken back itself.

        One that was killed before it reached each store of the command is to be done again.
        """
        return steps < REDONE and any(
            self._is_whole(other, id) and not self.is_undone(other, steps + 1)
            for other in self._undone_by.get(id, ())
        )

    def _is_whole(self, undo: str, id: str) -> bool:
        command = self.commands.get(id)
        return command is None or command.stores <= self.commands[undo].stores

    def to_undo(
        self, listed: Iterable[ListedCommand], waiting: Collection[str]
    ) -> Iterator[CommandCommits]:
        """Yield those of one caller's commands that stand, newest first, undos left out.

        `waiting` are commands whose commits are not all made. Raises Busy at one of them.
        """
        for command in self._written(listed, waiting):
            if not command.undoes and not self.is_undone(command.id):
                yield command

    def to_redo(
        self, listed: Iterable[ListedCommand], waiting: Collection[str]
    ) -> CommandCommits | None:
        """Return the newest undo of a caller that stands.

        None where another command of theirs came after it. Raises Busy as `to_undo` does.
        """
        for command in self._written(listed, waiting):
            if not command.undoes:
                return None
            if command.is_undo and not self.is_undone(command.id):
                return command
        return None

    def _written(
        self, listed: Iterable[ListedCommand], waiting: Collection[str]
    ) -> Iterator[CommandCommits]:
        for row in listed:
            if row.id in waiting:
                raise Busy(
                    "the last command still waits in the journal.",
                    "Run this again in a moment; 'git mem doctor' shows what waits.",
                )
            if row.id in self.commands:
                yield self.commands[row.id]

    def unlisted(
        self, listed: Iterable[ListedCommand], program: str, session: str, mail: str
    ) -> CommandCommits | None:
        """Return the newest command that a caller may have called, as its commits say.

        Those that are `listed` are left out.
        """
        left = self.commands.keys() - {row.id for row in listed}
        for command in (self.commands[id] for id in sorted(left, reverse=True)):
            is_own = (
                command.commits[0][1].author.email == mail
                and command.program == program
                and (not program or command.trailer("session") == session)
            )
            if is_own and not command.undoes and not self.is_undone(command.id):
                return command
        return None


def subject_of(commits: Sequence[Commit]) -> str:
    """Return what the first of some commits, newest first, says; and how many others there are."""
    others = f" and {len(commits) - 1} more" if len(commits) > 1 else ""
    return commits[-1].message.split("\n")[0] + others


def command_of(commit: Commit) -> str:
    """Return the ULID of the command that made a commit; empty where it names none."""
    named = trailers(commit.message).get("command", [""])[0]
    return named if is_command(named) else ""


def is_command(text: str) -> bool:
    """Return whether a text is a command's id, whatever its case."""
    return len(text) == 26 and set(text.lower()) <= set(ALPHABET)


def named_command(stores: Sequence[Store], text: str) -> CommandCommits:
    """Return the command with an id. Raises UnknownId."""
    id = text.lower()
    command = CommandHistory(stores, ulid_time(id) - SLACK).commands.get(id)
    if command is None:
        raise UnknownId(f"no commit of the stores names a command '{text}'.", LOG)
    return command


def command_with(stores: Sequence[Store], oid: str) -> CommandCommits:
    """Return the command that made a commit; the commit alone where it names none.

    Raises UserError for a commit that is in the history of no store.
    """
    for store in stores:
        tip = store.tip()
        if tip is not None and store.objects.is_ancestor(oid, tip):
            commit = store.objects.commit(oid)
            id = command_of(commit)
            return named_command(stores, id) if id else CommandCommits(oid, [(store, commit)])
    raise UserError(f"{oid[:10]} is in the history of no store here.", LOG)


def waiting_commands(home: Home) -> set[str]:
    """Return the commands with writes in a journal, and those that such a write takes back."""
    out: set[str] = set()
    for _, entry in journal.entries(home):
        try:
            extra = entry["trailers"][4] if entry else ()
            out |= {value for name, value in extra if name in {COMMAND, UNDOES}}
        except (IndexError, KeyError, TypeError, ValueError):
            continue  # no write of ours: whoever commits it puts it aside
    return out
