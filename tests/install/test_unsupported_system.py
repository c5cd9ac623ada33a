"""A system without POSIX: hooks let everything pass, commands say that they need another system.

The processes are real; what Windows lacks is taken away before our code is loaded.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.agents.events import ADAPTERS

BIN = Path(sys.executable).parent
WINDOWS = """\
import _signal, os, posix, sys

for name in ("fcntl", "grp", "pwd", "pty", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in (
    "chown fchmod fchown fork forkpty getegid geteuid getgid getpgid getpwuid getsid getuid killpg "
    "mkfifo nice posix_spawn pread pwrite sched_getaffinity setsid statvfs uname waitid O_CLOEXEC "
    "O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH WNOHANG"
).split():
    for module in (os, posix):
        if hasattr(module, name):
            delattr(module, name)
for name in ("ITIMER_REAL", "SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "alarm", "setitimer"):
    delattr(_signal, name)
sys.modules["nt"] = posix  # the standard library looks for them where the name is this
sys.modules["_winapi"] = posix
os.name = "nt"
sys.platform = "win32"
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def windows(tmp_path: Path) -> Run:
    """Run a program where Python finds what it finds on Windows."""
    folder = tmp_path / "windows"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WINDOWS)

    def call(*args: str, given: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(BIN / args[0]), *args[1:]],
            cwd=tmp_path,
            env={**os.environ, **env, "PYTHONPATH": str(folder)},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_the_system_lacks_what_windows_lacks(windows: Run) -> None:
    """The other tests would prove nothing on a whole system."""
    done = windows("python", "-c", "import os; print(hasattr(os, 'fork')); import fcntl")

    assert done.stdout == "False\n"
    assert "fcntl" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("agent", ADAPTERS)
def test_an_agents_hook_lets_everything_pass(windows: Run, agent: str, tmp_path: Path) -> None:
    """No answer and exit code 0: every agent goes on. One line says why."""
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(tmp_path)}
    done = windows("git-mem", "hook", agent, given=json.dumps(payload) + "\n")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "git mem: this hook does nothing here: git mem needs Linux or macOS; on Windows, run it "
        "in WSL.\n"
    )


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["hook", "opencode"], {"GITMEM_HOOK_STREAM": "1"}),
        (["-C", "elsewhere", "hook", "claude", "Stop"], {}),
        (["git-hook", "pre-commit"], {}),
        (["git-hook", "post-commit", "a", "b", "c", "d"], {}),
    ],
    ids=" ".join,
)
def test_other_hooks_let_everything_pass(
    windows: Run, words: list[str], env: dict[str, str]
) -> None:
    """A process that is kept, another folder, git's own hooks."""
    done = windows("git-mem", *words, given="{}\n", **env)

    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [["status"], ["add", "a fact"], ["install", "claude"], ["mcp"], ["drain"], ["help"], []],
    ids=" ".join,
)
def test_a_command_says_what_it_needs(windows: Run, words: list[str]) -> None:
    """In one line, and with --json as JSON."""
    done = windows("git-mem", *words)
    as_json = windows("git-mem", *words, "--json")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("error: git mem needs Linux or macOS; on Windows, run it in WSL.\n")
    assert (as_json.returncode, as_json.stdout) == (1, "")
    assert json.loads(as_json.stderr)["code"] == "system"


def test_the_version_is_told(windows: Run) -> None:
    """It is what a report of a fault begins with."""
    assert windows("git-mem", "--version").stdout.startswith("git-mem version ")
    assert windows("git-mem-lsp", "--version").stdout.startswith("git-mem-lsp ")


def test_the_language_server_says_what_it_needs(windows: Run) -> None:
    """Editors show what a server that ends has said."""
    done = windows("git-mem-lsp", "--stdio")

    assert (done.returncode, done.stdout) == (1, "")
    assert "run it in WSL" in done.stderr
    assert len(done.stderr.splitlines()) == 1
