"""Real CLIs with the hooks that `git mem install` writes: what is learned, what the model is sent, what is left when they are killed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.fake_model import FakeModel
from tests.agents.world import FAILING, World, digests, history, sessions
from tests.hooks.conftest import gotchas, run, wait_for

AGENTS = ("claude", "gemini", "codex")


@pytest.fixture(params=AGENTS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """One agent with two repositories."""
    with FakeModel() as model:
        yield World(request.param, tmp_path, model)


def test_x(world: World):
    path = world.install(world.first)
    texts = world.work(path, "Please run it", *[world.shell(FAILING)] * 3)
    print(len(texts), texts[-1][-3000:])
    (found,) = wait_for(lambda: gotchas(path))
    print(found)
    print(sessions(path), history(path, sessions(path)[0]["id"]))
    wait_for(lambda: digests(path))
    print(digests(path))
    print(run(path, "session", "cost"))
    assert 0
