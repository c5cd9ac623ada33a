"""What is known of sessions: signs of life, ends that happen once, requests that survive who took them, costs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.state import (
    context_flags,
    drains,
    hook_costs,
    moved_code,
    requests,
    session_ends,
    sessions,
)
from gitmem.state.database import State
from gitmem.state.requests import LEASE
from gitmem.state.sessions import GONE, SILENCE, Session

T0 = 1_800_000_000.0


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    """An open state."""
    found = State(Home(str(tmp_path / "home")))
    yield found
    found.close()


def sign(
    state: State, id: str, at: float, *, opens: bool = False, history: str = "h", process: str = ""
) -> str:
    """Give a sign of life."""
    return sessions.sign(
        state, Session(id, "claude", at, at, history, None, None, "/r", "", process), opens=opens
    )


def test_a_session_keeps_its_first_history(state: State):
    assert sign(state, "s", T0, opens=True, history="one") == "one"
    assert sign(state, "s", T0 + 2, history="two") == "one"
    (one,) = sessions.some(state)
    assert (one.started, one.last) == (T0, T0 + 2)


def test_a_clock_that_goes_back_takes_no_life(state: State):
    sign(state, "s", T0, opens=True)
    sign(state, "s", T0 - 500)
    assert sessions.some(state)[0].last == T0


def test_only_what_opens_a_session_brings_it_back(state: State):
    sign(state, "s", T0, opens=True)
    assert session_ends.end(state, "s", T0 + 1, "exit")
    sign(state, "s", T0 + 2)
    assert sessions.some(state, ended=False) == []
    sign(state, "s", T0 + 3, opens=True)
    assert [one.why for one in sessions.some(state, ended=False)] == [""]


def test_an_end_happens_once_and_asks_for_one_record(state: State):
    sign(state, "s", T0, opens=True)
    assert [session_ends.end(state, "s", T0 + n, "exit") for n in (1, 2)] == [True, False]
    assert requests.waiting(state) == 1
    sign(state, "s", T0 + 3, opens=True)
    session_ends.end(state, "s", T0 + 4, "exit")
    assert requests.waiting(state) == 1  # the first was not done yet: one will do


@pytest.mark.parametrize(
    ("process", "answer", "after", "lost"),
    [
        ("p", True, 1.0, True),
        ("p", False, 10 * SILENCE, False),
        ("p", None, SILENCE - 1, False),
        ("p", None, SILENCE, True),
        ("", None, SILENCE - 1, False),
        ("", None, SILENCE, True),
        ("", None, -5.0, False),
        ("", None, -SILENCE, True),
    ],
)
def test_which_sessions_are_lost(
    state: State, process: str, answer: bool | None, after: float, lost: bool
):
    """Its process decides; silence alone where that is not known, to the second. A clock that lags buries nobody, one set back keeps nobody alive for good."""
    sign(state, "s", T0, opens=True, process=process)
    found = session_ends.interrupted_sessions(state, T0 + after, lambda _: answer)
    assert [one.id for one in found] == (["s"] if lost else [])
    assert session_ends.interrupted_sessions(state, T0 + after, lambda _: answer, "s") == []


def test_a_session_that_gave_a_sign_meanwhile_is_not_buried(state: State):
    sign(state, "s", T0, opens=True)
    (one,) = session_ends.interrupted_sessions(state, T0 + SILENCE, lambda _: None)
    sign(state, "s", T0 + SILENCE + 1)
    assert not session_ends.mark_interrupted(state, one)
    (one,) = session_ends.interrupted_sessions(state, T0 + 3 * SILENCE, lambda _: None)
    assert [session_ends.mark_interrupted(state, one) for _ in range(2)] == [True, False]
    (one,) = sessions.some(state)
    assert (one.why, one.ended) == (GONE, T0 + SILENCE + 1)


def test_a_request_comes_back_when_its_taker_died(state: State):
    requests.ask_snapshot(state, "s", T0, 600.0)
    first = requests.take(state, T0)
    assert first
    assert requests.take(state, T0 + LEASE - 1) is None
    second = requests.take(state, T0 + LEASE + 1)
    assert second
    requests.done(state, first)  # too late: it is somebody else's now
    assert requests.waiting(state) == 1
    requests.done(state, second)
    assert requests.waiting(state) == 0


def test_a_request_whose_taker_is_known_to_be_gone_is_free_at_once(state: State):
    requests.ask_record(state, "s", T0)
    assert requests.take(state, T0, "host 1 2", lambda _: False)
    assert requests.take(state, T0 + 1, "host 3 4", lambda _: False) is None
    # of another machine: nobody knows
    assert requests.take(state, T0 + 1, "host 3 4", lambda _: None) is None
    second = requests.take(state, T0 + 1, "host 3 4", lambda one: one == "host 1 2")
    assert second
    assert second.tries == 1
    requests.leave(state, second)  # it failed: the end of its taker does not bring it back
    assert requests.take(state, T0 + 2, "host 5 6", lambda _: True) is None
    third = requests.take(state, T0 + LEASE + 2, "host 5 6", lambda _: True)
    assert third
    assert third.tries == 2


def test_what_was_never_done_waits_behind_the_rest(state: State):
    for name in ("bad", "good"):
        requests.ask_record(state, name, T0)
    taken = [requests.take(state, T0 + n, "host 1 2", lambda _: True) for n in range(4)]
    assert [one.session if one else "" for one in taken] == ["bad", "good", "bad", "good"]


def test_a_session_that_is_to_be_recorded_is_not_forgotten(state: State):
    sign(state, "old", T0, opens=True)
    (one,) = sessions.some(state)
    assert session_ends.mark_interrupted(state, one, T0 + 5000)
    state.expire(T0 + 4000)
    assert [one.id for one in sessions.some(state)] == ["old"]
    request = requests.take(state, T0 + 5001)
    assert request
    assert request.at == T0 + 5000
    requests.done(state, request)
    state.expire(T0 + 4000)
    assert sessions.some(state) == []


def test_a_snapshot_is_not_asked_for_all_the_time(state: State):
    asked = [requests.ask_snapshot(state, "s", T0 + n, 600.0) for n in (0, 1, 599, 600, 601)]
    assert asked == [True, False, False, True, False]
    assert requests.ask_snapshot(state, "t", T0 + 1, 600.0)
    requests.ask_record(state, "s", T0 + 1)
    assert requests.waiting(state) == 4


def test_costs_add_up(state: State):
    for tokens, seconds in ((0, 0.01), (120, 0.05), (30, 0.02)):
        hook_costs.add(state, "s", "AfterTool", tokens, seconds, 2 * seconds)
    hook_costs.add(state, "t", "AfterTool", 7, 1.0, 1.0)
    (one,) = hook_costs.costs(state, ["s"])
    assert (one.calls, one.answers, one.tokens, round(one.spent, 2), one.most) == (
        3,
        2,
        150,
        0.08,
        0.05,
    )
    assert round(one.processor, 2) == 0.16


def test_work_in_the_background_is_no_event(state: State):
    """It is added where the environment names a session that was not forgotten."""
    sign(state, "s", T0, opens=True)
    hook_costs.add_background(state, {hook_costs.SESSION: "s"}, 0.5)
    hook_costs.add_background(state, {hook_costs.SESSION: "forgotten"}, 0.5)
    hook_costs.add_background(state, {}, 9.0)
    assert hook_costs.background(state, ["forgotten"]) == []
    (one,) = hook_costs.background(state, ["s"])
    assert (one.calls, one.spent, one.processor > 0) == (1, 0.5, True)
    assert hook_costs.costs(state, ["s"]) == []


def test_moved_code_is_that_of_a_work_tree(state: State):
    moved_code.replace(state, "/a", "key", "", [("new.py", "got-1", 3, 4, "old.py")])
    moved_code.replace(state, "/b", "key", "", [("other.py", "got-1", 1, 1, "old.py")])
    assert moved_code.places(state, "/a") == {"got-1": ("new.py", 3, 4, "old.py")}
    assert moved_code.places(state, "/a", "old.py") == {}
    moved_code.replace(state, "/a", "key2", "", [])
    assert moved_code.places(state, "/a") == {}
    assert moved_code.places(state, "/b", "other.py")
    assert moved_code.searched(state, "/a") == ("key2", "")


def test_a_tool_call_of_one_that_was_interrupted_brings_it_back(state: State):
    sign(state, "s", T0, opens=True)
    (one,) = session_ends.interrupted_sessions(state, T0 + SILENCE, lambda _: None)
    assert session_ends.mark_interrupted(state, one)
    sign(state, "s", T0 + SILENCE + 1)
    assert [(one.why, one.ended) for one in sessions.some(state)] == [("", None)]


def test_a_claim_holds_against_a_clock_that_lags(state: State):
    """Who waits for the database has read its clock before the other's claim."""
    requests.ask_record(state, "s", T0)
    assert requests.take(state, T0 + 1)
    assert requests.take(state, T0 + 0.5) is None
    assert requests.take(state, T0 - 2 * LEASE)  # a clock that was set back


def test_one_drain_is_to_come_at_most(state: State):
    def claim(n: int, pid: int = os.getpid()) -> bool:
        due = drains.claim(state, f"end {n}", T0 + n, 2.0, 60.0, sure=True)
        if due and pid:
            drains.note_started(state, f"end {n}", T0 + n, pid)
        return due

    assert [claim(n) for n in range(3)] == [True, False, False]
    drains.begin(state)
    assert [claim(n) for n in (3, 4)] == [True, False]
    # the one that was to come hangs; and who claimed this one was killed before it could start it
    assert claim(60, pid=0)
    assert claim(61, pid=2**22 + 1)  # a process that has died
    assert [claim(n) for n in (62, 63)] == [True, False]


def test_a_drain_that_was_killed_holds_up_no_other(state: State):
    """Its entry stays in the table of processes until its parent asks for it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as drain:
        assert drains.claim(state, "end", T0, 2.0, 60.0, sure=True)
        drains.note_started(state, "end", T0, drain.pid)
        assert not drains.claim(state, "end", T0 + 1, 2.0, 60.0, sure=True)
        drain.kill()
        os.waitid(os.P_PID, drain.pid, os.WEXITED | os.WNOWAIT)
        assert drains.claim(state, "end", T0 + 2, 2.0, 60.0, sure=True)


def test_what_is_known_of_a_session_goes_with_it(state: State):
    sign(state, "new", T0, opens=True)
    for name in ("old", "new"):
        requests.ask_snapshot(state, name, T0, 600.0)
        context_flags.note_restarted(state, name, T0)
        context_flags.note_restarted(state, f"{name}/agent-1", T0)
    assert drains.claim(state, "end", T0, 2.0, 60.0)
    state.expire(T0 - 1)
    left = {name for (name,) in state.db.execute("SELECT context FROM context_flags")}
    assert left == {"new", "new/agent-1"}
    assert not drains.claim(state, "end", T0, 2.0, 60.0)
