"""Real CLIs that are MCP clients, against a stand-in for their models."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.agents.clis import Cli
from tests.agents.fake_model import FakeModel, Step
from tests.hooks.conftest import run
from tests.json_output import data_of

SERVER = {"command": sys.executable, "args": ["-P", "-m", "gitmem", "mcp"]}
TOOL = {  # agent: how its model calls a tool of the server
    "claude": "mcp__git-mem__{}",
    "gemini": "mcp_git-mem_{}",
}
PAUSE, TRIES = 0.5, 4  # a client may still be connecting when its model first answers


def set_up(cli: Cli, shop: Path) -> list[str]:
    """Have a CLI start the server; return the words that its run needs for it."""
    if cli.agent == "claude":
        file = cli.home / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"git-mem": SERVER}}))
        return ["--mcp-config", str(file), "--strict-mcp-config"]
    file = cli.home / ".gemini/settings.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "mcpServers": {"git-mem": SERVER}}))
    return []


def call(agent: str, tool: str, **arguments: object) -> Step:
    """Return a step of the model that calls a tool of the server."""
    return {"tool": TOOL[agent].format(tool), "input": arguments}


@pytest.mark.parametrize("agent", sorted(TOOL))
def test_a_real_client_searches_and_remembers(agent: str, shop: Path) -> None:
    """The model is sent what is remembered; what it keeps is the agent's and unconfirmed."""
    run(shop, "add", "Payments use SERIALIZABLE", "-m", "Two runs lost updates.")
    with FakeModel() as model:
        cli = Cli(agent, Path(os.environ["HOME"]), model)
        words = set_up(cli, shop)
        model.delay = PAUSE
        model.steps = [
            *[call(agent, "search", query="payments isolation")] * TRIES,
            call(agent, "remember", title="Totals are Decimal", type="rule"),
            {"text": "Done."},
        ]
        command = cli.command("please look at payments", *words)
        if agent == "claude":
            command[command.index("Bash,Read,Edit,Write,Task,Agent")] = "mcp__git-mem"
        said = cli.call(shop, *command[1:])
        sent = "\n".join(request.text for request in model.asked)
    rows = {row["title"]: row for row in data_of(run(shop, "list", "--json"))}

    id = rows["Totals are Decimal"]["id"]
    (source,) = data_of(run(shop, "show", id, "--json"))[0]["sources"]

    assert "Payments use SERIALIZABLE" in sent, said
    assert "Two runs lost updates." in sent
    assert rows["Totals are Decimal"]["unconfirmed"]
    assert rows["Totals are Decimal"]["origin"] == "agent"
    assert agent in source["program"]
