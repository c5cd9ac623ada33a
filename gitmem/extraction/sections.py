"""The headings that a document's text stands under, and what they say of it. Pure."""

import re

from gitmem.extraction.markers import headed, heading_is, labelled
from gitmem.extraction.phrases import in_any_language, tokenized
from gitmem.extraction.sentences import Sentence
from gitmem.records.items import ERROR

ALL, CHOICES = "all", "choices"  # what a heading refuses: `Out of scope`; `Rejected`
BOLD = 7  # the level of a heading that is a line in bold type: below all others
_LEVEL = re.compile(r"#{1,6}(?= )")
_DASHES = str.maketrans(dict.fromkeys("()[]（）", " — "))


def refusal(heading: str) -> str:
    """Return what a heading refuses of what is below it: ALL, CHOICES or nothing."""
    if heading_is(heading, "refused"):
        return ALL
    if heading_is(heading, "rejected") or _says_dropped(heading):
        return CHOICES
    return ""


def is_dropped(sentence: Sentence, below: str = "") -> bool:
    """Return whether a point does not count, by its own words, its heading, or one above that."""
    if not sentence.point or sentence.box not in ("", " "):
        return False
    if not labelled(sentence.text):
        refused = refusal(sentence.lead or sentence.heading) or below
        if refused == ALL or (refused and not sentence.box):
            return True
    return _says_dropped(sentence.text)


def _says_dropped(text: str) -> bool:
    """Return whether a text says of itself that it does not count: `Use Kafka (rejected)`."""
    return in_any_language("guards", "dropped", f"{tokenized(text.translate(_DASHES))}$ ")


def is_option(sentence: Sentence) -> bool:
    """Return whether a sentence is one of several considered points, not all of which are taken."""
    heading = sentence.lead or sentence.heading
    return sentence.point and not sentence.box and heading_is(heading, "options")


def kind_under(sentence: Sentence) -> str:
    """Return the kind that a sentence's heading, or the line before its list, names."""
    for words in (sentence.lead, sentence.heading):
        if words.endswith(("?", "？")):
            return ""
        if kind := headed(words):
            return kind
    return ""


class Sections:
    """The path of headings above a text."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str, str]] = []  # levels, kinds, and what they refuse

    def heading(self, line: str, text: str) -> bool:
        """Take a heading; return whether it says what went wrong, under one for errors."""
        level_mark = _LEVEL.match(line.lstrip())
        level = len(level_mark.group()) if level_mark else BOLD
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        kind = headed(text)
        names_error = not kind and self.kind == ERROR and not text.endswith(("?", "？"))
        self._path.append((level, kind, refusal(text) if level < BOLD else ""))
        return names_error and " " in text

    def end_list(self) -> None:
        """End what a line before a list named."""
        if self._path and self._path[-1][0] == BOLD:
            self._path.pop()

    @property
    def kind(self) -> str:
        """The kind that the innermost heading names, if any does."""
        return next((kind for _, kind, _ in reversed(self._path) if kind), "")

    @property
    def refused(self) -> str:
        """What the headings refuse of the text."""
        return next((refused for _, _, refused in reversed(self._path) if refused), "")
