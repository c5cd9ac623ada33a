"""opencode's plugin, in Node.js: what it sends, where it puts an answer, and that nothing of it reaches opencode as an error."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents import adapter
from tests.editors.conftest import missing

PLUGIN = Path(__file__).parents[2] / "agent-hooks" / "opencode" / "git-mem.js"
DRIVER = Path(__file__).parent / "opencode_driver.mjs"
ECHO = """#!/bin/sh
IFS= read -r line || true
printf '%s\\n' "$line" >> "$SENT"
case $line in *SessionStart*) printf '{"additionalContext": "START"}';; *'"PostToolUse"'*) printf '{"additionalContext": "TOOL"}';; esac
"""


STAYS = """#!/bin/sh
while IFS= read -r line; do
  echo "$$ $GITMEM_HOOK_STREAM" >> "$SENT.by"
  printf '%s\\n' "$line" >> "$SENT"
  case $line in *SessionStart*) printf '{"additionalContext": "START"}';; *'"PostToolUse"'*) printf '{"additionalContext": "TOOL"}';; esac
  echo
  SOMETIMES
done
"""


def drive(
    folder: Path, script: str, limit: int = 0, driver: Path = DRIVER, **env: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the driver with a `git-mem` that is this script; return what it saw, and what was sent."""
    program = folder / "git mem"  # its path may need quotes
    program.write_text(script)
    program.chmod(0o755)
    sent = folder / "sent"
    sent.touch()
    text = PLUGIN.read_text(encoding="utf-8")
    start = text.index("const COMMAND = ")
    line = "const COMMAND = " + json.dumps(f"'{program}' hook opencode 2>/dev/null || true")
    plugin = folder / "git-mem.mjs"  # Node.js takes a bare .js for something else than Bun does
    text = text[:start] + line + text[text.index("\n", start) :]
    plugin.write_text(re.sub(r"LIMIT = \d+", f"LIMIT = {limit}", text) if limit else text)
    done = subprocess.run(
        [shutil.which("node") or missing("node"), driver, plugin, folder],
        env={**os.environ, "SENT": str(sent), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout), [json.loads(line) for line in sent.read_text().splitlines()]


def test_plugin_tells_what_it_is_answered(tmp_path: Path):
    saw, sent = drive(tmp_path, ECHO)
    assert [part["text"] for part in saw["first"]] == ["START"]
    assert saw["first"][0] == {
        "id": "prt_10",
        "sessionID": "ses_1",
        "messageID": "msg_1",
        "type": "text",
        "synthetic": True,
        "text": "START",
    }
    assert (saw["second"], saw["subagent"], saw["other"]) == ([], [], "page")
    assert (saw["tool"], saw["after"]) == ("boom\n\nTOOL", "boom\n\nSTART\n\nTOOL")
    assert saw["env"] == {"OPENCODE_SESSION_ID": "ses_1"}
    assert [row["hook_event_name"] for row in sent][:11] == [
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "PostToolUse",
        "SessionStart",
        "PostToolUseFailure",
        "Stop",
    ]
    assert [row["source"] for row in sent if row["hook_event_name"] == "SessionStart"][:2] == [
        "startup",
        "compact",
    ]
    assert sent[4]["agent_id"] == "ses_sub" and sent[4]["session_id"] == "ses_1"


def test_plugin_keeps_its_process(tmp_path: Path):
    """One for all calls, told that it may stay; it ends with opencode."""
    saw, sent = drive(tmp_path, STAYS.replace("SOMETIMES", ":"))
    assert [part["text"] for part in saw["first"]] == ["START"]
    assert (saw["tool"], saw["after"]) == ("boom\n\nTOOL", "boom\n\nSTART\n\nTOOL")
    by = (tmp_path / "sent.by").read_text().splitlines()
    assert len(set(by[:10])) == 1  # the driver disposes of it later, and goes on
    assert by[0].endswith(" 1")
    assert sent[-1]["hook_event_name"] == "SessionEnd"
    assert not [row for row in by if Path(f"/proc/{row.split()[0]}").exists()]


def test_plugin_sends_a_payload_again_when_its_process_was_gone(tmp_path: Path):
    """Each once: a process that ended between two calls has not read it."""
    _, kept = drive(tmp_path, STAYS.replace("SOMETIMES", ":"))
    again = tmp_path / "again"
    again.mkdir()
    _, sent = drive(again, STAYS.replace("SOMETIMES", "exit"))
    assert len(set((again / "sent.by").read_text().splitlines())) == len(sent)
    assert [row["hook_event_name"] for row in sent] == [row["hook_event_name"] for row in kept]


def test_plugin_sends_a_payload_again_when_its_process_does_not_answer(tmp_path: Path):
    """One that stands still has read nothing of it, and no event is lost."""
    _, kept = drive(tmp_path, STAYS.replace("SOMETIMES", ":"))
    again = tmp_path / "again"
    again.mkdir()
    stop = 'test -e "$SENT.stop" || { touch "$SENT.stop"; kill -STOP $$; }'
    _, sent = drive(again, STAYS.replace("SOMETIMES", stop), limit=1000)
    assert [row["hook_event_name"] for row in sent] == [row["hook_event_name"] for row in kept]


def test_plugin_cuts_what_it_sends(tmp_path: Path):
    """A prompt, an output and what a tool is given alike: more than a hook reads would be lost."""
    driver = tmp_path / "long.mjs"
    driver.write_text("""
const { GitMem } = await import(process.argv[2])
const hooks = await GitMem({ directory: process.argv[3] })
const text = "x".repeat(9 << 20)
const part = { type: "text", text, id: "prt_1" }
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts: [part] })
const about = { tool: "write", sessionID: "ses_1", callID: "c", args: { filePath: "a.py", content: text, all: [text], n: 1 } }
await hooks["tool.execute.after"](about, { output: text })
await hooks.dispose()
console.log("{}")
""")
    _, sent = drive(tmp_path, STAYS.replace("SOMETIMES", ":"), driver=driver)
    (prompt,) = [row["prompt"] for row in sent if "prompt" in row]
    (tool,) = [row for row in sent if "tool_input" in row]
    given = tool["tool_input"]
    texts = [prompt, tool["tool_response"]["output"], given["content"], given["all"][0]]
    assert [len(text) for text in texts] == [1 << 20] * 4
    assert (given["filePath"], given["n"]) == ("a.py", 1)


def test_plugin_sends_what_the_adapter_reads(tmp_path: Path):
    _, sent = drive(tmp_path, ECHO)
    speaks = adapter.find("opencode")
    seen = {row["hook_event_name"]: adapter.read(speaks, row, "") for row in sent}
    assert set(seen) >= {
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PostCompact",
        "Stop",
        "SessionEnd",
    }
    assert all(seen.values()), seen
    stop = next(
        event
        for row in sent
        if row["hook_event_name"] == "Stop"
        and (event := adapter.read(speaks, row, ""))
        and event.session == "ses_1"
    )
    assert stop.message == "all done"
    # what was said in the middle of a turn comes with the next tool, once
    tools = [row["last_assistant_message"] for row in sent if "tool_response" in row]
    assert [text for text in tools if text] == ["I look.\n\nWe decided to use uv."]


@pytest.mark.parametrize(
    "script",
    [
        "#!/bin/sh\nexit 2\n",
        "#!/bin/sh\necho no JSON\n",
        "#!/bin/sh\nprintf '{\"additionalContext\": 1}'\n",
        "#!/nosuch/program\n",
    ],
)
def test_plugin_takes_no_harm_from_its_command(tmp_path: Path, script: str):
    saw, _ = drive(tmp_path, script)
    assert (saw["first"], saw["tool"], saw["after"]) == ([], "boom", "boom")


def test_plugin_is_turned_off_by_the_environment(tmp_path: Path):
    assert drive(tmp_path, ECHO, GITMEM="0") == ({"hooks": []}, [])


def test_plugin_gives_up_on_a_command_that_hangs(tmp_path: Path):
    """And ends all that it started."""
    saw, _ = drive(tmp_path, '#!/bin/sh\nsleep 3600 &\necho $! >> "$SENT.pids"\nwait\n', limit=100)
    assert (saw["first"], saw["tool"]) == ([], "boom")
    left = subprocess.run(
        ["ps", "-o", "stat=", "-p", ",".join((tmp_path / "sent.pids").read_text().split())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not [state for state in left.stdout.split() if not state.startswith("Z")]


def test_plugin_waits_once_for_a_command_that_hangs(tmp_path: Path):
    """However many calls wait at once, none waits longer than the limit, and the next ones do not wait."""
    driver = tmp_path / "parallel.mjs"
    driver.write_text("""
const { GitMem } = await import(process.argv[2])
const hooks = await GitMem({ directory: process.argv[3] })
const prompt = () => hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "m" }, parts: [{ type: "text", text: "go on", id: "p" }] })
const call = () => hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c", args: {} }, { output: "" })
const took = async (work) => {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
const times = [await took(prompt)]
times.push(await took(() => Promise.all(Array.from({ length: 5 }, call))))
times.push(await took(hooks.dispose))
console.log(JSON.stringify(times))
""")
    first, later, end = drive(tmp_path, "#!/bin/sh\nsleep 3600\n", limit=1000, driver=driver)[0]
    assert 0.9 < first < 1.9
    assert later < 0.9
    assert end < 1.9
