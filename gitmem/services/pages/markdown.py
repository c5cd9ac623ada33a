"""Texts of records as Markdown that loads, runs and hides nothing. Pure."""

import re

from gitmem.text.echo import visible

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&!#]")
_CODE = re.compile(r"^(?: {4}|\t| {0,3}(?:```|~~~))", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ACTIVE = re.compile(r"\\|`|<|&|\](?=[(:\[])|!(?=\[)")
LINES = 40  # of a body
_BLOCK = re.compile(r"[-+=]|\d+(?=[.)])")  # what begins a list or underlines a heading
SUMMARY = 240  # characters of a text that is cut to its beginning


def escape(text: object) -> str:
    """Return a text as one line of Markdown that shows it as it is."""
    return _SPECIAL.sub(r"\\\g<0>", visible(" ".join(str(text).split())))


def code(text: str) -> str:
    """Return a text as one line of code."""
    return f"`{visible(' '.join(text.replace('`', '').split()))}`"


def beginning(body: str) -> str:
    """Return the first paragraph of a body as one escaped line; a long one is cut."""
    line = " ".join(body.strip().partition("\n\n")[0].split())
    text = escape(line if len(line) <= SUMMARY else line[: SUMMARY - 1].rstrip() + "…")
    if block := _BLOCK.match(text):
        mark = block[0]
        return f"{mark}\\{text[len(mark) :]}" if mark.isdigit() else f"\\{text}"
    return text


def body_lines(body: str, *, is_output: bool) -> list[str]:
    """Return the lines of a body; `is_output` says that a tool printed it."""
    every = [visible(line.expandtabs()) for line in body.strip("\n").split("\n")]
    lines = [*every[:LINES], *(["…"] if len(every) > LINES else [])]
    # where code begins and ends is for the reader's Markdown to say: all of it is code
    if is_output or _CODE.search(body):
        fence = "~" * max(3, 1 + max(map(len, re.findall("~+", body)), default=0))
        return [fence, *lines, fence]
    return [_harmless(line) for line in lines]


def _harmless(line: str) -> str:
    """Return a line with its HTML, links and pictures as plain text.

    Emphasis, lists and code stay Markdown.
    """
    out, at = "", 0
    for span in _SPAN.finditer(line):
        out += _ACTIVE.sub(r"\\\g<0>", line[at : span.start()]) + span[0]
        at = span.end()
    return out + _ACTIVE.sub(r"\\\g<0>", line[at:])
