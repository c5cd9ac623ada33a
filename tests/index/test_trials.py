"""What fails and comes to pass in a session: nothing lost, nothing told twice, nothing of another session."""

import threading
from pathlib import Path

import pytest

from gitmem.files import Home
from gitmem.index import trials
from gitmem.index.state import State
from gitmem.index.trials import COMMAND, EDIT, Failure


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "gitmem"))


@pytest.fixture
def state(home: Home):
    made = State(home)
    yield made
    made.close()


def fails(state: State, key: str = "make", pattern: str = "p", at: float = 1.0, session: str = "s") -> None:
    trials.note_failure(state, session, Failure(key, pattern, at, f"cd x && {key}", "abc", "/code"))


def outcomes(state: State) -> list[dict]:
    return [facts for _, facts in trials.take_outcomes(state)]


def test_a_failure_is_known_until_it_passes(state):
    fails(state)
    (failure,) = trials.failures(state, "s")
    assert ("make", "p", 1.0, "cd x && make", "abc") == (failure.key, failure.pattern, failure.at, failure.given, failure.head)
    assert 1 == trials.conclude(state, "s", "make", "make", 2.0)
    assert [] == trials.failures(state, "s")
    assert 0 == trials.conclude(state, "s", "make", "make", 3.0)


def test_an_outcome_says_all_that_was_done_since_the_last_failure(state):
    """In order, each once; what was done before it failed again has not helped."""
    fails(state, at=1.0)
    trials.note_step(state, "s", 2.0, COMMAND, "did not help")
    fails(state, at=3.0)
    for at, action, what in ((4.0, EDIT, "a.py"), (4.0, EDIT, "b.py"), (5.0, COMMAND, "npm i"), (6.0, EDIT, "a.py")):
        trials.note_step(state, "s", at, action, what)
    trials.conclude(state, "s", "make", "A=1 make", 7.0)
    (facts,) = outcomes(state)
    assert {tuple(step) for step in facts["steps"]} == {(EDIT, "a.py"), (EDIT, "b.py"), (COMMAND, "npm i")}
    assert 3 == len(facts["steps"])
    assert ("A=1 make", "cd x && make", "abc", 3.0, 7.0, "s") == tuple(
        facts[k] for k in ("command", "failed", "head", "since", "at", "session")
    )


def test_each_error_of_a_command_has_an_outcome(state):
    fails(state, pattern="p")
    fails(state, pattern="q")
    fails(state, key="other")
    assert 2 == trials.conclude(state, "s", "make", "make", 2.0)
    assert ["p", "q"] == [facts["pattern"] for facts in outcomes(state)]
    assert ["other"] == [failure.key for failure in trials.failures(state, "s")]


def test_steps_stay_as_long_as_something_fails(state):
    fails(state)
    fails(state, key="other", pattern="q")
    trials.note_step(state, "s", 2.0, EDIT, "a.py")
    trials.conclude(state, "s", "make", "make", 3.0)
    trials.conclude(state, "s", "other", "other", 4.0)
    assert [[[EDIT, "a.py"]]] * 2 == [facts["steps"] for facts in outcomes(state)]
    assert 0 == state.db.execute("SELECT COUNT(*) FROM steps").fetchone()[0]


def test_sessions_do_not_mix(state):
    fails(state)
    fails(state, session="t")
    trials.note_step(state, "t", 2.0, EDIT, "theirs.py")
    assert 1 == trials.conclude(state, "s", "make", "make", 3.0)
    assert [] == outcomes(state)[0]["steps"]
    assert 1 == len(trials.failures(state, "t"))


def test_a_session_that_ends_is_forgotten_but_not_its_outcomes(state):
    fails(state)
    trials.conclude(state, "s", "make", "make", 2.0)
    fails(state, key="other")
    trials.note_step(state, "s", 3.0, EDIT, "a.py")
    trials.forget(state, "s")
    assert [] == trials.failures(state, "s")
    assert 0 == state.db.execute("SELECT COUNT(*) FROM steps").fetchone()[0]
    assert 1 == len(outcomes(state))


def test_outcomes_wait_until_they_are_done(state, home):
    fails(state)
    trials.conclude(state, "s", "make", "make", 2.0)
    state.close()
    again = State(home)
    ((number, facts),) = trials.take_outcomes(again)
    assert "p" == facts["pattern"]
    assert 1 == len(outcomes(again))
    trials.done(again, number)
    assert [] == outcomes(again)
    again.close()


@pytest.mark.parametrize("junk", ["", "{", "5", "null", '"text"', b"\xff", None])
def test_an_outcome_that_is_none_is_dropped(state, junk):
    fails(state)
    trials.conclude(state, "s", "make", "make", 2.0)
    state.db.execute("INSERT INTO outcomes (facts) VALUES (?)", (junk,))
    assert ["p"] == [facts["pattern"] for facts in outcomes(state)]
    assert ["p"] == [facts["pattern"] for facts in outcomes(state)]


def test_steps_are_bounded(state):
    fails(state)
    for n in range(trials.STEPS + 50):
        trials.note_step(state, "s", 2.0 + n, COMMAND, f"try {n}")
    trials.conclude(state, "s", "make", "make", 1e6)
    (facts,) = outcomes(state)
    assert (trials.STEPS, [COMMAND, f"try {trials.STEPS + 49}"]) == (len(facts["steps"]), facts["steps"][-1])


def test_of_those_who_see_it_pass_at_once_one_concludes(home, state):
    fails(state)
    got = []

    def see() -> None:
        mine = State(home)
        got.append(trials.conclude(mine, "s", "make", "make", 2.0))
        mine.close()

    threads = [threading.Thread(target=see) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [0] * 7 + [1] == sorted(got)
    assert 1 == len(outcomes(state))


def test_old_ones_expire_and_secrets_are_purged(state):
    fails(state, at=1.0)
    trials.note_step(state, "s", 1.0, COMMAND, "old")
    state.expire(100.0)
    assert [] == trials.failures(state, "s")
    fails(state, key="login hunter2", at=200.0)
    fails(state, key="make", at=200.0)
    trials.note_step(state, "s", 201.0, COMMAND, "export TOKEN=hunter2")
    trials.conclude(state, "s", "make", "make", 202.0)
    state.purge_errors(["hunter2"])
    assert ([], []) == (trials.failures(state, "s"), outcomes(state))


def test_snoozes(state):
    state.snooze("a", 10.0)
    state.snooze("a", 20.0)
    state.snooze("b", 5.0)
    assert {"a": 20.0} == state.snoozed(10.0)
    assert {} == state.snoozed(20.0)
    assert (True, False, False) == (state.unsnooze("a"), state.unsnooze("a"), state.unsnooze("zz"))
