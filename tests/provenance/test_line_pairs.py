"""Laying two texts beside each other: in bounded time, and only what is sure."""

import random
import time

from gitmem.services.provenance.alignment import agreed, unmatched

PAIR = [1, 2] * 2000  # a text of two lines that alternate


def test_long_texts_of_few_lines_take_no_time():
    """A line that was put in is seen; where lines may be others, nothing is said of them."""
    choose = random.Random(1).choice
    noise = [choose([1, 2, 3]) for _ in range(4000)], [choose([1, 2, 3]) for _ in range(4000)]
    middle = [*PAIR[:2000], 9, *PAIR[2000:]]
    twice = [*PAIR[:1000], 9, *PAIR[1000:3000], 8, *PAIR[3000:]]
    started = time.process_time()
    assert agreed(PAIR, middle) == {line: line + (line >= 2000) for line in range(4000)}
    assert unmatched(PAIR, middle) == [2000]
    assert unmatched(PAIR, twice) == [1000, 3001]
    assert all(
        first == second or first == second - 2 for first, second in agreed(PAIR, twice).items()
    )
    assert agreed(PAIR, [*PAIR, 1, 2]) == {}
    assert unmatched(PAIR, [*PAIR, 1, 2]) == []
    assert agreed(*noise).keys() <= {0, 1, 2, 3997, 3998, 3999}
    assert unmatched(*noise) == []
    assert time.process_time() - started < 4


def test_lines_that_stand_once_hold_the_others():
    """An edit of a long file whose records have equal lines, as JSON has them."""
    old = [mark for record in range(600) for mark in (7, 8, 100 + record, 9, 6)]
    new = [*old[:1500], 5555, *old[1501:]]
    started = time.process_time()
    assert unmatched(old, new) == [1500]
    assert agreed(old, new) == {line: line for line in range(3000) if line != 1500}
    assert time.process_time() - started < 2
