"""Errors with what helped: a command that failed and passed later, an error that somebody told of, the cause and the fix that were said."""

from collections import deque
from dataclasses import dataclass, field

from gitmem.extraction.classify.linear_model import troubled
from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content, covered, shared
from gitmem.extraction.rules import sentence_rules
from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.records.items import PREFERENCE, TASK
from gitmem.text import shell
from gitmem.transcripts.turn import USER, Turn

OPEN = 48  # troubles that are looked at at one time
NEAR = 4  # turns of agents after a trouble up to which what they say is about it
OVER = 60  # turns after which a trouble is no longer waited for
FEW = 3  # words of a complaint that names nothing: `it fails`
NOTES = 4  # sentences that are kept of what an agent said about a trouble
LONGEST, TEXT, DETAIL = 400, 300, 500
IDLE, SURELY = (TASK, PREFERENCE, "none"), 0.985  # how likely a note must be of these to be left out
EDITORS = {
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "replace",
    "write_file",
    "apply_patch",
    "edit",
    "write",
    "str_replace_editor",
    "edit_file",
    "create_file",
}


@dataclass(slots=True)
class Trouble:
    """Something that went wrong, and what is known of it by now."""

    title: str  # what the tool said
    statement: str  # what somebody said
    words: frozenset[str]
    at: str
    line: int
    last: int
    order: int
    role: str
    born: int  # which turn it came with
    language: str = "en"
    keys: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the agent said of it
    refuted: list[str] = field(default_factory=list)  # what it said before the command failed again
    helped: list[str] = field(default_factory=list)  # commands that set something up
    cause: bool = False  # a cause was said
    fix: bool = False  # a fix was said
    passed: bool = False
    marked: bool = False  # named by a marker
    whole: bool = False  # the statement has its cause or its fix in it
    vague: bool = False  # a user's words that may tell of a trouble
    spoke: int = 0  # turns of agents since
    heard: Heard | None = None  # the statement, which is judged once more at the end
    left: bool = False  # the user spoke of something after it was explained and files were changed for it
    acted: bool = False  # something was done after it was explained, and nothing failed
    said: dict[str, Heard] = field(default_factory=dict)  # its notes as they are judged at the end

    def note(self, text: str, line: int, heard: Heard | None = None) -> None:
        """Keep what was said of it."""
        if len(self.notes) < NOTES and _bare(text) not in map(_bare, (*self.notes, self.statement)):
            self.notes.append(text)
            if heard is not None:
                self.said[text] = heard
            self.last = max(self.last, line)


class Errors:
    """What goes wrong in a session, as its turns come."""

    def __init__(self) -> None:
        self.open: deque[Trouble] = deque()
        self.over: list[Trouble] = []
        self.turn = 0
        self.wanted = False  # the agent said that what comes now will fail

    def tool(self, turn: Turn, order: int) -> None:
        """Take note of one use of a tool."""
        if turn.failed and turn.command and not shell.only_looks(turn.command):
            if not self.wanted:
                self._failed(turn, order)
            self.wanted = False
        elif turn.failed is False and turn.command:
            proven = shell.proven(turn.command)
            helping = [f"`{command}`" for command in shell.helping(turn.command)[:2]]
            for one in self.open:
                if one.keys & proven and not one.passed:
                    one.passed, one.last = True, max(one.last, turn.line)
                elif not one.passed:
                    one.helped = (one.helped + helping)[-4:]
                    one.acted = one.acted or (bool(one.notes) and one.spoke <= 2 and not shell.only_looks(turn.command))
        elif turn.failed is not True and turn.files and turn.tool in EDITORS:
            for one in self.open:
                if not one.passed and not one.left and (one.keys or one.spoke <= NEAR):
                    one.files = list(dict.fromkeys([*one.files, *turn.files]))[-8:]

    def _failed(self, turn: Turn, order: int) -> None:
        found = fingerprint(turn.text, command=turn.command)
        title = found.title if found else ""
        key = shell.key(turn.command)
        words = content(f"{title} {turn.command[:200]}", "en") | content(turn.text[-1500:], "en")
        for one in self.open:
            if (
                key
                and key in one.keys
                and not one.passed
                and (not title or not one.title or shared(content(title, "en"), content(one.title, "en")) > 0.5)
            ):
                one.title, one.words = title or one.title, one.words | words
                one.refuted, one.notes, one.cause, one.fix = (one.refuted + one.notes)[-NOTES:], [], False, False
                one.left = False
                return
        for one in self.open:  # the same command fails with something else: what it said first is dealt with
            if key and key in one.keys and not one.passed and one.notes:
                one.passed = True
        told = [(len(one.words & words), one.born, n) for n, one in enumerate(self.open) if self._shows(one, words)]
        if told:  # what the user told of, seen by the agent
            one = self.open[max(told)[2]]
            one.keys, one.title, one.words = {key} if key else set(), title, one.words | words
            if not (one.cause or one.fix):  # said before it was seen
                one.refuted, one.notes = (one.refuted + one.notes)[-NOTES:], []
            return
        self._add(Trouble(title, "", words, turn.at, turn.line, turn.line, order, turn.role, self.turn, keys={key} if key else set()))

    def _shows(self, one: Trouble, words: frozenset[str]) -> bool:
        """Say whether a command that failed, of these words, shows what somebody told of: by a word of it, or at once where it has none to share."""
        if not one.statement or one.keys or one.passed or self.turn - one.born > 6:
            return False
        if one.words & words:
            return not one.whole or one.spoke <= 1
        fresh = one.role == USER and one.spoke <= 1 and not (one.cause or one.fix or one.marked)
        return fresh and (one.language == "zh" or len(one.words) < FEW)

    def begins(self, role: str) -> None:
        """A turn of somebody begins."""
        self.turn += 1
        for one in self.open:
            one.spoke += role != USER
            one.left = one.left or (role == USER and bool(one.files) and bool(one.notes))
        while self.open and self.turn - self.open[0].born > OVER:
            self.over.append(self.open.popleft())

    def said(self, sentence: Sentence, turn: Turn, language: str, order: int, sure: bool = False, heard: Heard | None = None) -> bool:
        """Take note of a sentence; whether it tells of an error, its cause or its fix and of nothing else. `sure`: it tells of a fault with its cause or fix."""
        here = cues(language)
        text = sentence.text
        if len(text) > LONGEST:
            return False
        if sentence_rules.asks(text, language):
            return False
        supposes = sentence_rules.supposes(text, language)
        fix = bool(here.find("error", "fix", text)) and not here.find("skip", "tried", text) and not supposes
        cause = bool(here.find("error", "cause", text)) and not supposes
        stated = bool(here.find("error", "stated", text)) and not here.find("error", "not", text) and not supposes
        if sure and turn.role == USER and not here.find("error", "not", text):
            if self._heard(text, turn, language, cause, fix, heard, near=True) is None:
                self._tell(text, turn, language, order, whole=True, heard=heard)
            return True
        if turn.role == USER:
            vague = (
                not stated
                and not supposes
                and not here.find("error", "not", text)
                and (bool(here.find("exchange", "symptom", text)) or troubled(text, language))
            )
            if here.find("exchange", "request", text) and not stated:
                vague = False
            if stated or vague:
                self._tell(
                    text,
                    turn,
                    language,
                    order,
                    vague=vague or not sentence.first,
                    whole=stated and bool(here.find("error", "strong", text)) and (cause or fix),
                    heard=heard,
                )
                return stated
            if (fix or cause) and self.open:
                self._heard(text, turn, language, cause, fix, heard)
            return False
        self.wanted = bool(here.find("exchange", "expected", text))
        if here.find("skip", "boilerplate", text) and not cause and not fix:
            return False
        about = self._heard(text, turn, language, cause or sure, fix, heard, stated=stated)
        if about is None and sure:
            self._tell(text, turn, language, order, whole=True, heard=heard)
            return True
        return about is not None and (fix or cause or stated)

    def _tell(
        self,
        text: str,
        turn: Turn,
        language: str,
        order: int,
        *,
        vague: bool = False,
        whole: bool = False,
        marked: bool = False,
        heard: Heard | None = None,
    ) -> None:
        words = content(text, language)
        one = Trouble(
            "",
            text,
            words,
            turn.at,
            turn.line,
            turn.line,
            order,
            turn.role,
            self.turn,
            language,
            marked=marked,
            whole=whole,
            vague=vague,
            heard=heard,
        )
        self._add(one)

    def _heard(
        self, text: str, turn: Turn, language: str, cause: bool, fix: bool, heard: Heard | None, *, stated: bool = False, near: bool = False
    ) -> Trouble | None:
        """Give a sentence to the trouble that it is about: one that shares its words, else, unless `near`, the one that has just come."""
        words = content(text, language)
        best: tuple[float, Trouble] | None = None
        for one in self.open:
            age = self.turn - one.born
            fresh = one.spoke <= NEAR and not (one.passed and one.spoke > 1)
            likeness = len(words & one.words)
            if not (likeness or (fresh and one.spoke <= 2)) or (likeness < 2 and (near or not fresh)):
                continue
            score = (
                likeness
                + (3.0 if one.spoke <= 1 else 1.0 if fresh else 0.0)
                - age * 0.05
                + (1.0 if one.keys and fresh else 0.0)
                - (0.5 if one.vague else 0)
            )
            if best is None or score >= best[0]:
                best = score, one
        if best is None:
            return None
        one = best[1]
        if cause or fix or one.spoke <= 2 or len(words & one.words) >= 3:
            one.note(text, turn.line, heard)
            one.cause, one.fix = one.cause or cause or (stated and one.spoke > 1), one.fix or fix
            one.words |= words if cause or fix else frozenset()
            return one
        return None

    def named(self, text: str, turn: Turn, language: str, order: int) -> Trouble:
        """Take note of an error that a marker names: `Error: ...`; return it."""
        self._tell(text, turn, language, order, marked=True)
        return self.open[-1]

    def fixed(self, text: str, turn: Turn, language: str) -> bool:
        """Take note of a cause or a fix that a marker names: `Fix: ...`; whether there is an error that it is about."""
        if not self.open:
            return False
        words = content(text, language)
        one = max(self.open, key=lambda one: (len(words & one.words) * 2 - (self.turn - one.born), one.order))
        if self.turn - one.born > 20 and not words & one.words:
            return False
        one.note(text, turn.line)
        one.fix = True
        return True

    def _add(self, one: Trouble) -> None:
        if len(self.open) == OPEN:
            self.over.append(self.open.popleft())
        self.open.append(one)
        if len(self.over) > 2000:
            self.over = [old for old in self.over if _judged(old)[3] > 0 or _unexplained(old)][-2000:]

    def told(self) -> list[tuple[Trouble, str, str, float]]:
        """Return (trouble, text, detail, score) of what is worth knowing."""
        found = [_judged(one) for one in [*self.over, *self.open]]
        return [one for one in found if one[3] > 0]

    def passed(self) -> list[Trouble]:
        """Return the commands that failed and passed later, of which nobody said anything that explains it by its words."""
        return [one for one in [*self.over, *self.open] if _unexplained(one) and _judged(one)[3] == 0]


def _bare(text: str) -> str:
    return text.rstrip(".!。！ ")


def _unexplained(one: Trouble) -> bool:
    """Say whether a command failed and passed later, and nobody named the fault."""
    return one.passed and bool(one.keys) and bool(one.title) and not (one.statement or one.marked)


def _idle(heard: Heard | None) -> bool:
    """Say whether a note is small talk, narration or a thing to do by the session model: it explains nothing."""
    return heard is not None and bool(heard.by) and sum(heard.by[kind] for kind in IDLE) > SURELY


def _judged(one: Trouble) -> tuple[Trouble, str, str, float]:
    """Return a trouble with what is told of it, and how surely it is worth it; 0 for not at all."""
    text = sentence_rules.stripped(one.statement, one.language) if one.statement else one.title
    said = [note for note in one.notes if not _idle(one.said.get(note))]
    notes = said or [note for note in one.refuted if not _idle(one.said.get(note))]
    if not text:
        if not notes or not (one.cause and one.passed):
            return one, "", "", 0.0
        text, notes = notes[0], notes[1:]
    detail = " ".join(note if note.endswith((".", "!", "。", "！")) else f"{note}." for note in notes)[:DETAIL]
    if one.helped and one.passed and not (one.fix and said):
        detail = f"{detail} Passed after {', '.join(dict.fromkeys(one.helped[-2:]))}.".strip()
    if one.title and one.statement and covered(content(one.title, "en"), content(one.statement, "en")) < 0.5:
        detail = f"{one.title}. {detail}".strip()
    changed = bool(one.files or one.helped)
    if one.marked:
        score = 0.9
    elif one.whole:
        score = 0.8
    elif one.keys:
        score = (
            0.85
            if said and one.passed and (one.cause or one.fix or changed)
            else 0.7
            if said and (one.cause or one.fix or one.acted)
            else 0.0
        )
    elif one.vague:
        score = 0.65 if said and (one.cause or one.fix) else 0.6 if said and one.files else 0.0
    else:
        score = 0.75 if said and (one.cause or one.fix or changed) else 0.0
    return one, text[:TEXT], detail, score
