"""Errors as they are known at the end of a session: those that rules found and the session model keeps, with those that the session model alone finds. Pure."""

from bisect import bisect_left
from collections.abc import Container, Iterable
from dataclasses import dataclass

from gitmem.extraction.classify.linear_model import likely
from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.detect.command_errors import DETAIL, TEXT, Trouble
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import split
from gitmem.extraction.language.words import content, shared
from gitmem.extraction.rules import sentence_rules
from gitmem.records.items import ERROR
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

FIRST = 0.001  # how likely a sentence must be to tell of an error, at first, to be judged again
EXPLAINS = 0.15  # how likely what was said of a command that failed must tell of an error
SAME = 0.6  # shared words from which on two errors are one
STAYS, COUNTS = 0.65, 0.65  # how likely by the session model: what rules take for an error, and what they do not
ALONE, STATED = 0.9, 0.03  # how likely a sentence with its cause or fix must be by itself, and by the session model then
NOTED, NOTES = 0.4, 2  # how likely it must be for what was said after a command failed that then passed, and how much of it is told
BARE = 0.7  # how sure an error is that no words name
COMPLAINS, SUPPOSED, ASKED = (
    0.2,
    0.25,
    9,
)  # how likely a user's complaint and an agent's cause must be for both together to be an error; turns between
SOON = 4  # turns after a complaint in which what explains it is looked for
NEAR = 14  # turns up to which a cause or a fix belongs to the error before it
ALIKE = 2  # words that a cause shares with its error
HELD = 3000  # sentences that may tell of errors
COMPARED = 60  # errors before one that it is compared with


@dataclass(slots=True, eq=False)
class Fault:
    """A sentence that may tell of an error."""

    heard: Heard
    turn: Turn
    born: int  # which turn
    order: int


@dataclass(slots=True)
class Told:
    """An error that is worth knowing."""

    text: str
    detail: str
    at: str
    line: int
    last: int
    files: tuple[str, ...]
    role: str
    score: float
    order: int
    born: int
    language: str
    marker: bool = False
    touched: int = 0  # the turn of the last thing that was said of it
    words: frozenset[str] = frozenset()  # of its text and detail
    cause: bool = False  # its text is what an agent said of it


class Faults:
    """Sentences that may tell of errors, as they come."""

    def __init__(self) -> None:
        self.held: list[Fault] = []
        self.heard_any = False  # sentences are judged by the session model in this session

    def take(self, heard: Heard, turn: Turn, born: int, order: int) -> None:
        """Take note of a sentence if it may tell of an error."""
        self.heard_any = True
        fine = heard.role == USER and cues(heard.language).find("error", "not", heard.text)
        if heard.first[ERROR] >= FIRST and not fine and len(heard.text) <= sentence_rules.LONGEST:
            self.held.append(Fault(heard, turn, born, order))
            del self.held[:-HELD]

    def told(self, troubles: Iterable[tuple[Trouble, str, str, float]], passed: Iterable[Trouble] = ()) -> list[Told]:
        """Return the errors of a session whose sentences were judged; of what failed and `passed` later those that the session model has an explanation of."""
        out: list[Told] = []
        said: set[str] = set()
        by_session = [fault.heard.by[ERROR] for fault in self.held]
        explains = {fault.heard.text for fault, by in zip(self.held, by_session, strict=True) if by >= EXPLAINS}
        telling = [(by, n, fault) for n, (fault, by) in enumerate(zip(self.held, by_session, strict=True)) if by >= NOTED]
        kept = []
        for one, text, detail, score in troubles:
            near = _near(one, telling) if one.keys and one.passed and not (one.statement or one.marked) else []
            if one.marked or not self.heard_any or near or _stays(one, explains):
                kept.append((one, text, detail, score, near))
        complaints = Complaints(self.held, {one.statement for one, *_ in kept})
        for one, text, detail, score, near in kept:
            if near and not any(fault.heard.text in one.notes for fault in near):  # what it said besides was no explanation
                detail = _told(near)
                said.update(fault.heard.text for fault in near)
            said |= {one.statement, *one.notes}
            if one.heard is not None and one.title and one.heard.by[ERROR] < STAYS:
                text, detail = one.title, detail.removeprefix(f"{one.title}. ")  # what was said was a request, say
            files = tuple(one.files[-4:])
            if one.role == ASSISTANT and not (one.keys or one.marked) and one.heard is not None:  # a cause, of something that the user told
                before = complaints.of(one.heard, one.born, said)
                if before is not None:
                    said.add(before.heard.text)
                    out.append(_pair(before, f"{text} {detail}".strip(), score, files, max(one.line, one.last), one.born))
                    continue
            out.append(
                Told(
                    text, detail, one.at, one.line, one.last, files, one.role, score, one.order, one.born, one.language, one.marked,
                    cause=one.role == ASSISTANT and not (one.keys or one.marked),
                )
            )  # fmt: skip
        for one in passed:
            near = [fault for fault in _near(one, telling) if fault.heard.text not in said]
            if near:
                said.update(fault.heard.text for fault in near)
                files = tuple(one.files[-4:])
                out.append(
                    Told(one.title, _told(near), one.at, one.line, one.last, files, one.role, BARE, one.order, one.born, one.language)
                )
        for fault, by in zip(self.held, by_session, strict=True):
            heard, turn = fault.heard, fault.turn
            if heard.text in said or by < (SUPPOSED if heard.role == ASSISTANT else COUNTS):
                continue
            latest = _about(fault, out) if heard.role == ASSISTANT and by >= COUNTS else None
            if latest is None and heard.role == ASSISTANT:
                before = complaints.of(heard, fault.born, said, least=1 - (1 - COUNTS) / max(1 - by, 1e-9))
                if before is not None:
                    said |= {heard.text, before.heard.text}
                    out.append(_pair(before, heard.text, round(0.4 + 0.4 * by, 2), turn.files[:4], turn.line, fault.born))
                    continue
                latest = _unexplained(fault, out) if by < COUNTS else None
            if by < COUNTS and latest is None:
                continue
            said.add(heard.text)
            if latest is not None:
                latest.touched = max(latest.touched, fault.born)
                if len(latest.detail) + len(heard.text) < DETAIL and heard.text not in latest.detail:
                    latest.detail = f"{latest.detail} {heard.text}".strip()
                    latest.last = max(latest.last, turn.line)
                    latest.words |= content(heard.text, heard.language)
                continue
            text = sentence_rules.stripped(heard.text, heard.language)[:TEXT]
            score = round(0.4 + 0.4 * by, 2)
            out.append(
                Told(
                    text, "", turn.at, turn.line, turn.line, turn.files[:4], turn.role, score, fault.order, fault.born, heard.language,
                    cause=turn.role == ASSISTANT,
                )
            )  # fmt: skip
        return _distinct(_explained(out))


class Complaints:
    """What users said went wrong and nobody has explained yet, in the order it was said."""

    def __init__(self, held: Iterable[Fault], told: Container[str]) -> None:
        self._all = [one for one in held if one.heard.role == USER and one.heard.by[ERROR] >= COMPLAINS and one.heard.text not in told]

    def of(self, cause: Heard, born: int, said: Container[str], least: float = 0.0) -> Fault | None:
        """Take what a cause explains, of those at least so likely and not `said`: of the last turns what shares its words, else the latest; None when there is none."""
        near = [one for one in self._window(born) if one.heard.by[ERROR] >= least and one.heard.text not in said]
        words = content(cause.text, cause.language) if near else frozenset()
        best = max(near, key=lambda one: (min(ALIKE, len(words & content(one.heard.text, one.heard.language))), one.born), default=None)
        if best is not None:
            self._all.remove(best)
        return best

    def _window(self, born: int) -> list[Fault]:
        first = bisect_left(self._all, born - ASKED, key=lambda one: one.born)
        return self._all[first : bisect_left(self._all, born, key=lambda one: one.born)][-COMPARED:]


def _pair(complaint: Fault, cause: str, score: float, files: tuple[str, ...], last: int, touched: int) -> Told:
    """Return an error that a user told of, and an agent explained."""
    heard, turn = complaint.heard, complaint.turn
    text = sentence_rules.stripped(heard.text, heard.language)[:TEXT]
    return Told(
        text, cause[:DETAIL], turn.at, turn.line, max(turn.line, last), files, turn.role, score, complaint.order, complaint.born, heard.language, touched=touched
    )  # fmt: skip


def _explained(found: list[Told]) -> list[Told]:
    """Return errors, those that a user told of and nothing explains together with the cause that an agent told next."""
    out: list[Told] = []
    open_: Told | None = None
    for one in sorted(found, key=lambda one: (one.born, one.order)):
        if open_ is not None and one.cause and one.born - open_.born <= ASKED:
            open_.detail = f"{one.text} {one.detail}".strip()[:DETAIL]
            open_.last, open_.score, open_.files = max(open_.last, one.last), max(open_.score, one.score), open_.files or one.files
            open_ = None
            continue
        open_ = one if one.role == USER and not (one.detail or one.marker) else None
        out.append(one)
    return out


def _about(fault: Fault, out: list[Told]) -> Told | None:
    """Return the error that a cause or a fix which an agent tells is of: the one that shares its words, else the last one where nothing explains it yet, or just did."""
    heard = fault.heard
    before = [one for one in out[-COMPARED:] if 0 <= fault.born - one.born <= NEAR]
    if not before:
        return None
    words = content(heard.text, heard.language)
    for kind in ("cause", "fix"):  # `the root cause is` is shared by all
        found = cues(heard.language).find("error", kind, heard.text)
        words -= content(found.group(), heard.language) if found else frozenset()
    for one in before:
        one.words = one.words or content(f"{one.text} {one.detail}", one.language)
    best = max(before, key=lambda one: (len(words & one.words), not one.detail, one.born))
    if len(words & best.words) >= ALIKE:
        return best
    latest = max(before, key=lambda one: one.born)
    return latest if not latest.detail or fault.born - max(latest.touched, latest.born) <= 1 else None


def _unexplained(fault: Fault, out: list[Told]) -> Told | None:
    """Return what the user told shortly before, where nothing explains it yet."""
    latest = max((one for one in out[-COMPARED:] if 0 < fault.born - one.born <= SOON), key=lambda one: one.born, default=None)
    return latest if latest is not None and latest.role == USER and not latest.detail else None


def _near(one: Trouble, telling: list[tuple[float, int, Fault]]) -> list[Fault]:
    """Return what was said of a command between its failure and its passing, the likeliest, in its order."""
    near = [found for found in telling if found[2].born - one.born <= NEAR and one.line <= found[2].turn.line <= one.last]
    best = sorted(near, key=lambda found: -found[0])[:NOTES]
    return [fault for _, _, fault in sorted(best, key=lambda found: found[1])]


def _told(near: list[Fault]) -> str:
    return " ".join(fault.heard.text for fault in near)[:DETAIL]


def _stays(one: Trouble, explains: Container[str]) -> bool:
    """Whether an error that rules found is one by the session model: its statement is, or what was said of a command that failed."""
    if one.heard is not None and one.heard.by[ERROR] >= (COUNTS if one.vague else STAYS):
        return True
    if one.heard is not None and one.whole and _stated(one.heard):
        return True
    if not one.keys:
        return one.heard is None
    return (one.passed and (bool(one.helped) or one.cause)) or any(note in explains for note in one.notes or one.refuted)


def _stated(heard: Heard) -> bool:
    """Whether a sentence tells of a fault in so many words, whatever surrounds it."""
    return heard.by[ERROR] >= STATED and likely(heard.text, heard.role, heard.language)[ERROR] >= ALONE


def _distinct(found: list[Told]) -> list[Told]:
    """Return errors without those that tell what one shortly before tells."""
    out: list[tuple[Told, frozenset[str]]] = []
    for one in sorted(found, key=lambda one: (one.born, one.order)):
        words = content(f"{one.text} {one.detail}", one.language)
        near = [pair for pair in out[-COMPARED:] if one.born - pair[0].born <= NEAR]
        other = next((pair[0] for pair in near if not one.marker and shared(words, pair[1]) >= SAME), None)
        if other is None:
            out.append((one, words))
            continue
        for part in split(one.detail or one.text):
            if len(other.detail) + len(part) < DETAIL and part.rstrip(".!。 ") not in f"{other.text} {other.detail}":
                other.detail = f"{other.detail} {part}".strip()
        other.last, other.score = max(other.last, one.last), max(other.score, one.score)
    return [one for one, _ in out]
