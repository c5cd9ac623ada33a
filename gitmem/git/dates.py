"""Dates as git takes them."""

import re
import time
from datetime import date

from gitmem.base.fast import Lazy
from gitmem.errors import UserError
from gitmem.git.process import Git

# what gives a date a time of the day, or makes it a moment before now
_TIME = Lazy(
    r"(?i)\d:\d|\d\s*[ap]m\b|\b(?:now|noon|midnight|tea|ago|last|never|seconds?|minutes?|hours?"
    r"|days?|weeks?|months?|years?|utc|gmt)\b|\d[tz]|[+]|\s-\d"
)
_DAY = Lazy(
    r"(?i)\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\b(?:today|yesterday|mon|tue|wed|thu|fri|sat|sun|jan|feb"
    r"|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)
_WEEKDAY = Lazy(r"(?i)(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ZONE = Lazy(r"(?i)(?:(?<=\d)|\s)(?:utc|gmt|z|(?<!\S)([+-])(0\d|1[0-4])(?::?([0-5]\d))?)\Z")
LAST_YEAR = 2099  # git takes the year of a later date for something else


def when(git: Git, text: str) -> int:
    """Return the seconds of any date that git understands ('yesterday', '2 weeks ago', ISO).

    Raises UserError.

    Git takes nonsense for now; a text without digits and known words is therefore refused, and so
    are a few digits alone. It takes a day of the week for now as well: it is the last such day.
    """
    text = _spelled(text)
    if not is_date(text) or (text.isdigit() and len(text) < 9):  # more are seconds
        raise UserError(
            f"'{text}' is not a date.",
            "Write it as git takes it: yesterday, '2 weeks ago', 2026-11-21, '2026-11-21 14:00'.",
        )
    if _WEEKDAY.fullmatch(text):
        now = _asked(git, "now")
        back = time.localtime(now).tm_wday - _WEEKDAYS.index(text[:3].lower())
        return _midnight(now, -(back % 7))
    return _asked(git, text)


def _asked(git: Git, text: str) -> int:
    out = git.run("rev-parse", f"--since={text}").decode().strip()
    try:
        return int(out.rpartition("=")[2])
    except ValueError as error:
        raise UserError(
            f"'{text}' is not a date.",
            "Write it as git takes it: yesterday, '2 weeks ago', 2026-11-21.",
        ) from error


def _spelled(text: str) -> str:
    """Return a date whose day is not eight digits, which git does not read as one."""
    text = text.strip(" ,.")
    day = re.match(r"(\d{4})(\d\d)(\d\d)(?!\S)", text)
    return f"{day[1]}-{day[2]}-{day[3]}{text[8:]}" if day else text


def since(git: Git, text: str) -> int:
    """Return the second from which on a date counts.

    A bare day begins at midnight: of its zone, if it names any, else the local one. Raises
    UserError.
    """
    return _midnight_of(git, text, 0) if is_bare_day(text) else when(git, text)


def until(git: Git, text: str) -> int:
    """Return the last second that a date includes: a bare day ends with its last second.

    Raises UserError.
    """
    return _midnight_of(git, text, 1) - 1 if is_bare_day(text) else when(git, text)


def is_bare_day(text: str) -> bool:
    """Say whether a date names a day, and no time of it: 2026-11-21, Nov 21, yesterday, monday.

    It may have a zone. A length such as `2 weeks ago` means a moment, as does a number of seconds.
    """
    day = _ZONE.sub("", _spelled(text)[:100])
    return _TIME.search(day) is None and _DAY.search(day) is not None


def _midnight_of(git: Git, text: str, days: int) -> int:
    """Return the midnight with which a bare day begins, some days later."""
    text = _spelled(text)
    zone = _ZONE.search(text[:100])
    seconds = when(git, text[: zone.start()] if zone else text)
    if zone is None:
        return _midnight(seconds, days)
    day = time.localtime(seconds)
    ahead = 3600 * int(zone[2] or 0) + 60 * int(zone[3] or 0)
    import calendar

    midnight = calendar.timegm((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0))
    return midnight + 86400 * days - (-ahead if zone[1] == "-" else ahead)


def _midnight(seconds: int, days: int) -> int:
    """Return the local midnight with which a day begins, some days after that of a moment."""
    day = time.localtime(seconds)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + days, 0, 0, 0, 0, 0, -1)))


def is_date(text: str) -> bool:
    """Say whether a text is made of what dates are made of."""
    word = (
        r"(?:now|today|yesterday|noon|midnight|tea|last|ago|never|am|pm|(?:second|minute|hour|day"
        r"|week|month|year)s?|"
        r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|"
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
