"""When two statements say the same: only if the words that differ carry nothing. Pure.

Names, numbers, paths, versions, identifiers, negations and all ordinary words carry something.
Articles, forms of *be* and *have*, politeness and the words that lead to a statement (`we decided
to`, `TODO:`) carry nothing. English, Portuguese, Spanish and Chinese.
"""

import re
from functools import lru_cache
from unicodedata import normalize

from gitmem.base.fast import Lazy
from gitmem.text.paraphrase import Claim, claim, says_again

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# a path, a version, an option, an identifier or a word; one character of a script without spaces
_TOKEN = Lazy(
    rf"[{_CJK}]|(?:(?:(?<=\s)|^)-{{1,2}}|[@~$/.])?[^\W{_CJK}]+(?:[-./:@+#%'’]+[^\W{_CJK}]+)*(?:\+\+"
    rf"|#|%)?"
)
_EMPTY = frozenset(
    """a an the is are was were be been being am has have had having do does did will
shall please o os um uma uns umas é são foi foram está estão ser el la los las un una
unos unas es son fue fueron está están 的 了 请 们 吧 呢 啊""".split()
)
# what leads to a statement, at its beginning
_LEAD = Lazy(
    r"(?:(?:todo|fixme|decision|decided|task|note|remember|reminder|rule|preference|decisão"
    r"|decidido|tarefa|nota|regra|preferência|decisión|tarea|regla|preferencia)\s*[:：]"
    r"|(?:决定|待办|任务|规则|注意)[:：]"
    r"|(?:let['’]s|let us|we['’](?:ve|ll|re)|i['’](?:ve|ll|m|d))(?:\s+(?:still|just|also|now))?\s"
    r"|(?:we|i|you)\s(?:have\s|will\s|still\s|just\s|also\s|now\s|should\s)*(?=\w)"
    r"|(?:have\s)?(?:decided|agreed|need|needs|want|going)\sto\s"
    r"|(?:vamos\sa|vamos|hemos\sdecidido|decidimos|falta|precisamos|precisa|temos\s(?:que|de)"
    r"|tenemos\sque|hay\sque|por\sfavor)[,\s]+(?!com\b|con\b)"
    r"|(?:我们|还需要|需要|决定))\s*"
)
_POLITE = Lazy(
    r"(?:[,，]|(?<!\s))\s*+\b(?:please|thanks|por favor|obrigad[oa]|gracias)\b|请|谢谢",
    re.IGNORECASE,
)
_MARKUP = Lazy(r"[`*_]{2,}|`|\*(?=\w)|(?<=\w)\*")


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Return a statement, case folded, without what leads to it, politeness and markup."""
    low: str = _POLITE.sub("", _MARKUP.sub("", normalize("NFKC", text))).casefold().strip(" .!?…¡¿")
    for _ in range(4):
        match = _LEAD.match(low)
        if not match or match.end() >= len(low):
            break
        low = low[match.end() :]
    return low


@lru_cache(maxsize=4096)
def said(text: str) -> tuple[str, ...]:
    """Return the words of a statement that carry something, in their order."""
    return tuple(_singular(token) for token in _TOKEN.findall(bare(text)) if token not in _EMPTY)


@lru_cache(maxsize=4096)
def _claim(text: str) -> Claim:
    return claim(bare(text))


def _singular(token: str) -> str:
    return (
        token[:-1]
        if len(token) > 4 and token.isalpha() and token.endswith("s") and not token.endswith("ss")
        else token
    )


def same(statement: str, other: str) -> bool:
    """Whether two statements say the same."""
    first = said(statement)
    return bool(first) and (first == said(other) or says_again(_claim(statement), _claim(other)))
