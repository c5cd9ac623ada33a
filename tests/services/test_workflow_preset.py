"""Workflows of a framework are a preset: nothing of them reaches who does not use it."""

from pathlib import Path

import pytest

from tests.codemap.graph.projects import mem, new
from tests.conftest import git
from tests.hooks.conftest import Agent

# words of the framework
ITS_OWN = ("review-qa", "develop-yolo", "github-pr-automation", "quality_gate", "validation")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository that has nothing to do with the framework."""
    made = new(tmp_path / "repo")
    git(made, "commit", "-q", "--allow-empty", "-m", "one")
    mem(made, "init", "--no-remote")
    return made


def told(repo: Path, name: str) -> str:
    """Return what a session that develops and commits, and the next one, are told."""
    first = Agent(repo, f"{name}-1")
    first.hook("SessionStart")
    first.hook("UserPromptSubmit", prompt="*develop docs/stories/1.md")
    first.hook("PostToolUse.Edit", tool_name="Bash", tool_input={"command": "git commit -m x"})
    mem(repo, "session", "task", "develop")
    return Agent(repo, f"{name}-2").hook("SessionStart") + mem(repo, "session", "context").stdout


def test_nothing_of_a_framework_is_told_to_everybody(repo: Path):
    """No next step, no workflow; the list says how to get some."""
    out = told(repo, "plain") + mem(repo, "work", "start", "Refund", "--story", "S-1").stdout
    out += mem(repo, "work", "phase", "development").stdout
    out += mem(repo, "work", "show").stdout + mem(repo, "work", "resume").stdout
    assert not [word for word in ITS_OWN if word in out]
    assert "begin story S-1: git mem work phase development" in out
    assert "then: git mem work story S-1 --done" in out
    listed = mem(repo, "session", "workflows")
    assert listed.stdout == "" and ".gitmem/workflows.yaml" in listed.stderr


@pytest.mark.parametrize("folder", [".aios-core", ".aiox-core"])
def test_the_preset_is_seen(repo: Path, folder: str):
    """Where the framework's folder is."""
    (repo / folder).mkdir()
    assert "*review-qa" in told(repo, "seen")
    assert "story_development" in mem(repo, "session", "workflows").stdout


def test_a_repositorys_own_table_needs_no_preset(repo: Path):
    """It is there alone, and beside the preset where there is one."""
    (repo / ".gitmem").mkdir(exist_ok=True)
    (repo / ".gitmem/workflows.yaml").write_text(
        "workflows:\n  release:\n    - {state: cut, trigger: cut-release, next: [ship]}\n"
    )
    listed = mem(repo, "session", "workflows").stdout
    assert "release" in listed and "story_development" not in listed
    (repo / ".aios-core").mkdir()
    listed = mem(repo, "session", "workflows").stdout
    assert "release" in listed and "story_development" in listed
