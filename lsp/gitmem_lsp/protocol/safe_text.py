"""Text of records made safe to show. A record is data that somebody else may have written.

`plain` is for places that show text as it is; `inline` and `block` give Markdown in which the
record's text can make bold words, lists, code and nothing else: no link, no image, no HTML,
whatever the editor's renderer allows. Pure.
"""

import re
from collections.abc import Iterator

# controls, directions, letters that cannot be seen, halves of letters; joiners and variations stay:
# words and emoji are spelled with them
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")
_ADDRESS = re.compile(
    r":(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)|(?<=\bmailto):|(?<=\bxmpp):|(?<=\bvim):|(?<=\bvi):"
    r"|(?<=\bex):",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINE_START = re.compile(r"(\s*)(?:([#+=-])|(\d{1,9})([.)]))")
_BULLET = re.compile(r"(?<!\s)\s*+[-*+] +(?=\S)")
_NUMBERED = re.compile(r"(?<!\s)\s*+\d{1,9}[.)] +(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}\s++(.*)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*([A-Za-z0-9+#.-]{0,20})")


def plain(text: str) -> str:
    """Return one line without control and direction characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def multiline(text: str) -> str:
    """Return lines without control and direction characters."""
    return "\n".join(
        _CONTROL.sub("", line).replace("\t", "    ").rstrip() for line in text.split("\n")
    )


def shorten(text: str, limit: int) -> str:
    """Return a text cut at a limit, with a mark that it was."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def inline(text: str) -> str:
    """Return one line as Markdown that shows it; code between backticks stays code."""
    out: list[str] = []
    at = 0
    line = plain(text)
    for match in _CODE_SPAN.finditer(line):
        out += (_escape(line[at : match.start()]), match[0])
        at = match.end()
    out.append(_escape(line[at:]))
    return _guard_start("".join(out))


def _escape(text: str) -> str:
    return _ADDRESS.sub(r"\\\g<0>", _SPECIAL.sub(r"\\\g<0>", text))


def _guard_start(line: str) -> str:
    match = _LINE_START.match(line)
    if match is None:
        return line
    at = match.start(2) if match[2] else match.start(4)
    return line[:at] + "\\" + line[at:]


def fence(code: str, language: str = "") -> str:
    """Return code in a fence that it cannot close."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{code}\n{marks}"


def block(text: str) -> str:
    """Return a record's body as Markdown that keeps its paragraphs, lists, headings and code."""
    return "\n".join(_blocks(multiline(text).split("\n"))).strip("\n")


def _blocks(lines: list[str]) -> Iterator[str]:
    at, blank = 0, True
    while at < len(lines):
        line = lines[at]
        opened = _FENCE.match(line)
        if opened:
            mark, end = opened[1], at + 1
            while end < len(lines) and not _closes(lines[end], mark):
                end += 1
            yield from ("", fence("\n".join(lines[at + 1 : end]), opened[2]), "")
            at, blank = end + 1, True
        elif blank and line.startswith("    "):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield from ("", fence("\n".join(x[4:] for x in lines[at:end]).rstrip()), "")
            at, blank = end, True
        else:
            yield _line(line)
            at, blank = at + 1, not line.strip()


def _closes(line: str, mark: str) -> bool:
    text = line.strip()
    return len(text) >= len(mark) and set(text) == {mark[0]}


def _line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading:
        # bold by the text's own words would need their emphasis balanced; a heading of level 4
        # needs nothing
        said = heading[1].rstrip().rstrip("#").rstrip()
        return f"#### {inline(said)}" if said else ""
    for marker in (_BULLET, _NUMBERED):
        match = marker.match(line)
        if match:
            indent = min(len(line) - len(line.lstrip()), 3)
            return " " * indent + match[0].strip() + " " + inline(line[match.end() :])
    return inline(line)
