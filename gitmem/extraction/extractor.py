"""What a session taught, found by rules: what is said plainly is taken, everything else is not.

One pass over the turns, in bounded memory.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitmem.extraction import guards, sections
from gitmem.extraction.collection import CHOSEN, Candidate, Collection
from gitmem.extraction.commits import landed, lessons, stands
from gitmem.extraction.failures import EDITORS, Failure, FailureLog
from gitmem.extraction.markers import FIX, REASON, ends_list, labelled, lead, stripped, tells
from gitmem.extraction.phrases import language_of, tokenized
from gitmem.extraction.sentences import Sentence, last_heading, sentences
from gitmem.extraction.statements import Statement, complains, is_fine, reason_in, statement
from gitmem.extraction.topics import Topics
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, TASK, Extract, plain
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn

LIMIT = 120  # items of one session
FILES, COMMITS = 40, 200
MARKED = 400  # characters of a marked turn that names no kind
REPORTED = (DONE, ERROR, PATTERN, CONTEXT)  # lists in which an agent explains its work


def extract(turns: Iterable[Turn], *, limit: int = LIMIT) -> Extract:
    """Return what turns taught, at most `limit` items and all that is marked."""
    session = _Session()
    for turn in turns:
        session.take(turn)
    return session.extract(limit)


class _Session:
    """One pass over the turns of a session."""

    def __init__(self) -> None:
        self._items = Collection()
        self._failures = FailureLog()
        self._topics = Topics()
        self._sections = sections.Sections()
        self._counts = Counter(turns=0, asked=0, tokens=0)
        self._files: Counter[str] = Counter()
        self._commits: deque[str] = deque(maxlen=COMMITS)
        self._landed: dict[str, list[tuple[str, int]]] = {}
        self._language = "en"
        self._role = ""
        # what the text stands under, and the same without lines before a list
        self._heading = self._under = ""
        self._agent_spoke = False
        self._drafting = False  # the user asked for a text, such as an e-mail
        self._titled: Failure | None = None  # the error that the last heading names
        self._spoken = 0  # turns in which somebody said something
        self._reports: list[Candidate] = []  # what the agent said last that it has done
        self._explains: Candidate | Failure | None = None  # what the next sentence may explain
        self._before = ""  # the sentence before, of the same message or document
        self._announced = False  # it says that the next one is the cause: `I found it.`
        self._error_said = 0  # the turn in which an error was last explained
        self._has_retracted = False  # the message takes back what it says itself

    def take(self, turn: Turn) -> None:
        """Take one turn."""
        self._counts.update(turns=1, tokens=turn.tokens)
        if turn.role == TOOL and not turn.marked:
            self._take_tool(turn)
        elif turn.text and (turn.role != SYSTEM or turn.marked):
            self._take_words(turn)

    def _take_tool(self, turn: Turn) -> None:
        if turn.files and turn.tool in EDITORS and turn.failed is not True:
            self._files.update(turn.files)
        if turn.text.startswith("- [") and not turn.command and not turn.files:
            for sentence in sentences(turn.text):
                if sentence.box and plain(sentence.text):
                    self._items.listed(sentence.text, sentence.box, turn)
        else:
            self._failures.tool(turn)

    def _take_words(self, turn: Turn) -> None:
        if turn.role != self._role:
            self._role, self._heading, self._under = turn.role, "", ""
        self._spoken += 1
        self._items.number = self._failures.number = self._spoken
        self._language = language_of(turn.text, self._language)
        self._counts["asked"] += turn.role == USER and not turn.side
        if self._is_heading(turn) and not turn.marked:
            return
        if not turn.side:
            self._topics.add(turn.text, 2.0 if turn.role == USER else 1.0)
        before = len(self._items.all)
        if turn.role == ASSISTANT and not turn.side:
            self._drop_reports()
        if turn.tool == "commit":
            self._take_commit(turn)
        else:
            self._take_sentences(turn)
        if turn.marked:
            self._keep_marked(turn, self._items.all[before:])
        self._agent_spoke |= turn.role == ASSISTANT

    def _keep_marked(self, turn: Turn, taken: Sequence[Candidate]) -> None:
        """Take each sentence of a marked turn that no phrase has taken."""
        said = " | ".join(plain(candidate.text) for candidate in taken)
        texts = [sentence.text for sentence in sentences(turn.text)] or [turn.text]
        for text in texts:
            marker = labelled(text)
            words = stripped(" ".join((marker[1] if marker else text).split()), self._language)
            if plain(words) not in said:
                self._items.add(CONTEXT, words[:MARKED], turn, marker=True)

    def _drop_reports(self) -> None:
        """Drop what the agent said before that it has done: it reports at the end of the work."""
        for report in self._reports:
            report.gone = True
        self._reports.clear()

    def _is_document(self, turn: Turn) -> bool:
        """Return whether a turn is of a text that somebody wrote down, not of a dialogue."""
        return not (turn.at or turn.tool or self._agent_spoke)

    def _is_heading(self, turn: Turn) -> bool:
        """Take a turn that is nothing but a heading, as documents have; return whether it is."""
        heading = last_heading(turn.text) or ("" if turn.at else lead(turn.text))
        if heading:
            self._heading = heading
            self._under = heading if turn.text.lstrip().startswith("#") else self._under
            says_error = self._sections.heading(turn.text, heading)
            self._titled = None
            if says_error and self._is_document(turn):
                self._titled = self._failures.add(heading, turn, named=True)
            return True
        if self._heading != self._under and not turn.at and ends_list(turn.text):
            self._heading = self._under
            self._sections.end_list()
            return True
        return False

    def _take_commit(self, turn: Turn) -> None:
        subject, back = landed(turn.text)
        self._landed.setdefault(plain(subject), []).append((turn.at, -1 if back else 1))
        self._commits.append(turn.text.split("\n", 1)[0][:200])
        for kind, text, detail in lessons(turn.text, self._language):
            self._items.add(kind, text, turn, detail=detail)

    def _take_sentences(self, turn: Turn) -> None:
        said: Sequence[Sentence] = list(sentences(turn.text, self._heading))
        if not said:  # a statement that ends with a colon, before its list
            said = list(sentences(turn.text.rstrip(":： "), self._heading))
        document = self._is_document(turn)
        if turn.role == USER and not turn.side:
            self._failures.begin_request()
            self._drafting = guards.asks_for_text(said, self._language)
            if not document:
                said = list(guards.own_words(said, turn.text, self._language))
        elif self._drafting and not turn.side:
            return
        self._explains = self._titled if document else None
        self._announced, self._has_retracted = False, False
        if not document:
            self._before = ""
            said = self._standing(said, turn)
        for sentence in said:
            if not (turn.rows and sentence.row):
                self._take_sentence(sentence, turn)
            else:
                at = replace(turn, line=turn.line + sentence.row, rows=False)
                self._take_sentence(sentence, at)

    def _standing(self, said: Sequence[Sentence], turn: Turn) -> Sequence[Sentence]:
        """Return the sentences of a message without those that it takes back itself."""
        end = guards.retracted(said, self._language)
        states = [statement(part.text, turn.role, self._language) for part in said[:end]]
        self._has_retracted = any(states)
        return said[end:]

    def _take_sentence(self, sentence: Sentence, turn: Turn) -> None:
        refused = self._sections.refused if self._is_document(turn) else ""
        if sections.is_dropped(sentence, refused):
            self._explains = None
        elif sentence.box:
            self._add_marked(DONE if sentence.box == "x" else TASK, sentence.text, turn, sentence)
        elif self._take_labelled(sentence, turn) or self._goes_on(sentence, turn):
            pass
        elif sections.is_option(sentence):
            self._explains = None
        elif not self._take_point(sentence, turn) and not turn.side:
            self._explains = None
            self._take_statement(sentence, turn)
            self._before = sentence.text

    def _add_marked(self, kind: str, text: str, turn: Turn, sentence: Sentence) -> None:
        self._explains = None
        text = stripped(text, self._language)
        if sentence.box == "-" or not tells(text) or guards.asks(text, self._language):
            return
        if kind == ERROR:
            self._explains = self._failures.add(text, turn, named=True)
        else:
            self._explains = made = self._items.add(kind, text, turn, marker=True)
            self._before = text
            if not sentence.box:
                self._note_report(made, turn)

    def _take_labelled(self, sentence: Sentence, turn: Turn) -> bool:
        marker = labelled(sentence.text) or labelled(stripped(sentence.text, self._language))
        if marker is None:
            return False
        kind, rest = marker
        if kind not in (FIX, REASON):
            self._add_marked(kind, rest, turn, sentence)
            return True
        if isinstance(self._explains, Candidate):
            self._explains.detail = self._explains.detail or rest
        elif kind == REASON:
            return False
        elif not self._failures.explained(rest, turn) and tells(rest):
            self._failures.add(stripped(rest, self._language), turn, named=True)
        return True

    def _goes_on(self, sentence: Sentence, turn: Turn) -> bool:
        """Take a sentence that explains the marked one before it."""
        made = self._explains
        if isinstance(made, Failure):
            if made is not self._titled and (sentence.opens or not self._lists(sentence, turn)):
                return False
            made.note(sentence.text, turn, self._spoken)
            return True
        if made is None or sentence.opens or not made.marker or made.kind not in CHOSEN:
            return False
        objects = guards.objects(sentence.text, self._language)
        if not objects and (sentence.point or not made.detail):
            made.detail = f"{made.detail} {sentence.text}".strip()
            return sentence.point
        return False

    def _lists(self, sentence: Sentence, turn: Turn) -> bool:
        """Return whether a sentence is of a list, or of a document's paragraph."""
        return sentence.point or self._is_document(turn)

    def _take_point(self, sentence: Sentence, turn: Turn) -> bool:
        """Take a point of a list whose heading names a kind."""
        kind = sections.kind_under(sentence)
        text = stripped(sentence.text, self._language)
        if not kind or guards.asks(text, self._language) or not tells(text):
            return False
        if turn.role == ASSISTANT and not turn.tool and kind in REPORTED:
            return True  # a list of what was done or explained, not a plan
        if not (sentence.point or (kind == ERROR and self._is_document(turn))):
            return False
        if sentence.opens and not (kind == ERROR and is_fine(text, self._language)):
            self._add_marked(kind, text, turn, sentence)
        return True

    def _take_statement(self, sentence: Sentence, turn: Turn) -> None:
        text = sentence.text
        if self._take_objection(sentence, turn):
            return
        stated = statement(text, turn.role, self._language) or self._announced_cause(text)
        self._announced = guards.announces(text, self._language)
        if self._before and guards.points_back(text, self._language):
            self._items.add(PATTERN, stripped(self._before, self._language), turn)
        elif stated is not None:
            self._add_statement(stated, turn)
        elif not guards.unfit(text, self._language):
            self._take_other(sentence, turn)

    def _add_statement(self, stated: Statement, turn: Turn) -> None:
        if stated.kind == ERROR:
            if not self._failures.explained(stated.text, turn) and stated.stands_alone:
                self._failures.add(stated.text, turn, named=True).touched = self._spoken
            self._error_said = self._spoken
        elif stated.kind == DONE and self._error_said == self._spoken:
            self._failures.explained(stated.text, turn)  # what was done is how it was fixed
        else:
            why = reason_in(stated.text) if stated.kind in CHOSEN else ""
            made = self._items.add(stated.kind, stated.text, turn, detail=why)
            self._note_report(made, turn)

    def _announced_cause(self, text: str) -> Statement | None:
        """Return the cause that the sentence before announces."""
        if self._announced and not guards.unfit(text, self._language):
            return Statement(ERROR, stripped(text, self._language))
        return None

    def _note_report(self, made: Candidate | None, turn: Turn) -> None:
        if made is not None and made.kind == DONE and turn.role == ASSISTANT:
            self._reports.append(made)

    def _take_other(self, sentence: Sentence, turn: Turn) -> None:
        """Take what may be about an error: an agent's remark, or a user's complaint."""
        text = stripped(sentence.text, self._language)
        if turn.role == ASSISTANT:
            self._failures.remark(sentence.text)
        elif turn.role == USER and complains(text, self._language):
            complaint = self._failures.add(text, turn)
            if self._is_document(turn) and sentence.opens:
                self._explains = complaint  # the rest of its paragraph says why

    def _take_objection(self, sentence: Sentence, turn: Turn) -> bool:
        """Take back what is taken back, or what the agent said that a user corrects.

        Return whether the sentence says what holds instead: `no, use pnpm`.
        """
        text = sentence.text
        takes_back = guards.is_taken_back(tokenized(text), self._language)
        corrects = guards.said_in("correct", text, self._language)
        if guards.objects(text, self._language) and self._items.correct(self._before):
            amends = corrects or guards.said_in("amend", text, self._language)
            return amends and self._add_correction(text, turn)
        if turn.role != USER or self._is_document(turn):
            return False
        if takes_back and not self._has_retracted:
            self._items.take_back(text)
        elif not sentence.place and guards.said_in("overrule", text, self._language):
            self._items.take_back(text, of_agent=True)
        return corrects and not sentence.place and self._add_correction(text, turn)

    def _add_correction(self, text: str, turn: Turn) -> bool:
        text = stripped(text, self._language)
        return self._items.add(DECISION, text, turn) is not None

    def extract(self, limit: int) -> Extract:
        """Return what was found; the session is over."""
        for error in self._failures.worth_telling():
            text, number, at = stripped(error.text, self._language), error.number, error.turn.at
            made = Candidate(ERROR, text, error.turn, number, error.detail, error.last, at)
            made.files = tuple(error.files)
            self._items.all.append(made)
        kept = [made for made in self._items.all if not made.gone and self._still_stands(made)]
        kept.sort(key=lambda made: (made.marked, made.marker, made.number), reverse=True)
        best = kept[: max(limit, sum(made.marked for made in kept))]
        items = tuple(made.item() for made in sorted(best, key=lambda made: made.number))
        files = [path for path, _ in self._files.most_common(FILES)]
        facts = {**self._counts, "files": files, "commits": list(self._commits)}
        return Extract(items, self._topics.best(), facts=facts)

    def _still_stands(self, made: Candidate) -> bool:
        return made.kind == ERROR or stands(self._landed.get(plain(made.text), ()))
