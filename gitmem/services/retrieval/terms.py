"""What the words of a task say, and which records say the same.

A word counts by what it tells before any store is asked (`vocabulary`), by how few records have it,
and by where they have it: in the title or elsewhere. To their sum is added how much of the task,
and of the title, they are, and the small words of the title that are in the task too. Names of code
and quotes count more. Standard library only: the hot path imports this.
"""

import math
import re
from itertools import pairwise

from gitmem.services.retrieval.common_words import CONSIDERED, WORDS, CommonWord, most_together
from gitmem.services.retrieval.word_lists import (
    BRANDS,
    CHATTER,
    CJK_CHATTER,
    COMMON,
    LOOKS,
    ORDINARY,
    PLAIN_ERRORS,
    SAME,
    TOOLS,
    folded,
)
from gitmem.text.tokenizer import CJK, STOP, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from gitmem.index.reader import Index

    Row = dict[str, Any]
    # what it tells, the word, how to look for it, the name that it is a part of
    _Job = tuple[float, str, str, str]
    _Clause = tuple[set["_Term"], float, set[str]]

TERMS = 28  # words that are looked up
CLAUSES = 16  # sentences of a task that are looked at each
FAINT = 0.22  # evidence below which a record is not looked at
ENOUGH, STEP, LEAST, ENOUGH_OF_MANY = (
    2.42,
    0.3,
    2.1,
    2.55,
)  # evidence of words that is enough alone: of 100 records, more for e times as many
# records up to which those that may be told are counted; a larger store is one of many
COUNTED = 2000
# how much it counts that all of the task's words are there, and all of the title's
COVERED, TITLED = 1.0, 0.65
# how much a word adds that tells nothing alone, when it is in the title too: at most three do
SMALL = 0.6
# how much more when few records have it, in the title and elsewhere: at most two count in full each
RARE_TITLED, RARE = 0.5, 0.4
NUMBERED = 4  # small numbers that are looked up
SMALLS = 16  # such words that are looked up
HARMLESS = 0.7  # how much words for work on texts and looks speak against a match
MARKED = 0.5  # how much a word adds that the title has as an acronym or with a digit
# how much a word without rows speaks against a match when the task is in another language than the
# store
FOREIGN = 0.25
# how much a word counts outside of the title, and another word for the same thing
ELSEWHERE, OTHER = 0.7, 0.4
NAMED, EVERYDAY = 2.0, 0.7  # what a name of code tells, a word of everyday language
TOOL, COMPANY, PLAIN = 0.6, 0.5, 0.3  # a tool, a word that needs company, a class of error

WORD = re.compile(r"[^\W_]+")
PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
FRAME = re.compile(r'\s*(?:File "|at [\w.$<(/]|\d+ \||\d+:\s+0x|goroutine \d|\^+\s*$|~+\^)')
# begun at the start of a word alone: from each letter on, a word of 20,000 took 300 ms
_NAME = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:(?:[_.]|::|->)[A-Za-z0-9]++)+|(?<![a-z])[a-z]++[A-Z]\w*"
    r"|(?<![A-Z])[A-Z]++[a-z]++[A-Z]\w*"
)
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9]{2,}\b")
_MARK = re.compile(r"\b(?:[A-Z][A-Z0-9]+|\w*[A-Za-z]\d\w*|\d+[A-Za-z]\w*|\w*[a-z][A-Z]\w*)\b")
_SENTENCE = re.compile(r"[.;?!]\s+|\n+|[。;?!]")
_URL = re.compile(r"[a-z][a-z0-9+.-]{0,20}://\S+")
_QUOTE = re.compile("(?<![\\w])[\"'`“«「]([^\"'`“”«»「」\n]{12,160})[\"'`”»」](?![\\w])")
_ENDS = frozenset(
    "py js jsx ts tsx mjs go rs java kt rb php c cc cpp h cs md json yaml yml toml html css sh "
    "sql txt".split()
)  # of files: those are looked up as files
_RUN = re.compile(f"[{CJK}]+")
_LATIN = re.compile(r"[a-z]{3,}|[0-9]{3,}")
_ROMANCE = frozenset(
    "o os um uma de da dos das em na nos nas para por com que nao como el la los las un y en "
    "del al con se su una ao ou".split()
)


class _Term:
    """A word, a name or a pair of characters of the task, and the rows that have it.

    For each row, it has how much that counts.
    """

    __slots__ = ("common", "expression", "idf", "members", "of", "rows", "shown", "title", "weight")

    def __init__(self, shown: str, weight: float, of: str = "") -> None:
        self.shown = shown
        self.weight = weight
        self.of = of  # the name that it is a part of
        self.idf = 1.0
        self.common = False  # more rows have it than are looked at
        self.expression = ""  # how a common one is looked for
        self.members: tuple[str, ...] = ()  # the common words that it stands for together
        self.rows: dict[int, float] = {}
        self.title: set[int] = set()  # those of the rows that have it in the title

    def worth(self, n: int) -> float:
        """Return what it tells that a row has it."""
        return self.weight * self.idf * self.rows[n]


class PromptWords:
    """What the words of a task say, and which rows say the same."""

    def __init__(self, index: "Index", text: str, error: str) -> None:
        self.index = index
        self.error = bool(error)
        self.size = max(400, index.db.execute("SELECT MAX(n) FROM records").fetchone()[0] or 0)
        self.most = max(64, min(self.size // 50, 600))
        self.asks = text.rstrip().endswith(("?", "？", "؟"))
        self.enough = max(LEAST, _enough_of(self._injectable()))
        self.tokens: list[str] = []
        # what words that tell nothing alone add to a row: in its title, elsewhere
        self.small: dict[int, list[float]] = {}
        self.foreign = False
        # the task, and its sentences: a long one may say in one of them what it is about
        self.texts: list[str] = []
        self.terms: dict[str, _Term] = {}
        lines = [line for line in _URL.sub(" ", text).split("\n") if not FRAME.match(line)]
        if error:
            lines += error.split("\n")
        said = "\n".join(lines)
        parts = [part for part in _SENTENCE.split(said)[:CLAUSES] if part.count(" ") > 1]
        self.texts = [folded(part.lower()) for part in (said, *parts)]
        self._read(said)
        for line in error.split("\n")[:6]:
            self._run(line)

    def _injectable(self) -> int:
        """Return how many records may be injected.

        The more there are, the more have a word in common with a task by chance.
        """
        last = self.index.db.execute("SELECT MAX(n) FROM records").fetchone()[0] or 0
        if last > COUNTED:
            return COUNTED
        condition = (
            "kind IN ('gotcha', 'memory') AND status IN ('active', 'pinned') AND resolved = 0"
        )
        return (
            self.index.db.execute(f"SELECT COUNT(*) FROM records WHERE {condition}").fetchone()[0]
            or 1
        )

    def _read(self, text: str) -> None:
        """Make terms of a text, the most telling first, and look each up."""
        named = _names(text)
        plain = self._plain(text, named)
        runs = _RUN.findall(text)
        romance = sum(w in _ROMANCE for w in self.tokens) >= 2
        self.foreign = romance or bool(runs)
        pairs = dict.fromkeys(f"{run[i]}{run[i + 1]}" for run in runs for i in range(len(run) - 1))
        jobs = [
            *_jobs_of_names(named),
            *_jobs_of_words(plain, named, romance=romance),
            *_jobs_of_quotes(text),
            *((COMPANY, pair, quoted(fold(pair)), "") for pair in pairs if pair not in CJK_CHATTER),
        ]
        jobs.sort(key=lambda job: -job[0])
        for weight, shown, expression, of in jobs[: TERMS + min(TERMS, len(pairs) // 2)]:
            self._look(_Term(shown, weight, of), expression)
        if runs:
            self._translated(runs)
        self._joined()
        self._numbered()
        self._rare()

    def _translated(self, runs: "Sequence[str]") -> None:
        """Look up the Latin words for what runs without spaces say."""
        keys = [key for key in SAME if not key.isascii() and any(key in run for run in runs)]
        for key in keys[:8]:
            term = _Term(key, COMPANY)
            self._alike(term, [word for word in SAME[key] if word.isascii()])
            if term.rows:
                self.terms[key + " "] = term

    def _plain(self, text: str, named: "Mapping[str, list[str]]") -> "dict[str, float]":
        """Return the words that tell something, and how much; note all words in their order."""
        capitals = {w.lower() for w in _CAPITALS.findall(text)} if not text.isupper() else set()
        out: dict[str, float] = {}
        for match in WORD.finditer(text):
            word = folded(match[0].lower())
            self.tokens.append(word)
            if _RUN.search(word):  # what stands between its characters is a word of its own
                out |= _latin_weights(word)
            elif word not in out:
                weight = weight_of(word, match[0] in named)
                if weight:
                    out[word] = max(weight, 0.6) if word in capitals else weight
        return out

    def _look(self, term: _Term, expression: str) -> None:
        """Find a term's rows, and those that have another word for it."""
        self.terms[term.shown] = term
        rows = hits_of(self.index, "title tags body anchors", expression, self.most)
        if len(rows) > self.most:
            term.common, term.expression = True, expression
            return
        if rows:
            term.idf = self._idf(len(rows))
            term.title = hits_of(self.index, "title", expression, self.most)
            term.rows = {n: 1.0 if n in term.title else ELSEWHERE for n in rows}
        key = next((form for form in forms(term.shown) if form in SAME), "")
        if key:
            self._alike(term, [w for w in SAME[key] if w != term.shown])

    def _alike(self, term: _Term, others: "Sequence[str]") -> None:
        expression = " OR ".join(quoted(fold(w)) for w in dict.fromkeys(others[:14]))
        rows = (
            hits_of(self.index, "title tags body anchors", expression, self.most)
            if expression
            else set()
        )
        if rows and len(rows) <= self.most:
            if not term.rows:
                term.idf = self._idf(len(rows))
            term.title |= hits_of(self.index, "title", expression, self.most)
            for n in rows:
                term.rows.setdefault(n, OTHER)

    def _joined(self) -> None:
        """Look up neighbouring words as one, as in `cart total` for `CartTotal`.

        Together when one alone is everywhere.
        """
        made = 0
        for first, second in pairwise(self.tokens):
            a, b = self.terms.get(first), self.terms.get(second)
            if made >= 16:
                break
            if (
                (a is None and b is None)
                or not first.isascii()
                or not second.isascii()
                or min(len(first), len(second)) < 3
                or first + second in self.terms
            ):
                continue
            made += 1
            if first.isalpha() and second.isalpha():
                self._add(
                    _Term(first + second, 1.0),
                    quoted(first + second) + ("*" if len(first + second) > 7 else ""),
                    0.8,
                )
            if a and b and (a.common or b.common):
                self._add(_Term(f"{first} {second}", 1.0), quoted(f"{first} {second}"), 0.8)

    def _numbered(self) -> None:
        """Look up small numbers together with the word before them.

        This is done if that word is in many titles, because the number distinguishes them.
        """
        pairs = [
            (first, second)
            for first, second in pairwise(self.tokens)
            if second.isdigit() and second not in self.terms and first.isalpha() and len(first) > 2
        ]
        for first, second in list(dict.fromkeys(pairs))[:NUMBERED]:
            if len(hits_of(self.index, "title", quoted(fold(first)), self.most)) > self.most:
                term = _Term(f"{first} {second}", 1.0)
                self._add(term, quoted(fold(f"{first} {second}")), 1.0, "title")
                term.title = set(term.rows)

    def has_title(self, title: str) -> bool:
        """Say whether a title stands in the task, word by word.

        One of two words may stand there by chance.
        """
        words = [folded(match[0].lower()) for match in WORD.finditer(title)]
        if len(words) < 3 and not any(_RUN.search(word) and len(word) > 5 for word in words):
            return False
        return f" {' '.join(words)} " in f" {' '.join(self.tokens)} "

    def _run(self, line: str) -> None:
        """Search the records for four consecutive words of an error.

        If a record has them, somebody pasted the error there.
        """
        words = [folded(match[0].lower()) for match in WORD.finditer(line)][:40]
        runs = [words[i : i + 4] for i in range(len(words) - 3)]
        telling = [quoted(fold(" ".join(run))) for run in runs if sum(map(weight_of, run)) >= 1]
        if telling:
            self._add(_Term(f"“{short(line)}”", NAMED), " OR ".join(telling), 1.0, "title body")

    def _add(
        self, term: _Term, expression: str, part: float, columns: str = "title tags body anchors"
    ) -> None:
        rows = hits_of(self.index, columns, expression, 64)
        if 0 < len(rows) <= 64:
            term.idf = self._idf(len(rows))
            term.rows = dict.fromkeys(rows, part)
            self.terms[term.shown] = term

    def _rare(self) -> None:
        """Look up the words that say nothing alone.

        Beside a word that does, it says something if few records have them.
        """
        words = [
            w
            for w in dict.fromkeys(self.tokens)
            if w not in STOP and len(w) > 2 and not w.isdigit() and not weight_of(w)
        ]
        for word in words[:SMALLS]:
            rows = hits_of(self.index, "title tags body anchors", quoted(word), self.most)
            if not rows or len(rows) > self.most:
                continue
            titled = hits_of(self.index, "title", quoted(word), self.most)
            for n in rows:
                self.small.setdefault(n, [0.0, 0.0])[n not in titled] += self._idf(len(rows))

    def _idf(self, rows: int) -> float:
        return math.log(1 + self.size / rows) / math.log(1 + self.size)

    def likely(self, most: int) -> "list[int]":
        """Return the rows with the most evidence."""
        evident = self._evident(most)
        terms = [t for t in self.terms.values() if t.common and not t.of][:WORDS]
        if not terms:
            return evident
        common = {t.shown: CommonWord(self.index, t.shown, t.expression) for t in terms}
        together = most_together(list(common.values()), self.most)
        for n, words in together.items():
            members = tuple(word.shown for word in words)
            term = self.terms.setdefault(
                " ".join(members) + " ", _Term(" ".join(members) + " ", 1.0)
            )
            term.members, term.idf = members, self._idf(len(together))
            term.rows[n] = 1.0
        considered = list(dict.fromkeys([*together, *evident]))[:CONSIDERED]
        for term in terms if considered else ():
            self._complete(term, common[term.shown], considered)
        return self._evident(most) if considered else evident

    def _complete(self, term: _Term, word: CommonWord, rows: "Sequence[int]") -> None:
        """Give a common term those of some rows that have it.

        Beside what points to these rows, the term counts as little as it says.
        """
        term.idf = self._idf(self.size if word.everywhere else max(len(word.titles), self.most))
        titled = (
            word.among(self.index, rows, "title")
            if word.everywhere
            else word.titles.intersection(rows)
        )
        term.title = titled
        term.rows = {
            n: 1.0 if n in titled else ELSEWHERE
            for n in word.among(self.index, rows, "title tags body anchors")
        }

    def _evident(self, most: int) -> "list[int]":
        sums: dict[int, float] = {}
        for term in self.terms.values():
            for n in term.rows:
                sums[n] = sums.get(n, 0.0) + term.worth(n)
        return sorted((n for n, s in sums.items() if s >= FAINT), key=lambda n: -sums[n])[:most]

    def judge(
        self, rows: "Mapping[int, Row]", patterns: "Collection[str]"
    ) -> "dict[int, tuple[float, bool, str]]":
        """Return the evidence for each row that has words of the task.

        The value is the evidence, whether it is enough alone, and the words.
        """
        clauses = [self._clause(text) for text in self.texts]
        # the word that no record has is what is asked for
        question = self._clause(self.texts[0], absent=0.0)
        out = {}
        for n, row in rows.items():
            hits = self._hits(n)
            if not hits:
                continue
            answers = self.asks and _answers(row["title"], question[2])
            parts = [*clauses, question] if answers else clauses
            score = max(_evidence(n, row["title"], hits, clause) for clause in parts)
            if self.error and _is_other_error(row["pattern"], patterns):
                score *= 0.5
            score += self._company(n, hits)
            enough = self._least(hits) if answers else self.enough
            shown = dict.fromkeys(term.shown.strip() for term in hits[:4])
            out[n] = (score, score >= enough, "words: " + ", ".join(shown))
        return out

    def _hits(self, n: int) -> "list[_Term]":
        """Return the terms that a row has, the most telling first.

        A part of a name that it has too counts in its title alone.
        """
        hits = [term for term in self.terms.values() if n in term.rows]
        names = {term.shown for term in hits}
        hits = [term for term in hits if term.of not in names or n in term.title]
        return sorted(hits, key=lambda term: -term.worth(n))

    def _company(self, n: int, hits: "Sequence[_Term]") -> float:
        """Return what the words of a row that tell nothing alone add to what it hits."""
        weight = sum(term.weight for term in hits)
        if weight <= COMPANY:  # a word that needs company finds none in these
            return 0.0
        titled, elsewhere = self.small.get(n, (0.0, 0.0))
        return min(1.0, weight) * (RARE_TITLED * min(2.0, titled) + RARE * min(2.0, elsewhere))

    def _least(self, hits: "Sequence[_Term]") -> float:
        """Return the evidence that is enough for a title that answers a question.

        The fewer records have a word that they share, the less likely it is shared by chance.
        """
        return _enough_of(min(len(term.rows) for term in hits))

    def _clause(self, text: str, absent: float = 1.0) -> "_Clause":
        """Return what a part of the task says; the first part is the whole.

        `absent` is how much a word counts that no record has.
        """
        whole = text is self.texts[0]
        terms = {t for t in self.terms.values() if whole or _is_said(t, text)}
        # it speaks of another subject; less so when it is of another language than the store's
        absent = min(absent, FOREIGN) if self.foreign else absent
        counted = [t for t in terms if not t.of and not t.shown.endswith((" ", "”"))]
        asked = sum(t.weight * (1.0 if t.rows else absent) for t in counted) or 1.0
        return (
            terms,
            asked,
            {
                root
                for match in WORD.finditer(text)
                if match[0] not in STOP
                for root in forms(match[0])
            },
        )


def _enough_of(records: int) -> float:
    """Return the evidence of words that is enough alone among so many records."""
    return min(ENOUGH_OF_MANY, ENOUGH + STEP * math.log(records / 100))


def _evidence(n: int, title: str, hits: "Sequence[_Term]", clause: "_Clause") -> float:
    """Return how much a part of the task says that a row is called for."""
    terms, asked, roots = clause
    hits = [t for t in hits if t in terms]
    if not hits:
        return 0.0
    titled = [t for t in hits if n in t.title]
    score = sum(t.worth(n) for t in hits)
    score += COVERED * min(
        1.0, sum(t.weight for t in hits if not t.members) / asked
    ) + TITLED * _share(title, titled)
    score += SMALL * min(3, _small_talk(title, roots)) + MARKED * _marked(title, titled)
    return score - HARMLESS * bool((roots & LOOKS).difference(_words(title)))


def _answers(title: str, roots: "Collection[str]") -> bool:
    """Say whether a question has all that a title says but one word: the answer."""
    telling = [word for word in _words(title) if weight_of(word)]
    missing = [word for word in telling if not any(root in roots for root in forms(word))]
    return len(telling) > 1 and len(missing) < 2


def _is_said(term: _Term, text: str) -> bool:
    """Say whether a part of the task has a term."""
    said = term.members or (term.shown,)
    return all(folded(word.lower().strip(" “”")) in text for word in said)


def weight_of(word: str, name: bool = False) -> float:
    """Return what a word tells before any store is asked: 0 nothing, 1 a subject."""
    if word.isdigit():
        return _weight_of_number(word)
    if len(word) < 2 or (len(word) == 2 and word.isalpha() and word not in SAME) or len(word) > 60:
        return 0.0
    return 1.0 if name else _weight_in_text(word)


def _weight_of_number(digits: str) -> float:
    is_year = len(digits) == 4 and "1900" < digits < "2100"
    if is_year or not 2 < len(digits) < 7:
        return 0.0
    return COMPANY if digits.endswith("00") else 1.0


def _weight_in_text(word: str) -> float:
    """Return what a word that is no name of code tells."""
    roots = forms(word)
    if not CHATTER.isdisjoint(roots):
        return 0.0
    if word in PLAIN_ERRORS:
        return PLAIN
    if not COMMON.isdisjoint(roots):
        return COMPANY
    if word in TOOLS:
        return TOOL
    return 1.0 if ORDINARY.isdisjoint(roots) else EVERYDAY


def _jobs_of_names(named: "Mapping[str, Sequence[str]]") -> "Iterator[_Job]":
    for name, parts in named.items():
        expression = f"{quoted(' '.join(parts))} OR {quoted(''.join(parts))}"
        yield _weight_of_name(name, parts), name, expression, ""


def _jobs_of_words(
    plain: "Mapping[str, float]", named: "Mapping[str, Sequence[str]]", *, romance: bool
) -> "Iterator[_Job]":
    names = {name.lower() for name in named}
    inner = {part: name for name, parts in named.items() for part in parts}
    for word, weight in plain.items():
        if word in names:
            continue
        expression = quoted(word)
        if romance and len(word) > 4:
            # Portuguese and Spanish bend more than the end that the index cuts off
            expression = f'"{word[: len(word) - 3 if len(word) > 7 else len(word) - 1]}" *'
        yield weight, word, expression, inner.get(word, "")


def _jobs_of_quotes(text: str) -> "Iterator[_Job]":
    for quote in list(dict.fromkeys(match[1] for match in _QUOTE.finditer(text)))[:6]:
        if quote.count(" ") > 1 and len(WORD.findall(quote)) > 2:
            yield NAMED, f"“{short(quote)}”", quoted(fold(quote)), ""


def _is_other_error(pattern: str, patterns: "Collection[str]") -> bool:
    """Return whether a row waits for an error that has little to do with those of the task."""
    return bool(pattern) and max((alike(pattern, p) for p in patterns), default=1.0) < 0.5


def _latin_weights(word: str) -> "dict[str, float]":
    """Return what the words in Latin letters inside a word of another script weigh."""
    return {part: weight_of(part) for part in _LATIN.findall(word) if weight_of(part)}


def _names(text: str) -> "dict[str, list[str]]":
    """Return the names of code in a text, with their parts.

    Such a name is `snake_case`, `camelCase` or `dotted.name`.
    """
    out: dict[str, list[str]] = {}
    for match in _NAME.finditer(text):
        parts = [
            p.lower()
            for piece in re.split(r"[_.]|::|->", match[0])
            for p in (PART.findall(piece) or [piece])
        ]
        if (
            parts[-1] not in _ENDS
            and len(parts) > 1
            and sum(map(len, parts)) > 4
            and len(out) < 12
            and match[0].lower() not in BRANDS
        ):
            out.setdefault(match[0], parts)
    return out


def _weight_of_name(name: str, parts: "Sequence[str]") -> float:
    if name.lower() in PLAIN_ERRORS:
        return PLAIN
    if all(part in CHATTER or len(part) < 2 for part in parts) and len(parts) < 3:
        return 0.9
    return NAMED


def forms(word: str) -> "tuple[str, ...]":
    """Return a word and what may be its root."""
    return (
        word,
        *(
            word[: -len(end)]
            for end in ("s", "es", "ed", "d", "ing")
            if word.endswith(end) and len(word) > len(end) + 2
        ),
    )


def _small_talk(title: str, roots: "Collection[str]") -> int:
    """Return how many words of a title that tell nothing alone are in the task too."""
    return sum(
        1
        for w in _words(title)
        if w not in STOP
        and len(w) > 2
        and not weight_of(w)
        and any(root in roots for root in forms(w))
    )


def _share(title: str, hits: "Sequence[_Term]") -> float:
    """Return how much of what a title's words tell was hit."""
    total = sum(map(weight_of, _words(title)))
    return min(1.0, sum(t.weight for t in hits) / total) if total else 0.0


def _words(title: str) -> "dict[str, None]":
    """Return the words of a title in their order."""
    return dict.fromkeys(folded(match[0].lower()) for match in WORD.finditer(title))


def _marked(title: str, hits: "Sequence[_Term]") -> int:
    """Return how many of the matched words are written in a title like names of things."""
    marks = {match[0].lower() for match in _MARK.finditer(title)}
    return sum(1 for t in hits if any(root in marks for root in forms(t.shown.lower())))


def hits_of(index: "Index", columns: str, expression: str, most: int) -> "set[int]":
    """Return at most one row more than `most` that has an expression in these columns."""
    sql = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
    return {n for (n,) in index.db.execute(sql, (f"{{{columns}}} : ({expression})", most + 1))}


def quoted(text: str) -> str:
    """Return a text as a phrase of FTS5, whatever stands in it."""
    return '"' + text.replace('"', " ").replace("\0", " ") + '"'


def alike(first: str, other: str) -> float:
    """Return how many words two patterns share, from 0 to 1."""
    a, b = (set(WORD.findall(re.sub(r"<\w+>", " ", x).lower())) for x in (first, other))
    return len(a & b) / len(a | b) if a and b else 0.0


def short(text: object) -> str:
    """Return a text as one line of at most a hundred characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= 100 else line[:99] + "…"
