"""What a document says is not to be: points that take themselves back, and headings that refuse all that stands below them. Pure."""

import re
from functools import lru_cache

from gitmem.summarise import rules
from gitmem.summarise.cues import cues
from gitmem.summarise.sentences import Sentence

ALL = "all"  # nothing below is to be: `Out of scope`
CHOICES = "choices"  # choices below were refused; a box may be a task, as the screen that shows what was rejected: `Rejected`

# a point that says of itself that it does not count: `Use Kafka (rejected)`, `Use Kafka — rejected, too heavy`
_DROPPED = re.compile(
    r"(?i)(?:[(\[]|\s[-–—]\s|: )(?:rejected|declined|superseded|deprecated|discarded|abandoned|rejeitad[oa]|rechazad[oa]|descartad[oa]|substituíd[oa]|sustituid[oa]|已?(?:拒绝|废弃|否决))(?:\b|(?=[\u4e00-\u9fff]|$))"
)
# a bracket at the end that holds nothing else, but for a reason or a date
_CLOSED = re.compile(
    r"(?i)[(\[](?:rejected|declined|discarded|abandoned|dropped|won.?t ?fix|not planned|cancell?ed|cancelad[oa]|rejeitad[oa]|rechazad[oa]|descartad[oa]|已?(?:拒绝|废弃|否决|取消))"
    r"(?:[:,;–—-][^()\[\]]*|\s+\d[^()\[\]]*)?[)\]]\W*$"
)
# what may stand after a heading that refuses: `for v1`, `(for now)`, `do MVP`
_WHERE = r"(?:\W+(?:now|here|yet|ever|today|agora|aqui|ahora|aquí|todavía|ainda|(?:for|in|of|from|until|at|d[aeo]|del|de la|n[ao]|en(?: la)?|para|por|nest[ae]) .{1,30}))?\W*$"
_NUMBER = r"(?i)^\W*(?:\d+(?:\.\d+)*[.)]? *)?"
_NOTHING = re.compile(
    _NUMBER
    + r"(?:(?:(?:what|things|features) )?we (?:are not|aren[’']?t|will not|won[’']?t)(?: be)?(?: going to)? (?:do|doing|fix|fixing|build|building|ship|shipping|support|supporting)|(?:will not|won[’']?t) (?:do|fix|build)"
    r"|(?:explicitly )?(?:out[- ]of[- ]|not in )scope|non[- ]?goals?|not (?:doing|planned)"
    r"|fora d[oe] (?:escopo|âmbito)|não[- ]objetivos|(?:o que )?não (?:faremos|vamos fazer)|fuera del? alcance|no objetivos|(?:lo que )?no (?:haremos|vamos a hacer)"
    r"|(?:暂|先|目前|现在)?不(?:会)?做的?(?:事情?|内容|功能)?|(?:不在)?范围(?:之|以)?外|不在范围(?:之|以)?内|非目标)" + _WHERE
)
_HEAD = r"(?:alternatives?|options?|ideas?|approach(?:es)?|decisions?|proposals?|designs?)"
_REFUSED = r"(?:rejected|discarded|abandoned|ruled out|turned down)"
_CHOICES = re.compile(
    _NUMBER + rf"(?:(?:considered (?:and |but )?)?{_REFUSED}(?: {_HEAD})?|(?:{_HEAD} )?(?:(?:considered )?(?:and |but )|(?:that )?(?:we )?(?:have |were )?)?{_REFUSED}|what (?:we|was|were) {_REFUSED}|{_HEAD} (?:we )?considered|considered {_HEAD}"
    r"|(?:(?:alternativas|decisiones|decisões|ideas|ideias|opciones|opções|propuestas|propostas) )?(?:rejeitad|descartad|rechazad)[oa]s?"
    r"|(?:已|被)?(?:否决|拒绝|放弃)的?(?:方案|选项|想法)?)" + _WHERE
)  # fmt: skip
_CLOSES = re.compile(
    r"(?i)[(\[](?:rejected|declined|discarded|abandoned|dropped|rejeitad[oa]s?|rechazad[oa]s?|descartad[oa]s?|已?(?:拒绝|废弃|否决))[)\]]\W*$"
)


@lru_cache(maxsize=1024)
def refusal(heading: str) -> str:
    """Return what a heading, or the line before a list, refuses of what stands below it: ALL, CHOICES, or nothing."""
    if len(heading) > rules.HEADING:
        return ""
    if _NOTHING.match(heading):
        return ALL
    return CHOICES if _CHOICES.match(heading) or _CLOSES.search(heading) else ""


def dropped(sentence: Sentence, language: str, below: str = "") -> bool:
    """Whether a sentence does not count: a point that says so of itself, or what stands below a refusal, be it of its own heading or of one above that (`below`).

    What is marked counts wherever it stands, and so does prose that tells a decision by itself: `We decided against Kafka`.
    """
    if sentence.box not in ("", " "):
        return False
    if not (sentence.point or below):
        return False
    if not rules.labelled(sentence.text):
        refused = refusal(sentence.lead or sentence.heading) or below
        if refused == ALL or (refused and not sentence.box):
            return sentence.point or not cues(language).find("decision", "sure", sentence.text)
    return sentence.point and bool(_CLOSED.search(sentence.text) or (not sentence.box and _DROPPED.search(sentence.text)))
