"""The command that is written: in each shell, with any path, where git-mem is and where it is not."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.install.conftest import BIN, parsed

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(shell)]
POOR = "/usr/bin:/bin"


def stub(path: Path) -> Path:
    """Make a program that says how it was called, and what it read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\necho "$@"\ncat\n')
    path.chmod(0o755)
    return path


def ask(shell: str, command: str, home: Path) -> tuple[int, str, str]:
    """Run a command as an agent's CLI does, with a poor PATH; return its exit code and what it wrote."""
    done = subprocess.run(
        [shell, "-c", command],
        env={"HOME": str(home), "PATH": POOR},
        input=b"{}",
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "name", ["plain", "with space", "it's", 'a "quote"', "$HOME & b;", "ü🙂", "back\\slash"]
)
def test_any_path(mem: Mem, repo: Path, tmp_path: Path, shell: str, name: str) -> None:
    """The program is found, gets its words and its input; when it is gone, nothing is said."""
    program = tmp_path / name / "git-mem"
    program.parent.mkdir()
    program.symlink_to(BIN / "git-mem")
    mem("install", "claude", env={"PATH": f"{program.parent}:{POOR}"})
    command = parsed(repo / ".claude/settings.local.json")["hooks"]["Stop"][0]["hooks"][0][
        "command"
    ]
    (row,) = mem("install", "--list", "--json").json["installations"]
    program.unlink()
    stub(program)

    there = ask(shell, command, tmp_path)
    program.unlink()
    gone = ask(shell, command, tmp_path)

    assert (row["program"], row["state"]) == (str(program), "current")
    assert there == (0, "hook claude\n{}", "")
    assert gone == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shared_command(mem: Mem, repo: Path, tmp_path: Path, shell: str) -> None:
    """It finds git-mem in the usual places, and says nothing where there is none."""
    mem("install", "claude", "--project")
    command = parsed(repo / ".claude/settings.json")["hooks"]["Stop"][0]["hooks"][0]["command"]
    nothing = ask(shell, command, tmp_path)
    stub(tmp_path / ".local/bin/git-mem")

    assert nothing == (0, "", "")
    assert ask(shell, command, tmp_path) == (0, "hook claude\n{}", "")


# fish says it, and goes on
@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "fish"])
def test_a_python_that_is_gone(mem: Mem, repo: Path, tmp_path: Path, shell: str) -> None:
    """An upgrade of Python can take the interpreter from under a script: no noise either."""
    program = tmp_path / "git-mem"
    program.symlink_to(BIN / "git-mem")
    mem("install", "claude", env={"PATH": f"{tmp_path}:{POOR}"})
    command = parsed(repo / ".claude/settings.local.json")["hooks"]["Stop"][0]["hooks"][0][
        "command"
    ]
    program.unlink()
    program.write_text("#!/nowhere/python\n")
    program.chmod(0o755)

    assert ask(shell, command, tmp_path) == (0, "", "")


def test_the_hook_answers_through_it(mem: Mem, repo: Path, tmp_path: Path) -> None:
    """What is installed works: a pinned record reaches the start of a session."""
    mem("pin", mem.add("told at the start"))
    mem("list")
    mem("install", "claude")
    command = parsed(repo / ".claude/settings.local.json")["hooks"]["SessionStart"][0]["hooks"][0][
        "command"
    ]
    payload = json.dumps(
        {
            "hook_event_name": "SessionStart",
            "session_id": "s1",
            "cwd": str(repo),
            "source": "startup",
        }
    )
    env = {"PATH": POOR, "HOME": os.environ["HOME"]}

    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=env,
        input=payload.encode(),
        capture_output=True,
        check=True,
    )

    assert "told at the start" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
