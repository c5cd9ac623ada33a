"""What fails in a session, and what was done until it passed."""

import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.state import attempts
from gitmem.state.attempts import COMMAND, EDIT, FailedCommand
from gitmem.state.database import State

HERE = str(Path(__file__).parents[2])


@pytest.fixture
def state(tmp_path):
    one = State(Home(str(tmp_path / "gitmem")))
    yield one
    one.close()


def failure(pattern="p", at=10.0, key="/r\nmake", given="make", ended=None):
    return FailedCommand(key, pattern, at, given, "c0ffee", "/r", ended)


def conclude(state, *failures, at=20.0, session="s", sure=True):
    return attempts.conclude(state, session, failures or (failure(),), "make", at, lambda _: sure)


def outcomes(state):
    return [facts for _, facts in attempts.take_outcomes(state)]


def test_what_was_done_while_it_failed_is_told(state):
    """Once each, in order: not what was before the last failure."""
    attempts.note_failure(state, "s", failure(at=5.0))
    attempts.note_step(state, "s", 6.0, EDIT, "/r/early.py")
    attempts.note_failure(state, "s", failure(at=10.0))
    for at, action, what in (
        (11.0, EDIT, "/r/a.py"),
        (12.0, COMMAND, "npm ci"),
        (13.0, EDIT, "/r/a.py"),
    ):
        attempts.note_step(state, "s", at, action, what)
    assert 1 == conclude(state)
    (facts,) = outcomes(state)
    assert {(EDIT, "/r/a.py"), (COMMAND, "npm ci")} == {tuple(step) for step in facts["steps"]}
    assert ("p", "make", "make", "/r", "c0ffee", 10.0, 20.0) == tuple(
        facts[k] for k in ("pattern", "command", "failed", "root", "head", "since", "until")
    )
    assert [] == attempts.failures(state, "s")
    assert 0 == state.db.execute("SELECT COUNT(*) FROM steps").fetchone()[0]


def test_another_error_of_the_same_command_ends_the_first(state):
    """What is done afterwards is not what helped it; when it comes back, it lasts again."""
    attempts.note_failure(state, "s", failure("one", 10.0))
    attempts.note_step(state, "s", 11.0, COMMAND, "npm ci")
    attempts.note_failure(state, "s", failure("two", 12.0))
    attempts.note_step(state, "s", 13.0, EDIT, "/r/a.py")
    assert {"one": 12.0, "two": None} == {f.pattern: f.ended for f in attempts.failures(state, "s")}
    assert 2 == conclude(state, *attempts.failures(state, "s"))
    assert {"one": [[COMMAND, "npm ci"]], "two": [[EDIT, "/r/a.py"]]} == {
        f["pattern"]: f["steps"] for f in outcomes(state)
    }
    attempts.note_failure(state, "s", failure("one", 30.0))
    attempts.note_failure(state, "s", failure("two", 31.0))
    attempts.note_failure(state, "s", failure("one", 32.0))
    assert {"one": None, "two": 32.0} == {f.pattern: f.ended for f in attempts.failures(state, "s")}


def test_sessions_and_commands_do_not_mix(state):
    """Who did not see it fail learns nothing from its passing."""
    attempts.note_failure(state, "s", failure())
    attempts.note_failure(state, "s", failure(key="/r\nlint"))
    attempts.note_failure(state, "t", failure())
    attempts.note_step(state, "t", 11.0, EDIT, "/r/t.py")
    assert 1 == conclude(state)
    assert [[]] == [facts["steps"] for facts in outcomes(state)]
    assert ["/r\nlint"] == [f.key for f in attempts.failures(state, "s")]
    assert 1 == len(attempts.failures(state, "t"))


def test_what_nobody_captured_leaves_no_outcome(state):
    """Ordinary red-green work costs no drain."""
    attempts.note_failure(state, "s", failure())
    assert 0 == conclude(state, sure=False)
    assert ([], []) == (outcomes(state), attempts.failures(state, "s"))


def test_session_that_ends_is_forgotten_but_not_its_outcomes(state):
    """What passes later has another reason; what was seen stays seen."""
    attempts.note_failure(state, "s", failure())
    conclude(state)
    attempts.note_failure(state, "s", failure("q"))
    attempts.note_step(state, "s", 30.0, EDIT, "/r/a.py")
    attempts.forget(state, "s")
    assert ([], 1) == (attempts.failures(state, "s"), len(outcomes(state)))
    assert 0 == state.db.execute("SELECT COUNT(*) FROM steps").fetchone()[0]


def test_outcome_is_leased_until_it_is_done(state):
    """One process draws it; one that dies gives it back by its silence, one that cannot write at once."""
    attempts.note_failure(state, "s", failure())
    conclude(state)
    ((number, _),) = attempts.take_outcomes(state)
    assert attempts.claim(state, number, 100.0)
    assert not attempts.claim(state, number, 110.0)
    assert attempts.claim(state, number, 100.0 + attempts.LEASE + 1)
    attempts.put_back(state, number, 100.0 + attempts.LEASE + 1)
    assert attempts.claim(state, number, 120.0)
    attempts.done(state, number, 120.0)
    assert not attempts.claim(state, number, 999.0)
    assert [] == outcomes(state)


def test_lease_that_is_over_gives_no_right(state):
    """Who was slow neither gives back nor takes away what another process works on by now."""
    attempts.note_failure(state, "s", failure())
    conclude(state)
    ((number, _),) = attempts.take_outcomes(state)
    slow, other = 100.0, 100.0 + attempts.LEASE + 1
    assert attempts.claim(state, number, slow)
    assert attempts.claim(state, number, other)
    attempts.put_back(state, number, slow)
    assert not attempts.claim(state, number, other + 1)
    attempts.done(state, number, slow)
    assert 1 == len(outcomes(state))
    attempts.done(state, number, other)
    assert [] == outcomes(state)


@pytest.mark.parametrize("text", ["", "{", "5", "null", '"text"', None])
def test_outcome_that_is_none_is_dropped(state, text):
    """Nothing that we wrote: it must not block the others."""
    state.db.execute("INSERT INTO outcomes (facts) VALUES (?)", (text,))
    attempts.note_failure(state, "s", failure())
    conclude(state)
    assert ["p"] == [facts["pattern"] for facts in outcomes(state)]
    assert 1 == state.db.execute("SELECT COUNT(*) FROM outcomes").fetchone()[0]


def test_steps_are_bounded(state):
    """The last ones count."""
    attempts.note_failure(state, "s", failure())
    for n in range(attempts.STEPS + 50):
        attempts.note_step(state, "s", 11.0 + n / 1000, EDIT, f"/r/{n}.py")
    conclude(state)
    steps = outcomes(state)[0]["steps"]
    assert (attempts.STEPS, f"/r/{attempts.STEPS + 49}.py") == (len(steps), steps[-1][1])


SEER = """
import sys
sys.path.insert(0, {here!r})
from gitmem.repo.location import Home
from gitmem.state import attempts as trials
from gitmem.state.database import State
state = State(Home(sys.argv[1]))
print(trials.conclude(state, "s", trials.failures(state, "s"), "make", 20.0, lambda _: True))
"""


def test_of_those_who_see_it_pass_at_once_one_concludes(state, tmp_path):
    """Hooks of one event run in parallel."""
    attempts.note_failure(state, "s", failure())
    argv = [sys.executable, "-c", SEER.format(here=HERE), str(tmp_path / "gitmem")]
    runs = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    assert 1 == sum(int(run.communicate()[0]) for run in runs)
    assert 1 == len(outcomes(state))


def test_old_ones_expire(state):
    attempts.note_failure(state, "old", failure(at=1.0))
    attempts.note_step(state, "old", 1.0, EDIT, "/r/a.py")
    state.expire(5.0)
    assert [] == attempts.failures(state, "old")
