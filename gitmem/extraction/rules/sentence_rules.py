"""What kind of thing one sentence teaches, if any, and how surely.

Pure; the cue phrases are data (`cues`).
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from gitmem.extraction.language.cue_phrases import Cues, cues, markers
from gitmem.extraction.language.sentences import Sentence
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER

MARKED, SURE, LIKELY, WEAK = 0.95, 0.8, 0.62, 0.45
# characters of a line before a list, and how much of it the words must be that name a kind
LEAD, NAMED = 40, 0.4
HEADING = 90  # characters of a heading that names a kind
SHORTEST, LONGEST = 8, 420  # characters of a sentence that can teach something
_ORDER = (PREFERENCE, TASK, DECISION, DONE, PATTERN, CONTEXT)
_NEXT = re.compile(r"(?i)^(?:next(?: up)?|próxim[oa]|siguiente|now|接下来|下一个)\s*[:：]")
_OPTIONS = re.compile(
    r"(?i)^\W*(?:\d+[.)] *)?(?:(?:considered|the|our|other|possible|open|some|as|outras|otras"
    r"|possíveis|posibles) )?(?:options?|alternatives?|ideas?|candidates|brainstorm\w*|maybe later"
    r"|opções|opção|alternativas?|ideias|opciones)\b"
    r"|^(?:备选|可选方案|方案对比|想法)"
)
_REFUSED = re.compile(r"(?i)^(?:no|nada de|sem|sin) \S")
_OF_USER = re.compile(
    r"(?i)\b(?:the user|user|usuário|utilizador|usuario|you prefer|you want|your preference|(?:sua"
    r"|tua|su|tu) preferência|preferencia)\b|用户|你(?:希望|喜欢|要求)"
)
_QUOTED = re.compile(r"^[\"'“«‘「『].*[\"'”»’」』][.!。]?$")
# a name with a version, an address
_VERSION = re.compile(
    r"\b[A-Z][A-Za-z+#.]{0,20}(?: [A-Z][A-Za-z]{1,20})?(?: is| é| es| version| versão| versión|版本是"
    r"|是|版本)? ?v?\d+(?:\.\d+)+\b|\b(?:python|node|go|ruby|php|java|postgres|mysql|redis|rust|django"
    r"|rails|react|vue|kotlin|swift|terraform|ubuntu|debian|alpine)"
    r" v?\d+(?:\.\d+)*\b|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:Debian|Ubuntu|Windows|macOS|iOS|Android"
    r"|Node|Java|JDK|PHP|Rails|Django|Postgres|PostgreSQL|Electron|Angular|React|Vue|Ruby|Python"
    r"|Kafka|Redis|MySQL|Spring Boot)"
    r"(?: is| é| es|是| )? ?v?\d+\b"
)
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u4e00-\u9fff]|[^\W\d_]\d+[^\W\d_]")


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """What a sentence is taken for."""

    kind: str
    text: str
    score: float
    marker: bool = False


def judged(sentence: Sentence, role: str, language: str) -> SentenceReading | None:
    """Return what a sentence teaches, None for nothing.

    Errors are told by their markers alone; what else is said of them is `offline_errors`'.
    """
    text = sentence.text
    if sentence.box:
        return (
            None
            if sentence.box == "-"
            else _made(DONE if sentence.box == "x" else TASK, text, MARKED, language, marker=True)
        )
    marker = labelled(text) or labelled(stripped(text, language))
    if marker is not None:
        kind, rest = marker
        if kind == TASK and (
            (role == USER and _NEXT.match(text))
            or cues(language).find("skip", "boilerplate", rest)
            or cues(language).find("task", "not", rest)
        ):
            # what the user wants next, and what the agent looks at next, is not left to be done
            return None
        if (
            kind == TASK
            and cues(language).find("error", "stated", rest)
            and not cues(language).find("error", "not", rest)
            and not cues(language).find("task", "sure", rest)
        ):
            kind = ERROR  # `Blocked: the build fails`
        return (
            _made(kind, rest, MARKED, language, marker=True)
            if not asks(rest, language) and _tells(rest)
            else None
        )
    if (
        not SHORTEST // 2 <= len(text) <= LONGEST
        or _QUOTED.match(text)
        or not _LETTERS.search(text)
    ):
        return None
    if asks(text, language) or _passed_over(text, role, language):
        return None
    under = _under(sentence)
    if (
        under
        and sentence.point
        and sentence.opens
        and (said := _made(under, text, SURE, language, marker=True))
    ):
        return said
    return _cued(text, role, language)


@lru_cache(maxsize=4096)
def _cued(text: str, role: str, language: str) -> SentenceReading | None:
    """Return what the cue phrases of a sentence say, whatever it stands under."""
    here = cues(language)
    best: SentenceReading | None = None
    for kind in _ORDER:
        score = _score(here, kind, text, role)
        if score and (best is None or score > best.score + 0.01):
            best = _made(kind, text, score, language)
    if (
        best is None
        and role == USER
        and _VERSION.search(text)
        and not here.find("exchange", "request", text)
        and not here.find("error", "stated", text)
    ):
        best = _made(CONTEXT, text, LIKELY + 0.06, language)
    if (
        best
        and best.kind == PREFERENCE
        and role == USER
        and _REFUSED.match(text)
        and not here.find("exchange", "style", text)
    ):
        return SentenceReading(DECISION, best.text, best.score)
    return best


@lru_cache(maxsize=8192)
def labelled(text: str) -> tuple[str, str] | None:
    """Return the kind that a marker in front of a text names, and the rest: `Decision: ...`."""
    if not any(mark in text[:60] for mark in ":：]—–"):
        return None
    for kind, marker, _ in markers():
        found = marker.match(text)
        if found:
            return kind, text[found.end() :].strip(" *_-—–")
    return None


def options(sentence: Sentence) -> bool:
    """Return whether a sentence is one of several considered points: options, ideas.

    Not all of these were taken.
    """
    return (
        sentence.point
        and not sentence.box
        and bool(_OPTIONS.search(sentence.lead or sentence.heading))
        and not _under(sentence)
    )


def asks(text: str, language: str) -> bool:
    """Whether a sentence asks and tells nothing."""
    end = text.rstrip("\"'”’)]*_ ")
    return (
        end.endswith(("?", "？"))
        or text.startswith("¿")
        or bool(cues(language).find("skip", "question", text))
    )


def telling(text: str, language: str) -> bool:
    """Return whether a sentence has a word that is typical of sentences that teach something.

    This is a quick check for very long sessions.
    """
    return labelled(text) is not None or bool(cues(language).find("general", "telling", text))


def supposes(text: str, language: str) -> bool:
    """Whether a sentence supposes, and states nothing."""
    return bool(cues(language).find("skip", "hypothetical", text))


# `Commit please.`: for now, and no wish about how commits are
_ORDERED = re.compile(
    r"(?i)(?:(?:ok(?:ay)?|please|and|then|so|now|pues|vale|então|agora|y|e|por favor|请|那)[, ]*)*"
    r"(?:commit|push|merge|deploy|tag|haz(?: el)? (?:commit|push|merge)|faz(?: o)? (?:commit|push"
    r"|merge|deploy)|sube|sobe|despliega|提交|推送|部署|合并)"
    r"(?:[, ]*(?:it|this|that|now|all|everything|and|then|push|commit|please|lo|todo|tudo|agora"
    r"|ahora|por favor|吧|一下|了))*[.!。！]*"
)


@lru_cache(maxsize=4096)
def _passed_over(text: str, role: str, language: str) -> bool:
    here = cues(language)
    names = (
        ("hypothetical", "hearsay", "tried", "rejected")
        if role == USER
        else ("hypothetical", "hearsay", "tried", "rejected", "boilerplate")
    )
    return any(here.find("skip", name, text) for name in names) or (
        role == USER and bool(_ORDERED.fullmatch(text))
    )


def _score(here: Cues, kind: str, text: str, role: str) -> float:
    if here.find(kind, "not", text):
        return 0.0
    if role == ASSISTANT and kind == PREFERENCE and not _OF_USER.search(text):
        return 0.0
    if role == ASSISTANT and (
        (
            kind == PATTERN
            and (not here.find(kind, "strict", text) or here.find("done", "sure", text))
        )
        or (kind == CONTEXT and here.find("exchange", "now", text))
        or (kind in (PATTERN, CONTEXT) and here.find("exchange", "advice", text))
    ):
        return 0.0  # what an agent explains of its work
    if here.find(kind, "sure", text):
        score = SURE
    elif role == USER and (
        here.find(kind, "user", text) or here.find(kind, "user", stripped(text, here.language))
    ):
        score = SURE - 0.05 if kind != PREFERENCE else SURE + 0.02
    elif (role == ASSISTANT and here.find(kind, "assistant", text)) or here.find(
        kind, "likely", text
    ):
        score = LIKELY
    else:
        return 0.0
    if kind == PREFERENCE and role != USER:
        score -= 0.1
    return score


def _under(sentence: Sentence) -> str:
    """Return the kind that a sentence's heading, or the line before its list, names."""
    for words in (sentence.lead, sentence.heading):
        if words.endswith(("?", "？")) and len(words) <= HEADING:
            return ""
        if kind := headed(words):
            return kind
    return ""


def lead(text: str) -> str:
    """Return the heading that a line before a list is, or an empty string.

    The heading names what is in the list: `Done`, `Still to do:`.
    """
    bare = text.strip().strip("*_ ")
    name = bare.rstrip(":： *_")
    if (
        not name
        or "\n" in bare
        or len(name) > LEAD
        or name.endswith((".", "!", "?", "。", "！", "？"))
        or not (name[0].isupper() or name[0] > "\u2e7f" or name != bare)
    ):
        return ""
    marker = labelled(bare)
    if marker and marker[1]:
        return ""  # `Decision: use Redis` is one
    named = max(
        (len(found.group()) for _, _, heading in markers() for found in heading.finditer(name)),
        default=0,
    )
    return name if named >= NAMED * len(name) else ""


# lines before a list that name no kind, and end what the one before them named; any other may be a
# group within it: `Backend:`
_BREAKS = re.compile(
    r"(?i)(?:notes?|remarks?|comments?|observations?|questions?|risks?|links?|references?|see also"
    r"|notas?|observaç(?:ão|ões)|observaci(?:ón|ones)|comentarios?|comentários?|preguntas?"
    r"|perguntas?"
    r"|dudas?|dúvidas?|riesgos?|riscos?|enlaces?|referencias?|referências?|备注|说明|注|疑问|风险|链接|参考)"
)


def breaks(text: str) -> bool:
    """Return whether a line is a name before a list that names no kind.

    For example, `Notes:` ends what `Decisions:` began.
    """
    bare = text.strip().strip("*_ ")
    name = bare.rstrip(":： *_")
    return name != bare and _BREAKS.fullmatch(name) is not None


def headed(words: str) -> str:
    """Return the kind that a heading names; empty where it names none."""
    if not words or len(words) > HEADING or words.endswith(("?", "？")):
        return ""
    found = [
        (match.start(), kind) for kind, _, heading in markers() if (match := heading.search(words))
    ]
    if {TASK, DONE} <= {kind for _, kind in found}:  # "what is not done yet"
        return TASK
    return min(found)[1] if found else ""


# what stands where somebody has yet to write something, or has nothing to write
_NOTHING = re.compile(
    r"(?i)\W*(?:none(?: yet)?|n/?a|nil|null|tb[dac]|to be (?:defined|decided|done|confirmed)"
    r"|ok(?:ay)?|yes|no|maybe|open|pending|done|nothing(?: yet)?|\w|\d+[.)]?"
    r"|nad[ao]|ningun[ao]|ningún|nenhum[ao]?|sim|não|sí|tal ?vez|aberto|abierto|pendente|pendiente"
    r"|por definir|a definir|无|没有|暂无|待定|待办|是|否)\W*"
)


def _tells(text: str) -> bool:
    # `CI`, `i18n`
    return len(text) >= 2 and any(map(str.isalpha, text)) and not _NOTHING.fullmatch(text)


def _made(
    kind: str, text: str, score: float, language: str, *, marker: bool = False
) -> SentenceReading | None:
    text = stripped(text, language)
    return (
        SentenceReading(kind, text, score, marker)
        if _tells(text) and (marker or len(text) >= SHORTEST // (2 if language == "zh" else 1))
        else None
    )


@lru_cache(maxsize=8192)
def stripped(text: str, language: str) -> str:
    """Return a sentence without leading filler words, its first letter in upper case."""
    for _ in range(4):
        found = cues(language).find("general", "filler", text)
        if not found or not found.group().strip() or found.end() >= len(text) - 3:
            break
        text = text[found.end() :].lstrip(" ,;:：，、-—–")
    text = text.strip()
    return (
        text[:1].upper() + text[1:]
        if text[:1].islower()
        and text.split(" ", 1)[0].strip(",.:;").replace("'", "").replace("’", "").isalpha()
        else text
    )


def fixing(text: str) -> str | None:
    """Return what a marker names as a cause or a fix, as in `Fix: ...`.

    None when there is no such marker.
    """
    found = _FIXING.match(text)
    return text[found.end() :].strip() or None if found else None


_FIXING = re.compile(
    r"(?i)^(?:the )?(?:root cause|cause|fix(?:ed)?|solution|resolution|resolved|workaround|solved"
    r"|causa(?: raiz| raíz)?|correção|solução|corrección|solución|arreglo|contorno|resolvido"
    r"|resuelto|"
    r"根本原因|根因|原因|修复|解决(?:办法|方案|方法)?|修复方法|修正)\s*[:：]\s*"
)


def listed(text: str, language: str) -> tuple[str, ...]:
    """Return the tasks that one sentence lists after a colon, or nothing.

    For example: `Still open: docs, tests and the cron`.
    """
    head, _, rest = text.replace("：", ": ").partition(": ")
    if not rest:
        head, rest = "", text
    elif not cues(language).find("task", "sure", head) and not any(
        kind == TASK and heading.search(head) for kind, _, heading in markers()
    ):
        return ()
    if not head:
        return ()
    parts = [part.strip(" .。;；") for part in _LISTED.split(rest)]
    return (
        tuple(stripped(part, language) for part in parts)
        if len(parts) > 1
        and all(len(part) > 3 and (" " in part or language == "zh") for part in parts)
        else ()
    )


_LISTED = re.compile(
    r",? (?:and|e|y) (?=\S+ )|[,;] |[，；、]|(?<=[\u4e00-\u9fff])和(?=[\u4e00-\u9fff])"
)
