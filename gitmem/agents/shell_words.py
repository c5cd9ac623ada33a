"""The words and operators of a shell command, in one pass. Pure; the hot path imports this.

`shlex` imports `re`, which takes a hook longer than all of this, and breaks words at signs that a
shell has in them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 32_768  # characters of a command that are looked at
WORDS = 200  # words of one simple command that are looked at
ELSEWHERE = "2>"  # a redirection of what is not the standard output
SEPARATORS = frozenset(("&&", "||", ";", ";;", "\n", "|", "|&", "&"))
OPERATORS = frozenset(
    ("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<<", "<&", "<>", "<", ">", "(", ")")
)
_SIGNS = SEPARATORS | OPERATORS
_LONGEST_SIGN = 3
_FIRSTS = frozenset(sign[0] for sign in _SIGNS)
_BLANKS = frozenset(" \t\r")
_SPECIAL = _FIRSTS | _BLANKS | frozenset("\\'\"")
_ESCAPED = frozenset('"\\$`\n')  # what a backslash changes in double quotes

_WRITERS = frozenset(("apply_patch", "cp", "mv", "perl", "sed", "tee"))
_BREAKS = str.maketrans(dict.fromkeys(";|&()<>'\"`", " "))
_KEPT_OUT = (">&1", ">&2", ">/dev/null", "> /dev/null")  # redirections that write to no file


def may_write(command: str) -> bool:
    """Return whether a command redirects into a file or names a program that writes files."""
    if any(name in command for name in _WRITERS):
        words = command[:LONGEST].translate(_BREAKS).split()
        if not _WRITERS.isdisjoint(words) or not _WRITERS.isdisjoint(
            word.rpartition("/")[2] for word in words
        ):
            return True
    for target in _KEPT_OUT:
        command = command.replace(target, "")
    return ">" in command


def simple_commands(text: str) -> "Iterator[list[str]]":
    """Yield the words and redirections of the simple commands of a line.

    Nothing of the last where a quote has no end.
    """
    words: list[str] = []
    for token in _Reader(text).tokens():
        if token is None:
            return
        word, is_sign = token
        if is_sign and word in SEPARATORS:
            if words:
                yield words
            words = []
        elif len(words) < WORDS:
            words.append(word)
    if words:
        yield words


class _Reader:
    """Reads a command from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._word: str | None = None  # None between two words, for a word may be empty
        self._is_plain = True  # whether nothing of the word is quoted

    def tokens(self) -> "Iterator[tuple[str, bool] | None]":
        """Yield (text, whether it is an operator) of each word.

        None for a quote without its end.
        """
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in _FIRSTS:
                sign = self._sign()
                if self._word is not None and not self._is_descriptor(sign):
                    yield self._word, False
                yield self._redirected(sign), True
                self._end_word()
            elif char in _BLANKS:
                self._at += 1
                if self._word is not None:
                    yield self._word, False
                    self._end_word()
            elif not self._take(char):
                yield None
                return
        if self._word is not None:
            yield self._word, False

    def _end_word(self) -> None:
        self._word, self._is_plain = None, True

    def _is_descriptor(self, sign: str) -> bool:
        """Say whether the word before a redirection is the number of what is redirected."""
        return self._is_plain and (self._word or "").isdecimal() and sign[0] in "<>"

    def _redirected(self, sign: str) -> str:
        is_other = self._is_descriptor(sign) and self._word != "1" and sign[0] == ">"
        return ELSEWHERE if is_other else sign

    def _sign(self) -> str:
        """Read an operator, the longest that it may be."""
        for length in range(_LONGEST_SIGN, 1, -1):
            sign = self._text[self._at : self._at + length]
            if sign in _SIGNS:
                break
        else:
            sign = self._text[self._at]
        self._at += len(sign)
        return sign

    def _take(self, char: str) -> bool:
        """Read a part of a word; say whether it has an end."""
        text, start = self._text, self._at
        if char == "'":
            end = text.find("'", start + 1)
            part, self._at = text[start + 1 : end], end + 1
        elif char == '"':
            part, end = self._double_quoted()
        elif char == "\\":
            part, end = text[start + 1 : start + 2], start + 2
            self._at = end
            if part == "\n":
                return True  # the line goes on
        else:
            end = start + 1
            while end < len(text) and text[end] not in _SPECIAL:
                end += 1
            part, self._at = text[start:end], end
        self._is_plain = self._is_plain and char not in "'\"\\"
        self._word = (self._word or "") + part
        return end >= 0

    def _double_quoted(self) -> "tuple[str, int]":
        """Read what stands in double quotes; return it and where it ends, -1 for nowhere."""
        text, at = self._text, self._at + 1
        parts: list[str] = []
        while (end := text.find('"', at)) >= 0:
            escape = text.find("\\", at, end)
            if escape < 0:
                parts.append(text[at:end])
                self._at = end + 1
                return "".join(parts), end
            following = text[escape + 1 : escape + 2]
            kept = "" if following in _ESCAPED else "\\"
            parts += text[at:escape], kept, following.replace("\n", "") if not kept else following
            at = escape + 2
        return "", -1
