"""Why a check cannot be made, and what to write in its place. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import Any, NamedTuple

from gitmem.errors import UserError
from gitmem.repo.path_rules import path_refusal
from gitmem.text.echo import echo

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
TEMPLATES = {
    "path": "path=PATH",
    "file": "file=PATH",
    "contains": "contains=TEXT",
    "matches": "matches=REGEX",
    "absent": "absent=REGEX",
    "key": "key=a.b",
    "equals": "equals=VALUE",
    "dependency": "dependency=NAME",
    "version": "version=>=4.2",
    "symbol": "symbol=NAME",
}
KEYS = tuple(TEMPLATES)
LONGEST = 1000  # characters of a value
HINT = (
    "Write one of: path=PATH, 'file=PATH contains=TEXT' (or matches=REGEX, absent=REGEX), "
    "'file=PATH key=a.b equals=VALUE', 'dependency=NAME version=>=4.2', symbol=NAME"
)
EACH_ALONE = "Give each check a --verify of its own."
_NAMED_VALUE = re.compile(r"(?:^|\s)([A-Za-z_][\w-]*)(\s*)=(\s*)")
_REQUIREMENT = re.compile(r"([^\s<>=!~^]+)\s*([<>=!~^].*)", re.DOTALL)


class Refusal(NamedTuple):
    """Why a check cannot be made, as the end of a sentence; `hint` says what to write."""

    reason: str
    hint: str = HINT


def refused(text: str, refusal: Refusal) -> UserError:
    """Return the error of a text that is no check."""
    return UserError(f"--verify {echo(text)}: {refusal.reason}.", refusal.hint)


def no_check(text: str) -> Refusal:
    """Return why a text has no part of a check."""
    if not text.strip():
        return Refusal("it is empty")
    named = _NAMED_VALUE.search(text)
    if named is None:
        return Refusal("it does not say what is to be checked")
    if named[1] in KEYS:
        return Refusal(
            f"there is a space beside the '=' of {named[1]}", f"Write '{TEMPLATES[named[1]]}'"
        )
    return unknown_name(named[1])


def unknown_name(name: str) -> Refusal:
    """Return why a name is no part of a check."""
    near = get_close_matches(name.lower(), KEYS, n=1)
    hint = f"Did you mean {near[0]}=?" if near else HINT
    return Refusal(f"{echo(name)} is no part of a check", hint)


def check_refusal(check: Mapping[str, Any]) -> Refusal | None:
    """Return why a check cannot be made; None where it can."""
    if not any(set(form) == set(check) for form in FORMS):
        return _unfinished(check)
    for key, value in check.items():
        if not isinstance(value, str):
            return Refusal(f"{key} is no text")
        if not value.strip():
            return Refusal(f"{key} has no value", f"Write '{TEMPLATES[key]}'")
        if len(value) > LONGEST:
            return Refusal(
                f"{key} has {len(value):,} characters", f"A value has at most {LONGEST:,}."
            )
    return _wrong_path(check) or _wrong_name(check)


def _unfinished(check: Mapping[str, Any]) -> Refusal:
    """Return why the names of a check make no form."""
    unknown = [str(key) for key in check if key not in KEYS]
    if unknown:
        return unknown_name(unknown[0])
    missing = list(_missing(check.keys()))
    if not check:
        return Refusal("it is empty")
    if not missing:
        return Refusal(f"{' and '.join(_at_odds(check))} do not go together", EACH_ALONE)
    misspelt = _misspelt(check)
    if misspelt:
        return unknown_name(misspelt)
    if len(missing) == 1:
        return Refusal(f"{missing[0]} is missing", f"Add '{missing[0]}'")
    return Refusal("a part of it is missing", f"Add one of: {', '.join(missing)}")


def _at_odds(names: Collection[str]) -> tuple[str, str]:
    """Return the first two names that no form has together."""
    pairs = combinations(names, 2)
    return next(pair for pair in pairs if not any(set(pair) <= set(form) for form in FORMS))


def _missing(names: Collection[str]) -> Iterator[str]:
    """Yield what would complete a check, each as it is written."""
    for form in FORMS:
        if set(names) < set(form):
            yield " ".join(TEMPLATES[key] for key in form if key not in names)


def _misspelt(check: Mapping[str, Any]) -> str:
    """Return a name within a value that stands where the missing one could stand; '' for none."""
    for value in check.values():
        for named in _NAMED_VALUE.finditer(str(value)):
            if named.start() and named[1] not in KEYS:
                return named[1]
    return ""


def _wrong_path(check: Mapping[str, str]) -> Refusal | None:
    place = check.get("path") or check.get("file")
    why = path_refusal(place.rstrip("/")) if place else ""
    if not why:
        return None
    return Refusal(
        f"{echo(str(place))} is no path in this repository: {why}",
        "Write the path from the root of the work tree, such as src/app.py",
    )


def _wrong_name(check: Mapping[str, str]) -> Refusal | None:
    """Return why a dependency has no name of one, where a version stands behind it."""
    parts = _REQUIREMENT.fullmatch(check.get("dependency", ""))
    if parts is None:
        return None
    version = check.get("version") or parts[2].strip()
    return Refusal(
        "the name of the dependency has a version in it",
        f"Write 'dependency={parts[1]} version={version}'",
    )
