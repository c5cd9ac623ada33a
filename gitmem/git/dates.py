"""Dates as git takes them."""

import re
import time
from datetime import date

from gitmem.errors import UserError
from gitmem.git.process import Git

# what gives a date a time of the day, or makes it a moment before now
_TIME = re.compile(
    r"(?i)\d:\d|\d\s*[ap]m\b|\b(?:now|noon|midnight|tea|ago|last|never|seconds?|minutes?|hours?"
    r"|days?|weeks?|months?|years?|utc|gmt)\b|\d[tz]|[+]|\s-\d"
)
_DAY = re.compile(
    r"(?i)\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\b(?:today|yesterday|mon|tue|wed|thu|fri|sat|sun|jan|feb"
    r"|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)
LAST_YEAR = 2099  # git takes the year of a later date for something else


def when(git: Git, text: str) -> int:
    """Return the seconds of any date that git understands ('yesterday', '2 weeks ago', ISO).

    Raises UserError.

    Git takes nonsense for now; a text without digits and known words is therefore refused.
    """
    if not is_date(text):
        raise UserError(
            f"'{text}' is not a date.",
            "Write it as git takes it: yesterday, '2 weeks ago', 2026-11-21, '2026-11-21 14:00'.",
        )
    out = git.run("rev-parse", f"--since={text}").decode().strip()
    try:
        return int(out.rpartition("=")[2])
    except ValueError as error:
        raise UserError(
            f"'{text}' is not a date.",
            "Write it as git takes it: yesterday, '2 weeks ago', 2026-11-21.",
        ) from error


def since(git: Git, text: str) -> int:
    """Return the second from which on a date counts: a bare day begins at local midnight.

    Raises UserError.
    """
    seconds = when(git, text)
    return _midnight(seconds, 0) if is_bare_day(text) else seconds


def until(git: Git, text: str) -> int:
    """Return the last second that a date includes: a bare day ends with its last local second.

    Raises UserError.
    """
    seconds = when(git, text)
    return _midnight(seconds, 1) - 1 if is_bare_day(text) else seconds


def is_bare_day(text: str) -> bool:
    """Say whether a date names a day, and no time of it: 2026-11-21, Nov 21, yesterday, monday.

    A length such as `2 weeks ago` means a moment, as does a number of seconds.
    """
    return _TIME.search(text) is None and _DAY.search(text) is not None


def _midnight(seconds: int, days: int) -> int:
    """Return the local midnight with which a day begins, some days after that of a moment."""
    day = time.localtime(seconds)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + days, 0, 0, 0, 0, 0, -1)))


def is_date(text: str) -> bool:
    """Say whether a text is made of what dates are made of."""
    word = (
        r"(?:now|today|yesterday|noon|midnight|tea|last|ago|never|am|pm|(?:second|minute|hour|day"
        r"|week|month|year)s?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|"
        r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
        r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|"
        r"one|two|three|four|five|six|seven|eight|nine|ten|st|nd|rd|th|utc|gmt|t|z)"
    )
    parts = re.split(r"[\s,.]+", text.strip(" ,."))
    if parts[0][:1] in {"-", "+"} or not all(map(_may_be_day, parts)):
        return False
    # letters alone are a whole word: no id, however much it looks like `z` and `t`
    shapes = (rf"(?:[\d:+/-]++|{word})++", rf"(?!(?:st|nd|rd|th|t|z)$){word}")
    return len(text) <= 100 and all(
        re.fullmatch(shapes[part.isalpha()], part, re.IGNORECASE) for part in parts
    )


def _may_be_day(part: str) -> bool:
    """Return whether a part of a date is no day, or one that is there and that git reads."""
    day = re.match(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)", part)
    if day is None:
        return True
    try:
        date(int(day[1]), int(day[3]), int(day[4]))
    except ValueError:
        return False
    return 1970 <= int(day[1]) <= LAST_YEAR
