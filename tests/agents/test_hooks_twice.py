"""Hooks of a project and of its user together: each event counts once, and each fact is told once."""

from pathlib import Path

import pytest

from tests.agents.cli_kinds import KINDS
from tests.agents.fake_model import FakeModel
from tests.agents.test_long_sessions import never_twice, over
from tests.agents.world import FAILING, World, history, sessions
from tests.conftest import git
from tests.hooks.conftest import gotchas, run
from tests.json_output import data_of
from tests.scale import FULL

EVENTS = ["SessionStart", "PromptSubmit", "ToolFailed", "ToolFailed", "TurnEnd", "SessionEnd"]


@pytest.mark.parametrize("agent", KINDS if FULL else ("codex", "copilot"))
def test_two_hooks_of_one_event_count_once(agent: str, tmp_path: Path, no_code_reading: None):
    with FakeModel() as model:
        world = World(agent, tmp_path, model)
        path = world.first
        run(path, "install", agent, "--project")
        run(path, "install", agent, "--user")
        git(path, "add", ".")
        run(path, "add", "Refunds are rounded half to even", "-t", "decision")
        world.work(path, "Print the rate", world.shell(FAILING), world.shell(f"true; {FAILING}"))
        over(path)
        never_twice(model.asked)
        assert "Refunds are rounded" in model.asked[0].text
    (one,) = sessions(path)
    events = [row["metadata"]["event"] for row in history(path, one["id"])]
    assert [event for event in events if event != "BeforeTool"] == EVENTS
    cost = data_of(run(path, "session", "cost", "--json"))
    assert sum(row["call_count"] for row in cost["costs"]) == len(events)
    assert gotchas(path) == []  # it failed twice, not four times
