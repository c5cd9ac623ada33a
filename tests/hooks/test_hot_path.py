"""What a hook imports: the standard library's cheap modules, and ours that keep to them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hooks.conftest import Agent, crash, run

BANNED = {
    "click",
    "pygit2",
    "yaml",
    "networkx",
    "tree_sitter",
    "google",
    "pygls",
    "lsprotocol",
    "attrs",
    "detect_secrets",
    "dataclasses",
    "typing",
    "inspect",
    "subprocess",
    "pathlib",
    "logging",
    "asyncio",
    "threading",
    "tempfile",
    "shutil",
    "urllib",
    "random",
    "socket",
    "ssl",
    "email",
    "importlib.metadata",
    "contextlib",
    "argparse",
    "gitmem.app",
    "gitmem.cli",
    "gitmem.git",
    "gitmem.store.store",
    "gitmem.store.operations",
    "gitmem.records.record",
    "gitmem.records.codec",
    "gitmem.index.builder",
}
OURS_OF_A_TOOL_CALL = {
    "gitmem",
    "gitmem.agents",
    "gitmem.agents.adapter",
    "gitmem.agents.claude",
    "gitmem.agents.events",
    "gitmem.agents.prompt_text",
    "gitmem.text",
    "gitmem.text.tokens",
    "gitmem.clock",
    "gitmem.config",
    "gitmem.errors",
    "gitmem.base.files",
    "gitmem.base.regular_files",
    "gitmem.base.sharing",
    "gitmem.services.records.attribution",
    "gitmem.repo.identity",
    "gitmem.services",
    "gitmem.services.records",
    "gitmem.services.records.committers",
    "gitmem.__main__",
    "gitmem.base.detach",
    "gitmem.hooks.answer",
    "gitmem.hooks.main",
    "gitmem.index",
    "gitmem.index.filters",
    "gitmem.index.reader",
    "gitmem.state.sessions",
    "gitmem.state.contradictions",
    "gitmem.state.database",
    "gitmem.state.hook_calls",
    "gitmem.state.injections",
    "gitmem.state.hook_costs",
    "gitmem.state.late_answers",
    "gitmem.state.moved_code",
    "gitmem.state.out_of_date",
    "gitmem.repository",
    "gitmem.settings_cache",
    "gitmem.hooks.injection",
    "gitmem.text.tokenizer",
    "gitmem.hooks.context",
    "gitmem.base.fast",
    "gitmem.repo.location",
    "gitmem.base.sqlite",
    "gitmem.base.tolerated",
    "gitmem.base.processes",
    "gitmem.base",
    "gitmem.records",
    "gitmem.redaction",
    "gitmem.repo",
    "gitmem.state",
    "gitmem.records.kinds",
    "gitmem.redaction.formats",
    "gitmem.hooks",
    "gitmem.hooks.session_log",
    "gitmem.hooks.watch",
    "gitmem.hooks.dispatch",
    "gitmem.hooks.gotcha_lines",
    "gitmem.hooks.tool_use",
    "gitmem.repo.source_frames",
    "gitmem.store",
    "gitmem.store.journal",
    "gitmem.repo.refs",
    "gitmem.repo.hook_switch",
}
# `os._exit` ends a hook: tell what is loaded just before
PROBE = """
import os, sys
bare = set(sys.modules)
leave = os._exit
def tell(code):
    with open({out!r}, "a") as file:  # the process that works, and the one that watches it
        file.write("\\n".join(sorted(set(sys.modules) - bare)) + "\\n")
    leave(code)
os._exit = tell
sys.argv = ["git-mem", "hook", {cli!r}]
from gitmem.__main__ import main
main()
"""


ANNOUNCED = {"hook_event_name": "PreCompress", "source": "auto", "transcript_path": ""}


def imported(
    agent: Agent, event: str, out: Path, cli: str = "claude", **fields: object
) -> set[str]:
    """Return the modules that one hook call has loaded beyond a bare Python."""
    data = json.dumps(agent.payload(event, **fields)).encode()
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE.format(out=str(out), cli=cli)],
        input=data,
        cwd=agent.cwd,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return set(out.read_text().split())


@pytest.mark.parametrize(
    "event",
    [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse.Read",
        "PostToolUse.Edit",
        "PostToolUseFailure.Bash",
        "Stop",
        "SessionEnd",
    ],
)
def test_nothing_heavy_is_imported(project: Path, agent, tmp_path: Path, event):
    run(project, "add", "-k", "gotcha", "Trap in a.py", "--anchor", "app/pay.py")
    fields = (
        {"error": crash(project)}
        if "Failure" in event
        else {"prompt": "fix the Trap in app/pay.py"}
        if "Prompt" in event
        else {}
    )
    loaded = imported(agent(), event, tmp_path / "modules", **fields)
    assert "gitmem.hooks.main" in loaded
    assert {m for m in loaded if m in BANNED or m.split(".")[0] in BANNED} == set()


def test_an_event_that_is_none_of_ours_loads_little(project: Path, agent, tmp_path: Path):
    """Gemini CLI announces a compression before every request to its model."""
    loaded = imported(agent(), "SessionStart", tmp_path / "modules", "gemini", **ANNOUNCED)
    ours = {module for module in loaded if module.split(".")[0] == "gitmem"}
    assert not loaded & {"_sqlite3", "sqlite3", "re", "json"}
    assert "gitmem.agents.gemini" in ours
    assert not ours & {"gitmem.repository", "gitmem.hooks.answer", "gitmem.hooks.context"}


def test_a_tool_call_loads_these_modules_of_ours(project: Path, agent, tmp_path: Path):
    run(project, "add", "-k", "gotcha", "Trap", "--anchor", "app/pay.py")
    run(project, "list")
    loaded = imported(
        agent(),
        "PreToolUse.Read",
        tmp_path / "modules",
        tool_input={"file_path": str(project / "app/pay.py")},
    )
    assert {m for m in loaded if m.split(".")[0] == "gitmem"} == OURS_OF_A_TOOL_CALL
