"""How much of a text a line of a terminal holds."""

import re
from collections.abc import Iterator
from unicodedata import combining, east_asian_width

_STYLE = re.compile(r"\x1b\[[\d;]*m")
CUT = "…"
_TOKEN = re.compile(r"[^ ]++| ++")
_END = (",", ".", ";", ":", ")")  # of a command in a sentence
HANGING = 2  # columns by which a line that goes on is indented
LABEL = re.compile(r"\s*\S+ {2,}")  # what stands before a column of values


def cell_count(text: str) -> int:
    """Return how many columns of a terminal a text takes; styles take none."""
    bare = _STYLE.sub("", text)
    if bare.isascii():
        return len(bare)
    return sum(map(_cells, bare))


def _cells(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def cut_line(text: str, room: int) -> str:
    """Return a line as far as some columns hold it; one that is cut ends in `…`."""
    if cell_count(text) <= room:
        return text
    out, used, is_styled = [], 0, False
    for part in re.split(rf"({_STYLE.pattern})", text):
        if _STYLE.fullmatch(part):
            out.append(part)
            is_styled = True
            continue
        fits = _fitting(part, room - 1 - used)
        out.append(part[:fits])
        used += cell_count(part[:fits])
        if fits < len(part):
            break
    end = "\x1b[0m" if is_styled else ""
    return "".join(out).rstrip() + CUT + end


def _fitting(text: str, room: int) -> int:
    """Return how many characters of a text fit into some columns."""
    if text.isascii():
        return max(0, min(len(text), room))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cell_count(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def wrap_line(text: str, room: int) -> Iterator[str]:
    """Yield a sentence as lines of at most some columns, broken between words.

    A line that goes on is indented: to the values where a label stands in front of them. A command
    stays on one line, so that it can be copied.
    """
    if cell_count(text) <= room:
        yield text
        return
    label = LABEL.match(_STYLE.sub("", text))
    indent = min(len(text) - len(text.lstrip(" ")) + HANGING, room // 2)
    if label and label.end() <= room // 2:
        indent = label.end()
    line = ""
    for word in _words(text, room - indent):
        if line.strip() and cell_count(line) + cell_count(word) > room:
            yield line
            line, word = " " * indent, word.lstrip()
        line += word
    yield line


def _words(text: str, room: int) -> Iterator[str]:
    """Yield words with the blanks before them, a command as one word.

    A long word without blanks, as Chinese has, comes in parts.
    """
    word = ""
    for token in _TOKEN.findall(text.rstrip()):
        word += token
        if token[0] == " " or _is_open_command(word):
            continue
        while not word.isascii() and cell_count(word) > room > 1:
            fits = max(1, _fitting(word, room))
            yield word[:fits]
            word = word[fits:]
        yield word
        word = ""
    if word:
        yield word


def _is_open_command(word: str) -> bool:
    """Return whether a word begins a command of ours that goes on after it."""
    command = word.lstrip(" (")
    if command != "git" and not command.startswith(("git mem", "git config")):
        return False
    return not word.endswith(_END) or word.count("'") % 2 == 1
