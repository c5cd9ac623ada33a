"""What somebody said, sentence by sentence, with the heading and the box it stands under.

Code, quotations and tables left out. Pure.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

LONGEST = 600  # characters of a sentence that anything is looked for in
SENTENCES = 400  # of one turn
WRAPPED = (60, 120)  # columns of lines that are cut for their length
WRAPPED_BEFORE_A_NAME = (71, 81)  # where the next one begins with a capital
_FENCE = re.compile(r"(?ms)^[ \t]*(```++|~~~++)[^\n]*+\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_INLINE_BLOCK = re.compile(r"(?s)```.*?(?:```|\Z)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s++(\S.*)$")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)([^*_\n]{2,80}?)[:：]?(?:\*\*|__)[:：]?\s*$")
_POINT = re.compile(
    r"\s*(?P<mark>[-*+•·‣–]\s+|\(?\d{1,3}[.)]\s+|\d{1,3}、\s*|[a-h]\)\s+)?"
    r"(?:(?:\[(?P<box>[ xX✓✔~/-])\](?!\()|(?P<sign>[☐☑☒✅✔❌⬜])\ufe0f?)\s*)?(?P<rest>.*)"
)
_OPEN, _DROPPED = " ~/☐⬜", "-❌"  # what is in a box that is not done
_EMPHASIS = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_ITALIC = re.compile(r"(?<![\w*`/])\*(?=[^\s*])([^*\n]{1,200}?)(?<=[^\s*])\*(?![\w*])")
_STRUCK = re.compile(r"~~[^~\n]+~~")
_STRUCK_OUT = re.compile(r"~~[^~\n]+~~\s*[(\[:,;–—-]")  # what follows says why
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?:[^()\n]|\([^()\n]*\)){1,500}\)")
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+|(?<=[。！？；])[”’」）]*\s*")
# code and quotations: what ends a sentence in them ends no sentence of the speaker
_SPAN = re.compile(
    r"(?<![A-Za-z0-9_`)\]}])`(?=[^\s`])[^`\n]{1,200}(?<=\S)`(?![A-Za-z0-9_`])"
    r"|(?<!\w)\"(?=\S)[^\"\n]{1,500}\"(?!\w)|“[^“”\n]{1,500}”|«[^«»\n]{1,500}»|「[^「」\n]{1,500}」"
)
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
    place: int = 0  # its number in the turn
    opens: bool = True  # the first of its point or paragraph
    row: int = 0  # lines of the turn above the one that it begins in


def sentences(text: str, heading: str = "") -> Iterator[Sentence]:
    """Return the sentences of a text."""
    return islice(_sentences(text, heading), SENTENCES)


def _sentences(text: str, heading: str) -> Iterator[Sentence]:
    place = 0
    for block in _BlockReader(heading).read(text):
        whole, opens = " ".join(block.lines), True
        if block.box == " " and _STRUCK_OUT.match(whole):
            continue
        for start, part in [(0, whole)] if block.box else _split(whole):
            if clean := tidy(part)[:LONGEST]:
                stands = (block.heading, block.lead, block.box, block.point)
                yield Sentence(clean, *stands, place, opens, block.row(start))
                place, opens = place + 1, False


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

    def read(self, text: str) -> Iterator[_Block]:
        """Yield the blocks of a text, without code, quotations and tables."""
        text = _INLINE_BLOCK.sub(_emptied, _FENCE.sub(_emptied, text))
        for row, line in enumerate(text.split("\n")):
            heading, point, bare = _heading_of(line), _POINT.match(line), line.strip()
            if heading:
                self._heading, self._lead = heading.strip("*_ "), ""
            apart = heading or not bare or bare.startswith((">", "|", "---", "===", "***"))
            is_apart = bool(apart or _CODE.match(line))
            is_point = bool(point and (point["mark"] or point["box"] or point["sign"]))
            if is_apart or is_point or not self._goes_on(line):
                yield from self._end()
            if point and not is_apart:
                self._take(point, is_point, row)
        yield from self._end()

    def _goes_on(self, line: str) -> bool:
        """Return whether a line that is no point is of the block before it."""
        if self._block.point:
            return line.startswith((" ", "\t"))
        return not self._block.lines or _is_wrapped(self._block.lines, line.strip())

    def _take(self, point: re.Match[str], is_point: bool, row: int) -> None:
        box = point["box"] or point["sign"] or ""
        if is_point:
            state = " " if box in _OPEN else "-" if box in _DROPPED else "x"
            self._block = _Block(self._heading, self._lead, box and state, point=True)
        elif not self._block.lines:
            self._lead = ""
        text = point["rest"].strip()
        self._block.lines.append(text)
        self._block.rows.append(row)
        if text.endswith((":", "：")) and not self._block.box:
            self._lead = tidy(" ".join(self._block.lines)).rstrip(":： ")
            self._block = _Block(self._heading)

    def _end(self) -> Iterator[_Block]:
        if any(self._block.lines):
            yield self._block
        self._block = _Block(self._heading)


def _emptied(code: re.Match[str]) -> str:
    """Return as many lines as something has, with nothing in them."""
    return "\n" * code[0].count("\n") or " "


def _is_wrapped(lines: Sequence[str], following: str) -> bool:
    """Return whether a paragraph goes on in the next line.

    People who chat begin a line with each thing they say, mostly in lower case; prose that is
    wrapped begins with a capital, and its lines have no room for one more word. Chinese is not
    wrapped by hand.
    """
    last, before_a_name = lines[-1], following[:1].isupper()
    if last[-1:] in ".!?:。！？：;；":
        return False
    if last.endswith((",", "，", "、")) and not before_a_name:
        return True
    if lines[0][:1].islower() or last[-1] > "\u2e7f" or _LABEL.match(following):
        return False
    least, most = WRAPPED_BEFORE_A_NAME if before_a_name else WRAPPED
    return least <= len(last) + 1 + len(following.split(" ", 1)[0][:20]) and len(last) <= most


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a paragraph, and where each begins."""
    start = 0
    for end in _END.finditer(_SPAN.sub(_without_ends, text)):
        if _ends(text[start : end.start()], text[end.end() :][:1]):
            yield start, text[start : end.end()]
            start = end.end()
    yield start, text[start:]


def _without_ends(span: re.Match[str]) -> str:
    """Return as many characters as a quotation has, but no full stop that is not its last."""
    return "_" * (len(span[0]) - 2) + span[0][-2:]


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
