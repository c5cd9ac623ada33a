"""Statements of completion, such as `the rollback script is finished`.

Other examples are `done with the export` and `a migração está pronta`. This module is pure.

English, Portuguese, Spanish and Chinese. A statement counts only if it is plain: no question, no
condition, no negation, nothing that is still to come.
"""

import re

_EN = (
    r"done|finished|complete|completed|ready|in place|merged|shipped|released|deployed|written"
    r"|implemented|fixed|migrated|landed"
)
_PT = (
    r"pront[oa]s?|feit[oa]s?|conclu[íi]d[oa]s?|terminad[oa]s?|acabad[oa]s?|finalizad[oa]s?"
    r"|escrit[oa]s?|implementad[oa]s?|corrigid[oa]s?"
)
_ES = (
    r"list[oa]s?|hech[oa]s?|terminad[oa]s?|complet[oa]s?|completad[oa]s?|acabad[oa]s?|escrit[oa]s?"
    r"|implementad[oa]s?|corregid[oa]s?"
)
_WHAT = r"(?P<what>.{2,160}?)"
_REST = r"(?P<what>.{2,160})"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"^{_WHAT}\s{{1,9}}(?:is|are|was|were|has been|have been)\s+(?:now |all |also "
            rf"|already "
            rf"|finally |fully )*(?:{_EN})\b"
        ),
        (
            r"\b(?:I|we)(?:['’]ve| have|['’]m| am)?\s+(?:just |also |already |finally |now )*"
            rf"(?:done with|finished|completed|wrote|written|implemented|added|fixed|shipped|merged"
            rf"|migrated|deployed|released)\s+(?:with |writing )?{_REST}"
        ),
        rf"^(?:all )?(?:done|finished|completed)(?: with| writing|:)?\s+{_REST}",
        (
            rf"^{_WHAT}\s{{1,9}}(?:já )?(?:está|estão|ficou|ficaram|foi|foram)\s+(?:já |agora "
            rf"|também )*(?:{_PT})\b"
        ),
        (
            rf"^(?:já |eu )*(?:terminei|acabei|concluí|finalizei|escrevi|implementei|fiz|corrigi"
            rf"|terminamos|acabamos|concluímos|finalizamos)\s+(?:de \w+ |com )?{_REST}"
        ),
        (
            rf"^{_WHAT}\s{{1,9}}(?:ya )?(?:está|están|quedó|quedaron|fue|fueron)\s+(?:ya "
            rf"|también )*(?:{_ES})\b"
        ),
        (
            rf"^(?:ya |yo )*(?:terminé|acabé|completé|finalicé|escribí|implementé|hice|corregí"
            rf"|terminamos|acabamos|completamos)\s+(?:de \w+ |con )?{_REST}"
        ),
        r"^(?P<what>.{2,60}?)(?:已经?|都|也|全部){0,6}(?:完成|做完|写完|写好|做好|搞定|弄好|修好)了?$",
        r"^(?:我们?|已经?)*(?:完成|做完|写完|搞定)了(?P<what>.{2,60})",
    )
)
_OPEN = re.compile(
    r"(?i)\b(?:not|never|until|till|when|once|if|unless|before|after|will|would|should|shall|must"
    r"|can|could|might|may|needs?|to be|almost|nearly|half|partly|only|except|tomorrow|want"
    r"|wait\w*)\b|n['’]t\b"
    r"|\b(?:não|nunca|quando|se|até|antes|depois|falta\w*|ainda|quase|será|deve\w*|precisa\w*|vai"
    r"|amanhã)\b"
    r"|\b(?:no|nunca|cuando|si|hasta|después|todavía|aún|casi|será|debe\w*|mañana)\b"
    r"|[?？¿]|没|未|不|还|如果|等|之后|之前|需要|要|吗"
)
_PART = re.compile(r"(?<=[.!;。！；])\s*|\n+|;\s+")
_WHOSE = re.compile(
    r"(?i)^(?:the|our|my|your|this|that|all|both|a|o|as|os|noss[ao]s?|minhas?|meus?|la|el|las|los"
    r"|nuestr[ao]s?|mis?)\s+"
)
_ENDS = re.compile(r"[,，;；].*$")


def completed(text: str) -> list[str]:
    """Return what the sentences of a text say is done, each as the words that name it."""
    out = []
    for part in _PART.split(text[:8000]):
        clause = part.strip(" .!;。！；*_-•\t")
        clause = re.sub(
            r"^(?:ok(?:ay)?|so|great|well|and|also|then|bom|bueno|vale|pronto|好|好的)[,，:]?\s+",
            "",
            clause,
            flags=re.IGNORECASE,
        )
        if not 4 <= len(clause) <= 240 or _OPEN.search(clause):
            continue
        match = next(filter(None, (form.search(clause) for form in _FORMS)), None)
        if match:
            what = _WHOSE.sub("", _WHOSE.sub("", _ENDS.sub("", match["what"]).strip(" `\"'“”")))
            out += [what] if len(what) > 2 else []
    return out
