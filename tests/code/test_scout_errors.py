"""`git mem scout` with an error: whatever the error looks like, its gotcha is found."""

from pathlib import Path

import pytest

from tests.codemap.graph.projects import commit, mem, new
from tests.command_line import run_command
from tests.json_output import data_of

BUSY = "OSError: [Errno 98] Address already in use"
PASSED = "".join(f"tests/test_pay.py::test_{number} PASSED\n" for number in range(400))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A project of one file, where git mem is at work."""
    path = new(tmp_path / "repo")
    commit(path, {"pay.py": "def pay():\n    return 1\n"})
    mem(path, "init", "--no-remote")
    return path


def titles(repo: Path, *args: str) -> list[str]:
    """Return the titles of what is remembered."""
    return [row["title"] for row in data_of(mem(repo, "scout", "--json", *args).stdout)["records"]]


@pytest.mark.parametrize(
    "error",
    [
        "E   assert 3 == 4",
        "Killed",
        "Expected: 200\nReceived: 500",
        "--- FAIL: TestPay (0.00s)\n    pay_test.go:7: total is 3, want 4",
        BUSY,
    ],
)
def test_an_error_is_found_by_its_own_text(repo: Path, error: str) -> None:
    """Whether or not it has a word that is sign of an error."""
    mem(repo, "gotcha", "add", "The trap", "--error", error)
    mem(repo, "gotcha", "add", "Another one", "--error", "KeyError: 'TAX'")

    assert titles(repo, "--", error) == ["The trap"]


@pytest.mark.parametrize(
    "output",
    [f"{PASSED}{BUSY}\n", f"{BUSY}\n{PASSED}", f"{PASSED}{BUSY}\n{PASSED}"],
    ids=["end", "beginning", "middle"],
)
def test_an_error_is_found_in_a_long_output(repo: Path, output: str) -> None:
    """Wherever it is, as `gotcha add --error -` finds it in the same output."""
    mem(repo, "gotcha", "add", "The port is taken", "--error", BUSY)

    done = run_command(repo, "scout", "-", "--json", stdin=output)

    assert [row["title"] for row in data_of(done.stdout)["records"]] == ["The port is taken"]


def test_where_nothing_was_committed(tmp_path: Path) -> None:
    """What is remembered is the answer, and a note says that code is not."""
    repo = new(tmp_path / "empty")
    mem(repo, "init", "--no-remote")
    mem(repo, "gotcha", "add", "The tool is missing", "--error", "foo: command not found")

    done = mem(repo, "scout", "foo: command not found")

    assert "The tool is missing" in done.stdout
    assert "there is no commit yet. What is remembered was searched, code was not." in done.stderr


def test_a_task_in_words_finds_what_it_found(repo: Path) -> None:
    """It is no error: gotchas that wait for another error are found by their words."""
    mem(repo, "gotcha", "add", "The sandbox rejects refunds", "--error", "KeyError: 'TAX'")

    assert titles(repo, "refunds are rejected by the sandbox") == ["The sandbox rejects refunds"]
