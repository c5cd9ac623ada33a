"""How a program can check a fact: the field `verify`, and the text in which people give it. Pure.

A check is data, never a command: {path}, {file, contains | matches | absent}, {dependency} with or
without `version`, {symbol}, {file, key, equals}. `docs/lifecycle.md` says what each means.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from gitmem.errors import UserError
from gitmem.repo.path_rules import path_refusal

Check = Mapping[str, Any]

FORMS = (
    ("path",),
    ("file", "contains"),
    ("file", "matches"),
    ("file", "absent"),
    ("file", "key", "equals"),
    ("dependency",),
    ("dependency", "version"),
    ("symbol",),
)
KEYS = tuple(dict.fromkeys(key for form in FORMS for key in form))
LONGEST = 1000  # characters of a value
_KEY = re.compile(rf"(?:^|(?<=\s))({'|'.join(KEYS)})=")
_HINT = (
    "Write one of: path=PATH, 'file=PATH contains=TEXT' (or matches=REGEX, absent=REGEX), "
    "'file=PATH key=a.b equals=VALUE', 'dependency=NAME version=>=4.2', symbol=Name"
)


def parse_check(text: str) -> dict[str, str]:
    """Return the check that a text such as `file=Makefile contains=test:` gives.

    A value goes on until the next name with its `=`; in double quotes it is a JSON string. Raises
    UserError for anything that is no check.
    """
    marks = list(_KEY.finditer(text))
    check: dict[str, str] = {}
    at, number = 0, 0
    while number < len(marks):
        mark = marks[number]
        if text[at : mark.start()].strip() or mark[1] in check:
            raise _refused(text)
        check[mark[1]], at = _value(text, mark.end(), marks[number + 1 :], text)
        number += 1
        while number < len(marks) and marks[number].start() < at:
            number += 1
    if not check or text[at:].strip():
        raise _refused(text)
    if refusal := check_refusal(check):
        raise UserError(f"--verify '{text}': {refusal}.", _HINT)
    return check


def _value(text: str, start: int, later: "list[re.Match[str]]", whole: str) -> tuple[str, int]:
    """Return the value that begins at a place, and where it ends."""
    if text[start : start + 1] == '"':
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            raise _refused(whole) from None
        return str(value), end
    end = later[0].start() if later else len(text)
    return text[start:end].strip(), end


def _refused(text: str) -> UserError:
    return UserError(f"--verify '{text}' is no check that can be made.", _HINT)


def format_check(check: Check) -> str:
    """Return a check as `parse_check` takes it."""
    return " ".join(f"{key}={_shown(str(value))}" for key, value in _ordered(check))


def _ordered(check: Check) -> list[tuple[str, Any]]:
    rank = {key: number for number, key in enumerate(KEYS)}
    return sorted(check.items(), key=lambda pair: (rank.get(pair[0], len(rank)), pair[0]))


def _shown(value: str) -> str:
    is_plain = value == value.strip() and not value.startswith('"') and not _KEY.search(f" {value}")
    return value if is_plain and value and value.isprintable() else json.dumps(value)


def check_refusal(check: Check) -> str:
    """Return why a check cannot be made, as the end of a sentence; '' where it can."""
    if not any(set(form) == set(check) for form in FORMS):
        names = " and ".join(map(str, check)) or "nothing"
        return f"there is no check by {names}"
    for key, value in check.items():
        if not isinstance(value, str) or not value.strip():
            return f"{key} is empty, or no text"
        if len(value) > LONGEST:
            return f"{key} has more than {LONGEST:,} characters"
    place = check.get("path") or check.get("file")
    why = path_refusal(place.rstrip("/")) if place else ""
    return f"'{place}' is no path in this repository: {why}" if why else ""
