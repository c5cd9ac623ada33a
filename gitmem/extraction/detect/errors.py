"""Errors of a session.

These are commands that failed, with what was said of them, and what people and agents say went
wrong, with its cause or fix.
"""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.words import content, shared
from gitmem.extraction.rules import sentence_rules
from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.records.items import ERROR
from gitmem.text import shell
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

# failures that wait for an explanation at one time; turns after which one no longer waits
OPEN, OVER = 48, 60
NEAR = 4  # turns of agents after a failure in which what they say is about it
NOTES = 4  # sentences that are kept of what an agent said about a failure
# characters of an error, of its cause and fix, and of a sentence that is looked at
TEXT, DETAIL, LONGEST = 300, 500, 400
HELD = 3000  # sentences that may tell of errors
FIRST = 0.001  # how likely a sentence must be, before the session is over, to be judged again then
TELLS = 0.6  # how likely a sentence must be to tell of an error by itself
# how likely what was said of a failure must be for it to explain it, and where the command passed
# later
EXPLAINS, NOTED = 0.15, 0.4
# how likely a user's complaint and an agent's cause must be for both together to be an error
COMPLAINS, SUPPOSED = 0.2, 0.15
UNJUDGED = 0.5  # how likely a complaint tells of an error that nothing judged
# turns after a complaint in which its cause is looked for; after an error, in which more is said of
# it
ASKED, BELONGS = 9, 14
ALIKE = 2  # words that a cause shares with its error
COMPARED = 60  # errors before one that it is compared with
EDITORS = frozenset(
    "Edit Write MultiEdit NotebookEdit replace write_file apply_patch edit write "
    "str_replace_editor edit_file create_file".split()
)


@dataclass(slots=True)
class FailedTurn:
    """A command that failed, or an error that a marker names."""

    title: str
    words: frozenset[str]
    turn: Turn
    order: int
    born: int  # which turn it came with
    language: str = "en"
    key: str = ""  # of the command
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    helped: list[str] = field(default_factory=list)  # commands that set something up
    explained: bool = False  # a cause or a fix was said
    passed: bool = False
    spoke: int = 0  # turns of agents since
    last: int = 0  # the last line that is about it
    marked: bool = False  # a marker names it; it is not a command that failed

    def note(self, text: str, line: int) -> None:
        """Keep what was said of it."""
        if len(self.notes) < NOTES and _bare(text) not in map(_bare, (*self.notes, self.title)):
            self.notes.append(text)
            self.last = max(self.last, line)


@dataclass(slots=True, eq=False)
class ErrorStatement:
    """A sentence that may tell of an error."""

    heard: Heard
    turn: Turn
    born: int  # which turn it came with
    order: int

    @property
    def likely(self) -> float:
        """How likely it tells of an error, by the whole session."""
        return self.heard.by[ERROR]


@dataclass(slots=True)
class ExplainedError:
    """An error that is worth knowing."""

    text: str
    detail: str
    turn: Turn
    last: int
    files: tuple[str, ...]
    score: float
    order: int
    born: int
    language: str
    marker: bool = False
    touched: int = 0  # the turn of the last thing that was said of it
    words: frozenset[str] = frozenset()


class ErrorTracker:
    """What goes wrong in a session, as its turns come."""

    def __init__(self) -> None:
        self.open: deque[FailedTurn] = deque()
        self.over: list[FailedTurn] = []
        self.statements: deque[ErrorStatement] = deque(maxlen=HELD)
        self.turn = 0
        self.refuted: set[str] = set()  # what was said of a command that then failed again
        self.judged = False  # sentences are judged by the session model in this session

    def begins(self, role: str) -> None:
        """A turn of somebody begins."""
        self.turn += 1
        for one in self.open:
            one.spoke += role != USER
        while self.open and self.turn - self.open[0].born > OVER:
            self._closed(self.open.popleft())

    def tool(self, turn: Turn, order: int) -> None:
        """Take note of one use of a tool."""
        if turn.failed and turn.command and not shell.only_looks(turn.command):
            self._failed(turn, order)
        elif turn.failed is False and turn.command:
            proven = shell.proven(turn.command)
            helping = [f"`{command}`" for command in shell.helping(turn.command)[:2]]
            for one in self.open:
                if one.key and one.key in proven and not one.passed:
                    one.passed, one.last = True, max(one.last, turn.line)
                elif not one.passed:
                    one.helped = (one.helped + helping)[-4:]
        elif turn.failed is not True and turn.files and turn.tool in EDITORS:
            for one in self.open:
                if not one.passed and (one.key or one.spoke <= NEAR):
                    one.files = list(dict.fromkeys([*one.files, *turn.files]))[-4:]

    def _failed(self, turn: Turn, order: int) -> None:
        found = fingerprint(turn.text, command=turn.command)
        title, key = found.title if found else "", shell.key(turn.command)
        words = content(f"{title} {turn.command[:200]}", "en") | content(turn.text[-1500:], "en")
        before = next((one for one in self.open if key and key == one.key and not one.passed), None)
        if before is not None and (
            not title
            or not before.title
            or shared(content(title, "en"), content(before.title, "en")) > 0.5
        ):
            before.title, before.words = title or before.title, before.words | words
            self.refuted.update(before.notes)  # what was said did not help
            before.notes, before.explained = [], False
            return
        if before is not None and before.notes:
            before.passed = True  # it fails with something else: what it said first is dealt with
        self._add(FailedTurn(title, words, turn, order, self.turn, key=key))

    def named(self, text: str, turn: Turn, language: str, order: int) -> FailedTurn:
        """Take note of an error that a marker names: `Error: ...`; return it."""
        return self._add(
            FailedTurn(text, content(text, language), turn, order, self.turn, language, marked=True)
        )

    def fixed(self, text: str, turn: Turn, language: str) -> bool:
        """Take note of a cause or a fix that a marker names: `Fix: ...`.

        Whether there is an error that it is about.
        """
        words = content(text, language)
        one = max(
            self.open,
            key=lambda one: (len(words & one.words) * 2 - (self.turn - one.born), one.order),
            default=None,
        )
        if one is None or (self.turn - one.born > 20 and not words & one.words):
            return False
        one.note(text, turn.line)
        one.explained = True
        return True

    def said(self, text: str, turn: Turn, language: str) -> bool:
        """Take note of what an agent says of a failure; whether it tells its cause or its fix."""
        if turn.role == USER or len(text) > LONGEST or sentence_rules.asks(text, language):
            return False
        here = cues(language)
        supposes = sentence_rules.supposes(text, language)
        explains = not supposes and bool(
            here.find("error", "cause", text)
            or (here.find("error", "fix", text) and not here.find("skip", "tried", text))
        )
        if here.find("skip", "boilerplate", text) and not explains:
            return False
        words = content(text, language)
        about = max(
            self.open, key=lambda one: (self._closeness(one, words), one.born), default=None
        )
        if about is None or not self._closeness(about, words):
            return False
        if not (explains or about.spoke <= 2 or len(words & about.words) > ALIKE):
            return False
        about.note(text, turn.line)
        if explains:
            about.explained, about.words = True, about.words | words
        return explains

    def _closeness(self, one: FailedTurn, words: frozenset[str]) -> float:
        """Return how closely words of an agent are about a failure; 0 for not at all."""
        fresh = one.spoke <= NEAR and not (one.passed and one.spoke > 1)
        likeness = len(words & one.words)
        if not (likeness >= ALIKE or (fresh and (likeness or one.spoke <= 2))):
            return 0.0
        return max(
            0.01,
            likeness
            + (3.0 if one.spoke <= 1 else 1.0 if fresh else 0.0)
            - (self.turn - one.born) * 0.05,
        )

    def hear(self, heard: Heard, turn: Turn, order: int) -> None:
        """Keep a sentence that may tell of an error until the session is over."""
        self.judged = True
        fine = heard.role == USER and cues(heard.language).find("error", "not", heard.text)
        if heard.first[ERROR] >= FIRST and not fine and len(heard.text) <= sentence_rules.LONGEST:
            self.statements.append(ErrorStatement(heard, turn, self.turn, order))

    def unheard(self, text: str, turn: Turn, language: str, order: int) -> None:
        """Keep a complaint or a cause that the session model does not judge.

        It is in the first words of a dialogue without times, which may be a document.
        """
        here = cues(language)
        if here.find("error", "stated" if turn.role == USER else "cause", text) and not here.find(
            "error", "not", text
        ):
            heard = Heard(
                text, turn.role, language, self.turn, {ERROR: UNJUDGED}, [], by={ERROR: UNJUDGED}
            )
            self.statements.append(ErrorStatement(heard, turn, self.turn, order))

    def _add(self, one: FailedTurn) -> FailedTurn:
        one.last = one.turn.line
        if len(self.open) == OPEN:
            self._closed(self.open.popleft())
        self.open.append(one)
        return one

    def _closed(self, one: FailedTurn) -> None:
        if one.marked or one.notes or one.passed:
            self.over = [*self.over, one][-2000:]

    def found(self) -> list[ExplainedError]:
        """Return the errors of a session whose sentences were judged, in order of appearance."""
        out, said = [], set(self.refuted)
        statements = list(self.statements)
        likely = {one.heard.text: one.likely for one in statements}
        for one in [*self.over, *self.open]:
            told = self._explained(one, statements, likely)
            if told is not None:
                out.append(told)
                said |= {one.title, *one.notes}
        return _stated(statements, said, out)

    def _explained(
        self, one: FailedTurn, statements: list[ErrorStatement], likely: dict[str, float]
    ) -> ExplainedError | None:
        """Return a failure that is worth knowing: somebody marked it, or said what explains it."""
        if not one.marked:
            if not one.title:
                return None
            near = _near(one, statements) if one.passed else []
            if near and not any(text in one.notes for text in near):
                one.notes = near  # what it said besides was not an explanation
            if not near and not self._worth(one, likely):
                return None
        detail = " ".join(
            note if note.endswith((".", "!", "。", "！")) else f"{note}." for note in one.notes
        )[:DETAIL]
        if one.helped and one.passed and not one.explained:
            detail = f"{detail} Passed after {', '.join(dict.fromkeys(one.helped[-2:]))}.".strip()
        score = 0.9 if one.marked else 0.85 if one.passed else 0.7
        text = (
            sentence_rules.stripped(one.title, one.language)[:TEXT]
            if one.marked
            else one.title[:TEXT]
        )
        return ExplainedError(
            text,
            detail,
            one.turn,
            one.last,
            tuple(one.files),
            score,
            one.order,
            one.born,
            one.language,
            one.marked,
        )

    def _worth(self, one: FailedTurn, likely: dict[str, float]) -> bool:
        if not one.notes:
            return False
        if not self.judged or (one.passed and (one.helped or one.explained)):
            return True
        return any(likely.get(note, 0.0) >= EXPLAINS for note in one.notes)


def _near(one: FailedTurn, statements: list[ErrorStatement]) -> list[str]:
    """Return the statements that most likely explain a command's failure, in their order.

    They were made between the failure and the success of the command.
    """
    first = bisect_left(statements, one.born, key=lambda said: said.born)
    after = bisect_left(statements, one.born + BELONGS + 1, key=lambda said: said.born)
    near = [
        (said.likely, n, said.heard.text)
        for n, said in enumerate(statements[first:after])
        if said.likely >= NOTED and one.turn.line <= said.turn.line <= one.last
    ]
    return [
        text for _, _, text in sorted(sorted(near, reverse=True)[:2], key=lambda found: found[1])
    ]


def _stated(
    statements: list[ErrorStatement], said: set[str], out: list[ExplainedError]
) -> list[ExplainedError]:
    """Return the errors `out` with those that sentences tell which are not `said`.

    What an agent tells of one goes to its detail.
    """
    complaints = [
        one
        for one in statements
        if one.heard.role == USER and one.likely >= COMPLAINS and one.heard.text not in said
    ]
    for one in statements:
        heard = one.heard
        if heard.text in said:
            continue
        explains = one.likely >= SUPPOSED or cues(heard.language).find("error", "cause", heard.text)
        if heard.role == ASSISTANT and explains:
            about = _about(one, out)
            if about is not None:
                about.touched = max(about.touched, one.born)
                if len(about.detail) + len(heard.text) < DETAIL and heard.text not in about.detail:
                    about.detail, about.last = (
                        f"{about.detail} {heard.text}".strip(),
                        max(about.last, one.turn.line),
                    )
                    about.words = frozenset()
                said.add(heard.text)
                continue
            complaint = _complaint(one, complaints, said)
            if complaint is not None:
                said |= {heard.text, complaint.heard.text}
                out.append(
                    _told(
                        complaint,
                        heard.text[:DETAIL],
                        1 - (1 - one.likely) * (1 - complaint.likely),
                        one,
                    )
                )
                continue
        if one.likely >= TELLS:
            said.add(heard.text)
            out.append(_told(one, "", one.likely, one))
    return out


def _told(one: ErrorStatement, detail: str, score: float, last: ErrorStatement) -> ExplainedError:
    text = sentence_rules.stripped(one.heard.text, one.heard.language)[:TEXT]
    files = last.turn.files[:4]
    return ExplainedError(
        text,
        detail,
        one.turn,
        max(one.turn.line, last.turn.line),
        files,
        score,
        one.order,
        one.born,
        one.heard.language,
        touched=last.born,
    )


def _complaint(
    cause: ErrorStatement, complaints: list[ErrorStatement], said: set[str]
) -> ErrorStatement | None:
    """Return the complaint of a user that an agent's sentence explains.

    Of the last turns, it is the one that shares words with the sentence, else the latest.
    """
    least = 1 - (1 - TELLS) / max(1 - cause.likely, 1e-9)
    first = bisect_left(complaints, cause.born - ASKED, key=lambda one: one.born)
    near = complaints[first : bisect_left(complaints, cause.born, key=lambda one: one.born)][
        -COMPARED:
    ]
    near = [one for one in near if one.likely >= least and one.heard.text not in said]
    words = content(cause.heard.text, cause.heard.language) if near else frozenset()
    return max(
        near,
        key=lambda one: (
            min(ALIKE, len(words & content(one.heard.text, one.heard.language))),
            one.born,
        ),
        default=None,
    )


def _about(one: ErrorStatement, out: list[ExplainedError]) -> ExplainedError | None:
    """Return the error that an agent tells more of.

    It is the error that shares its words, else the last one if nothing explains it yet, or
    something just did.
    """
    before = [told for told in out[-COMPARED:] if 0 <= one.born - told.born <= BELONGS]
    if not before:
        return None
    heard = one.heard
    words = content(heard.text, heard.language)
    for kind in ("cause", "fix"):  # `the root cause is` is shared by all
        found = cues(heard.language).find("error", kind, heard.text)
        words -= content(found.group(), heard.language) if found else frozenset()
    for told in before:
        told.words = told.words or content(f"{told.text} {told.detail}", told.language)
    best = max(before, key=lambda told: (len(words & told.words), not told.detail, told.born))
    if len(words & best.words) >= ALIKE:
        return best
    latest = max(before, key=lambda told: told.born)
    return latest if not latest.detail or one.born - max(latest.touched, latest.born) <= 1 else None


def _bare(text: str) -> str:
    return text.rstrip(".!。！ ")
