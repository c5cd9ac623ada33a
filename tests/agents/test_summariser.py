"""An agent's own CLI reads sessions: asked in an empty folder, without hooks and tools, with the real CLIs against a fake model."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.clis import Cli
from tests.agents.fake_model import FakeModel
from tests.hooks.conftest import Agent, run, session_records, wait_for
from tests.json_output import data_of

ANSWER = {
    "items": [
        {
            "kind": "decision",
            "text": "Use Postgres for the ledger",
            "detail": "transactions",
            "turn": 1,
            "confidence": 0.9,
        }
    ],
    "topics": ["ledger"],
}
TOUCHING = {
    "Bash",
    "Edit",
    "Write",
    "Read",
    "run_shell_command",
    "replace",
    "write_file",
    "read_file",
    "shell",
    "exec_command",
    "apply_patch",
}


def tools_of(body: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the tools that a request offers, in the forms of the three."""
    for tool in body.get("tools") or []:
        yield str(tool.get("name"))
        yield from (str(one.get("name")) for one in tool.get("functionDeclarations") or [])


def speaks(agent: str, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an agent's CLI, which asks the fake model, into the environment."""
    cli = Cli(agent, Path(os.environ["HOME"]), model)
    for key, value in cli.environment().items():
        monkeypatch.setenv(key, value)
    if agent == "gemini":  # with a key its API is asked; the CLI has one of its own
        monkeypatch.delenv("GEMINI_API_KEY")
        (cli.home / ".gemini" / ".env").write_text("GEMINI_API_KEY=dummy\n")


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex"])
def test_a_cli_answers_without_hooks_and_tools(
    agent: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`git mem model check` asks it; what it is sent offers no tool that could touch a file, and none of our hooks ran."""
    with FakeModel([{"text": '{"word": "yes"}'}], aside='{"word": "yes"}') as model:
        speaks(agent, model, monkeypatch)
        run(repo, "init", "--no-remote")
        run(repo, "install", agent)
        run(repo, "config", "--global", "summariser", agent)
        answer = data_of(run(repo, "model", "check", "--json"))
    assert answer["ok"], answer
    assert answer["model"] == agent
    assert model.requests
    offered = {name for request in model.requests for name in tools_of(request.body)}
    # Codex CLI offers its patch tool in any case, which the read-only sandbox refuses; Gemini CLI a
    # look at files, of which the folder has none
    assert offered & TOUCHING <= {"codex": {"apply_patch"}, "gemini": {"read_file"}}.get(
        agent, set()
    )
    assert data_of(run(repo, "session", "list", "--json")) == []


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex"])
def test_a_session_is_read_by_the_cli(
    agent: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that ends is read by the CLI in the background: its record says by whom, and the decision waits in the inbox."""
    with FakeModel([{"text": json.dumps(ANSWER)}], aside=json.dumps(ANSWER)) as model:
        speaks(agent, model, monkeypatch)
        run(repo, "init", "--no-remote")
        run(repo, "config", "--global", "summariser", agent)
        one = Agent(repo, "s1", {})
        one.hook("SessionStart")
        one.hook("UserPromptSubmit", prompt="Use Postgres for the ledger, we need transactions.")
        one.hook("Stop", last_assistant_message="OK, Postgres it is.", transcript_path="")
        one.hook("SessionEnd")
        (found,) = wait_for(lambda: session_records(repo), 60.0)
    assert data_of(run(repo, "show", found["id"], "--json"))[0]["by"] == agent
    assert [row["title"] for row in data_of(run(repo, "inbox", "--json"))] == [
        "Use Postgres for the ledger"
    ]


def test_install_says_how_and_what_it_costs(repo: Path) -> None:
    """Without a terminal nothing is asked, and nothing is turned on."""
    run(repo, "init", "--no-remote")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "install", "claude"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "at most 100,000 tokens a session" in done.stderr
    assert "git mem config --global summariser claude" in done.stderr
    assert data_of(run(repo, "config", "summariser", "--json"))["value"] == "offline"
