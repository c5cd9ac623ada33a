"""What a session taught, found by rules alone: cue phrases by language, markers, roles, what was overruled and what was done. One pass, bounded memory."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gitmem.extraction.classify.combine import faulty, likely, weighed
from gitmem.extraction.classify.context_features import EDIT, FAIL, RUN, Around, Before
from gitmem.extraction.classify.session_model import Heard, Listening
from gitmem.extraction.detect.answer_context import Retold, with_quotes
from gitmem.extraction.detect.candidates import Candidate, distinct
from gitmem.extraction.detect.command_errors import EDITORS, Errors, Trouble
from gitmem.extraction.detect.completed_work import Closing, done
from gitmem.extraction.detect.error_merge import Faults
from gitmem.extraction.detect.final_judgement import CERTAIN, COUNTS, PERHAPS, POINTING, SHORT_ANSWER, WEAK, confidence, stands
from gitmem.extraction.detect.item_set import BRIEF, TEXT, Found
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence, last_heading, sentences
from gitmem.extraction.language.words import content, covered, language
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.extraction.rules.commit_messages import reverted, stands_still, taught
from gitmem.extraction.rules.corrections import overruled
from gitmem.extraction.rules.dialogue import NUMBERED, Exchange, Settled, correction
from gitmem.extraction.rules.rejected import dropped
from gitmem.extraction.rules.sections import Sections
from gitmem.extraction.topics import Topics
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, Extract, Item, plain
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn

LIMIT = 120  # items of one session
SURELY = 0.85  # how likely what is told is, for it to be told whatever else it may be
LEFT = (
    0.3  # how likely what is said besides must be a task for a sentence to tell of one thing that is left, and not of one now and one later
)
DEEP = 3_000  # sentences of a session that are weighed without a cue phrase in them; of more, those that have one
DETAIL = 500  # characters
ENOUGH = 2  # spaces of a sentence whose language may be another than that of its turn
FILES = 40
FAR = 500  # sentences back in which what is agreed to is looked for
SETTLES = 0.3  # how likely a bare answer must be a decision at first, for it to be looked at again
SAID_SO = 0.75  # how much of what an agent had said a decision may say itself, for it to be told beside
_CHANGES = re.compile(
    r"\b(?:commit|push|merge|deploy|install|add|publish|release|apply|backfill|migrate|create|-X ?(?:PUT|POST|PATCH|DELETE)|restart|mv|cp|rm|mkdir|tag|up|generate|update|upgrade)\b"
)
_REASON = re.compile(r"(?i)reason: +")
_CLAUSE = re.compile(r"[,;]\s+|[，；]")
MARKED_SENTENCES, TOLD_BY = 40, 0.6  # of a marked turn that are looked at; how much of one an item must say for it to be told
MARKED_WORDS = 400  # characters of a marked turn that names no kind


def extract(turns: Iterable[Turn], *, limit: int = LIMIT, known: Callable[[str], bool] | None = None) -> Extract:
    """Return what turns taught, at most `limit` items and all that is marked. `known` says of a text that it need not be told again."""
    session = _Session()
    for turn in turns:
        session.take(turn)
    return session.ended(limit, known)


@dataclass(slots=True)
class _Counts:
    turns: int = 0
    asked: int = 0
    tokens: int = 0
    files: Counter[str] = field(default_factory=Counter)
    commits: list[str] = field(default_factory=list)


def _line(turn: Turn, sentence: Sentence) -> Turn:
    """Return a turn as it is from the line on that a sentence begins in."""
    return replace(turn, line=turn.line + sentence.row, rows=False) if turn.rows and sentence.row else turn


class _Session:
    def __init__(self) -> None:
        self.found = Found()
        self.errors = Errors()
        self.faults = Faults()
        self.topics = Topics()
        self.exchange = Exchange()
        self.ordered: list[Candidate] = []  # open tasks that the user said yes to
        self.closing: list[Closing] = []  # what the agent said last, which tells what was done
        self.listening = Listening()
        self.before = Before()  # what was said last, and what tools were used for since
        self.changed = False  # something was changed since the user spoke
        self.failing = False  # the last command failed
        self.tools = False  # tools were used
        self.drafting = False  # the user asked for a text, such as an e-mail
        self.counts = _Counts()
        self.language = "en"
        self.heading = self.under = ""  # what the text stands under, and the same without lines before a list
        self.landed: dict[str, list[tuple[str, int]]] = {}  # subjects of commits: when they landed (1) and were taken back (-1)
        self.role = ""
        self.seen = 0  # sentences
        self.explained: Candidate | None = None
        self.reasoning = False  # a reason is told, which goes on
        self.named: Trouble | None = None  # the error that a marker or a heading named, whose point is read
        self.titled: Trouble | None = None  # the error that the last heading told
        self.sections = Sections()

    def take(self, turn: Turn) -> None:
        """Take one turn."""
        self.counts.turns += 1
        self.counts.tokens += turn.tokens
        if turn.role == TOOL and not turn.marked:
            self._used(turn)
            return
        if not turn.text or (turn.role == SYSTEM and not turn.marked):
            return
        if turn.role != self.role:
            self.role, self.heading, self.under = turn.role, "", ""
        self.errors.begins(turn.role)
        if turn.role == USER and not turn.side:
            self.counts.asked += 1
            self._close()
        self.found.turn += 1
        self.language = self.found.language = language(turn.text, self.language)
        heading = last_heading(turn.text) or ("" if turn.at else rules.lead(turn.text))
        if not heading and self.heading != self.under and self.titled is None and not turn.at and rules.breaks(turn.text):
            self.heading = self.under
            self.sections.breaks()
            return
        if heading:
            self.heading = heading
            self.under = heading if turn.text.lstrip().startswith("#") else self.under
            wrong = self.sections.heading(turn.text, heading, self.language)
            self.titled = self.errors.named(wrong, turn, self.language, self.found.order) if wrong and self._document(turn) else None
            if not turn.marked:
                return
        if not turn.side:
            self.topics.add(turn.text, self.language, 2.0 if turn.role == USER else 1.0)
        if turn.tool == "commit":
            self._committed(turn)
        else:
            whole = self.language
            self._said(turn)
            self._speaks(whole)
        if turn.marked:
            self._rest_of_mark(turn)
        self.found.trim()

    def _rest_of_mark(self, turn: Turn) -> None:
        """Keep what is marked and no item says: all of it, or the sentences beside those that are items."""
        mine = [one for one in self.found.all if one.marked and one.turn == self.found.turn]
        if not mine:
            text = rules.stripped(" ".join(turn.text.split())[:MARKED_WORDS], self.language)
            self.found.add(CONTEXT, text, turn, rules.MARKED, marked=True)
            return
        told = " ".join(f"{one.text} {one.detail}" for one in mine)
        for sentence in islice(sentences(turn.text), MARKED_SENTENCES):
            tongue = language(sentence.text, self.language)
            words = content(sentence.text, tongue)
            if words and covered(words, content(told, tongue)) < TOLD_BY:
                self.found.add(
                    CONTEXT, rules.stripped(sentence.text[:MARKED_WORDS], tongue), _line(turn, sentence), rules.MARKED, marked=True
                )

    def _used(self, turn: Turn) -> None:
        used = FAIL if turn.failed is True else EDIT if turn.files and turn.tool in EDITORS else RUN if turn.command else ""
        if used:
            self.listening.tool(used)
        if used and used not in self.before.used:
            self.before = replace(self.before, used=self.before.used | {used})
        if turn.files and turn.tool in EDITORS and turn.failed is not True:
            self.counts.files.update(turn.files)
            self.changed = self.tools = True
            self.closing.clear()
        elif turn.command:
            self.failing = turn.failed is True
            self.changed = self.changed or (turn.failed is False and bool(_CHANGES.search(turn.command)))
            self.tools = True
        if turn.text.startswith("- [") and not turn.command and not turn.files:
            for sentence in sentences(turn.text):
                self.found.listed(sentence, turn)
            return
        self.errors.tool(turn, self.found.order)

    def _committed(self, turn: Turn) -> None:
        subject, back = reverted(turn.text)
        self.landed.setdefault(plain(subject), []).append((turn.at, -1 if back else 1))
        self.counts.commits.append(turn.text.split("\n", 1)[0][:200])
        del self.counts.commits[:-200]
        for kind, text, detail, score in taught(turn.text, self.language):
            self.found.add(kind, text, turn, score, detail=detail)

    def _speaks(self, language: str) -> None:
        self.language = self.found.language = language

    def _tongues(self, said: Sequence[Sentence], turn: Turn) -> list[str]:
        """Return the language of each sentence of a turn: what a user says in prose may be in several."""
        if turn.role != USER or turn.marked or len(said) < 2 or any(one.point or one.heading or one.lead for one in said):
            return [self.language] * len(said)
        return [language(one.text, self.language) if one.text.count(" ") >= ENOUGH else self.language for one in said]

    def _said(self, turn: Turn) -> None:
        role = ASSISTANT if turn.side and turn.role == USER else turn.role
        said = list(sentences(turn.text, self.heading)) or list(sentences(turn.text.rstrip(":： "), self.heading))
        texts = [one.text for one in said]
        tongues = self._tongues(said, turn)
        document = self._document(turn)
        talk = not document and max(self.seen, len(self.listening.all)) + len(said) <= DEEP
        around = [Around(texts, n, role, tongue, self.before) if talk else None for n, tongue in enumerate(tongues)]
        heard: list[Heard | None] = [None] * len(said)
        if not (turn.at or self.exchange.said):
            self.exchange.text(said[0] if said else None)
        if said and not turn.side:
            self.before = Before(texts[-1], role, tongues[-1])
            if talk:
                first = [likely(text, role, tongue, one) for text, tongue, one in zip(texts, tongues, around, strict=True)]
                heard = self.listening.turn(role, tongues, texts, first)
        if turn.role == USER and not turn.side:
            self.drafting = any(cues(tongues[one.place]).find("exchange", "writing", one.text) for one in said[:3])
        elif self.drafting and not turn.side:
            return  # a text that was asked for says what its author would say
        begin = 0
        if role == USER and not turn.side and said and not document:
            self.exchange.begins()
            for sentence in said[:2]:
                before = len(self.found.all)
                self._speaks(tongues[sentence.place])
                taken = self._answered(sentence, _line(turn, sentence), around[sentence.place], heard[sentence.place])
                begin += taken
                if not taken or len(self.found.all) > before:
                    break
            self._rest_of_answer(said, begin, turn, before)
            self._speaks(tongues[0])
            self.exchange.user(said, self.language)
            if cues(self.language).find("exchange", "worked", said[0].text):
                self.errors.worked()
            if not rules.asks(said[0].text, self.language) and any(
                cues(self.language).find("exchange", name, said[0].text) for name in ("worked", "accept", "idle")
            ):
                self.errors.settled()
        elif role == ASSISTANT and not turn.side:
            self.closing = [
                Closing(one, _line(turn, one), around[one.place], heard[one.place])
                for one in said
                if self.seen <= DEEP or rules.telling(one.text, self.language)
            ]
        self.explained, self.reasoning, self.named = None, False, None
        if document and said and self._wrong(said, turn):
            return
        whole = turn
        for sentence in said[begin:]:
            turn = _line(whole, sentence)
            self._speaks(tongues[sentence.place])
            if self.seen > DEEP and not (sentence.box or turn.marked or rules.telling(sentence.text, self.language)):
                continue
            if self._goes_on(sentence, turn):
                continue
            if role == USER and not turn.side and talk and self._picked(sentence, turn, heard[sentence.place]):
                continue
            before = len(self.found.all)
            mine = heard[sentence.place]
            if mine is not None and not turn.side and not turn.tool:
                self.faults.take(mine, turn, self.errors.turn, self.found.order)
            self._sentence(sentence, turn, role, around[sentence.place], heard[sentence.place])
            if len(self.found.all) == before:
                self._perhaps(sentence, turn, heard[sentence.place])
        if role == ASSISTANT and not turn.side:
            self.exchange.agent(said, self.language)

    def _document(self, turn: Turn) -> bool:
        """Say whether a turn is of a text that somebody wrote down; one without times is a dialogue once an agent has spoken."""
        return not (turn.at or turn.tool or self.exchange.said)

    def _wrong(self, said: list[Sentence], turn: Turn) -> bool:
        """Take a paragraph, or a point, of a document that tells what was wrong and then why; whether it is one."""
        if said[0].box or turn.marked or (rules.labelled(said[0].text) and not rules.fixing(said[0].text)):
            return False
        if self.titled is None and self.sections.errors and cues(self.language).find("error", "not", said[0].text):
            return True  # `no known problems`
        if self.titled is None and not self.sections.wrong(said, self.language, named=turn.text.startswith(("**", "__"))):
            return False
        about = self.titled or self.errors.named(rules.stripped(said[0].text, self.language), turn, self.language, self.found.order)
        for sentence in said if self.titled else said[1:]:
            about.note(rules.fixing(sentence.text) or sentence.text, turn.line)
        self.found.order += 1
        return True

    def _answered(self, first: Sentence, turn: Turn, around: Around | None, heard: Heard | None) -> bool:
        """Take what the first sentence of a user says to the agent's last words; whether that is all it says."""
        judged = rules.judged(first, turn.role, self.language)
        put_off = self.exchange.put_off(first, self.language) if not judged or judged.kind != PREFERENCE else None
        fresh = self.exchange.fresh
        settled, alone = self.exchange.answered(first, self.language)
        if alone and first.first:
            self.ordered = [
                one for one in self.found.recent(12) if one.kind == TASK and one.role == ASSISTANT and one.turn >= self.found.turn - 2
            ]
        if rules.labelled(first.text) or first.box:
            return False
        if put_off:
            parts = [part for part in _CLAUSE.split(first.text) if part.strip()]
            later = [part for part in parts if cues(self.language).find("exchange", "defer", part)]
            now = " ".join(part for part in parts if part not in later)
            if (
                len(parts) > 1
                and len(later) == 1
                and later[0] != parts[0]
                and not cues(self.language).find("task", "sure", now)
                and likely(now, USER, self.language)[TASK] < LEFT
                and len(content(later[0], self.language)) > 2
                and not cues(self.language).find("exchange", "refers", later[0])
            ):
                # one thing now, another later
                self.exchange.fresh = fresh
                self._settle(replace(put_off, text=rules.stripped(later[0].strip(), self.language)), turn, None)
                settled, _ = self.exchange.answered(replace(first, text=now), self.language)
                if settled:
                    self._settle(settled, turn, None)
                return True
            self._settle(put_off, turn, heard)
            return True
        overrules = first.first and overruled(first.text, self.language, first=True)
        if overrules:
            self.found.overrule(first.text, first, turn)
        picked = settled is not None and settled.score >= NUMBERED
        fixed = None if picked else self.exchange.contrasts(first, self.language) or correction(first, self.language)
        by = likely(first.text, USER, self.language, around)
        if (judged and judged.kind in (PREFERENCE, PATTERN)) or max(by[kind] for kind in (TASK, PREFERENCE, PATTERN, CONTEXT)) > SURELY:
            return False
        if fixed:
            brief = len(content(first.text, self.language)) <= BRIEF
            if self._settle(fixed, turn, heard, corrects=True) and brief and self.explained is not None:
                self.found.instead(self.explained, self.exchange.repeated())
            return True
        if settled:
            if judged and judged.kind == DECISION and not (settled.detail or settled.context):
                return False  # it tells by itself
            self._settle(settled, turn, heard)
            return True
        if alone and judged is None and fresh and heard is not None and heard.first[DECISION] >= SETTLES:
            self._perhaps(first, turn, heard)  # `let's go with that` says more than yes
        return alone

    def _rest_of_answer(self, said: list[Sentence], begin: int, turn: Turn, before: int) -> None:
        """What a user adds to an answer is its reason, where it is nothing else."""
        made = self.found.all[-1] if len(self.found.all) > before else None
        if made is None or begin == 0 or begin >= len(said) or made.kind != DECISION or made.detail:
            return
        more = said[begin]
        if not rules.asks(more.text, self.language) and rules.judged(more, turn.role, self.language) is None and len(more.text) < 160:
            made.detail = more.text

    def _settle(self, settled: Settled, turn: Turn, heard: Heard | None, *, corrects: bool = False) -> bool:
        """Take what an answer settles; whether it does."""
        own = heard is not None and not settled.offer and settled.score < NUMBERED  # it is told in the user's words
        by = heard.first if heard is not None and own else likely(settled.text, turn.role, self.language)
        if settled.kind == DECISION and max(by[ERROR], by[CONTEXT], by[TASK]) > max(0.4, by[DECISION]):
            return False  # it answers, and tells something else
        if settled.offer:  # what is agreed to is judged, not the yes
            heard = next(
                (one for one in islice(reversed(self.listening.all), FAR) if one.role != USER and one.text == settled.offer), heard
            )
        self.explained = self.found.add(settled.kind, settled.text, turn, settled.score, detail=settled.detail, heard=heard)
        if self.explained is not None:
            self.explained.answer, self.explained.corrects = True, corrects
            if not corrects:
                self._in_context(self.explained, settled.context)
        return self.explained is not None

    def _picked(self, sentence: Sentence, turn: Turn, heard: Heard | None) -> bool:
        """Take a choice from the agent's options that comes after other words; whether it is one."""
        if sentence.box or rules.labelled(sentence.text) or rules.asks(sentence.text, self.language):
            return False
        picked = self.exchange.numbered(sentence.text, self.language)
        if picked is None:
            return False
        judged = rules.judged(sentence, turn.role, self.language)
        return (judged is None or judged.kind == DECISION) and self._settle(picked, turn, heard)

    def _goes_on(self, sentence: Sentence, turn: Turn) -> bool:
        """Take what a point says after its first sentence, where its heading or a marker told what it is, and the reason after a marked one; whether it explains it."""
        made, text = self.explained, sentence.text
        if (
            self.named is not None
            and (sentence.point or self._document(turn))
            and not (sentence.opens or sentence.box or rules.labelled(text))
        ):
            self.named.note(text, turn.line)
            return True
        self.named = None
        if made is None or not made.marker or sentence.box or rules.labelled(text) or rules.asks(text, self.language):
            return False
        named = _REASON.match(text)
        reason = cues(self.language).find("general", "reason", text)
        more = not sentence.opens and (sentence.point or self.reasoning)
        if not (named or more or (reason and not reason.start() and not made.detail)):
            return False
        self.reasoning = named is not None or (self.reasoning and not sentence.opens)
        other = rules.judged(replace(sentence, point=False, heading="", lead=""), USER, self.language)
        if other is not None and other.kind != made.kind and not (named or self.reasoning):
            return False
        made.detail = f"{made.detail} {text[named.end() :] if named else text}".strip()[:DETAIL]
        return True

    def _sentence(self, sentence: Sentence, turn: Turn, role: str, around: Around | None, heard: Heard | None) -> None:
        here = cues(self.language)
        text = sentence.text
        if turn.role == USER and not sentence.first and overruled(text, self.language, first=False):
            self.found.overrule(text, sentence, turn)
        elif here.find("overrule", "undo", text):
            self.found.undo(text, least=1 if turn.role == USER else 2)
        self.seen += 1
        below = self.sections.refused if self._document(turn) else ""
        if dropped(sentence, below) or (rules.options(sentence) and not rules.labelled(text)):
            self.explained = None
            return
        deep = self.seen <= DEEP
        said = weighed(rules.judged(sentence, role, self.language), text, role, self.language, around, deep=deep)
        if turn.side and (said is None or not said.marker or sentence.box):
            return
        if said and said.kind == ERROR:
            self.named = self.errors.named(said.text, turn, self.language, self.found.order)
            self.found.order += 1
            self.explained = None
            return
        if said is None or not said.marker:
            fixing = rules.fixing(text)
            if fixing is not None:
                if not self.errors.fixed(fixing, turn, self.language) and self.explained is not None:
                    self.explained.detail = self.explained.detail or fixing
                return
            faults = here.find("error", "stated", text) and not here.find("error", "not", text)
            known = said is not None and (
                likely(text, role, self.language, around)[said.kind] > SURELY
                or said.kind in (PREFERENCE, TASK)
                or (said.kind == DECISION and said.score >= rules.SURE and not faulty(text, role, self.language, around, deep=deep))
                or (
                    said.kind in (PATTERN, CONTEXT)
                    and turn.role == USER
                    and (not faults or likely(text, role, self.language, around)[said.kind] > 0.9)
                )
                or (said.kind == PATTERN and not faults)
            )
            told = not known and self.errors.said(
                sentence, turn, self.language, self.found.order, faulty(text, role, self.language, around, deep=deep), heard
            )
            if told and (
                said is None or said.kind in (CONTEXT, DONE, PATTERN) or likely(text, role, self.language, around)[said.kind] < 0.8
            ):
                self.found.order += 1
                self.explained = None
                return
        if said is None and role == USER and not sentence.first and not turn.side:
            later = self.exchange.put_off(sentence, self.language)
            if later:
                self._settle(later, turn, heard)
                return
        if said is None:
            # the sentence after a decision may tell its reason
            if (
                self.explained is not None
                and not self.explained.detail
                and here.find("general", "reason", text)
                and not rules.asks(text, self.language)
            ):
                self.explained.detail = text[:DETAIL]
            self.explained = None
            return
        if said.kind == DONE and not said.marker and role == ASSISTANT and turn.tool != "commit":
            return  # what was done is told by the agent's last words of a piece of work
        if (
            role == ASSISTANT
            and not said.marker
            and said.kind in (PREFERENCE, DECISION, PATTERN)
            and here.find("exchange", "acknowledge", text)
        ):
            return
        if (
            said.kind == TASK
            and not said.marker
            and role == USER
            and self.counts.asked == 1
            and here.find("exchange", "request", text)
            and turn.at
            and likely(text, role, self.language, around)[TASK] < SURELY
        ):
            return  # what the session is about
        listed = sentence.point or said.marker or said.kind != DECISION
        chosen = None if listed else self.exchange.numbered(text, self.language, written=True)
        if chosen is not None:  # `we go with C`
            self.explained = self.found.add(DECISION, chosen.text, turn, said.score, detail=chosen.detail, heard=heard)
            if self.explained is not None:
                return
        parts = rules.listed(said.text, self.language) if said.kind == TASK else ()
        whole = said.text
        if said.kind == TASK and role == USER and not said.marker and not parts and self._points(whole):
            whole = self.exchange.about(whole, self.language, last=True)
        for part in parts or (whole,):
            self.explained = self.found.add(said.kind, part, turn, said.score, marker=said.marker, heard=heard, part=bool(parts))
            if role == USER and (said.score < rules.SURE or len(content(text, self.language)) < SHORT_ANSWER):
                self._in_context(self.explained)

    def _perhaps(self, sentence: Sentence, turn: Turn, heard: Heard | None) -> None:
        """Keep a sentence that may turn out to teach something."""
        if heard is None or turn.side or turn.marked or len(sentence.text) > rules.LONGEST:
            return
        kind = max(COUNTS, key=lambda one: heard.first[one])
        here = cues(self.language)
        faults = here.find("error", "stated", sentence.text) and not here.find("error", "not", sentence.text)
        if heard.first[kind] < PERHAPS or (kind == DECISION and faults):
            return
        text = rules.stripped(sentence.text, self.language)
        size = len(content(text, self.language))
        points = kind == TASK and self._points(text)
        if turn.role == USER and (size < SHORT_ANSWER or points):
            whole = self.exchange.about(text, self.language, last=points)
            if whole == text and size < (1 if kind == DECISION and self.exchange.answering else 2):
                return
            text = whole
        made = self.found.add(kind, text, turn, WEAK, heard=heard, weak=True)
        if turn.role == USER:
            self._in_context(made)

    def _in_context(self, made: Candidate | None, context: str = "") -> None:
        """Note what the agent had said that a user's words are about."""
        if made is not None and not made.context:
            made.context = context or self.exchange.context(made.text, self.language)

    def _points(self, text: str) -> bool:
        """Say whether a task is told by pointing at it: `do that on Monday`."""
        size = len(content(text, self.language))
        return size < SHORT_ANSWER - 1 or (size < POINTING and bool(cues(self.language).find("exchange", "refers", text)))

    def _close(self) -> None:
        """A piece of work is over: the agent's last words tell what was done."""
        closing, self.closing = self.closing, []
        changed, self.changed = self.changed, False
        ordered, self.ordered = self.ordered, []
        if not closing or self.failing:
            self.failing = False
            return
        if changed:
            for one in ordered:
                one.gone = True
            for last in closing:
                text = last.sentence.text
                if not rules.asks(text, self.language) and not cues(self.language).find("task", "sure", text):
                    self.found.did(content(text, self.language))
        told = done(closing, self.language, changed=changed, deep=self.seen <= DEEP) if changed or not self.tools else []
        for text, turn, score, heard in told:
            self.found.add(DONE, text, turn, score, heard=heard)

    def ended(self, limit: int, known: Callable[[str], bool] | None) -> Extract:
        """Return what was found."""
        self._close()
        alone = not self.exchange.said
        self.listening.judge(alone=alone)
        for told in self.faults.told(self.errors.told(), self.errors.passed()):
            words = content(f"{told.text} {told.detail}", told.language)
            self.found.all.append(
                Candidate(
                    ERROR, told.text[:TEXT], told.detail[:DETAIL], told.at, told.line, told.last, told.files, told.role,
                    told.score, told.order, words, told.born, False, told.marker,
                )
            )  # fmt: skip
        for one in self.found.all:
            one.gone = one.gone or (one.kind != ERROR and not stands_still(self.landed.get(plain(one.text), ())))
            if alone and one.kind == CONTEXT and one.score < rules.SURE and not (one.marker or one.marked):
                one.gone = True  # a document tells much that is so for a day
            announced = alone and not one.weak and one.score >= rules.SURE  # and nobody was heard to object
            if one.heard is not None and not (one.gone or one.marker or one.marked or one.listed or announced):
                stands(one, one.heard)
        for one in self.found.all:
            if one.gone and one.over is not None and one.over.fell:  # what took its place was nothing
                one.gone = False
                if one.heard is not None and not (one.marker or one.marked or one.listed):
                    stands(one, one.heard)
        alive = sorted((one for one in self.found.all if not one.gone), key=lambda one: (not one.marked, -one.score, -one.order))
        kept = distinct(alive[: max(4 * limit, sum(one.marked for one in alive))])
        if known is not None:
            kept = [one for one in kept if one.marked or not known(one.text)]
        best = sorted(kept, key=lambda one: (not one.marked, -one.score, -one.order))[: max(limit, sum(one.marked for one in kept))]
        retold = Retold(self.listening.all)
        apart = {plain(one.text) for one in best}
        left = [plain(one.text) for one in best if one.kind == TASK and len(one.words) > 2]
        for one in best:
            news = one.context and covered(content(one.context, self.language), content(one.text, self.language)) < SAID_SO
            quoted = (
                [one.context] if one.kind in (DECISION, TASK) and news and not one.detail else []
            )  # the agent's words, not the user's reason
            if one.kind == DECISION and one.role == USER and one.heard is not None and not (one.marked or one.marker):
                quoted = retold.around(one.heard, f"{one.text} {one.detail}", " ".join(quoted))
            one.detail = with_quotes(one.detail, [part for part in quoted if not any(task in plain(part) for task in left)])
        for one in best:
            one.detail = "" if plain(one.detail.strip("“”")) in apart else one.detail  # it is an item of its own
        items = tuple(
            Item(
                one.kind, one.text, one.detail, one.at, (one.line, max(one.line, one.last)) if one.line else (0, 0), one.files, one.role,
                round(sure, 2), sure >= CERTAIN[one.kind], one.marked, one.commit,
            )
            for one in sorted(best, key=lambda one: one.order)
            for sure in (confidence(one),)
        )  # fmt: skip
        facts = {
            "turns": self.counts.turns, "asked": self.counts.asked, "tokens": self.counts.tokens,
            "files": [path for path, _ in self.counts.files.most_common(FILES)], "commits": self.counts.commits,
        }  # fmt: skip
        return Extract(items, self.topics.best(), facts=facts)
