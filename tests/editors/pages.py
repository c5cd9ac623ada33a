"""The pages of docs/editors, as a reader follows them."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.editors.conftest import ROOT

PAGES = ROOT / "docs" / "editors"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language that a page has."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return [body for name, body in _BLOCK.findall(text) if name == language]


def commands(block: str) -> list[str]:
    """Return what is typed in a block of a console."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def follow(page: str, env: Mapping[str, str], folder: Path) -> None:
    """Type what a page's console has, as it stands there."""
    for block in blocks(page, "console"):
        for command in commands(block):
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env=dict(env),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
