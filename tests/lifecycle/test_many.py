"""Thousands of facts: lists by score and of what has decayed do little for each."""

import os
import sys
from collections.abc import Callable

import pytest

from gitmem.app import open_app
from tests.benchmarks.common import fill, records
from tests.cli.conftest import Mem
from tests.lifecycle.test_fading import work
from tests.scale import scaled

COUNT = scaled(10_000, 2000)


def calls(act: Callable[[], object]) -> float:
    """Return how many calls of Python an act takes for each fact, which no machine changes."""
    count = 0

    def profile(*event: object) -> None:
        nonlocal count
        count += event[1] in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count / COUNT


@pytest.mark.stress
def test_scores_of_thousands_of_facts_take_few_steps(mem: Mem) -> None:
    """Also where most of what can decay has decayed; the plain list does not look at them."""
    with open_app(str(mem.folder), os.environ) as app:
        fill(app.store(), list(records(COUNT)))
        app.index()
    work(mem.folder, 2000)
    with open_app(str(mem.folder), os.environ) as app:
        rows = app.rows(kinds=("memory", "gotcha"))
        scores = app.scores()
        took = {
            "decayed": calls(lambda: app.scores().decayed()),
            "hiding": calls(lambda: app.scores().hiding()),
            "all": calls(lambda: [scores.of(row) for row in rows]),
        }
    assert took["decayed"] < 10
    assert took["hiding"] < 6
    assert took["all"] < 40
