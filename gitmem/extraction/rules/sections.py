"""What the sections of a document tell of its errors.

This is a section under a heading for errors, or each paragraph that says what was wrong and then
why. The module is pure.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.sentences import Sentence
from gitmem.extraction.language.words import content
from gitmem.extraction.rules import sentence_rules
from gitmem.records.items import ERROR

ALL = "all"  # nothing below is to be: `Out of scope`
# choices below were refused; a box may be a task, as the screen that shows what was rejected:
# `Rejected`
CHOICES = "choices"

# a point that says of itself that it does not count: `Use Kafka (rejected)`, `Use Kafka — rejected,
# too heavy`
_DROPPED = re.compile(
    r"(?i)(?:[(\[]|\s[-–—]\s|: )(?:rejected|declined|superseded|deprecated|discarded|abandoned"
    r"|rejeitad[oa]|rechazad[oa]|descartad[oa]|substituíd[oa]|sustituid[oa]|已?(?:拒绝|废弃|否决))(?:\b"
    r"|(?=[\u4e00-\u9fff]|$))"
)
# a bracket at the end that holds nothing else, but for a reason or a date
_CLOSED = re.compile(
    r"(?i)[(\[](?:rejected|declined|discarded|abandoned|dropped|won.?t ?fix|not planned|cancell?ed"
    r"|cancelad[oa]|rejeitad[oa]|rechazad[oa]|descartad[oa]|已?(?:拒绝|废弃|否决|取消))"
    r"(?:[:,;–—-][^()\[\]]*|\s+\d[^()\[\]]*)?[)\]]\W*$"
)
# what may stand after a heading that refuses: `for v1`, `(for now)`, `da v1`; `Rejected in
# production` is a heading of another kind
_WHERE = (
    r"(?:\W+(?:now|here|yet|ever|today|agora|aqui|ahora|aquí|todavía|ainda|(?:for|in|of"
    r"|until) (?:now|the (?:moment|first|next|mvp)|this|v?\d|mvp\b|phase|release|milestone).{0,30}"
    r"|(?:d[aeo]|del|de la|dest[ae]|n[ao]|nest[ae]|en(?: la| est[ae])?|para|por) (?:v?\d|mvp\b"
    r"|agora|ahora|enquanto|est[ae]|prim|vers|fase|release|entrega|sprint).{0,30}))?\W*$"
)
_NUMBER = r"(?i)^\W*(?:\d+(?:\.\d+)*[.)]? *)?"
_NOTHING = re.compile(
    _NUMBER + r"(?:(?:(?:what|things|features) )?we(?: are not|[’']re not| aren[’']?t| will not"
    r"| won[’']?t)(?: be)?(?: going to)? (?:do|doing|fix|fixing|build|building|ship|shipping"
    r"|support|supporting)"
    r"|(?:will not|won[’']?t) (?:do|fix)|non[- ]?goals?|not (?:doing|planned)"
    r"|não[- ]objetivos|(?:o que )?não (?:faremos|vamos fazer)|no[- ]objetivos"
    r"|(?:lo que )?no (?:haremos|vamos a hacer)"
    r"|(?:暂|先|目前|现在|本期|本次)?不(?:会)?做的?(?:事情?|内容|功能)?|(?:不在|超出)?(?:本期|本次)?范围(?:之|以)?外|不在(?:本期"
    r"|本次)?范围(?:之|以)?内|超出(?:本期|本次)?范围|非目标)" + _WHERE
)
_SCOPE = re.compile(
    _NUMBER
    + r"(?:(?:explicitly )?(?:out[- ]of[- ]|not in )scope(?: items)?|fora d[oe] (?:escopo|âmbito)"
    r"|fuera del? alcance)(?: *[(:—–-].{1,40}| (?:for|of|until|d[aeo]|del|de la"
    r"|para) .{1,30})?\W*$"
)
_HEAD = r"(?:alternatives?|options?|ideas?|approach(?:es)?|decisions?|proposals?|designs?)"
_REFUSED = r"(?:rejected|discarded|abandoned|ruled out|turned down)"
_CHOICES = re.compile(
    _NUMBER + rf"(?:(?:considered (?:and |but )?)?{_REFUSED}(?: {_HEAD})?"
    rf"|(?:{_HEAD} )?(?:(?:considered )?(?:and |but )|(?:that )?(?:we )?(?:have "
    rf"|were )?)?{_REFUSED}|what (?:we|was|were) {_REFUSED}"
    r"|(?:(?:alternativas|decisiones|decisões|ideas|ideias|opciones|opções|propuestas"
    r"|propostas) )?(?:rejeitad|descartad|rechazad)[oa]s?"
    r"|(?:已|被)?(?:否决|拒绝|放弃)的?(?:方案|选项|想法)?)" + _WHERE
)
_CLOSES = re.compile(
    r"(?i)[(\[](?:rejected|declined|discarded|abandoned|dropped|rejeitad[oa]s?|rechazad[oa]s?"
    r"|descartad[oa]s?|已?(?:拒绝|废弃|否决))[)\]]\W*$"
)


@lru_cache(maxsize=1024)
def refusal(heading: str) -> str:
    """Return what a heading, or the line before a list, refuses of what is below it.

    The result is ALL, CHOICES or nothing.
    """
    if len(heading) > sentence_rules.HEADING:
        return ""
    if _NOTHING.match(heading) or _SCOPE.match(heading):
        return ALL
    return CHOICES if _CHOICES.match(heading) or _CLOSES.search(heading) else ""


def dropped(sentence: Sentence, below: str = "") -> bool:
    """Return whether a point does not count.

    It says so of itself, or it is below a refusal: in its own heading, or in one above that
    (`below`).

    What is marked counts wherever it stands.
    """
    if not sentence.point or sentence.box not in ("", " "):
        return False
    if not sentence_rules.labelled(sentence.text):
        refused = refusal(sentence.lead or sentence.heading) or below
        if refused == ALL or (refused and not sentence.box):
            return True
    return bool(
        _CLOSED.search(sentence.text) or (not sentence.box and _DROPPED.search(sentence.text))
    )


BOLD = 7  # the level of a heading that is a line in bold type: below all others
FEWEST = 2  # content words of what went wrong
# sections that are about errors, and tell of none
_ABOUT = re.compile(
    r"(?i)\b(?:error|exception|failure)s?[- ](?:handling|codes?|messages?|reporting|format|types?"
    r"|pages?|budget)\b|\bhandling (?:of )?(?:errors|failures)|troubleshooting"
    r"|\b(?:tratamento|códigos?|mensagens) de erros?\b|\b(?:manejo|códigos?|mensajes) de errores\b"
    r"|错误(?:处理|码|信息|提示)"
)
_LEVEL = re.compile(r"#{1,6}(?= )")


class Sections:
    """The headings that a document's text stands under."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str, str]] = []  # their levels, kinds, and what they refuse

    def heading(self, line: str, text: str, language: str) -> str:
        """Take a heading.

        Return what it says went wrong, where it stands under one for errors and names nothing else.
        """
        found = _LEVEL.match(line.lstrip())
        level = len(found.group()) if found else BOLD
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        kind = "" if _ABOUT.search(text) else sentence_rules.headed(text)
        names = (
            not kind
            and self.errors
            and not sentence_rules.asks(text, language)
            and len(content(text, language)) >= FEWEST
        )
        # a line in bold type names its list alone
        self._path.append((level, kind, refusal(text) if level < BOLD else ""))
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
        """Return whether sentences say first what was wrong, then why or what helped.

        They are those of a paragraph or of a point. With `named`, it begins with a name in bold
        type.
        """
        first = said[0]
        here = cues(language)
        if (
            first.box
            or sentence_rules.labelled(first.text)
            or sentence_rules.asks(first.text, language)
            or here.find("error", "not", first.text)
        ):
            return False
        if len(content(first.text, language)) < FEWEST or (self.kind and not self.errors):
            return False
        stated = bool(
            here.find("error", "stated", first.text) or here.find("exchange", "symptom", first.text)
        )
        more = [one.text for one in said[1:]]
        explained = any(
            here.find("error", "cause", one)
            or here.find("error", "fix", one)
            or sentence_rules.fixing(one)
            for one in more
        )
        if self.errors:
            sure = named or first.point or stated or explained
            return sure and (len(said) > 1 or stated) and not here.find("task", "sure", first.text)
        return stated and explained
