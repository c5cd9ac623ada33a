"""What the tests of installing share: `git mem` in this process, a home, and how files look when hooks are in them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents.adapter import find
from tests.cli.conftest import Mem

BIN = Path(sys.executable).parent
COMMAND = f"test -x {BIN}/git-mem && {BIN}/git-mem hook claude 2>/dev/null || true"


@pytest.fixture
def mem(repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Mem:
    """`git mem` in a plain repository, in this process; no agent's CLI is on the PATH."""
    monkeypatch.setenv("PATH", f"{BIN}:/usr/bin:/bin")
    return Mem(repo, capsys, monkeypatch)


@pytest.fixture
def home() -> Path:
    """The user's home folder."""
    return Path(os.environ["HOME"])


def groups(event: str, command: str = COMMAND) -> list[dict[str, Any]]:
    """Return our groups for one event of Claude Code."""
    settings = find("claude").settings
    handler = {"type": "command", "command": command, "timeout": 5}
    matcher = {"matcher": settings.matchers[event]} if event in settings.matchers else {}
    behind = (
        [{"matcher": settings.behind[event], "hooks": [{**handler, "async": True}]}]
        if event in settings.behind
        else []
    )
    return [{**matcher, "hooks": [handler]}, *behind]


def group(event: str, command: str = COMMAND) -> dict[str, Any]:
    """Return our first group for one event of Claude Code."""
    return groups(event, command)[0]


def with_ours(value: dict[str, Any]) -> dict[str, Any]:
    """Return settings as they are once our hooks for Claude Code are in them: a model of what `install` does."""
    hooks = {event: list(rows) for event, rows in value.get("hooks", {}).items()}
    adapter = find("claude")
    for event in adapter.events:
        if event not in adapter.settings.unasked:
            hooks.setdefault(event, []).extend(groups(event))
    return {**value, "hooks": hooks}


def parsed(path: Path) -> Any:
    """Return what a file without comments holds."""
    return json.loads(path.read_bytes().decode("utf-8-sig"))
