"""How a command line fails: text for people, one line of JSON with `--json`, and the exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import errors
from gitmem.base import failures as base_failures
from gitmem.cli import failures
from tests.cli.conftest import Mem

START = [sys.executable, "-P", "-m", "gitmem"]


def failed(mem: Mem, *args: str, code: int = 1) -> dict[str, str]:
    """Return what a command that fails writes with `--json`."""
    done = mem(*args, "--json", code=code)
    assert done.out == ""
    row: dict[str, str] = json.loads(done.err)
    assert list(row) == ["code", "message", "hint"]
    return row


def test_an_unknown_id(mem: Mem) -> None:
    """The code is stable, message and hint are those of the text."""
    row = failed(mem, "show", "zzzzzzzz")
    text = mem("show", "zzzzzzzz", code=1).err

    assert row["code"] == "unknown-id"
    assert text == f"error: {row['message']}\nhint: {row['hint']}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["show", "x", "--nothing"], "No such option '--nothing'."),
        (["add", "x", "--type", "nothing"], "'nothing' is not one of"),
        (["no-such-command"], "'no-such-command' is not a command."),
        (["gotcha", "no-such-command"], "'no-such-command' is none of its commands."),
    ],
)
def test_wrong_usage(mem: Mem, args: list[str], message: str) -> None:
    """Exit code 2, and how to see what is right."""
    row = failed(mem, *args, code=2)

    assert row["code"] == "usage"
    assert message in row["message"]
    assert row["hint"].startswith("Try 'git mem")


def test_a_text_that_looks_like_an_option(mem: Mem) -> None:
    """Commands that take a text say how it is given, others do not."""
    commands = ("scout", "search", "add")
    hints = [failed(mem, command, "--- FAIL: Pay", code=2)["hint"] for command in commands]

    assert [hint.split("goes after ")[1] for hint in hints] == [
        f"'--': git mem {command} -- TEXT" for command in commands
    ]
    assert "TEXT" not in failed(mem, "doctor", "--nothing", code=2)["hint"]
    assert mem("scout", "--", "--- FAIL: Pay").code == 0


def test_a_word_after_the_options_asks_for_nothing(mem: Mem) -> None:
    """Behind `--` it is a title, not the option."""
    done = mem("show", "--", "--json", code=1)

    assert done.err.startswith("error: ")


def test_no_repository(tmp_path: Path) -> None:
    """A process outside of a repository."""
    done = subprocess.run(
        [*START, "list", "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert json.loads(done.stderr)["code"] == "not-a-repository"


def test_a_fault_of_ours_names_the_file_for_the_report(mem: Mem, tmp_path: Path) -> None:
    """No traceback; the file has it."""
    program = (
        "import sys\nfrom gitmem.app import App\n"
        "App.close = lambda self: 1 / 0\n"
        "from gitmem.cli.main import run\nsys.exit(run(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "-C", str(mem.folder), "list", "--json"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    row = json.loads(done.stderr)

    assert (done.returncode, row["code"]) == (1, "internal-fault")
    (report,) = tmp_path.glob("git-mem-*.log")
    assert str(report) in row["hint"]
    assert "ZeroDivisionError" in report.read_text()


def test_each_code_is_in_the_documentation() -> None:
    """Those of our errors by their names, and those of everything else."""
    page = Path(__file__).parents[2].joinpath("docs/troubleshooting.md").read_text("utf-8")
    kinds = [getattr(errors, name) for name in dir(errors)]
    ours = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]
    abstract = (errors.GitmemError, errors.Precondition)
    codes = {base_failures.code_of(kind("x")) for kind in ours if kind not in abstract}
    other = {
        failures.USAGE,
        failures.INTERRUPTED,
        base_failures.ENCODING,
        base_failures.SYSTEM,
        base_failures.BUSY,
        base_failures.FAULT,
    }

    assert {code for code in codes | other if f"`{code}`" not in page} == set()
