"""Values of other tools' files, whatever type they have. Pure."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from gitmem.clock import LAST, stamp
from gitmem.records.field_types import is_stamp
from gitmem.records.texts import TITLE_LIMIT, clean_title

# a number above it counts milliseconds, not seconds: 1973 in one, 5138 in the other
MILLISECONDS = 1e11
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def text_of(value: Any) -> str:
    """Return a text; a number as one, and "" for anything else."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return ""


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, each once; of one text, that text."""
    given = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(filter(None, map(text_of, given))))


def first_text(row: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first text that one of some keys has; "" where none has any."""
    return next(filter(None, (text_of(row.get(key)) for key in keys)), "")


def map_of(value: Any) -> dict[str, Any]:
    """Return an object with texts as keys; an empty one for anything else."""
    return {str(key): entry for key, entry in value.items()} if isinstance(value, Mapping) else {}


def maps_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; anything else in it is left out."""
    given = value if isinstance(value, list | tuple) else ()
    return [map_of(entry) for entry in given if isinstance(entry, Mapping)]


def time_of(value: Any, *, local: bool = False) -> str:
    """Return a time as RFC 3339 in UTC; "" for what is none.

    A number counts seconds or milliseconds since 1970. A time without a zone is UTC, or `local`.
    """
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        return _epoch(value)
    if not isinstance(value, str) or not value.strip():
        return ""
    text = value.strip()
    if re.fullmatch(r"\d{9,13}", text):
        return _epoch(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None and not local:
            moment = moment.replace(tzinfo=UTC)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    plain = f"{moment.year:04d}" + moment.strftime("-%m-%dT%H:%M:%S")
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    made = f"{plain}{fraction}Z"
    return made if is_stamp(made) and moment.year > 1 else ""


def _epoch(value: int | float | str) -> str:
    try:
        number = float(value)
    except OverflowError:  # JSON has numbers of any length
        return ""
    seconds = number / 1000 if number > MILLISECONDS else number
    return stamp(seconds) if 0 < seconds <= LAST else ""


def headline(text: str) -> tuple[str, str]:
    """Return a title for a text that has none, and what stands below it.

    The first line is the title if it fits; else its first sentence, or as much as fits, and the
    whole text below.
    """
    text = text.strip()
    first, _, rest = text.partition("\n")
    title = clean_title(first.lstrip("#").strip())
    if len(title) <= TITLE_LIMIT and not title.endswith("…"):
        return title, rest.strip()
    sentence = clean_title(_SENTENCE_END.split(first, maxsplit=1)[0])
    return sentence or title, text


def section(heading: str, text: str) -> str:
    """Return a part of a body with a heading; "" where there is no text."""
    return f"## {heading}\n\n{text.strip()}\n" if text.strip() else ""


def bullets(values: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {' '.join(value.split())}" for value in values)


def joined(*parts: str) -> str:
    """Return parts of a body with a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 fact`, `1,200 facts`, `2 entries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
