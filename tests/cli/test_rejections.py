"""What a person rejected or forgot stays away, whoever says it again by themselves, and in whatever guise."""

import pytest

from tests.cli.conftest import Mem
from tests.hooks.conftest import Agent

CLAIM = "Use redis for the invoice queue"
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}


def titles(mem: Mem, *args: str) -> list[str]:
    """Return what a search for the claim finds."""
    return [row["title"] for row in mem("search", "invoice queue", *args, "--json").json]


def test_another_clones_agent_says_it_again(clones: tuple[Mem, Mem]) -> None:
    """Its record comes by sync and is shown nowhere here; a person's words are, and what is restored is again."""
    one, two = clones
    id = one.add(CLAIM)
    one("forget", id)
    two("add", f"Rule: {CLAIM}.", env=AGENT)
    two("add", "On queues", "-m", f"What we do:\n\n- {CLAIM}", env=AGENT)
    two("add", "Use kafka for the invoice queue", env=AGENT)
    two("sync")
    one("sync")
    assert one.titles("--all") == ["Use kafka for the invoice queue"]
    assert titles(one) == ["Use kafka for the invoice queue"]
    assert len(one("inbox", "--all", "--json").json) == 1
    one("restore", id)
    assert len(one.titles("--all")) == 4
    one("forget", id)
    assert len(titles(one)) == 1
    two("sync")
    assert two.titles() == ["Use kafka for the invoice queue"]
    two("add", CLAIM)
    two("sync")
    one("sync")
    assert sorted(titles(one)) == ["Use kafka for the invoice queue", CLAIM]


@pytest.mark.parametrize(
    "args",
    [
        ("add", f"Decision: {CLAIM}"),
        ("add", f"**Rule:** {CLAIM}!"),
        ("add", "Queues", "-m", CLAIM),
        ("add", "On the queue", "-m", f"First.\n1. Note: {CLAIM}; and more."),
        ("add", CLAIM.replace(" ", "\u180e")),
        ("add", "ᴜꜱᴇ ʀᴇᴅɪꜱ for the in\u0336voice queue"),
        ("add", "slow queue", "-k", "gotcha", "--workaround", CLAIM),
        ("event", "add", CLAIM),
        ("event", "add", "Meeting", "-m", f"Agreed: {CLAIM}."),
        ("work", "start", CLAIM, "--story", "S1"),
    ],
)
def test_an_agent_cannot_say_it_again(mem: Mem, args: tuple[str, ...]) -> None:
    """With a label, below another title, in look-alikes; as an event, a note of work, a workaround. A person can."""
    mem("forget", mem.add(CLAIM))
    assert "cannot say it again" in mem(*args, env=AGENT, code=1).err
    mem(*args)


def test_a_prompt_that_says_it_is_not_quoted(mem: Mem) -> None:
    """Neither in the list of sessions, nor when one is taken up again, nor after a compaction."""
    prompt = f"Please, {CLAIM.lower()}, and test it."
    mem("forget", mem.add(CLAIM))
    agent = Agent(mem.folder, "s1")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt=prompt)
    agent.hook("UserPromptSubmit", prompt="Now write the docs of the exporter.")
    agent.hook("UserPromptSubmit", prompt=prompt)
    told = str(agent.hook("SessionStart", source="compact"))
    assert ("docs of the exporter" in told, "redis" in told) == (True, False)
    assert mem("session", "list", "--json").json[0]["subject"].startswith("Now write")
    shown = mem("session", "resume", "s1", "--show")
    assert "last asked: Now write the docs" in shown.out
    assert "redis" not in shown.out
