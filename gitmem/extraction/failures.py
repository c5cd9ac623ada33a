"""Errors of a session: commands that failed, complaints, and what is said to have helped. Pure."""

from collections import deque
from dataclasses import dataclass, field

from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.text import shell
from gitmem.transcripts.turn import Turn

OPEN = 32  # failures and complaints that wait for an explanation at one time
NEAR = 6  # turns within which an explanation is about a failure
SINCE = 3  # turns within which one is about a complaint, or goes on
NOTES = 4  # sentences that explain one failure
REMARKED, REMARKS = 2, 2  # turns after a failure, and sentences in them, that may be about it
TEXT = 300  # characters of an error
EDITORS = frozenset(
    "Edit Write MultiEdit NotebookEdit replace write_file apply_patch edit write "
    "str_replace_editor edit_file create_file".split()
)


@dataclass(slots=True, eq=False)
class Failure:
    """Something that went wrong, and what is known of it."""

    text: str
    turn: Turn
    number: int  # of its turn
    key: str = ""  # of the command that failed
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # what the agent said next
    helped: list[str] = field(default_factory=list)  # commands that set something up
    files: list[str] = field(default_factory=list)
    passed: bool = False
    own_fault: bool = False  # something had been edited just before
    named: bool = False  # a marker or a heading names it
    last: int = 0  # the last line that is about it
    touched: int = 0  # the turn of the last explanation

    def note(self, text: str, turn: Turn, number: int) -> None:
        """Keep a sentence that explains it."""
        if len(self.notes) < NOTES and text not in (self.text, *self.notes):
            self.notes.append(text)
            self.last, self.touched = max(self.last, turn.line), number

    @property
    def detail(self) -> str:
        """What explains it, as sentences."""
        said = self.notes or self.remarks
        ended = [note if note[-1:] in ".!。！" else f"{note}." for note in said]
        if self.passed and self.helped:
            commands = ", ".join(dict.fromkeys(self.helped[-2:]))
            ended.append(f"Passed after {commands}.")
        return " ".join(ended)

    @property
    def is_explained(self) -> bool:
        """Whether it is worth knowing."""
        changed = self.passed and bool(
            self.helped or (self.remarks and self.files and not self.own_fault)
        )
        return self.named or changed or bool(self.notes)


class FailureLog:
    """What goes wrong in a session, as its turns come."""

    def __init__(self) -> None:
        self.number = 0  # of the turn that is read
        self.over: list[Failure] = []
        self._edited = False  # since the user said something
        self._open: deque[Failure] = deque()

    def add(self, text: str, turn: Turn, *, key: str = "", named: bool = False) -> Failure:
        """Add something that went wrong."""
        made = Failure(text[:TEXT], turn, self.number, key, named=named, last=turn.line)
        self._open.append(made)
        if len(self._open) > OPEN:
            self._close(self._open.popleft())
        return made

    def begin_request(self) -> None:
        """Take note that the user said something: what fails next is no fault of new edits."""
        self._edited = False

    def tool(self, turn: Turn) -> None:
        """Take one use of a tool: a command that failed or passed, or an edit."""
        if turn.failed and turn.command and not shell.only_looks(turn.command):
            self._failed(turn)
        elif turn.failed is False and turn.command:
            self._passed(turn)
        elif turn.failed is not True and turn.files and turn.tool in EDITORS:
            self._edited = True
            for failure in self._open:
                if not failure.passed and (failure.key or self.number - failure.number <= NEAR):
                    failure.files = list(dict.fromkeys([*failure.files, *turn.files]))[-4:]

    def _failed(self, turn: Turn) -> None:
        pattern = fingerprint(turn.text, command=turn.command)
        key = shell.key(turn.command)
        if pattern is None:
            return
        for failure in self._open:
            if failure.key and failure.key == key and not failure.passed:
                if failure.text == pattern.title[:TEXT]:
                    failure.notes.clear()  # what was said of it did not help
                    return
                failure.passed = bool(failure.notes)  # it fails with something else now
        self.add(pattern.title, turn, key=key).own_fault = self._edited

    def _passed(self, turn: Turn) -> None:
        proven = shell.proven(turn.command)
        helping = [f"`{command}`" for command in shell.helping(turn.command)[:2]]
        for failure in self._open:
            if failure.passed:
                continue
            if failure.key and failure.key in proven:
                failure.passed, failure.last = True, max(failure.last, turn.line)
            else:
                failure.helped = (failure.helped + helping)[-4:]

    def remark(self, text: str) -> None:
        """Take a sentence of the agent: the first ones after a failure may be about it."""
        for failure in self._open:
            near = self.number - failure.number <= REMARKED
            if failure.key and near and not failure.passed and len(failure.remarks) < REMARKS:
                failure.remarks.append(text)

    def explained(self, text: str, turn: Turn) -> bool:
        """Take a sentence that says why something failed or what helped.

        Return whether there is a failure, a complaint or an explanation that it goes on from.
        """
        for failure in reversed(self._open):
            age = self.number - max(failure.number, failure.touched)
            is_over = failure.passed and failure.notes and age > 1
            if age <= (NEAR if failure.key or failure.named else SINCE) and not is_over:
                failure.note(text, turn, self.number)
                return True
        return False

    def _close(self, failure: Failure) -> None:
        if failure.is_explained:
            self.over = [*self.over, failure][-2000:]

    def worth_telling(self) -> list[Failure]:
        """Return the errors that are worth knowing; a session is over."""
        while self._open:
            self._close(self._open.popleft())
        return self.over
