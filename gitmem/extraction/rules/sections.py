"""What the sections of a document tell of its errors: one under a heading for errors, each paragraph that says what was wrong and then why. Pure."""

import re
from collections.abc import Sequence

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules as rules
from gitmem.extraction.rules.rejected import refusal
from gitmem.records.items import ERROR

BOLD = 7  # the level of a heading that is a line in bold type: below all others
FEWEST = 2  # content words of what went wrong
# sections that are about errors, and tell of none
_ABOUT = re.compile(
    r"(?i)\b(?:error|exception|failure)s?[- ](?:handling|codes?|messages?|reporting|format|types?|pages?|budget)\b|\bhandling (?:of )?(?:errors|failures)|troubleshooting"
    r"|\b(?:tratamento|códigos?|mensagens) de erros?\b|\b(?:manejo|códigos?|mensajes) de errores\b|错误(?:处理|码|信息|提示)"
)
_LEVEL = re.compile(r"#{1,6}(?= )")


class Sections:
    """The headings that a document's text stands under."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str, str]] = []  # their levels, kinds, and what they refuse

    def heading(self, line: str, text: str, language: str) -> str:
        """Take a heading; return what it says went wrong, where it stands under one for errors and names nothing else."""
        found = _LEVEL.match(line.lstrip())
        level = len(found.group()) if found else BOLD
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        kind = "" if _ABOUT.search(text) else rules.headed(text)
        names = not kind and self.errors and not rules.asks(text, language) and len(content(text, language)) >= FEWEST
        self._path.append((level, kind, refusal(text) if level < BOLD else ""))  # a line in bold type names its list alone
        return text if names else ""

    def breaks(self) -> None:
        """What a line before a list named ends."""
        if self._path and self._path[-1][0] == BOLD:
            self._path.pop()

    @property
    def kind(self) -> str:
        """What the innermost heading that names a kind names."""
        return next((kind for _, kind, _ in reversed(self._path) if kind), "")

    @property
    def refused(self) -> str:
        """What the headings refuse of the text (`refusals`): the innermost that refuses tells."""
        return next((refused for _, _, refused in reversed(self._path) if refused), "")

    @property
    def errors(self) -> bool:
        """Whether the text stands under a heading for errors."""
        return self.kind == ERROR

    def wrong(self, said: Sequence[Sentence], language: str, *, named: bool = False) -> bool:
        """Say whether the first of the sentences of a paragraph, or of a point, says what was wrong, and the others why, or what helped. `named`: it begins with a name in bold type."""
        first = said[0]
        here = cues(language)
        if first.box or rules.labelled(first.text) or rules.asks(first.text, language) or here.find("error", "not", first.text):
            return False
        if len(content(first.text, language)) < FEWEST or (self.kind and not self.errors):
            return False
        stated = bool(here.find("error", "stated", first.text) or here.find("exchange", "symptom", first.text))
        more = [one.text for one in said[1:]]
        explained = any(here.find("error", "cause", one) or here.find("error", "fix", one) or rules.fixing(one) for one in more)
        if self.errors:
            sure = named or first.point or stated or explained
            return sure and (len(said) > 1 or stated) and not here.find("task", "sure", first.text)
        return stated and explained
