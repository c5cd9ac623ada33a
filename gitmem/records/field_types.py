"""The types of a record's fields, and the canonical form of their values. Pure."""

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from gitmem.errors import InvalidRecord
from gitmem.records.texts import clean_text, clean_title

STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z")


class FieldType(NamedTuple):
    """A type of a field: its name for people, and what reads a value.

    `read` returns the value in its canonical form, None when it has another type.
    """

    name: str
    read: Callable[[Any], Any]


def is_stamp(text: str) -> bool:
    """Say whether a text is an RFC 3339 time in UTC that a calendar has."""
    if not STAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return text[11:13] != "24"  # Python 3.14 reads it as the next midnight


def sort_key(value: Any) -> str:
    """Return a text that orders JSON values and is equal for equal ones."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def plain_value(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with clean text and sorted keys.

    Raises InvalidRecord on anything else.
    """
    if depth > 12:
        raise InvalidRecord("a field is nested too deeply.")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int | float):
        return _plain_number(value)
    if isinstance(value, list | tuple):
        return [plain_value(v, depth + 1) for v in value]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {clean_text(k): plain_value(value[k], depth + 1) for k in sorted(value)}
    raise InvalidRecord("a field holds something that is not JSON.")


def _plain_number(value: float) -> float:
    if isinstance(value, int):
        if abs(value) < 2**63:
            return value
        raise InvalidRecord("a number is too large.")
    if not math.isfinite(value):
        raise InvalidRecord("a number is not finite.")
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def _text(value: Any) -> str | None:
    return clean_text(value).strip() if isinstance(value, str) else None


def _time(value: Any) -> str | None:
    return value if isinstance(value, str) and is_stamp(value) else None


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if is_count else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) < 2**53:
        return None
    return int(value) if value == int(value) else float(value)


def _bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return sorted({clean for v in value if (clean := clean_title(v))})
    return None


def _objects(value: Any) -> list[Any] | None:
    if isinstance(value, list | tuple) and all(isinstance(v, Mapping) for v in value):
        unique = {sort_key(v): v for v in map(plain_value, value) if v}
        return [unique[key] for key in sorted(unique)]
    return None


def _object(value: Any) -> Any:
    return plain_value(value) if isinstance(value, Mapping) else None


FIELD_TYPES: Mapping[str, FieldType] = {
    "str": FieldType("text", _text),
    "time": FieldType("a time such as 2026-11-21T03:07:30Z", _time),
    "int": FieldType("a whole number", _count),
    "number": FieldType("a number", _number),
    "bool": FieldType("true or false", _bool),
    "set": FieldType("a list of texts", _texts),
    "maps": FieldType("a list of objects", _objects),
    "map": FieldType("an object", _object),
    "any": FieldType("JSON", plain_value),
}
