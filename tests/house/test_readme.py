"""README.md works as it stands: what it types in the first minute does what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
# what differs from run to run: ids, dates, times, commits and folders
CHANGING = re.compile(
    r"\b[0-9a-z]{8}\b(?= )|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b[0-9a-f]{10}\b|just now|[^ ]*/shop/"
)


def _section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _blocks(text: str) -> list[str]:
    return re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def _steps(text: str) -> list[tuple[str, list[str]]]:
    """Return each command, with the lines that it prints."""
    steps: list[tuple[str, list[str]]] = []
    for line in "".join(_blocks(text)).splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def _masked(line: str) -> str:
    return CHANGING.sub("*", line)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has nothing but git and git mem."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def test_the_first_minute_does_what_it_prints(tmp_path: Path, env: dict[str, str]) -> None:
    """Each command passes, and prints the lines below it; `...` stands for more lines."""
    steps = _steps(_section("The first minute"))
    marked = "\n".join(f"{command} && echo '<<{n}>>'" for n, (command, _) in enumerate(steps))
    done = subprocess.run(
        ["bash", "-ec", f"git config --global user.name Ana\n{marked}"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = re.split(r"<<\d+>>\n", done.stdout)

    assert (done.returncode, len(printed)) == (0, len(steps) + 1), done.stderr
    for (command, expected), output in zip(steps, printed, strict=False):
        lines = {_masked(line) for line in output.splitlines()}
        missing = {_masked(line) for line in expected if line != "..."} - lines
        assert missing == set(), command


def test_the_ways_in_do_what_they_print(repo: Path, env: dict[str, str]) -> None:
    """The commands that connect an agent and an editor pass."""
    section = _section("Three ways in")
    assert _steps(section) == [
        (
            "git mem install claude",
            ["the hooks of Claude Code: installed (.claude/settings.local.json)"],
        )
    ]
    named = re.findall(r"`git mem (install (?:claude|nvim|vim|emacs))`", section)
    for words in ["install claude", *named]:
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
