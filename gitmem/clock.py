"""Time read once, and ids made from it.

Nothing below the edges reads the clock: they take a `Clock`, whose time and entropy can be
replaced. Standard library only, and no `datetime`: the hot path imports this module.
"""

import os
import time

# Crockford base 32 without i, l, o, u: https://github.com/ulid/spec
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

LAST = 253402300799  # 9999-12-31T23:59:59Z: commits may have any later time


class Clock:
    """The current time in seconds since the epoch, and random bytes; both injectable."""

    def __init__(self, now=time.time, entropy=os.urandom) -> None:  # type: ignore[no-untyped-def]
        self._now = now
        self._entropy = entropy

    def now(self) -> float:
        """Return seconds since the epoch."""
        return float(self._now())

    def stamp(self) -> str:
        """Return the current time as RFC 3339 UTC with seconds."""
        return stamp(self.now())

    def ulid(self) -> str:
        """Return a new lower-case ULID (26 characters)."""
        return ulid(self.now(), self._entropy(10))


def stamp(seconds: float) -> str:
    """Return RFC 3339 UTC with seconds: `2026-11-21T03:07:30Z`.

    A time that the format cannot name is the nearest one that it can.
    """
    year, month, day, hour, minute, second = time.gmtime(max(0, int(min(seconds, LAST))))[:6]
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}Z"


def seconds(text: str) -> float:
    """Return seconds since the epoch of an RFC 3339 UTC stamp; raises ValueError."""
    # timegm's arithmetic without calendar's import: civil date to days, Howard Hinnant's algorithm
    if len(text) < 20 or text[10] not in "Tt" or text[4] != "-" or text[13] != ":":
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    year, month, day = int(text[0:4]), int(text[5:7]), int(text[8:10])
    hour, minute = int(text[11:13]), int(text[14:16])
    tail = text[17:]
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60):
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    if tail[-1:] not in "Zz":
        raise ValueError(f"not a UTC time: {text!r}")
    second = float(tail[:-1])
    if not 0 <= second < 61:
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    year -= month <= 2
    era = year // 400
    yoe = year - era * 400
    doy = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    doe = yoe * 365 + yoe // 4 - yoe // 100 + doy
    return (era * 146097 + doe - 719468) * 86400 + hour * 3600 + minute * 60 + second


def ulid(now: float, entropy: bytes) -> str:
    """Return the ULID of a time in seconds and 10 random bytes.

    The last but one character carries three bits only, so that the last two characters
    spread over 256 values: they are the shard of the store's tree.
    """
    value = ((int(now * 1000) & ((1 << 48) - 1)) << 80) | int.from_bytes(entropy[:10], "big")
    return base32(value)


def base32(value: int) -> str:
    """Return 26 Crockford characters of the low 128 bits, the last but one below 8."""
    chars = [ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5)]
    chars[24] = ALPHABET[(value >> 5) & 7]
    return "".join(chars)


def ulid_time(text: str) -> float:
    """Return the seconds since the epoch that a ULID's first ten characters carry."""
    value = 0
    for char in text[:10].lower():
        value = value * 32 + ALPHABET.index(char)
    return value / 1000
