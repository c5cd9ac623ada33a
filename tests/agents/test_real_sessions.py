"""Real CLIs, one session after the other: what a session decided and left to do is kept, and the next one is told of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents.render import tokens
from tests.agents.fake_model import FakeModel, Step
from tests.agents.world import World, digests, sessions
from tests.hooks.conftest import run, wait_for

AGENTS = ("claude", "gemini", "codex")
TALKS = {
    "marked": ("DECISION: use SERIALIZABLE isolation for the ledger, because two runs lost updates.", "TODO: port the payment tests to the new gateway."),
    "plain": (
        "I read it through. We decided to use SERIALIZABLE isolation for the ledger, because two runs lost updates.",
        "The rate is read from the environment now. We still need to port the payment tests to the new gateway.",
    ),
}
DECIDED, LEFT = "SERIALIZABLE isolation for the ledger", "ort the payment tests to the new gateway"


@pytest.fixture(params=AGENTS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """One agent with a repository and its remote."""
    with FakeModel() as model:
        yield World(request.param, tmp_path, model)


def say(text: str, step: Step) -> Step:
    """Return a step before which something is said."""
    return {**step, "say": text}


def as_json(path: Path, *args: str) -> Any:
    """Return what a command prints as JSON."""
    return json.loads(run(path, *args, "--json"))


def told(text: str) -> str:
    """Return what git mem told in a request: its blocks."""
    out, rest = [], text
    for opens, closes in (("<git-mem>", "</git-mem>"), ("[git-mem]", "[/git-mem]")):
        while opens in rest:
            _, _, rest = rest.partition(opens)
            block, _, rest = rest.partition(closes)
            out.append(block)
        rest = text
    return "\n".join(out)


@pytest.mark.parametrize("talk", TALKS)
def test_what_a_session_decides_and_leaves_is_told_to_the_next(world: World, talk: str):
    path = world.install(world.first)
    decision, task = TALKS[talk]
    world.work(path, "Make the ledger safe", say(decision, world.read(path / "app/pay.py")), say(task, world.shell("echo fine")))
    (digest,) = wait_for(lambda: digests(path))
    print(run(path, "show", digest["id"]))
    print(run(path, "summary"))
    print(run(path, "inbox"))
    print(json.dumps(as_json(path, "inbox"))[:3000])
    print(sessions(path))
    texts = world.work(path, "What now?", world.shell("git mem session current --json"))
    print(texts[0][-6000:])
    print("TOLD", told(texts[0]))
    assert 0
