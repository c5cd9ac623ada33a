"""Dates as git takes them."""

import re

from gitmem.errors import UserError
from gitmem.git.process import Git


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
    # letters alone are a whole word: no id, however much it looks like `z` and `t`
    shapes = (rf"(?:[\d:+/-]++|{word})++", rf"(?!(?:st|nd|rd|th|t|z)$){word}")
    return len(text) <= 100 and all(
        re.fullmatch(shapes[part.isalpha()], part, re.IGNORECASE) for part in parts
    )
