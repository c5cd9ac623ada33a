"""What a fact claims, as it is compared with what was rejected. Pure."""

import re
from collections.abc import Iterator

from gitmem.records.record import Record
from gitmem.text.normal_words import normal_words

SAID = 2000  # characters of a claim that are kept to compare others with
MOST = 50  # parts of a record's text that are looked at
_MARK = re.compile(r"[\s>#*+-]*(?:\d+[.)]\s+)?")  # of a list, a quote, a heading
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
# words that say what kind of statement follows, and nothing of it
_LABEL = re.compile(
    r"(?:[*_`\[(]{0,3}(?:decisions?|rules?|patterns?|bugs?|insights?|context|facts?|preferences?|tasks?"
    r"|gotchas?|notes?|important|remember|reminder|convention|warning|todo|agreed|decided"
    r"|decisi[oó]n|decisão|regla|regra|nota)[*_`\])]{0,3}(?: ?[:：][*_`]{0,3} ?| [—–-] ))+"
)


def claim_of(text: str) -> str:
    """Return the words of a claim as they are compared, without a label before them."""
    said = normal_words(text)
    label = _LABEL.match(said)
    return said[label.end() :] if label else said


def key_of(text: str) -> str:
    """Return what claims have in common that a reader takes for one: spaces do not count."""
    return claim_of(text).replace(" ", "").rstrip(".!;")


def words_of(record: Record) -> str:
    """Return what a fact claims: its title, or where that is cut the text below it, whole.

    A single word claims nothing, so the text below belongs to it.
    """
    if " " not in record.title and record.title.isalpha() and record.body.strip():
        return f"{record.title} {record.body[:SAID]}"
    if not record.title.endswith("…"):
        return record.title
    texts = (
        " ".join(text.split())[:SAID] for text in (record.body.partition("\n\n")[0], record.body)
    )
    return next((text for text in texts if text.startswith(record.title[:-1])), record.title)


def claims_of(record: Record) -> list[str]:
    """Return all that a record claims: its words, and each paragraph, line and sentence below."""
    workaround = str(record.fields.get("workaround") or "")
    return claims_in(words_of(record), record.body, workaround)


def claims_in(*texts: str) -> list[str]:
    """Return each paragraph, line and sentence of some texts, the first few of them."""
    parts = dict.fromkeys(part for text in texts for part in _parts(text) if part)
    return list(parts)[:MOST]


def _parts(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield " ".join(paragraph.split())[:SAID]
        for line in paragraph.splitlines():
            bare = line[_MARK.match(line).end() :]  # type: ignore[union-attr]
            yield bare[:SAID]
            yield from _SENTENCE.split(bare[:SAID])
