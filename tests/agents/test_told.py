"""What is told where it is heard: nothing is lost to an event whose answer the model does not read, or to an index that is behind."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.agents.conftest import payload
from tests.hooks.conftest import CODE, gotchas, learn, run, wait_for
from tests.json_output import data_of


def gemini(path: Path, sample: str, **fields: Any) -> str:
    """Send an event of Gemini CLI; return what it is answered."""
    data = {
        **payload(f"gemini/{sample}"),
        "cwd": str(path),
        "session_id": "g1",
        "transcript_path": "",
        **fields,
    }
    command = [sys.executable, "-P", "-m", "gitmem", "hook", "gemini"]
    return subprocess.run(
        command,
        input=json.dumps(data),
        cwd=path,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    ).stdout


def test_an_event_that_is_not_heard_tells_nothing(repo: Path):
    """Gemini CLI drops what comes before a tool: the gotcha has to come after it."""
    (repo / "app.py").write_text(CODE)
    run(repo, "gotcha", "add", "Rates are parts of one", "--anchor", "app.py:5")
    file = {"file_path": str(repo / "app.py")}
    assert gemini(repo, "AfterTool.read_file", hook_event_name="BeforeTool", tool_input=file) == ""
    assert "Rates are parts of one" in gemini(repo, "AfterTool.read_file", tool_input=file)
    assert gemini(repo, "AfterTool.read_file", tool_input=file) == ""


def test_what_an_agent_adds_is_indexed_without_a_reader(repo: Path):
    """Also when the command had read the index before it wrote: to say what else is known of the same code."""
    (repo / "app.py").write_text(CODE)
    run(repo, "gotcha", "add", "Rates are parts of one", "--anchor", "app.py:5")
    assert len(gotchas(repo)) == 1
    (repo / ".git/gitmem/sessions").mkdir(exist_ok=True)
    run(repo, "gotcha", "add", "Rates may be zero", "--anchor", "app.py:5")
    index = repo / ".git/gitmem/index.db"
    query = f"import sqlite3; print(sqlite3.connect('file:{index}?mode=ro', uri=True).execute('SELECT count(*) FROM records').fetchone()[0])"
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    wait_for(
        lambda: (
            subprocess.run(
                [sys.executable, "-c", query], capture_output=True, text=True, check=True, env=env
            ).stdout.strip()
            == "2"
        )
    )


def test_what_was_forgotten_is_told_with_the_next_tool_result(repo: Path):
    """Gemini CLI does not say when a compression is over: what comes next is the first that it hears, once."""
    (repo / "app.py").write_text(CODE)
    gemini(repo, "SessionStart")
    gemini(repo, "BeforeAgent", prompt="Make the ledger safe")
    run(repo, "session", "mark", "Never update a row", "--session", "g1")
    read = {"tool_input": {"file_path": str(repo / "app.py")}}
    assert gemini(repo, "AfterTool.read_file", **read) == ""
    gemini(repo, "PreCompress", trigger="manual")
    told = gemini(repo, "AfterTool.read_file", **read)
    assert "before its context was compacted" in told
    assert "marked: Never update a row" in told
    assert gemini(repo, "AfterTool.read_file", **read) == ""
    gemini(repo, "PreCompress", trigger="manual")
    assert gemini(repo, "AfterTool.read_file", **read) == ""  # not twice within ten minutes


def test_what_an_agent_does_not_keep_is_told_again_when_its_session_goes_on(repo: Path):
    """Gemini CLI keeps what stood below a tool's result, and nothing else."""
    (repo / "app.py").write_text(CODE)
    run(repo, "add", "Refunds are rounded half to even", "-t", "decision")
    assert "Refunds are rounded" in gemini(repo, "SessionStart")
    run(repo, "gotcha", "add", "Rates are parts of one", "--anchor", "app.py:5")
    read = {"tool_input": {"file_path": str(repo / "app.py")}}
    assert "Rates are parts" in gemini(repo, "AfterTool.read_file", **read)
    gemini(repo, "SessionEnd")
    again = gemini(repo, "SessionStart", source="resume")
    assert "Refunds are rounded" in again
    assert "Rates are parts" not in again
    assert gemini(repo, "AfterTool.read_file", **read) == ""


def test_a_session_that_goes_on_is_not_told_what_it_said_itself(repo: Path):
    """Unless its context was compacted meanwhile."""
    (repo / "app.py").write_text(CODE)
    gemini(repo, "SessionStart")
    env = {"GEMINI_CLI": "1", "GEMINI_SESSION_ID": "g1"}
    command = [sys.executable, "-P", "-m", "gitmem", "add", "Retries carry a key", "-t", "decision"]
    subprocess.run(command, cwd=repo, env={**os.environ, **env}, check=True, capture_output=True)
    gemini(repo, "SessionEnd")
    assert "Retries carry" not in gemini(repo, "SessionStart", source="resume")
    assert "Retries carry" in gemini(repo, "SessionStart", session_id="g2")
    gemini(repo, "PreCompress", trigger="manual")
    gemini(repo, "SessionEnd")
    assert "Retries carry" in gemini(repo, "SessionStart", source="resume")


def test_a_session_that_goes_on_is_told_what_somebody_changed_of_its_facts(repo: Path):
    """The conversation has the first form alone: a correction and a pin are news."""
    (repo / "app.py").write_text(CODE)
    gemini(repo, "SessionStart")
    env = {**os.environ, "GEMINI_CLI": "1", "GEMINI_SESSION_ID": "g1"}
    for title in ("Payments use serializable isolation", "Retries carry a key"):
        command = [sys.executable, "-P", "-m", "gitmem", "add", title, "-t", "decision"]
        subprocess.run(command, cwd=repo, env=env, check=True, capture_output=True)
    gemini(repo, "SessionEnd")
    time.sleep(1.1)  # a record's times are whole seconds
    ids = {row["title"]: row["id"] for row in data_of(run(repo, "list", "--json"))}
    id = ids["Payments use serializable isolation"]
    learn(repo, "edit", id, "--title", "Payments use READ COMMITTED, never serializable")
    learn(repo, "pin", id)
    told = gemini(repo, "SessionStart", source="resume")
    assert "READ COMMITTED" in told
    assert "Retries carry" not in told


def copilot(path: Path, sample: str, **fields: Any) -> None:
    """Send an event of Copilot CLI."""
    data = {**payload(f"copilot/{sample}"), "cwd": str(path), "transcript_path": "", **fields}
    command = [sys.executable, "-P", "-m", "gitmem", "hook", "copilot"]
    subprocess.run(
        command, input=json.dumps(data), cwd=path, capture_output=True, text=True, check=True
    )


def test_a_subagent_of_a_subagent_works_for_the_session(repo: Path):
    """Each names the agent that started it alone; none of them is a session."""
    (repo / "app.py").write_text(CODE)
    copilot(repo, "SessionStart", session_id="root")
    for number, parent in ((1, "root"), (2, "sub1"), (3, "sub2")):
        mine = {"session_id": f"sub{number}", "agent_id": f"sub{number}"}
        copilot(repo, "UserPromptSubmit.subagent", **mine, parent_agent_id=parent)
        copilot(repo, "PostToolUse.Bash.subagent", **mine, parent_agent_id=parent)
    rows = data_of(run(repo, "session", "list", "--json"))
    assert [row["id"] for row in rows] == ["root"]


def codex(path: Path, command: str, event: str = "PostToolUse") -> str:
    """Send a command of Codex CLI, which reads and may edit by its shell alone; return what it is answered."""
    data = {
        **payload("codex/PostToolUse.Bash.passed"),
        "hook_event_name": event,
        "cwd": str(path),
        "session_id": "c1",
        "transcript_path": "",
        "tool_input": {"command": command},
        "tool_response": "",
    }
    hook = [sys.executable, "-P", "-m", "gitmem", "hook", "codex"]
    done = subprocess.run(
        hook, input=json.dumps(data), cwd=path, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_file_that_a_command_shows_or_patches_brings_its_gotcha(repo: Path):
    """Where an agent has no tool to read, and where it edits by its shell."""
    for name in ("app.py", "pay.py", "fee.py", "tax.py"):
        (repo / name).write_text(CODE)
        run(repo, "gotcha", "add", f"Rates of {name} are parts of one", "--anchor", f"{name}:5")
    assert "Rates of app.py" in codex(repo, "cat app.py | head -20")
    assert codex(repo, "cat app.py") == ""
    assert "Rates of pay.py" in codex(repo, f"cd {repo} && sed -n '1,20p' pay.py")
    assert codex(repo, "cat nosuch.py; echo fee.py; cat </dev/null") == ""
    patch = "*** Begin Patch\n*** Update File: tax.py\n@@\n-import os\n+import sys\n*** End Patch"
    assert "Rates of tax.py" in codex(repo, f"apply_patch <<'EOF'\n{patch}\nEOF")
    (one,) = (repo / ".git/gitmem/sessions").glob("history_*_c1.jsonl")
    rows = [json.loads(line) for line in one.read_text().splitlines()]
    assert rows[-1]["metadata"]["files"] == ["tax.py"]
