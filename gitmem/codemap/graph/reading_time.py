"""How long code that is new is read for one answer, and what of it comes first."""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

ANSWER = 3.2  # seconds, of the five that an answer may take
LEAST = 0.8  # seconds of work for which code is read in any case


def _no_paths() -> Sequence[str]:
    return ()


class ReadingTime(NamedTuple):
    """Until when code is read, by the monotonic clock in seconds; the rest is left to the next run.

    `first` gives the paths that are read before others, and is asked only where there is too much.
    """

    until: float = math.inf
    first: Callable[[], Sequence[str]] = _no_paths

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be read."""
        return time.monotonic() > self.until

    def at_least(self) -> "ReadingTime":
        """Return a time that is not over yet: so each run comes further, on a busy machine too."""
        return self._replace(until=max(self.until, time.monotonic() + LEAST))

    def before(self, seconds: float) -> "ReadingTime":
        """Return the time that ends so much earlier."""
        return self._replace(until=self.until - seconds)


WHOLE = ReadingTime()


def answer_time(first: Callable[[], Sequence[str]] = _no_paths) -> ReadingTime:
    """Return the time that there is for an answer that somebody waits for."""
    return ReadingTime(time.monotonic() + ANSWER, first)
