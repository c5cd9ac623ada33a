"""How a process of `git mem` ends: all that Python does at an end is done, but for the taking apart."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
BIG = 3_000_000  # characters: more than a pipe holds


@pytest.fixture
def launcher(tmp_path: Path) -> Callable[[str], Path]:
    """Make the console script as an installer makes it, with code that runs before."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["git-mem"].partition(":")

    def make(before: str = "") -> Path:
        path = tmp_path / "git-mem"
        path.write_text(
            f"#!{sys.executable} -P\nimport sys\n{before}\n"
            f"from {module} import {function}\nsys.exit({function}())\n"
        )
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def run(repo: Path, launcher: Callable[[str], Path]) -> Run:
    """Run a line of a shell in a repository, where `$MEM` is the console script."""

    def shell(line: str, before: str = "") -> "subprocess.CompletedProcess[bytes]":
        env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        return subprocess.run(
            ["bash", "-c", line],
            cwd=repo,
            env={**env, "MEM": str(launcher(before))},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )

    return shell


def replaced(body: str) -> str:
    """Return code that has the command line do something else."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import gitmem.__main__\ndef main():\n{lines}\ngitmem.__main__.main = main"


# -- output

LARGE = replaced(f"print('x' * {BIG})\nreturn 0")
COMPLETE = "COMP_WORDS='git-mem li' COMP_CWORD=1 $MEM __complete bash"


def test_output_is_whole(run: Run, tmp_path: Path) -> None:
    """Into a pipe whose reader is slow, and into a file."""
    piped = run("$MEM | (sleep 0.2; wc -c)", LARGE)
    filed = run(f"$MEM >{tmp_path}/out", LARGE)

    assert (piped.stdout.strip(), piped.stderr) == (str(BIG + 1).encode(), b"")
    assert (filed.returncode, filed.stderr) == (0, b"")
    assert (tmp_path / "out").stat().st_size == BIG + 1


@pytest.mark.parametrize(
    ("command", "code"),
    [("$MEM --help", 0), ("$MEM config", 0), ("$MEM show nosuch", 1), (COMPLETE, 0)],
)
def test_a_reader_that_left_is_no_fault(run: Run, command: str, code: int) -> None:
    """The exit code is that of the command."""
    expected = run(f"{command} >/dev/null")
    for reader in ("head -1 >/dev/null", "true"):
        done = run(f"{command} | {reader}; exit ${{PIPESTATUS[0]}}")
        assert (done.returncode, done.stderr) == (expected.returncode, expected.stderr)
    assert expected.returncode == code


@pytest.mark.parametrize("command", ["$MEM --help", "$MEM list --json", COMPLETE])
def test_a_full_disk_is_an_error(run: Run, command: str) -> None:
    """Whoever waits for the output is told that it is not there."""
    done = run(f"{command} >/dev/full")
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(run: Run, streams: str) -> None:
    """They change neither the exit code nor the other stream."""
    version = run(f"$MEM --version {streams}")
    assert (version.returncode, version.stderr) == (0, b"")
    assert run(f"$MEM show nosuch {streams}").returncode == 1


def test_a_line_without_an_end_is_written(run: Run) -> None:
    """To both streams."""
    done = run("$MEM", replaced("for out in sys.stdout, sys.stderr: out.write('half')\nreturn 0"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"half", b"half")


# -- order


def test_threads_end_before_exit_handlers_and_output_last(run: Run) -> None:
    """As in any Python; a daemon is not waited for."""
    body = """
import atexit, threading, time
late = threading.Event()
atexit.register(print, "handler")
def work():
    late.wait(0.3)
    print("thread")
threading.Thread(target=work).start()
threading.Thread(target=time.sleep, args=(50,), daemon=True).start()
print("main")
return 0
"""
    done = run("$MEM | cat; exit ${PIPESTATUS[0]}", replaced(body.strip()))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"main\nthread\nhandler\n", b"")


def test_exit_handlers_run_after_a_failure(run: Run) -> None:
    """They run whatever the exit code is."""
    done = run("$MEM show nosuch", "import atexit; atexit.register(print, 'handler')")
    assert (done.returncode, done.stdout) == (1, b"handler\n")


# -- exit codes


@pytest.mark.parametrize(
    ("args", "code"), [("--version", 0), ("show nosuch", 1), ("nosuch", 2), ("list --nosuch", 2)]
)
def test_exit_codes(run: Run, args: str, code: int) -> None:
    """As documented."""
    assert run(f"$MEM {args}").returncode == code


def test_an_interrupt_before_the_command_begins(run: Run) -> None:
    """While modules are loaded: no traceback."""
    before = """
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
"""
    done = run("$MEM list", before)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted.\n")
