"""What a session taught, found by rules alone.

The rules use cue phrases by language, markers, roles, and what was overruled and done. Extraction
takes one pass and bounded memory.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from gitmem.extraction.classify.linear_model import EDIT, FAIL, RUN, Around, Before, likely, weighed
from gitmem.extraction.classify.session_model import Heard, Listening
from gitmem.extraction.detect.errors import EDITORS, ErrorTracker, FailedTurn
from gitmem.extraction.detect.final_judgement import (
    CERTAIN,
    COUNTS,
    PERHAPS,
    POINTING,
    SHORT_ANSWER,
    WEAK,
    QuotedContext,
    confidence,
    stands,
    with_quotes,
)
from gitmem.extraction.detect.item_set import TEXT, Candidate, CandidateSet, distinct
from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence, last_heading, sentences
from gitmem.extraction.language.words import content, covered, language
from gitmem.extraction.rules import sentence_rules
from gitmem.extraction.rules.commit_messages import reverted, stands_still, taught
from gitmem.extraction.rules.dialogue import NUMBERED, Exchange, Settled, overruled
from gitmem.extraction.rules.sections import Sections, dropped
from gitmem.extraction.topics import Topics
from gitmem.records.items import (
    CONTEXT,
    DECISION,
    DONE,
    ERROR,
    PATTERN,
    PREFERENCE,
    TASK,
    Extract,
    Item,
    plain,
)
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn

LIMIT = 120  # items of one session
SURELY = 0.85  # how likely what is told is, for it to be told whatever else it may be
# sentences of a session that are weighed without a cue phrase in them; of more, those that have one
DEEP = 3_000
DETAIL = 500  # characters
FILES = 40
# how much of what an agent had said a decision may say itself, for it to be told beside
SAID_SO = 0.75
_REASON = re.compile(r"(?i)reason: +")
# of a marked turn that are looked at; how much of one an item must say for it to be told
MARKED_SENTENCES, TOLD_BY = 40, 0.6
MARKED_WORDS = 400  # characters of a marked turn that names no kind


def extract(
    turns: Iterable[Turn], *, limit: int = LIMIT, known: Callable[[str], bool] | None = None
) -> Extract:
    """Return what turns taught, at most `limit` items and all that is marked.

    `known` says of a text that it need not be told again.
    """
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
    return (
        replace(turn, line=turn.line + sentence.row, rows=False)
        if turn.rows and sentence.row
        else turn
    )


class _Session:
    def __init__(self) -> None:
        self.found = CandidateSet()
        self.errors = ErrorTracker()
        self.topics = Topics()
        self.exchange = Exchange()
        self.listening = Listening()
        self.before = Before()  # what was said last, and what tools were used for since
        self.drafting = False  # the user asked for a text, such as an e-mail
        self.counts = _Counts()
        self.language = "en"
        # what the text stands under, and the same without lines before a list
        self.heading = self.under = ""
        # subjects of commits: when they landed (1) and were taken back (-1)
        self.landed: dict[str, list[tuple[str, int]]] = {}
        self.role = ""
        self.seen = 0  # sentences
        self.explained: Candidate | None = None
        self.reasoning = False  # a reason is told, which goes on
        # the error that a marker or a heading named, whose point is read
        self.named: FailedTurn | None = None
        self.titled: FailedTurn | None = None  # the error that the last heading told
        self.sections = Sections()

    def take(self, turn: Turn) -> None:  # noqa: C901
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
        self.found.turn += 1
        self.language = self.found.language = language(turn.text, self.language)
        heading = last_heading(turn.text) or ("" if turn.at else sentence_rules.lead(turn.text))
        if (
            not heading
            and self.heading != self.under
            and self.titled is None
            and not turn.at
            and sentence_rules.breaks(turn.text)
        ):
            self.heading = self.under
            self.sections.breaks()
            return
        if heading:
            self.heading = heading
            self.under = heading if turn.text.lstrip().startswith("#") else self.under
            wrong = self.sections.heading(turn.text, heading, self.language)
            self.titled = (
                self.errors.named(wrong, turn, self.language, self.found.order)
                if wrong and self._document(turn)
                else None
            )
            if not turn.marked:
                return
        if not turn.side:
            self.topics.add(turn.text, self.language, 2.0 if turn.role == USER else 1.0)
        if turn.tool == "commit":
            self._committed(turn)
        else:
            self._said(turn)
        if turn.marked:
            self._rest_of_mark(turn)
        self.found.trim()

    def _rest_of_mark(self, turn: Turn) -> None:
        """Keep what is marked but is in no item.

        That is all of it, or the sentences beside those that are items.
        """
        mine = [one for one in self.found.all if one.marked and one.turn == self.found.turn]
        if not mine:
            text = sentence_rules.stripped(
                " ".join(turn.text.split())[:MARKED_WORDS], self.language
            )
            self.found.add(CONTEXT, text, turn, sentence_rules.MARKED, marked=True)
            return
        told = " ".join(f"{one.text} {one.detail}" for one in mine)
        for sentence in islice(sentences(turn.text), MARKED_SENTENCES):
            tongue = language(sentence.text, self.language)
            words = content(sentence.text, tongue)
            if words and covered(words, content(told, tongue)) < TOLD_BY:
                self.found.add(
                    CONTEXT,
                    sentence_rules.stripped(sentence.text[:MARKED_WORDS], tongue),
                    _line(turn, sentence),
                    sentence_rules.MARKED,
                    marked=True,
                )

    def _used(self, turn: Turn) -> None:
        used = (
            FAIL
            if turn.failed is True
            else EDIT
            if turn.files and turn.tool in EDITORS
            else RUN
            if turn.command
            else ""
        )
        if used:
            self.listening.tool(used)
        if used and used not in self.before.used:
            self.before = replace(self.before, used=self.before.used | {used})
        if turn.files and turn.tool in EDITORS and turn.failed is not True:
            self.counts.files.update(turn.files)
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

    def _said(self, turn: Turn) -> None:  # noqa: C901
        role = ASSISTANT if turn.side and turn.role == USER else turn.role
        said = list(sentences(turn.text, self.heading)) or list(
            sentences(turn.text.rstrip(":： "), self.heading)
        )
        texts = [one.text for one in said]
        document = self._document(turn)
        talk = not document and max(self.seen, len(self.listening.all)) + len(said) <= DEEP
        around = [
            Around(texts, n, role, self.language, self.before) if talk else None
            for n in range(len(said))
        ]
        heard: list[Heard | None] = [None] * len(said)
        if said and not turn.side:
            self.before = Before(texts[-1], role, self.language)
            if talk:
                first = [
                    likely(text, role, self.language, one)
                    for text, one in zip(texts, around, strict=True)
                ]
                heard = self.listening.turn(role, self.language, texts, first)
        if turn.role == USER and not turn.side:
            self.drafting = any(
                cues(self.language).find("exchange", "writing", one.text) for one in said[:3]
            )
        elif self.drafting and not turn.side:
            return  # a text that was asked for says what its author would say
        begin = 0
        if role == USER and not turn.side and said and not document:
            self.exchange.begins()
            for sentence in said[:2]:
                before = len(self.found.all)
                taken = self._answered(
                    sentence, _line(turn, sentence), around[sentence.place], heard[sentence.place]
                )
                begin += taken
                if not taken or len(self.found.all) > before:
                    break
            self.exchange.user()
        self.explained, self.reasoning, self.named = None, False, None
        if document and said and self._wrong(said, turn):
            return
        whole = turn
        for sentence in said[begin:]:
            turn = _line(whole, sentence)
            if self.seen > DEEP and not (
                sentence.box or turn.marked or sentence_rules.telling(sentence.text, self.language)
            ):
                continue
            if self._goes_on(sentence, turn):
                continue
            if (
                role == USER
                and not turn.side
                and talk
                and self._picked(sentence, turn, heard[sentence.place])
            ):
                continue
            before = len(self.found.all)
            mine = heard[sentence.place]
            if mine is not None and not turn.side and not turn.tool:
                self.errors.hear(mine, turn, self.found.order)
            elif mine is None and not turn.tool:
                self.errors.unheard(sentence.text, turn, self.language, self.found.order)
            self._sentence(sentence, turn, role, around[sentence.place], heard[sentence.place])
            if len(self.found.all) == before:
                self._perhaps(sentence, turn, heard[sentence.place])
        if role == ASSISTANT and not turn.side:
            self.exchange.agent(said, self.language)

    def _document(self, turn: Turn) -> bool:
        """Say whether a turn is of a text that somebody wrote down.

        One without times is a dialogue once an agent has spoken.
        """
        return not (turn.at or turn.tool or self.exchange.said)

    def _wrong(self, said: list[Sentence], turn: Turn) -> bool:
        """Take a paragraph, or a point, of a document that tells what was wrong and then why.

        Whether it is one.
        """
        if (
            said[0].box
            or turn.marked
            or (sentence_rules.labelled(said[0].text) and not sentence_rules.fixing(said[0].text))
        ):
            return False
        if (
            self.titled is None
            and self.sections.errors
            and cues(self.language).find("error", "not", said[0].text)
        ):
            return True  # `no known problems`
        if self.titled is None and not self.sections.wrong(
            said, self.language, named=turn.text.startswith(("**", "__"))
        ):
            return False
        about = self.titled or self.errors.named(
            sentence_rules.stripped(said[0].text, self.language),
            turn,
            self.language,
            self.found.order,
        )
        for sentence in said if self.titled else said[1:]:
            about.note(sentence_rules.fixing(sentence.text) or sentence.text, turn.line)
        self.found.order += 1
        return True

    def _answered(
        self, first: Sentence, turn: Turn, around: Around | None, heard: Heard | None
    ) -> bool:
        """Take what the first sentence of a user says to the agent's last words.

        Whether that is all it says.
        """
        judged = sentence_rules.judged(first, turn.role, self.language)
        settled, alone = self.exchange.answered(first, self.language)
        if sentence_rules.labelled(first.text) or first.box:
            return False
        overrules = first.first and overruled(first.text, self.language, first=True)
        if overrules:
            self.found.overrule(first.text, first, turn)
        by = likely(first.text, USER, self.language, around)
        if (judged and judged.kind in (PREFERENCE, PATTERN)) or max(
            by[kind] for kind in (TASK, PREFERENCE, PATTERN, CONTEXT)
        ) > SURELY:
            return False
        if settled:
            if judged and judged.kind == DECISION and not (settled.detail or settled.context):
                return False  # it tells by itself
            self._settle(settled, turn, heard)
            return True
        return alone

    def _settle(self, settled: Settled, turn: Turn, heard: Heard | None) -> bool:
        """Take what an answer settles; whether it does."""
        own = heard is not None and settled.score < NUMBERED  # it is told in the user's words
        by = (
            heard.first
            if heard is not None and own
            else likely(settled.text, turn.role, self.language)
        )
        if settled.kind == DECISION and max(by[ERROR], by[CONTEXT], by[TASK]) > max(
            0.4, by[DECISION]
        ):
            return False  # it answers, and tells something else
        self.explained = self.found.add(
            settled.kind, settled.text, turn, settled.score, detail=settled.detail, heard=heard
        )
        if self.explained is not None:
            self.explained.answer = True
            self._in_context(self.explained, settled.context)
        return self.explained is not None

    def _picked(self, sentence: Sentence, turn: Turn, heard: Heard | None) -> bool:
        """Take a choice from the agent's options that comes after other words.

        Whether it is one.
        """
        if (
            sentence.box
            or sentence_rules.labelled(sentence.text)
            or sentence_rules.asks(sentence.text, self.language)
        ):
            return False
        picked = self.exchange.numbered(sentence.text, self.language)
        if picked is None:
            return False
        judged = sentence_rules.judged(sentence, turn.role, self.language)
        return (judged is None or judged.kind == DECISION) and self._settle(picked, turn, heard)

    def _goes_on(self, sentence: Sentence, turn: Turn) -> bool:
        """Take what a point says after its first sentence, and the reason after a marked one.

        The heading of the point or a marker told what it is. Returns whether the sentence explains
        it.
        """
        made, text = self.explained, sentence.text
        if (
            self.named is not None
            and (sentence.point or self._document(turn))
            and not (sentence.opens or sentence.box or sentence_rules.labelled(text))
        ):
            self.named.note(text, turn.line)
            return True
        self.named = None
        if (
            made is None
            or not made.marker
            or sentence.box
            or sentence_rules.labelled(text)
            or sentence_rules.asks(text, self.language)
        ):
            return False
        named = _REASON.match(text)
        reason = cues(self.language).find("general", "reason", text)
        more = not sentence.opens and (sentence.point or self.reasoning)
        if not (named or more or (reason and not reason.start() and not made.detail)):
            return False
        self.reasoning = named is not None or (self.reasoning and not sentence.opens)
        other = sentence_rules.judged(
            replace(sentence, point=False, heading="", lead=""), USER, self.language
        )
        if other is not None and other.kind != made.kind and not (named or self.reasoning):
            return False
        made.detail = f"{made.detail} {text[named.end() :] if named else text}".strip()[:DETAIL]
        return True

    def _sentence(  # noqa: C901
        self, sentence: Sentence, turn: Turn, role: str, around: Around | None, heard: Heard | None
    ) -> None:
        here = cues(self.language)
        text = sentence.text
        if turn.role == USER and not sentence.first and overruled(text, self.language, first=False):
            self.found.overrule(text, sentence, turn)
        self.seen += 1
        below = self.sections.refused if self._document(turn) else ""
        if dropped(sentence, below) or (
            sentence_rules.options(sentence) and not sentence_rules.labelled(text)
        ):
            self.explained = None
            return
        deep = self.seen <= DEEP
        said = weighed(
            sentence_rules.judged(sentence, role, self.language),
            text,
            role,
            self.language,
            around,
            deep=deep,
        )
        if turn.side and (said is None or not said.marker or sentence.box):
            return
        if said and said.kind == ERROR:
            self.named = self.errors.named(said.text, turn, self.language, self.found.order)
            self.found.order += 1
            self.explained = None
            return
        if said is None or not said.marker:
            fixing = sentence_rules.fixing(text)
            if fixing is not None:
                if (
                    not self.errors.fixed(fixing, turn, self.language)
                    and self.explained is not None
                ):
                    self.explained.detail = self.explained.detail or fixing
                return
            if self.errors.said(text, turn, self.language) and (
                said is None or said.kind in (CONTEXT, DONE)
            ):
                self.found.order += 1
                self.explained = None
                return
        if said is None:
            self.explained = None
            return
        if (
            role == ASSISTANT
            and not said.marker
            and said.kind in (PREFERENCE, DECISION, PATTERN)
            and here.find("exchange", "acknowledge", text)
        ):
            return
        whole = said.text
        if said.kind == TASK and role == USER and not said.marker and self._points(whole):
            whole = self.exchange.about(whole, self.language, last=True)
        self.explained = self.found.add(
            said.kind, whole, turn, said.score, marker=said.marker, heard=heard
        )
        if role == USER and (
            said.score < sentence_rules.SURE or len(content(text, self.language)) < SHORT_ANSWER
        ):
            self._in_context(self.explained)

    def _perhaps(self, sentence: Sentence, turn: Turn, heard: Heard | None) -> None:
        """Keep a sentence that may turn out to teach something."""
        if heard is None or turn.side or turn.marked or len(sentence.text) > sentence_rules.LONGEST:
            return
        kind = max(COUNTS, key=lambda one: heard.first[one])
        here = cues(self.language)
        faults = here.find("error", "stated", sentence.text) and not here.find(
            "error", "not", sentence.text
        )
        if heard.first[kind] < PERHAPS or (kind == DECISION and faults):
            return
        text = sentence_rules.stripped(sentence.text, self.language)
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
        return size < SHORT_ANSWER - 1 or (
            size < POINTING and bool(cues(self.language).find("exchange", "refers", text))
        )

    def ended(self, limit: int, known: Callable[[str], bool] | None) -> Extract:
        """Return what was found."""
        alone = not self.exchange.said
        self.listening.judge(alone=alone)
        for told in self.errors.found():
            words = content(f"{told.text} {told.detail}", told.language)
            self.found.all.append(
                Candidate(
                    ERROR,
                    told.text[:TEXT],
                    told.detail[:DETAIL],
                    told.turn.at,
                    told.turn.line,
                    told.last,
                    told.files,
                    told.turn.role,
                    told.score,
                    told.order,
                    words,
                    told.born,
                    False,
                    told.marker,
                )
            )
        for one in self.found.all:
            one.gone = one.gone or (
                one.kind != ERROR and not stands_still(self.landed.get(plain(one.text), ()))
            )
            if (
                alone
                and one.kind == CONTEXT
                and one.score < sentence_rules.SURE
                and not (one.marker or one.marked)
            ):
                one.gone = True  # a document tells much that is so for a day
            # and nobody was heard to object
            announced = alone and not one.weak and one.score >= sentence_rules.SURE
            if one.heard is not None and not (
                one.gone or one.marker or one.marked or one.listed or announced
            ):
                stands(one, one.heard)
        alive = sorted(
            (one for one in self.found.all if not one.gone),
            key=lambda one: (not one.marked, -one.score, -one.order),
        )
        kept = distinct(alive[: max(4 * limit, sum(one.marked for one in alive))])
        if known is not None:
            kept = [one for one in kept if one.marked or not known(one.text)]
        best = sorted(kept, key=lambda one: (not one.marked, -one.score, -one.order))[
            : max(limit, sum(one.marked for one in kept))
        ]
        quoted_context = QuotedContext(self.listening.all)
        apart = {plain(one.text) for one in best}
        left = [plain(one.text) for one in best if one.kind == TASK and len(one.words) > 2]
        for one in best:
            news = (
                one.context
                and covered(content(one.context, self.language), content(one.text, self.language))
                < SAID_SO
            )
            # the agent's words, not the user's reason
            quoted = (
                [one.context] if one.kind in (DECISION, TASK) and news and not one.detail else []
            )
            if (
                one.kind == DECISION
                and one.role == USER
                and one.heard is not None
                and not (one.marked or one.marker)
            ):
                quoted = quoted_context.around(
                    one.heard, f"{one.text} {one.detail}", " ".join(quoted)
                )
            one.detail = with_quotes(
                one.detail,
                [part for part in quoted if not any(task in plain(part) for task in left)],
            )
        for one in best:
            # it is an item of its own
            one.detail = "" if plain(one.detail.strip("“”")) in apart else one.detail
        items = tuple(
            Item(
                one.kind,
                one.text,
                one.detail,
                one.at,
                (one.line, max(one.line, one.last)) if one.line else (0, 0),
                one.files,
                one.role,
                round(sure, 2),
                sure >= CERTAIN[one.kind],
                one.marked,
                one.commit,
            )
            for one in sorted(best, key=lambda one: one.order)
            for sure in (confidence(one),)
        )
        facts = {
            "turns": self.counts.turns,
            "asked": self.counts.asked,
            "tokens": self.counts.tokens,
            "files": [path for path, _ in self.counts.files.most_common(FILES)],
            "commits": self.counts.commits,
        }
        return Extract(items, self.topics.best(), facts=facts)
