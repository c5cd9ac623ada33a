"""What somebody said, sentence by sentence, with the heading and the box it stands under.

Code, quotations and tables left out. Pure.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

LONGEST = 600  # characters of a sentence that anything is looked for in
SENTENCES = 400  # of one turn
WRAPPED = (60, 120)  # columns of lines that are cut for their length
PARAGRAPH = 60  # lines of a paragraph that are looked at
WRAPPED_BEFORE_A_NAME = (71, 81)  # where the next one begins with a capital
_FENCE = re.compile(r"(?ms)^[ \t]*(```++|~~~++)[^\n]*+\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_INLINE_BLOCK = re.compile(r"(?s)```.*?(?:```|\Z)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s++(\S.*)$")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)([^*_\n]{2,80}?)[:：]?(?:\*\*|__)[:：]?\s*$")
_POINT = re.compile(r"^(\s*)(?:[-*+•·‣–]\s+|\(?\d{1,3}[.)]\s+|\d{1,3}、\s*|[a-h]\)\s+)(.*)$")
_BOX = re.compile(r"^\[([ xX✓✔~/-])\]\s*(.*)$")
_MARK_BOX = re.compile(r"^([☐☑☒✅✔❌⬜])\ufe0f?\s*(.*)$")
_EMPHASIS = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_ITALIC = re.compile(r"(?<![\w*`/])\*(?=[^\s*])([^*\n]{1,200}?)(?<=[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"~~[^~\n]+~~")
_STRUCK_OUT = re.compile(
    r"(?i)~~[^~\n]+~~\s*(?:$|[(\[:,;–—-]|(?:dropped|cancell?ed|rejected|won.?t ?fix|no longer"
    r"|not needed|obsolete|cancelad|descartad|rechazad|rejeitad|取消|不需要|不做))"
)
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?:[^()\n]|\([^()\n]*\)){1,500}\)")
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+|(?<=[。！？；])[”’」）]*\s*")
# code and quotations: what ends a sentence in them ends no sentence of the speaker
_SPAN = re.compile(
    r"(?<![A-Za-z0-9_`)\]}])`(?=[^\s`])[^`\n]{1,200}(?<=\S)`(?![A-Za-z0-9_`])"
    r"|(?<!\w)\"(?=\S)[^\"\n]{1,500}\"(?!\w)|“[^“”\n]{1,500}”|«[^«»\n]{1,500}»|「[^「」\n]{1,500}」"
)
_OPENING = re.compile(r"[`\"“«「]")
_SHORT = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|fig|p\. ?ex|ex|ej|p\. ?ej|sr|sra|dr|mr|mrs|ms|st"
    r"|aprox|pág|nº|al|inc|ver|v)\.$"
)
_NUMBER = re.compile(r"(?i)(?:^|[\s(\"“])(?:n[or]|ca?|vol|ch|sec|art|pp?)\.$")  # `no. 5`, `c. 1880`
_CODE = re.compile(
    r"^\s*(?:[$>%] \S|(?:def|class|import|from|const|let|var|function|return|if|for|while|public"
    r"|private|func|fn|package|#include|SELECT|INSERT|UPDATE|CREATE|export)\b.*[;{(=:]\s*$"
    r"|[{}\[\]();]+\s*$|</?\w++[^>]*+>\s*$|at [^\s(]++\(.*\)$|File \".*\", line \d+"
    r"|\[(?:INFO|WARN(?:ING)?|DEBUG|TRACE|FATAL)\]|\[ERROR\] +\W?\d|[\w./-]+\.\w+:\d+:)"
)
_LABEL = re.compile(r"[^\W\d_][\w-]{1,20}(?: [\w-]{1,20}){0,2}:(?: |$)")
_LIST_NUMBER = re.compile(r"\s*(?:\d{1,3}|[A-Ha-h])\.")
_LEADING = re.compile(r"^(?:[^\w\s`\"'“‘«\[(<@#$./¿¡~✅✔☑-]|\ufe0f)+\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    `box` is 'x' or ' ' where it is a point with a box, '' where it is none; `heading` is what it
    stands under, `lead` the line before its list.
    """

    text: str
    heading: str = ""
    lead: str = ""
    box: str = ""
    point: bool = False
    first: bool = False  # of its turn
    place: int = 0  # its number in the turn
    opens: bool = True  # the first of its point or paragraph
    row: int = 0  # lines of the turn above the one that it begins in


def sentences(text: str, heading: str = "") -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    made = 0
    for block in _BlockReader(heading).read(text):
        whole = " ".join(block.lines)
        if block.box == " " and _STRUCK_OUT.match(whole):
            continue  # it is dropped, and what follows says so, or why
        opens, at = True, 0
        for part in [whole] if block.box else split(whole):
            at = max(at, whole.find(part, at))
            row = block.row(at)
            at += len(part)
            clean = tidy(part)[:LONGEST]
            if clean:
                yield Sentence(
                    clean,
                    block.heading,
                    block.lead,
                    block.box,
                    block.point,
                    made == 0,
                    made,
                    opens,
                    row,
                )
                made, opens = made + 1, False
            if made == SENTENCES:
                return


def last_heading(text: str) -> str:
    """Return the heading that a text is nothing but; empty when it is more."""
    heading = _heading_of(text)
    return tidy(heading) if heading and "\n" not in text.strip() else ""


def _heading_of(line: str) -> str:
    """Return what a line says that is a heading, without its marks; empty for another line."""
    if marked := _HEADING.match(line):
        said = marked[1].rstrip()
        return said.rstrip("#").rstrip() or said
    bold = _BOLD_LINE.match(line)
    return bold[1] if bold else ""


@dataclass(slots=True)
class _Block:
    """A point or a paragraph: its lines, and the number of each in the text, counted from 0."""

    heading: str
    lead: str = ""
    box: str = ""
    point: bool = False
    lines: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def row(self, at: int) -> int:
        """Return the number of the line that a character of the joined lines is in."""
        begins = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        return self.rows[bisect(begins, at) - 1]


class _BlockReader:
    """Reads the points and paragraphs of a text."""

    def __init__(self, heading: str) -> None:
        self._heading = heading
        self._lead = ""
        self._block = _Block(heading)
        self._blank = True  # the line before was empty
        self._before = ""

    def read(self, text: str) -> Iterator[_Block]:
        """Yield the blocks of a text, without code, quotations and tables."""
        if "```" in text or "~~~" in text:
            text = _INLINE_BLOCK.sub(_emptied, _FENCE.sub(_emptied, text))
        lines = text.split("\n")
        for number, line in enumerate(lines):
            bare = line.strip()
            if self._is_apart(line, bare) or self._begins(lines, number):
                yield from self._end()
            if bare and not self._is_apart(line, bare):
                self._take(line, bare, number)
            elif not bare:
                self._blank = True
        yield from self._end()

    def _is_apart(self, line: str, bare: str) -> bool:
        """Return whether a line is no part of a point or paragraph."""
        if not bare or bare.startswith((">", "|", "---", "===", "***")) or _CODE.match(line):
            return True
        head = _heading_of(line)
        if head:
            self._heading, self._lead = head.strip("*_ "), ""
        return bool(head)

    def _begins(self, lines: Sequence[str], number: int) -> bool:
        """Return whether a line begins a point, or a paragraph of its own."""
        line, block = lines[number], self._block
        if _POINT.match(line) or _MARK_BOX.match(line.strip()):
            return True
        if block.point:
            return not line.startswith((" ", "\t"))
        return bool(block.lines) and self._stands_alone(lines, number)

    def _stands_alone(self, lines: Sequence[str], number: int) -> bool:
        first, last, bare = self._block.lines[0], self._block.lines[-1], lines[number].strip()
        if last[-1:] in ".!?:。！？：;；" or not _wrapped(first, self._before, bare):
            return True
        return bare[:1].isupper() and not _stops(lines, number)

    def _take(self, line: str, bare: str, number: int) -> None:
        found = _POINT.match(line)
        rest = found[2] if found else bare
        marked = _MARK_BOX.match(rest)
        if found or marked:
            self._block = _Block(self._heading, self._lead, point=True)
            rest = self._without_box(rest)
        else:
            indented = line.startswith((" ", "\t"))
            if self._blank or not (self._block.point or indented):
                self._lead = ""
        self._block.lines.append(rest)
        self._block.rows.append(number)
        self._blank, self._before = False, bare
        if bare.endswith((":", "：")) and not self._block.box:
            self._lead = tidy(" ".join(self._block.lines)).rstrip(":： ")
            self._block = _Block(self._heading)

    def _without_box(self, rest: str) -> str:
        boxed, marked = _BOX.match(rest), _MARK_BOX.match(rest)
        if boxed:
            self._block.box = "x" if boxed[1] in "xX✓✔" else "-" if boxed[1] == "-" else " "
            return boxed[2]
        if marked:
            self._block.box = {"☐": " ", "⬜": " ", "❌": "-"}.get(marked[1], "x")
            return marked[2]
        return rest

    def _end(self) -> Iterator[_Block]:
        if any(self._block.lines):
            yield self._block
        self._block = _Block(self._heading)


def _emptied(found: re.Match[str]) -> str:
    """Return as many lines as something has, with nothing in them."""
    return "\n" * found.group().count("\n") or " "


def _stops(lines: Sequence[str], number: int) -> bool:
    """Return whether the paragraph that a line is in ends with a full stop.

    Wrapped prose does; notes of one line each seldom do.
    """
    last = number
    while (
        last + 1 < len(lines)
        and lines[last + 1].strip()
        and not _POINT.match(lines[last + 1])
        and last - number < PARAGRAPH
    ):
        last += 1
    return lines[last].rstrip("\"'”’)]*_ ").endswith((".", "!", "?", "…"))


def _wrapped(first: str, line: str, following: str) -> bool:
    """Say whether a line of a paragraph goes on in the next one.

    People who chat begin a line with each thing they say, mostly in lower case; prose that is
    wrapped begins with a capital, and its lines have no room for one more word. Chinese is not
    wrapped by hand.
    """
    if line.endswith((",", "，", "、")) and not following[:1].isupper():
        return True
    if first[:1].islower() or line[-1] > "\u2e7f" or _LABEL.match(following):
        return False
    least, most = WRAPPED_BEFORE_A_NAME if following[:1].isupper() else WRAPPED
    return least <= len(line) + 1 + len(following.split(" ", 1)[0][:20]) and len(line) <= most


def split(text: str) -> list[str]:
    """Return the sentences of one paragraph."""
    out: list[str] = []
    start = 0
    spans = (
        [(one.start(), one.end()) for one in _SPAN.finditer(text)] if _OPENING.search(text) else []
    )
    for end in _END.finditer(text):
        here = bisect(spans, (end.start(), 0)) - 1
        inside = here >= 0 and end.end() <= spans[here][1]  # `SELECT ... FOR UPDATE`
        if not inside and _ends(text[start : end.start()], text[end.end() :][:1]):
            out.append(text[start : end.end()].strip())
            start = end.end()
    rest = text[start:].strip()
    return [*out, rest] if rest else out


def _ends(part: str, following: str) -> bool:
    """Return whether a full stop after a text ends a sentence, and not a short word or number."""
    bare = part.rstrip("\"'”’)]*_ ")
    if not part.strip() or (_SHORT.search(bare) and part.endswith(".")):
        return False
    if following.isdigit() and _NUMBER.search(part):
        return False
    return not _LIST_NUMBER.fullmatch(part)


def tidy(text: str) -> str:
    """Return a sentence without formatting: emphasis, links, struck-out text, leading marks."""
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "*" in text or "__" in text:
        text = _ITALIC.sub(r"\1", _EMPHASIS.sub(r"\2", text)).replace("**", "")
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return _LEADING.sub("", " ".join(text.split()), 1).strip()
