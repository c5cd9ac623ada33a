"""The canonical form of a record's texts: title, body, and those in fields."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line end
TITLE_LIMIT = 300
CUT = "…"  # at the end of a title of which the rest is not kept


def clean_text(text: str) -> str:
    """Return text in NFC with LF line ends and without characters that could steer a terminal.

    Lone surrogates and control characters are replaced.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # far quicker than the expression, and nearly always true
    if not text.replace("\n", "").isprintable():
        text = CONTROLS.sub("�", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return text


def clean_title(text: str) -> str:
    """Return a title: one line, single spaces, at most 300 characters."""
    # spaces first: some controls are spaces
    title = " ".join(clean_text(" ".join(text.split())).split())
    return title if len(title) <= TITLE_LIMIT else title[: TITLE_LIMIT - 1].rstrip() + CUT


def is_cut(title: str) -> bool:
    """Return whether a title may be the beginning of a longer one."""
    return title.endswith(CUT) and len(title) >= TITLE_LIMIT - 1  # a space at its end is left out


def clean_body(text: str) -> str:
    """Return a body: no blank lines at the ends, one line end at the last."""
    lines = clean_text(text).split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines).rstrip() + "\n" if lines else ""


def titled(heading: str, text: str) -> tuple[str, str]:
    """Return title and body, keeping in the body what does not fit the title.

    That is the text after the first line, and a title that is too long.
    """
    first, _, rest = heading.strip().partition("\n")
    kept = [heading.strip() if len(first) > TITLE_LIMIT else rest.strip("\n"), text]
    return first, "\n\n".join(part for part in kept if part)


def place_text(anchor: Mapping[str, Any]) -> str:
    """Return the path or pattern of an anchor, with its first line if it names lines."""
    lines = anchor.get("lines")
    first = f":{lines[0]}" if isinstance(lines, list) and lines else ""
    return f"{anchor.get('path') or anchor.get('glob')}{first}"
