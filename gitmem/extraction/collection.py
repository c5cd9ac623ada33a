"""The items of a session so far: what is repeated, taken back, replaced, done changes them. Pure.

Two items are the same only if nothing that distinguishes them differs: `gitmem.text.same_statement`
compares them, never by a share of their words.
"""

from dataclasses import dataclass, replace

from gitmem.records.items import CONTEXT, DECISION, DONE, PATTERN, PREFERENCE, TASK, Item, plain
from gitmem.text.completion import completed
from gitmem.text.replacement import replaces, words
from gitmem.text.same_statement import bare, same
from gitmem.transcripts.turn import NOTE, USER, Turn

KEPT = 3000  # candidates that are held at one time
COMPARED = 120  # of them, the latest, that a new one is compared with
NEAR = 2  # turns within which `forget that` takes back what was said
TEXT, DETAIL = 300, 500  # characters
_ANY_WORK = words("added finished completed wrote")  # says nothing of what was worked on
CHOSEN = (DECISION, PREFERENCE, PATTERN)  # a later one may take the place of an earlier one


@dataclass(slots=True, eq=False)
class Candidate:
    """Something that is an item unless the rest of the session takes it back."""

    kind: str
    text: str
    turn: Turn
    number: int  # of its turn
    detail: str = ""
    last: int = 0  # the last line that is about it
    at: str = ""
    files: tuple[str, ...] = ()
    marker: bool = False
    marked: bool = False
    listed: bool = False  # of a list of tasks that a tool keeps
    gone: bool = False

    def item(self) -> Item:
        """Return it as an item."""
        first, detail = self.turn.line, self.detail[:DETAIL]
        lines = (first, max(first, self.last)) if first else (0, 0)
        item = Item(self.kind, self.text, detail, self.at, lines, self.files, self.turn.role)
        commit = self.turn.command if self.turn.tool == "commit" else ""
        # a note that states nothing is about its session alone
        is_marked = self.marked and not (self.turn.tool == NOTE and self.kind == CONTEXT)
        return replace(item, marked=is_marked, commit=commit)


class Collection:
    """The candidates of a session, in the order in which they were said."""

    def __init__(self) -> None:
        self.all: list[Candidate] = []
        self.number = 0  # of the turn that is read

    def add(
        self, kind: str, text: str, turn: Turn, *, detail: str = "", marker: bool = False
    ) -> Candidate | None:
        """Add something, unless it says nothing; return it, or what says the same already."""
        text = text if len(text) <= TEXT else f"{text[: TEXT - 1].rstrip()}…"
        if not plain(text):
            return None
        if kind == TASK and not marker and completed(text):
            kind = DONE
        new = Candidate(kind, text, turn, self.number, detail, turn.line, turn.at, turn.files[:8])
        new.marker, new.marked = marker, turn.marked
        if again := self._again(new):
            again.last, again.at = max(again.last, turn.line), turn.at or again.at
            again.marked, again.marker = again.marked or turn.marked, again.marker or marker
            again.detail = again.detail or detail
            return again
        self._take_effect(new)
        self.all.append(new)
        self._trim()
        return new

    def _recent(self) -> list[Candidate]:
        return [candidate for candidate in self.all[-COMPARED:] if not candidate.gone]

    def _again(self, new: Candidate) -> Candidate | None:
        """Return what says the same; what is marked in other words stays beside it."""
        kinds = CHOSEN if new.kind in CHOSEN else (new.kind,)
        for before in self._recent():
            is_apart = new.marked and before.marked and plain(new.text) != plain(before.text)
            if before.listed or is_apart or before.kind not in kinds:
                continue
            if same(new.text, before.text):
                return before
        return None

    def _take_effect(self, new: Candidate) -> None:
        """Take away what the new one replaces, and the tasks that it finishes."""
        before = self.all[-1] if self.all else new
        if new.kind == TASK and before.kind == DONE and before.number == new.number:
            is_sure = before.marker or before.listed
            before.gone |= not is_sure and _is_of(new.text, before.text)  # it is done in part
        for before in self._recent():
            if before.marked or before.number == new.number:
                continue
            if new.kind in CHOSEN and before.kind in CHOSEN:
                before.gone = replaces(new.text, before.text)
            elif new.kind == DONE and before.kind == TASK and not before.listed:
                before.gone = finishes(new.text, before.text)

    def take_back(self, said: str, *, of_agent: bool = False) -> None:
        """Take back what was said shortly before: what shares a word with `said`, else the last."""
        near = [
            before
            for before in self._recent()
            if self.number - before.number <= NEAR and before.kind in (*CHOSEN, TASK)
            if not (before.marked or (of_agent and before.turn.role == USER))
        ]
        about = [before for before in near if words(before.text) & words(said)]
        if about or near:
            (about or near)[-1].gone = True

    def correct(self, before: str) -> bool:
        """Take back what was said in the sentence before; return whether it said anything."""
        last = self.all[-1] if self.all else None
        if last is None or last.gone or last.marked or plain(last.text) not in plain(before):
            return False
        last.gone = True
        return True

    def listed(self, text: str, box: str, turn: Turn) -> None:
        """Take a row of a tool's list of tasks; its last state counts."""
        text = text[:TEXT]
        rows = (row for row in reversed(self.all) if row.listed and plain(row.text) == plain(text))
        row = next(rows, None)
        if row is None:
            row = Candidate(TASK, text, turn, self.number, at=turn.at, listed=True)
            self.all.append(row)
        row.kind, row.last, row.gone = DONE if box == "x" else TASK, turn.line, box == "-"

    def _trim(self) -> None:
        if len(self.all) > KEPT:
            alive = [candidate for candidate in self.all if not candidate.gone]
            excess = len(alive) - KEPT * 3 // 4
            self.all = [row for number, row in enumerate(alive) if number >= excess or row.marked]


def finishes(done: str, task: str) -> bool:
    """Return whether what is done names all that a task is about, its verb apart."""
    about = _matter(task)
    return len(about) > 1 and about <= words(done)


def _is_of(task: str, done: str) -> bool:
    """Return whether a task is the rest of what is done: it names most of it, or what was done."""
    about, asked = _matter(done), words(task)
    does_again = words(bare(done)) - about - _ANY_WORK
    return 2 * len(about & asked) > len(about) or not asked.isdisjoint(does_again)


def _matter(text: str) -> frozenset[str]:
    """Return what a statement is about: its telling words, its verb apart."""
    said = bare(text).split()
    return words(bare(text)) - (words(said[0]) if said else frozenset())
