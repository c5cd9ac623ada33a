"""Work that is done once a day at most, whichever process does it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from gitmem.base.processes import is_gone, own
from gitmem.errors import UserError
from gitmem.repo.location import Home
from gitmem.state import daily_work
from gitmem.state.daily_work import CONSOLIDATION, NAMES
from gitmem.state.database import State
from gitmem.worker.consolidation import Consolidation
from tests.cli.conftest import DAY, Mem
from tests.lifecycle.conftest import Code

HERE = str(Path(__file__).parents[2])
CLAIM = """
import sys
from gitmem.errors import UserError
from gitmem.repo.location import Home
from gitmem.state import daily_work
from gitmem.state.database import State
print(daily_work.claim(State(Home(sys.argv[1])), "consolidation", float(sys.argv[2])))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Home:
    """A folder with a state in which work was asked for at time 0."""
    folder = Home(str(tmp_path / "gitmem"))
    state = State(folder)
    assert not daily_work.claim(state, CONSOLIDATION, 0)
    state.close()
    return folder


def claim_in_child(folder: Home, now: float) -> bool:
    """Claim in a process that ends at once."""
    args = [sys.executable, "-c", CLAIM, folder.path, str(now)]
    done = subprocess.run(args, cwd=HERE, check=True, capture_output=True, text=True)
    return done.stdout == "True\n"


def test_of_several_at_once_only_the_first_gets_the_work(folder: Home) -> None:
    """They look and claim in one transaction."""
    states = [State(folder) for _ in range(4)]
    for round in range(1, 21):
        barrier = Barrier(4)

        def ask(state: State, at: float = round * DAY, barrier: Barrier = barrier) -> bool:
            barrier.wait(5)
            return daily_work.claim(state, CONSOLIDATION, at)

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, states))
        assert sorted(answers) == [False, False, False, True]
        daily_work.finish(states[0], CONSOLIDATION, round * DAY)
    for state in states:
        state.close()


def test_work_is_due_a_day_after_it_was_done(folder: Home) -> None:
    """One kind of work says nothing of another."""
    state = State(folder)
    assert daily_work.claim(state, CONSOLIDATION, DAY)
    daily_work.finish(state, CONSOLIDATION, DAY + 60)
    assert not daily_work.claim(state, NAMES, DAY)
    assert not daily_work.claim(state, CONSOLIDATION, 2 * DAY)
    assert daily_work.claim(state, CONSOLIDATION, 2 * DAY + 60)
    state.close()


@pytest.mark.skipif(is_gone(own()) is None, reason="nothing is known of processes here")
def test_work_of_a_killed_process_is_taken_over(folder: Home) -> None:
    """Three times within an hour: what kills each process may take long."""
    assert [claim_in_child(folder, DAY + second) for second in range(4)] == [
        True,
        True,
        True,
        False,
    ]
    assert claim_in_child(folder, DAY + daily_work.LONGEST + 3)


def test_work_of_a_process_that_hangs_is_taken_over_after_an_hour(folder: Home) -> None:
    """Not before."""
    state = State(folder)
    assert daily_work.claim(state, CONSOLIDATION, DAY)
    assert not claim_in_child(folder, DAY + daily_work.LONGEST - 1)
    assert claim_in_child(folder, DAY + daily_work.LONGEST)
    state.close()


def test_a_consolidation_that_fails_is_done_by_the_next_drain(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a day later."""
    mem.add("The build prints a warning")
    mem("drain", ago=2 * DAY)
    steps: list[str] = []

    def fail(_: Consolidation, step: str) -> None:
        steps.append(step)
        raise UserError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Consolidation, "run", fail)
        mem("drain", code=1)
    assert steps == ["collect"]

    run = Consolidation.run
    monkeypatch.setattr(
        Consolidation, "run", lambda work, step: (steps.append(step), run(work, step))[1]
    )
    mem("drain")
    mem("drain")
    assert steps == ["collect", "collect", "check", "merge", "summary", "pages"]


def test_names_are_looked_at_once_a_day_without_consolidation(code: Code) -> None:
    """The setting `consolidate` says nothing of what speaks against facts."""
    mem = code.mem
    mem("config", "consolidate", "false")
    code.commit_files({"src/app.py": "PORT = 80\n"})
    first = code.say("The port is in src/app.py")
    mem("drain", ago=2 * DAY)
    code.commit_files({"src/app.py": None, "other.txt": "x\n"})
    mem("drain", ago=DAY / 2)
    assert "out_of_date" in mem.show(first)

    code.commit_files({"src/other.py": "PORT = 80\n"})
    second = code.say("Another port is in src/other.py")
    code.commit_files({"src/other.py": None})
    mem("drain")
    assert "out_of_date" not in mem.show(second)
