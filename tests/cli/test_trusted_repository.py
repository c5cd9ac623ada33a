"""Repositories that git refuses, or does not know: git mem says what git says."""

import os
from pathlib import Path

import pytest

from tests.codemap.graph.projects import mem, new
from tests.conftest import git

OTHERS = "belongs to another user"


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of another user, with a record."""
    repo = new(tmp_path / "repo")
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    mem(repo, "init", "--no-remote")
    mem(repo, "add", "One fact of many")
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, 1234, 1234)
    return repo


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_safe_directory_of_one_command_counts(foreign: Path, monkeypatch: pytest.MonkeyPatch):
    """As git obeys it from `-c` and from GIT_CONFIG_COUNT, for reads and writes alike."""
    assert OTHERS in mem(foreign, "list", code=1).stderr
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(foreign))
    mem(foreign, "add", "Another fact")
    assert "Another fact" in mem(foreign, "search", "another").stdout
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "/elsewhere")
    assert OTHERS in mem(foreign, "list", code=1).stderr
    monkeypatch.delenv("GIT_CONFIG_COUNT")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'safe.directory'='*'")
    assert "Another fact" in mem(foreign, "list").stdout


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (
            {"core.repositoryformatversion": "1", "extensions.fancyStuff": "true"},
            "extension 'fancystuff'",
        ),
        ({"core.repositoryformatversion": "7"}, "format version 7"),
    ],
)
def test_a_format_that_git_does_not_know(tmp_path: Path, settings: dict[str, str], name: str):
    """It is named, and nothing is called damaged."""
    repo = new(tmp_path / "repo")
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    mem(repo, "init", "--no-remote")
    id = mem(repo, "add", "One fact of many").stdout.split()[0]
    for key, value in settings.items():
        git(repo, "config", key, value)
    for words in (("add", "Another"), ("show", id.strip(":")), ("doctor",)):
        error = mem(repo, *words, code=1).stderr
        assert f"this git does not know the repository's {name}." in error
        assert "Nothing is damaged." in error and "fsck" not in error
