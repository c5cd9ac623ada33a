"""What somebody said, sentence by sentence, with the heading and the box it stands under.

Code, quotations and tables left out. Pure.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

LONGEST = 600  # characters of a sentence that anything is looked for in
MANY = 1 << 30  # more lines than a text has
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
_SPAN = re.compile(r"(?<![A-Za-z0-9_`)\]}])`(?=[^\s`])[^`\n]{1,200}(?<=\S)`(?![A-Za-z0-9_`])")
_SHORT = re.compile(
    r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|fig|p\. ?ex|ex|ej|p\. ?ej|sr|sra|dr|mr|mrs|ms|st"
    r"|aprox|pág|nº|al|inc|ver|v)\.$"
)
_NUMBER = re.compile(r"(?i)(?:^|[\s(\"“])(?:n[or]|ca?|vol|ch|sec|art|pp?)\.$")  # `no. 5`, `c. 1880`
_CODE = re.compile(
    r"^\s*(?:[$>%] \S|(?:def|class|import|from|const|let|var|function|return|if|for|while|public"
    r"|private|func|fn|package|#include|SELECT|INSERT|UPDATE|CREATE|export)\b.*[;{(=:]\s*$"
    r"|[{}\[\]();]+\s*$|</?\w++[^>]*+>\s*$|at [^\s(]++\(.*\)$|File \".*\", line \d+)"
)
_LABEL = re.compile(r"[^\W\d_][\w-]{1,20}(?: [\w-]{1,20}){0,2}:(?: |$)")
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
    for block, rows in _blocks(text, heading):
        opens, at = True, 0
        if block.box == " " and _STRUCK_OUT.match(block.text):
            continue  # it is dropped, and what follows says so, or why
        for part in [block.text] if block.box else split(block.text):
            at = max(at, block.text.find(part, at))
            clean = tidy(part)
            row = rows[bisect(rows, (at, MANY)) - 1][1]
            at += len(part)
            if not clean:
                continue
            yield Sentence(
                clean[:LONGEST],
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


def _blocks(text: str, heading: str) -> Iterator[tuple[Sentence, list[tuple[int, int]]]]:  # noqa: C901
    """Yield the points and paragraphs of a text, not split yet.

    Of each its lines: (where it begins in it, where in the text, counted from 0).
    """
    if "```" in text or "~~~" in text:
        text = _INLINE_BLOCK.sub(_emptied, _FENCE.sub(_emptied, text))
    lead = ""
    held: list[str] = []
    rows: list[int] = []  # the number of each line that is held
    point: tuple[str, bool] | None = None  # the box of the point that is read

    def ended() -> Iterator[tuple[Sentence, list[tuple[int, int]]]]:
        nonlocal point
        whole = " ".join(held)
        if whole:
            begins = [
                0,
                *(
                    size + 1
                    for size in accumulate(len(one) + (n > 0) for n, one in enumerate(held[:-1]))
                ),
            ]
            made = Sentence(
                whole, heading, lead if point else "", point[0] if point else "", point is not None
            )
            yield made, list(zip(begins, rows, strict=True))
        held.clear()
        rows.clear()
        point = None

    blank, line_before = True, ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        bare = line.strip()
        if not bare:
            yield from ended()
            blank = True
            continue
        if bare.startswith((">", "|", "---", "===", "***")) or _CODE.match(line):
            yield from ended()
            continue
        if head := _heading_of(line):
            yield from ended()
            heading, lead = head.strip("*_ "), ""
            continue
        found = _POINT.match(line)
        marked = _MARK_BOX.match(bare) if not found else _MARK_BOX.match(found[2])
        if found or marked:
            yield from ended()
            rest, box = (found[2] if found else bare), ""
            boxed = _BOX.match(rest)
            if boxed:
                rest, box = boxed[2], "x" if boxed[1] in "xX✓✔" else "-" if boxed[1] == "-" else " "
            elif marked:
                rest, box = marked[2], {"☐": " ", "⬜": " ", "❌": "-"}.get(marked[1], "x")
            held.append(rest)
            rows.append(number)
            point = (box, True)
        else:
            if blank:
                lead = ""
            if held and (
                (
                    point is None
                    and (
                        held[-1][-1:] in ".!?:。！？：;；"
                        or not _wrapped(held[0], line_before, bare)
                        or (bare[:1].isupper() and not _stops(lines, number))
                    )
                )
                or (point and not line.startswith((" ", "\t")))
            ):
                yield from ended()
            if point is None and not line.startswith((" ", "\t")):
                lead = ""
            held.append(bare)
            rows.append(number)
        line_before = bare
        if bare.endswith((":", "：")) and not (found and point and point[0]):
            lead = tidy(" ".join(held)).rstrip(":： ")
            held.clear()
            rows.clear()
            point = None
        blank = False
    yield from ended()


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
    spans = [(one.start(), one.end()) for one in _SPAN.finditer(text)] if "`" in text else []
    for end in _END.finditer(text):
        here = bisect(spans, (end.start(), 0)) - 1
        if here >= 0 and end.start() < spans[here][1]:
            continue  # in code: `SELECT ... FOR UPDATE`
        part = text[start : end.start()]
        if not part.strip() or (_SHORT.search(part.rstrip("\"'”’)]*_ ")) and part.endswith(".")):
            continue
        if text[end.end() : end.end() + 1].isdigit() and _NUMBER.search(part):
            continue
        if re.fullmatch(r"\s*(?:\d{1,3}|[A-Ha-h])\.", part):
            continue
        out.append(text[start : end.end()].strip())
        start = end.end()
    rest = text[start:].strip()
    return [*out, rest] if rest else out


def tidy(text: str) -> str:
    """Return a sentence without formatting: emphasis, links, struck-out text, leading marks."""
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "*" in text or "__" in text:
        text = _ITALIC.sub(r"\1", _EMPHASIS.sub(r"\2", text)).replace("**", "")
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return _LEADING.sub("", " ".join(text.split()), 1).strip()
