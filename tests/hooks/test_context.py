"""What hooks note of the work in hand, and what the next session is told of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.conftest import Agent, run
from tests.json_output import data_of


@pytest.fixture(autouse=True)
def _preset(project: Path) -> None:
    """Use the workflows of the preset."""
    (project / ".aios-core").mkdir()


def context(path: Path, *args: str) -> dict[str, Any]:
    """Return the work in hand."""
    found: dict[str, Any] = data_of(run(path, "session", "context", "--json", *args))
    return found


def shell(one: Agent, command: str) -> None:
    """Let a command pass."""
    one.hook(
        "PostToolUse.Edit",
        tool_name="Bash",
        tool_input={"command": command},
        tool_response={"stdout": "", "stderr": "", "interrupted": False},
    )


def test_commands_of_a_conversation(project: Path, agent):
    one = agent()
    one.hook("SessionStart")
    assert context(project)["kind"] == "new"
    one.hook(
        "UserPromptSubmit",
        prompt="*validate-story-draft docs/stories/1.md\nIt is *important* that 2*x",
    )
    one.hook("UserPromptSubmit", prompt="now *develop")
    one.hook("Stop", last_assistant_message="Done. Next would be *review-qa")
    found = context(project)
    assert found["last_commands"] == [
        "validate-story-draft docs/stories/1.md",
        "develop",
        "review-qa",
    ]
    assert (found["kind"], found["workflow"], found["state"], found["state_is_done"]) == (
        "workflow",
        "story_development",
        "in_development",
        False,
    )
    assert found["story"] == "docs/stories/1.md"
    assert one.log() == ""


def test_the_next_session_is_told(project: Path, agent):
    one = agent()
    one.hook("UserPromptSubmit", prompt="*develop docs/stories/1.md")
    told = agent("s2", GITMEM_AGENT="qa").hook("SessionStart")
    assert (
        "work in hand: Continuing from @claude, just now; last: *develop docs/stories/1.md." in told
    )
    assert "Usual next: *review-qa docs/stories/1.md, *run-tests." in told
    kinds = {row["id"]: row["kind"] for row in data_of(run(project, "session", "list", "--json"))}
    assert kinds["s2"] == "existing"


def test_a_new_session_is_told_nothing(project: Path, agent):
    assert "work in hand" not in agent().hook("SessionStart")
    agent().hook("UserPromptSubmit", prompt="hello")
    assert "work in hand" not in agent("s2").hook("SessionStart"), (
        "talk alone says nothing of the work"
    )


def test_a_resumed_session_goes_on(project: Path, agent):
    agent().hook("SessionStart", source="resume")
    assert data_of(run(project, "session", "list", "--json"))[0]["kind"] == "existing"


def test_git_commands(project: Path, agent):
    one = agent()
    shell(one, "git add -A && git commit -m 'a'")
    found = context(project)
    assert found["last_commands"] == ["git add", "git commit"]
    assert (found["kind"], found["workflow"], found["state"]) == (
        "workflow",
        "git_workflow",
        "committed",
    )
    assert "work in hand" not in agent("s2").hook("SessionStart"), (
        "commits alone are no workflow that anybody chose"
    )
    one.hook("UserPromptSubmit", prompt="*develop")
    shell(one, "git commit -m b")
    assert context(project)["state"] == "in_development"


def test_a_subagent_is_one_of_the_agents(project: Path, agent):
    one = agent()
    one.hook("SessionStart")
    one.raw(
        json.dumps(
            {
                **one.payload("Stop"),
                "hook_event_name": "SubagentStop",
                "agent_id": "x1",
                "agent_type": "qa",
                "last_assistant_message": "*review-qa done",
            }
        ).encode()
    )
    found = context(project, "--agent", "claude")
    assert [row["agent"] for row in found["agents"]] == ["claude", "qa"]
    assert found["previous_agent"]["agent"] == "qa"


def test_an_agent_that_is_called(project: Path, agent):
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".claude" / "agents" / "qa.md").write_text("---\nname: qa\n---\n")
    agent().hook("UserPromptSubmit", prompt="@qa *review-qa")
    agent().hook("UserPromptSubmit", prompt="@app look at this folder")
    assert [row["agent"] for row in context(project)["agents"]] == ["qa"]


def test_a_long_handover_does_not_repeat_its_beginning(project: Path, agent):
    """What does not fit into a title is told whole, and once."""
    words = " ".join(f"word{n}" for n in range(40))
    run(project, "session", "handover", "qa", "--from", "dev", "-m", words)
    told = agent("s1", GITMEM_AGENT="qa").hook("SessionStart")
    assert (1, 1) == (told.count("word1 "), told.count("word39"))


def test_a_handover_is_told_once(project: Path, agent):
    run(project, "session", "handover", "qa", "--from", "dev", "-m", "Mind the <b>retry</b>")
    one = agent("s1", GITMEM_AGENT="qa")
    told = one.hook("SessionStart")
    assert "handed over to you: [context " in told
    assert 1 == told.count("Mind the ‹b›retry‹/b›")
    assert "handed over" not in one.hook("SessionStart")
    assert "handed over to you" in one.hook("SessionStart", source="compact")
    assert "handed over" not in agent("s3", GITMEM_AGENT="dev").hook("SessionStart")


def test_private_parts_and_secrets_are_no_commands(project: Path, agent):
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    agent().hook(
        "UserPromptSubmit", prompt=f"*develop with {key}\n<private>\n*review-qa mine\n</private>"
    )
    found = json.dumps(context(project))
    assert key not in found
    assert "mine" not in found


def test_a_person_joins_an_agents_session(project: Path, agent):
    one = agent()
    one.hook("UserPromptSubmit", prompt="hello")
    one.env["CLAUDE_CODE_SESSION_ID"] = "s1"
    import os
    import subprocess
    import sys

    env = {**os.environ, **one.env}
    for args in (["note", "mind the cents"], ["mark"]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gitmem", "session", *args],
            cwd=project,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    shown = data_of(run(project, "session", "show", "s1", "--json"))[0]
    assert [one["text"] for one in shown["marks"]] == ["mind the cents"]


def test_a_changed_table_is_compiled_for_hooks(project: Path, agent):
    from tests.hooks.conftest import wait_for

    (project / ".gitmem").mkdir()
    (project / ".gitmem" / "workflows.yaml").write_text(
        "workflows:\n  release:\n    - {state: cut, trigger: cut-release, next: [ship-release]}\n"
    )
    agent().hook("UserPromptSubmit", prompt="*cut-release")
    wait_for(lambda: list((project / ".git" / "gitmem").glob("workflows-*.json")))
    told = agent("s2").hook("SessionStart")
    assert "Workflow: release, cut (begun)." in told
    assert "Usual next: *ship-release." in told
