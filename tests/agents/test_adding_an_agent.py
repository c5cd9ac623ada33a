"""The page that shows how to add an agent is right: its adapter works as it stands there."""

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from gitmem import repository
from gitmem.agents import adapter, events
from gitmem.hooks.main import respond
from tests.conftest import git

PAGE = Path(__file__).parents[2] / "docs" / "agents" / "adding-an-agent.md"


@pytest.fixture
def otter(monkeypatch: pytest.MonkeyPatch) -> adapter.Adapter:
    """The page's adapter, added as the page says: one module, one row."""
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (row,) = re.findall(r"```text\n(.*?),\n```", text, re.DOTALL)
    module = types.ModuleType("gitmem.agents.otter")
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(events, "ADAPTERS", {**events.ADAPTERS, **json.loads(f"{{{row}}}")})
    return adapter.find("otter")


def page_payload(**fields: object) -> dict[str, object]:
    """Return the page's payload, with other fields."""
    (payload,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return {**json.loads(payload), **fields}


def test_the_pages_payload_is_a_failed_command(otter: adapter.Adapter):
    event = adapter.read(otter, page_payload(), "")
    assert event is not None
    assert (events.TOOL_FAILED, "o-1", "/home/user/repo", "make", "Exit code 2\nboom") == (
        event.name,
        event.session,
        event.cwd,
        event.command,
        event.error,
    )


@pytest.mark.parametrize(
    ("result", "name", "background"),
    [({"status": 0}, events.AFTER_TOOL, False), ({}, events.AFTER_TOOL, True)],
)
def test_the_pages_verdicts(
    otter: adapter.Adapter, result: dict[str, int], name: str, *, background: bool
):
    event = adapter.read(otter, page_payload(result=result), "")
    assert event is not None and (event.name, event.background) == (name, background)


def test_the_page_is_enough_to_be_told_something(
    otter: adapter.Adapter, repo: Path, monkeypatch: pytest.MonkeyPatch
):
    """From a payload of the new CLI to an answer in its form, with nothing else changed."""
    (repo / "a.py").write_text("pass\n")
    git(repo, "add", "a.py")
    git(repo, "commit", "-qm", "a")
    for words in (["add", "Trap in a.py", "-k", "gotcha", "--anchor", "a.py"], ["list"]):
        subprocess.run(
            [sys.executable, "-P", "-m", "gitmem", "-C", str(repo), *words],
            check=True,
            capture_output=True,
        )
    monkeypatch.setattr(repository, "detach", lambda *_: 0)
    payload = page_payload(
        dir=str(repo), tool="cat", args={"file": "a.py"}, result={"text": "pass"}
    )
    answer = json.loads(
        respond(otter.name, "", json.dumps(payload).encode(), os.environ, 1_800_000_000.0)
    )
    assert list(answer) == ["say"]
    assert "Trap in a.py" in answer["say"]
