"""How a program can check a fact: the field `verify`, and the text in which people give it. Pure.

A check is data, never a command: {path}, {file, contains | matches | absent}, {dependency} with or
without `version`, {symbol}, {file, key, equals}. `docs/lifecycle.md` says what each means.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from gitmem.services.lifecycle.verify_refusal import (
    EACH_ALONE,
    KEYS,
    Refusal,
    check_refusal,
    no_check,
    refused,
)
from gitmem.text.echo import echo

Check = Mapping[str, Any]

_KEY = re.compile(rf"(?:^|(?<=\s))({'|'.join(KEYS)})=")


def parse_check(text: str) -> dict[str, str]:
    """Return the check that a text such as `file=Makefile contains=test:` gives.

    A value goes on until the next name with its `=`; in double quotes it is a JSON string. Raises
    UserError for anything that is no check.
    """
    marks = list(_KEY.finditer(text))
    if not marks:
        raise refused(text, no_check(text))
    check: dict[str, str] = {}
    at, number, before = 0, 0, ""
    while number < len(marks):
        mark = marks[number]
        if beside := text[at : mark.start()].strip():
            raise refused(text, _out_of_place(beside, before, mark[1]))
        if mark[1] in check:
            raise refused(text, Refusal(f"{mark[1]} is given twice", EACH_ALONE))
        check[mark[1]], at = _value(text, mark, marks[number + 1 :])
        before = mark[1]
        number += 1
        while number < len(marks) and marks[number].start() < at:
            number += 1
    if beside := text[at:].strip():
        raise refused(text, _out_of_place(beside, before, ""))
    if refusal := check_refusal(check):
        raise refused(text, refusal)
    return check


def _out_of_place(text: str, before: str, behind: str) -> Refusal:
    """Return why a text cannot stand behind the value of one name, or in front of another."""
    if before:
        return Refusal(
            f"{echo(text)} follows the end of the value of {before}",
            'A value in double quotes ends with them. Write \\" for one within.',
        )
    return Refusal(f"{echo(text)} is before {behind}=", f"Begin with {behind}=")


def _value(text: str, mark: "re.Match[str]", later: "list[re.Match[str]]") -> tuple[str, int]:
    """Return the value behind a name, and where it ends."""
    start = mark.end()
    if text[start : start + 1] == '"':
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            reason = f"the value of {mark[1]} begins with a double quote, and is no JSON string"
            hint = 'End it with a double quote, and write \\" for one within.'
            raise refused(text, Refusal(reason, hint)) from None
        return str(value), end
    end = later[0].start() if later else len(text)
    return text[start:end].strip(), end


def format_check(check: Check) -> str:
    """Return a check as `parse_check` takes it."""
    return " ".join(f"{key}={_shown(str(value))}" for key, value in _ordered(check))


def _ordered(check: Check) -> list[tuple[str, Any]]:
    rank = {key: number for number, key in enumerate(KEYS)}
    return sorted(check.items(), key=lambda pair: (rank.get(pair[0], len(rank)), pair[0]))


def _shown(value: str) -> str:
    is_plain = value == value.strip() and not value.startswith('"') and not _KEY.search(f" {value}")
    return value if is_plain and value and value.isprintable() else json.dumps(value)
