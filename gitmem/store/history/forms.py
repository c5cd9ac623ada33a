"""Finds texts in whatever mixture of plain characters and JSON escapes they were written.

A character is matched plain, as `\\u00e9`, or as a short escape such as `\\"` or `\\/`, each also
with the backslashes doubled that JSON inside of JSON has. A line break is matched in both of its
forms, and a letter at the beginning in both cases: a session record begins a sentence with it.
"""

import re
from collections.abc import Iterable

_SHORT = {'"': '"', "/": "/", "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_DEEP = 7  # backslashes before an escape: three levels of JSON in JSON
_PLAIN = re.compile(r"[A-Za-z0-9]+")


class Forms:
    """Texts, ready to be looked for in texts and in bytes."""

    def __init__(self, texts: Iterable[str]) -> None:
        ordered = sorted(set(texts), key=lambda text: (-len(text), text))
        source = "|".join(_pattern(text) for text in ordered)
        self._text = re.compile(source) if ordered else None
        encoded = source.encode("utf-8", "surrogateescape")
        self._bytes = re.compile(encoded) if ordered else None
        self._cores = [_core(text) for text in ordered]
        self.longest = max((len(text.encode("utf-8", "replace")) for text in ordered), default=0)

    def replace(self, text: str, by: str) -> tuple[str, int]:
        """Return a text with each of the texts replaced, and how many were."""
        if self._text is None:
            return text, 0
        return self._text.subn(by, text)

    def replace_bytes(self, data: bytes, by: bytes) -> tuple[bytes, int]:
        """Return bytes with each of the texts replaced, and how many were."""
        if self._bytes is None or not self._may_be_in(data):
            return data, 0
        return self._bytes.subn(by, data)

    def are_in(self, data: bytes) -> bool:
        """Say whether bytes hold one of the texts."""
        if self._bytes is None or not self._may_be_in(data):
            return False
        return self._bytes.search(data) is not None

    def _may_be_in(self, data: bytes) -> bool:
        """Return whether a closer look is worthwhile.

        It is if the data has letters that have to be there, plain or escaped.
        """
        return b"\\u00" in data or any(core in data for core in self._cores)


def _core(text: str) -> bytes:
    """Return the longest part of a text that only `\\u00xx` can write in another way."""
    return max(_PLAIN.findall(text[1:]), key=len, default="").encode()


def _pattern(text: str) -> str:
    out = []
    for number, part in enumerate(re.findall(r"\\+|[^\\]", text, re.DOTALL)):
        if (
            number == 0
            and part.swapcase().swapcase() == part != part.swapcase()
            and len(part.swapcase()) == 1
        ):
            out.append(f"(?:{_character(part)}|{_character(part.swapcase())})")
        elif part[0] == "\\":
            out.append(
                rf"(?:\\{{{len(part)},{8 * len(part)}}}|(?:\\{{1,{_DEEP}}}u005[cC]){{{len(part)}}})"
            )
        else:
            out.append(_character(part))
    return "".join(out)


def _character(char: str) -> str:
    """Return an expression for one character in all its forms."""
    forms = [re.escape(char)]
    if char in _SHORT:
        forms.append(rf"\\{{1,{_DEEP}}}{_SHORT[char]}")
    if char == "\n":
        forms += [r"\r\n", rf"\\{{1,{_DEEP}}}r\\{{1,{_DEEP}}}n"]
    if char < "\udc80" or char > "\udcff":  # a byte that is not UTF-8 has no escape
        forms.append(_by_number(char))
    return f"(?:{'|'.join(forms)})"


def _by_number(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    out = ""
    for at in range(0, len(units), 2):
        number = f"{units[at]:02x}{units[at + 1]:02x}"
        digits = "".join(f"[{d}{d.upper()}]" if d.isalpha() else d for d in number)
        out += rf"\\{{1,{_DEEP}}}u{digits}"
    return out
