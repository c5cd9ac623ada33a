"""What a session says of things that were so: that they are not any more, or are something else.

The phrases are data (`gitmem/extraction/data`, section `change`). What asks, supposes, quotes or
tells of others says nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gitmem.extraction import extractor, guards
from gitmem.extraction.phrases import PhraseMatch, language_data, language_of, tokenized
from gitmem.extraction.sentences import sentences
from gitmem.records.items import (
    DECISION,
    ENDED,
    KEPT,
    PATTERN,
    PREFERENCE,
    REPLACED,
    REVISED,
    TASK,
    Extract,
    Item,
    SpokenChange,
    plain,
)
from gitmem.text.revision import VALUE, content, is_named, is_revised, remainder
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

MOST = 400  # changes of one session
SENTENCES = 40  # of a turn, the last, that a later one may point at
LAST = 2  # of these that are meant where nothing else is said
# lists of phrases that stand beside a name; the first counts if the user says it
NAMING = ("drops_user", "keeps", "drops", "moves", "gone")
WORDS = 8  # telling words that name one thing, at most
REVISABLE = (DECISION, PREFERENCE, PATTERN, TASK)
_NAME = re.compile(r"`([^`\s]{1,60})`")
_SEPARATORS = frozenset(", ; : . ! — – - ( )".split())
_AND = frozenset("and but so e mas y pero then".split())


class ChangeReader:
    """Reads the turns of a session on their way to somebody else."""

    def __init__(self) -> None:
        self.changes: list[SpokenChange] = []
        self._before: list[str] = []  # the sentences of the turn before, the last first
        self._language = "en"
        self._drafting = self._agent_spoke = False

    def watch(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Yield turns, and take what they say."""
        for turn in turns:
            speaks = turn.role in (USER, ASSISTANT) and turn.tool != "commit" and not turn.side
            if speaks and turn.text and len(self.changes) < MOST:
                self._take(turn)
            yield turn

    def _take(self, turn: Turn) -> None:
        self._language = language_of(turn.text, self._language)
        said = list(sentences(turn.text))
        if turn.role == USER:
            self._drafting = guards.asks_for_text(said, self._language)
            said = list(guards.own_words(said, turn.text, self._language))
        is_document = not (turn.at or self._agent_spoke)
        self._agent_spoke |= turn.role == ASSISTANT
        if not is_document and not (self._drafting and turn.role == ASSISTANT):
            message = _Message(
                turn, [statement.text for statement in said], self._language, self._before
            )
            self.changes += message.changes()
        self._before = [statement.text for statement in said[-SENTENCES:]][::-1]


class _Message:
    """What one turn says."""

    def __init__(
        self, turn: Turn, texts: Sequence[str], language: str, before: Sequence[str]
    ) -> None:
        self._turn, self._language = turn, language
        self._texts = [_NAME.sub(r"\1", text) for text in texts]
        self._before = before
        self._points = any(map(self._is_pointing, self._texts))

    def _has(self, name: str, text: str) -> bool:
        return self._find(name, tokenized(text)) is not None

    def _is_pointing(self, text: str) -> bool:
        """Return whether a text takes back what it only points at: `forget that`."""
        parts = (part.strip(" ,;:.!") for part in _clauses(text, self._language))
        return any(self._has("points", f"{part} $") for part in parts)

    def _find(self, name: str, said: str) -> PhraseMatch | None:
        return language_data(self._language).phrases("change", name).search(said)

    def changes(self) -> Iterator[SpokenChange]:
        """Yield what the sentences say has changed."""
        ended: SpokenChange | None = None
        for number, text in enumerate(self._texts):
            made = self._change(number, text)
            # `Forget X. We use Y.`
            if made is None and ended and self._chooses(text) and self._counts(text):
                made, ended = replace(ended, what=REPLACED, new=text), None
            if ended:
                yield ended
            ended = made if made and made.what == ENDED and made.gone else None
            if made and not ended:
                yield made
        if ended:
            yield ended

    def _counts(self, text: str) -> bool:
        """Return whether a sentence says what its speaker means, as it is now."""
        said = tokenized(text)
        return not (
            guards.unfit(text, self._language)
            or guards.withheld(said, self._language)
            or guards.reported(said, self._language)
            or guards.depends(said, self._language)
            or guards.said_in("now", text, self._language)
        )

    def _change(self, number: int, text: str) -> SpokenChange | None:
        if not self._counts(text):
            return None
        made = SpokenChange("", text, at=self._turn.at, line=self._turn.line, role=self._turn.role)
        clauses = list(_clauses(text, self._language))
        for clause in clauses:
            if change := self._of_clause(clause, made):
                return self._with_new(change, [other for other in clauses if other != clause])
        if self._is_pointing(text) and not self._is_unsettled(text):
            return self._pointed(number, text, made)
        return None

    def _of_clause(self, clause: str, made: SpokenChange) -> SpokenChange | None:
        """Return what a clause takes back or keeps by name, revises, or denies."""
        said = tokenized(clause)
        for name in NAMING if self._turn.role == USER else NAMING[1:]:
            match = None if self._is_pointing(clause) else self._find(name, said)
            if match is None:
                continue
            before, after = _split(clause, said, match)
            if self._is_unsettled(before) or self._is_hearsay(clause, match.start, made.text):
                return None
            gone = self._gone(name, before, after)
            if _tells(gone):
                return _named(made, name, gone, before)
        return self._revised(clause, made) or self._denied(clause, made)

    def _gone(self, name: str, before: str, after: str) -> str:
        """Return what a clause names; empty where it is about something else."""
        if name == "gone":
            is_other = content(after) or self._find("closed", tokenized(before))
            return "" if is_other else before
        return self._until(after, "move_ends") if name == "moves" else after

    def _until(self, text: str, name: str) -> str:
        """Return a text up to a phrase, which must be there."""
        said = tokenized(text)
        match = self._find(name, said)
        return _split(text, said, match)[0] if match else ""

    def _revised(self, clause: str, made: SpokenChange) -> SpokenChange | None:
        values = [value.lstrip("v") for value in VALUE.findall(clause)]
        said = tokenized(VALUE.sub(" # ", clause))
        match = self._find("becomes", said)
        if match is None or said.count("#") > said[match.start : match.end].count("#"):
            return None
        if not 1 <= len(values) <= 2 or self._is_unsettled(clause):
            return None
        phrases = language_data(self._language).data
        words = content(" ".join([phrases["parts"]["revised"], *phrases["change"]["becomes"]]))
        subject = " ".join(
            token for token in VALUE.sub(" ", clause).split() if not content(token) & words
        )
        old = values[0] if len(values) == 2 else ""
        return replace(made, what=REVISED, gone=subject, new=made.text, values=(old, values[-1]))

    def _denied(self, clause: str, made: SpokenChange) -> SpokenChange | None:
        """Return that a clause denies something: `we do not use X any more`."""
        said = tokenized(clause)
        match = self._find("stops", said) or (self._points and self._find("not", said))
        if not match or self._is_pointing(clause):
            return None
        start, _ = _split(clause, said, match)
        if self._is_unsettled(start) or self._find("closed", tokenized(start)):
            return None
        before = () if self._find("stops", said) else self._meant(self._texts.index(made.text))
        return replace(made, what=ENDED, gone=self._without_not(clause), before=before)

    def _without_not(self, clause: str) -> str:
        said = tokenized(clause)
        match = self._find("not", said)
        return " ".join(_split(clause, said, match)) if match else clause

    def _pointed(self, number: int, text: str, made: SpokenChange) -> SpokenChange | None:
        before = self._meant(number)
        return replace(made, what=ENDED, before=before[:LAST]) if before else None

    def _meant(self, number: int) -> tuple[str, ...]:
        """Return what a sentence may point at: those of its message before it, or the turn's."""
        earlier = [text for text in self._texts[:number] if not self._is_pointing(text)]
        return tuple(earlier[::-1] or self._before)

    def _is_unsettled(self, before: str) -> bool:
        """Return whether the words before a phrase turn it round or leave it open."""
        said = tokenized(before)
        return bool(
            self._find("not", said)
            or self._find("unsettled", said)
            or guards.supposed(said, self._language)
        )

    def _is_hearsay(self, clause: str, start: int, text: str) -> bool:
        """Return whether somebody else is named who says what is at a place of a clause."""
        said = tokenized(text)
        return guards.is_hearsay(said, max(said.find(tokenized(clause)), 0) + start, self._language)

    def _chooses(self, clause: str) -> bool:
        said = tokenized(clause)
        chooses = self._find("chooses", said) and not self._find("not", said)
        return bool(chooses) and not self._is_pointing(clause)

    def _with_new(self, made: SpokenChange, others: Sequence[str]) -> SpokenChange:
        """Return a change with what another clause says holds instead."""
        if made.what != ENDED or not made.gone:
            return made
        new = next((other for other in others if self._chooses(other)), "")
        return replace(made, what=REPLACED, new=_sentence(new)) if new else made


def _named(made: SpokenChange, name: str, gone: str, before: str) -> SpokenChange:
    """Return a change by the list that its phrase is of; `before` stands before the phrase."""
    if name == "keeps":
        return replace(made, what=KEPT, gone=gone)
    if name == "moves" or (name == "drops_user" and before):
        return replace(made, what=REPLACED, gone=gone, new=made.text)
    return replace(made, what=ENDED, gone=gone)


def _clauses(text: str, language: str) -> Iterator[str]:
    """Yield the clauses of a sentence."""
    out: list[str] = []
    here = language_data(language)
    subjects, closed = here.phrases("change", "subjects"), here.phrases("change", "closed")
    for word in text.split():
        bare = word.strip(",;:.!()—–")
        opens = bare.lower() in _AND or word in _SEPARATORS
        speaks = len(out) > 1 and subjects.search(tokenized(bare))
        before = tokenized(" ".join(out))
        if out and (opens or (speaks and not (subjects.search(before) or closed.search(before)))):
            yield " ".join(out)
            out = []
        if not opens:
            out.append(word)
        if out and word[-1] in ",;:.!)—–":
            yield " ".join(out)
            out = []
    if out:
        yield " ".join(out)


def _split(text: str, said: str, match: PhraseMatch) -> tuple[str, str]:
    """Return what stands before and after a phrase in a text, in its own letters."""
    tokens = _spaced(text)
    start, end = len(said[: match.start].split()), len(said[: match.end].split())
    return " ".join(tokens[:start]).strip(" ,;:.!"), " ".join(tokens[end:]).strip(" ,;:.!")


def _spaced(text: str) -> list[str]:
    """Return the tokens of a text as phrases see them, in their own letters."""
    low, out, place = tokenized(text).split(), [], 0
    folded = text.replace("’", "'").lower()
    for token in low:
        at = folded.find(token, place)
        out.append(text[at : at + len(token)] if at >= 0 else token)
        place = at + len(token) if at >= 0 else place
    return out


def _tells(gone: str) -> bool:
    words = content(gone)
    return len(words) <= WORDS and any(not word.isdigit() for word in words)


def _sentence(text: str) -> str:
    text = text.strip(" ,;:—–-")
    return text[:1].upper() + text[1:] if text[:2].islower() else text


def extract(turns: Iterable[Turn]) -> Extract:
    """Return what turns taught by the offline rules, without what was taken back."""
    reader = ChangeReader()
    return revised(extractor.extract(reader.watch(turns)), reader.changes)


def revised(extract: Extract, changes: Sequence[SpokenChange]) -> Extract:
    """Return what a session taught, without what it takes back or replaces later."""
    items = list(extract.items)
    for change in changes:
        items = items if change.what == KEPT else list(_after(items, change))
    return replace(extract, items=tuple(items), changes=tuple(changes))


def _after(items: Sequence[Item], change: SpokenChange) -> Iterator[Item]:
    """Yield items as they are after a change, and what holds instead of one."""
    judged = [item for item in items if item.kind in REVISABLE and not item.marked]
    own = [item for item in judged if is_of(item, change)]
    gone = [
        item
        for item in judged
        if item not in own and 0 < item.lines[0] < change.line and fits(change, item.text)
    ]
    for item in items:
        if item in own:
            yield from [replace(item, text=change.new)] if change.new else ()
        elif item not in gone:
            yield item
        elif rest := remainder(change.gone, item.text):
            yield replace(item, text=rest)
    if gone and change.new and not own:
        yield item_of(change)


def is_of(item: Item, change: SpokenChange) -> bool:
    """Return whether an item is what the sentence of a change says."""
    return item.lines[0] == change.line and plain(item.text) in (
        *(plain(text) for text in (change.text, change.new)),
    )


def item_of(change: SpokenChange, kind: str = DECISION) -> Item:
    """Return what holds instead, as an item."""
    detail = change.text if plain(change.text) != plain(change.new) else ""
    lines = (change.line, change.line)
    return Item(kind, change.new, detail, change.at, lines, role=change.role)


def fits(change: SpokenChange, title: str) -> bool:
    """Return whether a change is about a statement, by the words that name it."""
    if change.what == REVISED:
        return is_revised(change.gone, *change.values, title)
    return bool(change.gone) and is_named(change.gone, title)
