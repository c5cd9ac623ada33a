"""Statements of Markdown pages: the bullets and paragraphs below their headings. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_AROUND = "#=[]: \t"  # of a heading
_BULLET = re.compile(r"^[ \t]{0,3}(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.+)$")
_MARKED = re.compile(r"#{1,6}[ \t]|={2,}|\[[^\]]+\]$")


class PageStatement(NamedTuple):
    """A text and the folded name of the heading that it stands below."""

    heading: str
    text: str


def folded(text: str) -> str:
    """Return a heading for comparison: letters and digits, without accents, joined by `_`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def statements(text: str) -> Iterator[PageStatement]:
    """Yield the statements of a page. A line that goes on below a bullet belongs to it."""
    heading, rows = "", list[str]()
    for line in [*text.split("\n"), ""]:
        bullet = _BULLET.match(line)
        plain = line.rstrip()
        is_heading = not bullet and (plain.endswith(":") or bool(_MARKED.match(plain)))
        if (bullet or is_heading or not line.strip()) and rows:
            yield PageStatement(heading, "\n".join(rows))
            rows = []
        if is_heading:
            heading = folded(line.strip(_AROUND))
        elif bullet:
            rows = [bullet[1].strip()]
        elif line.strip():
            rows.append(line.strip())


def text_id(text: str) -> str:
    """Return an id for a text that its source gives none: 12 hex characters."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:12]
