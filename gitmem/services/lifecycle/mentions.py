"""What a fact names of the code: files, dependencies, versions, scripts, definitions, settings.

A name counts where the sentence says that it is so. A sentence that speaks of removal (`we removed
X`, `instead of X`, `no longer X`), of the past or of another place says nothing of the kind. The
words are English, Portuguese and Spanish. Pure.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

PATH, DEPENDENCY, VERSION = "path", "dependency", "version"
SCRIPT, SYMBOL, PORT, SETTING = "script", "symbol", "port", "setting"
LONGEST = 4000  # characters of a fact that are read
MOST = 60  # names of a fact that are looked at

_FENCES = re.compile(
    r"^(```|~~~).*?(?:^\1|\Z)|^[ \t]*>[^\n]*$|^(?: {4}|\t)[^\n]*$", re.MULTILINE | re.DOTALL
)
_URLS = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://\S++|\bwww\.\S++"
    r"|(?<!\S)[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]++",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
# in a sentence with one of these, nothing is said to be so
_REMOVAL = re.compile(
    r"\b(?:remov|delet|dropp?(?:ed|s|ing)?\b|replac|retir|deprecat|obsolet|migrat|mov(?:ed|es|ing)?\b"
    r"|renam|gone\b|legacy|former|previous|used to\b|was\b|were\b|had\b|no longer|any ?more"
    r"|in favou?r|old(?:er)?\b|until\b|stopp?(?:ed)?\b|switch|upgrad|downgrad|unused|dead\b|forbid"
    r"|discourag|elimin|extracted|merged|superseded|get rid|historical|originally|initially"
    r"|todo\b|plan(?:ned|s)? to|will\b|would\b|should be\b|upstream|external"
    r"|apag|exclu[ií]|substitu|troc|mud(?:ou|amos|ado|ada|ar)\b|renome|legad|antig|anteriormente"
    r"|antes\b|era\b|eram\b|foi\b|foram\b|deix\w+ de\b|abandon|descontinu|depreci|aposent"
    r"|borr|quit(?:ó|amos|ado|ar)\b|suprim|reemplaz|sustitu|cambi|renombr|antigu|fue\b|fueron\b"
    r"|dej\w+ de\b|ya no\b|migr)",
    re.IGNORECASE,
)
_NEGATION = (
    r"\b(?:not|never|no|don't|doesn't|isn't|aren't|can't|cannot|won't|avoid\w*|without|nor|neither"
    r"|instead of|rather than|except|unlike|não|nunca|jamais|nem|sem|evit\w+|em vez de|ao invés de"
    r"|em lugar de|jamás|ni|sin|en lugar de|en vez de)\b"
)
_BEFORE = re.compile(_NEGATION, re.IGNORECASE)
_AFTER = re.compile(rf"^[`'\"]?\s+(?:[^\W\d]+\s+){{0,3}}?{_NEGATION}", re.IGNORECASE)
_PATH = re.compile(
    r"(?<![\w/.@:~$\\<>{}*%-])(?:\./)?"
    r"(\.?[\w@+][\w.@+-]*(?:/[\w.@+-]+)+/?|\.?[\w@+][\w@+-]*/|\.?[\w@+][\w.@+-]*\.[A-Za-z]\w{0,9})"
    r"(?![\w*{<$%(])"
)
_RUNNERS = {
    "npm": "npm",
    "yarn": "npm",
    "pnpm": "npm",
    "bun": "npm",
    "make": "make",
    "composer": "composer",
    "poe": "python",
    "pdm": "python",
    "hatch": "python",
}
_SCRIPT = re.compile(
    r"\b(?:(npm|pnpm|yarn|bun|composer|pdm|hatch) run(?:-script)?|(yarn|pnpm|make|composer|poe)"
    r"|(npm)(?= (?:test|start|stop)\b)) ([A-Za-z][\w:.-]*\w|[A-Za-z])"
)
_PORT = re.compile(
    r"\b(?:ports?|portas?|puertos?) ?(?:is|number|número|é|es|=|:|#)? ?`?(\d{2,5})\b"
    r"|(?:localhost|127\.0\.0\.1|0\.0\.0\.0):(\d{2,5})\b|(?<![\w.:]):(\d{4,5})\b",
    re.IGNORECASE,
)
_SETTING = re.compile(r"(?<![\w.-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])")
_QUOTED = re.compile(r"`([^`\n]+)`")
_SYMBOL = re.compile(
    r"(?<![\w./@-])([^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)+(?:\(\))?|[^\W\d]\w*\(\)"
    r"|[a-z]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+[A-Z]\w+)(?![\w/(]|\.\w)"
)
_CUES = (
    r"(?:use|uses|using|with|via|through|by|on|to|depends? on|built (?:on|with)|import|imports"
    r"|install|installs|library|package|framework|dependency|is|are"
    r"|usa|usam|usamos|usar|com|por|através d[oe]|depende d[eo]|biblioteca|pacote|é"
    r"|usan|con|mediante|librería|paquete|es)"
)
_ARTICLE = r"(?:\s+(?:the|a|an|our|o|a|um|uma|el|la|un|una))?"
_LATER = re.compile(
    r"^(?:\+|\.[x*]|\s*(?:or|and|ou|e|o|y)\s+(?:later|newer|higher|above|greater|up|superior|maior"
    r"|mais|acima|posterior|mayor|más))",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:[<>≥≤=]=?|at least|minimum|min\.?|since|from|after|before|up to|below|above|than|between"
    r"|a partir d\w+|desde|mínimo|até|hasta|depois|después|menos|entre)\s*$",
    re.IGNORECASE,
)
# a number before another word counts things: `React 18 components` does not, `pytest 3 times` does
_COUNTS = re.compile(
    r"^\s+(?!(?:for|in|on|and|with|is|as|to|or|via|at|by|only|everywhere|because|since|para|em|com"
    r"|e|é|por|en|con|y|es|do|da|no|na)\b)[^\W\d]"
)


_NUMBER = r"(?: (?:version|versão|versión))? ?(?:==?|@|\bv)? ?`?(\d++(?:\.\d++){0,3})(?!\w)"


class Mention(NamedTuple):
    """A name of something in the code. `manager` is what runs a script, `version` one of a name."""

    kind: str
    name: str
    version: str = ""
    manager: str = ""


def prose(title: str, *texts: str) -> str:
    """Return what a fact says in its own words: without code, quotes and addresses."""
    whole = "\n".join([title, *texts])[:LONGEST]
    return _URLS.sub(" ", _FENCES.sub(" ", whole))


MentionSpan = tuple[int, int, Mention]  # where it stands in a sentence, and what it is


class MentionReader:
    """Finds what sentences name.

    Of dependencies, of what has a version and of commands only those are looked for that are given.
    """

    def __init__(
        self,
        dependencies: Collection[str] = (),
        versioned: Collection[str] = (),
        commands: Collection[str] = (),
    ) -> None:
        self._dependencies = _names_pattern(dependencies, r"(?![\w/-]|\.\w)")
        self._versions = _names_pattern(versioned, _NUMBER)
        self._commands = commands

    def read(self, text: str) -> list[Mention]:
        """Return what a fact's prose says of the code, each once, in order."""
        mentions: dict[Mention, None] = {}
        for part in _SENTENCES.split(text):
            sentence = " ".join(part.split())
            if not sentence or _REMOVAL.search(_without_names(sentence)):
                continue
            for start, end, mention in self._in_sentence(sentence):
                if not _is_denied(sentence, start, end):
                    mentions[mention] = None
        return list(mentions)[:MOST]

    def _in_sentence(self, sentence: str) -> Iterator[MentionSpan]:
        for match in _PATH.finditer(sentence):
            path = match[1].rstrip(".").removeprefix("./")
            yield match.start(1), match.end(1), Mention(PATH, path)
        for match in _PORT.finditer(sentence):
            yield *match.span(), Mention(PORT, match[1] or match[2] or match[3])
        for match in _SETTING.finditer(sentence):
            yield *match.span(), Mention(SETTING, match[1])
        for match in _SYMBOL.finditer(sentence):
            yield *match.span(), Mention(SYMBOL, match[1])
        yield from self._scripts(sentence)
        yield from self._with_version(sentence)
        for match in self._dependencies.finditer(sentence):
            if _is_named(sentence, match):
                yield *match.span(), Mention(DEPENDENCY, match[1])

    def _scripts(self, sentence: str) -> Iterator[MentionSpan]:
        for match in _SCRIPT.finditer(sentence):
            manager = match[1] or match[2] or match[3]
            yield *match.span(), Mention(SCRIPT, match[4], manager=_RUNNERS[manager])
        for match in _QUOTED.finditer(sentence):
            command = match[1].partition(" ")[0]
            if command in self._commands:
                yield *match.span(), Mention(SCRIPT, command, manager="python")

    def _with_version(self, sentence: str) -> Iterator[MentionSpan]:
        """Yield names with the version that they are said to have, where it is but one."""
        matches = list(self._versions.finditer(sentence))
        for match in matches:
            others = {other[2] for other in matches if other[1].lower() == match[1].lower()}
            rest = sentence[match.end() :]
            is_count = "." not in match[2] and _COUNTS.match(rest)
            is_range = _LATER.match(rest) or _BOUND.search(sentence[: match.start()])
            if len(others) == 1 and not is_count and not is_range:
                yield *match.span(), Mention(VERSION, match[1], match[2])


def _without_names(sentence: str) -> str:
    """Return a sentence without names of code, which may have such words in them: `src/old/`."""
    for pattern in (_QUOTED, _PATH, _SYMBOL):
        sentence = pattern.sub(" ", sentence)
    return sentence


def _is_denied(sentence: str, start: int, end: int) -> bool:
    return bool(_BEFORE.search(sentence[:start]) or _AFTER.match(sentence[end:]))


def _names_pattern(names: Iterable[str], ending: str) -> "re.Pattern[str]":
    """Return an expression for any of some names; for none, one that fits nothing."""
    some = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    return re.compile(rf"(?<![\w@/.-])({some or '(?!)'}){ending}", re.IGNORECASE)


def _is_named(sentence: str, match: "re.Match[str]") -> bool:
    """Return whether a word is the name of a thing: quoted, in capitals, or behind a cue."""
    before, name = sentence[: match.start()], match[1]
    if before.endswith(("`", '"')) or re.search(r"[\W\d_]", name):
        return True
    if name[0].isupper() and before.strip():
        return True
    return bool(re.search(rf"(?:^|\s|\(){_CUES}{_ARTICLE}\s+$", before, re.IGNORECASE))
