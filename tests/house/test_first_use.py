"""What somebody meets in the first minutes, as the documents promise it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git
from tests.house.conftest import git_mem


@pytest.mark.parametrize("given", ["GIT_EDITOR", "core.editor", "VISUAL", "EDITOR"])
def test_the_editor_is_the_one_that_git_would_start(given: str, repo: Path) -> None:
    """GIT_EDITOR, then core.editor, then VISUAL, then EDITOR."""
    git_mem("add", "a title", cwd=repo)
    id = git_mem("list", "--format", "{id}", cwd=repo).strip()
    order = ["GIT_EDITOR", "core.editor", "VISUAL", "EDITOR"]
    env = {key: value for key, value in os.environ.items() if key not in order}
    for name in order[order.index(given) :]:
        editor = f"sed -i 's/^# a title$/# by {name}/'"
        if name == "core.editor":
            git(repo, "config", "--global", name, editor)
        else:
            env[name] = editor
    subprocess.run(["git-mem", "edit", id], cwd=repo, env=env, check=True, capture_output=True)

    assert git_mem("show", id, "--format", "{title}", cwd=repo) == f"by {given}\n"


def test_what_was_not_sent_is_as_old_as_its_oldest_memory(repo: Path, tmp_path: Path) -> None:
    """Not as old as the first commit's made-up time."""
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "hub.git"))
    git_mem("add", "a title", cwd=repo)
    git_mem("remote", "enable", "origin", "--yes", cwd=repo)

    assert "not sent: 2 commits, the oldest just now" in git_mem("remote", "show", cwd=repo)
    assert "2 commits not sent, the oldest just now" in git_mem("status", cwd=repo)


@pytest.mark.parametrize("command", ["show", "pin", "forget", "show --graph"])
def test_an_unknown_id_is_an_error_with_a_hint(command: str, repo: Path) -> None:
    """One line says what is wrong, the next what to do; the exit code is 1."""
    git_mem("add", "a title", cwd=repo)
    done = subprocess.run(
        ["git-mem", *command.split(), "zzzzzzzz"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


def test_a_wrong_command_line_exits_2(repo: Path) -> None:
    """As the table of exit codes says."""
    for words in (["frob"], ["list", "--frob"], ["list", "--sort", "frob"], ["show"]):
        assert (
            subprocess.run(
                ["git-mem", *words], cwd=repo, capture_output=True, check=False
            ).returncode
            == 2
        ), words


def test_a_setting_for_one_command_is_heard(repo: Path) -> None:
    """`git -c gitmem.KEY=VALUE mem` works as it does for git's own settings."""
    done = subprocess.run(
        ["git", "-c", "gitmem.captureThreshold=7", "mem", "config", "captureThreshold"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.startswith("* captureThreshold = 7  (this command)\n")
    assert git_mem("config", "captureThreshold", cwd=repo).startswith("  captureThreshold = 3\n")
