"""What a pull of agents' memory files is made of, and its writes.

`native_plan` decides what they are.

What was read is noted in the record itself, `source: {file, line, hash}`, so that another clone
sees the same. `commit` is there for a file that git tracks: where the text was last seen. A work
tree whose history does not have that commit is older, or on another branch: it changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.records.kinds import text_key
from gitmem.records.record import Record
from gitmem.services.memory_files.discover import Memo
from gitmem.services.memory_files.pairing import PairedStatement
from gitmem.services.memory_files.record_line import Clean
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.store import Message, Store

NEW, CHANGED, MOVED, ARCHIVED, RESTORED = "new", "changed", "moved", "archived", "restored"
# somebody else committed it: it waits in the inbox, and changes nothing that was there
PROPOSED = "proposed"
SAME, DUPLICATE, HELD, FORGOTTEN, CONFLICT = "same", "duplicate", "held", "forgotten", "conflict"
WRITES = (NEW, PROPOSED, CHANGED, MOVED, ARCHIVED, RESTORED, CONFLICT)
BATCH = 200  # records of one commit

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A record that came from a file, and the store that has it."""

    scope: str
    record: Record

    @property
    def source(self) -> dict[str, Any]:
        """Where it was read."""
        field = self.record.fields.get("source")
        return field if isinstance(field, dict) else {}

    @property
    def own(self) -> str:
        """What tells its text, as it is now, from others."""
        return text_key(self.record.title, self.record.body)

    @property
    def edited(self) -> bool:
        """Whether somebody changed the record since it was read."""
        return self.own != self.source.get("hash")

    @property
    def is_proposal(self) -> bool:
        """Whether it waits in the inbox."""
        return self.record.unconfirmed

    @property
    def is_live(self) -> bool:
        """Whether it is told."""
        return self.record.status != "archived"

    def said(self) -> PairedStatement:
        """Return it as a statement of its file."""
        line = self.source.get("line")
        return PairedStatement(
            str(self.source.get("hash") or ""),
            line if isinstance(line, int) else 0,
            f"{self.record.title} {self.record.body}",
        )


@dataclass(frozen=True, slots=True)
class Action:
    """What becomes of one statement or record.

    `loser` is written first where both sides had changed, so that history has it.
    """

    what: str
    file: str
    line: int = 0
    scope: str = ""
    title: str = ""
    before: Record | None = None
    after: Record | None = None
    leaves: str = ""  # the store that it goes from, when a file became everybody's
    loser: Record | None = None
    why: str = ""

    @property
    def id(self) -> str:
        """The record's id, empty when there is none."""
        record = self.after or self.before
        return record.id if record else ""


@dataclass(frozen=True, slots=True)
class PullContext:
    """What a plan needs besides the files.

    It needs the writer, the stores, the current commit, and how a commit relates to it.
    """

    who: Writer
    store: Callable[[str], Store]
    rows: Sequence[Row]
    imported: Sequence[ImportedRecord]
    clean: Clean
    commit: str = ""
    # of a commit: `here` in the history, `lost` in no branch, `away` in others or unknown
    holds: Callable[[str], str] = lambda _: "here"
    gone: Callable[[str, str], bool] = lambda _name, _tree: False  # whether a file is there no more
    blob: Callable[[bytes], str] = lambda _: ""
    dirty: frozenset[str] = frozenset()  # tracked files that differ from the commit
    # who else wrote some of these lines, "" for nobody
    author: Callable[[Memo, Sequence[int]], str] = lambda _memo, _lines: ""
    # who else took a statement out of a file, since a commit
    remover: Callable[[str, str, str], str] = lambda _name, _since, _key: ""
    # what git is in the middle of: until it ends, nobody can say whose a line is
    operation: str = ""


@dataclass(slots=True)
class PullPlan:
    """What a pull does, and what is to be told."""

    actions: list[Action] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def writes(self) -> list[Action]:
        """The actions that change a store."""
        return [action for action in self.actions if action.what in WRITES]


def came_from_file(row: Row) -> bool:
    """Say whether a record may have been read from a memory file."""
    return bool(row["kind"] == "memory" and row["origin"] == "imported")


def _write(world: PullContext, scope: str, actions: Sequence[Action]) -> bool:
    """Write records of one store; say whether the journal keeps them for now."""
    store = world.store(scope)
    waits = False
    if losers := [action for action in actions if action.loser is not None]:
        waits = store.write(
            [operations.put(a.loser, a.before) for a in losers if a.loser],
            _message(world, losers, "the text that lost"),
        ).journaled
    todo = [operation for action in actions for operation in _ops(action)]
    return store.write(todo, _message(world, actions)).journaled or waits


def apply(plan: PullPlan, world: PullContext) -> bool:
    """Write a plan, one commit for each store and two hundred records.

    Say whether something waits in the journal.
    """
    waits = False
    for scope in ("user", "shared", "private"):
        todo = [
            action for action in plan.writes if action.scope == scope and action.after is not None
        ]
        for start in range(0, len(todo), BATCH):
            waits |= _write(world, scope, todo[start : start + BATCH])
    for scope in ("private", "user", "shared"):
        left = [action for action in plan.writes if action.leaves == scope]
        if left:  # only now: it is in the other store
            waits |= (
                world.store(scope)
                .write(
                    [operations.collect(a.id) for a in left],
                    _message(world, left, "now in the shared store"),
                )
                .journaled
            )
    return waits


def _ops(action: Action) -> list[operations.Op]:
    assert action.after is not None
    base = action.loser or action.before
    return [operations.put(action.after, None if action.leaves else base)]


def _message(world: PullContext, actions: Sequence[Action], more: str = "") -> Message:
    ids = tuple(dict.fromkeys(action.id for action in actions))
    files = list(dict.fromkeys(action.file for action in actions))
    named = ", ".join(files[:2]) + (f" and {len(files) - 2} more" if len(files) > 2 else "")
    return Message(
        f"memory: pull {len(ids)} record{'s' if len(ids) != 1 else ''} from "
        f"{named}{f' ({more})' if more else ''}",
        "pull",
        ids,
        session=world.who.session,
    )
