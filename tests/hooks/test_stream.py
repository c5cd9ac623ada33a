"""A hook process that an agent keeps: a line for each payload, an answer for each line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gitmem.hooks import main, stream
from tests.hooks.conftest import Agent, learn

STREAM = {"GITMEM_HOOK_STREAM": "1"}
# as the program runs, with something in place of the work
REPLACED = """
import os, sys
import gitmem.hooks.answer as answer
import gitmem.hooks.main as main
import gitmem.hooks.stream as stream
def react(hook):
    {work}
answer.react = react
{more}
main.main(["claude"])
"""
# a line has three bytes at most
MANY = """
import os
import gitmem.hooks.stream as stream
stream.serve("claude", lambda line: os._exit(0), 3)
"""


def serve(folder: Path, lines: list[bytes], code: str = "") -> list[bytes]:
    """Send lines to one process; return what it printed, line by line."""
    program = ["-c", code] if code else ["-m", "gitmem", "hook", "claude"]
    done = subprocess.run(
        [sys.executable, "-P", *program],
        input=b"".join(lines),
        cwd=folder,
        env={**os.environ, **STREAM},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.split(b"\n")[:-1]


def line(agent: Agent, event: str, **fields: object) -> bytes:
    """Return a payload as a line."""
    return json.dumps(agent.payload(event, **fields)).encode() + b"\n"


def events_of(project: Path, session: str) -> list[str]:
    """Return the events of a session's history."""
    (file,) = (project / ".git/gitmem/sessions").glob(f"history_*_{session}.jsonl")
    return [json.loads(row)["metadata"]["event"] for row in file.read_text().splitlines()]


def test_each_line_is_answered_and_kept(project: Path, agent) -> None:
    """In its order; what is no payload is answered with nothing."""
    learn(project, "gotcha", "add", "Rate must be set", "--anchor", "app/pay.py")
    one = agent()
    file = {"tool_input": {"file_path": str(project / "app/pay.py")}}
    out = serve(
        project,
        [
            line(one, "UserPromptSubmit", prompt="hello"),
            b"no JSON\n",
            b"\n",
            line(one, "PostToolUse.Read", **file),
            line(one, "PostToolUse.Read", **file).rstrip(b"\n"),
        ],
    )
    assert [b"Rate must be set" in answer for answer in out] == [False, False, False, True, False]
    assert out[4] == b""  # it is told once
    assert events_of(project, one.session) == ["PromptSubmit", "AfterTool", "AfterTool"]
    assert "Malformed" in one.log()


def test_a_crash_ends_the_work_on_one_line_alone(project: Path, agent) -> None:
    """The next line finds another process, and the log has a line."""
    one = agent()
    work = 'os.kill(os.getpid(), 11) if hook.event.prompt == "crash" else None; return ["told"]'
    out = serve(
        project,
        [line(one, "UserPromptSubmit", prompt=text) for text in ("crash", "go on")],
        REPLACED.format(work=work, more=""),
    )
    assert [b"told" in answer for answer in out] == [False, True]
    assert "ended by signal 11" in one.log()


def test_what_a_hook_starts_does_not_read_the_lines_that_follow(project: Path, agent) -> None:
    """Its standard input is empty."""
    one = agent()
    out = serve(
        project,
        [line(one, "UserPromptSubmit", prompt="go on")] * 2,
        REPLACED.format(work='return [f"read {len(os.read(0, 100))}"]', more=""),
    )
    assert [b"read 0" in answer for answer in out] == [True, True]


def test_an_upgrade_ends_the_process(project: Path, agent) -> None:
    """Without an answer, so that the agent asks the new program."""
    more = "versions = iter([1, 1, 2])\nstream._version = lambda files: next(versions)"
    out = serve(
        project,
        [line(agent(), "UserPromptSubmit", prompt="go on")] * 3,
        REPLACED.format(work='return ["told"]', more=more),
    )
    assert [b"told" in answer for answer in out] == [True]


def test_a_changed_module_is_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any that is loaded, as a checkout below an editable install changes them."""
    module = ModuleType("gitmem.agents.changed")
    file = tmp_path / "changed.py"
    file.write_text("A = 1\n")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    files = stream._files()
    assert {str(file), main.__file__} <= {*files}
    before = stream._version(files)
    assert stream._version(files) == before
    file.unlink()
    gone = stream._version(files)
    file.write_text("A = 2\n")
    os.utime(file, ns=(1, 1))
    assert len({str(version) for version in (before, gone, stream._version(files))}) == 3


def test_a_line_that_is_too_long_is_answered_and_logged(project: Path, agent) -> None:
    """As a single call does; the lines around it are kept, whether it has an end or not."""
    one = agent()
    long = line(one, "UserPromptSubmit", prompt="x" * main.PAYLOAD)
    prompt = line(one, "UserPromptSubmit", prompt="go on")
    file = line(one, "PostToolUse.Read", tool_input={"file_path": "app/pay.py"})
    assert serve(project, [prompt, long, file, long.rstrip(b"\n")]) == [b""] * 4
    assert events_of(project, one.session) == ["PromptSubmit", "AfterTool"]
    assert one.log().count("the payload is larger than 8 MiB and was not looked at") == 2


def test_many_short_lines_at_once_are_all_answered(project: Path) -> None:
    """What is read at once may hold more than one line may have."""
    assert len(serve(project, [b"\n"] * 5, MANY)) == 5
