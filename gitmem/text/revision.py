"""Whether what somebody takes back or revises is what a statement says. Pure.

A statement is meant only if all that names it is in it: `forget Celery for the mails` does not mean
`Use Celery for the jobs`.
"""

import re

from gitmem.text import same_statement
from gitmem.text.replacement import (
    CHOOSING,
    FOR,
    NEARLY,
    named,
    overruled,
    verb_of,
    without_reason,
    words,
)

VALUE = re.compile(r"(?<![\w.])v?\d+(?:[.,]\d+)*(?![\w])")
_AND = re.compile(r"[,;]?\s(?:and|e|y)\s|[,;]\s")
_ARTICLE = re.compile(
    r"(?i)\s*(?:about|the|our|that|this|its|el|la|los|las|nuestr[ao]s?|ese|esa|del|al)\s"
)
_NAME = re.compile(r"[A-ZÀ-Þ0-9]")
# say nothing of what a statement is about: how it is denied, that it holds, who does it
FILLER = words(
    """any more anymore longer all now been really either ha han he hemos don doesn isn aren didn t
    s re ve ll let lets mais já agora afinal deixa más ya ahora tampoco us me te se there"""
) | words(" ".join(CHOOSING))
_LEAST = 2  # telling words of a statement that is said again


def about(text: str) -> frozenset[str]:
    """Return the telling words of what a statement says holds."""
    return words(text).difference(*overruled(text)) - FILLER


def content(text: str) -> frozenset[str]:
    """Return the telling words of what somebody takes back."""
    return words(text) - FILLER


def is_named(gone: str, title: str) -> bool:
    """Return whether what is taken back, as it was called, is what a statement is about.

    A name is enough, unless it only says what something was chosen for; other words must be half of
    what the statement is about.
    """
    said, whole = content(gone), about(title)
    inside = named(said, whole)
    if not said or len(inside) < len(said):
        return False
    parts = _AND.split(same_statement.bare(without_reason(title)))
    heads = (FOR.split(part, maxsplit=1)[0] for part in parts)
    chooses = not verb_of(title).isdisjoint(words(" ".join(CHOOSING)))
    if chooses and not any(named(said, about(head)) for head in heads):
        return False
    rest = whole - verb_of(title) or whole
    return _is_name(gone) or 2 * len(named(rest, said)) >= len(rest)


def _is_name(gone: str) -> bool:
    return bool(_NAME.search(gone)) or (not _ARTICLE.match(gone) and len(content(gone)) == 1)


def is_said(said: str, title: str) -> bool:
    """Return whether a sentence says what a statement says, and perhaps more."""
    rest = about(title) - verb_of(title)
    return len(rest) >= _LEAST and len(named(rest, words(said))) >= NEARLY * len(rest)


def is_revised(subject: str, old: str, new: str, title: str) -> bool:
    """Return whether a statement gives a subject another value; `old` where it is said."""
    values = [value.lstrip("v") for value in VALUE.findall(title)]
    said = content(VALUE.sub(" ", subject))
    fits = old in values if old else len(values) == 1
    return fits and new not in values and bool(said) and len(named(said, about(title))) == len(said)


def remainder(gone: str, text: str) -> str:
    """Return the parts of a statement that what is taken back is not in; empty if it has one part.

    Of `use A for X and B for Y` without A this is `use B for Y`.
    """
    parts = [part.strip(" .") for part in _AND.split(without_reason(text))]
    said = content(gone)
    kept = [part for part in parts if not named(said, words(part))]
    if len(kept) in (0, len(parts)):
        return ""
    if kept[0] != parts[0]:
        verb = same_statement.bare(parts[0]).split(" ", 1)[0]
        kept[0] = f"{verb.capitalize()} {kept[0]}"
    return " and ".join(kept) if len(kept) > 1 else kept[0]
