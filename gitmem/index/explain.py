"""Why a search found a record: the part of its text that fits best, and which words are where.

FTS5 marks words by reading every column of a hit again, and the index stores none of them. Here the
stems of the query are looked for in the texts of the hits. Standard library only.
"""

from bisect import bisect_right

from gitmem.base.fast import Lazy
from gitmem.index.filters import BESIDE, is_only_beside, marks
from gitmem.index.neighbours import HEADS, is_telling, near_of
from gitmem.text.porter import stem
from gitmem.text.tokenizer import fold, parts, tokens, unfold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from gitmem.base.fast import sqlite

    Span = tuple[int, int, int]  # where words are that match, and which part of the query
    Head = tuple[str, str]  # title and beginning of a neighbour

SHOWN = 18  # words of a text
NAMED = 4  # words that a reason names of a column
LONGEST = 20_000  # characters of a text, around a match, of which a part is shown
LONG_WORD = 120  # characters of a word that are shown
MOST = 64  # places in a text that may begin the part that is shown
_OPEN, _CLOSE = "\x02", "\x03"
_SEAM = "\u200b"  # between letters of scripts that write no spaces (`text.tokenizer.fold`)
_WIDE_SEAM = _SEAM + " "  # so that these letters are words of their own
_APART = "\n\x01\n"
_TERM = Lazy(r'"([^"]*)"( \*)?')
# words of a text in small letters without accents; the second with marks of fold and the like
_WORD = Lazy("[a-z0-9]+")
_ANY_WORD = Lazy("(?:[^\\W_]|[\u0300-\u0331])+")
_MARKS = Lazy("[\u0300-\u0331]")
_COMBINING = dict.fromkeys(range(0x300, 0x332))


class _Letters(dict[int, str]):
    """Small letters without accents, one for each letter, so that places stay what they are."""

    def __missing__(self, code: int) -> str:
        from unicodedata import combining, normalize

        letters = normalize("NFD", chr(code))
        accented = all(map(combining, letters[1:]))
        small = letters[0].lower() if accented else chr(code).lower()
        self[code] = small if len(small) == 1 else chr(code)
        return self[code]


_LETTERS = _Letters()


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LETTERS)


class Term:
    """One part of a query: a word, words in a row, or the beginning of a word."""

    def __init__(self, text: str, *, is_prefix: bool) -> None:
        words = _ANY_WORD.findall(_plain(text))
        self.stems = [stem(word.translate(_COMBINING)) for word in words]
        self.is_prefix = is_prefix
        # every word with this stem begins so: the algorithm replaces no more than the last letter
        self.head = (self.stems[0][:-1] or self.stems[0]) if words else ""

    def end(self, text: str, at: int) -> int:
        """Return where this ends that begins at a place of a plain text; 0 if it does not."""
        word = _ANY_WORD if not text.isascii() else _WORD
        for number, wanted in enumerate(self.stems):
            match = word.search(text, at) if number else word.match(text, at)
            if match is None or not self._fits(match[0], wanted):
                return 0
            at = match.end()
        return at

    def _fits(self, word: str, wanted: str) -> bool:
        own = stem(word if word.isascii() else word.translate(_COMBINING))
        return own == wanted or (self.is_prefix and own.startswith(wanted))

    def spans(self, text: str, words: "Sequence[int] | None" = None) -> "Iterator[tuple[int, int]]":
        """Yield where this is in a plain text; `words` are the starts of all, or None."""
        for at in self._starts(text) if words is None else words:
            end = self.end(text, at)
            if end:
                yield at, end

    def _starts(self, text: str) -> "Iterator[int]":
        """Yield where words begin that may have the first stem."""
        at = text.find(self.head)
        while at >= 0:
            if not at or not text[at - 1].isalnum():
                yield at
            at = text.find(self.head, at + 1)


def _starts_of_words(text: str) -> "list[int] | None":
    """Return where words begin in a text with marks inside words, which hide how they begin."""
    if text.isascii() or not _MARKS.search(text):
        return None
    return [match.start() for match in _ANY_WORD.finditer(text)]


def terms_of(query: str) -> "list[Term]":
    """Return the parts of a query of `match_query`."""
    terms = [Term(match[1], is_prefix=bool(match[2])) for match in _TERM.finditer(query)]
    return [term for term in terms if term.stems]


def explain(db: "sqlite.Connection", query: str, asked: str, hits: "list[dict[str, Any]]") -> None:
    """Give hits their `snippet` and `reason`.

    What only stands beside the words comes last; alone it is no answer.
    """
    rows = _texts(db, [hit["n"] for hit in hits])
    terms = terms_of(query)
    own = Pieces([piece for hit in hits for piece in _pieces_of(hit, rows[hit["n"]])], terms)
    lacking = [own.lacking(4 * at, terms) for at in range(len(hits))]
    lackers = [hit["n"] for hit, lacks in zip(hits, lacking, strict=True) if lacks]
    heads = _heads_beside(db, {number: rows[number][2] for number in lackers})
    wanted = ", ".join(tokens(asked)[:NAMED])
    for at, (hit, lacks) in enumerate(zip(hits, lacking, strict=True)):
        shown, reasons = _own_reasons(own, 4 * at)
        if lacks:
            beside = heads[hit["n"]]
            reasons += _reasons_beside(own.pieces[4 * at], rows[hit["n"]][0], beside, lacks)
        hit["snippet"], hit["reason"] = unfold(shown), "; ".join(reasons) or wanted
    telling = [hit for hit in hits if not is_only_beside(hit)]
    hits[:] = telling and telling + [hit for hit in hits if is_only_beside(hit)]


def _heads_beside(db: "sqlite.Connection", rows: "dict[int, Any]") -> "dict[int, list[Head]]":
    """Return {number: titles and beginnings of its neighbours} of some rows."""
    beside = {number: near_of(number, near) for number, near in rows.items()}
    heads = _heads(db, list({n for near in beside.values() for n in near}))
    return {number: [heads[n] for n in near if n in heads] for number, near in beside.items()}


def _texts(db: "sqlite.Connection", numbers: "list[int]") -> "dict[int, tuple[str, str, Any]]":
    """Return {number: (body, anchors, neighbours)} of some rows."""
    sql = (
        "SELECT n, t.body, t.anchors, b.near FROM texts t JOIN beside b USING (n) "
        f"WHERE n IN ({marks(numbers)})"
    )
    return {n: (body, anchors, near) for n, body, anchors, near in db.execute(sql, numbers)}


def _pieces_of(hit: "dict[str, Any]", row: "tuple[str, str, Any]") -> "tuple[str, str, str, str]":
    """Return the texts of a hit that are looked through: title, body, tags, anchored code."""
    body, anchors, _ = row
    body = body.replace(_SEAM, _WIDE_SEAM)
    return fold(hit["title"]), body, fold(" ".join(hit["tags"])), anchors


def _heads(db: "sqlite.Connection", numbers: "list[int]") -> "dict[int, Head]":
    rows = db.execute(HEADS.format(marks(numbers)), numbers) if numbers else ()
    return {n: (fold(title), begin) for n, title, begin in rows}


class Pieces:
    """Texts that are looked through as one, and where the parts of a query are in each."""

    def __init__(self, pieces: "Sequence[str]", terms: "Sequence[Term]") -> None:
        self.pieces = pieces
        self.spans: list[list[Span]] = [[] for _ in pieces]
        starts = [0]
        for piece in pieces[:-1]:
            starts.append(starts[-1] + len(piece) + len(_APART))
        text = _plain(_APART.join(pieces))
        words = _starts_of_words(text)
        for number, term in enumerate(terms):
            for start, end in term.spans(text, words):
                place = bisect_right(starts, start) - 1
                at = starts[place]
                if end - at <= len(pieces[place]):
                    self.spans[place].append((start - at, end - at, number))
        self.spans = [_merged(spans) if spans else spans for spans in self.spans]

    def words(self, piece: int) -> "list[str]":
        """Return the words of a piece that match, each once."""
        text = self.pieces[piece]
        return _distinct(text[start:end] for start, end, _ in self.spans[piece])

    def lacking(self, at: int, terms: "Sequence[Term]") -> "list[Term]":
        """Return the parts of the query that four pieces do not have."""
        has = {number for spans in self.spans[at : at + 4] for *_, number in spans}
        return [term for number, term in enumerate(terms) if number not in has]


def _own_reasons(own: Pieces, at: int) -> "tuple[str, list[str]]":
    """Return what is shown of a record's text, and which words are where in the record itself."""
    shown = snippet(own.pieces[at + 1], own.spans[at + 1]).replace(_WIDE_SEAM, _SEAM)
    inside = _distinct(part.partition(_CLOSE)[0] for part in shown.split(_OPEN)[1:])
    columns = [("title", own.words(at))] if own.spans[at] else []
    columns.append(("text", inside))
    for number, name in ((2, "tags"), (3, "code")):
        if own.spans[at + number]:
            columns.append((name, own.words(at + number)))
    return shown, _reasons(columns)


def _reasons_beside(
    title: str, body: str, beside: "Sequence[Head]", lacks: "Sequence[Term]"
) -> "list[str]":
    """Return which of the words that a record lacks its names have, and its neighbours."""
    names = parts(f"{title} {body}")
    titles = [title, *(head[0] for head in beside)]
    texts = [f"{head[0]} {head[1]}" if is_telling(head, titles) else head[1] for head in beside]
    near = Pieces((names, *texts), lacks)
    words = dict.fromkeys(word for piece in range(len(near.pieces)) for word in near.words(piece))
    own = set(names.lower().split())
    return _reasons(
        (
            ("names", [word for word in words if word in own]),
            (BESIDE, [word for word in words if word not in own]),
        )
    )


def _reasons(columns: "Iterable[tuple[str, Sequence[str]]]") -> "list[str]":
    return [f"{', '.join(words[:NAMED])} in {name}" for name, words in columns if words]


def _distinct(words: "Iterable[str]") -> "list[str]":
    return list(dict.fromkeys(unfold(word.lower()) for word in words))


def _merged(spans: "list[Span]") -> "list[Span]":
    """Return spans in order, as one where they overlap."""
    if len(spans) < 2:
        return spans
    out: list[Span] = []
    for start, end, term in sorted(spans):
        if out and start < out[-1][1]:
            first, last, other = out[-1]
            out[-1] = first, max(last, end), other
        else:
            out.append((start, end, term))
    return out


def snippet(text: str, spans: "Sequence[Span]") -> str:
    """Return the part of a text with the most of a query, what matches between marks.

    It has `SHOWN` words. Another part of the query counts 1000, a repeated one 1; the beginning of
    a sentence counts 100, that of the text 120.
    """
    cut = max(0, spans[0][0] - LONGEST // 2) if spans and len(text) > LONGEST else 0
    inside = [span for span in spans if cut <= span[0] and span[1] <= cut + LONGEST]
    words = _with_marks(text[cut : cut + LONGEST], cut, inside).split()
    first = _best_start(words, _places(text[cut:], cut, inside)) if len(words) > SHOWN else 0
    shown = " ".join(words[first : first + SHOWN])
    if len(shown) > SHOWN * LONG_WORD // 4:
        shown = " ".join(map(_shortened, words[first : first + SHOWN]))
    before = "…" if first or cut else ""
    after = "…" if first + SHOWN < len(words) or cut + LONGEST < len(text) else ""
    return f"{before}{_balanced(shown) if inside else shown}{after}"


def _places(text: str, cut: int, spans: "Sequence[Span]") -> "list[tuple[int, int]]":
    """Return in which word each span is, and which part of the query it is."""
    out: list[tuple[int, int]] = []
    number = at = 0
    for start, _, term in spans:
        before = text[at : start - cut]
        number += len(before.split()) - (not before[-1:].isspace() and bool(before))
        at = start - cut
        out.append((number, term))
    return out


def _with_marks(text: str, cut: int, spans: "Sequence[Span]") -> str:
    out: list[str] = []
    at = 0
    for start, end, _ in spans:
        out += (text[at : start - cut], _OPEN, text[start - cut : end - cut], _CLOSE)
        at = end - cut
    return "".join([*out, text[at:]])


def _shortened(word: str) -> str:
    if len(word) <= LONG_WORD:
        return word
    at = max(0, word.find(_OPEN) - LONG_WORD // 2)
    return f"{word[at : at + LONG_WORD]}…"


def _balanced(shown: str) -> str:
    """Return a part of a text whose marks may begin before or end after it, with both of each."""
    close, begin = shown.find(_CLOSE), shown.find(_OPEN)
    if close >= 0 and not 0 <= begin < close:
        shown = _OPEN + shown
    return shown + _CLOSE if shown.count(_OPEN) > shown.count(_CLOSE) else shown


def _best_start(words: "Sequence[str]", places: "Sequence[tuple[int, int]]") -> int:
    """Return the number of the word that the shown part begins with."""
    best, first = 0, 0
    for at, _ in places[:MOST]:
        for score, start in _candidates(words, places, at):
            if score > best:
                best, first = score, start
    return first


def _candidates(
    words: "Sequence[str]", places: "Sequence[tuple[int, int]]", at: int
) -> "Iterator[tuple[int, int]]":
    """Yield (score, first word) of the parts that a match at a word may be shown in."""
    inside = _shown_from(places, at)
    middle = at - (SHOWN - (inside[-1][0] + 1 - at)) // 2
    yield _score(inside), max(0, min(middle, len(words) - SHOWN))
    start = _sentence(words, at)
    if start < at:
        yield _score(_shown_from(places, start)) + (100 if start else 120), start


def _shown_from(places: "Sequence[tuple[int, int]]", at: int) -> "list[tuple[int, int]]":
    return [place for place in places if at <= place[0] < at + SHOWN]


def _score(places: "Sequence[tuple[int, int]]") -> int:
    terms = {term for _, term in places}
    return 999 * len(terms) + len(places)


def _sentence(words: "Sequence[str]", at: int) -> int:
    """Return the number of the word that the sentence of another one begins with, if it is near."""
    for number in range(at, max(at - SHOWN, 0), -1):
        if words[number - 1][-1] in ".:":
            return number
    return 0 if at < SHOWN else at
