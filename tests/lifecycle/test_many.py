"""Ten thousand facts: lists by score and of what has decayed stay quick."""

import os
import time

import pytest

from gitmem.app import open_app
from tests.benchmarks.common import fill, records
from tests.cli.conftest import Mem
from tests.lifecycle.test_fading import work


@pytest.mark.stress
def test_ten_thousand_facts_are_scored_in_well_under_a_second(mem: Mem) -> None:
    """Also where most of what can decay has decayed; the plain list does not look at them."""
    with open_app(str(mem.folder), os.environ) as app:
        fill(app.store(), list(records(10_000)))
        app.index()
    work(mem.folder, 2000)
    with open_app(str(mem.folder), os.environ) as app:
        rows = app.rows(kinds=("memory", "gotcha"))
        took = {}
        for name, act in {
            "decayed": lambda scores: scores.decayed(),
            "hiding": lambda scores: scores.hiding(),
            "all": lambda scores: [scores.of(row) for row in rows],
        }.items():
            scores, began = app.scores(), time.process_time()
            act(scores)
            took[name] = time.process_time() - began

    assert took["decayed"] < 0.3
    assert took["hiding"] < 0.1
    assert took["all"] < 0.6
