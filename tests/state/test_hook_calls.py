"""Two hooks of ours for one event: it is kept once, and never lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.repo.location import Home
from gitmem.state import hook_calls
from gitmem.state.database import State
from tests.scale import scaled

NOW = 1_000_000.0


class Calls:
    """Calls for one event of a session; a process has ended when it is in `ended`."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.ended: set[str] = set()

    def claim(
        self, command: str, process: str, now: float = NOW, event: str = "e", parallel: bool = False
    ) -> int:
        return hook_calls.claim(
            self.state,
            "s",
            event,
            now,
            command,
            process,
            lambda other: other in self.ended,
            may_be_parallel=parallel,
        )

    def keep(self, command: str, number: int, event: str = "e") -> None:
        hook_calls.confirm(self.state, "s", event, command, number)

    def fail(self, command: str, number: int) -> None:
        hook_calls.withdraw(self.state, "s", "e", command, number)


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    state = State(Home(str(tmp_path / "gitmem")))
    yield Calls(state)
    state.close()


def test_the_second_command_repeats_the_first(calls: Calls) -> None:
    """At once, and after it; the next equal event is another one, whichever is called first."""
    assert calls.claim("user", "p1") == 1
    assert calls.claim("project", "p2") == 0
    calls.keep("user", 1)

    assert calls.claim("project", "p3", NOW + 1) == 2
    calls.keep("project", 2)
    assert calls.claim("user", "p4", NOW + 30) == 0


def test_a_call_that_failed_is_made_by_the_other(calls: Calls) -> None:
    """Whether its process said so or ended before."""
    calls.fail("user", calls.claim("user", "p1"))
    assert calls.claim("project", "p2") == 1

    calls.claim("user", "p3", event="e2")
    calls.ended.add("p3")
    assert calls.claim("project", "p4", event="e2") == 1


def test_a_retry_and_a_second_equal_event_are_kept(calls: Calls) -> None:
    """Of one command, at any time of the clock."""
    calls.keep("user", calls.claim("user", "p1"))
    assert calls.claim("user", "p2") == 2
    calls.keep("user", 2)
    for now in (NOW - 6, NOW - 3600, NOW + 5, NOW + 7200):
        number = calls.claim("user", "p", now)
        assert number > 0
        calls.keep("user", number)


def test_two_calls_of_one_command_at_once(calls: Calls) -> None:
    """Are for one event, unless an agent may do the same twice at once."""
    assert calls.claim("same", "p1") == 1
    assert calls.claim("same", "p2") == 0
    assert calls.claim("same", "p1", event="tool", parallel=True) == 1
    assert calls.claim("same", "p2", event="tool", parallel=True) == 2


@settings(max_examples=scaled(200, 60), deadline=None)
@given(st.data())
def test_in_any_order_each_event_is_kept_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Each of some equal events is told to two commands, in the order of each command."""
    state = State(Home(str(tmp_path_factory.mktemp("calls"))))
    calls, events = Calls(state), data.draw(st.integers(1, 5))
    order = data.draw(st.permutations(["user"] * events + ["project"] * events))
    kept = 0
    for step, command in enumerate(order):
        number = calls.claim(command, f"p{step}", NOW + step, parallel=True)
        kept += number > 0
        if number:
            calls.keep(command, number)
    state.close()
    assert kept == events
