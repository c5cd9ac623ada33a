"""README.md works as it stands: what it types in the first minute does what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.conftest import ROOT
from tests.house.transcripts import assert_as_printed, play, section, steps

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has nothing but git and git mem."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ana\n\temail = ana@example.org\n")
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def test_the_first_minute_does_what_it_prints(tmp_path: Path, env: dict[str, str]) -> None:
    """From an empty folder, typed as it stands."""
    transcript = steps(section(README, "The first minute"))

    assert len(transcript) >= 8
    assert_as_printed(transcript, play([command for command, _ in transcript], tmp_path, env))


def test_the_ways_in_do_what_they_print(repo: Path, env: dict[str, str]) -> None:
    """The commands that connect an agent and an editor pass."""
    text = section(README, "Three ways in")
    transcript = steps(text)

    assert_as_printed(transcript, play([command for command, _ in transcript], repo, env))
    named = set(re.findall(r"`git mem (install (?:nvim|vim|emacs))`", text))
    assert len(named) == 3
    for words in named:
        done = subprocess.run(
            ["git-mem", *words.split()],
            cwd=repo,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout, words


def test_the_readme_is_short_and_has_a_picture() -> None:
    """A page that is read to its end; its picture says in words what it shows."""
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)

    assert len(README.splitlines()) <= 150
    assert pictures
    assert all((ROOT / path).is_file() and len(text) > 20 for text, path in pictures)
